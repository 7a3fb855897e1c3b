"""Files and folders that are not what a command expects: special ones in every place, and no traceback.

`DAMAGE=1` tries all of them; otherwise a sample.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.reports.page import PAGE
from becalm.store import Store
from conftest import SMALL

DATA = Path(__file__).parents[1] / "data"
HERE = "{}"
RUN = ("run", "small.toml", "--quiet", "--out")
PLACES: tuple[tuple[str, ...], ...] = (
    ("run", HERE, "--quiet"),
    (*RUN, HERE),
    (*RUN, HERE, "--overwrite"),
    *(
        (*RUN, "new", option, HERE)
        for option in ("--report", "--opensm", "--response", "--marking", "--echo")
    ),
    (*RUN, "new", "--report", HERE, "--overwrite"),
    *((*RUN, "new", f"--trace-{name}", HERE) for name in ("packets", "events")),
    (*RUN, "new", "--perfetto", HERE),
    (*RUN, "new", "--opensm", "opensm.conf", "--fabric", HERE),
    ("validate", HERE),
    ("validate", "small.toml", HERE),
    ("report", HERE, "--out", "new.html"),
    ("report", "good", "--out", HERE),
    ("report", "good", "--out", HERE, "--overwrite"),
    ("report", HERE, "--time", "10 us", "--out", "new.png"),
    ("report", "good", "--time", "10 us", "--out", HERE),
    ("explain", HERE),
    ("sweep", HERE, "--dry-run"),
    ("sweep", "sweep.toml", "--dry-run", "--store", HERE),
    ("sweep", "sweep.toml", "--engine", "threads", "--quiet", "--store", HERE),
    ("sweep", "sweep.toml", "--engine", "threads", "--quiet", "--out", HERE),
    ("tune", HERE),
    ("tune", "tune.toml", "--resume", "--out", HERE),
    ("tune", "tune.toml", "--opensm", HERE, "--fabric", HERE),
    ("store", "list", HERE),
    ("store", "verify", HERE),
    ("store", "prune", HERE),
    ("store", "merge", HERE, "store"),
    ("store", "merge", "store", HERE),
    ("store", "export", HERE, "new.csv"),
    ("store", "export", "store", HERE),
    ("import", HERE, "--out", "new.toml"),
    ("import", "net.txt", "--out", HERE),
    ("import", "net.txt", "--lfts", HERE, "--out", "new.toml"),
    ("manage", HERE),
    ("check-opensm", HERE),
    ("check-opensm", "opensm.conf", "--fabric", HERE),
    ("counters", HERE, "counters.txt", "--seconds", "1"),
    ("counters", "net.txt", HERE, "--seconds", "1"),
    ("counters", "net.txt", "counters.txt", "--seconds", "1", "--before", HERE),
    ("counters", "net.txt", "counters.txt", "--seconds", "1", "--scenario", HERE),
    ("counters", "net.txt", "counters.txt", "--seconds", "1", "--lfts", HERE),
    ("whatif", HERE, "--hot", "BC"),
    ("whatif", "small.toml", "--hot", "BC", "--opensm", HERE),
    ("new-scheme", HERE),
    ("check-scheme", HERE),
    ("check-scheme", f"{HERE}:Mine"),
    ("design", "--file", HERE, "--no-trial"),
)
"""Arguments with the place of a file."""


def _links(path: Path) -> None:
    path.symlink_to("other")
    path.with_name("other").symlink_to(path.name)


def _link_to_folder(path: Path) -> None:
    path.with_name("real").mkdir()
    path.symlink_to("real")


def _below_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.touch()


def _below_loop(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(path.parent.name)


def _bind(path: Path) -> None:
    # Paths of sockets are short.
    here = os.getcwd()  # noqa: PTH109
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("readme", "text")


SPECIAL: dict[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "empty": Path.touch,
    "folder": Path.mkdir,
    "loop": lambda path: path.symlink_to(path.name),
    "two links": _links,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "link to a folder": _link_to_folder,
    "below a file": _below_file,
    "below a loop": _below_loop,
    "socket": _bind,
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 10),
    "archive": _zip,
    "much text": lambda path: path.write_text("a line of text\n" * 20_000),
    "null": lambda path: path.symlink_to(os.devnull),
}
ENDINGS = {
    "--report": ".html",
    "report": ".html",
    "--response": ".py",
    "check-scheme": ".py",
    "store": ".csv",
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "small.toml").write_text(SMALL.replace("1 ms", "60 us"))
    (folder / "sweep.toml").write_text(
        'scenario = "small.toml"\nstore = "store"\n[grid]\n"run.seed" = [1, 2]\n'
    )
    (folder / "tune.toml").write_text('[cases]\nscenario = "small.toml"\ncontributors = [2, 3]\n')
    (folder / "opensm.conf").write_bytes((DATA / "opensm-default.conf").read_bytes())
    (folder / "net.txt").write_bytes((DATA / "ft3_16" / "ibnetdiscover.txt").read_bytes())
    (folder / "counters.txt").write_bytes((DATA / "counters" / "perfquery.txt").read_bytes())
    scenario = becalm.load(folder / "small.toml").replace({"observe.snapshots": ["10 us"]})
    becalm.run(scenario).save(folder / "good")
    Store(folder / "store")
    return folder


def cases() -> list[tuple[tuple[str, ...], str]]:
    everything = [(place, kind) for place in PLACES for kind in SPECIAL]
    return everything if os.environ.get("DAMAGE") else random.Random(1).sample(everything, 60)


def ending(place: tuple[str, ...]) -> str:
    before = place[next(number for number, each in enumerate(place) if HERE in each) - 1]
    return ENDINGS.get(before, ENDINGS.get(place[0], ""))


@pytest.mark.skipif(os.name != "posix", reason="links and sockets")
def test_special_files_in_every_place(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    told = []
    for number, (place, kind) in enumerate(cases()):
        path = tmp_path / f"{number}" / f"special{ending(place)}"
        path.parent.mkdir()
        SPECIAL[kind](path)
        before = {each.name for each in work.iterdir()}
        done = CliRunner().invoke(app, [each.replace(HERE, str(path)) for each in place])
        if not isinstance(done.exception, SystemExit | None) or done.exit_code not in (0, 1, 2):
            told.append((place, kind, repr(done.exception)))
        for name in {each.name for each in work.iterdir()} - before:
            if name.startswith("new"):
                shutil.rmtree(work / name) if (work / name).is_dir() else (work / name).unlink()
    assert not told, "\n".join(map(str, told))


def test_a_page_replaces_nothing_but_a_page(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work)
    scenario, mine = tmp_path / "base.toml", tmp_path / "mine.html"
    scenario.write_text(SMALL)
    mine.write_text("<!doctype html><p>Mine.")

    def refused(*arguments: str) -> str:
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2, done.output
        return done.output.replace("\n", " ")

    for command in (("report", "good", "--out"), ("run", "small.toml", "--out", "new", "--report")):
        assert "must end in .html" in refused(*command, str(scenario), "--overwrite")
        assert "must end in .html" in refused(*command, str(tmp_path / "x.pdf"))
        assert "is not a report of becalm; not overwritten" in refused(*command, str(mine), "--overwrite")
    assert scenario.read_text() == SMALL and "Mine" in mine.read_text() and not (work / "new").exists()
    page = tmp_path / "page.html"
    for _ in range(2):
        done = CliRunner().invoke(app, ["report", "good", "--out", str(page), "--overwrite"])
        assert done.exit_code == 0 and PAGE.mark in page.read_bytes()


@pytest.mark.parametrize("kind", ["empty", "archive", "much text"])
@pytest.mark.parametrize(
    "command",
    [(*RUN, "new", "--opensm"), ("whatif", "small.toml", "--hot", "BC", "--opensm"), ("check-opensm",)],
)
def test_a_file_without_a_key_of_opensm_is_no_configuration(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(work)
    file = tmp_path / "wrong.conf"
    SPECIAL[kind](file)
    done = CliRunner().invoke(app, [*command, str(file)])
    assert (done.exit_code, len(done.output.splitlines()) <= 3) == (2, True), done.output
    said = "not a text file" if kind == "archive" else "is not a configuration of OpenSM"
    assert said in done.output.replace("\n", " ") and not (work / "new").exists()
