"""Fig. 4 of santos2002: marking policies by buffer size."""

from __future__ import annotations

from becalm.lab.dumbbell import Dumbbell
from becalm.lab.figures import Curves, single
from becalm.lab.model import Experiment, Table, Tables, grid
from becalm.lab.tables import at, axis, curve, mean, unfairness
from becalm.papers.common.draw import BUFFERS, SHARE
from becalm.papers.common.marking import INPUT_TRIGGERED, output_triggered
from becalm.papers.common.measure import summary

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
REDUCED = {"buffer": (2, 4, 8, 10, 12, 16)}
THRESHOLDS = (4, 6, 8, 16)
NONE = 0
"""Label of runs without output-triggered marking."""
LARGE = 12
"""Smallest buffer that cannot become full, because there are ten remote packets and one of the victim."""


def scene(short: bool, threshold: int, buffer: int, flows: int = 10) -> Table:
    """Return a long run with an output threshold and a number of flows of each type."""
    policy = output_triggered(threshold) if threshold else INPUT_TRIGGERED
    return Dumbbell(local=flows, remote=flows, buffer=buffer, marking=policy).long(short).scenario()


def small_buffers_underutilized(tables: Tables) -> list[float]:
    """Return the utilization with 2 to 4 slots, without output marking, then for thresholds 6, 8 and 16."""
    return [value for threshold in (NONE, 6, 8, 16) for value in root_at(tables, threshold, 2, 4)]


def _at(tables: Tables, buffer: int, threshold: int) -> float:
    return at(tables, "root", buffer=buffer, threshold=threshold)


def _buffers(tables: Tables, low: int, high: int) -> list[int]:
    return [int(buffer) for buffer in axis(tables, "buffer") if low <= buffer <= high]


def root_at(tables: Tables, threshold: int, low: int, high: int) -> list[float]:
    """Return the root utilization for buffers from `low` to `high` slots."""
    return [_at(tables, buffer, threshold) for buffer in _buffers(tables, low, high)]


def margin_of_threshold_4(tables: Tables, other: int) -> float:
    """Return the smallest difference in root utilization from threshold 4, for at least 4 slots."""
    return min(_at(tables, buffer, other) - _at(tables, buffer, 4) for buffer in _buffers(tables, 4, 16))


def ratio(tables: Tables, threshold: int, low: int, high: int) -> list[float]:
    """Return the ratio of the remote to the local rate for buffers from `low` to `high` slots."""
    return [at(tables, "ratio", threshold=threshold, buffer=buffer) for buffer in _buffers(tables, low, high)]


def small_buffers_penalize_remote(tables: Tables) -> list[float]:
    """Return the best ratio with 2 to 4 slots minus the ratio with 16 slots, for thresholds 8 and 16."""
    return [max(ratio(tables, threshold, 2, 4)) - _at_16(tables, threshold) for threshold in (8, 16)]


def _at_16(tables: Tables, threshold: int) -> float:
    return at(tables, "ratio", threshold=threshold, buffer=16)


def flat_beyond_threshold(tables: Tables) -> list[float]:
    """Return the range of the ratio over buffers larger than the threshold, for thresholds 4, 6 and 8."""
    return [spread(ratio(tables, threshold, threshold + 1, 16)) for threshold in (4, 6, 8)]


def no_input_marks_from_12_slots(tables: Tables) -> list[float]:
    """Return the marked local, remote and victim packets without output-triggered marking, with 12 slots."""
    return [
        mean(curve(tables, "buffer", f"{side}_marked", threshold=NONE, buffer=LARGE))
        for side in ("local", "remote", "victim")
    ]


def unfairness_at_16(tables: Tables, threshold: int) -> float:
    """Return the ratio of the larger to the smaller of the local and remote rates, with 16 slots."""
    return unfairness(_at_16(tables, threshold))


def spread(values: list[float]) -> float:
    """Return the largest value minus the smallest."""
    return max(values) - min(values)


def local_share(tables: Tables, threshold: int) -> float:
    """Return the local share of the sum of the local and remote rates, with 16 slots."""
    return 1 / (1 + _at_16(tables, threshold))


NAMES = {threshold: f"{threshold}" for threshold in THRESHOLDS} | {NONE: "none"}
EXPERIMENTS = [
    Experiment(
        f"santos2002/{figure}",
        f"{title} against buffer size, for output thresholds",
        cost=45,
        points=grid(scene, REDUCED, threshold=(NONE, *THRESHOLDS), buffer=SIZES),
        measure=summary,
        draw=single(
            Curves("buffer", column, "threshold", NAMES),
            ylabel=label,
            ylim=(0, top),
            heading="output threshold",
            **BUFFERS,
        ),
    )
    for figure, title, column, label, top in (
        ("fig4a", "Root link utilization", "root", "root link utilization", SHARE[1]),
        (
            "fig4b",
            "Fairness, remote over local rate,",
            "ratio",
            "rate of remote flows / rate of local flows",
            1.5,
        ),
    )
]
"""Fig. 4(a) and (b)."""
