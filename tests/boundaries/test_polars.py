"""Polars and Parquet: tables of strangers. They hold no code, and what does not fit ends with one message."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import ResultsError
from becalm.base.parquet import read_table, write_table
from becalm.cli import app
from becalm.results import MANIFEST, load_results
from conftest import SMALL


@pytest.fixture(scope="module")
def results() -> becalm.Results:
    return becalm.run(becalm.Scenario(SMALL, name="small.toml").replace({"run.duration": "60 us"}))


def with_table(folder: Path, name: str, table: pl.DataFrame) -> None:
    """Replace a table, with the checksum of the new one in the manifest."""
    table.write_parquet(folder / f"{name}.parquet")
    manifest = json.loads((folder / MANIFEST).read_text())
    digest = hashlib.sha256((folder / f"{name}.parquet").read_bytes()).hexdigest()
    manifest["tables"][name] |= {"sha256": digest, "rows": table.height}
    (folder / MANIFEST).write_text(json.dumps(manifest))


def test_an_object_cannot_be_written_as_a_table() -> None:
    with pytest.raises(pl.exceptions.PolarsError):
        pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}).write_parquet(io.BytesIO())


FIRST_ARRAYS = """
import importlib, sys, threading
import numpy
sys.modules.pop("numpy")
import polars._dependencies as lazy
sys.modules["numpy"] = numpy
from becalm.base import columns

entered, ended = [], threading.Event()
both = threading.Event()

def load(name):
    entered.append(name)
    if len(entered) == 1:
        both.wait(0.5)
    else:
        both.set()
        ended.wait(5)
    return importlib.import_module(name)

def first(number):
    made[number] = columns.series(numpy.arange(3)).to_list()
    ended.set()

made = {}
lazy.import_module = load
threads = [threading.Thread(target=first, args=(number,)) for number in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(entered), made[0] == made[1] == [0, 1, 2])
"""


def test_two_threads_may_make_the_first_array() -> None:
    """Polars' own loading of NumPy ends with a TypeError if the second thread is late."""
    done = subprocess.run([sys.executable, "-c", FIRST_ARRAYS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1 True\n", "")


def test_other_columns_are_refused(results: becalm.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "results")
    with_table(folder, "flows", results.flows.rename({"rate": "speed"}))
    with pytest.raises(ResultsError, match="its columns and the units in the manifest differ: rate, speed"):
        load_results(folder)
    for command in (("explain", str(folder)), ("report", str(folder), "--out", str(tmp_path / "page.html"))):
        assert CliRunner().invoke(app, command).exit_code == 2


def test_a_name_is_no_pattern(results: becalm.Results, tmp_path: Path) -> None:
    """Polars interprets names as patterns; becalm passes open files."""
    folder = results.save(tmp_path / "a[b]*")
    assert load_results(folder).fingerprint == results.fingerprint


def test_an_error_while_writing_keeps_its_own_reason(results: becalm.Results) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_table(results.flows, Full(), {}, lambda: None)


def test_what_looks_like_parquet_is_not_read_with_another_checksum(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    file.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(ResultsError, match="its content has changed"):
        read_table(file, "0" * 64, 1, ["a"])
    with pytest.raises(ResultsError, match="damaged"):
        read_table(file, hashlib.sha256(file.read_bytes()).hexdigest(), 1, ["a"])
