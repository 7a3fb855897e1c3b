"""The tuner's verdict: gain, interval, recommendation and price."""

from __future__ import annotations

import math
from typing import Any

import pytest

import becalm
from becalm.analysis.hot_spots import Case
from becalm.base.errors import BecalmError
from becalm.base.intervals import Interval
from becalm.tunings.goals import score
from becalm.tunings.tuned import Gain, choice, gain, interval
from becalm.tunings.verdict import BEST, KNOWN, NOW, WITHOUT, Price, Verdict


def test_interval_is_students() -> None:
    """Four values with mean 2.5 and deviation 1.29; t with 3 degrees of freedom is 3.182."""
    low, high = interval([1.0, 2.0, 3.0, 4.0])
    assert (low + high) / 2 == pytest.approx(2.5)
    assert high - low == pytest.approx(2 * 3.182446 * math.sqrt(5 / 3) / 2)
    with pytest.raises(BecalmError, match="set at least 2"):
        interval([1.0])


def verdict_of(losses: dict[str, list[float]], classes: list[str], **more: Any) -> Verdict:  # noqa: ANN401
    measures = {
        row: [{"loss": loss, "starved": loss, "lost": 0.0} for loss in own] for row, own in losses.items()
    }
    return Verdict(losses, classes, measures, **more)


def test_gain_is_paired() -> None:
    """Cases vary widely, but rows differ by 0.1 in each case; the interval includes only this difference."""
    verdict = verdict_of({"guide": [1.1, 2.1, 3.1], BEST: [1.0, 2.0, 3.0]}, ["2-4"] * 3)
    made = gain(verdict, "guide", 1)
    assert made is not None
    assert made.low == pytest.approx(0.1)
    assert made.high == pytest.approx(0.1)
    assert made.sure


def test_recommended_is_the_best_row_that_is_better_than_no_change() -> None:
    none, tuned = [0.5, 0.6, 0.4, 0.5], [0.1, 0.2, 0.1, 0.1]
    rows = {WITHOUT: none, "pfister2005": [0.3, 0.4, 0.2, 0.3], BEST: tuned}
    classes = ["2-4", "2-4", "5-16", "5-16"]
    assert verdict_of(rows, classes).recommended == BEST
    # Among rows that change something, the better mean decides.
    assert verdict_of({**rows, "becalm": [0.1, 0.1, 0.15, 0.1]}, classes).recommended == "becalm"
    # A change must be better than none, by more than chance.
    near = {**rows, NOW: [0.1, 0.1, 0.2, 0.15]}
    assert verdict_of(near, classes).recommended is None
    assert (
        verdict_of(near, classes)
        .sentence()
        .startswith("keep the current settings: tuned has the smallest loss, but may be no better than now")
    )
    assert verdict_of({**rows, NOW: [0.2, 0.3, 0.2, 0.21]}, classes).recommended == BEST
    # The result may be that no control is best.
    assert verdict_of({WITHOUT: [0.0, 0.01, 0.0, 0.0], **{BEST: none}}, classes).recommended == WITHOUT
    assert verdict_of({WITHOUT: tuned, NOW: tuned, BEST: none}, classes).recommended is None


def test_a_tuning_leans_to_a_row_with_a_gain_without_certainty() -> None:
    classes = ["2-4"] * 6
    none = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]

    def tuned(fall: float, row: str = BEST, **others: list[float]) -> Verdict:
        varied = [loss - fall + (0.05 if place % 2 else -0.05) for place, loss in enumerate(none)]
        return verdict_of({WITHOUT: none, row: varied, **others}, classes)

    assert [tuned(fall).recommended for fall in (0.0049, 0.0051, 0.09)] == [None, None, BEST]
    assert [tuned(fall).leaning for fall in (0.0049, 0.0051, 0.09)] == [None, BEST, None]
    assert [choice(tuned(fall), []) for fall in (0.0049, 0.0051, 0.09)] == [NOW, BEST, BEST]
    # The gain counts against each row that needs no change, and the current settings are no change.
    assert tuned(0.02, now=[loss - 0.016 for loss in none]).leaning is None
    assert tuned(0.02, row=NOW).leaning is None
    # Limits and too few cases leave the settings as they are.
    assert choice(tuned(0.02), ["delivered >= 1"]) == NOW
    few = verdict_of({WITHOUT: none[:5], BEST: [0.0, 0.3, 0.0, 0.2, 0.0]}, classes[:5])
    assert (few.leaning, choice(few, [])) == (BEST, NOW)


