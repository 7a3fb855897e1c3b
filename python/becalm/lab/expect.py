"""Expectations of a claim for the measured values: a number, a bound or an order. All values must pass.

`expectation` creates an expectation from the keys of a claim:

| keys | expected values |
|---|---|
| `within = 0.02` | the paper's number ± 0.02 |
| `within = "mean"` | the paper's number ± the tolerance for this kind of sentence: see `RULES` |
| `within = 0.02`, `of = 0.8` | 0.8 ± 0.02, if `paper` is a string or another number |
| `at_least = 0.9` | values from 0.9 upward |
| `at_most = 0.1` | values up to 0.1 |
| `at_least = 5`, `at_most = 10` | values from 5 to 10 |
| `strict = true` | with one bound: a value equal to the bound fails, as in "more than" and "less than" |
| `increasing = true` | every value above the previous one |
| `decreasing = true` | every value below the previous one |
| `slack = 0.02` | with `increasing` or `decreasing`: a step back of less than 0.02 passes, equal values not |
| `zero_but_last = true` | zeros, and a last value above 0 |
| `peak_at_least = 0.95` | the largest value in the middle of the list, from 0.95 upward |

An expectation converts the values of a run to margins. A margin is the distance of a value from its limit,
positive on the right side. An order has one margin for each pair of neighbours.

`judge_runs` judges several seeds. Student's distribution yields a 95% confidence interval for each margin's
mean over the seeds:

- `holds`: every interval is on the right side;
- `fails`: at least one interval is entirely on the wrong side;
- `undecided`: no interval is entirely on the wrong side, but at least one contains the limit.

Therefore the worst pair of neighbours decides for an order, and the worst value for a claim with several
values. A deterministic value has an interval of width zero. With one seed, the value itself decides. An
infinite margin has no mean, so the claim holds if it holds for every seed, and fails if it holds for none.
NaN fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any, NamedTuple

from becalm.base.intervals import mean_interval


class Margin(NamedTuple):
    """Distance of a value from a limit, positive on the right side."""

    distance: float
    strict: bool = False
    """Whether a value equal to the limit is on the wrong side."""

    @property
    def passes(self) -> bool:
        """Whether the value is on the right side."""
        return self.distance > 0 if self.strict else self.distance >= 0


class Region(NamedTuple):
    """Range of valid values around the paper's `value`, if there is one. None means no bound."""

    low: float | None
    high: float | None
    value: float | None = None


@dataclass(frozen=True)
class Expectation:
    """A rule for the measured values of a run, with a short description."""

    tolerance: str
    margins: Callable[[Sequence[float]], list[Margin]]
    region: Region | None = None
    """Range of valid values; None for an order."""

    def test(self, values: Sequence[float]) -> bool:
        """Return whether the values of one run pass. An empty list does not pass."""
        margins = self.margins(values)
        return bool(margins) and all(margin.passes for margin in margins)


def near(paper: float, margin: float, why: str = "") -> Expectation:
    """Expect the paper's number within a margin."""
    return Expectation(
        f"+-{margin:g}{why}",
        lambda values: [
            Margin(distance)
            for value in values
            for distance in (margin + (value - paper), margin - (value - paper))
        ],
        Region(paper - margin, paper + margin, paper),
    )


def at_least(bound: float, strict: bool = False) -> Expectation:
    """Expect values of at least `bound`, or above it if `strict`."""
    return Expectation(
        f"{'>' if strict else '>='} {bound:g}",
        lambda values: [Margin(value - bound, strict) for value in values],
        Region(bound, None),
    )


def at_most(bound: float, strict: bool = False) -> Expectation:
    """Expect values of at most `bound`, or below it if `strict`."""
    return Expectation(
        f"{'<' if strict else '<='} {bound:g}",
        lambda values: [Margin(bound - value, strict) for value in values],
        Region(None, bound),
    )


def between(low: float, high: float) -> Expectation:
    """Expect values between two bounds, inclusive."""
    return Expectation(
        f"{low:g} to {high:g}",
        lambda values: [Margin(distance) for value in values for distance in (value - low, high - value)],
        Region(low, high),
    )


def increasing(slack: float = 0.0) -> Expectation:
    """Expect every value to exceed the previous one; a step down of less than `slack` passes.

    With slack, the last value must exceed the first by more than `slack`: equal values are no order.
    """
    return _ordered(1, slack, "rising", "steps back")


def decreasing(slack: float = 0.0) -> Expectation:
    """Expect every value to be below the previous one; a step up of less than `slack` passes."""
    return _ordered(-1, slack, "falling", "steps up")


def _ordered(sign: int, slack: float, word: str, back: str) -> Expectation:
    def margins(values: Sequence[float]) -> list[Margin]:
        steps = [Margin(sign * (after - before) + slack, strict=True) for before, after in pairwise(values)]
        whole = [Margin(sign * (values[-1] - values[0]) - slack, strict=True)] if slack and steps else []
        return [*steps, *whole]

    return Expectation(f"{word}, {back} < {slack:g}" if slack else word, margins)


def zero_but_last() -> Expectation:
    """Expect zeros, and a last value above 0."""
    return Expectation(
        "0, 0, > 0",
        lambda values: [*(Margin(-abs(value)) for value in values[:-1]), Margin(values[-1], strict=True)],
    )


def peak_at_least(bound: float) -> Expectation:
    """Expect the largest value in the middle, and at least `bound`."""

    def margins(values: Sequence[float]) -> list[Margin]:
        place = len(values) // 2
        others = [*values[:place], *values[place + 1 :]]
        return [*(Margin(values[place] - other) for other in others), Margin(values[place] - bound)]

    return Expectation(f"largest in the middle, >= {bound:g}", margins)


