"""Zip: the file of a run in a store. Nothing in it is a path, runs, or expands without a limit."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Collection
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import StoreError
from becalm.base.parquet import mismatch
from becalm.cli import app
from becalm.results import MANIFEST
from becalm.store import Store, archive
from conftest import SMALL

KEY = "ab" * 32


@pytest.fixture(scope="module")
def content() -> bytes:
    return archive.pack(
        becalm.run(becalm.Scenario(SMALL).replace({"run.duration": "60 us"})), KEY, archive.ALL
    )


def signed(made: io.BytesIO) -> bytes:
    summed = made.getvalue()[: -archive._SUM]
    return summed + archive._checksum(summed)


def stored(folder: Path, content: bytes) -> Store:
    store = Store(folder / "store")
    store.path(KEY).parent.mkdir(parents=True)
    store.path(KEY).write_bytes(content)
    return store


def test_a_part_that_names_another_place_is_never_written(tmp_path: Path, content: bytes) -> None:
    made = io.BytesIO(content)
    with zipfile.ZipFile(made, "a") as target:
        target.writestr("../../../outside", "x")
        target.writestr("/outside", "x")
    stored(tmp_path, signed(made)).get(KEY)
    assert not [path for path in tmp_path.rglob("*") if "outside" in path.name]


def test_a_part_that_expands_without_limit_is_refused(tmp_path: Path, content: bytes) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w") as target:
        for part in source.infolist():
            if part.filename == "flows.parquet":
                target.writestr(part.filename, bytes(len(content) * 50), zipfile.ZIP_DEFLATED)
            else:
                target.writestr(part, source.read(part))
        target.comment = source.comment
    with pytest.raises(StoreError, match=r"its part flows\.parquet claims \d+ bytes"):
        stored(tmp_path, signed(made)).get(KEY)


def changed(content: bytes, rows: int | None, table: bytes) -> bytes:
    """Return a run whose manifest says `rows` of the flows, or does not list them, and with another table."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w") as target:
        for part in source.infolist():
            data = table if part.filename == "flows.parquet" else source.read(part)
            if part.filename == MANIFEST:
                manifest = json.loads(data)
                if rows is None:
                    del manifest["tables"]["flows"]
                else:
                    manifest["tables"]["flows"]["rows"] = rows
                data = json.dumps(manifest).encode()
            target.writestr(part, data)
        target.comment = source.comment
    return signed(made)


@pytest.mark.parametrize(
    ("rows", "said", "read"),
    [
        (3, "its table flows: its number of rows is not that", [4]),
        (1 << 60, r"its table flows claims \d+ cells", []),
    ],
)
def test_a_table_that_expands_without_limit_is_refused(
    tmp_path: Path, content: bytes, rows: int, said: str, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million equal rows need two kilobytes in the file."""
    heights: list[int] = []

    def recorded(table: pl.DataFrame, rows: int, columns: Collection[str]) -> str:
        heights.append(table.height)
        return mismatch(table, rows, columns)

    made = io.BytesIO()
    pl.DataFrame({"flow": pl.repeat(0, 1_000_000, eager=True)}).write_parquet(made)
    assert len(made.getvalue()) < 10_000
    store = stored(tmp_path, changed(content, rows, made.getvalue()))
    monkeypatch.setattr(archive, "mismatch", recorded)
    with pytest.raises(StoreError, match=said):
        store.tables("flows", [KEY])
    assert heights == read


def test_a_table_that_the_manifest_does_not_list_is_refused(tmp_path: Path, content: bytes) -> None:
    store = stored(tmp_path, changed(content, None, b""))
    with pytest.raises(StoreError, match=r"its manifest\.json does not list its table flows"):
        store.tables("flows", [KEY])


def test_an_encrypted_part_is_refused(tmp_path: Path, content: bytes) -> None:
    made = bytearray(content)
    # The flags of the manifest in the list at the end of the archive.
    made[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(StoreError, match="damaged"):
        stored(tmp_path, signed(io.BytesIO(bytes(made)))).get(KEY)


@pytest.mark.parametrize("kind", ["folder", "full folder"])
def test_a_folder_in_place_of_a_run_is_replaced_or_named(tmp_path: Path, kind: str) -> None:
    scenario = becalm.Scenario(SMALL).replace({"run.duration": "60 us"})
    grid = {"run.seed": [1, 2]}
    before = becalm.sweep(scenario, grid, folder=tmp_path / "store").table("flows")
    store = Store(tmp_path / "store")
    path = store.path(next(iter(store.keys())))
    path.unlink()
    path.mkdir()
    if kind == "folder":
        with pytest.warns(UserWarning, match="not a regular file; computed again"):
            again = becalm.sweep(scenario, grid, folder=tmp_path / "store").table("flows")
        assert again.equals(before) and path.is_file()
        return
    (path / "mine").touch()
    with (
        pytest.warns(UserWarning, match="computed again"),
        pytest.raises(StoreError, match=f"{path.name}: is a folder, but the store needs this name"),
    ):
        becalm.sweep(scenario, grid, folder=tmp_path / "store")
    assert (path / "mine").exists()


def test_a_file_is_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)
    Path("sweep.toml").write_text('scenario = "small.toml"\n[grid]\n"run.seed" = [1]\n')
    Path("file").touch()
    done = CliRunner().invoke(app, ["sweep", "sweep.toml", "--dry-run", "--store", "file"])
    assert (done.exit_code, "not a store: it is not a folder" in done.output.replace("\n", " ")) == (2, True)


def test_a_run_without_its_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w") as target:
        for part in source.infolist():
            if part.filename != MANIFEST:
                target.writestr(part, source.read(part))
        target.comment = source.comment
    with pytest.raises(StoreError, match=r"manifest\.json was not kept"):
        stored(tmp_path, signed(made)).get(KEY)
