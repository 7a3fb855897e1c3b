"""Guidelines compared on a fabric."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.cli import app
from becalm.manager import unwind
from becalm.tunings.guidelines import choose
from becalm.tunings.verdict import guideline_control
from test_tune import FABRIC


def test_a_table_unwinds_as_long_as_its_timer_takes() -> None:
    """127 entries, each after 10 units of 1.024 us."""
    fabric = becalm.Scenario(FABRIC)
    made = fabric.replace(guideline_control(fabric, 7, "pfister2005"))
    assert unwind(made) == pytest.approx(127 * 10 * 1.024e-6)
    assert unwind(made.replace({"response.ibta.ccti_limit": 50})) == pytest.approx(50 * 10 * 1.024e-6)


@pytest.mark.parametrize("rate", ["10 Gb/s", "25 Gb/s", "100 Gb/s"])
def test_a_becn_of_becalms_guideline_lasts_38_packet_times(rate: str) -> None:
    fabric = becalm.Scenario(FABRIC.replace("25 Gb/s", rate))
    made = manager.recommend(fabric, hot_spot_degree=7, guideline="becalm")
    values = {setting.key: setting.value for setting in made.settings}
    step = values["response.ibta.ccti_timer"] * 1.024e-6 / fabric.summary["packet_time"]
    assert values["response.ibta.ccti_increase"] * step == pytest.approx(38, abs=step / 2)


def test_manage_compares_all_guidelines(tmp_path: Path) -> None:
    file, out = tmp_path / "fabric.toml", tmp_path / "managed.toml"
    command = ["manage", str(file), "--hot", "H7", "--contributors", "5", "--out", str(out)]
    file.write_text(FABRIC)
    done = CliRunner().invoke(app, command, env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    (better,) = [
        name
        for name in manager.GUIDELINES
        if f"the guideline with the smallest loss here is {name};" in done.output
    ]
    assert f"Guideline: {better}" in done.output
    assert all(done.output.count(f" {name} ") >= 1 for name in (*manager.GUIDELINES, "no control"))
    assert "± 95%" in done.output
    assert out.exists()
    assert CliRunner().invoke(app, ["manage", str(file), "--hot", "H9"]).exit_code == 2


def test_without_a_number_of_contributors_all_sizes_are_tried(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    file.write_text(FABRIC)
    done = CliRunner().invoke(app, ["manage", str(file)], env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    tried = choose(becalm.Scenario(FABRIC), list(manager.GUIDELINES))
    assert list(tried[0].links) == [2, 4, 7]
    if tried[0].short:
        assert "warning: no guideline reaches 95% at all sizes" in done.output
    else:
        assert f"chosen: {tried[0].guideline} for {tried[0].contributors} contributors" in done.output
    file.write_text(FABRIC.replace("ports = 4", "ports = 8"))
    done = CliRunner().invoke(
        app, ["manage", str(file), "--guideline", "pfister2005"], env={"COLUMNS": "140"}
    )
    assert "warning: no guideline reaches 95% at all sizes; chosen: pfister2005" in done.output
    assert CliRunner().invoke(app, ["manage", str(file), "--guideline", "nobody"]).exit_code == 2
