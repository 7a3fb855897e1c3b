"""Experiments judged under several readings of what their paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from becalm.lab.model import KINDS, Experiment
from becalm.lab.seeds import Measurements, Progress
from becalm.lab.verdict import FAILS


def judge_variants(
    variants: Mapping[str, Sequence[Experiment]],
    seeds: Sequence[int],
    short: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Run the experiments of each variant and judge their statements.

    Args:
        variants: the same experiments with other scenarios, by the name of the variant.
        seeds: seeds of the runs.
        short: fewer points and shorter runs.
        threads: runs at once; None: as many as there are cores.
        progress: called after every finished run of a variant.

    Returns:
        One row per variant and statement: `variant`, `paper`, `claim` (`figure/id`), `kind`, `verdict`.

    """
    rows = []
    for name, experiments in variants.items():
        found = Measurements(experiments, short=short, nulls=False)
        found.run(experiments, seeds, threads, progress)
        rows += [
            (name, item.paper, f"{item.figure}/{claim.id}", claim.remarks.kind, claim.verdict)
            for item in experiments
            for claim in found.report(item).claims
        ]
    return pl.DataFrame(rows, schema=["variant", "paper", "claim", "kind", "verdict"], orient="row")


def not_failing(judged: pl.DataFrame) -> pl.DataFrame:
    """Count sentences of each paper that hold or are undecided: `variant`, `paper`, `hold`, `of`."""
    return (
        judged.filter(pl.col("kind") == KINDS[0])
        .group_by("variant", "paper", maintain_order=True)
        .agg((pl.col("verdict") != FAILS).sum().alias("hold"), pl.len().alias("of"))
    )


def divided(judged: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences that fail under some variants: `paper`, `claim`, and a verdict per variant."""
    scored = judged.filter(pl.col("kind") == KINDS[0])
    failing = scored.filter(pl.col("verdict") == FAILS).select("paper", "claim").unique()
    chosen = scored.join(failing, on=["paper", "claim"], how="semi", maintain_order="left")
    return chosen.pivot("variant", index=["paper", "claim"], values="verdict", aggregate_function="first")
