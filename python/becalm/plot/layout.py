"""Positions of the nodes in a drawing of a fabric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from becalm._core import layout

if TYPE_CHECKING:
    import numpy as np
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
