"""Configurations of OpenSM: planted faults are found, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.check import check
from becalm.opensm.configuration import Finding, load
from becalm.opensm.importing import import_fabric
from becalm.opensm.keys import KEYS
from becalm.opensm.options import configuration, rollback
from fabrics import DATA

DEFAULT = (DATA / "opensm-default.conf").read_text()
"""What OpenSM 3.3.23 writes by itself."""
GOOD = (DATA / "opensm-loaded.conf").read_text()
"""A configuration for congestion control, as OpenSM wrote it after loading."""

SW, CA = "cc_sw_cong_setting_", "cc_ca_cong_setting_"
TABLE = next(line for line in GOOD.splitlines() if line.startswith("cc_cct"))
LONG = ",".join(f"0:{12000 + place}" for place in range(128))

FAULTS = {
    "a threshold of 16 is 0 on the wire": ("threshold 0x0F", "threshold 16", "low 4 bits alone: 0"),
    "so is that of starvation": (
        "starvation_threshold 0x09",
        "starvation_threshold 16",
        "alone: 0, which is off",
    ),
    "a multiplier wraps": ("0:0,3:1", "0:16385,3:1", "sends 0:16385 as 1:1"),
    "a shift has two bits": ("delay 2:77", "delay 4:77", "sends 4:77 as 0:77"),
    "TRUE has capitals": ("control TRUE", "control true", "takes everything but TRUE"),
    "a table of one entry": (TABLE, "cc_cct 0:3", "a table of one entry means none"),
    "more entries than 128": (TABLE, TABLE + ",3:155,3:155", "takes 128 entries and drops the other 2"),
    "a line that is cut": (TABLE, f"cc_cct {LONG}", "takes the rest for a line of its own"),
    "an entry that is none": ("0:0,3:1", "0:0,3;1", "does not take a table with `3;1` in it"),
    "a key misspelt": ("marking_rate", "making_rate", "does not know this key"),
    "a key with an equals sign": (
        "congestion_control TRUE",
        "congestion_control=TRUE",
        "does not know this key",
    ),
    "a number too large": ("packet_size 8", "packet_size 256", "out of range"),
    "no number": ("marking_rate 1", "marking_rate often", "takes whole numbers alone"),
    "octal by accident": ("packet_size 8", "packet_size 010", "octal: 8"),
    "a value without its service level": ("timer 0 150", "timer 150", "without a service level"),
    "a service level that is none": ("timer 1 150", "timer 16 150", "with such a service level"),
    "a mask in decimals": ("victim_mask 0x" + "0" * 61, "victim_mask 1", "for hexadecimal"),
    "a bit of the control map is missing": ("control_map 0x1F", "control_map 0x1B", "needs bit 0x4"),
    "a bit without a meaning": ("control_map 0x1F", "control_map 0x3F", "no meaning"),
    "settings of a service level that is not set up": ("map 0x0003", "map 0x0001", "SL 1 is not in"),
    "a service level without a timer": ("timer 1 150", "timer 1 0", "stays so for ever"),
    "a service level without an increase": ("increase 0 1\n", "increase 0 0\n", "slows nobody down"),
    "an index beyond the table": (
        "ccti_min 0 2",
        "ccti_min 0 128",
        "beyond the table, whose last index is 127",
    ),
    "an index that is never reached": ("threshold 0 100", "threshold 0 200", "gets to 127 at most"),
    "a table that falls": ("3:153,3:155", "3:153,0:1", "entry 127 is below"),
    "packets that are never marked": ("packet_size 8", "packet_size 200", "none is as large"),
    "adapters without switches": ("setting_threshold 0x0F", "setting_threshold 0", "no switch marks"),
    "starvation without its mask": ("credit_mask 0x", "no_mask 0x", "no credit comes late without"),
    "two values for one key": (
        "marking_rate 1",
        "marking_rate 2\ncc_sw_cong_setting_marking_rate 1",
        "what line 12",
    ),
    "a value that is replaced": ("cc_key", "lmc 9\ncc_key", "takes 0 in its place"),
    "a word that is none": ("cc_key", "part_enforce on\ncc_key", "takes both"),
    "congestion control forgotten": ("congestion_control TRUE\n", "", "congestion_control is not TRUE"),
}
"""By name: what stands in a good configuration, what is put there, and what is to be found."""


def found(folder: Path, text: str) -> list[Finding]:
    file = folder / "opensm.conf"
    file.write_text(text)
    return check(file)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    there, planted, told = FAULTS[fault]
    assert there in GOOD
    text = GOOD.replace(there, planted, 1)
    findings = found(tmp_path, text)
    hits = [each for each in findings if told in each.does]
    assert hits, [each.does for each in findings]
    for each in findings:
        assert each.key in text.splitlines()[each.line - 1]
    assert all(each.valid for each in findings)


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
    assert "no switch has a cable at port 25, 26, 27" in finding.does


def test_a_comment_of_which_the_end_is_read_is_found(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "#" + "x" * 1021 + " lmc 3\n")
    assert "finds `lmc`" in finding.does
    assert load(tmp_path / "opensm.conf").value("lmc") == 3


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*KEYS, "=", "TRUE", "0", ":", ",", "\n", "#", "-1", " "])).map("".join)
)
def test_any_text_is_read(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "any.conf"
        file.write_text(text, newline="")
        for finding in check(file):
            assert finding.told("f").isprintable()


def test_the_command_has_an_exit_code_for_each_outcome(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.conf", tmp_path / "bad.conf"
    good.write_text(GOOD)
    bad.write_text(GOOD.replace("0x0F", "16", 1))
    runner = CliRunner()
    result = runner.invoke(app, ["check-opensm", str(good)])
    assert (result.exit_code, result.output) == (0, f"{good}: ok\n")
    result = runner.invoke(app, ["check-opensm", str(bad)])
    assert result.exit_code == 1
    assert f"{bad}:7: cc_sw_cong_setting_threshold 16: OpenSM sends its low 4 bits" in result.output
    result = runner.invoke(app, ["check-opensm", str(bad), "--json"])
    assert [json.loads(line)["line"] for line in result.output.splitlines()] == [7]
    (tmp_path / "binary.conf").write_bytes(b"\xff\xfe")
    for file in ("binary.conf", "none.conf"):
        assert runner.invoke(app, ["check-opensm", str(tmp_path / file)]).exit_code == 2
