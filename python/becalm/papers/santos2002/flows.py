"""The remark of santos2002 on other numbers of flows."""

from __future__ import annotations

from becalm.lab.figures import Curves, Panel, Plot
from becalm.lab.model import Experiment, Tables, grid
from becalm.lab.tables import at, axis
from becalm.papers.common.draw import BUFFERS, SHARE
from becalm.papers.common.measure import summary
from becalm.papers.santos2002.buffers import NONE, scene, spread

FLOWS = (5, 10, 15, 20)
REDUCED = {"flows": (5, 20), "buffer": (4, 12, 16)}


def threshold_4_below_8(tables: Tables) -> list[float]:
    """Return root utilization with threshold 8 minus that with 4, at 16 slots, for each number of flows."""
    return [
        at(tables, "root", flows=n, threshold=8, buffer=16)
        - at(tables, "root", flows=n, threshold=4, buffer=16)
        for n in axis(tables, "flows")
    ]


def small_buffers_penalize_remote(tables: Tables) -> list[float]:
    """Return the ratio at 16 slots minus that at 4 slots, with threshold 8, for each number of flows."""
    return [
        at(tables, "ratio", flows=n, threshold=8, buffer=16)
        - at(tables, "ratio", flows=n, threshold=8, buffer=4)
        for n in axis(tables, "flows")
    ]


def flat_beyond_threshold(tables: Tables) -> list[float]:
    """Return the change of the ratio from 12 to 16 slots, with threshold 8, for each number of flows."""
    return [
        spread([at(tables, "ratio", flows=n, threshold=8, buffer=buffer) for buffer in (12, 16)])
        for n in axis(tables, "flows")
    ]


EXPERIMENTS = [
    Experiment(
        "santos2002/flows",
        "The remark on 5 to 20 flows of each type: Fig. 4 with other numbers of flows",
        cost=45,
        points=grid(scene, REDUCED, threshold=(NONE, 4, 8), buffer=(2, 4, 8, 12, 16), flows=FLOWS),
        measure=summary,
        draw=Plot(
            *(
                Panel(
                    Curves(
                        "buffer",
                        column,
                        "flows",
                        {flows: f"{flows}" for flows in FLOWS},
                        where={"threshold": 8},
                    ),
                    ylabel=label,
                    title="output threshold 8",
                    ylim=(0, top),
                    **BUFFERS,
                )
                for column, label, top in (
                    ("root", "root link utilization", SHARE[1]),
                    ("ratio", "rate of remote flows / rate of local flows", None),
                )
            ),
            heading="flows of each type",
        ),
    )
]
"""The experiment on other numbers of flows."""
