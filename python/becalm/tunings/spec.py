"""A tuning as a file: cases, search space, goals and budget.

[cases]
scenario = "fabric.toml"
contributors = [2, 16]
[[case]]
scenario = "last_week.toml"
[space]
"marking.ibta.threshold" = { int = [1, 15] }
[goals]
limits = ["delivered >= 0.99 * uncontrolled"]
[budget]
trials = 60
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, model_validator

from becalm.analysis.hot_spots import Case
from becalm.base.documents import Part, Table, Time, as_mistake, beside, checked, one_of, parse, wrong
from becalm.base.errors import ScenarioError
from becalm.base.mistakes import Mistakes, other_kind, read_text
from becalm.scenario import Scenario, load
from becalm.schemes.loading import Provided
from becalm.sweeps.ranges import Ranges
from becalm.tunings.goals import Goals, read_limit
from becalm.tunings.population import KINDS, HotSpot, Population
from becalm.tunings.space import Space


def _checked_limit(limit: str) -> str:
    read_limit(limit)
    return limit


Pair = Annotated[list[float], Field(min_length=2, max_length=2)]


class _Cases(Part):
    scenario: str = Field(description="the path of a scenario, relative to this file")
    hosts: list[str] | None = Field(
        None, min_length=1, description='hosts that may be hot, such as ["H0..H7"]'
    )
    contributors: Pair | None = Field(None, description="minimum and maximum, such as [2, 16]")
    load: Pair | None = Field(None, description="minimum and maximum of the background, such as [0.1, 0.6]")
    kinds: list[Annotated[str, one_of(tuple(KINDS))]] | None = Field(None, min_length=1)
    start: Time | None = None
    hot: Time | None = None
    after: Time | None = None

    @model_validator(mode="after")
    def _in_order(self) -> _Cases:
        for name, pair, least in (("contributors", self.contributors, 2), ("load", self.load, 1e-3)):
            if pair is not None and not least <= pair[0] <= pair[1]:
                raise wrong(
                    f"{name} = {pair}: must be two numbers in ascending order, both at least {least:g}"
                )
        if self.load is not None and self.load[1] > 1:
            raise wrong(f"load = {self.load}: must be at most 1")
        return self


class _HotSpot(Part):
    scenario: str = Field(description="the path of a scenario, relative to this file")
    host: str = Field(description="the name of the hot host")
    contributors: int | None = Field(None, ge=2)
    degree: int | None = Field(None, ge=2)  # another word for contributors
    start: Time | None = None
    hot: Time | None = None
    after: Time | None = None


class _Case(Part):
    gone: ClassVar = {"role": "every case counts"}

    scenario: str = Field(description="the path of a scenario, relative to this file")
    name: str | None = None
    weight: float = Field(1.0, gt=0, description="a number above 0")
    hot: list[str] | None = Field(None, description='names of groups, such as ["cold*"]')
    background: list[str] | None = Field(None, description='names of groups, such as ["cold*"]')
    link: str | None = None
    start: Time | None = None
    stop: Time | None = None


class _Goals(Part):
    gone: ClassVar = {"minimize": "every tuning minimizes the loss"}

    limits: list[Annotated[str, AfterValidator(as_mistake(_checked_limit))]] = Field([])


class _Budget(Part):
    gone: ClassVar = {"sampler": "there is one"}

    trials: int | None = Field(None, ge=1)
    seeds: int | None = Field(None, ge=1)
    validate_: int | None = Field(None, ge=2, alias="validate")
    seed: int | None = Field(None, ge=0)
    minutes: float | None = Field(None, gt=0, description="a number above 0")
    finalists: float | None = Field(None, gt=0, le=1, description="a share above 0")


class _Tuning(Part):
    cases: _Cases | None = None
    hot_spot: _HotSpot | None = None
    case: list[_Case] | None = Field(None, min_length=1, description="[[case]] for each case")
    space: Ranges = Field({})
    fixed: Table = Field({})
    goals: _Goals = _Goals()
    budget: _Budget = _Budget()


@dataclass(frozen=True)
class TuneSpec:
    """A tuning read from a file."""

    scenario: Scenario
    """The fabric whose control is tuned."""
    cases: list[Case]
    """Fixed cases."""
    population: Population | None
    """Population of random cases, or None if all cases are fixed."""
    space: Space | None
    goals: Goals
    budget: dict[str, Any]
    """Arguments of `becalm.tune`."""


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario rather than a tuning.

    Raises:
        FileNotFoundError: the file does not exist.

    """
    try:
        data, _ = parse(read_text(path), str(path))
    except ScenarioError:
        return False
    return "topology" in data or "flows" in data