def half_a_digit(paper: float | str) -> float:
    """Return half a unit of the last printed digit of a number. A string such as "0.50" keeps its zeros."""
    exponent = Decimal(str(paper)).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


RULES: Mapping[str, tuple[Callable[[float | str], float], str]] = {
    "mean": (lambda paper: 0.05 * abs(float(paper)), "5% of a printed mean"),
    "digit": (half_a_digit, "half of the last printed digit"),
    "about": (lambda paper: 0.1 * abs(float(paper)), "10%: about, nearly, approximately"),
}
"""Tolerances by kind of sentence, with reasons. They are the same in all papers.

A printed mean or measured value may be off by 5%, since it depends on details that the paper leaves open. A
number that follows from the scene may be off by half of its last printed digit. A number that the paper
itself calls approximate may be off by 10%. If the paper prints a spread, this spread is the tolerance.
"""

NUMBERS = ("within", "of", "at_least", "at_most", "slack", "peak_at_least")
FLAGS = ("increasing", "decreasing", "zero_but_last", "strict")
KEYS = (*NUMBERS, *FLAGS)
"""The keys of a claim that define its expectation."""

_COMBINATIONS: Mapping[frozenset[str], Callable[[Mapping[str, Any]], Expectation]] = {
    frozenset(keys): make
    for keys, make in (
        (("within", "of"), lambda keys: _near(keys["of"], keys["within"])),
        (("at_least",), lambda keys: at_least(keys["at_least"])),
        (("at_most",), lambda keys: at_most(keys["at_most"])),
        (("at_least", "strict"), lambda keys: at_least(keys["at_least"], strict=True)),
        (("at_most", "strict"), lambda keys: at_most(keys["at_most"], strict=True)),
        (("at_least", "at_most"), lambda keys: between(keys["at_least"], keys["at_most"])),
        (("increasing",), lambda _: increasing()),
        (("increasing", "slack"), lambda keys: increasing(keys["slack"])),
        (("decreasing",), lambda _: decreasing()),
        (("decreasing", "slack"), lambda keys: decreasing(keys["slack"])),
        (("zero_but_last",), lambda _: zero_but_last()),
        (("peak_at_least",), lambda keys: peak_at_least(keys["peak_at_least"])),
    )
}


def expectation(keys: Mapping[str, Any], paper: float | str) -> Expectation:
    """Create an expectation from the keys of a claim.

    Args:
        keys: the claim's keys that are in `KEYS`.
        paper: the paper's value, which `within` refers to unless `of` is given.

    Raises:
        ValueError: a value has the wrong type, keys are incompatible, or there are none.

    """
    for key, value in keys.items():
        if key in FLAGS and value is not True:
            raise ValueError(f"{key} = {value!r}: can only be true; omit it otherwise")
        if key == "within" and isinstance(value, str):
            if value not in RULES:
                raise ValueError(f"within = {value!r}: no such rule; valid: a number, {', '.join(RULES)}")
        elif key in NUMBERS and not is_number(value):
            raise ValueError(f"{key} = {value!r}: must be a number")
    if "within" in keys and "of" not in keys:
        if not is_number(paper) and not (isinstance(paper, str) and _reads_as_number(paper)):
            raise ValueError(f"within: paper = {paper!r} is not a number; give the number with `of`")
        keys = {**keys, "of": paper}
    make = _COMBINATIONS.get(frozenset(keys))
    if make is None:
        given = " and ".join(keys) if keys else "nothing"
        valid = "; ".join(" and ".join(sorted(each)) for each in _COMBINATIONS)
        raise ValueError(f"{given}: not an expectation; valid: within; {valid}")
    return make(keys)


def is_number(value: object) -> bool:
    """Return whether a value of a TOML file is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _reads_as_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _near(paper: float | str, within: float | str) -> Expectation:
    if isinstance(within, str):
        margin, why = RULES[within]
        return near(float(paper), margin(paper), f" ({why})")
    return near(float(paper), within)


HOLDS, WEAK, UNDECIDED, FAILS = "holds", "weak", "undecided", "fails"
VERDICTS = (HOLDS, UNDECIDED, FAILS)
"""Verdicts from best to worst."""
STANDINGS = (HOLDS, WEAK, UNDECIDED, FAILS)
"""The verdicts, and the standing of a claim that holds, as does its null: see `becalm.lab.nulls`."""


def judge_runs(expect: Expectation, runs: Sequence[Sequence[float]]) -> str:
    """Judge the values of one or more runs.

    Args:
        expect: the expectation for the values of each run.
        runs: the values by seed, in the same order for each seed.

    Raises:
        ValueError: runs have different numbers of values.

    """
    if len({len(values) for values in runs}) > 1:
        counts = ", ".join(str(len(values)) for values in runs)
        raise ValueError(f"a measure must return the same number of values for every seed, not {counts}")
    columns = zip(*(expect.margins(values) for values in runs), strict=True)
    verdicts = [_judge(column) for column in columns]
    return max(verdicts, key=VERDICTS.index, default=FAILS)


def _judge(margins: Sequence[Margin]) -> str:
    """Judge one margin by its values for all seeds."""
    distances = [margin.distance for margin in margins]
    if any(math.isnan(distance) for distance in distances):
        return FAILS
    if any(math.isinf(distance) for distance in distances):
        passes = [margin.passes for margin in margins]
        return HOLDS if all(passes) else UNDECIDED if any(passes) else FAILS
    _, low, high = mean_interval(distances)
    strict = margins[0].strict
    if low > 0 or (low == 0 and not strict):
        return HOLDS
    return FAILS if high < 0 or (high == 0 and strict) else UNDECIDED