def test_a_price_is_reported_in_the_first_line_and_can_be_refused() -> None:
    rows = {WITHOUT: [0.1, 0.1, 0.9, 0.9], "gran2010": [0.6, 0.6, 0.7, 0.7], BEST: [0.3, 0.3, 0.1, 0.1]}
    classes = ["2-4", "2-4", "more", "more"]
    verdict = verdict_of({**rows, WITHOUT: [0.1, 0.1, 0.9, 0.95]}, classes)
    assert [price.contributors for price in verdict.prices(BEST)] == ["2-4"]
    assert (
        verdict.price(BEST, "2-4").sentence()
        == "2-4 contributors get 70% of their link, compared with 90% without control "
        "(loss +0.200, 95% interval +0.200 to +0.200)"
    )
    assert verdict.priced(BEST) == (
        "its price is not known for 2-4 contributors (2 cases), more contributors (2 cases)"
    )
    wide = {name: own * 6 for name, own in rows.items()}
    assert verdict_of(wide, classes * 6).sentence() == (
        "recommended: tuned; its price: 2-4 contributors get 70% of their link, "
        "compared with 90% without control (loss +0.200, 95% interval +0.200 to +0.200)"
    )
    assert verdict_of(wide, classes * 6, no_regret=True).recommended == WITHOUT


def test_a_price_is_a_mean_above_two_hundredths() -> None:
    """Not the end of its interval, which depends on the number of cases."""
    free = [0.1] * 4
    for losses, priced in (([0.1, 0.13, 0.1, 0.13], False), ([0.12, 0.13, 0.12, 0.13], True)):
        verdict = verdict_of({WITHOUT: free, BEST: losses}, ["2-4"] * 4)
        assert verdict.difference(BEST, WITHOUT).high > 0.02
        assert bool(verdict.prices(BEST)) == priced


def scored(scenario: becalm.Scenario, losses: list[float], free: float, *, no_regret: bool = False) -> float:
    cases = [Case(str(place), scenario, (), ()) for place in range(len(losses))]
    found = {case.name: {"loss": loss} for case, loss in zip(cases, losses, strict=True)}
    return score(cases, found, {case.name: {"loss": free} for case in cases}, no_regret=no_regret)


def test_a_score_adds_a_fifth_of_the_worst_tenth(scenario: becalm.Scenario) -> None:
    """The mean of 20 losses is 0.075, and that of the worst two 0.75."""
    assert scored(scenario, [0.0] * 18 + [0.5, 1.0], 0.0) == pytest.approx(0.075 + 0.2 * 0.75)


def test_three_times_a_regret_above_a_two_hundredth_counts(scenario: becalm.Scenario) -> None:
    for loss, added in ((0.104, 0.0), (0.115, 3 * 0.01)):
        without = scored(scenario, [loss] * 4, 0.1)
        assert scored(scenario, [loss] * 4, 0.1, no_regret=True) == pytest.approx(without + added)


def test_a_gain_is_sure_if_its_whole_interval_is() -> None:
    assert not Gain(0.5, 0.4, -0.01, 0.2, 2).sure
    assert Gain(0.5, 0.4, 0.01, 0.2, 2).sure


@pytest.mark.parametrize(("kept", "named"), [(0.98, True), (0.995, False)])
def test_a_price_names_a_background_that_loses_a_hundredth(kept: float, named: bool) -> None:
    price = Price("2-4", Interval(0.05, 0.04, 0.06), (0.7, 0.9), (kept, 1.0), KNOWN)
    assert ("the background keeps" in price.sentence()) == named


@pytest.mark.parametrize(("cases", "known"), [(KNOWN - 1, False), (KNOWN, True)])
def test_a_price_on_fewer_than_six_cases_is_not_known(cases: int, known: bool) -> None:
    classes = ["2-4"] * cases + ["more"] * 8
    verdict = verdict_of({WITHOUT: [0.1] * len(classes), BEST: [0.3] * cases + [0.0] * 8}, classes)
    assert verdict.price(BEST, "2-4").known == known
    said = verdict.priced(BEST)
    assert ("its price: 2-4 contributors get 70% of their link" in said) == known
    assert ("not known for 2-4 contributors (5 cases)" in said) != known
