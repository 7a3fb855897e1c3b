"""What a statement expects of the measured values: a number, a bound, an order. All values must pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise


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


def rising(slack: float = 0.0) -> Expectation:
    """Expect every value above the one before; a step back of less than `slack` passes."""
    words = f"rising, steps back < {slack:g}" if slack else "rising"
    return Expectation(
        words, lambda values: all(after - before > -slack for before, after in pairwise(values))
    )


def falling(slack: float = 0.0) -> Expectation:
    """Expect every value below the one before; a step up of less than `slack` passes."""
    words = f"falling, steps up < {slack:g}" if slack else "falling"
    return Expectation(
        words, lambda values: all(after - before < slack for before, after in pairwise(values))
    )
