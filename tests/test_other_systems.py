"""Code for macOS, Windows and limited file systems, tested with parts of `os` hidden."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import becalm
from becalm.base import folders, parallel
from becalm.cli import look
from becalm.store import Store, files

SCENE: Any = {
    "run": {"duration": "10 us"},
    "topology": {"dumbbell": {"remote": 1, "local": 1}},
    "flows": [{"name": "one", "from": ["A1"], "to": ["BC"]}],
}


class Without(ModuleType):
    """The module `os` with another system's name, and without some functions."""

    def __init__(self, name: str, *missing: str) -> None:
        super().__init__("os")
        self.name = name
        self._missing = missing

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401
        if attribute in self._missing:
            raise AttributeError(attribute)
        return getattr(os, attribute)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Without("nt", "O_TMPFILE", "sched_getaffinity")
    for module in (folders, files, parallel):
        monkeypatch.setattr(module, "os", system)


@pytest.mark.usefixtures("windows")
def test_results_are_written_and_replaced_on_windows(tmp_path: Path) -> None:
    results = becalm.run(becalm.Scenario(SCENE))
    results.save(tmp_path / "out")
    with pytest.raises(becalm.ResultsError, match="already exists"):
        results.save(tmp_path / "out")
    results.save(tmp_path / "out", overwrite=True)
    assert becalm.load_results(tmp_path / "out").fingerprints == results.fingerprints
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("windows")
def test_files_are_written_and_replaced_on_windows(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    folders.write_new(page, "old")
    with pytest.raises(folders.Taken):
        folders.write_new(page, "new")
    folders.write_new(page, "new", overwrite=True)
    assert page.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.usefixtures("windows")
def test_a_store_keeps_runs_without_nameless_files(tmp_path: Path) -> None:
    for _ in range(2):
        points = becalm.sweep(becalm.Scenario(SCENE), {"run.seed": [1, 2]}, folder=tmp_path / "store")
    store = Store.open(tmp_path / "store")
    assert len(list(store.keys())) == 2 == points.groups.height
    assert list(store.verify()) == []
    assert not list((tmp_path / "store").rglob("*.tmp"))


@pytest.mark.usefixtures("windows")
def test_cores_are_counted_where_no_process_is_bound_to_some() -> None:
    assert parallel.cores() == (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("system", "screen", "opens"),
    [("linux", False, False), ("linux", True, True), ("darwin", False, True), ("win32", False, True)],
)
def test_a_page_opens_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, system: str, screen: bool, opens: bool
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys, "platform", system)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    if screen:
        monkeypatch.setenv("DISPLAY", ":0")
    look.open_page("file:///page.html")
    assert opened == (["file:///page.html"] if opens else [])
