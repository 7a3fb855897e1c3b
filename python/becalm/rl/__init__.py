"""Environments for learning agents: Gymnasium, and parallel runs on threads (`becalm[rl]`).

    import gymnasium, becalm.rl
    env = gymnasium.make("becalm/Rate-v0", scenario="scenario.toml", flows="hot", every="20 us")

`fleet` advances runs in parallel and measures the agents' observations. `rate` contains its interfaces.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:  # pragma: no cover
    raise ImportError("becalm.rl needs Gymnasium: pip install 'becalm[rl]'") from error

from becalm.rl.fleet import SEEN, Measures, incast, log_throughput
from becalm.rl.rate import RateEnv, VectorEnv

__all__ = [
    "SEEN",
    "Measures",
    "RateEnv",
    "VectorEnv",
    "incast",
    "log_throughput",
]

if "becalm/Rate-v0" not in gymnasium.registry:
    gymnasium.register(
        "becalm/Rate-v0", "becalm.rl.rate:RateEnv", vector_entry_point="becalm.rl.rate:VectorEnv"
    )
