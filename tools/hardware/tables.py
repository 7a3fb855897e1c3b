"""Measures the effect of smaller rate tables on fairness, in the scene of santos2003, Fig. 4 (b)."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from calls import LAWS

import becalm
from becalm.designs import tabulate
from becalm.lab.dumbbell import Dumbbell
from becalm.lab.model import Outcome
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.measure import summary

RATES = (16, 64, 256)
SEEDS = (1, 2, 3, 4, 5)
"""Seeds over which means are taken."""
COLUMNS = ("root", "ratio", "victim")


def fairness() -> Iterator[dict[str, Any]]:
    """Yield link shares for each law and number of rates; a table of n rates reaches down to 1/n."""
    for name, law in LAWS.items():
        for rates in RATES:
            table = tabulate.tabulate(law(rmin=1 / rates))
            acks = max(acks for _, acks, _ in table.steps)
            found = [_run(table.response(), seed) for seed in SEEDS]
            means = {column: round(fmean(each[column] for each in found), 4) for column in COLUMNS}
            bits = rates * (2 * (rates - 1).bit_length() + acks.bit_length())
            yield {"law": name, "rates": rates, "acks": acks, "bits": bits, **means}


def _run(response: dict[str, Any], seed: int) -> dict[str, Any]:
    scene = Dumbbell(marking=INPUT_TRIGGERED, response=response, victim=(20, 100)).scenario()
    flows = [{**group, "start_spread": "100 us"} for group in scene["flows"]]
    scenario = becalm.Scenario({**scene, "flows": flows, "run": {**scene["run"], "seed": seed}})
    row: dict[str, Any] = summary([Outcome({}, becalm.run(scenario))])["points"].row(0, named=True)
    return row
