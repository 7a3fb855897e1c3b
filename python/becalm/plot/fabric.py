"""Draws a fabric at one time: links coloured by the occupancy of their input buffers, roots and victims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from becalm._core import layout
from becalm.base.errors import ResultsError
from becalm.plot.style import COLOURS, ROLES, figure
from becalm.results.frames import ROLES as ROLES_OF_FRAMES

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from becalm.results import Results


ROWS = ("rows", "dumbbell")
"""Types of the core's layouts that are drawn as rows."""
LARGEST = 60.0
"""Maximum width or height of a picture without rows, in host widths."""
MOST_PAIRS = 2000
"""Maximum number of nodes for a comparison of distances. Pictures with more nodes have the largest side."""


@dataclass(frozen=True)
class Layout:
    """Positions of nodes: in rows, or as in reports. Neighbours are about 1 apart."""

    place: Mapping[str, tuple[float, float]]
    level: Mapping[str, int]
    """Levels of nodes: 0 for hosts; a switch is one level above its lowest neighbour."""
    rows: bool = True
    """Whether hosts are in a row at the bottom, 1 apart, with switches above them by level."""

    @classmethod
    def of_results(cls, results: Results) -> Layout:
        """Arrange the nodes of a run: rows for levels and dumbbells, or else the positions in reports.

        Tori and meshes become grids, dragonflies become circles of groups, and other fabrics without levels
        become circles.
        """
        network = results.scenario.network()
        names, levels = network.nodes["node"].to_list(), network.nodes["level"].to_list()
        form, x, y = layout(results.scenario.core)
        if form in ROWS:
            return cls.of(network.links.select("from", "to").iter_rows(), network.hosts)
        side = _side(x, y)
        place = {name: (side * a, side * b) for name, a, b in zip(names, x.tolist(), y.tolist(), strict=True)}
        return cls(place, dict(zip(names, levels, strict=True)), rows=False)

    @classmethod
    def of(cls, cables: Iterable[tuple[str, str]], hosts: Iterable[str]) -> Layout:
        """Arrange nodes by the cables between them. Hosts of a switch keep their order in `hosts`."""
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


