"""santos2003, Fig. 7: flows that come and go."""

from __future__ import annotations

from becalm.lab.dumbbell import Dumbbell
from becalm.lab.figures import Curves, single
from becalm.lab.model import Experiment, Table, Tables, grid
from becalm.lab.tables import at, axis, curve, mean
from becalm.papers.common.draw import SHARE, response_curves
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.measure import summary
from becalm.papers.santos2003.static import RESPONSES
from becalm.plot import COLOURS, MARKERS

MEAN_ON_MS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
REDUCED = {"mean_on": (0.005, 0.2, 1.0, 20.0)}
STATES = ("new", "persistent")
"""Whether a rate limit lives on after an OFF time."""
CYCLES = 20
"""Minimum of the mean number of ON-OFF cycles per dynamic flow."""
MIDDLE_MS = (0.2, 2.0)
"""The range of ON times that the paper calls dynamic."""


def scene(mean_on: float, short: bool, response: str, persistent: bool, static: int) -> Dumbbell:
    """Return a scene of 500 ms or 20 cycles, whichever is longer. The first 100 ms are not measured."""
    duration = max(250 if short else 500, 2 * mean_on * CYCLES)
    return Dumbbell(
        marking=INPUT_TRIGGERED,
        response={response: {"persistent": persistent}},
        victim=(40, duration),
        duration=duration,
        warmup=50 if short else 100,
        mean_on=mean_on,
        static=static,
        step=10,
        window=10,
    )


def _mixed(short: bool, mean_on: float, state: str) -> Table:
    return scene(mean_on, short, "lipd", state == "persistent", static=5).scenario()


def rates_of(tables: Tables, column: str, state: str) -> list[float]:
    """Return the rate of static or dynamic flows by ON time."""
    return curve(tables, "mean_on", column, state=state)


def at_shortest(tables: Tables, state: str) -> float:
    """Return the ratio of the static to the dynamic rate at the shortest ON time."""
    return rates_of(tables, "static", state)[0] / rates_of(tables, "dynamic", state)[0]


def static_twice_dynamic(tables: Tables) -> list[float]:
    """Return the ratio of static to dynamic rate at the longest ON time, without and with persistence."""
    return [
        rates_of(tables, "static", state)[-1] / rates_of(tables, "dynamic", state)[-1] for state in STATES
    ]


def least_static(tables: Tables, state: str) -> float:
    """Return the smallest ratio of the static to the dynamic rate over the ON times."""
    rates = zip(rates_of(tables, "static", state), rates_of(tables, "dynamic", state), strict=True)
    return min(static / dynamic for static, dynamic in rates)


def _dynamic(short: bool, mean_on: float, response: str, rates: str) -> Table:
    del rates
    return scene(mean_on, short, response, persistent=True, static=0).scenario()


def _line(tables: Tables, response: str, column: str = "root") -> list[float]:
    return curve(tables, "mean_on", column, response=response)


def aimd_inter_switch_lower(tables: Tables) -> list[float]:
    """Return the mean inter-switch utilization over the ON times minus AIMD's, for LIPD and FIMD."""
    return [
        mean(_line(tables, response, "inter_switch")) - mean(_line(tables, "aimd", "inter_switch"))
        for response in ("lipd", "fimd")
    ]


def packets_per_on_period(tables: Tables) -> float:
    """Return packets per flow and cycle: root utilization x packets of 0.4 ms / 20 flows."""
    packets = at(tables, "root", mean_on=0.2, response="lipd") * 0.4e-3 / 2.068e-6
    return packets / 20


def fimd_best_in_the_middle(tables: Tables) -> list[float]:
    """Return FIMD's mean root utilization from 0.2 to 2 ms minus LIPD's, and minus AIMD's."""
    return [_middle(tables, "fimd") - _middle(tables, response) for response in ("lipd", "aimd")]


def aimd_worst(tables: Tables) -> float:
    """Return the maximum, over the ON times, of AIMD's root utilization minus the lower of the other two."""
    return max(_behind(tables, -1))


def aimd_10_percent_below_best(tables: Tables) -> float:
    """Return the mean distance of AIMD's root utilization to the better of the other two."""
    return -mean(_behind(tables, 0))


def _middle(tables: Tables, response: str) -> float:
    low, high = MIDDLE_MS
    times = [time for time in axis(tables, "mean_on") if low <= time <= high]
    return mean([at(tables, "root", mean_on=time, response=response) for time in times])


def _behind(tables: Tables, rank: int) -> list[float]:
    """Return AIMD's root utilization minus that of the better (`rank` 0) or worse (-1) of the other two."""
    others = zip(_line(tables, "lipd"), _line(tables, "fimd"), strict=True)
    return [
        aimd - sorted(pair, reverse=True)[rank]
        for aimd, pair in zip(_line(tables, "aimd"), others, strict=True)
    ]


EXPERIMENTS = [
    Experiment(
        "santos2003/fig7a",
        "Static and dynamic flows together (L = R = 5 + 5), rate limits persistent or not, LIPD",
        cost=50,
        points=grid(_mixed, REDUCED, mean_on=MEAN_ON_MS, state=STATES),
        measure=summary,
        draw=single(
            *(
                Curves(
                    "mean_on",
                    kind,
                    label=f"{kind} flows{suffix}",
                    style={"color": COLOURS[place], "marker": MARKERS[place], "linestyle": line},
                    where={"state": state},
                )
                for state, suffix, line in (("new", "", "-"), ("persistent", ", persistent state", "--"))
                for place, kind in enumerate(("static", "dynamic"))
            ),
            xlabel="mean ON time (ms)",
            ylabel="normalized rate",
            xscale="log",
            ylim=SHARE,
        ),
    ),
    Experiment(
        "santos2003/fig7b",
        "All flows dynamic, persistent rate limits: utilization against mean ON time for LIPD, FIMD and AIMD",
        cost=75,
        points=grid(_dynamic, REDUCED, mean_on=MEAN_ON_MS, response=RESPONSES, rates=("continuous",)),
        measure=summary,
        draw=response_curves("mean_on", ("continuous",), xlabel="mean ON time (ms)", xscale="log"),
    ),
]
"""Fig. 7."""
