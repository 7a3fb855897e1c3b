"""Parts of an experiment: points to run, tables to measure, statements to judge, and a figure to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from becalm.base.intervals import Interval, mean_interval
from becalm.base.jsons import number
from becalm.lab.expect import FAILS, HOLDS, UNDECIDED, WEAK, Expectation
from becalm.lab.printed import Drawn

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from becalm.results import Results
    from becalm.schemes.loading import Provided

Label: TypeAlias = str | float | int
Measured: TypeAlias = float | list[float]
Tables: TypeAlias = "dict[str, pl.DataFrame]"
"""Tables by name. Every row contains the labels of its point."""
Table: TypeAlias = dict[str, Any]
"""A scenario, or a part of one."""
Change: TypeAlias = Callable[[Table], Table]
"""A function that returns a changed scenario."""


KINDS = ("paper", "ours", "repeated", "identity", "derived")
"""Kinds of claims. Only `paper` is scored.

- `paper`: a sentence of the paper that could fail here;
- `ours`: a setting or bound that we chose and that the quote does not contain;
- `repeated`: a sentence about a scene that another claim judges;
- `identity`: a consequence of the scene or the model, so it cannot fail;
- `derived`: a closed form's prediction for the paper's scene; it could fail here, and quotes no sentence.
"""

JUDGED = ("paper", "derived")
"""Kinds of claims whose failure makes the experiment fail."""

CLASSES = {
    "a": "the sentence contradicts the paper itself, or a physical or mathematical law",
    "b": "the paper does not state a decisive parameter",
    "c": "becalm's model lacks a feature, or differs from the paper's",
    "metric": "the measure does not quite match the sentence",
    "noise": "the effect is smaller than the spread between runs",
}
"""Reasons why a claim does not hold. Class `a` requires a proof."""


THEMES = {
    "feedback": "Fast feedback",
    "window": "A window of one packet",
    "fairness": "Fairness of marking",
    "parameters": "Stiffness of parameters",
}
"""Topics of several papers: the sections of the page across the papers."""


@dataclass(frozen=True)
class Point:
    """One scenario of an experiment, and its position on the experiment's axes."""

    labels: dict[str, Label]
    scenario: Table
    draw: int = 0
    """Number of the random sample, if the experiment runs several samples per seed."""
    schemes: Sequence[Provided] = ()
    """User-defined schemes that the scenario names."""


def grid(
    scene: Callable[..., Table], short: Mapping[str, Sequence[Label]] | None = None, **axes: Sequence[Label]
) -> Callable[[bool], list[Point]]:
    """Return a function that returns the points of a grid. The last axis varies fastest.

    Args:
        scene: function that returns the scenario of a point. Its arguments are whether the reduced version
            is wanted, and the labels of the point by name.
        short: axes with fewer values in the reduced version.
        axes: values by label.

    """

    def points(reduced: bool) -> list[Point]:
        values = {**axes, **((short or {}) if reduced else {})}
        every = [dict(zip(values, place, strict=True)) for place in product(*values.values())]
        return [Point(labels, scene(reduced, **labels)) for labels in every]

    return points


@dataclass(frozen=True)
class Outcome:
    """A point with its results."""

    labels: dict[str, Label]
    results: Results


@dataclass(frozen=True)
class Remarks:
    """Remarks on a claim, in addition to its quote and its numbers."""

    note: str = ""
    """Interpretation of the sentence, or the reason why it does not hold."""
    kind: str = KINDS[0]
    """One of `KINDS`."""
    class_: str = ""
    """One of `CLASSES`, or nothing."""
    proof: str = ""
    """Location of the proof that the claim cannot hold, as page and heading: `PAPER/readings.md#heading`."""
    reading: str = ""
    """Location of a comparison of the interpretations that were tried, in the same form."""
    theme: str = ""
    """One of `THEMES`, or nothing."""

    def to_json(self) -> dict[str, str]:
        """Return `kind` and all non-empty remarks."""
        rest = {"class": self.class_, "proof": self.proof, "reading": self.reading, "theme": self.theme}
        rest["note"] = self.note
        return {"kind": self.kind, **{key: value for key, value in rest.items() if value}}


@dataclass(frozen=True)
class Null:
    """The null of a claim: see `becalm.lab.nulls`."""

    words: str
    """Description of the change, or the reason for having no null."""
    change: Change | None = None
    """Change to the scenarios; None: no change."""
    measure: Callable[[Tables], Measured] | None = None
    """The measure with other arguments; None: the claim's own."""

    @property
    def is_run(self) -> bool:
        """Whether the null measures anything."""
        return self.change is not None or self.measure is not None


