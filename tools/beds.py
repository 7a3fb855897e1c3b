"""Searches for the bed that best fits gran2010's results without congestion control, then judges the others.

    python tools/beds.py --seeds 3

The paper does not state how its switches arbitrate, how packets queue in an input buffer, or how many packets
the buffer holds. Each combination is a bed. It is judged by column (a) of Table III and by the claims of
Fig. 7(a), 8 and 10(a) about the network without control. The search keeps the beds on which most of these
claims hold. Of these, it freezes the beds whose numbers are nearest to the printed ones. Then it judges the
claims about congestion control on the frozen beds and on the bed of the page. The script writes its tables
between two comments of the page.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import markers
from variants import judge_variants

from becalm.base.progress import SweepProgress
from becalm.lab.discovery import select
from becalm.lab.expect import FAILS, HOLDS, UNDECIDED
from becalm.lab.model import KINDS, Claim, Experiment, Point, Report
from becalm.lab.text import of_kind
from becalm.papers.gran2010.scene import HEADER, MTU

ARBITERS: dict[str, dict[str, Any]] = {
    "oldest first": {"oldest_first": {"max_bypass": "unlimited"}},
    "oldest first, overtaken by 8": {"oldest_first": {"max_bypass": 8}},
    "round robin": {"round_robin": {}},
}
QUEUEING = ("voq", "fifo")
BUFFERS = (7, 10, 13, 16, 20, 24, 32)

SEARCHED = ("fig7a", "fig8", "fig10a", "table3")
JUDGED = ("fig7b", "fig8", "fig10b", "table3")
WITHOUT_CONTROL = {"fig8": ("a_third_each",), "table3": ("column_a",)}
"""Claims about the network without control, for figures that also have other claims."""
ALIKE = 0.001
"""Beds count as equally near if their mean deviations differ by less than this."""


@dataclass(frozen=True)
class Bed:
    """A combination of settings; the default is the bed of the page."""

    arbiter: str = "oldest first"
    queueing: str = "voq"
    buffer: int = 20
    """Packets that an input port holds."""

    @property
    def name(self) -> str:
        """Return the three settings as cells of a table."""
        return f"{self.arbiter} | {self.queueing} | {self.buffer}"

    def read(self, experiments: Sequence[Experiment], uncontrolled: bool) -> list[Experiment]:
        """Return experiments on this bed; if `uncontrolled`, only runs without control and column (a)."""
        return [self._read(experiment, uncontrolled) for experiment in experiments]

    def _read(self, experiment: Experiment, uncontrolled: bool) -> Experiment:
        def points(short: bool) -> list[Point]:
            return [
                replace(point, scenario=self._apply(point.scenario))
                for point in experiment.points(short)
                if not uncontrolled
                or (point.labels.get("case", "a"), point.labels.get("control", "off")) == ("a", "off")
            ]

        figure = experiment.id.split("/")[1]
        names = WITHOUT_CONTROL.get(figure) if uncontrolled else None
        statements = tuple(each for each in experiment.statements if names is None or each.id in names)
        return replace(experiment, points=points, statements=statements)

    def _apply(self, scenario: dict[str, Any]) -> dict[str, Any]:
        in_bytes = scenario["switch"]["buffer"].endswith(" B")
        buffer = f"{self.buffer * (MTU + HEADER)} B" if in_bytes else f"{self.buffer} slots"
        switch = {"arbiter": ARBITERS[self.arbiter], "queueing": self.queueing, "buffer": buffer}
        return {**scenario, "switch": {**scenario["switch"], **switch}}


def deviation(claims: Sequence[Claim]) -> float:
    """Return the mean of |ln(measured / printed)| over all numbers in the paper."""
    logs = [
        abs(math.log(interval.mean / claim.paper))
        for claim in claims
        if isinstance(claim.paper, int | float) and claim.paper > 0
        for interval in claim.intervals
        if interval.mean > 0
    ]
    return math.fsum(logs) / len(logs)


def search(seeds: Sequence[int]) -> tuple[list[Bed], str]:
    """Return the beds that best fit the measurements without control, and a table of all beds."""
    beds = {bed.name: bed for bed in (Bed(*each) for each in product(ARBITERS, QUEUEING, BUFFERS))}
    experiments = select([f"gran2010/{figure}" for figure in SEARCHED])
    variants = {name: bed.read(experiments, uncontrolled=True) for name, bed in beds.items()}
    judged = judge_variants(variants, seeds, threads=1, progress=_show)
    found = {}
    for name, reports in judged.items():
        claims = [claim for report in reports for claim in report.claims]
        found[name] = (sum(claim.holds for claim in claims), len(claims), deviation(claims))
    most = max(held for held, _, _ in found.values())
    nearest = min(away for held, _, away in found.values() if held == most)
    best = [bed for name, bed in beds.items() if found[name][0] == most and found[name][2] < nearest + ALIKE]
    cells = {
        bed: f"{held} of {of}, {away:.3f}" + (" (frozen)" if bed in best else "")
        for bed, (held, of, away) in zip(beds.values(), found.values(), strict=True)
    }
    return best, grid(cells)


def judge(beds: Sequence[Bed], seeds: Sequence[int]) -> str:
    """Return a table of the claims about control that hold, are undecided, and fail on each bed."""
    experiments = select([f"gran2010/{figure}" for figure in JUDGED])
    variants = {bed.name: bed.read(experiments, uncontrolled=False) for bed in beds}
    judged = judge_variants(variants, seeds, threads=1, progress=_show)
    cells = {}
    for bed in beds:
        verdicts = [verdict for report in judged[bed.name] for verdict in _controlled(report)]
        cells[bed] = ", ".join(str(verdicts.count(each)) for each in (HOLDS, UNDECIDED, FAILS))
    return grid(cells)


def grid(cells: Mapping[Bed, str]) -> str:
    """Return a table with a row per arbiter and queueing, and a column per buffer."""
    lines = [f"| arbiter | queueing | {' | '.join(map(str, BUFFERS))} |", "|---|---|" + "---|" * len(BUFFERS)]
    for arbiter, queueing in product(ARBITERS, QUEUEING):
        row = [cells.get(Bed(arbiter, queueing, buffer), "") for buffer in BUFFERS]
        if any(row):
            lines.append(f"| {arbiter} | {queueing} | {' | '.join(row)} |")
    return "\n".join(lines)


def _controlled(report: Report) -> Iterator[str]:
    """Yield the verdicts of the scored claims that the search did not use."""
    figure = report.id.split("/")[1]
    for claim in of_kind(report.claims, KINDS[0]):
        if claim.id not in WITHOUT_CONTROL.get(figure, ()):
            yield claim.verdict


def _show(now: SweepProgress) -> None:
    sys.stderr.write(f"\r{now.finished} of {now.points} runs")


def main(seeds: int) -> None:
    """Search for the best beds, judge them, and write both tables into the page."""
    numbers = range(1, seeds + 1)
    best, found = search(numbers[:1])
    judged = judge([*best, *([] if Bed() in best else [Bed()])], numbers)
    between = "Claims about congestion control that hold, are undecided, and fail, on the frozen beds:"
    tables = "\n\n".join([found, between, judged])
    markers.write("tools/beds.py", f"\n{tables}\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Search for the bed of gran2010 and judge it.")
    parser.add_argument("--seeds", type=int, default=1, help="seeds for judging; the search uses the first")
    asked = parser.parse_args()
    main(asked.seeds)
