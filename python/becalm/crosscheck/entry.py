"""Entries: another program's results for a scene, read from `reference.toml`.

title = "Incasts with PFC alone"

[program]                       # see `Program`
name = "ns-3 of HPCC"
...

[quantities.last]               # one table per quantity, see `Quantity`
name = "last flow"
measure = "completion_max"      # a function of `becalm.crosscheck.measure`
unit = "us"
kind = "deterministic"          # one of `KINDS`

[[cases]]                       # one table per run, see `Case`
name = "8 hosts"
set = {"flows.incast.from" = ["S1..S8"]}
peer = {hosts = 8}
values = {last = 668.1}
why = {}

Tolerances by kind of quantity apply to all entries and were fixed before any comparison.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from becalm.base.errors import BecalmError
from becalm.base.mistakes import read_text
from becalm.crosscheck.measure import MEASURES
from becalm.scenario import Scenario, load


@dataclass(frozen=True)
class Kind:
    """A kind of quantity."""

    name: str
    tolerance: float
    """Largest difference as a share of the reference; for a distribution, the smallest p."""
    meaning: str

    @property
    def shown(self) -> str:
        """The tolerance as text."""
        return f"p > {self.tolerance:g}" if self.name == "distribution" else f"{self.tolerance:.1%}"


KINDS = {
    kind.name: kind
    for kind in (
        Kind("equal", 0.001, "a time that both programs derive from the same rules"),
        Kind("deterministic", 0.01, "a quantity of a scene without randomness or control"),
        Kind("mean", 0.05, "a mean with congestion control or with random traffic"),
        Kind("percentile", 0.10, "the median or the 99th percentile of a distribution"),
        Kind("distribution", 0.01, "samples from at least 4 runs, compared by a Kolmogorov-Smirnov test"),
    )
}
"""Kinds by name."""


def difference(reference: float, becalm: float) -> float:
    """Return the difference as a share of the reference; infinite if only the reference is 0."""
    if becalm == reference:
        return 0.0
    return (becalm - reference) / abs(reference) if reference else math.inf


def same_distribution(one: Sequence[float], other: Sequence[float]) -> float:
    """Return p of the two-sample Kolmogorov-Smirnov test.

    p is the probability that two samples from one distribution differ at least this much. The test uses the
    asymptotic distribution with Stephens' correction for finite samples (Press et al., Numerical Recipes,
    14.3).

    Args:
        one: at least one sample.
        other: at least one sample.

    """
    first, second = np.sort(one), np.sort(other)
    shares = [each.searchsorted([*first, *second], "right") / len(each) for each in (first, second)]
    size = math.sqrt(len(first) * len(second) / (len(first) + len(second)))
    return _kolmogorov((size + 0.12 + 0.11 / size) * float(abs(shares[0] - shares[1]).max()))


def _kolmogorov(x: float) -> float:
    """Return the probability of a deviation above x: 2 sum (-1)^(k-1) exp(-2 k^2 x^2)."""
    if x < 0.2:
        return 1.0
    terms = ((1 if k % 2 else -1) * math.exp(-2 * (k * x) ** 2) for k in range(1, 101))
    return min(max(2 * sum(terms), 0.0), 1.0)


_HERE = Path(__file__).parents[1] / "crosschecks"
# In a checkout the folder is a link, which not every system supports.
FOLDER = _HERE if _HERE.is_dir() else Path(__file__).parents[3] / "crosschecks"
"""Folder of the entries that are installed with becalm."""
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "B": 1.0, "kB": 1e3, "Gb/s": 1.25e8, "": 1.0}
"""Sizes of units in SI units. `Quantity.scale` defines any other unit."""


FORMULA = "closed form"
"""Name of the program of an entry that compares with closed forms."""


@dataclass(frozen=True)
class Program:
    """The other program, or the source of closed forms, and how the reference was made."""

    name: str
    """Its name, or `FORMULA`."""
    version: str
    """Version or commit, with its date; the source of a closed form."""
    source: str
    licence: str
    made: str
    """Date of the reference."""
    built: str
    """Compiler and options."""
    parameters: str
    """Description of parameters and input files. `Case.peer` contains the parameters of a single case."""
    again: str = ""
    """Script that reproduces the reference with the user's own copy of the program."""


@dataclass(frozen=True)
class Quantity:
    """A quantity that both programs report."""

    key: str
    name: str
    measure: str
    """Name in `becalm.crosscheck.measure.MEASURES`."""
    kind: Kind
    unit: str = ""
    scale: float = 1.0
    """Size of `unit` in SI units."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the measure."""


