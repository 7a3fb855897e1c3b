"""Runs that advance in steps, between which the state of flows can be read and their paces set."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from becalm._core import Run as CoreRun
from becalm.base.errors import BecalmError
from becalm.base.quantities import seconds
from becalm.results import Results
from becalm.results.outcomes import Outcome
from becalm.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PS = 10**12
"""Picoseconds per second."""


class Flows(Mapping[str, "NDArray[np.float64]"]):
    """The state of all flows at one time: an array for each column name, with one number per flow.

    `gap` and `window` of the pace, `rate` [share of the link's rate], `in_flight` [packets], `rtt` [s] of the
    last ACK; and since the start of the run, `sent_packets`, `sent_bytes`, `delivered_packets`,
    `delivered_bytes`, `delivered_marked`, `acks`, `acks_marked`, `posted_bytes`. Bytes are wire bytes.
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
    """A run in progress, created by `becalm.start`. Its results are the same as without steps."""

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
        """The current state of all flows, as a copy."""
        return Flows(self.core.live(self._all))

    def flows_of(self, group: str) -> range:
        """Return the numbers of a group's flows.

        Raises:
            ValueError: no group has this name.

        """
        if group not in self._groups:
            raise ValueError(f"no group of flows `{group}`; valid: {', '.join(self._groups)}")
        return self._groups[group]

    def advance(self, *, until: float | str | None = None, by: float | str | None = None) -> bool:
        """Advance the run without holding the interpreter, and return whether it has not ended yet.

        Args:
            until: a simulated time, in seconds or as a string such as "40 us".
            by: a time span from now, instead of `until`.

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
        """Set the pace of flows from now on, overriding their responses.

        Args:
            flow: the number of a flow, several numbers, or the name of a group.
            rate: share of the link's rate, above 0 and at most 1.
            gap: idle time after a packet as a multiple of its transmission time, instead of `rate`:
                1 / rate - 1.
            window: maximum number of packets in flight; None for no limit.

        Raises:
            ValueError: a flow does not exist, neither or both of `rate` and `gap` are given, or a value is
                out of range.

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
        """Run to the end, and return the results.

        Raises:
            FabricError: the run cannot continue.
            SchemeError: a user-defined scheme failed.

        """
        outcome = self.core.finish()
        wall = time.perf_counter() - self._began
        return Results.from_outcomes(self.scenario, [Outcome(self.replication, wall, outcome)])


def picoseconds(span: float | str | None) -> int:
    """Return a time, given in seconds or as a string such as "40 us", in picoseconds.

    Raises:
        ValueError: the value is not a time.

    """
    try:
        value = seconds(span) if isinstance(span, str) else float(span or 0.0)
    except (BecalmError, ValueError) as error:
        raise ValueError(f"{span!r}: must be seconds, or a time with its unit such as '40 us'") from error
    if not 0 <= value < 1e7:
        raise ValueError(f"{span!r}: must be a time, at least 0")
    return round(value * PS)


def start(scenario: Scenario, replication: int = 0, *, threads: int = 1) -> Run:
    """Set up a run of one replication that starts at time zero and advances in steps.

    Args:
        scenario: the scenario to run.
        replication: number of the replication, from 0, which shifts the seed.
        threads: number of threads for the run. Results do not depend on it.

    Raises:
        SchemeError: a user-defined scheme failed at its start.

    """
    return Run(scenario, replication, threads)
