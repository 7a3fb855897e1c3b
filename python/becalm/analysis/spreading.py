"""What links would be offered if packets were spread evenly over all equal paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from becalm.base.errors import BecalmError
from becalm.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

MANY = 5_000
"""Number of flows above which a link is compared with the mean of its peers. 10,000 flows need 200 MB."""
LAYERED = ("clos", "dumbbell", "edges", "fat_tree", "tree")
"""Topologies in which the links from a switch to a higher level are equivalent."""


class Spreading:
    """Offers to links with evenly spread packets."""

    def __init__(
        self,
        scenario: Scenario,
        offered: Floats,
        capacity: Floats,
        demand: Floats,
        peers: Callable[[], Iterable[Places]],
    ) -> None:
        """Make it.

        Args:
            scenario: the scenario of the run.
            offered: rate that each flow offers in B/s.
            capacity: rate of each link in B/s.
            demand: load offered to each link in the run, as a multiple of its rate.
            peers: returns groups of links that are equivalent in layered topologies.

        """
        self._scenario = scenario
        self._offered, self._capacity, self._demand = offered, capacity, demand
        self._groups = peers

    @cached_property
    def _paths(self) -> pl.DataFrame | None:
        """The paths of flows if packets took all equal paths; None if the scenario does not allow that."""
        try:
            spread = self._scenario.replace({"switch.paths": {"packet": {}}})
        except BecalmError:
            return None
        return spread.network().flow_paths

    @property
    def _many(self) -> bool:
        return len(self._offered) > MANY

    @property
    def has_choice(self) -> bool:
        """Whether any flow has several equal paths."""
        if self._many:
            return bool(np.isfinite(self._peers).any())
        return self._paths is not None and bool((self._paths["share"] < 1).any())

    @cached_property
    def even(self) -> Floats:
        """The offer to each link as a multiple of its rate; NaN if unknown."""
        if self._many:
            return self._peers
        if self._paths is None:
            return np.full(len(self._capacity), np.nan)
        flow, link, shares = (self._paths[name].to_numpy() for name in ("flow", "link", "share"))
        total = np.bincount(link, self._offered[flow] * shares, minlength=len(self._capacity))
        found: Floats = total / self._capacity
        return found

    @cached_property
    def _peers(self) -> Floats:
        """The mean offer to each link's peers."""
        found = np.full(len(self._capacity), np.nan)
        if self._scenario.topology.name in LAYERED:
            for own in self._groups():
                rates = self._capacity[own]
                found[own] = (self._demand[own] * rates).sum() / rates.sum()
        return found
