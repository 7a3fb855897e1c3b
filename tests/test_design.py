from __future__ import annotations

import functools
import json
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import becalm
from becalm.designs import derive as deriving
from becalm.designs import workbench
from becalm.designs.check import Check, check
from becalm.designs.function import RateFunction
from becalm.designs.hermite import Array
from becalm.designs.law import Law, aimd, fimd, lipd, pair
from becalm.designs.tabulate import tabulate, tabulate_cct
from becalm.manager import nearest

derive = functools.cache(deriving.derive)
"""Cached, because a derivation requires half a second."""
RMIN = 1 / 256
LIPD = "max(rmax / (rmax / r + 1), rmin)"
FIMD = "max(r / 2, rmin)"
SQRT = "max(r - 0.05 * sqrt(r), rmin)"
RATES = np.union1d(np.geomspace(RMIN, 1, 3001), 1 / np.arange(1.0, 257.0))


def lipd_increase(r: Array, rmin: float = RMIN, rmax: float = 1.0) -> Array:
    result: Array = np.minimum(r / (1 - rmin / rmax), rmax)
    return result


def fimd_increase(r: Array, rmin: float = RMIN, rmax: float = 1.0, m: float = 2.0) -> Array:
    result: Array = np.minimum(r * m ** (rmin / r), rmax)
    return result


@pytest.mark.parametrize(
    ("f_dec", "increase"),
    [
        (LIPD, lipd_increase),
        (lambda r: max(1 / (1 / r + 1), RMIN), lipd_increase),
        (FIMD, fimd_increase),
        (lambda r: max(r / 2, RMIN), fimd_increase),
        ("max(r / 3, rmin)", lambda r: fimd_increase(r, m=3.0)),
    ],
    ids=["lipd", "lipd function", "fimd", "fimd function", "fimd m=3"],
)
def test_lipd_and_fimd_are_recovered(f_dec: RateFunction, increase: Callable[[Array], Array]) -> None:
    law = deriving.derive(f_dec)
    assert np.max(np.abs(law.f_inc(RATES) / increase(RATES) - 1)) < 1e-6


@pytest.mark.parametrize(("rmin", "rmax"), [(1 / 1000, 0.5), (1 / 64, 1.0), (1 / 256, 0.25)])
def test_recovered_whatever_the_range_of_rates(rmin: float, rmax: float) -> None:
    rates = np.clip(np.geomspace(rmin, rmax, 1001), rmin, rmax)
    for f_dec, increase in ((LIPD, lipd_increase), (FIMD, fimd_increase)):
        law = derive(f_dec, rmin=rmin, rmax=rmax)
        assert np.max(np.abs(law.f_inc(rates) / increase(rates, rmin, rmax) - 1)) < 1e-6


def test_the_curves_are_the_closed_forms() -> None:
    times = np.linspace(0, 300 * 256, 1001)
    slow = 1 / np.maximum(256 - times / 256, 1.0)
    assert np.max(np.abs(derive(LIPD).curve.rate(times) / slow - 1)) < 1e-6
    fast = np.minimum(RMIN * 2 ** np.minimum(times / 256, 9), 1.0)
    assert np.max(np.abs(derive(FIMD).curve.rate(times) / fast - 1)) < 1e-6


@pytest.mark.parametrize(
    "f_dec", [SQRT, "max(r - 0.1, rmin)", "max(0.6 * r - 0.1, rmin)", "max(r - r**1.5 / 9, rmin)"]
)
def test_equation_2_holds_and_the_curve_rises(f_dec: str) -> None:
    law = derive(f_dec, rmin=0.01)
    rates = np.linspace(law.lowest_free * (1 + 1e-9), 1, 2000)
    recovery = law.curve.time(rates) - law.curve.time(law.f_dec(rates))
    assert np.max(np.abs(recovery * law.rmin - 1)) < 1e-4
    assert np.all(np.diff(law.curve.time(rates)) > 0)
    assert law.curve.rate(np.array([0.0]))[0] == pytest.approx(law.rmin)
    assert np.all(law.f_inc(rates[:-1]) > rates[:-1])


def test_a_decrease_by_a_constant_goes_with_a_linear_increase() -> None:
    law = derive("max(r - 0.1, rmin)")
    slope = 0.1 * RMIN
    assert law.f_inc(RATES) == pytest.approx(np.minimum(RATES + slope / RATES, 1.0), rel=1e-6)


