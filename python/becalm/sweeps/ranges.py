"""Ranges of values in files: `{ int = [1, 64] }`, `{ float = [0.1, 0.9], unit = "us" }`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from becalm.base.documents import Part, flat, one_of, wrong
from becalm.sweeps.random import METHODS, RandomPoints, Range

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
