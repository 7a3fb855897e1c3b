"""Spread of congestion from an incast on one leaf, and its victims among flows to neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import at
from becalm.papers.dixit2013.scene import Table, clos
from becalm.plot import COLOURS, figure, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from becalm.results import Results

SHOWN = ("flow", "packet", "least waiting")
SPINES = 4
DRAWS = 8
"""Runs for each rule and seed. Hashes may distribute four flows over one to four spines."""


def experiments() -> list[Experiment]:
    """Return the experiment on the incast by the rule that chooses among the spines."""
    return [
        Experiment(
            "dixit2013/victims",
            "Four hosts send to one, four others to its neighbours, over four spines",
            cost=10,
            points=lambda short: [
                Point({"paths": law}, _incast(law), draw)
                for law in SHOWN
                for draw in range(2 if short else DRAWS)
            ],
            measure=_measure,
            draw=_draw,
        )
    ]


def _incast(law: str) -> Table:
    scene = clos(2, SPINES, law, buffer="32 slots")
    scene["topology"]["clos"]["hosts_per_leaf"] = 8
    pairs = [{"from": f"H{i}", "to": f"H{i + 8}"} for i in range(4, 8)]
    return scene | {
        "run": {"duration": "2 ms", "warmup": "500 us"},
        "flows": [
            {"name": "incast", "from": ["H0..H3"], "to": ["H8"]},
            {"name": "others", "connections": pairs},
        ],
        "observe": {"links": []},
    }


def _measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`, means over the runs.

    The columns are branches between switches, their mean share of time, the others' rates, and victims.
    """
    rows = pl.DataFrame([_point(outcome) for outcome in outcomes])
    return {"points": rows.group_by("paths", maintain_order=True).agg(pl.exclude("paths").mean())}


def _point(outcome: Outcome) -> dict[str, Label]:
    results = outcome.results
    between = ~pl.col("from").str.starts_with("H") & ~pl.col("to").str.starts_with("H")
    branches = results.tree.filter(between & (pl.col("role") == "branch"))
    others = results.flows.filter(pl.col("group") == "others")["share"]
    return {
        **outcome.labels,
        "branches": branches.height,
        "branch_share": float(branches["branch_share"].to_numpy().mean()) if branches.height else 0.0,
        "others": float(others.to_numpy().mean()),
        "least": float(others.to_numpy().min()),
        "victims": _held_up(results),
    }


def _held_up(results: Results) -> int:
    """Return the number of others whose paths can cross a branch but no root, regardless of their loss."""
    network = results.scenario.network()
    paths = network.flow_paths.with_columns(role=results.tree["role"].gather(network.flow_paths["link"]))
    root, branch = ((pl.col("role") == role).any() for role in ("root", "branch"))
    met = paths.group_by("flow").agg(root=root, branch=branch)
    others = network.flows.with_row_index("flow").filter(pl.col("group") == "others")["flow"]
    chosen = met.filter(pl.col("flow").is_in(others.implode()), pl.col("branch"), ~pl.col("root"))
    return chosen.height


def gained(tables: Tables, column: str, law: str, than: str) -> float:
    """Return the value with one rule minus that with another."""
    return at(tables, column, paths=law) - at(tables, column, paths=than)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    points = tables["points"]
    for place, (column, label) in enumerate(
        {"others": "mean of the others", "least": "least of them"}.items()
    ):
        bars = [x + 0.35 * place for x in range(points.height)]
        axes.bar(bars, points[column].to_list(), width=0.35, color=COLOURS[place], label=label)
    axes.set_xticks([x + 0.175 for x in range(points.height)], points["paths"].to_list())
    axes.set(ylabel="share of their links", ylim=(0, 1.05))
    legend(made, axes, below=2)
    return made
