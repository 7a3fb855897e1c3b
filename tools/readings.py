"""Judges santos2002 and santos2003 with all readings of their switches, and writes the page's tables.

    python tools/readings.py [PAPER/FIGURE ...] [--whole] [--seeds N]

The tables are placed between two comments on the page. By default, the reduced experiments of all figures in
both papers are run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

import markers
import polars as pl
from variants import divided, judge_variants, not_failing

from becalm.base.progress import SweepProgress
from becalm.lab.discovery import select
from becalm.lab.expect import FAILS, HOLDS, UNDECIDED
from becalm.lab.model import Report
from becalm.papers.common.reading import Reading, different

PAPERS = ("santos2002", "santos2003")
SIGNS = {HOLDS: "+", UNDECIDED: "?", FAILS: "**-**"}


def tables(judged: Mapping[str, Sequence[Report]], readings: Sequence[Reading], how: str) -> str:
    """Return both tables: sentences that hold for each reading, and claims that fail with some reading."""
    counts = {(row["variant"], row["paper"]): row for row in not_failing(judged).iter_rows(named=True)}
    head = ["| | reads | bypass | full | method | " + " | ".join(PAPERS) + " | both |", "|---" * 8 + "|"]
    rows = []
    for number, reading in enumerate(readings, 1):
        found = [counts[reading.name, paper] for paper in PAPERS]
        held, of = sum(row["hold"] for row in found), sum(row["of"] for row in found)
        keys = [str(number), reading.reads, reading.bypass, reading.full, reading.method]
        cells = [*keys, *(f"{row['hold']} of {row['of']}" for row in found), f"{held} of {of}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n\n".join([how, "\n".join([*head, *rows]), _verdicts(divided(judged), readings)])


def _verdicts(split: pl.DataFrame, readings: Sequence[Reading]) -> str:
    numbers = " | ".join(str(number) for number in range(1, len(readings) + 1))
    head = [f"| claim | {numbers} |", "|---" * (len(readings) + 1) + "|"]
    rows = [
        f"| {row['paper']} `{row['claim']}` | {' | '.join(SIGNS[row[each.name]] for each in readings)} |"
        for row in split.iter_rows(named=True)
    ]
    legend = "Claims that fail with some reading: `+` holds, `?` undecided, `-` fails. Columns as above."
    return "\n\n".join([legend, "\n".join([*head, *rows])])


def _show(now: SweepProgress) -> None:
    sys.stderr.write(f"\r{now.finished} of {now.points} runs")


def main(ids: Sequence[str], whole: bool, seeds: int) -> None:
    """Run the experiments with all readings, and write the tables into the page."""
    readings = different()
    experiments = select(ids or PAPERS)
    variants = {reading.name: reading.read(experiments) for reading in readings}
    judged = judge_variants(variants, range(1, seeds + 1), short=not whole, progress=_show)
    kind = "full" if whole else "reduced (`--short`)"
    times = "1 seed" if seeds == 1 else f"{seeds} seeds"
    how = f"Sentences that hold or are undecided, in the {kind} experiments with {times}."
    markers.write("tools/readings.py", f"\n{tables(judged, readings, how)}\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Judge santos2002 and santos2003 with all readings.")
    parser.add_argument("ids", nargs="*", metavar="PAPER/FIGURE", help="figures (default: all)")
    parser.add_argument("--whole", action="store_true", help="run the full experiments")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds")
    asked = parser.parse_args()
    if asked.seeds < 1:
        parser.error(f"--seeds {asked.seeds}: must be at least 1")
    main(asked.ids, asked.whole, asked.seeds)
