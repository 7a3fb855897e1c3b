"""Judges experiments under several interpretations of details that their paper leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from becalm.base.progress import SweepProgress
from becalm.lab.expect import FAILS
from becalm.lab.model import KINDS, Experiment, Report
from becalm.lab.runner import Measurements
from becalm.lab.text import of_kind, standings
from becalm.runs.drive import driver


def judge_variants(
    variants: Mapping[str, Sequence[Experiment]],
    seeds: Sequence[int],
    short: bool = False,
    threads: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> dict[str, list[Report]]:
    """Run the experiments of each variant and judge their statements.

    Args:
        variants: the same experiments with different scenarios, by variant name.
        seeds: the seeds of the runs.
        short: whether to use fewer points and shorter runs.
        threads: number of concurrent runs; None: one per core.
        progress: called after every finished run of a variant.

    Returns:
        The reports of each variant, without nulls.

    """
    judged = {}
    for name, experiments in variants.items():
        found = Measurements(experiments, short=short, nulls=False)
        with driver(threads, progress=progress) as runs:
            found.run(experiments, seeds, runs)
        judged[name] = [found.report(item) for item in experiments]
    return judged


def not_failing(judged: Mapping[str, Sequence[Report]]) -> pl.DataFrame:
    """Count each paper's sentences that hold or are undecided: `variant`, `paper`, `hold`, `of`."""
    rows = []
    for name, reports in judged.items():
        for paper in dict.fromkeys(_paper(report) for report in reports):
            counts = standings([report for report in reports if _paper(report) == paper])
            total = sum(counts.values())
            rows.append((name, paper, total - counts[FAILS], total))
    return pl.DataFrame(rows, schema=["variant", "paper", "hold", "of"], orient="row")


def divided(judged: Mapping[str, Sequence[Report]]) -> pl.DataFrame:
    """Return the scored claims that fail under some variants: `paper`, `claim`, and a verdict per variant."""
    rows = [
        (name, _paper(report), f"{report.id.split('/')[1]}/{claim.id}", claim.verdict)
        for name, reports in judged.items()
        for report in reports
        for claim in of_kind(report.claims, KINDS[0])
    ]
    scored = pl.DataFrame(rows, schema=["variant", "paper", "claim", "verdict"], orient="row")
    failing = scored.filter(pl.col("verdict") == FAILS).select("paper", "claim").unique()
    chosen = scored.join(failing, on=["paper", "claim"], how="semi", maintain_order="left")
    return chosen.pivot("variant", index=["paper", "claim"], values="verdict", aggregate_function="first")


def _paper(report: Report) -> str:
    return report.id.split("/")[0]
