"""Response functions in a network: the standard scenes, each run with every response.

- `static`: a dumbbell with twenty long-lived flows and a victim, over the size of the input buffers;
- `dynamic`: the same with flows that come and go, over their mean ON time;
- `tree`: a hot spot on a fat tree of 128 hosts: six of the eight hosts of every leaf send to one host as fast
  as they can; the other two send to each other, at random, and share no link with others.

Marking is input-triggered; rates are those of the 256 inter-packet delays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from becalm.base.progress import SweepProgress
from becalm.lab.dumbbell import Dumbbell
from becalm.lab.model import Outcome, Point
from becalm.lab.runner import Lab

if TYPE_CHECKING:
    import polars as pl

    from becalm.results import Results

Responses: TypeAlias = Mapping[str, dict[str, Any]]
"""Tables of `[response]` by their names in the results."""

INPUT_TRIGGERED: dict[str, Any] = {"input_triggered": {}}
BUFFERS, SHORT_BUFFERS = (2, 4, 8, 16), (4,)
"""Input buffers of `static`, in packets."""
MEAN_ON_MS, SHORT_MEAN_ON_MS = (0.02, 0.2, 1.0, 20.0), (1.0,)
"""Mean ON times of `dynamic`, in ms."""
CYCLES = 20
"""Minimum of the mean number of ON-OFF cycles per dynamic flow."""
TREE_MS, SHORT_TREE_MS = 50, 20
PORTS, HOSTS, PER_LEAF, QUIET_PER_LEAF = 16, 128, 8, 2
LOAD = 0.4
"""Load that a quiet host offers, as a share of its link."""

QUANTITIES = {
    "static": {
        "root": "root link in use",
        "inter_switch": "inter-switch link in use",
        "ratio": "ratio of remote to local flow rates",
    },
    "dynamic": {"root": "root link in use", "inter_switch": "inter-switch link in use"},
    "tree": {
        "hot": "hot link in use",
        "jain": "Jain's index of the hot flows",
        "background": "background traffic that arrives",
    },
}
"""What is measured in each scene, in words."""


def run(
    responses: Responses,
    *,
    short: bool = False,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> pl.DataFrame:
    """Run the standard scenes with each response.

    Args:
        responses: tables of `[response]` by name.
        short: one point per scene and shorter runs.
        seed: seed of all runs.
        threads: runs at once; None: as many as there are cores.
        progress: called after each run, by one thread at a time.

    Returns:
        One row per value: `scene`, `x` (buffer in packets, mean ON time in ms, or 0), `response`, `quantity`,
        `value`.

    """
    import polars as pl

    points = [point for name, table in responses.items() for point in _points(name, table, short)]
    lab = Lab(seed, threads)
    lab.run(points, progress)
    rows = [row for outcome in lab.outcomes(points) for row in _rows(outcome)]
    return pl.DataFrame(rows, schema=["scene", "x", "response", "quantity", "value"], orient="row")


def _points(name: str, table: dict[str, Any], short: bool) -> list[Point]:
    static = [
        Point(_labels("static", buffer, name), _static(buffer, table, short).scenario())
        for buffer in (SHORT_BUFFERS if short else BUFFERS)
    ]
    dynamic = [
        Point(_labels("dynamic", mean_on, name), _dynamic(mean_on, table, short).scenario())
        for mean_on in (SHORT_MEAN_ON_MS if short else MEAN_ON_MS)
    ]
    return [*static, *dynamic, Point(_labels("tree", 0.0, name), _tree(table, short))]


def _labels(scene: str, x: float, name: str) -> dict[str, str | float | int]:
    return {"scene": scene, "x": float(x), "response": name}


def _static(buffer: int, table: dict[str, Any], short: bool) -> Dumbbell:
    return Dumbbell(buffer=buffer, marking=INPUT_TRIGGERED, response=table).long(short)


def _dynamic(mean_on: float, table: dict[str, Any], short: bool) -> Dumbbell:
    duration = max(250 if short else 500, 2 * mean_on * CYCLES)
    return Dumbbell(
        marking=INPUT_TRIGGERED,
        response=table,
        victim=(40, duration),
        duration=duration,
        warmup=duration / 5,
        mean_on=mean_on,
        step=10,
        window=10,
    )


def _tree(table: dict[str, Any], short: bool) -> dict[str, Any]:
    """Leaf 0 is left to the hot host."""
    duration = SHORT_TREE_MS if short else TREE_MS
    hosts = range(PER_LEAF, HOSTS)
    quiet = [f"H{host}" for host in hosts if host % PER_LEAF < QUIET_PER_LEAF]
    hot = [f"H{host}" for host in hosts if host % PER_LEAF >= QUIET_PER_LEAF]
    poisson = {"poisson": {"load": LOAD, "message": "2048 B"}}
    return {
        "run": {"duration": f"{duration} ms", "warmup": f"{duration / 2:g} ms"},
        "topology": {"tree": {"ports": PORTS, "levels": 2}},
        "switch": {"buffer": "4 slots", "arbiter": {"round_robin": {}}},
        "marking": INPUT_TRIGGERED,
        "echo": {"ack": {}},
        "response": table,
        "flows": [
            {"name": "hot", "from": hot, "to": ["H0"], "traffic": {"greedy": {}}},
            {"name": "background", "from": quiet, "to": quiet, "traffic": poisson},
        ],
        "observe": {"step": "1 ms", "window": "2 ms", "links": []},
    }


def _rows(outcome: Outcome) -> list[tuple[Any, ...]]:
    scene, x, response = outcome.labels.values()
    found = _on_tree(outcome.results) if scene == "tree" else _between_switches(outcome.results, str(scene))
    return [(scene, x, response, quantity, value) for quantity, value in found.items()]


def _between_switches(results: Results, scene: str) -> dict[str, float]:
    found = {
        "root": _link(results, "B", "BC"),
        "inter_switch": _link(results, "A", "B"),
    }
    if scene == "static":
        found["ratio"] = _group(results, "remote", "share") / max(_group(results, "local", "share"), 1e-12)
    return found


def _on_tree(results: Results) -> dict[str, float]:
    quiet = (HOSTS // PER_LEAF - 1) * QUIET_PER_LEAF
    return {
        "hot": _link(results, "L1S0", "H0"),
        "jain": _group(results, "hot", "jain"),
        "background": _group(results, "background", "share") / quiet / LOAD,
    }


def _link(results: Results, sender: str, receiver: str) -> float:
    links = results.links
    return float(links.filter((links["from"] == sender) & (links["to"] == receiver))["utilization"].item())


def _group(results: Results, name: str, column: str) -> float:
    groups = results.groups
    return float(groups.filter(groups["group"] == name)[column].item())
