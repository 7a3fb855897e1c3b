"""A store of runs: no partial files, any number of writers, and the same keys everywhere."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
from becalm import _core
from becalm.base.errors import StoreError
from becalm.cli import app
from becalm.store import ALL, SERIES, SUMMARY, Store, archive, files, run_key
from becalm.store.export import exported
from becalm.store.store import MARK

ROOT = Path(__file__).parents[1]


@pytest.fixture
def short(text: str) -> becalm.Scenario:
    return becalm.Scenario(text, name="small.toml").replace({"run.duration": "300 us"})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def filled(store: Store, scenario: becalm.Scenario, keep: str = ALL) -> str:
    key = run_key(scenario, 0)
    store.put(key, becalm.run(scenario), keep)
    return key


def test_comes_back_as_it_was(store: Store, short: becalm.Scenario) -> None:
    made = becalm.run(short)
    key = run_key(short, 0)
    assert not store.has(key)
    assert store.put(key, made, ALL)
    found = store.get(key)
    assert found.fingerprint == made.fingerprint
    assert found.scenario == short
    assert found.units == made.units
    for name, table in made.tables.items():
        assert found.tables[name].equals(table)
    assert not store.put(key, made, ALL)
    assert list(store.keys()) == [key]


def test_keeps_as_much_as_asked_for(store: Store, short: becalm.Scenario) -> None:
    made, key = becalm.run(short), run_key(short, 0)
    store.put(key, made, SUMMARY)
    assert "series" not in store.get(key).tables
    assert not store.has(key, SERIES)
    assert store.put(key, made, SERIES)
    assert store.get(key).series["kind"].unique().to_list() == ["group"]
    assert store.put(key, made, ALL)
    assert store.get(key).series.equals(made.series)
    assert not store.put(key, made, SUMMARY)


def test_links_that_are_named_keep_their_series(store: Store, short: becalm.Scenario) -> None:
    named = short.replace({"observe.links": ["B->BC"]})
    key = filled(store, named, SERIES)
    assert "B->BC" in store.get(key).series["name"].to_list()


def test_key_is_of_what_results_depend_on(short: becalm.Scenario) -> None:
    key = run_key(short, 0)
    assert re.fullmatch("[0-9a-f]{64}", key)
    assert run_key(becalm.Scenario(short.to_toml() + "\n# the same", name="other"), 0) == key
    assert run_key(short.replace({"run.replications": 5}), 0) == key
    assert len({key, run_key(short, 1), run_key(short.replace({"run.seed": 2}), 0)}) == 3
    assert run_key(short, 0, "another model") != key


def test_model_is_that_of_the_sources() -> None:
    """Repeat the build script's hash of names and contents with other means."""
    import hashlib

    crates = ("engine", "schema", "fabric", "control", "metrics", "model", "workload", "scenario")
    files = [path for crate in crates for path in (ROOT / "crates" / crate / "src").rglob("*")]
    named = {
        path.relative_to(ROOT).as_posix(): path for path in [*files, ROOT / "Cargo.lock"] if path.is_file()
    }
    total = hashlib.sha256()
    for name in sorted(named):
        text = named[name].read_bytes().replace(b"\r", b"")
        total.update(f"{name}\n{len(text)}\n".encode() + text)
    assert _core.model == total.hexdigest()
    assert _core.compiler.startswith("rustc ")


