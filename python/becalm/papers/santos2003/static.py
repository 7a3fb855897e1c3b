"""santos2003, Fig. 5 and 6: the response functions for a single flow and for long-lived flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm.lab.dumbbell import Dumbbell, discrete
from becalm.lab.figures import DOTS, PLAIN, Curves, single
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables, grid
from becalm.lab.tables import at, axis, curve, mean
from becalm.papers.common.draw import (
    BUFFERS,
    DISCRETE,
    RESPONSE_NAMES,
    RESPONSE_STYLES,
    SHARE,
    TIME_MS,
    response_curves,
)
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.measure import summary, with_series
from becalm.papers.santos2003 import curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESPONSES = ("lipd", "fimd", "aimd")
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)

SMALL = (2, 3, 4)
"""Small input buffers, in slots: "small input buffer size (2 to 4)" in santos2002."""


def alone(response: str, duration: float = 150, step: float = 0.05) -> Point:
    """Return a point with one flow from the minimum rate on an empty path. Times are in ms."""
    scene = Dumbbell(
        local=0,
        remote=1,
        response={response: {"initial": curves.RMIN, "window": "unlimited"}},
        victim=None,
        duration=duration,
        warmup=0,
        step=step,
        window=0.1,
    )
    packet = {"mtu": f"{curves.PACKET_BYTES - 20} B", "header": "20 B"}
    return Point({"response": response}, {**scene.scenario(), "packet": packet})


def _increase(outcomes: list[Outcome]) -> Tables:
    """Return `curves`: closed forms; `simulated`: a single flow's rates; `times`: ms to the maximum rate.

    F_inc(t) starts with the adjustment to R_min, and the next ACK arrives 1/R_min = T_rec later. The
    simulated flow starts with its first packet, whose ACK arrives immediately, so T_rec is added to its
    times.
    """
    simulated = pl.concat(
        [
            outcome.results.series.filter(pl.col("kind") == "group")
            .select((pl.col("time") * 1e3 + curves.RECOVERY_MS).alias("time_ms"), "share")
            .with_columns(pl.lit(outcome.labels["response"]).alias("response"))
            for outcome in outcomes
        ]
    )
    closed = pl.concat([curves.table(response) for response in RESPONSES])
    times = [(response, curves.total_ms(response), _reached(simulated, response)) for response in RESPONSES]
    columns = ["response", "closed_form", "simulated"]
    return {
        "curves": closed,
        "simulated": simulated,
        "times": pl.DataFrame(times, schema=columns, orient="row"),
    }


def _reached(simulated: pl.DataFrame, response: str) -> float:
    """Return the time in ms at which a flow first sends at 97% of the link rate.

    A mean over a sliding window reaches 100% only half a window later.
    """
    chosen = simulated.filter((pl.col("response") == response) & (pl.col("share") >= 0.97))
    return float(chosen["time_ms"].to_list()[0]) if chosen.height else float("nan")


def _draw_increase(tables: Tables) -> Figure:
    """Draw F_inc(t): closed forms as lines, a single simulated flow as dots."""
    names = {name: RESPONSE_NAMES[name] for name in reversed(RESPONSE_NAMES)}
    # At the lowest rates, single packets are too coarse to draw, so means over 4 ms are used.
    dots = tables["simulated"].with_columns(pl.col("time_ms") // 4 * 4 + 2)
    dots = dots.group_by("response", "time_ms", maintain_order=True).agg(pl.col("share").mean())
    made = single(
        Curves("time_ms", "rate", "response", names, style=PLAIN, styles=RESPONSE_STYLES, table="curves"),
        Curves(
            "time_ms",
            "share",
            "response",
            {name: f"{label}, simulated" for name, label in names.items()},
            style={**DOTS, "marker": "."},
            styles=RESPONSE_STYLES,
            table="dots",
        ),
        xlabel="time (ms)",
        ylabel="rate / maximum rate",
        ylim=SHARE,
    )
    return made({**tables, "dots": dots})


def time_to_maximum(tables: Tables, response: str, how: str) -> float:
    """Return the time from the minimum to the maximum rate in ms."""
    return float(tables["times"].filter(pl.col("response") == response)[how].item())


def time_ratio(tables: Tables, response: str, other: str) -> float:
    """Return the ratio of two responses' times to the maximum rate, by the closed forms."""
    return time_to_maximum(tables, response, "closed_form") / time_to_maximum(tables, other, "closed_form")


def lipd_slopes(_: Tables) -> list[float]:
    """Return the slope of LIPD's increase in R_max per ms, at 1/256, 1/16, 1/4, 1/2 and 1 times R_max."""
    return [curves.slope("lipd", rate) for rate in (1 / 256, 1 / 16, 1 / 4, 1 / 2, 1.0)]


