"""One agent per flow, with PettingZoo's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import ParallelEnv as PettingZoo

from becalm.rl.fleet import Fleet, observation_space
from becalm.rl.rate import MOST_REPLICATIONS

Dict = dict[str, Any]


class ParallelEnv(PettingZoo):  # type: ignore[misc]
    """A run with an agent `flow_N` for each chosen flow. All agents act at the same times.

    Args:
        steps: number of decisions after which a run is truncated; None for no limit.
        options: options of `Fleet`, except `runs`, `each` and `threads`.

    """

    metadata: dict[str, Any] = {"name": "becalm_rate_v0", "render_modes": []}  # noqa: RUF012 - as PettingZoo has it
    render_mode = None

    def __init__(
        self,
        scenario: Any = None,  # noqa: ANN401
        flows: Any = None,  # noqa: ANN401
        *,
        steps: int | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        self.fleet = Fleet(1, scenario, flows, each=True, **options)
        self.possible_agents = [f"flow_{flow}" for flow in self.fleet.flows]
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: self.fleet.action_space() for agent in self.possible_agents}
        self._steps, self._left = steps, steps
        self._random, _ = seeding.np_random()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Dict | None = None) -> tuple[Dict, Dict]:
        """Start a new run; `options={"replication": N}` selects the replication."""
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        drawn = int(self._random.integers(MOST_REPLICATIONS))
        replication = int((options or {}).get("replication", drawn))
        self.fleet.begin(0, replication)
        self.agents, self._left = list(self.possible_agents), self._steps
        infos: Dict = {agent: {"replication": replication} for agent in self.agents}
        return dict(zip(self.agents, self.fleet.first(0), strict=True)), infos

    def step(self, actions: Dict) -> tuple[Dict, Dict, Dict, Dict, Dict]:
        """Set the rates, and advance to the next decision."""
        agents = self.agents
        step, rewards = self.fleet.step(np.stack([np.asarray(actions[agent]) for agent in agents])[None], [0])
        ended, cut = self.fleet.ended(0), False
        if self._left is not None:
            self._left -= 1
            cut = self._left <= 0
        info = {"fingerprint": self.fleet.finish(0)} if ended else {}
        if ended or cut:
            self.agents = []
        paid = np.broadcast_to(rewards, (1, len(agents)))[0].tolist()
        return (
            dict(zip(agents, step.seen[0], strict=True)),
            dict(zip(agents, paid, strict=True)),
            dict.fromkeys(agents, ended),
            dict.fromkeys(agents, cut),
            {agent: dict(info) for agent in agents},
        )

    def render(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Release the run."""
        self.fleet.runs = [None]


def parallel_env(scenario: Any = None, flows: Any = None, **options: Any) -> ParallelEnv:  # noqa: ANN401
    """Return a `ParallelEnv`, a PettingZoo environment with one agent per flow."""
    return ParallelEnv(scenario, flows, **options)
