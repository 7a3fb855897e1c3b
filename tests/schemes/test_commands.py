"""The commands for schemes of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from becalm.cli import app
from becalm.schemes import starts

RUN = CliRunner()


@pytest.mark.parametrize("like", starts.names())
def test_a_start_passes_its_check(tmp_path: Path, like: str) -> None:
    file = tmp_path / "my_own.py"
    made = RUN.invoke(app, ["new-scheme", str(file), "--like", like])
    assert made.exit_code == 0 and "MyOwn" in file.read_text(), made.output
    checked = RUN.invoke(app, ["check-scheme", f"{file}:MyOwn"])
    assert checked.exit_code == 0 and "FAIL" not in checked.output, checked.output


def test_a_scheme_that_shares_state_or_never_slows_down_fails(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(
        "import becalm\n\n\nclass Wrong(becalm.Response):\n    seen = [0]\n\n"
        "    def on_ack(self, now, ack):\n        self.seen[0] += 1\n        self.gap = 1.0 / self.seen[0]\n"
    )
    checked = RUN.invoke(app, ["check-scheme", f"{file}:Wrong"])
    assert checked.exit_code == 1
    failed = [line for line in checked.output.splitlines() if line.startswith("FAIL")]
    assert any("the same notices, the same paces" in line for line in failed)
    assert any("flows that share nothing" in line for line in failed)
    assert any("slower under congestion" in line for line in failed)


def test_the_option_uses_the_scheme_and_the_results_name_its_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    RUN.invoke(app, ["new-scheme", str(file)])
    run = ["run", "--example", "input_triggered_lipd", "--out", str(tmp_path / "results"), "--quiet"]
    done = RUN.invoke(
        app, [*run, "--response", f"{file}:Mine", "--set", "response.external.parameters.rmin=0.01"]
    )
    assert done.exit_code == 0, done.output
    manifest = (tmp_path / "results" / "manifest.json").read_text()
    assert '"sha256"' in manifest and '"rmin": 0.01' in manifest
    shown = RUN.invoke(app, ["explain", str(tmp_path / "results")])
    assert shown.exit_code == 0, shown.output
    wrong = RUN.invoke(app, [*run, "--overwrite", "--marking", f"{file}:Mine"])
    assert wrong.exit_code == 2 and "is no marking scheme; use --response" in wrong.output
