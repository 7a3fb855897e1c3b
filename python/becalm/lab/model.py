"""The parts of an experiment: points to run, tables to measure, statements to judge, a figure to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from becalm.intervals import Interval, mean_interval
from becalm.jsons import number
from becalm.lab.expect import Expectation
from becalm.lab.printed import Drawn
from becalm.lab.verdict import FAILS, HOLDS, UNDECIDED, WEAK

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from becalm.results import Results
    from becalm.schemes.loading import Provided

Label: TypeAlias = str | float | int
Measured: TypeAlias = float | list[float]
Tables: TypeAlias = "dict[str, pl.DataFrame]"
"""Tables by name; every row carries the labels of the point it comes from."""
Table: TypeAlias = dict[str, Any]
"""A scenario, or a part of one."""
Change: TypeAlias = Callable[[Table], Table]
"""A function from a scenario to another one."""


KINDS = ("paper", "ours", "repeated", "identity", "derived")
"""What a claim counts as; only `paper` is scored.

- `paper`: a sentence of the paper that could fail here;
- `ours`: what its quote does not say: a setting or a bound of our own;
- `repeated`: a sentence about a scene that another claim judges;
- `identity`: what follows from the scene or the model itself, and cannot fail;
- `derived`: what a closed form says about the paper's scene: it could fail here, and quotes no sentence.
"""

JUDGED = ("paper", "derived")
"""Kinds of claims whose failure is a failure of the experiment."""

CLASSES = {
    "a": "the sentence contradicts the paper itself or a law",
    "b": "the paper does not state a parameter that decides",
    "c": "the model lacks something, or differs",
    "metric": "the measure is not quite what the sentence means",
    "noise": "the effect is smaller than the spread of the runs",
}
"""Why a claim does not hold; with `a` there is a proof."""


THEMES = {
    "feedback": "Fast feedback",
    "window": "A window of one packet",
    "fairness": "Fairness of marking",
    "parameters": "Stiffness of parameters",
}
"""Topics of several papers: the parts of the page across them."""


@dataclass(frozen=True)
class Point:
    """One scenario of an experiment, and its position on the experiment's axes."""

    labels: dict[str, Label]
    scenario: dict[str, Any]
    draw: int = 0
    """Number of the draw of everything random, if one seed has several draws: see `Lab`."""
    schemes: Sequence[Provided] = ()
    """User-defined schemes that the scenario names."""


@dataclass(frozen=True)
class Outcome:
    """A point that has been run."""

    labels: dict[str, Label]
    results: Results


@dataclass(frozen=True)
class Remarks:
    """Remarks on a claim, in addition to its quote and its numbers."""

    note: str = ""
    """How the sentence is read, or why it does not hold."""
    kind: str = KINDS[0]
    """One of `KINDS`."""
    class_: str = ""
    """One of `CLASSES`, or nothing."""
    proof: str = ""
    """Place of the proof that it cannot hold: a page and a heading, such as `PAPER/readings.md#heading`."""
    reading: str = ""
    """Place of a comparison of the readings that were tried, likewise."""
    theme: str = ""
    """One of `THEMES`, or nothing."""

    def to_json(self) -> dict[str, str]:
        """Return `kind`, and those of the others that are not empty."""
        rest = {"class": self.class_, "proof": self.proof, "reading": self.reading, "theme": self.theme}
        rest["note"] = self.note
        return {"kind": self.kind, **{key: value for key, value in rest.items() if value}}


@dataclass(frozen=True)
class Null:
    """What a claim is compared with: see `becalm.lab.nulls`."""

    words: str
    """What is changed, or the reason why nothing is."""
    change: Change | None = None
    """Change of the scenarios; None: they stay the same."""
    measure: Callable[[Tables], Measured] | None = None
    """The measure with other arguments; None: the claim's own."""

    @property
    def is_run(self) -> bool:
        """Whether there is something to measure."""
        return self.change is not None or self.measure is not None