@dataclass(frozen=True)
class Case:
    """One run, and the other program's results for it."""

    name: str
    values: Mapping[str, float | tuple[float, ...]]
    """Reference values by key of the quantity; samples for a distribution."""
    changes: Mapping[str, Any]
    """Changes to the scenario, as `Scenario.replace` accepts them."""
    scenario: str
    """File of the scenario."""
    seeds: int
    """Number of seeds of becalm's runs. The mean over the seeds is compared."""
    peer: Mapping[str, Any]
    """Parameters of the other program for this case."""
    why: Mapping[str, str]
    """Explanation of each quantity outside its tolerance, by key."""
    spread: Mapping[str, float]
    """Half the range over the other program's seeds, by key."""
    x: float | None = None
    """Horizontal position in the picture."""


@dataclass(frozen=True)
class Picture:
    """Figure of the entry: quantities over the cases' `x`, or distributions."""

    x: str
    y: str
    quantities: tuple[str, ...]
    log: bool = False
    """Whether the axis of the quantities is logarithmic."""


@dataclass(frozen=True)
class Entry:
    """A scene that another program has simulated."""

    name: str
    title: str
    folder: Path
    program: Program
    quantities: Mapping[str, Quantity]
    cases: tuple[Case, ...]
    picture: Picture
    short: bool
    """Whether the short comparison, which runs with every change, includes the entry."""

    def scenario(self, case: Case) -> Scenario:
        """Return the scenario of a case.

        Raises:
            ScenarioError: the scenario has mistakes.

        """
        scenario = load(self.folder / case.scenario)
        return scenario.replace(case.changes) if case.changes else scenario


def names() -> list[str]:
    """Return the names of all entries."""
    return sorted(path.parent.name for path in FOLDER.glob("*/reference.toml"))


def find(name: str, folder: Path | None = None) -> Entry:
    """Read an entry by its name, from `folder` or from the installed entries.

    Raises:
        BecalmError: the entry does not exist or has mistakes.

    """
    folder = FOLDER if folder is None else folder
    file = folder / name / "reference.toml"
    if not file.is_file():
        raise BecalmError(f"`{name}`: no such entry; valid: {', '.join(names())}")
    try:
        return _read(name, file.parent, tomllib.loads(read_text(file)))
    except (KeyError, TypeError, ValueError) as error:
        raise BecalmError(f"{name}/{file.name}: {type(error).__name__}: {error}") from error


def _read(name: str, folder: Path, data: dict[str, Any]) -> Entry:
    quantities = {key: _quantity(key, dict(table)) for key, table in data["quantities"].items()}
    program = data["program"]
    return Entry(
        name,
        data["title"],
        folder,
        Program(**{key: str(value) for key, value in program.items()}),
        quantities,
        tuple(_case(folder, quantities, case) for case in data["cases"]),
        Picture(**{**data["picture"], "quantities": tuple(data["picture"]["quantities"])}),
        data.get("short", False),
    )


def _quantity(key: str, table: dict[str, Any]) -> Quantity:
    unit, kind, measure = table.pop("unit", ""), table.pop("kind"), table.pop("measure")
    if kind not in KINDS:
        raise ValueError(f"quantities.{key}.kind = {kind!r}; valid: {', '.join(KINDS)}")
    if measure not in MEASURES:
        raise ValueError(f"quantities.{key}.measure = {measure!r}; valid: {', '.join(MEASURES)}")
    if "scale" not in table and unit not in UNITS:
        raise ValueError(f"quantities.{key}.unit = {unit!r}; valid: {', '.join(UNITS)}, or any with `scale`")
    scale = table.pop("scale", UNITS.get(unit, 1.0))
    return Quantity(key, table.pop("name"), measure, KINDS[kind], unit, scale, table)


def _case(folder: Path, quantities: Mapping[str, Quantity], table: dict[str, Any]) -> Case:
    for part in ("values", "why", "spread"):
        for key in table.get(part, {}):
            if key not in (quantities if part == "values" else table["values"]):
                raise ValueError(f"case {table['name']!r}, {part}: no quantity {key!r}")
    return Case(
        table["name"],
        {key: _value(folder, value) for key, value in table["values"].items()},
        table.get("set", {}),
        table.get("scenario", "scenario.toml"),
        table.get("seeds", 1),
        table.get("peer", {}),
        table.get("why", {}),
        table.get("spread", {}),
        table.get("x"),
    )


def _value(folder: Path, value: float | str) -> float | tuple[float, ...]:
    """Return a number, or the samples of a file with one number per line."""
    if isinstance(value, str):
        return tuple(float(line) for line in (folder / value).read_text(encoding="utf-8").split())
    return float(value)
