"""Ranges of values in files, `{ int = [1, 64] }`, and random points from them: Sobol' or independent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from becalm.documents import Part, flat, one_of, wrong
from becalm.errors import BecalmError
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


FORMS = '{ int = [1, 64] }, { float = [0.1, 0.9], log = true, unit = "us" } or { choice = ["a", "b"] }'
_LARGEST = 2**1000
"""Bound on the ends of ranges, so that their differences are also finite."""
_KINDS = ("int", "float", "choice")

_End = Annotated[float, Field(lt=_LARGEST, gt=-_LARGEST)]


class OneRange(Part):
    """The range of one key."""

    whole: list[Annotated[int, Field(lt=_LARGEST, gt=-_LARGEST)]] | None = Field(
        None, alias="int", min_length=2, max_length=2, description="two whole numbers"
    )
    real: list[_End] | None = Field(
        None, alias="float", min_length=2, max_length=2, description="two numbers"
    )
    choice: list[Any] | None = Field(None, min_length=1, description="a list of choices")
    log: bool = False
    unit: str = ""

    @model_validator(mode="before")
    @classmethod
    def _table(cls, value: object) -> object:
        if not isinstance(value, dict):
            raise wrong("must be a range", FORMS)
        return value

    @model_validator(mode="after")
    def _fits(self) -> OneRange:
        ends = self.whole or self.real
        if sum(each is not None for each in (self.whole, self.real, self.choice)) != 1:
            raise wrong("must be one range", FORMS)
        if ends and ends[0] > ends[1]:
            raise wrong("starts above its end")
        if ends and self.log and ends[0] <= 0:
            raise wrong("must start above 0 if log = true")
        return self

    def range(self) -> Range:
        """Return the range to draw values from."""
        each = {"int": self.whole, "float": self.real, "choice": self.choice}
        ((kind, values),) = ((kind, values) for kind, values in each.items() if values is not None)
        return Range(kind, tuple(values), self.log, self.unit)


def _flat(table: object) -> object:
    return (
        flat(table, lambda value: any(kind in value for kind in _KINDS)) if isinstance(table, dict) else table
    )


Ranges = Annotated[dict[str, OneRange], BeforeValidator(_flat)]
"""Ranges by dotted key, quoted or not."""


class Drawn(Part):
    """The table `random` of a sweep, whose additional keys are the keys to draw values for."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, OneRange]

    points: int = Field(ge=1)
    seed: int = Field(1, ge=0)
    method: Annotated[str, one_of(METHODS)] = METHODS[0]

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, table: object) -> object:
        return _flat(table)

    @model_validator(mode="after")
    def _fits(self) -> Drawn:
        if not self.__pydantic_extra__:
            raise wrong("has no key to draw values for", FORMS)
        return self

    def drawn(self) -> RandomPoints:
        """Return the random points."""
        ranges = {key: each.range() for key, each in self.__pydantic_extra__.items()}
        return RandomPoints(self.points, self.seed, self.method, ranges)
