"""The papers' mechanisms as hardware: costs by synthesis, and replays against the core.

`hardware.json` contains the numbers. `make hardware-write` generates them from the modules in the folder
`hardware`, with Verilator and Yosys; docs/hardware.md describes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl

from becalm.lab.model import Experiment, Outcome, Tables
from becalm.papers.common.draw import bars

PACKET_BITS = 8 * 2048
"""Bits of the papers' packet, which fills a slot of a buffer."""


def experiment(paper: str) -> Experiment:
    """Return the experiment on a paper's sentences about hardware. It reads numbers and runs nothing."""
    return Experiment(
        f"{paper}/hardware",
        "The mechanisms as hardware: gates of an output with 16 ports and slots",
        cost=0.1,
        points=lambda _: [],
        measure=_measure,
        draw=bars("policy", "gates", "gates per output"),
        phase="",
        seeded=False,
    )


@cache
def data() -> Mapping[str, Any]:
    """Return the measurements: `costs`, `replays` and `tables`."""
    text = files("becalm.papers.common").joinpath("hardware.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _measure(_: list[Outcome]) -> Tables:
    """Return `points`, with the gates of a middle-size output by policy, and all `markers` and `replays`."""
    markers = pl.DataFrame(
        [{**row["parameters"], **row} for row in data()["costs"] if row["module"] == "marker"]
    ).drop("parameters", "parts")
    middle = markers.filter(pl.col("PORTS") == 16, pl.col("SLOTS") == 16)
    # Names on several lines, to fit below the bars.
    name = pl.col("policy").str.replace_all("-triggered", "-\ntriggered").str.replace_all(", ", ",\n")
    points = middle.select(name, pl.col("gates") / pl.col("PORTS"))
    return {"points": points, "markers": markers, "replays": pl.DataFrame(data()["replays"])}


def state_of_buffer(tables: Tables, policies: list[str]) -> list[float]:
    """Return the largest ratio, over all sizes, of flip-flops to the packet buffers' bits, by policy."""
    buffers = pl.col("PORTS") * pl.col("SLOTS") * PACKET_BITS
    shares = tables["markers"].group_by("policy").agg((pl.col("flip_flops") / buffers).max().alias("share"))
    by_policy: dict[str, float] = dict(shares.iter_rows())
    return [by_policy[policy] for policy in policies]


def beyond_counters(tables: Tables, policy: str) -> list[float]:
    """Return the smallest and largest ratio of an output's flip-flops to the bits of its two counters."""
    bits = 2 * (pl.col("PORTS") * pl.col("SLOTS") + 1).cast(pl.Float64).log(2).ceil()
    ratios = tables["markers"].filter(policy=policy).select(pl.col("flip_flops") / pl.col("PORTS") / bits)
    values = ratios.to_series()
    return [float(values.min()), float(values.max())]  # type: ignore[arg-type]


def depth_of_adder_and_comparator(tables: Tables, policy: str) -> list[float]:
    """Return the smallest and largest ratio of the depth to that of an adder and a comparator."""
    values = tables["markers"].filter(policy=policy).select(pl.col("depth") / pl.col("adder_and_comparator"))
    ratios = values.to_series()
    return [float(ratios.min()), float(ratios.max())]  # type: ignore[arg-type]


def differences(tables: Tables, modules: list[str]) -> list[float]:
    """Return the number of answers that differ between modules and core, in the calls of five scenes."""
    replays = tables["replays"]
    return [float(replays.filter(pl.col("module") == module)["differences"].sum()) for module in modules]