def found(law: Law) -> dict[str, bool]:
    return {condition.name: condition.holds for condition in check(law).conditions}


def test_conditions_of_the_paper_s_functions() -> None:
    for law in (lipd(), fimd(), derive(LIPD), derive(FIMD), derive(SQRT)):
        assert all(found(law)[f"Condition {n}"] for n in (1, 2, 3)), law.name
    assert [found(aimd())[f"Condition {n}"] for n in (1, 2, 3)] == [True, True, False]
    assert found(aimd())["Chiu-Jain"]
    assert not found(lipd())["Chiu-Jain increase"]
    assert found(lipd())["Chiu-Jain decrease"]
    assert not found(derive(SQRT))["Chiu-Jain decrease"]


def test_aimd_recovers_too_slowly_at_every_rate_above_the_lowest() -> None:
    condition = check(aimd())["Condition 3"]
    ((low, high),) = condition.fails
    assert low == pytest.approx(2 / 256, rel=0.02)
    assert high == 1.0
    assert check(aimd()).recovery_range[1] == pytest.approx(128 * 256, rel=1e-4)


def test_times_from_rmin_to_rmax_are_the_paper_s() -> None:
    def milliseconds(checked: Check) -> float:
        return checked.total * checked.packet_time * 1e3

    assert [round(milliseconds(check(law)), 1) for law in (fimd(), lipd(), aimd())] == [4.2, 133.7, 133.7]


def test_an_unfair_pair_is_reported_with_its_rates() -> None:
    """If each ACK increases the rate by a factor, fast flows get more ACKs and recover sooner."""
    checked = check(pair(FIMD, "min(r * 1.02, rmax)"))
    assert not checked["Condition 2"].holds
    ((low, high),) = checked["Condition 2"].fails
    assert low < 0.01
    assert high == 1.0
    assert "recovery at 1 takes 51 packet times" in checked["Condition 2"].note
    assert not checked["Condition 3"].holds


def test_an_unfair_stretch_of_rates_is_reported_with_its_ends() -> None:
    def increase(r: float) -> float:
        faster = 3.0 if 0.3 < r < 0.45 else 1.0
        return float(min(r * 2 ** (faster * RMIN / r), 1.0))

    checked = check(pair(FIMD, increase))
    ends = [edge for stretch in checked["Condition 2"].fails for edge in stretch]
    assert 0.3 < min(ends) < 0.32
    assert 0.85 < max(ends) < 1.0


def test_an_increase_beyond_the_decrease_is_reported() -> None:
    checked = check(pair(FIMD, "min(2 * r + rmin, rmax)"))
    assert not checked["Condition 1"].holds
    assert "up to 1.5 times the original rate" in checked["Condition 1"].note


def simulated(response: dict[str, Any], text: str) -> str:
    scenario = becalm.Scenario(text).replace({"response": response, "run.duration": "5 ms"})
    return becalm.run(scenario, threads=1).fingerprint


@pytest.mark.parametrize("native", ["lipd", "fimd", "aimd"])
def test_a_table_runs_as_the_native_response_with_discrete_rates(native: str, text: str) -> None:
    derived = {"lipd": derive(LIPD), "fimd": derive(FIMD), "aimd": aimd()}[native]
    expected = simulated({native: {"discrete": True}}, text)
    assert expected != simulated({native: {}}, text)
    table = tabulate(derived)
    assert simulated(table.response(), text) == expected
    assert simulated(tomllib.loads(table.to_toml())["response"], text) == expected


def test_a_table_is_part_of_a_scenario_file(text: str) -> None:
    written = text.replace("[response.lipd]", tabulate(derive(SQRT)).to_toml())
    scenario = becalm.Scenario(written)
    assert scenario.resolved["response"]["table"]["steps"][255] == [255, 1, 117]
    assert becalm.run(scenario).fingerprint == becalm.run(becalm.Scenario(written)).fingerprint


def test_rounding_to_delays() -> None:
    exact = tabulate(lipd()).errors(lipd())
    assert np.max(np.abs(exact["decrease"])) < 1e-12
    law = derive(SQRT)
    table = tabulate(law)
    errors = table.errors(law)
    # 0.95 lies between the rates for delays 0 and 1, and becomes 0.5.
    assert errors["decrease"][0] == pytest.approx(0.5 / 0.95 - 1)
    assert np.min(errors["increase"]) > -1e-6
    assert 1 <= table.climb / law.curve.total < 1.35


