"""What a claim expects of the measured values: a number, a bound, an order. All values must pass.

`expectation` makes one from the keys of a claim:

| keys | what is expected |
|---|---|
| `within = 0.02` | the paper's number, give or take 0.02 |
| `within = 0.02`, `of = 0.8` | 0.8, give or take 0.02, where `paper` is a text or another number |
| `at_least = 0.9` | values from 0.9 upward |
| `at_most = 0.1` | values up to 0.1 |
| `at_least = 5`, `at_most = 10` | values from 5 to 10 |
| `increasing = true` | every value above the one before |
| `decreasing = true` | every value below the one before |
| `slack = 0.02` | with either: a step the other way of less than 0.02 passes |
| `zero_but_last = true` | zeros, and a last value above 0 |
| `peak_at_least = 0.95` | the largest value in the middle, from 0.95 upward |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Expectation:
    """A rule for the measured values, and the rule in a few words."""

    tolerance: str
    test: Callable[[Sequence[float]], bool]


def near(paper: float, margin: float) -> Expectation:
    """Expect the paper's number, give or take."""
    return Expectation(f"+-{margin:g}", lambda values: all(abs(value - paper) <= margin for value in values))


def at_least(bound: float) -> Expectation:
    """Expect values from `bound` upward."""
    return Expectation(f">= {bound:g}", lambda values: all(value >= bound for value in values))


def at_most(bound: float) -> Expectation:
    """Expect values up to `bound`."""
    return Expectation(f"<= {bound:g}", lambda values: all(value <= bound for value in values))


def between(low: float, high: float) -> Expectation:
    """Expect values between two bounds, both included."""
    return Expectation(f"{low:g} to {high:g}", lambda values: all(low <= value <= high for value in values))


def increasing(slack: float = 0.0) -> Expectation:
    """Expect every value above the one before; a step back of less than `slack` passes."""
    words = f"rising, steps back < {slack:g}" if slack else "rising"
    return Expectation(
        words, lambda values: all(after - before > -slack for before, after in pairwise(values))
    )


def decreasing(slack: float = 0.0) -> Expectation:
    """Expect every value below the one before; a step up of less than `slack` passes."""
    words = f"falling, steps up < {slack:g}" if slack else "falling"
    return Expectation(
        words, lambda values: all(after - before < slack for before, after in pairwise(values))
    )


def zero_but_last() -> Expectation:
    """Expect zeros, and a last value above 0."""
    return Expectation(
        "0, 0, > 0", lambda values: all(value == 0 for value in values[:-1]) and values[-1] > 0
    )


def peak_at_least(bound: float) -> Expectation:
    """Expect the largest value in the middle, from `bound` upward."""
    return Expectation(
        f"largest in the middle, >= {bound:g}",
        lambda values: max(values) == values[len(values) // 2] >= bound,
    )


NUMBERS = ("within", "of", "at_least", "at_most", "slack", "peak_at_least")
FLAGS = ("increasing", "decreasing", "zero_but_last")
KEYS = (*NUMBERS, *FLAGS)
"""The keys of a claim that say what it expects."""

_COMBINATIONS: Mapping[frozenset[str], Callable[[Mapping[str, Any]], Expectation]] = {
    frozenset(keys): make
    for keys, make in (
        (("within", "of"), lambda keys: near(keys["of"], keys["within"])),
        (("at_least",), lambda keys: at_least(keys["at_least"])),
        (("at_most",), lambda keys: at_most(keys["at_most"])),
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
    """Make an expectation from the keys of a claim.

    Args:
        keys: those of the claim that are in `KEYS`.
        paper: the paper's value, which `within` refers to unless `of` is there.

    Raises:
        ValueError: a value of the wrong type, keys that do not go together, or none.

    """
    for key, value in keys.items():
        if key in FLAGS and value is not True:
            raise ValueError(f"{key} = {value!r}: can only be true; leave it out otherwise")
        if key in NUMBERS and not is_number(value):
            raise ValueError(f"{key} = {value!r}: must be a number")
    if "within" in keys and "of" not in keys:
        if not is_number(paper):
            raise ValueError(f"within: paper = {paper!r} is not a number; say with `of` what the number is")
        keys = {**keys, "of": paper}
    make = _COMBINATIONS.get(frozenset(keys))
    if make is None:
        given = " and ".join(keys) if keys else "nothing"
        valid = "; ".join(" and ".join(sorted(each)) for each in _COMBINATIONS)
        raise ValueError(f"{given}: not an expectation; valid: within; {valid}")
    return make(keys)


def is_number(value: object) -> bool:
    """Tell whether a value of a TOML file is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
