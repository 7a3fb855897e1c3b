"""Runs that advance in steps: read the state of flows in between, and set their paces."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from becalm._core import Run as CoreRun
from becalm.errors import BecalmError
from becalm.quantities import seconds
from becalm.results import Outcome, Results
from becalm.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PS = 10**12
"""Picoseconds in a second."""


class Flows(Mapping[str, "NDArray[np.float64]"]):
    """Live columns of flows at one time, by name: arrays of one number for each flow.

    `gap` and `window` of the pace, `rate` [share of the link's], `in_flight` [packets], `rtt` [s] of the
    last ACK, and since the start of the run `sent_packets`, `sent_bytes`, `delivered_packets`,
    `delivered_bytes`, `delivered_marked`, `acks`, `acks_marked`, `posted_bytes`. Bytes are those on the wire.
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name == "rate":
            gap: NDArray[np.float64] = self._values[0]
            return 1.0 / (1.0 + gap)
        if name not in _PLACES:
            raise KeyError(f"{name}: valid: {', '.join(self)}")
        found: NDArray[np.float64] = self._values[_PLACES[name]]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter((*_PLACES, "rate"))

    def __len__(self) -> int:
        return len(_PLACES) + 1


_PLACES = {name: place for place, name in enumerate(CoreRun.columns)}


class Run:
    """A run in progress; `becalm.start` makes it. Its results are those of one run without steps."""

    def __init__(self, scenario: Scenario, replication: int = 0, threads: int = 1) -> None:
        self.scenario = scenario
        self.replication = replication
        self._began = time.perf_counter()
        self.core = CoreRun(scenario.core, replication, threads)
        groups = scenario.core.groups()
        self._groups = {name: range(first, end) for name, first, end in groups}
        self._all = list(range(max((end for _, _, end in groups), default=0)))

    @property
    def now(self) -> float:
        """Simulated time in s."""
        return self.core.now / PS

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self.core.ended

    @property
    def flows(self) -> Flows:
        """The columns of all flows now, as copies."""
        return Flows(self.core.live(self._all))

    def flows_of(self, group: str) -> range:
        """Return the numbers of a group's flows.

        Raises:
            ValueError: no such group.

        """
        if group not in self._groups:
            raise ValueError(f"no group of flows `{group}`; valid: {', '.join(self._groups)}")
        return self._groups[group]

    def advance(self, *, until: float | str | None = None, by: float | str | None = None) -> bool:
        """Advance the run, without holding the interpreter; return whether it continues after that.

        Args:
            until: a simulated time: seconds, or a string such as "40 us".
            by: a time span from now, instead.

        Raises:
            ValueError: neither or both are given, or the value is not a time.
            FabricError: the run cannot continue.
            SchemeError: a user-defined scheme failed.

        """
        if (until is None) == (by is None):
            raise ValueError("advance: needs either until= or by=")
        span = picoseconds(by if until is None else until)
        self.core.advance(span if by is None else self.core.now + span)
        return not self.ended

    def set_pace(
        self,
        flow: int | str | Iterable[int],
        *,
        rate: float | None = None,
        gap: float | None = None,
        window: int | None = None,
    ) -> None:
        """Set the pace of flows from now on, in place of their responses.

        Args:
            flow: a flow by its number, some of them, or a group by its name.
            rate: share of the link's rate, above 0, at most 1.
            gap: idle time after a packet, as a multiple of its own transmission time, instead: 1 / rate - 1.
            window: packets under way; None for no limit.

        Raises:
            ValueError: no such flow, neither or both of rate and gap, or a value out of its range.

        """
        if (rate is None) == (gap is None):
            raise ValueError("set_pace: needs either rate= or gap=")
        if rate is not None and not 0 < rate <= 1:
            raise ValueError(f"rate = {rate}: must be above 0 and at most 1 (of the link's rate)")
        chosen = self.flows_of(flow) if isinstance(flow, str) else [flow] if isinstance(flow, int) else flow
        self.core.set_pace(
            list(chosen), 1.0 / rate - 1.0 if gap is None and rate is not None else gap or 0.0, window
        )

    def finish(self) -> Results:
        """Run to the end; return the results.

        Raises:
            FabricError: the run cannot continue.
            SchemeError: a user-defined scheme failed.

        """
        outcome = self.core.finish()
        wall = time.perf_counter() - self._began
        return Results.from_outcomes(self.scenario, [Outcome(self.replication, wall, outcome)])


def picoseconds(span: float | str | None) -> int:
    """Return a time in seconds, or a string such as "40 us", in picoseconds.

    Raises:
        ValueError: it is not a time.

    """
    try:
        value = seconds(span) if isinstance(span, str) else float(span or 0.0)
    except (BecalmError, ValueError) as error:
        raise ValueError(f"{span!r}: must be seconds, or a time with its unit such as '40 us'") from error
    if not 0 <= value < 1e7:
        raise ValueError(f"{span!r}: must be a time, at least 0")
    return round(value * PS)


def start(scenario: Scenario, replication: int = 0, *, threads: int = 1) -> Run:
    """Set up a run of one replication at time zero, to advance in steps.

    Args:
        scenario: what to run.
        replication: number of the replication, from 0; it shifts the seed.
        threads: number of threads of the run; results do not depend on it.

    Raises:
        SchemeError: a user-defined scheme failed at its start.

    """
    return Run(scenario, replication, threads)
