"""JSON: the manifest of a run. One model of it serves `explain`, `report`, stores and `load_results`."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import zipfile
from pathlib import Path
from typing import Any

import damage
import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import BecalmError, ResultsError
from becalm.cli import app
from becalm.results import MANIFEST, load_results
from becalm.store import Store, archive
from conftest import SMALL

COUNT = 500 if os.environ.get("DAMAGE") else 30


@pytest.fixture(scope="module")
def results() -> becalm.Results:
    return becalm.run(becalm.Scenario(SMALL, name="small.toml").replace({"run.duration": "60 us"}))


@pytest.fixture
def folder(results: becalm.Results, tmp_path: Path) -> Path:
    return results.save(tmp_path / "results")


def invoked(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.exit_code, done.output


def with_manifest(folder: Path, manifest: Any) -> None:  # noqa: ANN401
    (folder / MANIFEST).write_text(json.dumps(manifest))


def packed(content: bytes, manifest: Any) -> bytes:  # noqa: ANN401
    """Return the file of a run with another manifest and the right checksum."""
    target, source = io.BytesIO(), zipfile.ZipFile(io.BytesIO(content))
    with zipfile.ZipFile(target, "w") as made:
        for part in source.infolist():
            own = json.dumps(manifest).encode() if part.filename == MANIFEST else source.read(part)
            made.writestr(part, own)
        made.comment = source.comment
    summed = target.getvalue()[: -archive._SUM]
    return summed + archive._checksum(summed)


def test_damaged_manifests_are_refused_with_one_message_by_every_reader(folder: Path) -> None:
    whole, source = json.loads((folder / MANIFEST).read_text()), random.Random(1)
    refused = 0
    for _ in range(COUNT):
        with_manifest(folder, damage.mutated(whole, source))
        page = folder.parent / "page.html"
        codes = {invoked("explain", folder)[0], invoked("report", folder, "--out", page)[0]}
        page.unlink(missing_ok=True)
        try:
            load_results(folder)
        except BecalmError as error:
            refused += 1
            # An invalid scenario in it may have several mistakes.
            assert isinstance(error, becalm.ScenarioError) or "\n" not in str(error)
            assert codes == {2}, error
        else:
            # A table may be absent that a reader needs.
            assert codes <= {0, 2}
    assert refused > COUNT / 4


def test_damaged_manifests_in_a_store_are_refused_with_one_message(
    results: becalm.Results, tmp_path: Path
) -> None:
    store, source, refused = Store(tmp_path / "store"), random.Random(2), 0
    key = "ab" * 32
    content = archive.pack(results, key, archive.ALL)
    whole = json.loads(zipfile.ZipFile(io.BytesIO(content)).read(MANIFEST))
    store.path(key).parent.mkdir(parents=True)
    for _ in range(COUNT):
        store.path(key).write_bytes(packed(content, damage.mutated(whole, source)))
        shutil.rmtree(store.root / "index", ignore_errors=True)
        store.reindex()
        try:
            store.get(key)
        except BecalmError as error:
            refused += 1
            assert isinstance(error, becalm.ScenarioError) or "\n" not in str(error)
        invoked("store", "verify", store.root)
        invoked("report", store.path(key), "--out", tmp_path / "page.html", "--overwrite")
    assert refused > COUNT / 4


def changed(manifest: dict[str, Any], *path: str) -> dict[str, Any]:
    """Return the table within a manifest that has the last key of a path."""
    for key in path[:-1]:
        manifest = manifest[key]
    return manifest


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("tables", "flows", "sha256"), None, r"tables\.flows\.sha256.*: must be a string"),
        (("tables", "flows", "rows"), 2**63, r"tables\.flows\.rows 9223372036854775808"),
        (("tables", "flows", "rows"), 1, "in the manifest, 1"),
        (("tables", "flows", "units", "injected_bytes"), -1, r"units\.injected_bytes -1: must be a string"),
        (("tables", "flows", "file"), "groups.parquet", "is not the file name of the table"),
        (("scenario",), [], "scenario.*: must be a table"),
        (("replications",), [], "replications.*: has too few items"),
    ],
)
def test_the_message_names_the_key(folder: Path, path: tuple[str, ...], value: object, problem: str) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    changed(manifest, *path)[path[-1]] = value
    with_manifest(folder, manifest)
    with pytest.raises(ResultsError, match=problem):
        load_results(folder)


def test_a_missing_checksum_does_not_pass(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["tables"]["links"]["sha256"]
    with_manifest(folder, manifest)
    code, message = invoked("explain", folder)
    assert (code, "tables.links.sha256: is missing" in message.replace("\n", "")) == (2, True), message


@pytest.mark.parametrize("content", ["[]", "null", "3", '"x"', "{}", "", "[" * 100_000])
def test_what_is_no_manifest_is_refused(folder: Path, content: str) -> None:
    (folder / MANIFEST).write_text(content)
    for command in (("explain", folder), ("report", folder, "--out", folder.parent / "page.html")):
        code, message = invoked(*command)
        assert (code, "Traceback" in message) == (2, False)


def test_more_keys_than_this_version_knows_are_read(folder: Path, results: becalm.Results) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["later"] = manifest["replications"][0]["later"] = 1
    with_manifest(folder, manifest)
    assert load_results(folder).fingerprint == results.fingerprint
