"""pfister2005, sections V-A.3 and VI-C: other network sizes, the guideline, and variations of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from becalm.lab.model import Experiment, Label, Tables
from becalm.papers.pfister2005.draw import grid, sizes
from becalm.papers.pfister2005.measure import KEPT, Run, of_runs, one
from becalm.papers.pfister2005.scene import CASES, NETWORKS, PACKET_US, TIMER_US, Control, HotSpot, guideline

OFF = "without control"
GUIDE = "guideline"

SIZES = ("8", "128 (16x16)")
LARGE = ("256", "432", "512")
"""Networks that the text names but no figure shows. Each large network needs several core-minutes."""
ALL_CASES = 128
"""Maximum number of hosts for all cases of Table 1. Larger networks run only the last case."""
GRIDDED = ("32", "128 (16x16)")
PARAMETERS = {
    "max_ipd": "maximum IPD",
    "increase": "index increment",
    "timer": "recovery time",
    "threshold": "queue threshold",
}
FACTORS = (0.25, 1.0, 4.0)


def _runs(names: Sequence[str], hot: float = 4) -> list[Run]:
    """Return Table 1's cases without control and with the guideline, only the last for large networks."""
    return [
        Run(
            {"network": name, "control": label, "case": case},
            HotSpot(network, case, control, hot=hot, after=0.3),
        )
        for name, network in ((name, NETWORKS[name]) for name in names)
        for case in (CASES if network.hosts <= ALL_CASES else (4,))
        for label, control in ((OFF, None), (GUIDE, guideline(network.hosts)))
    ]


def _large(name: str) -> Experiment:
    """Return an experiment with one seed. Random effects average out over hundreds of ports."""
    return of_runs(
        f"large{name}",
        f"{name} ports, load 0.9, all sources hot, one seed",
        60,
        lambda short: _runs([name], 1 if short else 4),
        sizes([name], (OFF, GUIDE)),
        seeded=False,
    )


def _networks(tables: Tables) -> list[str]:
    names: list[str] = tables["points"]["network"].unique(maintain_order=True).to_list()
    return names


def _varied(guide: Control, parameter: str, factor: float) -> Control:
    value = getattr(guide, parameter) * factor
    whole = parameter in ("increase", "timer")
    return replace(guide, **{parameter: min(max(1, round(value)), 255) if whole else round(value, 4)})


def _runs_grid(short: bool) -> list[Run]:
    """Vary one parameter at a time on two networks, with all sources hot and with three."""
    runs = []
    for name in GRIDDED[:1] if short else GRIDDED:
        network = NETWORKS[name]
        guide = guideline(network.hosts)
        for case in (4,) if short else (3, 4):
            spot = HotSpot(network, case, hot=4, after=0.3)
            settings = {(GUIDE, 1.0): guide} | {
                (parameter, factor): _varied(guide, parameter, factor)
                for parameter in PARAMETERS
                for factor in ((0.25,) if short else FACTORS)
                if factor != 1
            }
            for (parameter, factor), control in settings.items():
                labels: dict[str, Label] = {"network": name, "case": case}
                labels |= {"parameter": parameter, "factor": factor}
                runs.append(Run(labels, replace(spot, control=control)))
    return runs


def max_ipd_is_degree_times_packet_time(_: Tables) -> list[float]:
    """Return the times of 32 and 128 packets at 25 Gb/s minus the `max_ipd` of Fig. 3 and 5, in us."""
    return [degree * PACKET_US - paper for degree, paper in ((32, 21.0), (128, 84.0))]


def max_ipd_two_thirds(_: Tables) -> list[float]:
    """Return the formula's result minus the `max_ipd` of Fig. 3 and 5, in us."""
    return [guideline(hosts).max_ipd - paper for hosts, paper in ((32, 21.0), (128, 84.0))]


def increment_a_sixth(_: Tables) -> list[float]:
    """Return the formula's result minus the increments of Fig. 3 and 5."""
    return [float(guideline(hosts).increase - paper) for hosts, paper in ((32, 5), (128, 20))]


def recovery_time(_: Tables) -> float:
    """Return the guideline's recovery time in us."""
    return guideline(32).timer * TIMER_US


def grid_value(
    tables: Tables, column: str, parameter: str, factor: float, network: str = "32", case: int = 4
) -> float:
    """Return a metric on the grid, with one parameter of the guideline multiplied by a factor."""
    chosen = GUIDE if factor == 1 else parameter
    return one(tables, column, network=network, case=case, parameter=chosen, factor=factor)


def increment_is_the_most_critical(tables: Tables) -> list[float]:
    """Return the variation of `cold_late` with the increment, minus that with the timer or threshold."""
    return [
        _spread(tables, "increase", network)
        - max(_spread(tables, other, network) for other in ("timer", "threshold"))
        for network in GRIDDED
    ]


def _spread(tables: Tables, parameter: str, network: str) -> float:
    values = [grid_value(tables, "cold_late", parameter, factor, network) for factor in FACTORS]
    return min(1.0, max(values)) - min(1.0, *values)


def ranges_narrower_on_128_ports(tables: Tables) -> float:
    """Return the number of grid settings that work on 128 ports minus that on 32."""
    return _working(tables, "128 (16x16)") - _working(tables, "32")


def works_for_all_sources_and_three(tables: Tables) -> list[float]:
    """Return `cold_late` on 32 ports with the guideline's parameters, for cases 3 and 4."""
    return [grid_value(tables, "cold_late", "increase", 1, "32", case) for case in _cases(tables)]


def _cases(tables: Tables) -> list[int]:
    return sorted(tables["points"]["case"].unique().to_list())


def _working(tables: Tables, network: str) -> float:
    """Return the number of settings that sustain cold and hot throughput in both cases."""
    table = tables["points"].filter(
        (pl.col("network") == network) & pl.col("parameter").is_in(list(PARAMETERS)) & (pl.col("factor") != 1)
    )
    kept = table.group_by("parameter", "factor").agg(
        pl.min_horizontal("cold_late", "hot_late").min().alias("kept")
    )
    return float(kept.filter(pl.col("kept") >= KEPT).height)


EXPERIMENTS = [
    of_runs(
        "sizes",
        "Other network sizes, cases of Table 1 (the figure: all sources hot, load 0.9)",
        25,
        lambda short: _runs(SIZES[:1] if short else SIZES),
        lambda tables: sizes(_networks(tables), (OFF, GUIDE))(tables),
    ),
    *(_large(name) for name in LARGE),
    of_runs(
        "guideline",
        "The guideline of section VI-C, and variations of each parameter",
        40,
        _runs_grid,
        lambda tables: grid(
            tables,
            GUIDE,
            PARAMETERS,
            {
                "cold_late": "cold throughput / offered",
                "hot_late": "hot port's throughput",
                "settling": "settling (ms)",
            },
        ),
    ),
]
"""The network sizes, the guideline's numbers, and the grid around it."""
