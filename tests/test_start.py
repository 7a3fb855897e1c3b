"""Start of commands: what they import, and the names of the package."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import becalm

SCENE = """
[run]
duration = "20 us"
[topology.dumbbell]
[[flows]]
name = "a"
from = ["*"]
to = ["*"]
traffic.poisson = {load = 0.3}
"""
SHOWN = """
import sys
from becalm.cli import main
sys.argv = ["becalm", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *sys.modules)
"""
MANY = ("comparison", "designs", "lab", "opensm", "papers", "rl", "sweeps", "theory", "tunings", "whatif")
"""Modules for many runs and for other inputs."""


def imported(*arguments: str) -> set[str]:
    """Return the modules that a command has imported at its end."""
    command = [sys.executable, "-c", SHOWN, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.partition("imported:")[2].split())


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Return the file of a tiny scenario."""
    file = tmp_path / "tiny.toml"
    file.write_text(SCENE)
    return file


def test_help_imports_no_tables_and_runs_nothing() -> None:
    heavy = {"polars", "numpy", "scipy", *(f"becalm.{name}" for name in (*MANY, "explanations", "results"))}
    found = imported("--help")
    assert "becalm.cli.run" in found
    assert not found & heavy


def test_a_run_imports_what_its_options_need(scene: Path, tmp_path: Path) -> None:
    heavy = {"scipy", *(f"becalm.{name}" for name in (*MANY, "explanations", "reports", "schemes", "traces"))}
    found = imported("run", str(scene), "--out", str(tmp_path / "out"))
    assert "becalm.results" in found
    assert not found & heavy
    page = tmp_path / "run.html"
    assert "becalm.reports.page" in imported("run", str(scene), "--quiet", "--report", str(page))


def test_every_name_of_the_package_comes_from_its_module() -> None:
    assert set(becalm._PLACES) | {"__version__"} == set(becalm.__all__)
    for name, module in becalm._PLACES.items():
        assert getattr(becalm, name) is getattr(importlib.import_module(f"becalm.{module}"), name)
    assert {*becalm.__all__, "network", "sweeps"} <= set(dir(becalm))
    assert becalm.sweeps.sweep is becalm.sweep
    with pytest.raises(AttributeError, match="module 'becalm' has no attribute 'runn'"):
        getattr(becalm, "runn")  # noqa: B009 - the type checker knows the names


def test_results_alone_show_their_report(scene: Path) -> None:
    code = "import sys, becalm; print(becalm.run(becalm.load(sys.argv[1]))._repr_html_()[:7])"
    done = subprocess.run([sys.executable, "-c", code, scene], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "<iframe"
