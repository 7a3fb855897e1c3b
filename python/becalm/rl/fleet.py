"""Parallel runs with the same agents in each: actions, observations and rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from becalm._core import Run as CoreRun
from becalm._core import Workers
from becalm.scenario import Scenario, load
from becalm.stepping import PS, picoseconds

SEEN = ("rate", "rtt", "marked", "delivered", "in_flight")
"""The observations of an agent, in order."""
_MOST = np.array([1.0, 1e3, 1.0, 1e3, 1e3], np.float32)
_PLACE = {name: place for place, name in enumerate(CoreRun.columns)}
_FLIGHT, _RTT, _DELIVERED, _POSTED = (
    _PLACE[name] for name in ("in_flight", "rtt", "delivered_bytes", "posted_bytes")
)
_COUNTED = [
    _PLACE[name] for name in ("sent_bytes", "delivered_bytes", "delivered_packets", "delivered_marked")
]
_TINY = 1e-3
_INCAST = """
[run]
duration = "4 ms"
[topology.edges]
hosts = ["H1..H{sources}", "target"]
switches = ["S"]
rate = "100 Gb/s"
delay = "500 ns"
cables = [{{between = ["H1..H{sources}", "S"]}}, {{between = ["target", "S"]}}]
[marking.ramp]
[echo.rocev2]
[response.dcqcn]
[observe]
step = "1 ms"
window = "1 ms"
[[flows]]
name = "hot"
from = ["H1..H{sources}"]
to = ["target"]
start_spread = "100 us"
"""


class Measures(NamedTuple):
    """Measurements of a step, as arrays with a row per run and one column for its agent."""

    rate: NDArray[np.float64]
    """Rate that the agent has set, as a share of its link's rate."""
    rtt: NDArray[np.float64]
    """Mean round-trip time of its flows' last ACKs, relative to an empty fabric; 1 before the first ACK."""
    marked: NDArray[np.float64]
    """Share of its delivered packets that are marked."""
    delivered: NDArray[np.float64]
    """Bytes delivered, divided by bytes sent, which count as at least one packet."""
    in_flight: NDArray[np.float64]
    """Bytes in flight, in full packets, divided by rate times round-trip time in an empty fabric."""
    throughput: NDArray[np.float64]
    """Bytes delivered, as a share of the capacity of its links during the step."""
    loss: NDArray[np.float64]
    """Victims' loss: 1 minus delivered bytes over offered bytes, which count up to the capacity of the
    victims' links; 0 without victims."""

    @property
    def delay(self) -> NDArray[np.float64]:
        """Queueing delay, divided by the round-trip time in an empty fabric."""
        return np.maximum(self.rtt - 1.0, 0.0)

    @property
    def seen(self) -> NDArray[np.float32]:
        """The agents' observations: the values of `SEEN` along the last axis, each at most 1 or 1000."""
        seen = np.stack(self[: len(SEEN)], axis=-1)
        return cast("NDArray[np.float32]", np.minimum(seen, _MOST).astype(np.float32))


Reward = Callable[[Measures], Any]


def log_throughput(step: Measures, delay: float = 0.1, loss: float = 1.0) -> NDArray[np.float64]:
    """Return the default reward: log throughput minus the weighted queueing delay and victims' loss."""
    log: NDArray[np.float64] = np.log(np.maximum(step.throughput, _TINY))
    return log - delay * step.delay - loss * step.loss


def incast(sources: int = 8) -> Scenario:
    """Return the default scenario of environments: `sources` sources that send to one destination.

    Each source starts at a random time, so that runs with other seeds differ.
    """
    return Scenario(_INCAST.format(sources=sources), name="incast.toml")


def observation_space() -> spaces.Box:
    """Return the space of an agent's observations."""
    return spaces.Box(np.zeros(len(SEEN), np.float32), _MOST)


Flows = str | int | Iterable[str | int] | None
"""The name of a group, the number of a flow, or several of both; None for the first group."""


