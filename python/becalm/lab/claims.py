"""Claims as data: `papers/<paper>/claims.toml`, one `[[figure]]` table per claim.

    [[fig4a]]
    id = "root_share"
    quote = "the root link has high utilization"
    paper = "> 0.9"
    at_least = 0.9
    measure = "lab.tables.at"
    args = { column = "root" }
    each = { threshold = [6, 8, 16] }
    note = "Without the smallest buffers."

| key | meaning |
|---|---|
| `id` | the claim's name within its figure |
| `quote` | the paper's sentence; not allowed for a `derived` claim |
| `paper` | the paper's value: a number, a short version of the sentence, or the value of a closed form |
| keys of `becalm.lab.expect` | definition of the expected values |
| `measure` | `function` or `module.function` of the paper's package, or of `common` or `lab` |
| `args` | arguments of the measure in addition to the tables |
| `each` | arguments with lists of values; the measure is called with every combination of values |
| `null` | the claim's null: see `becalm.lab.nulls`; scored claims must have one, and others may not |
| `theme` | the claim's section on the page across the papers: see `THEMES` in `becalm.lab.model` |
| `short` | false if the reduced version of the experiment cannot judge the claim |
| `kind` | kind of the claim: `paper` (the default) or another of `KINDS` |
| `class` | reason why the claim does not hold: `a`, `b`, `c`, `metric` or `noise`; see `CLASSES` |
| `proof` | link to the proof that the claim cannot hold: `PAPER/readings.md#anchor` |
| `reading` | link to a comparison of the interpretations that were tried, in the same form |
| `note` | interpretation of the sentence, or reason why it does not hold; statement of a derived claim |
| `drawn` | position of the value in the figure: see `becalm.lab.printed` |
| `same_as` | `paper/figure/id` of a claim with the same wording; its keys apply unless overridden here |
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, cast

from pydantic import AfterValidator, Field, create_model

from becalm.base.documents import Part, Table, noted, one_of, parse, wrong
from becalm.base.errors import BecalmError, ScenarioError
from becalm.base.mistakes import Mistakes
from becalm.lab.expect import KEYS as EXPECTED
from becalm.lab.expect import Expectation, expectation, is_number
from becalm.lab.model import CLASSES, KINDS, THEMES, Change, Measured, Null, Remarks, Statement, Tables
from becalm.lab.nulls import GENERAL, NONE
from becalm.lab.printed import Drawn

Entry: TypeAlias = Mapping[str, Any]
Measures: TypeAlias = Callable[[str, str], Callable[..., Any]]
"""Finds a paper's measure by name, or raises `LookupError` with the valid names."""
Changes: TypeAlias = Callable[[str], Mapping[str, Change]]
"""Finds the changes that the nulls of a paper's claims may name."""

REMARKS = ("note", "kind", "class", "proof", "reading", "theme")
TABLES = ("args", "each", "drawn")
REQUIRED = ("quote", "paper", "measure")
DERIVED = ("note", "paper", "measure")
"""Keys that a derived claim requires. Such a claim quotes no sentence, so its note states the claim."""


def _null(value: object) -> object:
    words = value[len(NONE) :] if isinstance(value, str) and value.startswith(NONE) else value
    if not (isinstance(words, str | dict) and words):
        raise wrong(f"must be the name of a change, a table of arguments, or {NONE!r} and a reason")
    return value


def _paper(value: object) -> object:
    if not (is_number(value) or (isinstance(value, str) and value)):
        raise wrong("must be a number or a string")
    return value


_PAGE = r"\.md#"
_HEADING = "a page and a heading, such as PAPER/readings.md#heading"


class _Keys(Part):
    """The keys of a claim, without its expectation's keys."""

    id: str = Field(min_length=1, description="a string")
    quote: str | None = None
    measure: str | None = None
    same_as: str | None = None
    note: str | None = None
    kind: Annotated[str, one_of(list(KINDS))] | None = None
    class_: Annotated[str, one_of(list(CLASSES))] | None = Field(None, alias="class")
    proof: str | None = Field(None, pattern=_PAGE, description=_HEADING)
    reading: str | None = Field(None, pattern=_PAGE, description=_HEADING)
    paper: Annotated[Any, AfterValidator(_paper)] = None
    args: Table | None = None
    each: dict[str, Annotated[list[Any], Field(min_length=1)]] | None = None
    drawn: Drawn | None = None
    short: bool = True
    null: Annotated[Any, AfterValidator(_null)] = None
    theme: Annotated[str, one_of(list(THEMES))] | None = None


