"""Both guidelines tried on a fabric."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.cli import app
from becalm.manager import unwind
from becalm.tunings.api import guideline_control
from test_tune import FABRIC


def test_a_table_unwinds_as_long_as_its_timer_takes() -> None:
    """127 entries of 10 units of 1.024 us."""
    fabric = becalm.Scenario(FABRIC)
    made = fabric.replace(guideline_control(fabric, 7, "pfister2005"))
    assert unwind(made) == pytest.approx(127 * 10 * 1.024e-6)
    assert unwind(made.replace({"response.ibta.ccti_limit": 50})) == pytest.approx(50 * 10 * 1.024e-6)


def test_manage_tries_both_guidelines(tmp_path: Path) -> None:
    file, out = tmp_path / "fabric.toml", tmp_path / "managed.toml"
    command = ["manage", str(file), "--hot", "H7", "--out", str(out)]
    file.write_text(FABRIC)
    done = CliRunner().invoke(app, command, env={"COLUMNS": "140"})
    assert done.exit_code == 0, done.output
    (better,) = [
        name for name in manager.GUIDELINES if f"the guideline of {name} does better here" in done.output
    ]
    assert f"By the guideline of {better}" in done.output
    assert all(done.output.count(f" {name} ") >= 2 for name in (*manager.GUIDELINES, "no control"))
    # Gran's table is the longest to unwind: 127 entries of 150 units
    assert "Hot spots of 39.4 ms, one seed" in done.output
    assert out.exists()
    assert CliRunner().invoke(app, ["manage", str(file), "--hot", "H9"]).exit_code == 2