def _chosen(scenario: Scenario, flows: Flows) -> tuple[list[int], list[int]]:
    """Return the numbers of the chosen flows and of all other flows."""
    groups = {name: range(first, end) for name, first, end in scenario.core.groups()}
    wanted = next(iter(groups)) if flows is None else flows
    names = [wanted] if isinstance(wanted, str | int) else list(wanted)
    if missing := [name for name in names if isinstance(name, str) and name not in groups]:
        raise ValueError(f"no group of flows `{missing[0]}`; valid: {', '.join(groups)}")
    found = (groups[one] if isinstance(one, str) else [one] for one in names)
    chosen = list(dict.fromkeys(flow for own in found for flow in own))
    count = max(group.stop for group in groups.values())
    if wrong := [flow for flow in chosen if not 0 <= flow < count]:
        raise ValueError(f"flow {wrong[0]}: the scenario has {count} flows, numbered from 0")
    return chosen, sorted(set(range(count)) - set(chosen))


class Fleet:
    """Parallel runs.

    Args:
        runs: number of runs.
        scenario: a scenario, the path of one, or None for `incast()`.
        flows: the flows whose rate the agent sets: the name of a group, a flow number, or several of both;
            None for the first group.
        every: simulated time between two decisions.
        table: rates, as shares of the link's rate, through which the actions down, stay and up move. None for
            actions between -1 and 1, which multiply a rate by 2 to the power of the action.
        least: smallest rate, as a share of the link's rate.
        window: maximum number of packets in flight per flow; None for no limit.
        reward: a function of `Measures`; default: `log_throughput`.
        threads: number of threads that advance the runs.

    Raises:
        ScenarioError: the scenario is invalid.
        ValueError: a flow does not exist, or a value is out of range.

    """

    def __init__(
        self,
        runs: int,
        scenario: Scenario | str | PathLike[str] | None = None,
        flows: Flows = None,
        *,
        every: float | str = "20 us",
        table: Sequence[float] | None = None,
        least: float = 1e-3,
        window: int | None = None,
        reward: Reward = log_throughput,
        threads: int = 1,
    ) -> None:
        own = incast() if scenario is None else scenario
        self.scenario = own if isinstance(own, Scenario) else load(own)
        self.flows, others = _chosen(self.scenario, flows)
        self.every = picoseconds(every)
        if not self.flows or self.every == 0 or not 0 < least <= 1 or runs < 1 or threads < 1:
            raise ValueError("needs a flow, every > 0, 0 < least <= 1, and at least one run and one thread")
        if table is not None and not all(0 < rate <= 1 for rate in table):
            raise ValueError(f"table = {list(table)}: rates must be above 0 and at most 1")
        self._all = self.flows + others
        self.table = None if table is None else np.sort(np.array(table, float))[::-1]
        self.least, self.window, self.reward = least, window, reward
        self.runs: list[CoreRun | None] = [None] * runs
        self._workers = Workers(threads) if threads > 1 and self.scenario.core.native else None
        self.rate, self._row = np.ones((runs, 1)), np.zeros((runs, 1), int)
        self._before = np.zeros((runs, len(_PLACE), len(self._all)))
        self._unloaded: NDArray[np.float64] | None = None

    def action_space(self) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return spaces.Box(-1.0, 1.0, (1,), np.float32) if self.table is None else spaces.Discrete(3)

    def begin(self, place: int, replication: int) -> None:
        """Start a new run in a place."""
        run = self.runs[place] = CoreRun(self.scenario.core, replication)
        if self._unloaded is None:
            self._unloaded = run.unloaded(self._all)
        self.rate[place], self._row[place] = 1.0 if self.table is None else self.table[0], 0
        self._pace(run, self.rate[place, 0])
        self._before[place] = run.live(self._all)

    def step(self, actions: NDArray[Any], places: Sequence[int]) -> tuple[Measures, NDArray[Any]]:
        """Advance the runs of some places, with a row of actions for each.

        Returns:
            The measurements and the rewards.

        Raises:
            RuntimeError: a run has ended.
            FabricError: a run cannot continue.

        """
        chosen = list(places)
        runs = [run for run in (self.runs[place] for place in chosen) if run is not None]
        if len(runs) < len(chosen):
            raise RuntimeError("the run has ended; reset() starts the next one")
        rates = self._act(actions, chosen)
        for run, rate in zip(runs, rates[:, 0], strict=True):
            self._pace(run, rate)
        until = [run.now + self.every for run in runs]
        if self._workers is None:
            for run, end in zip(runs, until, strict=True):
                run.advance(end)
        else:
            self._workers.advance(runs, until)
        now = np.stack([run.live(self._all) for run in runs])
        step = self._measure(now, self._before[chosen], rates)
        self._before[chosen] = now
        return step, np.asarray(self.reward(step))

    def first(self, place: int) -> NDArray[np.float32]:
        """Return the agents' observations at the start of the run in a place."""
        nothing = np.zeros_like(self._before[:1])
        seen: NDArray[np.float32] = self._measure(nothing, nothing, self.rate[place : place + 1]).seen[0]
        return seen

    def ended(self, place: int) -> bool:
        """Return whether the run in a place has ended."""
        run = self.runs[place]
        return run is None or run.ended

    def finish(self, place: int) -> str:
        """Return the fingerprint of a finished run, and release the run."""
        run, self.runs[place] = self.runs[place], None
        return "" if run is None else f"{run.finish()['fingerprint']:016x}"

    def _pace(self, run: CoreRun, rate: float) -> None:
        run.set_pace(self.flows, 1.0 / rate - 1.0, self.window)

    def _act(self, actions: NDArray[Any], chosen: list[int]) -> NDArray[np.float64]:
        if self.table is None:
            wanted = np.exp2(np.asarray(actions, float).reshape(len(chosen), -1))
            rates: NDArray[np.float64] = np.minimum(np.maximum(self.rate[chosen] * wanted, self.least), 1.0)
        else:
            rows = self._row[chosen] + 1 - np.asarray(actions, int).reshape(len(chosen), -1)
            self._row[chosen] = rows = np.minimum(np.maximum(rows, 0), len(self.table) - 1)
            rates = self.table[rows]
        self.rate[chosen] = rates
        return rates

    def _measure(
        self, now: NDArray[np.float64], before: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> Measures:
        assert self._unloaded is not None
        count = len(self.flows)
        carried = self._unloaded[:, 0] * (self.every / PS)
        line, base, full = self._unloaded[:count].T
        change = now[:, _COUNTED] - before[:, _COUNTED]
        last = now[:, _RTT, :count]
        rtt = np.where(last > 0, last, base) / base
        flight, bdp, capacity = now[:, _FLIGHT, :count] * full, line * base, carried[:count]
        sent, arrived, packets, marked = (change[:, row, :count] for row in range(4))
        sent, arrived, packets, marked, flight = (
            values.sum(-1, keepdims=True) for values in (sent, arrived, packets, marked, flight)
        )
        rtt, bdp, capacity = rtt.mean(-1, keepdims=True), bdp.sum(), capacity.sum()
        loss = self._loss(before, now, carried)
        share = marked / np.maximum(packets, 1.0)
        return Measures(
            rates, rtt, share, arrived / np.maximum(sent, full[0]), flight / bdp, arrived / capacity, loss
        )

    def _loss(
        self, before: NDArray[np.float64], now: NDArray[np.float64], carried: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        count = len(self.flows)
        if count == len(self._all):
            return np.zeros((len(before), 1))
        there = before[:, _DELIVERED, count:]
        backlog = now[:, _POSTED, count:] - there
        wanted = np.minimum(np.maximum(backlog, 0.0), carried[count:]).sum(-1, keepdims=True)
        got = (now[:, _DELIVERED, count:] - there).sum(-1, keepdims=True)
        lost: NDArray[np.float64] = np.clip(1.0 - got / np.maximum(wanted, 1.0), 0.0, 1.0)
        return np.where(wanted > 0, lost, 0.0)