@dataclass(frozen=True)
class Against:
    """A claim's null, with its verdict."""

    words: str
    mean: Measured | None = None
    """Mean of the measured values; None if nothing was measured."""
    verdict: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the null and verdict as plain data."""
        judged = {} if self.mean is None else {"mean": self.mean, "verdict": self.verdict}
        return {"is": self.words, **judged}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Against:
        """Create a null and verdict from the output of `to_json`."""
        mean, verdict = data.get("mean"), data.get("verdict", "")
        # JSON has no NaN, the mean of a null whose subject does not occur.
        alone = (math.nan if verdict else None) if mean is None else mean
        listed = (
            list(map(number, mean)) if isinstance(mean, list) else None if alone is None else number(alone)
        )
        return Against(data["is"], listed, verdict)


@dataclass(frozen=True)
class Statement:
    """A testable sentence of a paper, with its measure and its expectation.

    The wording determines the tolerance of the expectation. Sentences with the same wording have the same
    tolerance.
    """

    id: str
    quote: str
    paper: float | str
    measure: Callable[[Tables], Measured]
    expect: Expectation
    short: bool = True
    """Whether the reduced version of the experiment can judge the statement."""
    remarks: Remarks = Remarks()
    drawn: Drawn | None = None
    """Position of the paper's value in the figure."""
    null: Null | None = None
    """The statement's null; None: the statement is not scored."""


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
    """`holds`, `fails` or `undecided`: see `becalm.lab.expect`."""
    remarks: Remarks = Remarks()
    null: Against | None = None
    """The claim's null with its verdict; None: the claim has no null, or the null was not run."""

    @property
    def standing(self) -> str:
        """The verdict, or `weak` if both the claim and its null hold."""
        passed = self.null is not None and self.null.verdict == HOLDS
        return WEAK if self.verdict == HOLDS and passed else self.verdict

    @property
    def note(self) -> str:
        """Interpretation of the sentence, or the reason why it does not hold."""
        return self.remarks.note

    @property
    def sentence(self) -> str:
        """The quote in quotation marks, then the note; only the note for a derived claim."""
        quote = f'"{self.quote}"' if self.quote else ""
        return " ".join(part for part in (quote, self.note.strip()) if part)

    @property
    def kind(self) -> str:
        """The claim's kind, one of `KINDS`."""
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
        """Mean over the seeds, or a list of means if the measure returns a list."""
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
        """Create a claim from the output of `to_json`."""
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
    """Round a value to six significant digits, since more would suggest false precision."""
    return float(f"{value:.6g}")


@dataclass(frozen=True)
class Experiment:
    """A figure of a paper, or a remark in its text."""

    id: str
    """`paper/figure`, as in `santos2003/fig2`."""
    title: str
    cost: float
    """Approximate core-seconds of the entire experiment."""
    points: Callable[[bool], list[Point]]
    """Function that returns the points; `True` requests the reduced version."""
    draw: Callable[[Tables], Figure]
    measure: Callable[[list[Outcome]], Tables]
    """Function that converts the results of all points to the tables that measures and figures read."""
    statements: tuple[Statement, ...] = ()
    """Statements that judge the experiment. `becalm.lab.discovery` reads them from the paper's claims."""
    phase: str | None = None
    """Maximum random delay of the sources' starts; None: `PHASE` of the paper's package."""
    seeded: bool = True
    """Whether results depend on the seed. If not, one run is enough."""

    def runs(self, short: bool) -> list[Point]:
        """Return the scenarios to run, with random phases of the sources' starts."""
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
    """The results and verdicts of an experiment."""

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
        """Create a report from the output of `to_json`."""
        claims = [Claim.from_json(each) for each in data["claims"]]
        source: dict[str, str] = {key: data[key] for key in ("commit", "date") if key in data}
        return Report(data["id"], data["title"], claims, source=source)


def spread(scenario: Table, phase: str) -> Table:
    """Return a scenario whose sources start up to `phase` later, at random times that depend on the seed.

    Groups that already define a spread keep it. Poisson arrivals have no phase.
    """
    if not phase:
        return scenario
    flows = [
        group if "poisson" in group.get("traffic", {}) else {"start_spread": phase, **group}
        for group in scenario["flows"]
    ]
    return {**scenario, "flows": flows}
