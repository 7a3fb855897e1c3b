"""One agent that sets the rate of some flows, with Gymnasium's interface."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from becalm.rl.fleet import Fleet, observation_space

MOST_REPLICATIONS = 2**31


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
