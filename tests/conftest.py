"""Shared fixtures: a short scenario, and processes with becalm imported."""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

# Set before NumPy is imported: its busy-waiting threads double the run time on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Images of containers set these, and they hide mistakes with buffered output and with old bytecode.
os.environ.pop("PYTHONUNBUFFERED", None)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import becalm

sys.dont_write_bytecode = False

PRELOADED = ("becalm.cli", "becalm.cli.console", "filelock", "numpy", "polars", "pytest", "typer._adapters")
"""Modules imported by becalm's commands and by the tests that start them."""

SMALL = (Path(__file__).parent / "data" / "small.toml").read_text()


@pytest.fixture(scope="session")
def prepared() -> ForkServerContext:
    """A server for processes that start with becalm imported, so that many can start together at low cost."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    return context


@pytest.fixture
def text() -> str:
    return SMALL


@pytest.fixture
def scenario() -> becalm.Scenario:
    return becalm.Scenario(SMALL, name="small.toml")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
