"""One agent that sets the rate of some flows, and many runs on threads, with Gymnasium's interfaces."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as Vector
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from becalm.rl.fleet import SEEN, Fleet, observation_space

MOST_REPLICATIONS = 2**31
Answer = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class RateEnv(gymnasium.Env):  # type: ignore[misc]
    """An agent for some flows: `gymnasium.make("becalm/Rate-v0", scenario=..., flows=..., every="20 us")`.

    `reset` starts a new run: replication `info["replication"]` of the scenario, chosen at random from the
    seed. A run ends when the scenario does, and `info["fingerprint"]` is then the fingerprint of its results.
    `TimeLimit` truncates it.

    Args:
        options: options of `Fleet`, except `runs` and `threads`.

    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, scenario: Any = None, flows: Any = None, **options: Any) -> None:  # noqa: ANN401
        options.pop("render_mode", None)
        self.fleet = Fleet(1, scenario, flows, **options)
        self.observation_space = observation_space()
        self.action_space = self.fleet.action_space()

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a new run; `options={"replication": N}` selects the replication."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(MOST_REPLICATIONS))
        replication = int((options or {}).get("replication", drawn))
        self.fleet.begin(0, replication)
        return self.fleet.first(0)[0], {"replication": replication}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Set the rate, and advance to the next decision."""
        step, rewards = self.fleet.step(np.asarray(action)[None], [0])
        ended = self.fleet.ended(0)
        info = {"fingerprint": self.fleet.finish(0)} if ended else {}
        return step.seen[0, 0], float(rewards[0, 0]), ended, False, info


class VectorEnv(Vector):  # type: ignore[misc]
    """Environments like `RateEnv`, whose runs advance in parallel on threads, without the interpreter.

    The step after the end of a run starts the next run in the same place and ignores the action. This is
    Gymnasium's autoreset mode `NEXT_STEP`.

    Args:
        num_envs: number of environments.
        threads: number of threads in the core.
        steps: number of decisions after which a run is truncated; None for no limit.
        options: options of `Fleet`, except `runs`.

    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(
        self,
        num_envs: int,
        scenario: Any = None,  # noqa: ANN401
        flows: Any = None,  # noqa: ANN401
        *,
        threads: int = 1,
        steps: int | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        self.fleet = Fleet(num_envs, scenario, flows, threads=threads, **options)
        self.num_envs = num_envs
        self.single_observation_space = observation_space()
        self.single_action_space = self.fleet.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seen = np.zeros((num_envs, len(SEEN)), np.float32)
        self._over = np.ones(num_envs, bool)
        self._steps, self._done = steps, np.zeros(num_envs, int)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start new runs in all places."""
        super().reset(seed=seed, options=options)
        began = np.array([self._begin(place) for place in range(self.num_envs)])
        return self._seen.copy(), {"replication": began, "_replication": np.ones(self.num_envs, bool)}

    def step(self, actions: Any) -> Answer:  # noqa: ANN401
        """Set the rates, and advance to the next decision. Start a new run where one had ended."""
        count = self.num_envs
        info: dict[str, Any] = {}
        rewards, ended = np.zeros(count), np.zeros(count, bool)
        for place in np.flatnonzero(self._over).tolist():
            info = self._add_info(info, {"replication": self._begin(place)}, place)
            self._over[place] = True
        going = np.flatnonzero(~self._over)
        if going.size:
            step, paid = self.fleet.step(np.asarray(actions)[going], going.tolist())
            self._seen[going], rewards[going] = step.seen[:, 0], paid[:, 0]
            self._done[going] += 1
        for place in (place for place in going.tolist() if self.fleet.ended(place)):
            ended[place] = True
            info = self._add_info(info, {"fingerprint": self.fleet.finish(place)}, place)
        cut = np.zeros(count, bool) if self._steps is None else ~ended & (self._done >= self._steps)
        self._over = ended | cut
        return self._seen.copy(), rewards, ended, cut, info

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401
        """Release the runs."""
        self.fleet.runs = [None] * self.num_envs

    def _begin(self, place: int) -> int:
        replication = int(self.np_random.integers(MOST_REPLICATIONS))
        self.fleet.begin(place, replication)
        self._seen[place], self._done[place], self._over[place] = self.fleet.first(place)[0], 0, False
        return replication
