"""A fabric at one time: links coloured by how full the buffers behind them are, with roots and victims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from becalm.errors import ResultsError
from becalm.plot.style import COLOURS, ROLES, figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from becalm.results import Results

SHADES = ("#dedede", COLOURS[5], COLOURS[0], "#001a33")
"""From empty to full: each darker than the one before, to be told apart without colour vision."""
ROOT, VICTIM = ROLES["root"], ROLES["victim"]
APART = 0.18
"""Distance between the two directions of a cable, in widths of a host."""
HURT = 0.9
"""A victim is shown as one if it gets less than this share of what it offers."""
MOST_NAMES = 40
"""Nodes of a level that still have their names written beside them."""


@dataclass(frozen=True)
class Layout:
    """Where the nodes are drawn: hosts at the bottom in steps of 1, switches above by level."""

    place: Mapping[str, tuple[float, float]]
    level: Mapping[str, int]
    """0 for hosts; a switch is one level above the lowest of its neighbours."""

    @classmethod
    def of(cls, cables: Iterable[tuple[str, str]], hosts: Iterable[str]) -> Layout:
        """Arrange nodes by the cables between them; `hosts` keep their order within their switch."""
        near: dict[str, list[str]] = {}
        for a, b in cables:
            near.setdefault(a, []).append(b)
        level = _levels(near, list(hosts))
        place: dict[str, tuple[float, float]] = {}
        leaves = [node for node in near if level[node] == 1]
        x = 0.0
        for leaf in leaves:
            own = [node for node in near[leaf] if level[node] == 0]
            place |= {host: (x + i, 0.0) for i, host in enumerate(own)}
            place[leaf] = (x + (len(own) - 1) / 2, 0.0)
            x += len(own) + 0.5
        width = x - 0.5
        top = max(level.values())
        for height in range(1, top + 1):
            nodes = [node for node in near if level[node] == height]
            for i, node in enumerate(nodes):
                across = place[node][0] if height == 1 else (i + 0.5) * width / len(nodes) - 0.5
                place[node] = (across, height * max(4.0, width / (2.2 * top)))
        return cls(place, level)


def _levels(near: Mapping[str, list[str]], hosts: list[str]) -> dict[str, int]:
    level = dict.fromkeys(hosts, 0)
    edge = hosts
    while edge:
        edge = [node for node in dict.fromkeys(n for each in edge for n in near[each]) if node not in level]
        height = 1 + max(level.values())
        level |= dict.fromkeys(edge, height)
    return level


def draw_fabric(results: Results, time: float, *, vl: int = 0, replication: int = 0) -> Figure:
    """Draw the fabric at the time of a snapshot.

    Every cable is two lines, one for each direction, on the right of its way. Their colour and width tell
    what share of the input buffer at their end is taken. Marks show the roots of congestion at that time, and
    the hosts that were its victims over the measured window.

    Args:
        results: of a scenario with `observe.snapshots`.
        time: in s; one of the snapshots'.
        vl: the virtual lane.
        replication: which one.

    Raises:
        ResultsError: there is no snapshot at this time or of this lane.

    """
    import polars as pl

    snapshots = results.snapshots.filter(pl.col("replication") == replication, pl.col("vl") == vl)
    times = snapshots["time"].unique().sort().to_list()
    found = [each for each in times if math.isclose(each, time, rel_tol=1e-9, abs_tol=1e-15)]
    if not found:
        valid = ", ".join(f"{each:g} s" for each in times) or "none"
        raise ResultsError(
            f"no snapshot at {time:g} s of VL {vl}, replication {replication}; there are: {valid}"
        )
    shown = snapshots.filter(pl.col("time") == found[0])
    layout = Layout.of(
        zip(shown["from"], shown["to"], strict=True), results.hosts["host"].unique(maintain_order=True)
    )
    width = 1 + max(x for x, _ in layout.place.values())
    made, axes = figure(
        width=min(16.0, max(7.0, 0.16 * width + 3.0)), height=2.6 + 1.5 * max(layout.level.values())
    )
    axes.axis("off")
    _links(made, axes, shown, layout)
    _nodes(axes, layout, _victims(results.victims.filter(pl.col("replication") == replication)))
    _roots(axes, shown, layout)
    axes.set_title(f"{results.scenario.name}, {found[0] * 1e3:g} ms")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, frameon=False)
    return made


def _links(made: Figure, axes: Axes, shown: pl.DataFrame, layout: Layout) -> None:
    """Fuller ones go on top."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    ordered = shown.sort("occupancy")
    lines = [_line(layout, a, b) for a, b in zip(ordered["from"], ordered["to"], strict=True)]
    shares = ordered["occupancy"].to_numpy()
    colours = ScalarMappable(Normalize(0, 1), LinearSegmentedColormap.from_list("fill", SHADES))
    axes.add_collection(
        LineCollection(lines, colors=colours.to_rgba(shares), linewidths=0.5 + 2.0 * shares, zorder=1)
    )
    made.colorbar(
        colours, ax=axes, shrink=0.7, pad=0.01, label="share of the buffer at the link's end that is taken"
    )


