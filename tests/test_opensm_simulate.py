"""Runs with an OpenSM configuration simulate the values that the devices receive."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.importing import import_fabric, numbered, places
from becalm.opensm.options import configuration, rollback
from becalm.opensm.simulate import with_configuration
from fabrics import DATA, TREE, discovered, written

GOOD = DATA / "opensm-loaded.conf"
FABRIC = DATA / "ft2_18" / "ibnetdiscover.txt"


@pytest.fixture(scope="module")
def fabric() -> becalm.Scenario:
    imported = import_fabric(FABRIC, DATA / "ft2_18" / "opensm-lfts.dump")
    short = {"run.duration": "300 us", "run.warmup": "0 s"}
    return becalm.Scenario(imported.text, name="fabric.toml").replace(short)


def loaded(folder: Path, scenario: becalm.Scenario, text: str) -> becalm.Scenario:
    file = folder / "opensm.conf"
    file.write_text(text)
    return with_configuration(scenario, file)


@pytest.mark.parametrize("guideline", list(manager.GUIDELINES))
def test_what_becalm_writes_comes_back(guideline: str, fabric: becalm.Scenario, tmp_path: Path) -> None:
    recommendation = manager.recommend(fabric, hot_spot_degree=8, guideline=guideline)
    managed = recommendation.apply(fabric)
    back = loaded(tmp_path, fabric, configuration(managed, recommendation))
    ours, theirs = managed.resolved["response"]["ibta"], back.resolved["response"]["ibta"]
    for key in ("ccti_timer", "ccti_increase", "ccti_min", "trigger_threshold"):
        assert theirs[key] == ours[key]
    assert back.summary["cct"] == pytest.approx(managed.summary["cct"], abs=1 / 16)
    again = manager.recommend(back, guideline="none")
    assert loaded(tmp_path, fabric, configuration(back, again)) == back
    if guideline == "gran2010":
        assert back.resolved["marking"] == managed.resolved["marking"]
    zeros = loaded(tmp_path, fabric, rollback(managed))
    assert becalm.run(zeros).fingerprint == becalm.run(fabric).fingerprint


def test_without_congestion_control_the_rest_is_not_used(fabric: becalm.Scenario, tmp_path: Path) -> None:
    off = loaded(tmp_path, fabric, GOOD.read_text().replace("control TRUE", "control true"))
    assert [*off.resolved["marking"], *off.resolved["response"]] == ["none", "none"]


def test_devices_get_what_fits_on_the_wire(fabric: becalm.Scenario, tmp_path: Path) -> None:
    text = GOOD.read_text().replace("3FE", "000").replace("threshold 0x0F", "threshold 0x1C")
    made = loaded(tmp_path, fabric, text.replace("0:0,0:0", "0:0,0:20000", 1))
    assert made.resolved["marking"]["ibta"]["threshold"] == 12
    assert made.summary["cct"][1] == 3616 / 2
    bits = loaded(tmp_path, fabric, text.replace("control_map 0x1F", "control_map 0x1"))
    assert bits.resolved["marking"]["ibta"]["threshold"] == 0


def test_service_levels_have_their_own_settings(fabric: becalm.Scenario, tmp_path: Path) -> None:
    source = fabric.replace({"switch.vls": 2, "flows.hot_spot.sl": 1})
    text = GOOD.read_text().replace("3FE", "000").replace("timer 1 150", "timer 1 20")
    with pytest.raises(becalm.ScenarioError, match="slows down service levels"):
        loaded(tmp_path, source, text)
    text = text.replace("port_control 0x0001", "port_control 0x0000")
    made = loaded(tmp_path, source, text).resolved
    assert made["response"]["ibta"]["ccti_timer"] == 150
    assert made["flows"][1]["response"]["ibta"]["ccti_timer"] == 20
    left_out = loaded(tmp_path, source, text.replace("control_map 0x0003", "control_map 0x0001")).resolved
    assert left_out["flows"][1]["response"].keys() == {"none"}


def test_a_mask_of_some_ports_needs_the_fabric_it_is_for(fabric: becalm.Scenario, tmp_path: Path) -> None:
    with pytest.raises(becalm.ScenarioError, match=r"opensm-loaded\.conf:5.*--fabric"):
        with_configuration(fabric, GOOD)
    made = with_configuration(fabric, GOOD, ibnetdiscover.read(FABRIC))
    overrides = made.resolved["marking"]["ibta"]["overrides"]
    assert {each["switches"][0]: each["ports"] for each in overrides if each["victim"]}["leaf1"] == list(
        range(9)
    )
    becalm.run(made)
    with pytest.raises(becalm.ScenarioError, match="has 16 hosts and 20 switches"):
        with_configuration(fabric, GOOD, ibnetdiscover.read(DATA / "ft3_16" / "ibnetdiscover.txt"))
    other = tmp_path / "other.txt"
    other.write_text(FABRIC.read_text().replace('"host3"', '"guest3"').replace('"host3 ', '"guest3 '))
    with pytest.raises(becalm.ScenarioError, match="has a cable from guest3 to leaf0"):
        with_configuration(fabric, GOOD, ibnetdiscover.read(other))


def test_masks_name_the_ports_of_infiniband_not_of_the_scenario(tmp_path: Path) -> None:
    file, _ = written(tmp_path, discovered(TREE))
    source = becalm.Scenario(import_fabric(file).text)
    read = ibnetdiscover.read(file)
    conf = tmp_path / "opensm.conf"
    conf.write_text(GOOD.read_text().replace("credit_mask 0x" + "0" * 61 + "3FE", "credit_mask 0x0"))
    made = with_configuration(source, conf, read)
    numbers = {(read.name(end), place): end.port for end, place in places(numbered(read)).items()}
    named = {
        (switch, numbers[switch, port])
        for each in made.resolved["marking"]["ibta"]["overrides"]
        for switch in each["switches"]
        for port in each["ports"]
    }
    expected = {(switch.name, port) for switch in read.switches for port in switch.ports if 1 <= port <= 9}
    assert named == expected


def test_the_command_runs_it(fabric: becalm.Scenario, tmp_path: Path) -> None:
    file, folder = tmp_path / "fabric.toml", tmp_path / "results"
    file.write_text(fabric.to_toml())
    runner = CliRunner()
    arguments = ["run", str(file), "--out", str(folder), "--quiet"]
    result = runner.invoke(app, [*arguments, "--opensm", str(GOOD), "--fabric", str(FABRIC)])
    assert result.exit_code == 0, result.output
    assert "ibta" in becalm.load_results(folder).scenario.resolved["response"]
    assert runner.invoke(app, [*arguments, "--overwrite", "--fabric", str(FABRIC)]).exit_code == 2
