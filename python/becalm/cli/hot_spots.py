"""Tables: a comparison on hot spots, and the effect of settings on hot spots of all sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from becalm.analysis.measures import WEIGHTS
from becalm.cli import console
from becalm.cli.tables import table
from becalm.tunings.verdict import ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from becalm.tunings.guidelines import Sizes, Tried
    from becalm.tunings.verdict import Verdict


def show_tried(tried: Tried) -> None:
    """Print the results of each guideline, the best one, and the next step."""
    show_rows(tried.verdict)
    console.say(
        f"the guideline with the smallest loss here is {tried.better}; {tried.verdict.sentence()}; `becalm "
        "tune` searches for better parameters"
    )


def show_rows(verdict: Verdict) -> None:
    """Print the loss of each row by number of contributors, and its difference from the best."""
    best, groups = verdict.best, verdict.present if len(verdict.present) > 1 else []
    cells = []
    for row in sorted(verdict.losses, key=verdict.mean):
        gap = verdict.difference(row, best)
        behind = "-" if row == best else f"{gap.mean:+.3f} ± {gap.high - gap.mean:.3f}"
        cells.append((row, *(f"{verdict.mean(row, group):.3f}" for group in (*groups, ALL)), behind))
    title = f"Loss on {len(verdict.classes)} new cases, by number of contributors"
    made = table(title, ("with", *groups, ALL, "behind the best, ± 95%"), cells)
    made.caption = (
        f"loss: {WEIGHTS['lost']:g} x loss of the background + {WEIGHTS['starved']:g} x contributors' "
        f"unused share of their link; without a hot spot, {WEIGHTS['calm']:g} x cost of control to the "
        "background"
    )
    made.caption_justify = "left"
    console.out.print(made)


def show_sizes(tried: Sequence[Sizes]) -> None:
    """Print the contributors' share of the hot link, by their number; warn of shares that are too small."""
    from becalm.tunings.guidelines import ENOUGH

    sizes = list(tried[0].links)
    # Round down: a value just below the limit must not seem to meet it.
    rows = [(each.guideline, *(f"{int(each.links[size] * 100)}" for size in sizes)) for each in tried]
    title = "Contributors' share of the hot link in %, by number of contributors (100 without control)"
    console.out.print(table(title, ("settings", *map(str, sizes)), rows))
    chosen = tried[0]
    where = f"{chosen.guideline} for {chosen.contributors} contributors"
    if chosen.short:
        listed = ", ".join(f"{size}: {int(chosen.links[size] * 100)}%" for size in chosen.short)
        console.say(
            f"warning: no guideline reaches {ENOUGH:.0%} at all sizes; chosen: {where}, with {listed}"
        )
    else:
        console.say(f"chosen: {where}, with at least {ENOUGH:.0%} at each size")