def _line(layout: Layout, start: str, end: str) -> list[tuple[float, float]]:
    """Return the ends of a link, moved to the right of its way."""
    (x0, y0), (x1, y1) = layout.place[start], layout.place[end]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    right, up = APART * (y1 - y0) / length, -APART * (x1 - x0) / length
    return [(x0 + right, y0 + up), (x1 + right, y1 + up)]


def _nodes(axes: Axes, layout: Layout, victims: set[str]) -> None:
    for level in sorted(set(layout.level.values())):
        nodes = [node for node in layout.place if layout.level[node] == level]
        if level == 0:
            hurt = [node for node in nodes if node in victims]
            _mark(
                axes, layout, [n for n in nodes if n not in victims], "host", s=12, marker="o", color="white"
            )
            _mark(axes, layout, hurt, f"victim: got less than {HURT:.0%}", s=12, marker="o", color=VICTIM)
        else:
            _mark(axes, layout, nodes, "switch" if level == 1 else None, s=60, marker="s", color="white")
        _names(axes, layout, nodes, level)


def _mark(axes: Axes, layout: Layout, nodes: list[str], label: str | None, **how: Any) -> None:  # noqa: ANN401
    if nodes:
        x, y = zip(*(layout.place[node] for node in nodes), strict=True)
        axes.scatter(x, y, zorder=3, label=label, edgecolors="0.3", linewidths=0.8, **how)


def _names(axes: Axes, layout: Layout, nodes: list[str], level: int) -> None:
    """Write the names of some nodes of a level, of as many as there is room for."""
    upright = level == 0 and len(nodes) > MOST_NAMES / 2
    for node in nodes[:: -(-len(nodes) // MOST_NAMES)]:
        axes.annotate(
            node,
            layout.place[node],
            (0, -5) if level == 0 else (0, 6),
            textcoords="offset points",
            ha="center",
            va="top" if level == 0 else "bottom",
            fontsize=6,
            rotation=90 if upright else 0,
            color="0.2",
            zorder=5,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )


def _roots(axes: Axes, shown: pl.DataFrame, layout: Layout) -> None:
    import polars as pl

    roots = shown.filter(pl.col("role") == "root")
    points = []
    for start, end in zip(roots["from"], roots["to"], strict=True):
        (x0, y0), (x1, y1) = _line(layout, start, end)
        points.append((x0 + 0.3 * (x1 - x0), y0 + 0.3 * (y1 - y0)))
    if points:
        x, y = zip(*points, strict=True)
        how: dict[str, Any] = {
            "marker": "D",
            "s": 46,
            "color": ROOT,
            "edgecolors": "white",
            "linewidths": 0.6,
        }
        axes.scatter(x, y, zorder=4, label="root of congestion", **how)


def _victims(victims: pl.DataFrame) -> set[str]:
    """Return hosts with a group of flows that suffers, most of them in a tree that they have no part in."""
    import polars as pl

    chosen = (pl.col("victims") > pl.col("contributors")) & (pl.col("delivered_share") < HURT)
    return set(victims.filter(chosen)["host"])
