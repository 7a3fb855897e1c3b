"""A sweep as a file: the scenario, its changes, the seeds and the store.

scenario = "input_triggered_lipd.toml"
keep = "series"
[set]
"run.duration" = "30 ms"
[grid]
"switch.buffer" = ["4 packets", "8 packets"]
[seeds]
count = 5
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from becalm.base.documents import Part, Table, beside, checked, flat, one_of, parse, wrong
from becalm.base.errors import ScenarioError
from becalm.base.mistakes import Mistakes, other_kind, read_text
from becalm.scenario import Scenario, load
from becalm.schemes.loading import Provided
from becalm.store import ALL, KEEPS, SERIES
from becalm.sweeps.plan import Changes, Planned, planned, summary
from becalm.sweeps.random import RandomPoints
from becalm.sweeps.ranges import Drawn

STORE = Path("results/store")
"""Default store."""
MOST = 1_000_000
"""Maximum number of points of a sweep. More are considered a mistake."""


@dataclass(frozen=True)
class Spec:
    """A sweep read from a file."""

    file: str
    base: Scenario
    store: Path
    keep: str
    common: Changes
    """Changes of all points."""
    grid: dict[str, list[Any]]
    """Values by key. Every combination is a point."""
    zip: dict[str, list[Any]]
    """Values by key, taken side by side."""
    listed: list[Changes]
    """Points listed one by one."""
    random: RandomPoints | None
    """Random points from ranges."""
    seeds: int
    counted: bool
    """Whether [seeds] sets their number."""
    first_seed: int | None

    def changes(self) -> list[Changes]:
        """Return the changes of every point. The list changes slowest, and the grid fastest."""
        side_by_side = [
            dict(zip(self.zip, values, strict=True)) for values in zip(*self.zip.values(), strict=True)
        ]
        grid = [
            dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
        ]
        drawn = self.random.draw() if self.random else [{}]
        parts = (self.listed or [{}], drawn, side_by_side or [{}], grid)
        return [
            {key: value for part in combined for key, value in part.items()}
            for combined in itertools.product(*parts)
        ]

    def points(self, keep: str | None = None) -> list[Planned]:
        """Return all points, checked but not run.

        Args:
            keep: overrides the file's setting. Unless all is kept, series cover only links that the scenario
                names.

        Raises:
            ScenarioError: points are invalid; the error lists the mistakes of all points with their changes.

        """
        changes = self.changes()
        scenarios: list[Scenario] = []
        mistakes: dict[str, str] = {}
        extra = self._extra(self.keep if keep is None else keep)
        for change in changes:
            try:
                scenarios.append(self.base.replace({**extra, **self.common, **change}))
            except ScenarioError as error:
                mistakes.setdefault(str(error), summary(change))
        if mistakes:
            lines = [f"{self.file}: with {where}:\n{message}" for message, where in mistakes.items()]
            more = [f"{self.file}: and {len(lines) - _TOLD} more"] if len(lines) > _TOLD else []
            raise ScenarioError("\n".join([*lines[:_TOLD], *more]), self.file)
        return planned(changes, scenarios)

    def _extra(self, keep: str) -> Changes:
        found: Changes = {"run.replications": self.seeds}
        if self.first_seed is not None:
            found["run.seed"] = self.first_seed
        if keep != ALL and "links" not in self.base.data().get("observe", {}):
            found["observe.links"] = []
        return found


_TOLD = 20
"""Maximum number of points whose errors are listed. Others usually have the same errors."""


_VALUES = 'a list of values, such as ["4 packets", "8 packets"]'


def _values(table: object) -> object:
    return flat(table, lambda _: False) if isinstance(table, dict) else table


_Lists = Annotated[
    dict[str, Annotated[list[Any], Field(min_length=1)]],
    BeforeValidator(_values),
]


class _Seeds(Part):
    count: int | None = Field(None, ge=1)
    first: int | None = Field(None, ge=0)


class _Sweep(Part):
    scenario: str = Field(description="the path of a scenario, relative to this file")
    store: str | None = Field(None, description="a folder, relative to this file")
    keep: Annotated[str, one_of(KEEPS)] = SERIES
    common: Table = Field({}, alias="set")
    grid: _Lists = Field({}, description=_VALUES)
    side: _Lists = Field({}, alias="zip", description=_VALUES)
    listed: list[Table] = Field([], alias="list", description="[[list]], each with the changes of one point")
    random: Drawn | None = None
    seeds: _Seeds = _Seeds()

    @field_validator("side")
    @classmethod
    def _same_length(cls, lists: dict[str, list[Any]]) -> dict[str, list[Any]]:
        if len({len(values) for values in lists.values()}) > 1:
            lengths = ", ".join(f"{key}: {len(values)}" for key, values in lists.items())
            raise wrong(f"lists in [zip] must have the same length: {lengths}")
        return lists


def read_spec(path: str | PathLike[str], schemes: tuple[Provided, ...] = ()) -> Spec:
    """Read the file of a sweep, with the user-defined schemes of its scenario.

    Raises:
        FileNotFoundError: the file or the scenario does not exist.
        ScenarioError: the file is invalid; the error lists all mistakes.

    """
    path = Path(path)
    data, mistakes = parse(read_text(path), str(path))
    if "topology" in data and "scenario" not in data:
        name = str(path)
        what, step = ("the results of a run", "report") if path.is_dir() else ("a scenario", "run")
        problem = f'is {what}; valid: `becalm {step} {name}`, or a sweep with `scenario = "{path.name}"`'
        raise ScenarioError(f"{name}: {problem}", name)
    if other := other_kind(str(path), set(data), "sweep"):
        raise ScenarioError(f"{path}: {other}", str(path))
    found = checked(data, _Sweep, mistakes)
    base = load(beside(mistakes, "scenario", found.scenario), schemes=schemes).using(schemes)
    spec = Spec(
        file=str(path),
        base=base,
        store=STORE if found.store is None else path.parent / found.store,
        keep=found.keep,
        common=found.common,
        grid=found.grid,
        zip=found.side,
        listed=found.listed,
        random=found.random.drawn() if found.random else None,
        seeds=found.seeds.count or base.replications,
        counted=found.seeds.count is not None,
        first_seed=found.seeds.first,
    )
    _check_whole(spec, mistakes)
    return spec


def _check_whole(spec: Spec, mistakes: Mistakes) -> None:
    parts = {
        "set": spec.common,
        "grid": spec.grid,
        "zip": spec.zip,
        "random": spec.random.ranges if spec.random else {},
    }
    parts["list"] = {key: None for change in spec.listed for key in change}
    for (name, keys), (other, others) in itertools.combinations_with_replacement(parts.items(), 2):
        pairs: Iterable[tuple[str, str]] = itertools.product(keys, others)
        if name == other == "list":
            # Listed points have their own changes.
            pairs = itertools.chain.from_iterable(itertools.product(each, each) for each in spec.listed)
        for key, another in pairs:
            problem = _overlap(name, key, other, another)
            if problem is not None:
                mistakes.add(None, f"{name}.{key}", "", problem, "one of the two")
    for name, keys in parts.items():
        for key in keys:
            _check_seeds(spec, name, key, mistakes)
    count = max(1, len(spec.listed)) * (spec.random.points if spec.random else 1) * spec.seeds
    for values in spec.grid.values():
        count *= len(values)
    count *= max(1, *(len(values) for values in spec.zip.values())) if spec.zip else 1
    if count > MOST:
        mistakes.add(None, "grid", f"{count} runs", f"more than {MOST}", "fewer values, or a random sample")
    mistakes.check()


def _overlap(name: str, key: str, other: str, another: str) -> str | None:
    """Return the problem if two keys are the same, or if one contains the other."""
    if name == "set" and (key == another or another.startswith(f"{key}.")):
        # Values for all points are set before values that differ between points.
        return None
    if name == other and key >= another:
        return None
    if key == another:
        return f"is also changed in [{other}]"
    if key.startswith(f"{another}.") or another.startswith(f"{key}."):
        return f"and {another} in [{other}] change the same value: one would be lost"
    return None


def _check_seeds(spec: Spec, name: str, key: str, mistakes: Mistakes) -> None:
    """Report a change that [seeds] also sets."""
    for setting, given, made in (
        ("run.seed", spec.first_seed is not None, "first"),
        ("run.replications", spec.counted, "count"),
    ):
        if given and (key == setting or setting.startswith(f"{key}.")):
            mistakes.add(
                None, f"{name}.{key}", "", f"and [seeds] {made} change the same value", "one of the two"
            )