@dataclass(frozen=True)
class Against:
    """A claim's null, with its verdict."""

    words: str
    mean: Measured | None = None
    """Mean of the measured values; None if nothing was measured."""
    verdict: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        judged = {} if self.mean is None else {"mean": self.mean, "verdict": self.verdict}
        return {"is": self.words, **judged}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Against:
        """Make it from what `to_json` returned."""
        mean = data.get("mean")
        listed = list(map(number, mean)) if isinstance(mean, list) else None if mean is None else number(mean)
        return Against(data["is"], listed, data.get("verdict", ""))


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper that can be judged: how to measure it, and what it says.

    The tolerance of the expectation follows from the sentence's wording: the same wording has the same one.
    """

    id: str
    quote: str
    paper: float | str
    measure: Callable[[Tables], Measured]
    expect: Expectation
    short: bool = True
    """Whether the reduced version of the experiment can still judge it."""
    remarks: Remarks = Remarks()
    drawn: Drawn | None = None
    """Position of its value in the figure."""
    null: Null | None = None
    """What it is compared with; None: it is not scored."""


@dataclass(frozen=True)
class Claim:
    """A statement with its verdict over the seeds."""

    id: str
    quote: str
    paper: float | str
    seeds: list[int]
    values: list[Measured]
    """Measured values, by seed."""
    tolerance: str
    verdict: str
    """`holds`, `fails` or `undecided`: see `becalm.lab.verdict`."""
    remarks: Remarks = Remarks()
    null: Against | None = None
    """Its null; None: it has none, or it was not run."""

    @property
    def standing(self) -> str:
        """The verdict, or `weak`: it holds, and so does its null."""
        passed = self.null is not None and self.null.verdict == HOLDS
        return WEAK if self.verdict == HOLDS and passed else self.verdict

    @property
    def note(self) -> str:
        """How the sentence is read, or why it does not hold."""
        return self.remarks.note

    @property
    def sentence(self) -> str:
        """The quote in quotation marks and the note; for a derived claim, only the note."""
        quote = f'"{self.quote}"' if self.quote else ""
        return " ".join(part for part in (quote, self.note.strip()) if part)

    @property
    def kind(self) -> str:
        """What it counts as: one of `KINDS`."""
        return self.remarks.kind

    @property
    def holds(self) -> bool:
        """Whether the claim holds."""
        return self.verdict == HOLDS

    @property
    def intervals(self) -> list[Interval]:
        """Mean and 95% confidence interval of each value; for infinite values, all three are the median."""
        return [_interval(values) for values in zip(*map(_listed, self.values), strict=True)]

    @property
    def mean(self) -> Measured:
        """Mean over the seeds: a list if the measure returns one."""
        means = [interval.mean for interval in self.intervals]
        return means if isinstance(self.values[0], list) else means[0]

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain data; `interval` is null if only one seed was run."""
        ends = [[_rounded(each.low), _rounded(each.high)] for each in self.intervals]
        several = isinstance(self.values[0], list)
        return {
            "id": self.id,
            "quote": self.quote,
            "paper": self.paper,
            "tolerance": self.tolerance,
            "seeds": self.seeds,
            "values": self.values,
            "mean": [_rounded(mean) for mean in self.mean]
            if isinstance(self.mean, list)
            else _rounded(self.mean),
            "interval": None if len(self.seeds) == 1 else ends if several else ends[0],
            "verdict": self.verdict,
            **({} if self.null is None else {"null": self.null.to_json()}),
            **self.remarks.to_json(),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Claim:
        """Make a claim from what `to_json` returned."""
        said = {key: data.get(key, "") for key in ("note", "kind", "proof", "reading", "theme")}
        own = {key: data[key] for key in ("id", "quote", "paper", "seeds", "tolerance", "verdict")}
        values = [
            list(map(number, each)) if isinstance(each, list) else number(each) for each in data["values"]
        ]
        null = Against.from_json(data["null"]) if "null" in data else None
        return Claim(**own, values=values, remarks=Remarks(class_=data.get("class", ""), **said), null=null)


def _listed(measured: Measured) -> list[float]:
    return measured if isinstance(measured, list) else [measured]


def _interval(values: Sequence[float]) -> Interval:
    if all(math.isfinite(value) for value in values):
        return mean_interval(values)
    middle = sorted(values)[len(values) // 2]
    return Interval(middle, middle, middle)


def _rounded(value: float) -> float:
    """Return a value with six significant digits: more would only look exact."""
    return float(f"{value:.6g}")


@dataclass(frozen=True)
class Experiment:
    """A figure of a paper, or a remark in its text."""

    id: str
    """`paper/figure`, as in `santos2003/fig2`."""
    title: str
    cost: float
    """Approximate core-seconds of the whole experiment."""
    points: Callable[[bool], list[Point]]
    """The scenarios; `True` requests the reduced version."""
    draw: Callable[[Tables], Figure]
    measure: Callable[[list[Outcome]], Tables]
    """Turns the results of all points into the tables that measures and figures read."""
    statements: tuple[Statement, ...] = ()
    """Statements by which the experiment is judged; the registry reads them from the paper's claims."""
    phase: str | None = None
    """Maximum delay of the starts of sources, drawn by the seed; None: `PHASE` of the paper's package."""
    seeded: bool = True
    """Whether anything depends on the seed; if not, one run is enough."""

    def runs(self, short: bool) -> list[Point]:
        """Return the scenarios as they are run: with random phases of the sources' starts."""
        phase = self.phase or ""
        return [replace(point, scenario=spread(point.scenario, phase)) for point in self.points(short)]

    @property
    def paper(self) -> str:
        """The paper's name: first author and year."""
        return self.id.split("/")[0]

    @property
    def figure(self) -> str:
        """The figure's name within its paper."""
        return self.id.split("/")[1]


@dataclass(frozen=True)
class Report:
    """An experiment that has been run and judged."""

    id: str
    title: str
    claims: list[Claim]
    figures: list[Path] = field(default_factory=list)
    tables: Tables = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    """Origin of committed verdicts: `commit` and `date`."""

    @property
    def fails(self) -> bool:
        """Whether a sentence of the paper or a derived claim fails."""
        return self._any(FAILS)

    @property
    def undecided(self) -> bool:
        """Whether a sentence of the paper or a derived claim is undecided."""
        return self._any(UNDECIDED)

    def _any(self, verdict: str) -> bool:
        return any(claim.verdict == verdict and claim.kind in JUDGED for claim in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the verdicts as plain data."""
        claims = [claim.to_json() for claim in self.claims]
        return {"id": self.id, "title": self.title, **self.source, "claims": claims}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Report:
        """Make a report from what `to_json` returned."""
        claims = [Claim.from_json(each) for each in data["claims"]]
        source: dict[str, str] = {key: data[key] for key in ("commit", "date") if key in data}
        return Report(data["id"], data["title"], claims, source=source)


def spread(scenario: dict[str, Any], phase: str) -> dict[str, Any]:
    """Return a scenario whose sources begin up to `phase` later, by times drawn from the seed.

    Groups with a spread of their own keep it; Poisson arrivals have no phase.
    """
    if not phase:
        return scenario
    flows = [
        group if "poisson" in group.get("traffic", {}) else {"start_spread": phase, **group}
        for group in scenario["flows"]
    ]
    return {**scenario, "flows": flows}