def test_two_results_of_one_run_are_refused(store: Store, short: becalm.Scenario) -> None:
    key = filled(store, short)
    with pytest.raises(StoreError, match="different results of the same run"):
        store.put(key, becalm.run(short.replace({"run.seed": 2})), ALL)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "zeroed": lambda data: bytes(len(data)),
    "binary": lambda data: os.urandom(len(data)),
    "braces": lambda _: b"{}",
    "a byte": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 255]) + data[len(data) // 2 + 1 :]
    ),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_found_and_mended(store: Store, short: becalm.Scenario, how: str) -> None:
    key = filled(store, short)
    path = store.path(key)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    with pytest.raises(StoreError, match="damaged"):
        store.check(key)
    ((found, problem),) = store.verify()
    assert found == key
    assert str(path) in problem
    assert not store.has(key)
    filled(store, short)
    assert list(store.verify()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_no_file_is_damaged(store: Store, short: becalm.Scenario) -> None:
    key = filled(store, short)
    store.path(key).unlink()
    os.mkfifo(store.path(key))
    ((found, problem),) = store.verify()
    assert (found, "not a regular file" in problem) == (key, True)
    filled(store, short)
    assert list(store.verify()) == []
    failed = store.root / "failed" / key[:2] / f"{key[2:]}.json"
    failed.parent.mkdir(parents=True)
    os.mkfifo(failed)
    assert store.failure(key) is None
    (store.root / MARK).unlink()
    os.mkfifo(store.root / MARK)
    with pytest.raises(StoreError, match="not a regular file"):
        Store(store.root)


def without_checksum(content: bytes) -> bytes:
    """Return a file in the format of becalm 0.2.0, without a checksum in the archive's comment."""
    end = content.rindex(b"becalm run ")
    note = content[end:].rpartition(b" ")[0]
    return content[: end - 2] + len(note).to_bytes(2, "little") + note


@pytest.mark.parametrize("member", ["manifest.json", "groups.parquet"])
def test_what_inflates_beyond_all_bounds_is_damaged(
    store: Store, short: becalm.Scenario, member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_LARGEST_MANIFEST", 1 << 20)
    key = filled(store, short)
    target, how = io.BytesIO(), zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(store.path(key)) as packed, zipfile.ZipFile(target, "w", how) as made:
        for name in packed.namelist():
            made.writestr(name, bytes(3 << 20) if name == member else packed.read(name))
        made.comment = packed.comment.rpartition(b" ")[0]
    assert len(target.getvalue()) < 1 << 20
    store.path(key).write_bytes(target.getvalue())
    with pytest.raises(StoreError, match=f"its part {member} claims 3145728 bytes"):
        store.check(key)


def test_files_without_a_checksum_are_read_and_checked_by_their_parts(
    store: Store, short: becalm.Scenario
) -> None:
    key = filled(store, short)
    results, content = store.get(key), without_checksum(store.path(key).read_bytes())
    store.path(key).write_bytes(content)
    assert store.note(key) == archive.Note(ALL, results.fingerprint, None)
    assert store.get(key).groups.equals(results.groups)
    middle = len(content) // 2
    store.path(key).write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    assert not store.has(key)


def test_a_store_may_be_looked_at_without_making_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", make=False)
    assert (list(store.keys()), store.has("ab" * 32)) == ([], False)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreError, match="not a valid folder name"):
        Store("a\0b")


def test_a_run_under_another_name_is_found(store: Store, short: becalm.Scenario) -> None:
    key = filled(store, short)
    other = run_key(short, 1)
    store.path(other).parent.mkdir(exist_ok=True)
    shutil.copy(store.path(key), store.path(other))
    assert [key for key, _ in store.verify()] == [other]
    assert not store.has(other)
    with pytest.raises(StoreError, match="which does not match the file's name"):
        store.get(other)
    with pytest.raises(StoreError, match="which does not match the file's name"):
        store.tables("groups", [key, other])
    assert store.reindex()["key"].to_list() == [key]
    merged = Store(store.root.parent / "merged")
    assert merged.merge(store) == (1, 1)


def write_all(root: str, toml: str, barrier: object, seeds: int) -> None:
    store = Store(root)
    scenarios = [becalm.Scenario(toml).replace({"run.seed": seed}) for seed in range(seeds)]
    made = [(run_key(each, 0), becalm.run(each, threads=1)) for each in scenarios]
    barrier.wait()  # type: ignore[attr-defined]
    for key, results in made:
        store.put(key, results, SUMMARY)


def test_twenty_writers_of_the_same_runs(
    tmp_path: Path, short: becalm.Scenario, prepared: ForkServerContext
) -> None:
    barrier = prepared.Barrier(20)
    arguments = (str(tmp_path / "store"), short.replace({"run.duration": "50 us"}).to_toml(), barrier, 3)
    writers = [prepared.Process(target=write_all, args=arguments) for _ in range(20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=120)
    assert [writer.exitcode for writer in writers] == [0] * 20
    store = Store.open(tmp_path / "store")
    assert len(list(store.keys())) == 3
    assert list(store.verify()) == []
    assert not list(store.root.rglob("*.tmp"))


DIES = """
import os, signal, sys
from pathlib import Path
from becalm.store import files
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
files.write(Path(sys.argv[1]) / "run.zip", b"part of a run")
"""


def test_a_writer_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        pytest.skip("no files without a name here")
    writer = subprocess.run([sys.executable, "-c", DIES, tmp_path], check=False)
    assert writer.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_files_beside_their_place_where_none_can_be_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    files.write(tmp_path / "run.zip", b"whole")
    files.write(tmp_path / "run.zip", b"again")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("run.zip", b"again")]


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match=r"not a store: it contains thesis\.tex"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="not a store"):
        Store.open(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_stores_of_another_format_are_refused(store: Store) -> None:
    (store.root / "becalm-store.json").write_text('{"format": 2}')
    with pytest.raises(StoreError, match="has format 2; this version reads format 1"):
        Store(store.root)
    (store.root / "becalm-store.json").write_text("[]")
    with pytest.raises(StoreError, match="damaged"):
        Store(store.root)


def test_prunes(store: Store, short: becalm.Scenario) -> None:
    key = filled(store, short)
    before = store.path(key).stat().st_size
    old, new = (store.path(key).with_name(f".{name}.zip.host.1.1.tmp") for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"part")
    day_ago = time.time() - 90_000
    os.utime(old, (day_ago, day_ago))
    done = store.prune(SUMMARY)
    assert (done.temporary, done.models, done.thinned) == (1, 0, 1)
    assert not old.exists()
    assert new.exists()
    assert done.bytes == 4 + before - store.path(key).stat().st_size
    assert "series" not in store.get(key).tables
    assert list(store.verify()) == []


def test_merges(store: Store, short: becalm.Scenario, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    keys = [filled(other, short.replace({"run.seed": seed})) for seed in (1, 2)]
    other.fail("ab" + 62 * "0", {"kind": "DeadlockError", "text": "stuck"})
    filled(store, short)
    assert store.merge(other) == (1, 0)
    assert list(store.keys()) == sorted(keys)
    assert store.failure("ab" + 62 * "0") == other.failure("ab" + 62 * "0")
    other.path(keys[1]).write_bytes(b"{}")
    assert store.merge(other) == (0, 1)


def test_index_follows_the_runs(store: Store, short: becalm.Scenario) -> None:
    first = filled(store, short)
    assert store.reindex()["key"].to_list() == [first]
    second = filled(store, short.replace({"switch.buffer": "8 packets"}))
    assert store.reindex()["key"].to_list() == sorted([first, second])
    assert len(list((store.root / "index").iterdir())) == 1
    store.path(second).unlink()
    assert store.reindex()["key"].to_list() == [first]


def test_exports_what_differs(store: Store, short: becalm.Scenario) -> None:
    filled(store, short)
    filled(store, short.replace({"switch.buffer": "8 packets", "flows.victim.traffic.poisson.load": 0.4}))
    made = exported(store)
    assert made.columns[:3] == ["key", "flows.victim.traffic.poisson.load", "switch.buffer"]
    assert set(made["switch.buffer"]) == {"auto", "8 packets"}
    assert made.height == 6
    assert exported(store, "runs").height == 2


def test_lists_the_newest_runs(store: Store, short: becalm.Scenario) -> None:
    keys = []
    for day, duration in enumerate(("300 us", "400 us", "500 us")):
        run = short.replace({"run.duration": duration})
        made = becalm.run(run)
        made.origin["created"] = f"2026-01-0{3 - day}T00:00:00+00:00"
        keys.append(run_key(run, 0))
        store.put(keys[-1], made)
    runner, root = CliRunner(), str(store.root)
    two = runner.invoke(app, ["store", "ls", root, "--last", "2"]).output
    assert "and 1 older run: --last 0 lists all" in two
    assert [key for key in keys if key[:16] in two] == keys[:2]
    assert two.index(keys[0][:16]) < two.index(keys[1][:16])
    everything = runner.invoke(app, ["store", "ls", root, "--last", "0"]).output
    assert all(key[:16] in everything for key in keys)


def test_commands(store: Store, short: becalm.Scenario, tmp_path: Path) -> None:
    key = filled(store, short)
    runner, root = CliRunner(), str(store.root)
    listed = runner.invoke(app, ["store", "ls", root, "--json"])
    assert json.loads(listed.output)["key"] == key
    assert "1 run," in runner.invoke(app, ["store", "ls", root]).output
    assert "1 of 1 runs are intact" in runner.invoke(app, ["store", "verify", root]).output
    out = tmp_path / "groups.csv"
    assert runner.invoke(app, ["store", "export", root, str(out)]).exit_code == 0
    assert out.read_text().startswith("key,")
    assert runner.invoke(app, ["store", "export", root, str(out)]).exit_code == 2
    assert runner.invoke(app, ["store", "prune", root, "--keep", "much"]).exit_code == 2
    assert runner.invoke(app, ["store", "merge", str(tmp_path / "new"), root]).exit_code == 0
    assert Store.open(tmp_path / "new").has(key)
    assert runner.invoke(app, ["store", "ls", str(tmp_path / "none")]).exit_code == 2
    store.path(key).write_bytes(b"{}")
    damaged = runner.invoke(app, ["store", "verify", root])
    assert damaged.exit_code == 1
    assert "0 of 1 runs are intact" in damaged.output


def test_keys_do_not_depend_on_the_place(short: becalm.Scenario, tmp_path: Path) -> None:
    """A separate process with another folder, home and hash seed yields the same keys."""
    file = tmp_path / "elsewhere" / "scenario.toml"
    file.parent.mkdir()
    file.write_text(short.to_toml())
    script = (
        "import becalm, sys; from becalm.store import run_key; print(run_key(becalm.load(sys.argv[1]), 0))"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", script, file], cwd=file.parent, env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == run_key(short, 0), done.stderr


def test_exported_columns_have_units_and_no_formulas(store: Store, short: becalm.Scenario) -> None:
    evil = becalm.Scenario(short.to_toml().replace('"local"', '"=1+1"').replace('"victim"', '"@x"'))
    filled(store, evil)
    out = store.root.parent
    for name in ("a.csv", "a.parquet"):
        done = CliRunner().invoke(app, ["store", "export", str(store.root), str(out / name)])
        assert done.exit_code == 0, done.output
    assert pl.read_parquet_metadata(out / "a.parquet")["unit:rate"] == "B/s"
    assert set(pl.read_parquet(out / "a.parquet")["group"]) == {"=1+1", "@x", "remote"}
    assert set(pl.read_csv(out / "a.csv")["group"]) == {"'=1+1", "'@x", "remote"}


OLD = ROOT / "tests" / "data" / "store_0.2.0"
"""Files written by `becalm sweep` of becalm 0.2.0."""


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return Store.open("store")


def test_runs_of_an_older_version_are_whole_and_readable(old: Store) -> None:
    keys = list(old.keys())
    assert len(keys) == 2
    assert list(old.verify()) == []
    assert [old.get(key).origin["becalm"] for key in keys] == ["0.2.0", "0.2.0"]
    assert sorted(old.get(key).fingerprint for key in keys) == ["62368f5a15f88662", "62368f5a15f88662"]
    content = bytearray(old.path(keys[0]).read_bytes())
    # These files have no checksum of the entire file, but their parts do.
    content[len(content) // 2] ^= 1
    old.path(keys[0]).write_bytes(content)
    assert [key for key, _ in old.verify()] == keys[:1]


def test_runs_of_an_older_version_stay_and_are_computed_again_beside(old: Store) -> None:
    before = list(old.keys())
    done = CliRunner().invoke(app, ["sweep", "sweep.toml"])
    assert "2 points, 2 runs: 0 found, 2 computed, 0 failed" in done.stdout
    assert set(before) < set(old.keys())
    assert len(list(old.keys())) == 4
    assert list(old.verify()) == []
    # A combined table has the columns of both versions.
    made = exported(old)
    assert made.filter(made["key"].is_in(before))["victims"].to_list() == [None, None]
    assert made.filter(~made["key"].is_in(before))["victims"].to_list() == [0, 0]
    other = Store("other")
    assert other.merge(old) == (4, 0)
    done = CliRunner().invoke(app, ["store", "prune", "store", "--other-models"])
    assert "2 runs of other models deleted" in done.stdout
    assert not set(before) & set(old.keys())


def test_a_run_of_an_older_version_is_shown_and_says_what_it_lacks(old: Store, tmp_path: Path) -> None:
    path = old.path(next(iter(old.keys())))
    done = CliRunner().invoke(app, ["report", str(path), "--out", str(tmp_path / "page.html")])
    assert (done.exit_code, done.stderr) == (0, "")
    old.get(next(iter(old.keys()))).save("results")
    done = CliRunner().invoke(app, ["explain", "results"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(
        r"tiny.toml: lacks \w+\.\w+, which becalm 0.2.0 did not write; run it again\n", done.stderr
    )