def test_a_cct_recovers_a_decrease_in_a_recovery_time() -> None:
    for law, increase in ((derive(LIPD), 1), (derive(FIMD), 16), (derive(SQRT), 4)):
        cct = tabulate_cct(law)
        assert len(cct.entries) >= 128
        assert cct.increase == increase
        assert cct.timer * 1.024e-6 * increase == pytest.approx(256 * 2.048e-6, rel=0.01)
        assert cct.recovery_time == pytest.approx(256 * 2.048e-6)
        rates = 1 / (1 + cct.gaps)
        assert rates[0] == 1.0
        assert rates[cct.limit] == pytest.approx(RMIN, rel=1e-3)
        after = law.f_dec(np.clip(rates[: cct.limit - increase], RMIN, 1.0))
        slow = rates[: cct.limit - increase] < 0.2
        assert rates[increase : cct.limit][slow] == pytest.approx(after[slow], rel=0.05)
        assert np.max(np.abs(cct.errors(law))) < 1 / 16
    assert list(tabulate_cct(lipd()).gaps) == list(range(256))


@pytest.mark.parametrize(
    ("f_dec", "rmin"), [("max(r - 0.9, rmin)", RMIN), ("max(r / 255, rmin)", RMIN), (FIMD, 0.4)]
)
def test_a_cct_whatever_the_number_of_recoveries(f_dec: str, rmin: float) -> None:
    cct = tabulate_cct(derive(f_dec, rmin=rmin))
    assert len(cct.entries) >= 128
    assert cct.recovery_time == pytest.approx(2.048e-6 / rmin, rel=0.01)


def test_entries_are_rounded_as_the_simulator_rounds() -> None:
    expected = {0.0625: (3, 1), 0.25: (2, 1), 4.86: (3, 39), 2047.95: (0, 2048), 8191.5: (1, 16383)}
    assert {gap: nearest(gap) for gap in expected} == expected
    with pytest.raises(becalm.DesignError, match="16383"):
        nearest(20_000)


def of(f_dec: Any, **options: Any) -> str:  # noqa: ANN401
    with pytest.raises(becalm.DesignError) as caught:
        becalm.design(f_dec, trial=False, **options)
    return str(caught.value)


def nan_above(limit: float) -> Callable[[float], float]:
    return lambda r: math.nan if r > limit else max(r / 2, RMIN)


def raising(r: float) -> float:
    if 0.4 < r < 0.5:
        raise KeyError("no rate")
    return max(r / 2, RMIN)


@pytest.mark.parametrize(
    ("f_dec", "output"),
    [
        ("r", r"f_dec\(0.0039\d*\) = 0.0039\d*: must be below the rate itself"),
        ("min(max(r * (0.5 + 0.6 * r), rmin), rmax)", r"f_dec\(0.83\d*\) = 0.83\d*: must be below the"),
        ("min(1.5 * r, rmax)", r"f_dec\(0.0039\d*\) = 0.0058\d*: must be"),
        ("rmin", r"f_dec\(1\) = 0.0039\d*: every decrease ends at rmin"),
        (lambda r: max(r * (1 - r), RMIN), r"f_dec\(0.50\d*\) = 0.2\d*: must not fall as the rate rises"),
        (lambda r: max(min(r / 2, 0.1), RMIN), r"f_dec\(0.2\d*\) = 0.1: must rise with the rate above rmin"),
        ("r / 2", r"f_dec\(0.00390625\) = 0.00195312: must not be below rmin = 0.00390625"),
        ("r - 0.5", r"f_dec\(0.00390625\) = -0.496094: must not be below rmin"),
        ("2 * r", r"f_dec\(0.50\d*\) = 1.0\d*: must not be above rmax = 1"),
        (nan_above(0.7), r"f_dec\(0.7\d*\) = nan: must be a finite number"),
        (lambda _: math.inf, r"f_dec\(0.00390625\) = inf: must be a finite number"),
        (lambda _: "fast", r"f_dec\(0.00390625\) = 'fast': must be a number"),
        (lambda r: (-r) ** 0.5, r"f_dec\(0.00390625\) = .*j\): must be a number"),
        (raising, r"f_dec\(0.4\d*\) raises KeyError: 'no rate'"),
        ("sqrt(r - 0.5)", r"f_dec\(0.00390625\) raises ValueError"),
        ("1 / (r - r)", r"f_dec\(0.00390625\) raises ZeroDivisionError"),
        ("9 ** 9 ** 9 ** 9", r"raises OverflowError"),
        (3, "f_dec: must be a function or an expression, not int"),
        ([(RMIN, RMIN), (1.0, 0.5)], "f_dec: must be a function or an expression, not list"),
    ],
)  # fmt: skip
def test_a_bad_decrease_is_reported_with_its_rate(f_dec: RateFunction, output: str) -> None:
    message = of(f_dec)
    assert re.search(output, message), message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("f_dec", "output"),
    [
        ("r /", "not an expression"),
        ("rate / 2", "unknown name `rate`; valid: r, rmin, rmax"),
        ("__import__('os')", "unknown name|cannot be called"),
        ("r.real", "`Attribute` cannot be used"),
        ("(lambda: r)()", "cannot be called"),
        ("'a'", "is not a number"),
        ("[r][0]", "cannot be used"),
    ],
)
def test_a_bad_expression_is_reported(f_dec: str, output: str) -> None:
    with pytest.raises(becalm.DesignError, match=output):
        derive(f_dec)