def read_tune(path: str | PathLike[str], schemes: tuple[Provided, ...] = ()) -> TuneSpec:
    """Read the file of a tuning, with the user-defined schemes of its scenarios.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is invalid; the error lists all mistakes.

    """
    data, mistakes = parse(read_text(path), str(path))
    if problem := other_kind(str(path), set(data), "tuning"):
        raise ScenarioError(f"{path}: {problem}", str(path))
    if not {"cases", "hot_spot", "case"} & set(data):
        mistakes.add(
            None, "cases", "", "the cases on which to try parameters", "[cases], [hot_spot], [[case]]"
        )
    if {"cases", "hot_spot"} <= set(data):
        mistakes.add(None, "hot_spot", "", "either this table or [cases]", "[cases] with hosts = [HOST]")
    found = checked(data, _Tuning, mistakes)
    cases = [_case(each, schemes, f"case[{place}]", mistakes) for place, each in enumerate(found.case or [])]
    mistakes.check()
    population = _population(found, schemes, mistakes)
    fabric = population.scenario if population else cases[0].scenario
    goals = Goals(tuple(map(read_limit, found.goals.limits)))
    ranges = {key: each.range() for key, each in found.space.items()}
    budget = found.budget.model_dump(by_alias=True, exclude_none=True)
    space = Space(ranges, found.fixed, fabric.summary["packet_time"]) if ranges else None
    return TuneSpec(fabric, cases, population, space, goals, budget)


def _population(found: _Tuning, schemes: tuple[Provided, ...], mistakes: Mistakes) -> Population | None:
    given = found.cases or found.hot_spot
    if given is None:
        return None
    key = "cases.scenario" if found.cases else "hot_spot.scenario"
    fabric = load(beside(mistakes, key, given.scenario), schemes=schemes).using(schemes)
    times = given.model_dump(include={"start", "hot", "after"}, exclude_none=True)
    if isinstance(given, _HotSpot):
        return HotSpot(fabric, given.host, given.contributors or given.degree, **times).population()
    made = Population(
        fabric,
        tuple(given.hosts or ("*",)),
        None if given.contributors is None else (int(given.contributors[0]), int(given.contributors[1])),
        None if given.load is None else (given.load[0], given.load[1]),
        tuple(given.kinds or KINDS),
        **times,
    )
    made.check()
    return made


def _case(read: _Case, schemes: tuple[Provided, ...], key: str, mistakes: Mistakes) -> Case:
    timed = read.start is not None or read.stop is not None
    case = Case(
        name=read.name or Path(read.scenario).stem,
        scenario=load(beside(mistakes, f"{key}.scenario", read.scenario), schemes=schemes).using(schemes),
        hot=tuple((["hot*"] if timed else []) if read.hot is None else read.hot),
        background=tuple(
            (["cold*"] if timed or read.hot else ["*"]) if read.background is None else read.background
        ),
        link=read.link,
        weight=read.weight,
    )
    return _with_period(case, read, key, mistakes)


def _with_period(case: Case, read: _Case, key: str, mistakes: Mistakes) -> Case:
    """Return a case with its hot period. The times of its hot groups are the default.

    Settings that would have no effect without a hot period are mistakes.
    """
    flows, end = case.scenario.network().flows, case.scenario.duration
    hot = flows.filter(flows["group"].is_in(case.groups(case.hot))).select("start", "stop").rows()
    first, last = min((start for start, _ in hot), default=0.0), max((stop for _, stop in hot), default=end)
    if read.start is None and read.stop is None and first == 0 and math.isclose(last, end):
        for name in ("hot", "link"):
            if getattr(read, name) and (hot or not case.hot):
                problem = "has no effect without a hot period"
                mistakes.add(None, f"{key}.{name}", "", problem, "start and stop, here or in the hot groups")
        return case
    start = first if read.start is None else read.start
    stop = last if read.stop is None else read.stop
    if not start < min(stop, end):
        shown = f"from {start:g} s to {stop:g} s in a run of {end:g} s"
        mistakes.add(None, f"{key}.{'start' if read.stop is None else 'stop'}", "", f"no hot period: {shown}")
    return replace(case, start=start, stop=stop)
