"""The table of delays of gran2010, section VII-B, beside the manufacturer's."""

from __future__ import annotations

import copy
from itertools import pairwise

import polars as pl

from becalm.experiments.expect import at_most, falling, near, rising
from becalm.experiments.gran2010_draw import delay_tables
from becalm.experiments.gran2010_measure import GBPS, over_time, point
from becalm.experiments.gran2010_scene import Bed
from becalm.experiments.measure import mean
from becalm.experiments.model import Experiment, Outcome, Point, Statement, Tables

ENTRIES = 128
PACKET_US = 1.034
"""Time of a packet of 2068 B on a link of 16 Gb/s."""

PAPER = 106
MANUFACTURER = 95
INDICES = (48, 64, 96, 127)
"""Indices at which a flow alone is run, to see whether it sends as the table says."""

REPEATS = 4
"""Runs that differ in when flows start, for the comparison of two tables: it is about a little."""

HOST_LINK = 16.0
"""Gb/s."""

FORMULA = "The table was then populated by the formula cct[i] = i^2*7/106^2 (us)"


def experiments() -> list[Experiment]:
    """Return the experiment on the table."""
    return [
        Experiment(
            "gran2010/cct",
            "The table of injection rate delays, its encoding, and the manufacturer's",
            cost=15,
            points=_points,
            measure=_measure,
            draw=delay_tables,
            statements=(*_formula(), *_encoding(), *_oscillation()),
        )
    ]


def wanted_us(index: int, divisor: int) -> float:
    """Return the delay of the formula in us."""
    return index**2 * 7 / divisor**2


def encode(gap: float) -> tuple[int, int]:
    """Return the entry (shift, multiplier) nearest to a delay in packet times of up to 16383."""
    entries = [(shift, round(gap * 2**shift)) for shift in range(4)]
    valid = [entry for entry in entries if entry[1] <= 16383]
    return min(valid, key=lambda entry: abs(entry[1] / 2 ** entry[0] - gap))


