"""A tuning as a file: cases, search space, goals and budget.

[hot_spot]
scenario = "fabric.toml"
host = "H31"
[space]
"marking.ibta.threshold" = { int = [1, 15] }
[goals]
minimize = Field(["loss"])
limits = ["guard.delivered >= 0.99 * uncontrolled"]
[budget]
trials = 60
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from becalm.analysis.hot_spots import GUARD, ROLES, Case, HotSpot
from becalm.documents import Part, Table, Time, checked, one_of, parse, told, wrong
from becalm.errors import ScenarioError
from becalm.mistakes import read_text
from becalm.scenario import Scenario, load
from becalm.schemes.loading import Provided
from becalm.sweeps.ranges import Ranges
from becalm.tunings.goals import NO_LOSS, Goals, check_goals, read_limit
from becalm.tunings.space import Space
from becalm.tunings.study import SAMPLERS


def _checked_goals(goals: list[str]) -> list[str]:
    check_goals(goals)
    return goals


def _checked_limit(limit: str) -> str:
    read_limit(limit)
    return limit


class _HotSpot(Part):
    scenario: str = Field(description="the path of a scenario, relative to this file")
    host: str = Field(description="the name of the hot host")
    degree: int | None = Field(None, ge=2)
    start: Time | None = None
    hot: Time | None = None
    after: Time | None = None


class _Case(Part):
    scenario: str = Field(description="the path of a scenario, relative to this file")
    name: str | None = None
    weight: float = Field(1.0, gt=0, description="a number above 0")
    role: Annotated[str, one_of(ROLES)] = ROLES[0]
    hot: list[str] | None = Field(None, description='names of groups, such as ["cold*"]')
    background: list[str] | None = Field(None, description='names of groups, such as ["cold*"]')
    link: str | None = None
    start: Time | None = None
    stop: Time | None = None

    @model_validator(mode="after")
    def _in_order(self) -> _Case:
        if self.stop is not None and self.stop < (self.start or 0.0):
            raise wrong("stop comes before start")
        return self


class _Goals(Part):
    minimize: Annotated[list[str], AfterValidator(told(_checked_goals))] = Field(["loss"])
    limits: list[Annotated[str, AfterValidator(told(_checked_limit))]] = Field([NO_LOSS])


class _Budget(Part):
    trials: int | None = Field(None, ge=1)
    seeds: int | None = Field(None, ge=1)
    validate_: int | None = Field(None, ge=2, alias="validate")
    seed: int | None = Field(None, ge=0)
    minutes: float | None = Field(None, gt=0, description="a number above 0")
    finalists: float | None = Field(None, gt=0, le=1, description="a share above 0")
    sampler: Annotated[str, one_of(SAMPLERS)] | None = None


class _Tuning(Part):
    hot_spot: _HotSpot | None = None
    case: list[_Case] | None = Field(None, min_length=1, description="[[case]] for each case")
    space: Ranges = Field({})
    fixed: Table = Field({})
    goals: _Goals = _Goals()
    budget: _Budget = _Budget()


@dataclass(frozen=True)
class TuneSpec:
    """A tuning that was read from a file."""

    scenario: Scenario
    """The fabric, whose control is tuned."""
    cases: list[Case]
    space: Space | None
    goals: Goals
    budget: dict[str, Any]
    """Arguments of `becalm.tune`."""


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario rather than a tuning.

    Raises:
        FileNotFoundError: no such file.

    """
    try:
        data, _ = parse(read_text(path), str(path))
    except ScenarioError:
        return False
    return "topology" in data or "flows" in data


def read_tune(path: str | PathLike[str], schemes: tuple[Provided, ...] = ()) -> TuneSpec:
    """Read the file of a tuning, whose scenarios use these schemes of one's own.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once.

    """
    folder = Path(path).parent
    data, mistakes = parse(read_text(path), str(path))
    if ("hot_spot" in data) == ("case" in data):
        mistakes.add(
            None, "hot_spot", "", "either this table, or a case for each case", "[hot_spot], [[case]]"
        )
    found = checked(data, _Tuning, mistakes)
    if found.hot_spot:
        fabric = load(folder / found.hot_spot.scenario, schemes=schemes).using(schemes)
        times = found.hot_spot.model_dump(include={"start", "hot", "after"}, exclude_none=True)
        cases = HotSpot(fabric, found.hot_spot.host, found.hot_spot.degree, **times).cases()
    else:
        cases = [_case(folder, each, schemes) for each in found.case or []]
        fabric = cases[0].scenario
    guarded = any(case.role == GUARD for case in cases)
    limits = [limit for limit in map(read_limit, found.goals.limits) if guarded or not limit.guard]
    ranges = {key: each.range() for key, each in found.space.items()}
    budget = found.budget.model_dump(by_alias=True, exclude_none=True)
    space = Space(ranges, found.fixed) if ranges else None
    return TuneSpec(fabric, cases, space, Goals(tuple(found.goals.minimize), tuple(limits)), budget)


def _case(folder: Path, read: _Case, schemes: tuple[Provided, ...]) -> Case:
    timed = read.model_dump(include={"start", "stop"}, exclude_none=True)
    return Case(
        name=read.name or Path(read.scenario).stem,
        scenario=load(folder / read.scenario, schemes=schemes).using(schemes),
        hot=tuple(["hot*"] if read.hot is None else read.hot) if timed else (),
        background=tuple((["cold*"] if timed else ["*"]) if read.background is None else read.background),
        link=read.link,
        weight=read.weight,
        role=read.role,
        **timed,
    )
