"""The delay tables of gran2010, section VII-B: the paper's and the manufacturer's."""

from __future__ import annotations

import polars as pl

from becalm.lab.figures import PLAIN, Curves, Panel, Plot
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import mean
from becalm.manager import nearest
from becalm.papers.gran2010.measure import GBPS, over_time, point
from becalm.papers.gran2010.scene import Bed

ENTRIES = 128
PACKET_US = 1.034
"""Time of a packet of 2068 B on a link of 16 Gb/s."""

PAPER = 106
MANUFACTURER = 95
NAMES = {PAPER: "106, paper", MANUFACTURER: "95, manufacturer"}
"""Divisors of both tables."""
INDICES = (48, 64, 96, 127)
"""Indices at which a single flow runs, to test whether it sends at the table's rate."""

HOST_LINK = 16.0
"""Gb/s."""


def wanted_us(index: int, divisor: int) -> float:
    """Return the formula's delay in us."""
    return index**2 * 7 / divisor**2


def table(divisor: int) -> pl.DataFrame:
    """Return the table by entry: wanted and encoded delay in us, and the encoded entry."""
    rows = []
    for index in range(ENTRIES):
        wanted = wanted_us(index, divisor)
        shift, multiplier = nearest(wanted / PACKET_US)
        encoded = multiplier / 2**shift * PACKET_US
        rows.append((divisor, index, wanted, shift, multiplier, encoded, encoded - wanted))
    columns = ["divisor", "index", "wanted_us", "shift", "multiplier", "encoded_us", "error_us"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _alone(index: int) -> Point:
    """Return a run with one flow on an empty network whose index cannot fall below `index`."""
    bed = Bed(active=(1,), tail=0.01, settle=0.002, step=0.001, minimum=index)
    return point(bed, kind="alone", index=index)


def _compared() -> list[Point]:
    """Return both scenarios, each with the paper's and with the manufacturer's table."""
    return [
        point(
            Bed(scenario, interval=0.05, tail=0.5, divisor=float(divisor)),
            kind="compared",
            scenario=scenario,
            divisor=divisor,
        )
        for scenario in (1, 2)
        for divisor in (MANUFACTURER, PAPER)
    ]


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `entries`: both tables; `alone`: rates of a flow by index; `points`: flows in both scenarios."""
    alone = [outcome for outcome in outcomes if outcome.labels["kind"] == "alone"]
    compared = [outcome for outcome in outcomes if outcome.labels["kind"] == "compared"]
    rows = [
        (outcome.labels["index"], float(outcome.results.groups["rate"].item()) * GBPS) for outcome in alone
    ]
    return {
        "entries": pl.concat([table(PAPER), table(MANUFACTURER)]),
        "alone": pl.DataFrame(rows, schema=["index", "gbps"], orient="row"),
        "points": over_time(compared)["points"],
    }


def _column(tables: Tables, divisor: int, name: str) -> list[float]:
    entries = tables["entries"].filter(pl.col("divisor") == divisor).sort("index")
    return [float(value) for value in entries[name].to_list()]


def largest_delay(tables: Tables) -> float:
    """Return the delay of the last entry after encoding, in us."""
    return _column(tables, PAPER, "encoded_us")[127]


def small_adjustment(tables: Tables) -> float:
    """Return the ratio of the last entry's delay to the manufacturer's."""
    return _column(tables, PAPER, "wanted_us")[127] / _column(tables, MANUFACTURER, "wanted_us")[127]


def as_the_table_says(tables: Tables, index: int) -> float:
    """Return the ratio of a single flow's throughput at an index to the rate that the entry allows."""
    encoded = _column(tables, PAPER, "encoded_us")[index] / PACKET_US
    measured = float(tables["alone"].filter(pl.col("index") == index)["gbps"].item())
    return measured * (1 + encoded) / HOST_LINK


def larger_index_larger_delay(tables: Tables) -> list[float]:
    """Return the encoded delay in us at every 16th index."""
    return _column(tables, PAPER, "encoded_us")[15::16]


def same_throughput(tables: Tables) -> list[float]:
    """Return the ratio of the contributors' mean throughput to that with the manufacturer's table."""
    return [
        contributors_mean(tables, scenario, PAPER, "mean")
        / contributors_mean(tables, scenario, MANUFACTURER, "mean")
        for scenario in (1, 2)
    ]


def contributors_mean(tables: Tables, scenario: int, divisor: int, column: str) -> float:
    """Return the contributors' mean while all flows are active."""
    points = tables["points"].filter((pl.col("scenario") == scenario) & (pl.col("divisor") == divisor))
    flows = ["F2", "F3", "F4", "F5"] if scenario == 1 else ["F1", "F2", "F3"]
    last = points.filter((pl.col("phase") == pl.col("active")) & pl.col("flow").is_in(flows))
    return mean([float(value) for value in last[column].to_list()])


EXPERIMENTS = [
    Experiment(
        "gran2010/cct",
        "The table of injection rate delays, its encoding, and the manufacturer's",
        cost=4,
        points=lambda _: [*(_alone(index) for index in INDICES), *_compared()],
        measure=_measure,
        draw=Plot(
            Panel(
                Curves("index", "wanted_us", "divisor", NAMES, style=PLAIN, table="entries"),
                xlabel="CCTI",
                ylabel="injection rate delay (us)",
            ),
            Panel(
                Curves(
                    "index",
                    "error_us",
                    "divisor",
                    NAMES,
                    style={**PLAIN, "drawstyle": "steps-mid"},
                    table="entries",
                ),
                xlabel="CCTI",
                ylabel="encoded less wanted delay (us)",
            ),
            width=4.8,
            heading="divisor",
        ),
    )
]
"""The experiment on the table."""