def test_a_bad_increase_is_reported_with_its_rate() -> None:
    assert "f_inc(0.00390625) = 0.00390625: must be above the rate itself" in of(FIMD, f_inc="r")
    assert "f_inc(0.99" in of(FIMD, f_inc="r * 1.01")
    assert "every increase ends at rmax" in of(FIMD, f_inc="rmax")


def test_bad_ranges_and_names_are_reported() -> None:
    assert "must be 1e-06 <= rmin < rmax <= 1" in of(FIMD, rmin=0.5, rmax=0.4)
    assert "must be at least rmax / 256" in of(FIMD, rmin=1 / 300)
    assert "not be one of LIPD" in of(FIMD, name="lipd")
    assert "packet_time" in of(FIMD, packet_time=0.0)
    assert "must decrease faster" in of("max(r * (1 - 1e-9), rmin)")


def test_a_design_holds_everything_and_goes_to_a_folder(tmp_path: Path) -> None:
    made = becalm.design(SQRT, name="SQRT", trial=False)
    assert made.check["Condition 3"].holds
    assert made.summary().columns == ["", "SQRT", "LIPD", "FIMD", "AIMD"]
    folder = made.save(tmp_path / "SQRT")
    numbers = json.loads((folder / "design.json").read_text())
    assert numbers["rounding"]["table"]["decrease"][0] == pytest.approx(0.5 / 0.95 - 1)
    there = {path.name for path in folder.iterdir()}
    assert there == {"design.json", "design.png", "response.toml"}
    assert made.cct is not None
    assert (numbers["table"], numbers["cct"]) == (made.table.to_json(), made.cct.to_json())
    steps = numbers["table"]["steps"]
    assert steps == tomllib.loads((folder / "response.toml").read_text())["response"]["table"]["steps"]
    with pytest.raises(becalm.ResultsError, match="already exists"):
        made.save(folder)
    made.save(folder, overwrite=True)
    (tmp_path / "other").mkdir()
    with pytest.raises(becalm.ResultsError, match="not overwritten"):
        workbench.FOLDER.check_target(tmp_path / "other", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["SQRT", "other"]


def test_a_pair_without_condition_3_has_no_cct() -> None:
    made = becalm.design(FIMD, "min(r + rmin**2 / r, rmax)", name="mine", trial=False)
    assert made.cct is None
    assert made.table.steps == tabulate(aimd()).steps


def test_the_scenes_are_run_with_every_response() -> None:
    made = becalm.design(LIPD, name="mine", short=True)
    assert made.trial is not None
    values = {(row[0], row[2], row[3]): row[4] for row in made.trial.iter_rows()}
    responses = ["mine", "mine, CCT", "LIPD", "FIMD", "AIMD"]
    assert made.trial["response"].unique(maintain_order=True).to_list() == responses
    assert set(made.trial["scene"]) == {"static", "dynamic", "tree"}
    for scene, quantity in {(scene, quantity) for scene, _, quantity in values}:
        # The result of deriving, tabulating and reading it back is LIPD.
        assert values[scene, "mine", quantity] == values[scene, "LIPD", quantity]
    assert values["static", "LIPD", "root"] > values["static", "FIMD", "root"]
    assert len(made.figure().axes) == 6
    assert made.summary().height == 16
