"""santos2003, Fig. 5 and 6: the response functions, alone and with long-lived flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from becalm.experiments import curves
from becalm.experiments.draw import flow_rates, increase_curves, response_curves
from becalm.experiments.expect import at_least, at_most, falling, near, rising
from becalm.experiments.marking import HIGH, INPUT_TRIGGERED
from becalm.experiments.measure import at, axis, curve, mean, summary, tables
from becalm.experiments.model import Experiment, Outcome, Point, Statement, Tables
from becalm.experiments.scene import Scene, Table, discrete

RESPONSES = ("lipd", "fimd", "aimd")
BUFFERS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
SHORT_BUFFERS = (2, 4, 8, 12)
VICTIM_NOTE = (
    "Here the victim finds its output free and cuts through switch B, so it is never marked, and no "
    "response can be told from another by its losses. One marked packet in a thousand would be enough: AIMD "
    "would stay near R_min sqrt(2 / 0.001) = 0.17, LIPD at R_max. With input buffers that feed one output "
    "at a time and are checked when a packet is stored, AIMD does fall far behind (0.25 at 2 slots, LIPD "
    "0.79), but other figures fail."
)
"""Why the victim's claims of Fig. 6 and 7(b) fail."""

SMALL = (2, 3, 4)
"""Small input buffers, in slots: "small input buffer size (2 to 4)" in santos2002."""


def experiments() -> list[Experiment]:
    """Fig. 5 and 6, and the remark on oscillation."""
    return [_fig5(), _fig6(), _oscillation()]


def _fig5() -> Experiment:
    return Experiment(
        "santos2003/fig5",
        "Rate increase from R_max/256 over time, without marks",
        cost=1,
        points=lambda _: [_alone(response) for response in RESPONSES],
        measure=_increase,
        draw=increase_curves,
        statements=_fig5_statements(),
    )


def _alone(response: str) -> Point:
    """One flow that starts at the minimum rate on an empty path; packets of 2048 B with their header."""
    scene = Scene(
        local=0,
        remote=1,
        response={response: {"initial": curves.RMIN, "window": "unlimited"}},
        victim=None,
        duration=150,
        warmup=0,
        step=0.05,
        window=0.1,
    )
    packet = {"mtu": f"{curves.PACKET_BYTES - 20} B", "header": "20 B"}
    return Point({"response": response}, {**scene.scenario(), "packet": packet})


