"""pfister2005, sections V-A.3 and VI-C: other network sizes, and the guideline with what lies around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from becalm.experiments.expect import Expectation, at_least, at_most, near
from becalm.experiments.model import Experiment, Label, Measured, Statement, Tables
from becalm.experiments.pfister2005_draw import grid, sizes
from becalm.experiments.pfister2005_measure import KEPT, Run, measured, one
from becalm.experiments.pfister2005_scene import NETWORKS, PACKET_US, TIMER_US, Control, HotSpot, guideline

OFF = "without control"
GUIDE = "guideline"
MORE = "guideline, margin for the timer"

SIZES = ("8", "128 (16x16)", "256", "432", "512")
"""The networks that the text names and no figure shows."""

LARGE = (
    " This needs sources that wait for their delays. Those that have a backlog hear of congestion once in N "
    "packet times, and the timer takes off N / 15.6 entries meanwhile: on average they send with half as "
    "many less than the last, and offer N / (1 + N (1 - N / 31.2 / 127)) of the hot link, which is more than "
    "1 from N = 64 on. Then the tree stands, whatever is marked."
)
"""Why the guideline would fail from 128 ports on."""

GRIDDED = ("32", "128 (16x16)")
PARAMETERS = {
    "max_ipd": "maximum IPD",
    "increase": "index increment",
    "timer": "recovery time",
    "threshold": "queue threshold",
}
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)


def experiments() -> list[Experiment]:
    """The sizes, the numbers of the guideline, and the grid around it."""
    return [_sizes(), _guideline()]


def _statement(
    name: str,
    quote: str,
    paper: float | str,
    measure: Callable[[Tables], Measured],
    expect: Expectation,
    note: str,
    *,
    short: bool = True,
) -> Statement:
    return Statement(name, quote, paper, measure, expect, short, note)


def _more(control: Control, hosts: int) -> Control:
    """Return a table in which even the entry just before the next mark holds all sources at their share."""
    last = control.entries - 1
    lost = hosts * PACKET_US / (control.timer * TIMER_US)
    return replace(control, max_ipd=round(control.max_ipd * last / (last - lost), 3))


def _runs_sizes(short: bool) -> list[Run]:
    """Return all sources hot at load 0.9, without control, with the guideline, and with a margin."""
    found = []
    for name in SIZES[:1] if short else SIZES:
        network = NETWORKS[name]
        guide = guideline(network.hosts)
        for label, control in ((OFF, None), (GUIDE, guide), (MORE, _more(guide, network.hosts))):
            spot = HotSpot(network, 4, control, hot=6, after=0.5)
            found.append(Run({"network": name, "control": label, "case": 4}, spot))
    return found


def _sizes() -> Experiment:
    return Experiment(
        "pfister2005/sizes",
        "The other network sizes: all sources hot, load 0.9",
        cost=150,
        points=lambda short: [run.point() for run in _runs_sizes(short)],
        measure=measured(_runs_sizes),
        draw=lambda found: sizes(found, 31, _networks(found), (OFF, GUIDE, MORE)),
        statements=tuple(statement for name in SIZES for statement in _size_statements(name)),
    )


def _networks(found: Tables) -> list[str]:
    names: list[str] = found["points"]["network"].unique(maintain_order=True).to_list()
    return names


def _size_statements(name: str) -> tuple[Statement, ...]:
    works = "we have derived a parameter set that works for a wide range of input-generated hotspot scenarios"
    key = name.replace(" (", "_").replace(")", "")
    small = name == SIZES[0]
    return (
        _statement(
            f"{key}_collapses_without_control",
            "Hence the network as a whole suffers a catastrophic loss of throughput",
            "collapse",
            lambda found: one(found, "cold_late", network=name, control=OFF),
            at_most(0.5),
            f"`cold_late` on {name} ports without congestion control.",
            short=small,
        ),
        _statement(
            f"{key}_works",
            works,
            "works",
            lambda found: one(found, "cold_late", network=name, control=GUIDE),
            at_least(KEPT),
            f"`cold_late` on {name} ports with the guideline's parameters." + (LARGE if not small else ""),
            short=small,
        ),
        _statement(
            f"{key}_works_with_a_margin",
            works,
            "works",
            lambda found: one(found, "cold_late", network=name, control=MORE),
            at_least(KEPT),
            f"`cold_late` on {name} ports with a `max_ipd` that makes up for what the timer takes off "
            "between two marks, as the manager recommends it: 127 / (127 - N / 15.6) times the guideline's.",
            short=small,
        ),
    )


def _varied(guide: Control, parameter: str, factor: float) -> Control:
    value = getattr(guide, parameter) * factor
    whole = parameter in ("increase", "timer")
    return replace(guide, **{parameter: min(max(1, round(value)), 255) if whole else round(value, 4)})


def _runs_grid(short: bool) -> list[Run]:
    """Vary one parameter at a time, on two networks, with all sources hot and with three."""
    found = []
    for name in GRIDDED[:1] if short else GRIDDED:
        network = NETWORKS[name]
        guide = guideline(network.hosts)
        for case in (4,) if short else (3, 4):
            spot = HotSpot(network, case, hot=4 if short else 6, after=0.5 if short else 2.0)
            # Four times as many entries, up and down four times as many of them: the same, but finer.
            finer = replace(guide, entries=512, increase=4 * guide.increase, decrease=4)
            settings = {(GUIDE, 1.0): guide, ("512 entries", 1.0): finer} | {
                (parameter, factor): _varied(guide, parameter, factor)
                for parameter in PARAMETERS
                for factor in ((0.25,) if short else FACTORS)
                if factor != 1
            }
            for (parameter, factor), control in settings.items():
                labels: dict[str, Label] = {"network": name, "case": case}
                labels |= {"parameter": parameter, "factor": factor}
                found.append(Run(labels, replace(spot, control=control)))
    return found


def _guideline() -> Experiment:
    return Experiment(
        "pfister2005/guideline",
        "The guideline of section VI-C, and each of its parameters varied around it",
        cost=110,
        points=lambda short: [run.point() for run in _runs_grid(short)],
        measure=measured(_runs_grid),
        draw=lambda found: grid(
            found,
            GUIDE,
            PARAMETERS,
            {
                "cold_late": "cold throughput / offered",
                "hot_late": "hot port's throughput",
                "settling": "settling (ms)",
            },
        ),
        statements=(*_numbers(), *_roles(), *_ranges()),
    )


def _numbers() -> tuple[Statement, ...]:
    """Return the formulas against the parameters that the figures use; these follow from no run."""
    return (
        _statement(
            "max_ipd_is_degree_times_packet_time",
            "The maximum IPD parameter is determined by the worst-case hotspot degree HSD times the "
            "average packet duration",
            "21, 84",
            lambda _: [degree * PACKET_US - paper for degree, paper in ((32, 21.0), (128, 84.0))],
            near(0, 0.5),
            "32 and 128 packets of 2 KB at 25 Gb/s, in us, less the `max_ipd` of Fig. 3 and Fig. 5; "
            "printed to the microsecond. The link rate "
            "was worked out from these numbers, so this shows only that both agree on one.",
        ),
        _statement(
            "max_ipd_two_thirds",
            "max_ipd ~ 2/3 H us",
            "21, 84",
            lambda _: [guideline(hosts).max_ipd - paper for hosts, paper in ((32, 21.0), (128, 84.0))],
            near(0, 1.5),
            "The formula less the `max_ipd` of Fig. 3 and Fig. 5; 2/3 is rounded up from 0.655.",
        ),
        _statement(
            "increment_a_sixth",
            "ipd_idx_incr ~ min(1/6 N, 1/2 H)",
            "5, 20",
            lambda _: [float(guideline(hosts).increase - paper) for hosts, paper in ((32, 5), (128, 20))],
            near(0, 1),
            "The formula less the increments of Fig. 3 and Fig. 5.",
        ),
        _statement(
            "recovery_time",
            "rec_time ~ 10 us",
            10.5,
            lambda _: guideline(32).timer * TIMER_US,
            near(10.5, 0.5),
            "In us: 10 units of the timer, against the 10.5 us of the figures; the next setting would "
            "be 11.3.",
        ),
    )


def _value(
    found: Tables, column: str, parameter: str, factor: float, network: str = "32", case: int = 4
) -> float:
    chosen = GUIDE if factor == 1 else parameter
    return one(found, column, network=network, case=case, parameter=chosen, factor=factor)


def _roles() -> tuple[Statement, ...]:
    """Return what is said of the single parameters."""
    return (
        _statement(
            "lower_max_ipd_does_not_protect",
            "lower values can not fully protect against collapse due to the saturation of the source "
            "response function",
            "< 1",
            lambda found: _value(found, "cold_late", "max_ipd", 0.25),
            at_most(KEPT),
            "`cold_late` on 32 ports, all sources hot, with a quarter of the guideline's `max_ipd`.",
        ),
        _statement(
            "higher_max_ipd_recovers_longer",
            "Higher maximum IPD values cause excessive recovery periods after the end of congestion",
            "longer",
            lambda found: [
                _value(found, "hot_late", "max_ipd", 1, case=case)
                - _value(found, "hot_late", "max_ipd", 4, case=case)
                for case in (3, 4)
            ],
            at_least(0.02),
            "The timer walks the table back in 1.3 ms, whatever its last entry is. What a longer table "
            "costs is throughput of the hot port while its sources wait: `hot_late` that is lost with "
            "four times the `max_ipd`, 32 ports, cases 3 and 4.",
            short=False,
        ),
        _statement(
            "increment_is_the_most_critical",
            "The IPD table index increment parameter is the most critical parameter",
            "> 0",
            lambda found: [
                _spread(found, "increase", network)
                - max(_spread(found, other, network) for other in ("timer", "threshold"))
                for network in GRIDDED
            ],
            at_least(0.0),
            "How much `cold_late` varies within factors of 1/4 to 4, for the increment less for the "
            "recovery time or the threshold, whichever is larger; 32 and 128 ports, all sources hot. "
            "`max_ipd` is left out: below the guideline's it cannot work at all. The "
            "threshold counts for a little more: with twice of it hardly anything is marked, since the "
            "queue for the hot port seldom gets that long. On 32 ports half the increment does not work, "
            "half the recovery time nearly does.",
            short=False,
        ),
        _statement(
            "128_entries_are_enough",
            "An IPD table of 128 entries is sufficient",
            0,
            lambda found: (
                one(found, "cold_late", network="32", case=4, parameter="512 entries")
                - _value(found, "cold_late", "increase", 1)
            ),
            at_most(0.05),
            "What 512 entries add to `cold_late` on 32 ports, all sources hot.",
        ),
    )


def _spread(found: Tables, parameter: str, network: str) -> float:
    values = [_value(found, "cold_late", parameter, factor, network) for factor in FACTORS]
    return min(1.0, max(values)) - min(1.0, *values)


def _ranges() -> tuple[Statement, ...]:
    return (
        _statement(
            "ranges_narrower_on_128_ports",
            "However, the parameters' ranges of stable control operation are narrower than in the "
            "smaller network",
            "< 0",
            lambda found: _working(found, "128 (16x16)") - _working(found, "32"),
            at_most(-1),
            "Settings of the grid that work in case 3 and in case 4 (`cold_late` and `hot_late` at "
            "least 0.9), on 128 ports less on 32: 7 of 16 and 6. On 32 ports half the recovery time does not "
            "settle in time and four times the `max_ipd` costs the hot port more than a tenth; on 128 twice "
            "the recovery time does. Where packets are posted whatever the delay, they are narrower by 3.",
            short=False,
        ),
        _statement(
            "works_for_all_sources_and_three",
            "a parameter set that works for a wide range of input-generated hotspot scenarios, also "
            "independent of the background load",
            "works",
            lambda found: [_value(found, "cold_late", "increase", 1, "32", case) for case in _cases(found)],
            at_least(KEPT),
            "`cold_late` on 32 ports with the guideline's parameters, cases 3 and 4.",
        ),
    )


def _cases(found: Tables) -> list[int]:
    return sorted(found["points"]["case"].unique().to_list())


def _working(found: Tables, network: str) -> float:
    """How many settings keep cold and hot throughput in both cases."""
    table = found["points"].filter(
        (pl.col("network") == network) & pl.col("parameter").is_in(list(PARAMETERS)) & (pl.col("factor") != 1)
    )
    kept = table.group_by("parameter", "factor").agg(
        pl.min_horizontal("cold_late", "hot_late").min().alias("kept")
    )
    return float(kept.filter(pl.col("kept") >= KEPT).height)
