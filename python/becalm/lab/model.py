"""What an experiment is made of: points to run, tables to measure, statements to judge, a figure to draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from becalm.lab.expect import Expectation

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from becalm.results import Results

Label: TypeAlias = str | float | int
Measured: TypeAlias = float | list[float]
Tables: TypeAlias = "dict[str, pl.DataFrame]"
"""Tables by name; every row carries the labels of the point it comes from."""


KINDS = ("paper", "ours", "repeated", "identity")
"""Whose sentence a claim is: the paper's, ours, one that another claim judges, or one that is always true."""


@dataclass(frozen=True)
class Point:
    """One scenario of an experiment, and where it stands on the experiment's axes."""

    labels: dict[str, Label]
    scenario: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A point that has been run."""

    labels: dict[str, Label]
    results: Results


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper that can be judged: how to measure it, and what it says.

    The tolerance of the expectation comes from the sentence's wording or from the spread between seeds; the
    note holds the explanation where the sentence is read in a particular way or does not hold.
    """

    id: str
    quote: str
    paper: float | str
    measure: Callable[[Tables], Measured]
    expect: Expectation
    short: bool = True
    """Whether the reduced version of the experiment can still judge it."""
    note: str = ""
    kind: str = KINDS[0]
    """One of `KINDS`."""


@dataclass(frozen=True)
class Claim:
    """A statement with its verdict."""

    id: str
    quote: str
    paper: float | str
    measured: Measured
    tolerance: str
    holds: bool
    note: str = ""
    kind: str = KINDS[0]

    def to_json(self) -> dict[str, Any]:
        """Return the claim as plain data; `note` and `kind` only where they say something."""
        data: dict[str, Any] = {
            "id": self.id,
            "quote": self.quote,
            "paper": self.paper,
            "measured": self.measured,
            "tolerance": self.tolerance,
            "holds": self.holds,
        }
        if self.note:
            data["note"] = self.note
        if self.kind != KINDS[0]:
            data["kind"] = self.kind
        return data


@dataclass(frozen=True)
class Experiment:
    """A figure of a paper, or a remark in its text."""

    id: str
    """`paper/figure`, as in `santos2003/fig2`."""
    title: str
    cost: float
    """Seconds of one core for the whole experiment, roughly."""
    points: Callable[[bool], list[Point]]
    """The scenarios; `True` asks for the reduced version."""
    draw: Callable[[Tables], Figure]
    measure: Callable[[list[Outcome]], Tables]
    """Turns the results of all points into the tables that measures and figures read."""
    statements: tuple[Statement, ...] = ()
    """What the experiment is judged by; the registry reads it from the paper's claims."""

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

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the verdicts as plain data."""
        return {"id": self.id, "claims": [claim.to_json() for claim in self.claims]}