def _side(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the width of a picture in which the two closest nodes are 1.5 apart."""
    import numpy as np

    if len(x) > MOST_PAIRS:
        return LARGEST
    apart = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(apart, np.inf)
    return float(min(LARGEST, 1.5 / max(apart.min(), 1e-9)))


def _levels(near: Mapping[str, list[str]], hosts: list[str]) -> dict[str, int]:
    level = dict.fromkeys(hosts, 0)
    edge = hosts
    while edge:
        edge = [node for node in dict.fromkeys(n for each in edge for n in near[each]) if node not in level]
        height = 1 + max(level.values())
        level |= dict.fromkeys(edge, height)
    return level


SHADES = ("#dedede", COLOURS[5], COLOURS[0], "#001a33")
"""Colours from empty to full, increasingly dark and distinguishable without colour vision."""
ROOT, VICTIM = ROLES["root"], ROLES["victim"]
APART = 0.18
"""Distance between the two directions of a cable, in widths of a host."""
LETTERS = 6.0
"""Font size of names in points."""
LONGEST_NAME = 18
"""Maximum length of a name. Longer names are shortened in the middle."""
ARROWS = 0.25
"""Smallest occupancy of a buffer whose link has an arrow. Roots always have one."""
ARROW = 8.0
"""Length of an arrow, in points."""


def draw_fabric(results: Results, time: float, *, vl: int = 0, replication: int = 0) -> Figure:
    """Draw the fabric at the time of a snapshot.

    Every cable is drawn as two lines, one for each direction, on the right in that direction. Colour and
    width show the occupancy of the input buffer at the line's end. Arrows on roots and on links with full
    buffers show the direction of packets. Markers show the roots of congestion at that time, and the hosts
    whose flows were victims over the measured window, by the column `role` of the table `flows`. Names that
    would overlap are omitted.

    Args:
        results: results of a scenario with `observe.snapshots` or `observe.frames`.
        time: time of a snapshot in s, or a time within the frames, of which the nearest is drawn.
        vl: the virtual lane.
        replication: number of the replication.

    Raises:
        ResultsError: there is neither a snapshot nor a frame at this time or for this lane.

    """
    import polars as pl

    framed = "snapshots" not in results.tables and "frames" in results.tables
    whole = _framed(results, time, replication) if framed else results.snapshots
    snapshots = whole.filter(pl.col("replication") == replication, pl.col("vl") == vl)
    times = snapshots["time"].unique().sort().to_list()
    time = times[0] if framed and times else time
    found = [each for each in times if math.isclose(each, time, rel_tol=1e-9, abs_tol=1e-15)]
    if not found:
        valid = ", ".join(f"{each:g} s" for each in times) or "none"
        raise ResultsError(
            f"no snapshot at {time:g} s for VL {vl}, replication {replication}; valid: {valid}"
        )
    shown = snapshots.filter(pl.col("time") == found[0])
    layout = Layout.of_results(results)
    span = 1 + max(x for x, _ in layout.place.values())
    width = min(16.0, max(7.0, 0.16 * span + 3.0))
    scale = 72 * (width - 1.2) / span  # points per host
    height = 2.6 + 1.5 * max(layout.level.values()) if layout.rows else width - 0.4
    made, axes = figure(width=width, height=height)
    axes.axis("off")
    axes.margins(x=0.02)
    _links(made, axes, shown, layout)
    _nodes(axes, layout, _victims(results.victims.filter(pl.col("replication") == replication)))
    if layout.rows:
        for level in sorted(set(layout.level.values())):
            _names(axes, layout, level, scale)
    else:
        _names_apart(axes, layout, scale)
    _roots(axes, shown, layout)
    _arrows(axes, shown, layout, scale)
    lane = f", VL {vl}" if whole["vl"].n_unique() > 1 else ""
    axes.set_title(f"{results.scenario.name} at {found[0] * 1e3:g} ms{lane}")
    handles, labels = axes.get_legend_handles_labels()
    # Place the legend outside the names of hosts, which can be long.
    made.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return made


def _framed(results: Results, time: float, replication: int) -> pl.DataFrame:
    """Return the frame nearest to a time, in the format of snapshots.

    Raises:
        ResultsError: the time is not within the frames.

    """
    import polars as pl

    own, replicated = pl.col("replication") == replication, results.tables["frames"]
    frames = replicated.filter(own)
    if frames.is_empty():
        raise ResultsError(f"no frames for replication {replication}")
    last: Any = frames["time"].max()
    if not 0 <= time <= last * (1 + 1e-9):
        raise ResultsError(f"no frame at {time:g} s; valid: from 0 s to {last:g} s")
    near = frames.filter((pl.col("time") - time).abs() == (pl.col("time") - time).abs().min())
    near = near.filter(pl.col("time") == near["time"].min())
    links = results.tables["links"].filter(own).select("from", "to")
    parts = []
    for row in near.iter_rows(named=True):
        shares = pl.Series([byte / 255 for byte in row["occupancy"]], dtype=pl.Float64)
        roles = pl.Series([ROLES_OF_FRAMES[byte] for byte in row["role"]], dtype=pl.String)
        about = {key: pl.lit(row[key]) for key in ("replication", "time", "vl")}
        parts.append(links.with_columns(**about, occupancy=shares, role=roles))
    return pl.concat(parts, how="vertical_relaxed")


def _links(made: Figure, axes: Axes, shown: pl.DataFrame, layout: Layout) -> None:
    """Draw the links, with fuller ones on top."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.ticker import PercentFormatter

    ordered = shown.sort("occupancy")
    lines = [_line(layout, a, b) for a, b in zip(ordered["from"], ordered["to"], strict=True)]
    shares = ordered["occupancy"].to_numpy()
    colours = ScalarMappable(Normalize(0, 1), LinearSegmentedColormap.from_list("fill", SHADES))
    axes.add_collection(
        LineCollection(lines, colors=colours.to_rgba(shares), linewidths=0.5 + 2.0 * shares, zorder=1)
    )
    bar = made.colorbar(colours, ax=axes, shrink=0.8, aspect=35, pad=0.01, format=PercentFormatter(1.0))
    bar.set_label("occupancy of the input buffer at the link's end", fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _line(layout: Layout, start: str, end: str) -> list[tuple[float, float]]:
    """Return the ends of a link, shifted to the right in its direction."""
    (x0, y0), (x1, y1) = layout.place[start], layout.place[end]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    right, up = APART * (y1 - y0) / length, -APART * (x1 - x0) / length
    return [(x0 + right, y0 + up), (x1 + right, y1 + up)]


def _nodes(axes: Axes, layout: Layout, victims: set[str]) -> None:
    for level in sorted(set(layout.level.values())):
        nodes = [node for node in layout.place if layout.level[node] == level]
        if level == 0:
            hurt = [node for node in nodes if node in victims]
            rest = [node for node in nodes if node not in victims]
            _mark(axes, layout, rest, "host", s=12, marker="o", color="white")
            _mark(axes, layout, hurt, "source of a victim", s=12, marker="o", color=VICTIM)
        else:
            _mark(axes, layout, nodes, "switch" if level == 1 else None, s=60, marker="s", color="white")


def _mark(axes: Axes, layout: Layout, nodes: list[str], label: str | None, **how: Any) -> None:  # noqa: ANN401
    if nodes:
        x, y = zip(*(layout.place[node] for node in nodes), strict=True)
        axes.scatter(x, y, zorder=3, label=label, edgecolors="0.3", linewidths=0.8, **how)


def _names(axes: Axes, layout: Layout, level: int, scale: float) -> None:
    """Write the names of a level's nodes, as many as fit; `scale` is in points per host."""
    nodes = sorted(
        (node for node in layout.place if layout.level[node] == level), key=lambda node: layout.place[node][0]
    )
    names = [_shortened(node) for node in nodes]
    across = [layout.place[node][0] for node in nodes]
    room = scale * min((after - before for before, after in pairwise(across)), default=math.inf)
    needed = 0.62 * LETTERS * max(map(len, names)) + 4.0
    upright = level == 0 and needed > room
    step = max(1, math.ceil((1.3 * LETTERS if upright else needed) / max(room, 1e-9)))
    for node, name in list(zip(nodes, names, strict=True))[::step]:
        _name(axes, name, layout.place[node], below=level == 0, rotation=90 if upright else 0)


def _name(axes: Axes, name: str, place: tuple[float, float], *, below: bool, rotation: int = 0) -> None:
    axes.annotate(
        name,
        place,
        (0, -5) if below else (0, 6),
        textcoords="offset points",
        ha="center",
        va="top" if below else "bottom",
        fontsize=LETTERS,
        rotation=rotation,
        color="0.2",
        zorder=5,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
    )


def _names_apart(axes: Axes, layout: Layout, scale: float) -> None:
    """Write names of switches and then of hosts, unless they overlap; `scale` is in points per host."""
    taken: list[tuple[float, float, float]] = []
    for node in sorted(layout.place, key=lambda node: layout.level[node] == 0):
        x, y = layout.place[node]
        host = layout.level[node] == 0
        name = _shortened(node)
        half, middle = 0.31 * LETTERS * len(name) + 2.0, y * scale + (-9 if host else 10)
        if any(abs(x * scale - a) < half + b and abs(middle - c) < 1.6 * LETTERS for a, b, c in taken):
            continue
        taken.append((x * scale, half, middle))
        _name(axes, name, (x, y), below=host)


def _shortened(name: str) -> str:
    """Omit the middle of a long name, since its ends distinguish it from others."""
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[half + 1 - LONGEST_NAME :]}"


def _arrows(axes: Axes, shown: pl.DataFrame, layout: Layout, scale: float) -> None:
    """Draw the direction of packets on roots and links with full buffers. Close links share an arrow."""
    import polars as pl

    chosen = shown.filter((pl.col("occupancy") >= ARROWS) | (pl.col("role") == "root"))
    chosen = chosen.sort(pl.col("role") == "root", "occupancy", descending=True, maintain_order=True)
    places: list[tuple[float, float]] = []
    directions: list[tuple[float, float]] = []
    for start, end in zip(chosen["from"], chosen["to"], strict=True):
        (x0, y0), (x1, y1) = _line(layout, start, end)
        across, up = x1 - x0, y1 - y0
        x, y = x0 + 0.62 * across, y0 + 0.62 * up
        if any(abs(x - a) * scale < 2 * ARROW and abs(y - b) < 1.0 for a, b in places):
            continue
        places.append((x, y))
        directions.append((across / math.hypot(across, up), up / math.hypot(across, up)))
    if places:
        head: dict[str, Any] = {"headwidth": 9, "headlength": 10, "headaxislength": 8, "width": 0.011}
        length: dict[str, Any] = {"units": "inches", "scale_units": "inches", "scale": 72 / ARROW}
        x_y, right_up = zip(*places, strict=True), zip(*directions, strict=True)
        axes.quiver(*x_y, *right_up, angles="xy", pivot="mid", color="black", zorder=4, **length, **head)


def _roots(axes: Axes, shown: pl.DataFrame, layout: Layout) -> None:
    import polars as pl
    from matplotlib.collections import LineCollection

    roots = shown.filter(pl.col("role") == "root")
    lines = [_line(layout, start, end) for start, end in zip(roots["from"], roots["to"], strict=True)]
    if not lines:
        return
    # A root's line may be invisible, because the buffer at its end may be empty, like a host's.
    axes.add_collection(LineCollection(lines, colors=ROOT, linewidths=2.0, zorder=2))
    x, y = zip(*((x0 + 0.3 * (x1 - x0), y0 + 0.3 * (y1 - y0)) for (x0, y0), (x1, y1) in lines), strict=True)
    how: dict[str, Any] = {"marker": "D", "s": 46, "color": ROOT, "edgecolors": "white", "linewidths": 0.6}
    axes.scatter(x, y, zorder=4, label="root of congestion", **how)


def _victims(victims: pl.DataFrame) -> set[str]:
    """Return the hosts that send victim flows."""
    return set(victims.filter(victims["victims"] > 0)["host"])
