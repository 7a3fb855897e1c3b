"""The page of a run that goes on: what the server answers, and what a browser shows."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import becalm
from becalm.analysis.recording import recording
from becalm.cli.running import run_live
from becalm.reports import live as module
from becalm.reports.live import Live
from becalm.runs.watched import run_watched
from becalm.scenario import examples

SCENE = {
    "run": {"duration": "40 ms"},
    "topology": {"dumbbell": {}},
    "flows": [{"name": "all", "from": ["B1..B3"], "to": ["BC"]}],
}


def asked(url: str, path: str = "", method: str = "GET", host: str | None = None) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, path or parts.path, headers={"Host": host or parts.netloc})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_watched_run_is_the_same_run_and_shows_growing_frames() -> None:
    scenario = recording(examples.load("storage_incast").replace({"run.replications": 2}))
    seen: list[tuple[int, float, int]] = []

    def show(now: Any, frames: Any) -> None:  # noqa: ANN401
        (times,) = [values for name, _, values in frames["frames"] if name == "time"]
        assert times.size == 0 or times[-1] <= now.time
        seen.append((now.replication, now.time, times.size))

    watched = run_watched(scenario, show, every=0.0)
    assert watched.fingerprints == becalm.run(scenario).fingerprints
    assert watched.tables["frames"].equals(becalm.run(scenario).tables["frames"])
    first = [each for each in seen if each[0] == 0]
    assert len(first) > 2 and first == sorted(first, key=lambda each: each[1]) and first[-1][2] > 10
    assert {each[0] for each in seen} == {0, 1}


def test_the_server_answers_only_who_knows_its_address() -> None:
    with Live("scene") as live:
        assert live.url.startswith("http://127.0.0.1:")
        status, page = asked(live.url)
        assert status == 200 and b"connect-src 'self'" in page and b'id="live"' in page
        here = urlsplit(live.url).path
        for path in (
            "/",
            "/etc/passwd",
            "/x/",
            f"{here}../../etc/passwd",
            f"{here}page.py",
            f"{here}%2e%2e/",
        ):
            assert asked(live.url, path) == (404, b"")
            assert asked(live.url, path, "POST") == (404, b"")
        # A page of another site that has its name point here.
        assert asked(live.url, host="example.org")[0] == 404
        assert asked(live.url, f"{here}stop", "POST", host="example.org")[0] == 404
        assert not live.stopped
        assert asked(live.url, f"{here}stop", "POST") == (204, b"")
        assert live.stopped
    with pytest.raises(OSError):
        asked(live.url)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The addresses that a graphical browser would open."""
    opened: list[str] = []
    monkeypatch.setattr("becalm.cli.running.open_page", opened.append)
    yield opened


def test_frames_arrive_while_it_runs_and_stop_keeps_the_results(address: list[str], tmp_path: Path) -> None:
    from browsing import chromium, complaints, violations, wait

    made: list[becalm.Results] = []
    scenario = becalm.Scenario({**SCENE, "run": {"duration": "10 s"}})

    def work() -> None:
        made.append(run_live(scenario, lambda _: None, threads=1, max_memory=None, stop=lambda: False))

    thread = threading.Thread(target=work)
    thread.start()
    browsers = chromium()
    try:
        browser = next(browsers)
        browser.get(address[0])
        frames = "Number(document.getElementById('page').dataset.frames ?? 0)"
        clock = "document.querySelector('.verdict').textContent"
        wait(browser, f"{frames} > 0", 20)
        before = browser.execute_script(f"return {clock}")
        assert before.startswith("The run goes on: ")
        wait(browser, f"{clock} !== {before!r}", 20)
        assert browser.execute_script("return document.querySelectorAll('.fabric > canvas').length") == 1
        assert violations(browser, "light") == violations(browser, "dark") == []
        assert not made
        browser.execute_script("document.querySelector('.tools button').click()")
        wait(browser, "document.getElementById('page').dataset.over === 'true'", 20)
        said = browser.execute_script(f"return {clock}")
        assert complaints(browser) == []
    finally:
        next(browsers, None)
        thread.join(20)
    (results,) = made
    assert results.stopped is not None and results.stopped < 10
    assert said == results.verdict
    results.save(tmp_path / "kept")
    assert becalm.load_results(tmp_path / "kept").fingerprint == results.fingerprint


def test_ctrl_c_ends_the_server_and_keeps_the_results(
    address: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import signal

    from typer.testing import CliRunner

    from becalm.cli import app

    (tmp_path / "scene.toml").write_text(becalm.Scenario({**SCENE, "run": {"duration": "10 s"}}).to_toml())
    shown = Live.show

    def show(*arguments: Any) -> None:  # noqa: ANN401
        shown(*arguments)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(module.Live, "show", show)
    # A shell in the background starts its processes with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = ["run", str(tmp_path / "scene.toml"), "--watch", "--out", str(tmp_path / "out"), "--quiet"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 130, done.output
    assert address[0] in done.output
    assert becalm.load_results(tmp_path / "out").stopped is not None
    with pytest.raises(OSError):
        asked(address[0])
