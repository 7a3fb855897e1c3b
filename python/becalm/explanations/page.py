"""The page of the rules, written from the rules themselves."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

from becalm.analysis import limits
from becalm.explanations.model import TOPICS
from becalm.explanations.rules import RULES

_INTRODUCTION = """\
# The rules of `becalm explain`

`make docs` writes this page. `becalm explain RESULTS` describes the tables of a run in words. Each sentence
follows from one of the rules below and cites the table rows that its numbers come from. For example,
`tree[9]` is row 9 of the [table](results.md) `tree`, counting from 0. `--json` prints unrounded
numbers. The bottleneck that costs victims the most comes first. Proposed commands include the changes made
to the scenario for the run, so you can run them as printed.

The results contain the scenario, so `explain` also tries its own advice: it repeats the run with each
proposed change, and prints what the change gains ("tried"). `--max-time` limits these runs, 20 s in all by
default; `--max-time "0 s"` uses only the tables.

In Python, `becalm.explain(results)` returns an explanation. Its attribute `sentences` contains all sentences,
and `causes` contains only the named causes.

## Words

- A *bottleneck* is a switch output where congestion begins, or would begin without control. Its row in
  the table `tree` has a value above 0 in the column `contributors`.
- [The model](model.md#roots-branches-contributors-and-victims) defines roots, branches, contributors and
  victims.
- The traffic that a flow *offers* is in the column `offered` of the table `flows`.

## Causes of bottlenecks

Each sentence names the first cause in this table that applies. Credit loops are always reported.

"""

_CAUSES = {
    "pause storm": "a host pauses its switch for at least half of the window, and pauses spread to at least "
    "two other nodes",
    "slow receiver": "the link leads to a host, waits for credit, and is not full",
    "slow cable": "the link's rate falls during the run (`[[changes]]`); or the cable is slower than most "
    "cables between the same levels, and the usual rate would suffice",
    "hot host": "several hosts offer more than the link can carry, nearly all of it to one host",
    "unbalanced routes": "more pairs of hosts use this link than the switch's other links to the same "
    "level, which have free capacity",
    "uneven cables": "most of the traffic crosses a switch that lacks cables which its peers have",
    "path collision": "flows offer more than the link can carry, but spread evenly over their equal paths, "
    "they would fit",
    "colliding jobs": "several groups of flows cross the link, which can carry each of them but not all; or "
    "the link is a root at times, and a job that shares it is slowed down",
    "oversubscribed link": "flows offer more than the link can carry",
    "credit loop": "the flows' paths contain a cycle of links in which each link may wait for the next",
}


def page() -> str:
    """Return the page of all rules and limits, as Markdown."""
    lines = ["| cause | when |", "|---|---|", *(f"| {name} | {when} |" for name, when in _CAUSES.items())]
    lines += ["\n## Rules\n", "| rule | section | effect |", "|---|---|---|"]
    lines += [f"| `{rule.name}` | {TOPICS[rule.topic]} | {rule.says} |" for rule in RULES]
    lines += ["\n## Limits\n", "| limit | value | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {value} | {meaning} |" for name, value, meaning in _limits()]
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _limits() -> list[tuple[str, float, str]]:
    """Return the constants of the module `limits` with the docstring of each."""
    body = ast.parse(Path(limits.__file__).read_text(encoding="utf-8")).body
    found = []
    for one, other in pairwise(body):
        if (
            isinstance(one, ast.Assign)
            and isinstance(other, ast.Expr)
            and isinstance(other.value, ast.Constant)
        ):
            (target,) = one.targets
            name = ast.unparse(target)
            found.append((name, getattr(limits, name), " ".join(str(other.value.value).split())))
    return found