def _increase(outcomes: list[Outcome]) -> Tables:
    """`curves`: the closed forms; `simulated`: the rates of a flow alone; `times`: ms to the maximum rate.

    F_inc(t) counts from the adjustment to R_min, and the next ACK comes 1/R_min = T_rec later. The simulated
    flow begins with its first packet and hears of it at once, so its clock is T_rec ahead of the paper's.
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
    """When a flow first sends at 97% of the link rate, in ms.

    Not at 100%, which the average over a sliding window reaches only half a window later.
    """
    chosen = simulated.filter((pl.col("response") == response) & (pl.col("share") >= 0.97))
    return float(chosen["time_ms"].to_list()[0]) if chosen.height else float("nan")


def _time(found: Tables, response: str, how: str) -> float:
    return float(found["times"].filter(pl.col("response") == response)[how].item())


def _fig5_statements() -> tuple[Statement, ...]:
    total = (
        "for 1 GByte/sec links and 2048 byte packets, the total time to reach the maximum rate starting "
        "from the minimum rate is 4.2 ms for FIMD and 133.7 ms for LIPD and AIMD"
    )
    return (
        Statement(
            "fimd_total_ms",
            total,
            4.2,
            lambda found: [_time(found, "fimd", how) for how in ("closed_form", "simulated")],
            near(4.2, 0.1),
            note="From the closed form, then from the simulation of a flow alone, sampled every 0.05 ms.",
        ),
        Statement(
            "lipd_total_ms",
            total,
            133.7,
            lambda found: [_time(found, "lipd", how) for how in ("closed_form", "simulated")],
            near(133.7, 0.15),
            note="The paper's digit rounds by 0.05 ms, the sampling of the simulation adds 0.1 ms.",
        ),
        Statement(
            "aimd_total_ms",
            total,
            133.7,
            lambda found: _time(found, "aimd", "closed_form"),
            near(133.7, 0.05),
        ),
        Statement(
            "aimd_as_long_as_lipd",
            "AIMD recovers from minimum rate to maximum rate in the same total time as LIPD and much slower "
            "than FIMD",
            1.0,
            lambda found: _time(found, "aimd", "closed_form") / _time(found, "lipd", "closed_form"),
            near(1.0, 0.001),
        ),
        Statement(
            "aimd_much_slower_than_fimd",
            "AIMD recovers from minimum rate to maximum rate in [...] much slower than FIMD",
            "much slower",
            lambda found: _time(found, "aimd", "closed_form") / _time(found, "fimd", "closed_form"),
            at_least(10),
            note="133.7 / 4.2 is 32; 10 is an order of magnitude.",
        ),
        Statement(
            "lipd_slow_then_quick",
            "LIPD recovers quickly at high rates and slowly at low rates",
            "slope rises with the rate",
            lambda _: [curves.slope("lipd", rate) for rate in (1 / 256, 1 / 16, 1 / 4, 1 / 2, 1.0)],
            rising(),
            note="dF_inc/dt in R_max per ms at R_max/256, 1/16, 1/4, 1/2 and R_max.",
        ),
    )


def _fig6() -> Experiment:
    return Experiment(
        "santos2003/fig6",
        "Utilization against buffer size for LIPD, FIMD and AIMD, discrete and continuous rates, static "
        "flows",
        cost=50,
        points=_fig6_points,
        measure=summary,
        draw=lambda found: response_curves(found, "buffer", "buffer size (packets per input port)"),
        statements=_fig6_statements(),
    )


def _fig6_points(short: bool) -> list[Point]:
    return [
        Point(
            {"buffer": buffer, "response": response, "rates": rates},
            Scene(buffer=buffer, marking=INPUT_TRIGGERED, response=table).long(short).scenario(),
        )
        for buffer in (SHORT_BUFFERS if short else BUFFERS)
        for response in RESPONSES
        for rates, table in _rates(response)
    ]


def _rates(response: str) -> list[tuple[str, Table]]:
    return [("continuous", {response: {}}), ("discrete", discrete(response))]


def _line(found: Tables, response: str, column: str, rates: str = "continuous") -> list[float]:
    return curve(found, "buffer", column, response=response, rates=rates)


def _means(found: Tables, column: str, responses: Sequence[str]) -> list[float]:
    return [mean(_line(found, response, column)) for response in responses]


def _at_small(found: Tables, response: str, column: str) -> list[float]:
    buffers = [buffer for buffer in axis(found, "buffer") if buffer in SMALL]
    return [at(found, column, response=response, rates="continuous", buffer=buffer) for buffer in buffers]


def _gaps(found: Tables, column: str) -> list[float]:
    """Distances between the discrete and the continuous curves."""
    return [
        abs(left - right)
        for response in RESPONSES
        for left, right in zip(
            _line(found, response, column), _line(found, response, column, "discrete"), strict=True
        )
    ]


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _both(measured: Callable[[Tables, str], float]) -> Callable[[Tables], list[float]]:
    """For the root link, then for the inter-switch link."""
    return lambda found: [measured(found, link) for link in ("root", "inter_switch")]


def _fig6_statements() -> tuple[Statement, ...]:
    return (*_discrete_statements(), *_static_statements(), *_victim_statements(), *_fairness_statements())


def _discrete_statements() -> tuple[Statement, ...]:
    return (
        Statement(
            "discrete_nearly_continuous",
            "The discrete and continuous curves in Figure 6 are nearly identical",
            "nearly identical",
            _both(lambda found, link: max(_gaps(found, link))),
            at_most(0.05),
            short=False,
            note="Largest distance between the two curves over buffers and responses: root, inter-switch.",
        ),
        Statement(
            "dashed_lines_hidden",
            "Dashed lines are mostly invisible because they are hidden by the solid lines",
            "mostly hidden",
            _both(lambda found, link: _median(_gaps(found, link))),
            at_most(0.02),
            note="Median distance: root, inter-switch. A drawn line covers 1 to 2% of the axis.",
        ),
    )


def _static_statements() -> tuple[Statement, ...]:
    return (
        Statement(
            "lipd_root_share",
            "LIPD performs the best for this static flow scenario, resulting in almost 100% utilization of "
            "the root link",
            "almost 1",
            lambda found: mean(_line(found, "lipd", "root")),
            at_least(0.95),
            note="Mean over the buffers: the sentence begins with Overall.",
        ),
        Statement(
            "lipd_inter_switch_share",
            "and high utilization of the inter-switch link",
            "high",
            lambda found: mean(_line(found, "lipd", "inter_switch")),
            at_least(HIGH),
        ),
        Statement(
            "lipd_best_root",
            "Overall, the results show that LIPD performs the best for this static flow scenario",
            "LIPD > FIMD, AIMD",
            lambda found: [
                mean(_line(found, "lipd", "root")) - other
                for other in _means(found, "root", ("fimd", "aimd"))
            ],
            at_least(0),
            note="Mean root utilization above that of FIMD, and of AIMD.",
        ),
    )


def _victim_statements() -> tuple[Statement, ...]:
    return (
        Statement(
            "aimd_inter_switch_low_at_small_buffers",
            "In contrast to LIPD and FIMD, with AIMD the inter-switch link has low utilization in scenarios "
            "with small input buffers",
            "low",
            lambda found: _at_small(found, "aimd", "inter_switch"),
            at_most(HIGH),
            note=f"Buffers of 2 to 4 slots; below what is called high elsewhere. {VICTIM_NOTE}",
        ),
        Statement(
            "lipd_fimd_inter_switch_at_small_buffers",
            "LIPD and FIMD exhibit fast recovery that tolerates occasional victim packet marking",
            "LIPD, FIMD > AIMD",
            lambda found: [
                mean(_at_small(found, response, "inter_switch"))
                - mean(_at_small(found, "aimd", "inter_switch"))
                for response in ("lipd", "fimd")
            ],
            at_least(0.1),
            note="Mean inter-switch utilization with 2 to 4 slots above AIMD's: LIPD, FIMD. A contrast that "
            f"the eye sees: a tenth of the axis. {VICTIM_NOTE}",
        ),
        Statement(
            "aimd_recovers_with_buffers",
            "with AIMD the inter-switch link has low utilization in scenarios with small input buffers",
            "small < large",
            lambda found: (
                max(_line(found, "aimd", "inter_switch")) - max(_at_small(found, "aimd", "inter_switch"))
            ),
            at_least(0.1),
            note=f"AIMD's best inter-switch utilization above its best with 2 to 4 slots. {VICTIM_NOTE}",
        ),
        Statement(
            "victim_rarely_marked",
            "victim packets rarely receive marks",
            "rarely",
            lambda found: [max(_line(found, response, "victim_marked_share")) for response in RESPONSES],
            at_most(0.05),
            note="Largest share of marked victim packets over the buffers: LIPD, FIMD, AIMD.",
        ),
        Statement(
            "victim_marked_more_at_small_buffers",
            "victim packets receive more marks with smaller buffer sizes",
            "falling with the buffer",
            lambda found: [
                at(found, "victim_marked_share", response="aimd", rates="continuous", buffer=buffer)
                for buffer in (2, 4, 8)
            ],
            falling(),
            note=f"Share of marked victim packets under AIMD with 2, 4 and 8 slots. {VICTIM_NOTE}",
        ),
    )


def _fairness_statements() -> tuple[Statement, ...]:
    return tuple(
        Statement(
            f"{response}_fairer_with_larger_buffers",
            "For all the schemes, fairness between local and remote flows improves with larger buffers",
            "rising",
            lambda found, response=response: [  # type: ignore[misc]
                at(found, "ratio", response=response, rates="continuous", buffer=buffer)
                for buffer in (2, 4, 8, 12)
            ],
            rising(),
            note="Rate of the remote flows over that of the local ones with 2, 4, 8 and 12 slots.",
        )
        for response in RESPONSES
    )


def _oscillation() -> Experiment:
    """Section VI-B.1: the rate of a single flow, as the explanation of Fig. 6 has it."""
    return Experiment(
        "santos2003/oscillation",
        "The rate of one local flow at equilibrium under LIPD, FIMD and AIMD",
        cost=1.5,
        points=lambda _: [
            Point(
                {"response": response},
                Scene(marking=INPUT_TRIGGERED, response={response: {}}, probe=True, window=1).scenario(),
            )
            for response in RESPONSES
        ],
        measure=tables,
        draw=flow_rates,
        statements=(
            Statement(
                "lipd_lower_amplitude",
                "at equilibrium the oscillation of the flow rate has lower amplitude with LIPD than with "
                "FIMD and AIMD",
                "LIPD < FIMD, AIMD",
                lambda found: [
                    _amplitude(found, response) - _amplitude(found, "lipd") for response in ("fimd", "aimd")
                ],
                at_least(0),
                note="Standard deviation over mean of one flow's rate in a window of 1 ms, 20 to 99 ms: "
                "FIMD's and AIMD's above LIPD's.",
            ),
        ),
    )


def _amplitude(found: Tables, response: str) -> float:
    series = found["series"].filter(
        (pl.col("response") == response)
        & (pl.col("name") == "local probe")
        & pl.col("time").is_between(0.020, 0.099)
    )
    shares = np.array(series["share"].to_list())
    return float(shares.std() / shares.mean())
