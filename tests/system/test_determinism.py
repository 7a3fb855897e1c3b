"""The same scenario and seed yield the same bits with any threads, hash seed, locale, folder or time zone."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

import commands

CHANGES = (
    "--set",
    "run.replications=2",
    "--set",
    'observe.snapshots=["500 us"]',
    "--set",
    "observe.paces=true",
)
ENVIRONMENTS = {
    "one thread": ({}, 1),
    "two threads": ({}, 2),
    "seven threads": ({}, 7),
    "hashes and Turkish": ({"PYTHONHASHSEED": "0", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, 2),
    "ASCII in Kiritimati": (
        {
            "LC_ALL": "C",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONHASHSEED": "4294967295",
            "PYTHONUTF8": "0",
            "TZ": "Pacific/Kiritimati",
        },
        2,
    ),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    from conftest import SMALL

    folder = tmp_path_factory.mktemp("reference")
    (folder / "small.toml").write_text(SMALL)
    return _digests(folder, "small.toml", {}, 2)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_table_is_the_same_to_the_last_bit(
    name: str, file: Path, tmp_path: Path, reference: dict[str, str]
) -> None:
    environment, threads = ENVIRONMENTS[name]
    elsewhere = tmp_path / "a folder" / "of anöther name"
    elsewhere.mkdir(parents=True)
    assert _digests(elsewhere, file, environment, threads) == reference


def test_this_build_gives_the_same_bits_as_any_other() -> None:
    """A Rust test checks the same fingerprint in a build with debug assertions."""
    import becalm

    folder = Path(__file__).parents[1] / "data" / "same_bits"
    results = becalm.run(becalm.load(folder / "scenario.toml"))
    assert results.fingerprint == (folder / "fingerprint").read_text().strip()


def _digests(folder: Path, file: Path | str, environment: dict[str, str], threads: int) -> dict[str, str]:
    """Return the digests of all table files, and the fingerprints."""
    done = commands.becalm(
        "run", file, "-q", "--out", "out", "--threads", threads, *CHANGES,
        cwd=folder, env={**os.environ, **environment},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    tables = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "out").glob("*.parquet")
    }
    assert {"snapshots.parquet", "paces.parquet", "flows.parquet"} <= set(tables)
    manifest = json.loads((folder / "out" / "manifest.json").read_text())
    return {
        **tables,
        "fingerprints": " ".join(manifest["fingerprints"]),
        "hash": manifest["scenario"]["hash"],
    }
