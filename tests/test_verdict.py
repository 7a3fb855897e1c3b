"""Verdicts over seeds: known intervals, limits inside and outside them, orders, values without randomness."""

from __future__ import annotations

import math
import random

import pytest

from becalm.base.intervals import QUANTILES, mean_interval, student
from becalm.lab.expect import (
    Expectation,
    at_least,
    at_most,
    between,
    decreasing,
    increasing,
    judge_runs,
    near,
    peak_at_least,
    zero_but_last,
)

NOISY = [1.0, 2.0, 3.0, 4.0, 5.0]
"""Mean 3, deviation 1.5811, standard error 0.70711: 3 +- 2.7764 * 0.70711 = 3 +- 1.9632."""


def runs(values: list[float]) -> list[list[float]]:
    return [[value] for value in values]


def test_interval_of_five_values() -> None:
    mean, low, high = mean_interval(NOISY)
    assert mean == 3.0
    assert low == pytest.approx(1.0368, abs=1e-4)
    assert high == pytest.approx(4.9632, abs=1e-4)


def test_quantiles_are_students() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert pytest.approx([stats.t.ppf(0.975, n) for n in range(1, 31)], abs=5e-7) == QUANTILES
    assert [student(0.95, n) for n in range(1, 31)] == pytest.approx(QUANTILES, abs=5e-7)
    for share, freedom in ((0.5, 1), (0.999, 2), (0.9999, 7), (1 - 1e-6, 30)):
        assert student(share, freedom) == pytest.approx(stats.t.isf((1 - share) / 2, freedom), rel=1e-8)


def test_intervals_of_ten_chosen_means_use_a_two_hundredth() -> None:
    """The quantile at 99.75% with 4 degrees of freedom is 5.5976 (tables), 2.0161 times that at 97.5%."""
    one, ten = mean_interval(NOISY), mean_interval(NOISY, 10)
    assert ten.mean == one.mean
    assert (ten.high - ten.mean) / (one.high - one.mean) == pytest.approx(2.0161, abs=1e-4)


def test_nine_of_ten_intervals_and_more_contain_the_mean() -> None:
    chance = random.Random(1)
    samples = [[chance.gauss(7.0, 2.0) for _ in range(5)] for _ in range(2000)]
    inside = sum(low <= 7.0 <= high for _, low, high in map(mean_interval, samples))
    assert 0.935 * 2000 < inside < 0.965 * 2000


def test_equal_values_have_no_width() -> None:
    assert mean_interval([0.1] * 7) == (0.1, 0.1, 0.1)
    assert mean_interval([5.0]) == (5.0, 5.0, 5.0)


@pytest.mark.parametrize(
    ("expect", "verdict"),
    [
        (at_least(1.03), "holds"),
        (at_least(1.04), "undecided"),
        (at_least(4.96), "undecided"),
        (at_least(4.97), "fails"),
        (at_most(4.97), "holds"),
        (at_most(4.96), "undecided"),
        (at_most(1.03), "fails"),
        (between(1.0, 5.0), "holds"),
        (between(1.0, 4.9), "undecided"),
        (between(5.0, 9.0), "fails"),
        (near(3.0, 1.97), "holds"),
        (near(3.0, 1.96), "undecided"),
        (near(9.0, 4.1), "undecided"),
        (near(9.0, 4.0), "fails"),
        (near(3.0, 0.0), "undecided"),
    ],
)
def test_the_interval_decides(expect: Expectation, verdict: str) -> None:
    assert judge_runs(expect, runs(NOISY)) == verdict


def test_the_worst_value_decides() -> None:
    steady = [9.0] * 5
    assert judge_runs(at_least(1.04), [[a, b] for a, b in zip(steady, NOISY, strict=True)]) == "undecided"
    assert judge_runs(at_least(4.97), [[a, b] for a, b in zip(steady, NOISY, strict=True)]) == "fails"
    assert judge_runs(at_least(1.03), [[a, b] for a, b in zip(steady, NOISY, strict=True)]) == "holds"


def test_an_order_is_judged_by_its_pairs_at_the_same_seed() -> None:
    """Seeds vary more than neighbouring values, so the worst paired difference decides."""
    rising = [[base, base + 0.1 + wobble, base + 1.0] for base, wobble in zip(NOISY, _WOBBLE, strict=True)]
    assert judge_runs(increasing(), rising) == "holds"
    assert judge_runs(decreasing(), rising) == "fails"
    level = [[base, base + wobble, base + 1.0] for base, wobble in zip(NOISY, _WOBBLE, strict=True)]
    assert judge_runs(increasing(), level) == "undecided"
    assert judge_runs(increasing(slack=0.05), level) == "holds"
    assert judge_runs(increasing(), [[base, base - 0.1, base + 1.0] for base in NOISY]) == "fails"


_WOBBLE = [-0.02, 0.01, 0.0, 0.02, -0.01]


def test_peaks_and_zeros() -> None:
    assert judge_runs(peak_at_least(0.9), [[0.5, 1.0, 0.5]] * 5) == "holds"
    assert judge_runs(peak_at_least(0.9), [[0.5, 0.8, 0.5]] * 5) == "fails"
    shaky = [[0.9 + wobble, 1.0, 1.0 + wobble] for wobble in _WOBBLE]
    assert judge_runs(peak_at_least(0.9), shaky) == "undecided"
    assert judge_runs(zero_but_last(), [[0.0, 0.0, 1.0]] * 5) == "holds"
    assert judge_runs(zero_but_last(), [[0.0, 0.0, 0.0]] * 5) == "fails"
    assert judge_runs(zero_but_last(), [[0.0, 0.5, 1.0]] * 5) == "fails"
    assert judge_runs(zero_but_last(), [[0.0, value, 1.0] for value in (0, 0, 0, 0, 1)]) == "undecided"


def test_without_chance_the_value_decides_at_the_limit_too() -> None:
    for count in (1, 5):
        assert judge_runs(at_most(0), [[0.0]] * count) == "holds"
        assert judge_runs(at_most(0), [[1e-9]] * count) == "fails"
        assert judge_runs(increasing(), [[1.0, 1.0]] * count) == "fails"
        assert judge_runs(increasing(), [[1.0, 1.1]] * count) == "holds"


def test_infinite_values_need_all_seeds() -> None:
    assert judge_runs(at_most(5), runs([1.0, 2.0, math.inf])) == "undecided"
    assert judge_runs(at_most(5), runs([math.inf] * 3)) == "fails"
    assert judge_runs(at_least(5), runs([math.inf, 7.0, math.inf])) == "holds"


def test_no_number_and_no_value_fail() -> None:
    assert judge_runs(at_least(0), runs([1.0, math.nan, 1.0])) == "fails"
    assert judge_runs(at_least(0), [[], []]) == "fails"


def test_seeds_must_give_as_many_values() -> None:
    with pytest.raises(ValueError, match="the same number of values for every seed, not 1, 2"):
        judge_runs(at_least(0), [[1.0], [1.0, 2.0]])