def _scene(short: bool, buffer: int, response: str, rates: str) -> Table:
    table = {
        "continuous": {response: {}},
        "discrete": discrete(response, "nearest"),
        "discrete, slower": discrete(response, "slower"),
    }[rates]
    return Dumbbell(buffer=buffer, marking=INPUT_TRIGGERED, response=table).long(short).scenario()


def _line(tables: Tables, response: str, column: str, rates: str = "continuous") -> list[float]:
    return curve(tables, "buffer", column, response=response, rates=rates)


def at_small(tables: Tables, response: str, column: str) -> list[float]:
    """Return the values of a column for small buffers and continuous rates."""
    buffers = [buffer for buffer in axis(tables, "buffer") if buffer in SMALL]
    return [at(tables, column, response=response, rates="continuous", buffer=buffer) for buffer in buffers]


def _gaps(tables: Tables, column: str, rates: str, of: int) -> list[float]:
    """Return distances of discrete curves to the continuous curves of the response `of` places later."""
    return [
        abs(left - right)
        for place, response in enumerate(RESPONSES)
        for left, right in zip(
            _line(tables, RESPONSES[(place + of) % len(RESPONSES)], column),
            _line(tables, response, column, rates),
            strict=True,
        )
    ]


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def discrete_nearly_continuous(tables: Tables, rates: str = "discrete", of: int = 0) -> list[float]:
    """Return the largest distance between discrete and continuous curves, for root and inter-switch link."""
    return [max(_gaps(tables, link, rates, of)) for link in ("root", "inter_switch")]


def dashed_lines_hidden(tables: Tables, of: int = 0) -> list[float]:
    """Return the median distance between discrete and continuous curves, for root and inter-switch link."""
    return [_median(_gaps(tables, link, "discrete", of)) for link in ("root", "inter_switch")]


def lipd_best_root(tables: Tables) -> list[float]:
    """Return LIPD's mean root utilization minus FIMD's, and minus AIMD's."""
    lipd = mean(_line(tables, "lipd", "root"))
    return [lipd - mean(_line(tables, response, "root")) for response in ("fimd", "aimd")]


def lipd_fimd_inter_switch_at_small_buffers(tables: Tables) -> list[float]:
    """Return the mean inter-switch utilization with 2 to 4 slots minus AIMD's, for LIPD and FIMD."""
    return [
        mean(at_small(tables, response, "inter_switch")) - mean(at_small(tables, "aimd", "inter_switch"))
        for response in ("lipd", "fimd")
    ]


def recovers_with_buffers(tables: Tables, response: str) -> float:
    """Return a response's best inter-switch utilization minus its best with 2 to 4 slots."""
    return max(_line(tables, response, "inter_switch")) - max(at_small(tables, response, "inter_switch"))


def _probed(_: bool, response: str) -> Table:
    return Dumbbell(marking=INPUT_TRIGGERED, response={response: {}}, probe=True, window=1).scenario()


def lipd_lower_amplitude(tables: Tables) -> list[float]:
    """Return the amplitude of one flow's rate minus LIPD's, for FIMD and AIMD."""
    return [_amplitude(tables, response) - _amplitude(tables, "lipd") for response in ("fimd", "aimd")]


def _amplitude(tables: Tables, response: str) -> float:
    series = tables["series"].filter(
        (pl.col("response") == response)
        & (pl.col("name") == "local probe")
        & pl.col("time").is_between(0.020, 0.099)
    )
    shares = np.array(series["share"].to_list())
    return float(shares.std() / shares.mean())


EXPERIMENTS = [
    Experiment(
        "santos2003/fig5",
        "Rate increase from R_max/256 over time, without marks",
        cost=1,
        points=lambda _: [alone(response) for response in RESPONSES],
        measure=_increase,
        draw=_draw_increase,
        # A single flow, from its start.
        phase="",
        seeded=False,
    ),
    Experiment(
        "santos2003/fig6",
        "Utilization against buffer size for LIPD, FIMD and AIMD, discrete and continuous rates, static "
        "flows",
        cost=50,
        points=grid(
            _scene, {"buffer": (2, 4, 8, 12)}, buffer=SIZES, response=RESPONSES, rates=tuple(DISCRETE)
        ),
        measure=summary,
        draw=response_curves("buffer", tuple(DISCRETE), **BUFFERS),
    ),
    # A single flow's rate, from the explanation of Fig. 6 in section VI-B.1.
    Experiment(
        "santos2003/oscillation",
        "The rate of one local flow at equilibrium under LIPD, FIMD and AIMD",
        cost=1.5,
        points=grid(_probed, response=RESPONSES),
        measure=with_series,
        draw=single(
            Curves(
                TIME_MS,
                "share",
                "response",
                RESPONSE_NAMES,
                style=PLAIN,
                styles=RESPONSE_STYLES,
                where={"name": "local probe"},
                table="series",
            ),
            xlabel="time (ms)",
            ylabel="normalized rate of one flow",
            ylim=(0, 0.2),
        ),
    ),
]
"""Fig. 5 and 6, and the remark on oscillation."""