def table(divisor: int) -> pl.DataFrame:
    """Return the table entry by entry: wanted and encoded delay in us, and the entry."""
    rows = []
    for index in range(ENTRIES):
        wanted = wanted_us(index, divisor)
        shift, multiplier = encode(wanted / PACKET_US)
        encoded = multiplier / 2**shift * PACKET_US
        rows.append((divisor, index, wanted, shift, multiplier, encoded, encoded - wanted))
    columns = ["divisor", "index", "wanted_us", "shift", "multiplier", "encoded_us", "error_us"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _points(short: bool) -> list[Point]:
    return [*(_alone(index) for index in INDICES), *_compared(short)]


def _alone(index: int) -> Point:
    """One flow on an empty network whose index cannot fall below `index`."""
    bed = Bed(active=(1,), tail=0.01, settle=0.002, step=0.001)
    made = point(bed, kind="alone", index=index)
    scenario = copy.deepcopy(made.scenario)
    scenario["response"]["ibta"]["ccti_min"] = index
    return Point(made.labels, scenario)


def _compared(short: bool) -> list[Point]:
    """Return both scenarios with the paper's and with the manufacturer's table, four times over."""
    return [
        point(
            Bed(scenario, interval=0.05 + 0.001 * repeat, tail=0.5, divisor=float(divisor)),
            kind="compared",
            scenario=scenario,
            divisor=divisor,
            repeat=repeat,
        )
        for scenario in (1, 2)
        for divisor in (MANUFACTURER, PAPER)
        for repeat in range(1 if short else REPEATS)
    ]


def _measure(outcomes: list[Outcome]) -> Tables:
    """`entries`: both tables; `alone`: rates of a flow at an index; `points`: flows in both scenarios."""
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


def _column(found: Tables, divisor: int, name: str) -> list[float]:
    entries = found["entries"].filter(pl.col("divisor") == divisor).sort("index")
    return [float(value) for value in entries[name].to_list()]


def _formula() -> tuple[Statement, ...]:
    return (
        Statement(
            "largest_delay",
            FORMULA,
            127**2 * 7 / 106**2,
            lambda found: _column(found, PAPER, "encoded_us")[127],
            near(127**2 * 7 / 106**2, PACKET_US / 16),
            note="Delay of the last entry in us after encoding; half a step of the encoding, an eighth of "
            "a packet's time.",
        ),
        Statement(
            "flow_alone",
            "The CCT [...] holds injection rate delay (IRD) values that define the delay between "
            "consecutive packets sent by a particular flow",
            1,
            lambda found: [_as_the_table_says(found, index) for index in INDICES],
            near(1, 0.01),
            note="Throughput of a simulated flow alone, over what the entry gives on a link of 16 Gb/s, "
            "at indices 48, 64, 96 and 127.",
        ),
        Statement(
            "small_adjustment",
            "This formula is a small adjustment of the default formula provided by the switch manufacturer",
            "0.8",
            lambda found: (
                _column(found, PAPER, "wanted_us")[127] / _column(found, MANUFACTURER, "wanted_us")[127]
            ),
            near((95 / 106) ** 2, 0.001),
            note="Delays over the manufacturer's: all a fifth shorter.",
        ),
    )


def _as_the_table_says(found: Tables, index: int) -> float:
    encoded = _column(found, PAPER, "encoded_us")[index] / PACKET_US
    measured = float(found["alone"].filter(pl.col("index") == index)["gbps"].item())
    return measured * (1 + encoded) / HOST_LINK


def _encoding() -> tuple[Statement, ...]:
    return (
        Statement(
            "larger_index_larger_delay",
            "The CCT is usually populated in such a way that a larger index yields a larger IRD",
            "rising",
            lambda found: _column(found, PAPER, "encoded_us")[15::16],
            rising(),
            note="Encoded delay in us at every 16th index. In steps of an eighth of a packet's time, 0.13 "
            "us, the first ten entries are 0, and up to index 103 some neighbours are equal.",
        ),
        Statement(
            "fine_enough",
            "In our test bed, the minimum size of 128 entries proved to give a granularity good enough to "
            "ensure efficient CC",
            "good enough",
            lambda found: _largest_step(_column(found, PAPER, "encoded_us")),
            at_most(0.1),
            note="Largest drop in a flow's rate from one index to the next, as part of the rate: below a "
            "tenth, as much as is called fair. It is the first step, from no delay to an eighth of a "
            "packet's time, the least that an entry can say; 1 of 9 whatever the number of entries. Where "
            "the four contributors are, at indices near 80, a step is 2 to 5%.",
        ),
    )


def _largest_step(delays_us: list[float]) -> float:
    rates = [1 / (PACKET_US + delay) for delay in delays_us]
    return max(1 - after / before for before, after in pairwise(rates))


def _oscillation() -> tuple[Statement, ...]:
    quote = (
        "The adjustment of the IRDs was shown through experiments to give a little less oscillation in "
        "our test scenarios, while keeping the same average throughput"
    )
    return (
        *(
            Statement(
                f"less_oscillation_{scenario}",
                quote,
                "95 > 106",
                lambda found, scenario=scenario: [  # type: ignore[misc]
                    _mean(found, scenario, divisor, "sd") for divisor in (MANUFACTURER, PAPER)
                ],
                falling(),
                short=False,
                note=f"Mean standard deviation of the contributors' samples in scenario {scenario} in "
                "Gb/s: divisor 95, then 106, over four runs with other starts. The two differ by less "
                "than these runs do among themselves, 0.01 to 0.02: a little less is too little to be "
                "seen here.",
            )
            for scenario in (1, 2)
        ),
        Statement(
            "same_throughput",
            quote,
            1,
            lambda found: [
                _mean(found, scenario, PAPER, "mean") / _mean(found, scenario, MANUFACTURER, "mean")
                for scenario in (1, 2)
            ],
            near(1, 0.02),
            note="Mean throughput of the contributors over that with the manufacturer's table, scenarios "
            "1 and 2.",
        ),
    )


def _mean(found: Tables, scenario: int, divisor: int, column: str) -> float:
    """Return the mean over the contributors while all flows are active."""
    points = found["points"].filter((pl.col("scenario") == scenario) & (pl.col("divisor") == divisor))
    flows = ["F2", "F3", "F4", "F5"] if scenario == 1 else ["F1", "F2", "F3"]
    last = points.filter((pl.col("phase") == pl.col("active")) & pl.col("flow").is_in(flows))
    return mean([float(value) for value in last[column].to_list()])
