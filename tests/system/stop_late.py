"""Stops long runs late, and compares each with a run of the duration that it reached.

    python tests/system/stop_late.py [SECONDS]

Runs with jobs, PFC, spans, congestion control and an own scheme, on one thread and on two, are stopped
after SECONDS (50) by Control-C, SIGTERM or `--max-time`. `explain` and `report` must read the results and
state the end; the fingerprints must be equal. A run takes SECONDS twice: about 20 minutes in all.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import becalm
import commands
from becalm.results import load_results
from test_stopped import OWN, SCENE, SCENES

WAYS = ("SIGINT", "SIGTERM", "--max-time")


def scenes(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Return the scenes by name, with the options of their commands."""
    (folder / "mine.py").write_text(OWN)
    plain = SCENE.format(parts="[marking.input_triggered]", more="", observed="")
    by_name: dict[str, tuple[str, list[str]]] = {
        name: (text.replace("900 MiB", "1 TiB"), []) for name, text in SCENES.items() if name != "plain"
    }
    return by_name | {"own scheme": (plain, ["--response", f"{folder / 'mine.py'}:Mine"])}


def stop(command: list[str], way: str, seconds: float) -> None:
    """Run a command and stop it."""
    if way == "--max-time":
        done = commands.becalm(*command, way, f"{seconds} s", timeout=seconds + 60)
        assert (done.returncode, "stopped at " in done.stdout) == (0, True), done.stderr
        return
    with commands.start(*command) as run:
        time.sleep(seconds)
        run.send_signal(getattr(signal, way))
        out, error = run.communicate(timeout=60)
    assert "stopped by a signal; the results end there" in error, (run.returncode, out, error)


def check(folder: Path, schemes: list[str]) -> str:
    """Check a stopped run, and return the time that it reached."""
    results = load_results(folder)
    assert results.stopped is not None
    for command in (["explain", folder], ["report", folder, "--out", folder.with_suffix(".html")]):
        done = commands.becalm(*command)
        assert done.returncode == 0, done.stderr
        assert command[0] != "explain" or "The run was stopped at" in done.stdout, done.stdout
    duration = f"{round(results.stopped * 1e12)} ps"
    short = becalm.run(results.scenario.using(schemes).replace({"run.duration": duration}))
    assert results.fingerprint == short.fingerprint
    return f"stopped at {results.stopped * 1e3:.1f} ms, fingerprint {short.fingerprint} twice"


def main(seconds: float = 50) -> None:
    """Print a line per run."""
    with tempfile.TemporaryDirectory(prefix="becalm-stop-") as name:
        folder = Path(name)
        for number, (scene, (text, options)) in enumerate(scenes(folder).items()):
            for threads in (1, 2):
                way = WAYS[(2 * number + threads) % len(WAYS)]
                (folder / "scene.toml").write_text(text)
                out = folder / f"{number}-{threads}"
                files = [str(folder / "scene.toml"), "--out", str(out), "--threads", str(threads)]
                stop(["run", *files, *options], way, seconds)
                print(f"{scene}, {threads} threads, {way}: {check(out, options[1:])}", flush=True)


if __name__ == "__main__":
    try:
        main(*map(float, sys.argv[1:]))
    except subprocess.TimeoutExpired as error:
        raise SystemExit(f"it did not stop: {error}") from error