_Claim = create_model("_Claim", __base__=_Keys, **dict.fromkeys(EXPECTED, (Any, None)))  # type: ignore[call-overload]


class ClaimsError(BecalmError, ValueError):
    """A file of claims has mistakes. The message lists them, one per line."""


@dataclass(frozen=True)
class Measure:
    """A function of an experiment's tables, with its arguments."""

    function: Callable[..., Any]
    args: Mapping[str, Any]
    each: Mapping[str, list[Any]]
    """Arguments with several values. The function is called with every combination, the last fastest."""

    def __call__(self, tables: Tables) -> Measured:
        """Return the measured value, or a list if there are several values or the function returns a list."""
        if not self.each:
            return cast("Measured", self.function(tables, **self.args))
        return [self.function(tables, **self.args, **chosen) for chosen in self._combinations()]

    def instead(self, args: Mapping[str, Any]) -> Measure:
        """Return the measure with different values of some arguments."""
        each = {name: values for name, values in self.each.items() if name not in args}
        return Measure(self.function, {**self.args, **args}, each)

    def check(self) -> None:
        """Check the names of the arguments.

        Raises:
            TypeError: the function does not accept an argument, or an argument is missing.

        """
        signature = inspect.signature(self.function)
        for chosen in self._combinations():
            signature.bind(None, **self.args, **chosen)

    def _combinations(self) -> Iterable[dict[str, Any]]:
        values = itertools.product(*self.each.values())
        return (dict(zip(self.each, chosen, strict=True)) for chosen in values)


@dataclass(frozen=True)
class Source:
    """The content of a file of claims: the claims of each figure by name, and the mistakes so far."""

    paper: str
    figures: dict[str, dict[str, Entry]]
    places: dict[tuple[str, str], str]
    """Paths of claims in the file, such as `fig4a[0]`, by figure and name."""
    mistakes: Mistakes


def read(paper: str, file: str, text: str) -> Source:
    """Read a file of claims without checking the claims' contents.

    Args:
        paper: name of the paper.
        file: name of the file in messages.
        text: its content.

    Raises:
        ClaimsError: the file is not TOML.

    """
    try:
        data, mistakes = parse(text, file)
    except ScenarioError as error:
        raise ClaimsError(str(error)) from error
    source = Source(paper, {}, {}, mistakes)
    for figure, claims in data.items():
        if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
            mistakes.add(None, figure, "", "must be tables of claims", f"[[{figure}]]")
            continue
        named = source.figures.setdefault(figure, {})
        for place, claim in enumerate(claims):
            at = f"{figure}[{place}]"
            if noted(claim, _Claim, mistakes, at) is None:
                continue
            if claim["id"] in named:
                mistakes.add(None, f"{at}.id", repr(claim["id"]), "a second claim with this id")
                continue
            named[claim["id"]] = claim
            source.places[figure, claim["id"]] = at
    return source


def statements(
    source: Source,
    figures: Iterable[str],
    measures: Measures,
    others: Callable[[str], Source],
    changes: Changes = lambda _: GENERAL,
) -> dict[str, tuple[Statement, ...]]:
    """Convert a file of claims to the statements of each figure, in the order of the file.

    Args:
        source: the file.
        figures: the paper's figures; each must have a claim.
        measures: finds the functions that claims name.
        others: reads the claims of another paper, for `same_as`; raises `LookupError` with the valid names.
        changes: finds the changes for the nulls of a paper.

    Raises:
        ClaimsError: there are mistakes. The message lists all with file, figure, claim and valid values.

    """
    figures, mistakes = list(figures), source.mistakes
    for figure in source.figures:
        if figure not in figures:
            mistakes.add(None, figure, "", "no such figure", ", ".join(figures))
    for figure in figures:
        if figure not in source.figures:
            mistakes.add(None, figure, "", "has no claim")
    made: dict[str, list[Statement]] = {figure: [] for figure in figures}
    for figure, claims in source.figures.items():
        for name, claim in claims.items():
            try:
                statement = _statement(source.paper, claim, measures, others, changes(source.paper))
            except (ValueError, LookupError) as error:
                for problem in error.args:
                    mistakes.add(None, source.places[figure, name], "", f"{name}: {problem}")
            else:
                made.setdefault(figure, []).append(statement)
    try:
        mistakes.check()
    except ScenarioError as error:
        raise ClaimsError(str(error)) from error
    return {figure: tuple(made[figure]) for figure in figures}


