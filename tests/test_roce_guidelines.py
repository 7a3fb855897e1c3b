"""Thresholds of RoCE's switches: becalm's guideline, published ones, and `becalm manage` on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.base.errors import BecalmError
from becalm.cli import app
from becalm.manager.ramp import ramp
from becalm.tunings.space import guideline_parameters, own_parameters, roce_space, space_of
from becalm.tunings.tuned import FEW, Tuned
from becalm.tunings.verdict import NOW, WITHOUT, Verdict, rows_of
from sonic_samples import example

SHARED = {"dynamic": {"alpha": 1.0, "shared": "12 MB"}}
CONNECTX = {"dcqcn": {"preset": "connectx"}}


def fabric(
    thresholds: dict[str, Any] | None = None,
    response: dict[str, Any] | None = None,
    **changes: Any,  # noqa: ANN401
) -> becalm.Scenario:
    """Three leaves with six hosts and three uplinks each, at 40 Gb/s."""
    return becalm.Scenario(
        {
            "run": {"duration": "1 ms"},
            "topology": {
                "clos": {
                    "leaves": 3,
                    "spines": 3,
                    "hosts_per_leaf": 6,
                    "rate": "40 Gb/s",
                    "delay": "100 ns",
                }
            },
            "packet": {"mtu": "4096 B", "header": "78 B"},
            "switch": {
                "buffer": "128 kB",
                "forwarding_delay": "300 ns",
                "flow_control": {"pfc": {"thresholds": thresholds or SHARED}},
            },
            "marking": {"ramp": {}},
            "echo": {"rocev2": {}},
            "response": response or CONNECTX,
            "flows": [{"name": "all", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.3}}}],
            **changes,
        }
    )


def derived(scenario: becalm.Scenario, contributors: int = 17) -> dict[str, Any]:
    made = manager.recommend(scenario, hot_spot_degree=contributors, guideline="becalm_roce")
    return {setting.key.rpartition(".")[2]: setting.value for setting in made.settings}


def test_kmax_feeds_the_link_while_sources_recover() -> None:
    """5 GB/s for the 300 us of a stage are 1.5 MB; Kmin is a quarter."""
    assert derived(fabric()) == {"kmin": 375.0, "kmax": 1500.0, "pmax": 0.01}
    timer = {"dcqcn": {"preset": "connectx", "increase_timer": "100 us"}}
    assert derived(fabric(response=timer)) == {"kmin": 125.0, "kmax": 500.0, "pmax": 0.01}


def test_kmax_is_at_most_xoff_of_one_input_and_kmin_that_of_all() -> None:
    """With alpha 1/8: 6 MB / 8 / (1 + 1/8) for one input."""
    small = {"dynamic": {"alpha": 0.125, "shared": "6 MB"}}
    assert derived(fabric(small)) == {"kmin": 167.0, "kmax": 667.0, "pmax": 0.01}
    # With alpha 8, one input may hold 8/9 of 1.2 MB, and eight inputs 8/65 of it each.
    steep = {"dynamic": {"alpha": 8.0, "shared": "1200 kB"}}
    assert derived(fabric(steep)) == {"kmin": 148.0, "kmax": 1070.0, "pmax": 0.01}
    # Two contributors fill two inputs: a quarter of Kmax is below 8/17.
    assert derived(fabric(steep), 2)["kmin"] == 267.0
    assert derived(fabric({"static": {}}))["kmax"] == 128.0


def test_without_a_stage_that_restores_rates_only_pfc_limits_kmax() -> None:
    """Every cut of the paper's DCQCN lowers the target, too: 12 MB / 2."""
    assert derived(fabric(response={"dcqcn": {}}))["kmax"] == 6000.0
    assert derived(fabric(response={"dcqcn": {"clamp_target": False}}))["kmax"] == 1500.0
    # Four inputs with 128 kB each. Four cables and three switches each way, and a packet of 4174 B.
    trip = 2 * 4 * 100e-9 + 2 * 3 * 300e-9 + 4174 / 5e9
    found = derived(fabric({"static": {}}, response={"dcqcn": {}}))
    assert found == {"kmin": pytest.approx(trip * 5e6, rel=2e-3), "kmax": 512.0, "pmax": 0.01}


def test_kmax_is_a_hundred_round_trips_if_nothing_else_limits_it() -> None:
    """With credits, no pause comes first, and the paper's DCQCN has no stage that restores rates."""
    switch = {"buffer": "128 kB", "forwarding_delay": "300 ns", "flow_control": {"credits": {}}}
    found = derived(fabric(response={"dcqcn": {}}, switch=switch))
    trip = 2 * 4 * 100e-9 + 2 * 3 * 300e-9 + 4174 / 5e9
    assert found["kmax"] == pytest.approx(100 * trip * 5e6, rel=5e-3)


def test_a_ramp_ends_at_four_round_trips_or_below_the_pauses() -> None:
    """The data of a round trip are 17.2 kB, and two packets 8.35 kB."""
    made = ramp(fabric())
    assert (made.kmin, made.kmax) == (17.2, 68.7)
    # Nine ports: PFC pauses an input that feeds one queue from 40 kB on.
    made = ramp(fabric({"dynamic": {"alpha": 1.0, "shared": "400 kB"}}))
    assert (made.kmin, made.kmax) == (8.35, 32.0)


