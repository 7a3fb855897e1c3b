"""All results of `--short` state its limits."""

from __future__ import annotations

import polars as pl
import pytest

from becalm import comparison
from becalm.cli import console


def test_a_warning_beside_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    console.warn_short(True)
    console.warn_short(False)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [f"--short: {console.SHORT}"]
    assert "full runs may reverse rankings and verdicts" in console.SHORT


def test_tables_of_short_runs_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("background", "background_low", "background_high")
    table = pl.DataFrame({"scheme": ["LIPD"], "settled": [True], **{name: [0.5] for name in columns}})
    console.show_comparison([comparison.shown(("tree", table))], short=True)
    short = " ".join(capsys.readouterr().out.split())
    console.show_comparison([comparison.shown(("tree", table))])
    full = capsys.readouterr().out
    assert "tree; shorter runs and fewer points (full runs may reverse rankings and verdicts)" in short
    assert "shorter" not in full
