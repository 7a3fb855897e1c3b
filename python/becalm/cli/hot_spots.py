"""Tables: a comparison on hot spots, and the effects of settings by the size of hot spots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from becalm.analysis.formats import share
from becalm.analysis.measures import WEIGHTS
from becalm.cli import console
from becalm.cli.tables import table
from becalm.tunings.sizes import sizes
from becalm.tunings.verdict import ALL, KNOWN

if TYPE_CHECKING:
    from becalm.scenario import Scenario
    from becalm.tunings.guidelines import Decision
    from becalm.tunings.verdict import Verdict


def show_decision(decided: Decision, guideline: str | None) -> None:
    """Print the loss of all rows, effects by number of contributors, and the decision.

    Args:
        decided: the decision.
        guideline: the guideline to use; None to leave the fabric as it is.

    """
    verdict = decided.verdict
    show_rows(verdict)
    for name, (cases, gap) in decided.dropped.items():
        console.say(
            f"{name}: behind the best guideline by {gap.mean:.3f} ± {gap.high - gap.mean:.3f} "
            f"on {cases} cases; not run on the others"
        )
    show_sizes(decided, guideline or decided.best)
    if decided.chosen is None:
        console.say(f"leave it: {decided.reason}; `becalm tune` searches for better parameters")
    else:
        console.say(f"{verdict.sentence()}; `becalm tune` searches for better parameters")
    if guideline not in (None, decided.chosen):
        console.say(f"{guideline}, as given: {verdict.priced(str(guideline))}")


def say_without_faults(scenario: Scenario) -> None:
    """Say that random cases do not have a scenario's faults."""
    if scenario.resolved["faults"]:
        console.err.print(f"note: {scenario.name}: the random cases have no [[faults]]", markup=False)


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


def show_sizes(decided: Decision, row: str) -> None:
    """Print what contributors and background get, without control and with a row's, by contributors."""
    cells = []
    for each in sizes(decided.verdict, decided.numbers, row):
        parts = (*each.link, *each.background, *each.victims)
        cells.append(
            (
                each.contributors,
                f"{each.cases}{' (few)' * (each.cases < KNOWN)}",
                *("-" if math.isnan(part) else share(part) for part in parts),
            )
        )
    what = ("link", "background", "victims")
    columns = ("contributors", "cases", *(f"{name} {how}" for name in what for how in ("without", "with")))
    made = table(f"Without control, and with {row}, by number of contributors", columns, cells)
    made.caption = (
        "link: contributors' share of what fairness gives them; background: share of its throughput without "
        "a hot spot that it keeps; victims: share of the background's flows; 0 contributors: no hot spot; "
        "few: too few cases to rely on"
    )
    made.caption_justify = "left"
    console.out.print(made)
