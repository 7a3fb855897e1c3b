"""Random points from ranges: Sobol' sequences, which fill the ranges evenly, or independent points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from becalm.base.errors import BecalmError
from becalm.sweeps.plan import Changes

METHODS = ("sobol", "uniform")
"""Sampling methods."""


@dataclass(frozen=True)
class Range:
    """The range of one key."""

    kind: str
    """`int`, `float` or `choice`."""
    values: tuple[Any, ...]
    """Both ends, inclusive, or the choices."""
    log: bool = False
    """Whether the distribution is log-uniform instead of uniform."""
    unit: str = ""
    """Unit after the number in a scenario."""

    def at(self, share: float) -> Any:  # noqa: ANN401
        """Return the value at a share of the range, from 0 to below 1."""
        if self.kind == "choice":
            return self.values[int(share * len(self.values))]
        low, high = self.values
        if self.kind == "int":
            # Each number, including the ends, has its own part of the range.
            low, high = low - 0.5, high + 0.5
        value = low * (high / low) ** share if self.log else low + (high - low) * share
        if self.kind == "int":
            return self.written(min(max(round(value), self.values[0]), self.values[1]))
        return self.written(value)

    def written(self, value: Any) -> Any:  # noqa: ANN401
        """Return a value as written in a scenario."""
        if not self.unit:
            return value
        return f"{value:.6g} {self.unit}" if self.kind == "float" else f"{value} {self.unit}"


@dataclass(frozen=True)
class RandomPoints:
    """Random points from ranges. The same seed always returns the same points."""

    points: int
    seed: int
    method: str
    ranges: dict[str, Range]

    def draw(self) -> list[Changes]:
        """Return the points.

        Raises:
            BecalmError: Sobol' sequences need SciPy.

        """
        shares = self._sobol() if self.method == "sobol" else self._uniform()
        return [
            {key: each.at(share) for (key, each), share in zip(self.ranges.items(), row, strict=True)}
            for row in shares
        ]

    def _uniform(self) -> list[list[float]]:
        import numpy as np

        found: list[list[float]] = (
            np.random.default_rng(self.seed).random((self.points, len(self.ranges))).tolist()
        )
        return found

    def _sobol(self) -> list[list[float]]:
        try:
            from scipy.stats import qmc
        except ImportError as error:
            problem = "random: Sobol' sequences need SciPy"
            raise BecalmError(f'{problem}: pip install "becalm[tune]", or method = "uniform"') from error
        sampler = qmc.Sobol(len(self.ranges), rng=self.seed)
        # The sequence is balanced at powers of two. A longer sample starts with the points of a shorter one.
        drawn: list[list[float]] = sampler.random_base2(math.ceil(math.log2(max(self.points, 2)))).tolist()
        return drawn[: self.points]
