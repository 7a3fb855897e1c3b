"""Environments for learning agents: Gymnasium, PettingZoo, and parallel runs on threads (`becalm[rl]`).

    import gymnasium, becalm.rl
    env = gymnasium.make("becalm/Rate-v0", scenario="scenario.toml", flows="hot", every="20 us")

`fleet` advances runs in parallel and measures the agents' observations. `rate`, `parallel` and `vector` are
its interfaces.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:  # pragma: no cover
    raise ImportError("becalm.rl needs Gymnasium and PettingZoo: pip install 'becalm[rl]'") from error

from becalm.rl.fleet import SEEN, Measures, incast, log_throughput
from becalm.rl.parallel import ParallelEnv, parallel_env
from becalm.rl.rate import RateEnv
from becalm.rl.vector import VectorEnv

__all__ = [
    "SEEN",
    "Measures",
    "ParallelEnv",
    "RateEnv",
    "VectorEnv",
    "incast",
    "log_throughput",
    "parallel_env",
]

if "becalm/Rate-v0" not in gymnasium.registry:
    gymnasium.register(
        "becalm/Rate-v0", "becalm.rl.rate:RateEnv", vector_entry_point="becalm.rl.vector:VectorEnv"
    )
