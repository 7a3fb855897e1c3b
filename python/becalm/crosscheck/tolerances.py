"""Tolerances by kind of quantity. They apply to all entries and were fixed before any comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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
    first, second = sorted(one), sorted(other)
    i = j = 0
    largest = 0.0
    while i < len(first) and j < len(second):
        value = min(first[i], second[j])
        while i < len(first) and first[i] <= value:
            i += 1
        while j < len(second) and second[j] <= value:
            j += 1
        largest = max(largest, abs(i / len(first) - j / len(second)))
    size = math.sqrt(len(first) * len(second) / (len(first) + len(second)))
    return _kolmogorov((size + 0.12 + 0.11 / size) * largest)


def _kolmogorov(x: float) -> float:
    """Return the probability of a deviation above x: 2 sum (-1)^(k-1) exp(-2 k^2 x^2)."""
    if x < 0.2:
        return 1.0
    terms = ((1 if k % 2 else -1) * math.exp(-2 * (k * x) ** 2) for k in range(1, 101))
    return min(max(2 * sum(terms), 0.0), 1.0)
