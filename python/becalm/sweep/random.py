"""Points drawn from ranges: Sobol' sequences, which fill them evenly, or independent ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from becalm.errors import BecalmError
from becalm.mistakes import Mistakes
from becalm.sweep.changes import Changes

METHODS = ("sobol", "uniform")
"""How points are drawn."""
_FORMS = '{ int = [1, 64] }, { float = [0.1, 0.9], log = true, unit = "us" } or { choice = ["a", "b"] }'


_LARGEST = 2.0**1000
"""Where the ends of ranges must stay below: their differences are numbers, too."""


@dataclass(frozen=True)
class Range:
    """Values of one key."""

    kind: str
    """`int`, `float` or `choice`."""
    values: tuple[Any, ...]
    """Both ends, which belong to the range; or the choices."""
    log: bool = False
    """Whether equal factors are as likely as each other, rather than equal differences."""
    unit: str = ""
    """Unit after the number in a scenario."""

    def at(self, share: float) -> Any:  # noqa: ANN401
        """Return the value at a share from 0 to 1, without 1, of the range."""
        if self.kind == "choice":
            return self.values[int(share * len(self.values))]
        low, high = self.values
        if self.kind == "int":
            # Each number has its own part of the range, the ends too.
            low, high = low - 0.5, high + 0.5
        value = low * (high / low) ** share if self.log else low + (high - low) * share
        if self.kind == "int":
            return self.written(min(max(round(value), self.values[0]), self.values[1]))
        return self.written(value)

    def written(self, value: Any) -> Any:  # noqa: ANN401
        """Return a value as a scenario has it."""
        if not self.unit:
            return value
        return f"{value:.6g} {self.unit}" if self.kind == "float" else f"{value} {self.unit}"


@dataclass(frozen=True)
class RandomPoints:
    """A number of points drawn from ranges; the same ones for the same seed."""

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
        # The sequence is balanced at powers of two; a longer sample begins like a shorter one.
        drawn: list[list[float]] = sampler.random_base2(math.ceil(math.log2(max(self.points, 2)))).tolist()
        return drawn[: self.points]


def read_random(table: Mapping[str, Any], mistakes: Mistakes) -> RandomPoints:
    """Read the table `random` of a sweep."""
    points, seed, method = table.get("points"), table.get("seed", 1), table.get("method", METHODS[0])
    if not isinstance(points, int) or isinstance(points, bool) or points < 1:
        mistakes.add(None, "random.points", repr(points), "must be how many to draw", "an integer, 1 or more")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        mistakes.add(None, "random.seed", repr(seed), "out of range", "an integer, 0 or more")
    if method not in METHODS:
        mistakes.add(None, "random.method", repr(method), "unknown", ", ".join(METHODS))
    keys = {key: value for key, value in table.items() if key not in ("points", "seed", "method")}
    ranges = dict(read_ranges("random", keys, mistakes))
    if not keys:
        mistakes.add(None, "random", "", "has no key to draw values for", _FORMS)
    return RandomPoints(points if isinstance(points, int) else 1, seed, method, ranges)


def read_ranges(name: str, table: Mapping[str, Any], mistakes: Mistakes) -> Iterator[tuple[str, Range]]:
    """Yield the ranges of a table by dotted key, whether the key is quoted or not."""
    for key, value in table.items():
        kinds = [kind for kind in ("int", "float", "choice") if isinstance(value, dict) and kind in value]
        if (
            isinstance(value, dict)
            and value
            and not kinds
            and all(isinstance(v, dict) for v in value.values())
        ):
            for inner, found in read_ranges(f"{name}.{key}", value, mistakes):
                yield f"{key}.{inner}", found
            continue
        problem = "must be one range" if len(kinds) != 1 else _problem(kinds[0], value)
        if problem:
            mistakes.add(None, f"{name}.{key}", str(value), problem, _FORMS)
            continue
        (kind,) = kinds
        yield key, Range(kind, tuple(value[kind]), value.get("log", False), value.get("unit", ""))


def _problem(kind: str, value: Mapping[str, Any]) -> str:
    """Return what is wrong with a range; nothing if it is right."""
    values = value[kind]
    unknown = [key for key in value if key not in (kind, "log", "unit")]
    if unknown:
        return f"`{unknown[0]}` is unknown"
    if not isinstance(value.get("log", False), bool) or not isinstance(value.get("unit", ""), str):
        return "log must be true or false, and unit a string"
    if kind == "choice":
        return "" if isinstance(values, list) and values else "must be a list of choices"
    wanted = (int,) if kind == "int" else (int, float)
    if not isinstance(values, list) or len(values) != 2:
        return "must have two ends"
    if any(
        isinstance(each, bool) or not isinstance(each, wanted) or not abs(each) < _LARGEST for each in values
    ):
        return "must have two ends that are whole numbers" if kind == "int" else "must have two finite ends"
    if values[0] > values[1]:
        return "begins above its end"
    if value.get("log") and values[0] <= 0:
        return "must begin above 0 where log = true"
    return ""