def test_dctcp_gets_a_step_of_one_round_trip() -> None:
    """Between leaves: four cables of 100 ns and three switches each way, and a packet of 4174 B."""
    trip = 2 * 4 * 100e-9 + 2 * 3 * 300e-9 + 4174 / 5e9
    found = derived(fabric(response={"dctcp": {}}))
    assert found == {"kmin": pytest.approx(trip * 5e6, rel=2e-3), "kmax": found["kmin"], "pmax": 1.0}


def test_thresholds_follow_the_rates_of_ports() -> None:
    mixed = {
        "edges": {
            "hosts": ["A", "B", "C"],
            "switches": ["S"],
            "rate": "25 Gb/s",
            "cables": [
                {"between": ["A", "S"], "rate": "100 Gb/s"},
                {"between": ["B", "S"]},
                {"between": ["C", "S"]},
            ],
        }
    }
    found = derived(fabric(topology=mixed), 2)
    assert (found["per"], found["kmax"]) == (100.0, 3750.0)


def test_published_thresholds() -> None:
    scenario = fabric()
    for name, values in {
        "sonic": (1048.576, 2097.152, 0.05, None),
        "mellanox": (2000.0, 10000.0, 0.05, None),
        "arista": (166.912, 282.624, 0.05, None),
        "li2019": (100.0, 400.0, 0.2, 25.0),
        "zhu2015": (5.0, 200.0, 0.01, 40.0),
    }.items():
        ramp = manager.recommend(scenario, guideline=name).apply(scenario).resolved["marking"]["ramp"]
        assert tuple(ramp[key] for key in ("kmin", "kmax", "pmax", "per")) == values


def test_other_keys_of_the_ramp_stay_and_dcqcn_is_added_where_nothing_reacts() -> None:
    own = fabric(marking={"ramp": {"judged": "arrival"}})
    made = manager.recommend(own, guideline="sonic").apply(own).resolved
    assert made["marking"]["ramp"]["judged"] == "arrival"
    assert made["response"] == own.resolved["response"]
    free = own.without_control()
    assert manager.is_roce(free)
    made = manager.recommend(free, guideline="sonic").apply(free).resolved
    assert made["response"]["dcqcn"]["preset"] == "connectx"
    assert "rocev2" in made["echo"]


def test_guidelines_are_for_their_kind_of_fabric() -> None:
    infiniband = becalm.scenario.examples.load("congestion_spreading")
    assert not manager.is_roce(infiniband)
    assert manager.guidelines_for(infiniband) == tuple(manager.GUIDELINES)
    assert manager.guidelines_for(fabric()) == tuple(manager.ROCE)
    with pytest.raises(BecalmError, match="guideline `sonic`: needs PFC, or a response"):
        manager.recommend(infiniband, guideline="sonic")
    with pytest.raises(BecalmError, match="response `timely`: no guideline is for it"):
        manager.guidelines_for(fabric(response={"timely": {}}))


def test_a_review_finds_pauses_before_marks() -> None:
    low: dict[str, Any] = {"static": {}}
    (found,) = manager.review(fabric(low, marking={"ramp": {"kmin": 128.0, "kmax": 200.0}}))
    assert found.key == "marking.ramp.kmin"
    assert "pauses come before marks" in found.problem
    assert manager.review(fabric(low, marking={"ramp": {"kmin": 127.0, "kmax": 200.0}})) == []
    (found,) = manager.review(fabric(low, marking={"none": {}}))
    assert found.key == "marking"


def test_a_tuning_begins_with_the_fabrics_own_parameters() -> None:
    """Those of a preset, too."""
    scenario = fabric()
    found = own_parameters(scenario, roce_space(scenario))
    assert found["response.dcqcn.alpha_timer"] == 1.0
    assert found["response.dcqcn.increase_timer"] == 300.0
    assert found["response.dcqcn.additive_increase"] == 5.0
    assert roce_space(scenario).clipped(found) == found
    paper = own_parameters(fabric(response={"dcqcn": {}}), roce_space(scenario))
    assert paper["response.dcqcn.additive_increase"] == 40.0


def test_without_a_response_there_is_nothing_to_tune() -> None:
    with pytest.raises(BecalmError, match="has PFC, but no response to marks that could be tuned"):
        space_of(fabric().without_control(), 17)


def test_standing_rows_are_trials_of_a_tuning() -> None:
    """Thresholds for 25 Gb/s are those for 40 Gb/s in a ramp without `per`."""
    scenario = fabric()
    rows = rows_of(scenario, 17)
    assert list(rows) == [WITHOUT, NOW, *manager.STANDING]
    found = guideline_parameters(rows["sonic"], scenario)
    assert (found["marking.ramp.kmin"], found["marking.ramp.pmax"]) == (1048.576, 0.05)
    scaled = guideline_parameters(rows_of(scenario, 17, ["li2019"])["li2019"], scenario)
    assert scaled["marking.ramp.kmin"] == pytest.approx(160.0)


