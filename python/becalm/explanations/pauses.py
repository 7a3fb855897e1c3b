"""Rules about priority-based flow control."""

from __future__ import annotations

from collections.abc import Iterator

from becalm.analysis import limits
from becalm.analysis.case import Case
from becalm.analysis.formats import number, share
from becalm.analysis.reference import Reference
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule


@rule("pauses", "cost")
def pauses(case: Case) -> Iterator[Sentence]:
    """State how much PFC paused links.

    The sentence counts the links that were paused for at least 5% of the time, and names the link that was
    paused for the largest share of the time.
    """
    facts = case.facts
    if "pauses" not in facts.results.tables:
        return
    table = facts.table("pauses").sort("paused_share", "row", descending=[True, False])
    top = table.row(0, named=True)
    if top["pauses"] == 0:
        return
    paused = table.filter(table["paused_share"] >= limits.LEAST_ROOT)["row"].to_list()
    numbers = {
        "links": len(paused),
        "paused_share": float(top["paused_share"]),
        "pauses": float(top["pauses"]),
        "per_second": float(top["pauses"] / facts.window),
    }
    text = (
        f"PFC pauses {len(paused)} links and lanes for at least {share(limits.LEAST_ROOT)} of the time; "
        f"{top['from']} -> {top['to']} is paused most: {share(numbers['paused_share'])} of the time, "
        f"{number(numbers['per_second'])} times per second."
    )
    columns = ("pauses", "paused_share")
    rows = tuple(int(row) for row in paused) or (int(top["row"]),)
    yield Sentence("pauses", "cost", text, numbers, (Reference("pauses", rows, columns),))