def _statement(
    paper: str,
    claim: Entry,
    measures: Measures,
    others: Callable[[str], Source],
    changes: Mapping[str, Change],
) -> Statement:
    home = paper
    if "null" in claim and claim.get("kind", KINDS[0]) != KINDS[0]:
        raise ValueError("null: only for claims that are scored")
    if "same_as" in claim:
        model, model_paper = _model(claim["same_as"], others)
        home = paper if "measure" in claim else model_paper
        claim = _merged(model, claim)
    derived = claim.get("kind") == "derived"
    if missing := [key for key in (DERIVED if derived else REQUIRED) if key not in claim]:
        raise ValueError(*(f"needs `{key}`" for key in missing))
    if derived and "quote" in claim:
        raise ValueError('quote: not allowed with kind = "derived", which quotes no sentence')
    expected = {key: value for key, value in claim.items() if key in EXPECTED}
    measure = Measure(measures(home, claim["measure"]), claim.get("args", {}), claim.get("each", {}))
    try:
        measure.check()
    except TypeError as error:
        takes = inspect.signature(measure.function)
        raise ValueError(f"measure = {claim['measure']!r}: {error}; it takes {takes}") from error
    expect = expectation(expected, claim["paper"])
    return Statement(
        id=claim["id"],
        quote=claim.get("quote", ""),
        paper=claim["paper"],
        measure=measure,
        expect=expect,
        drawn=_drawn(claim, expect),
        short=claim.get("short", True),
        remarks=_remarks(claim),
        null=_held_against(claim, measure, changes),
    )


def _held_against(claim: Entry, measure: Measure, changes: Mapping[str, Change]) -> Null | None:
    if claim.get("kind", KINDS[0]) != KINDS[0]:
        return None
    if "null" not in claim:
        raise ValueError(f"needs `null`; valid: {', '.join(changes)}, a table, {NONE!r} and a reason")
    null = claim["null"]
    if isinstance(null, dict):
        other = measure.instead(null)
        try:
            other.check()
        except TypeError as error:
            raise ValueError(f"null = {null!r}: {error}") from error
        return Null(", ".join(f"{name} = {value}" for name, value in null.items()), measure=other)
    if null.startswith(NONE):
        return Null(null)
    if null not in changes:
        valid = ", ".join(changes)
        raise ValueError(f"null = {null!r}: no such change; valid: {valid}, a table, {NONE!r} and a reason")
    return Null(null, changes[null])


def _drawn(claim: Entry, expect: Expectation) -> Drawn | None:
    if "drawn" not in claim:
        return None
    if expect.region is None:
        raise ValueError("drawn: an order has no value to draw")
    return Drawn.model_validate(claim["drawn"])


def _remarks(claim: Entry) -> Remarks:
    said = {key: claim[key] for key in REMARKS if key in claim and key != "class"}
    return Remarks(class_=claim.get("class", ""), **said)


def _model(reference: str, others: Callable[[str], Source]) -> tuple[Entry, str]:
    """Return the claim that `same_as` refers to, and its paper."""
    paper, _, rest = reference.partition("/")
    figure, _, name = rest.partition("/")
    figures = others(paper).figures
    if figure not in figures:
        raise LookupError(f"same_as = {reference!r}: no such figure; valid: {', '.join(figures)}")
    if name not in figures[figure]:
        raise LookupError(f"same_as = {reference!r}: no such claim; valid: {', '.join(figures[figure])}")
    model = figures[figure][name]
    if "same_as" in model:
        raise ValueError(f"same_as = {reference!r}: repeats another claim; name {model['same_as']!r}")
    return model, paper


def _merged(model: Entry, claim: Entry) -> dict[str, Any]:
    """Return the model's keys, updated with the claim's keys. Only one of the two defines the expectation."""
    replaced = any(key in EXPECTED for key in claim)
    kept = {key: value for key, value in model.items() if not (replaced and key in EXPECTED)}
    if "measure" in claim:
        kept = {key: value for key, value in kept.items() if key not in TABLES}
    return {**kept, **claim}
