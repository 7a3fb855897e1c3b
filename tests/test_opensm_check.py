"""Checks of OpenSM configurations find planted faults and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.base.errors import ScenarioError
from becalm.base.findings import Finding
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.check import check
from becalm.opensm.configuration import load
from becalm.opensm.importing import import_fabric
from becalm.opensm.keys import KEYS
from becalm.opensm.options import configuration, rollback
from fabrics import DATA
from opensm_faults import DEFAULT, FAULTS, GOOD


def found(folder: Path, text: str) -> list[Finding]:
    file = folder / "opensm.conf"
    file.write_text(text)
    return check(file)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    there, planted, expected = FAULTS[fault]
    assert there in GOOD
    text = GOOD.replace(there, planted, 1)
    findings = found(tmp_path, text)
    hits = [each for each in findings if expected in each.reason]
    assert hits, [each.reason for each in findings]
    for each in findings:
        assert each.key in text.splitlines()[(each.line or 0) - 1]
    assert all(each.cure for each in findings)


@pytest.mark.parametrize("text", [DEFAULT, GOOD, f"{DEFAULT}\n{GOOD}"], ids=["default", "good", "appended"])
def test_nothing_is_found_where_nothing_is_wrong(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("guideline", list(manager.GUIDELINES))
def test_nothing_is_found_in_what_becalm_writes(guideline: str, tmp_path: Path) -> None:
    fabric = DATA / "ft2_18" / "ibnetdiscover.txt"
    source = becalm.Scenario(import_fabric(fabric).text).replace({"adapter.drain_rate": "20 Gb/s"})
    recommendation = manager.recommend(source, hot_spot_degree=6, guideline=guideline)
    managed = recommendation.apply(source)
    written = configuration(managed, recommendation, fabric)
    zeros = rollback(managed, fabric)
    for text in (written, zeros, f"{DEFAULT}{written}"):
        (tmp_path / "opensm.conf").write_text(text)
        assert check(tmp_path / "opensm.conf", ibnetdiscover.read(fabric)) == []
    (tmp_path / "opensm.conf").write_text(zeros)
    taken_back = load(tmp_path / "opensm.conf")
    (tmp_path / "set.conf").write_text(written)
    assert taken_back.settings.keys() == load(tmp_path / "set.conf").settings.keys()
    for place, setting in taken_back.settings.items():
        if place.key != "congestion_control" and not place.key.endswith("control_map"):
            assert setting.value in (0, (0, 0), [(0, 0)]), place


def test_ports_without_cables_are_found_in_the_fabric(tmp_path: Path) -> None:
    fabric = ibnetdiscover.read(DATA / "ft2_18" / "ibnetdiscover.txt")
    file = tmp_path / "opensm.conf"
    file.write_text(GOOD)
    assert check(file, fabric) == []
    file.write_text(GOOD.replace("0000003FE", "FFE0003FE", 1))
    (finding,) = check(file, fabric)
    assert "no switch has a cable at port 25, 26, 27" in finding.reason


def test_a_comment_of_which_the_end_is_read_is_found(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "#" + "x" * 1021 + " lmc 3\n")
    assert "finds `lmc`" in finding.reason
    assert load(tmp_path / "opensm.conf").value("lmc") == 3


@settings(deadline=None)
@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*KEYS, "=", "TRUE", "0", ":", ",", "\n", "#", "-1", " "])).map("".join)
)
def test_any_text_is_read(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "any.conf"
        file.write_text(text, newline="")
        try:
            found = check(file)
        except ScenarioError as error:
            assert "is not a configuration of OpenSM" in str(error)
            return
        for finding in found:
            assert finding.message().isprintable()


def test_the_command_has_an_exit_code_for_each_outcome(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.conf", tmp_path / "bad.conf"
    good.write_text(GOOD)
    bad.write_text(GOOD.replace("0x0F", "16", 1))
    runner = CliRunner()
    result = runner.invoke(app, ["check-opensm", str(good)])
    assert (result.exit_code, result.output) == (0, f"{good}: ok\n")
    result = runner.invoke(app, ["check-opensm", str(bad)])
    assert result.exit_code == 1
    assert (
        f"{bad}:7: warning: cc_sw_cong_setting_threshold 16: OpenSM sends only its low 4 bits"
        in result.output
    )
    result = runner.invoke(app, ["check-opensm", str(bad), "--json"])
    assert [json.loads(line)["line"] for line in result.output.splitlines()] == [7]
    (tmp_path / "binary.conf").write_bytes(b"\xff\xfe")
    for file in ("binary.conf", "none.conf"):
        assert runner.invoke(app, ["check-opensm", str(tmp_path / file)]).exit_code == 2


def test_an_export_replaces_no_rollback_of_somebody(tmp_path: Path) -> None:
    source, target = tmp_path / "fabric.toml", tmp_path / "cc.conf"
    source.write_text(import_fabric(DATA / "ft2_18" / "ibnetdiscover.txt").text)
    mine = tmp_path / "cc.conf.rollback"
    mine.write_text("mine")
    guided = ["--guideline", "becalm", "--degree", "4"]
    arguments = ["manage", str(source), *guided, "--opensm", str(target)]
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, "cc.conf.rollback: already exists" in result.output) == (2, True)
    assert (mine.read_text(), target.exists()) == ("mine", False)
    mine.unlink()
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert check(target) == check(mine) == []
    both = tmp_path / "both.conf"
    both.write_text(target.read_text() + mine.read_text())
    undone = load(both)
    assert not any(undone.levels("cc_ca_cong_setting_ccti_increase"))
    assert undone.value("cc_sw_cong_setting_threshold") == 0


SL = "cc_ca_cong_setting"
HARMFUL = {
    "a table that stops": ("cc_cct", ",".join(["0:0", *["0:16383"] * 127]), "all but stops a source"),
    "a steep end": (
        "cc_cct",
        ",".join(["0:0"] + [f"0:{i}" for i in range(1, 127)] + ["1:16383"]),
        "entry 127 all",
    ),
    "no free first entry": ("cc_cct", ",".join(f"0:{i}" for i in range(12, 140)), "waits 12 packet times"),
    "a least index": (f"{SL}_ccti_min", "0 100", "even without marks"),
    "a small least index": (f"{SL}_ccti_min", "0 3", "even without marks"),
    "a timer without end": (f"{SL}_ccti_timer", "0 65535", "needs up to 8.5 s"),
    "no timer": (f"{SL}_ccti_timer", "0 0", "never regains its rate"),
    "every packet marked": ("cc_sw_cong_setting_threshold", "0x0F", "mark every packet"),
}
LIVE = f"""\
congestion_control TRUE
cc_sw_cong_setting_control_map 0x15
cc_sw_cong_setting_victim_mask 0x0
cc_sw_cong_setting_threshold 0x08
cc_sw_cong_setting_packet_size 8
cc_sw_cong_setting_marking_rate 0
{SL}_port_control 0x0000
{SL}_control_map 0x0001
{SL}_ccti_timer 0 150
{SL}_ccti_increase 0 1
{SL}_trigger_threshold 0 0
{SL}_ccti_min 0 0
cc_cct {",".join(f"0:{i}" for i in range(128))}
"""


@pytest.mark.parametrize("what", HARMFUL)
def test_what_can_harm_a_live_fabric_is_a_warning(what: str, tmp_path: Path) -> None:
    key, value, expected = HARMFUL[what]
    assert found(tmp_path, LIVE) == []
    lines = [f"{key} {value}" if line.split()[0] == key else line for line in LIVE.splitlines()]
    findings = [each for each in found(tmp_path, "\n".join(lines) + "\n") if each.severity == "error"]
    assert [expected in each.reason for each in findings] == [True], findings
    done = CliRunner().invoke(app, ["check-opensm", str(tmp_path / "opensm.conf")])
    assert (done.exit_code, "error: " in done.output) == (1, True)


def test_a_harmful_export_needs_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = becalm.Scenario(import_fabric(DATA / "ft2_18" / "ibnetdiscover.txt").text)
    managed = manager.recommend(source, hot_spot_degree=6, guideline="gran2010").apply(source)
    Path("bad.toml").write_text(managed.replace({"response.ibta.ccti_min": 100}).to_toml())
    Path("good.toml").write_text(managed.to_toml())

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["manage", *arguments])
        return done.exit_code, done.output

    code, expected = run("bad.toml", "--guideline", "none", "--opensm", "cc.conf")
    assert (code, "ccti_min" in expected, "override with --force" in expected) == (2, True, True)
    assert sorted(each.name for each in Path().iterdir()) == ["bad.toml", "good.toml"]
    code, expected = run("bad.toml", "--guideline", "none", "--opensm", "cc.conf", "--force")
    assert (code, "error: " in expected, Path("cc.conf").exists()) == (0, True, True)
    code, expected = run("good.toml", "--guideline", "none", "--sl", "0", "--opensm", "good.conf")
    assert (code, "error: " in expected) == (0, False)
    assert run("good.toml", "--force")[0] == 2


def test_a_configuration_of_nvidias_opensm_has_one_message(tmp_path: Path) -> None:
    file = tmp_path / "opensm.conf"
    file.write_text(
        "routing_engine ar_updn\nar_mode 1\nmlnx_congestion_control 2\n"
        "congestion_control_policy_file /etc/opensm/cc.conf\ncongestion_control TRUE\n"
    )
    done = CliRunner().invoke(app, ["check-opensm", str(file)])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "this is a configuration of NVIDIA's OpenSM (mlnx_congestion_control)" in done.output
    file.write_text("# ar_mode 1\ncongestion_control FALSE\n")
    assert check(file) == []