def verdict(now: list[float], free: list[float]) -> Verdict:
    losses = {WITHOUT: free, NOW: now, "tuned": [0.5] * len(now)}
    measures = {
        row: [{"loss": loss, "starved": loss, "lost": 0.0} for loss in own] for row, own in losses.items()
    }
    return Verdict(losses, ["2-4"] * 6 + ["more"] * 6, measures)


@pytest.mark.parametrize(("trials", "said"), [(FEW - 1, "undecided: 19 trials"), (FEW, "keep the current")])
def test_few_trials_do_not_say_to_keep_settings_with_a_price(trials: int, said: str) -> None:
    """The current settings are the best row, but cost many contributors .04."""
    found = verdict([0.0] * 6 + [0.14] * 6, [0.3] * 6 + [0.1] * 6)
    tuned = object.__new__(Tuned)
    vars(tuned).update(
        verdict=found, recommended=NOW, broken=[], trials=pl.DataFrame({"number": list(range(trials))})
    )
    assert tuned.answer().startswith(said)
    assert "more contributors get 86% of their link, compared with 90% without control" in tuned.answer()
    cheap = verdict([0.0] * 12, [0.3] * 6 + [0.1] * 6)
    vars(tuned).update(verdict=cheap)
    assert tuned.answer() == "keep the current settings: they are better than every other row"


def managed(file: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["manage", str(file), *options], env={"COLUMNS": "180"})
    return done.exit_code, done.output


def test_manage_writes_thresholds_that_settings_installs(tmp_path: Path) -> None:
    """From a folder of switches to the lines of three vendors."""
    folder, out = example(tmp_path / "switches"), tmp_path / "managed.toml"
    code, output = managed(folder, "--guideline", "becalm_roce", "--contributors", "7", "--out", str(out))
    assert code == 0, output
    assert f"for switches: `becalm settings {out}`" in output.replace("\n", "")
    ramp = becalm.load(out).resolved["marking"]["ramp"]
    assert (ramp["kmin"], ramp["kmax"], ramp["pmax"]) == (937.0, 3750.0, 0.01)
    texts = {name: tmp_path / name for name in ("nvue", "eos")}
    targets = [f"--{name}={file}" for name, file in texts.items()]
    done = CliRunner().invoke(
        app, ["settings", str(out), "--sonic", str(folder), "--out", str(tmp_path / "patches"), *targets]
    )
    assert done.exit_code == 0, done.output
    forth = json.loads((tmp_path / "patches" / "leaf0.json").read_text())
    assert {"3750000", "937000", "1"} <= {each["value"] for each in forth}
    assert "min-threshold 937000" in texts["nvue"].read_text()
    assert "maximum-threshold 3750000 bytes" in texts["eos"].read_text()
    assert managed(folder, "--opensm", str(tmp_path / "conf"))[0] == 2


def test_manage_tries_all_thresholds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("becalm.tunings.guidelines.CASES", 12)
    file = tmp_path / "fabric.toml"
    small = {"clos": {"leaves": 2, "spines": 1, "hosts_per_leaf": 4, "rate": "10 Gb/s"}}
    file.write_text(fabric({"dynamic": {"alpha": 0.5, "shared": "1 MB"}}, topology=small).to_toml())
    found = json.loads(managed(file, "--json")[1])
    assert {each["row"] for each in found["cases"]} == {WITHOUT, NOW, *manager.ROCE}
    best = min(
        (each for each in found["cases"] if each["contributors"] == "all"), key=lambda each: each["loss"]
    )
    if found["guideline"] is None:
        assert found["leave"]
        assert found["parameters"] == []
    else:
        assert found["guideline"] == best["row"]


def test_manage_and_tune_tell_folders_apart(tmp_path: Path) -> None:
    """Switches, results of a run, and other folders."""
    out, results = str(tmp_path / "tuned"), tmp_path / "results"
    folder = example(tmp_path / "switches")
    few = ["--contributors", "3", "--out", out]
    tuned = CliRunner().invoke(app, ["tune", str(folder), "--trials", "1", "--minutes", "0.01", *few])
    assert tuned.exit_code == 0, tuned.output
    assert becalm.load(tmp_path / "tuned" / "tuned.toml").resolved["marking"]["ramp"]
    scenario = fabric(run={"duration": "10 us"})
    becalm.run(scenario, threads=1).save(results)
    code, output = managed(results, "--guideline", "sonic", "--contributors", "3")
    assert code == 0, output
    code, output = managed(tmp_path, "--guideline", "sonic")
    assert (code, output) == (2, f"{tmp_path}: is a folder; valid: a file\n")


def test_manage_refuses_what_has_no_guideline(tmp_path: Path) -> None:
    file = tmp_path / "timely.toml"
    file.write_text(fabric(response={"timely": {}}).to_toml())
    code, output = managed(file)
    assert code == 2
    assert "no guideline is for it" in output
    assert "Traceback" not in output
