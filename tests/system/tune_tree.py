"""Tunes a tree of 32 hosts, kills and resumes the tuning, and lets OpenSM read the resulting options.

    python tests/system/tune_tree.py [TRIALS]

The exit code is 1 if the loss on new cases exceeds 0.4 of the guideline's loss,
if the gain's interval includes 0, or if OpenSM reads values other than the written ones.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SPEC = Path(__file__).parents[2] / "scenarios" / "tree32" / "tune.toml"
MOST = 0.4
"""Limit on the loss, as a share of the guideline's."""


def main(trials: int = 60) -> bool:
    """Run the test, print the results, and return whether they are as expected."""
    with tempfile.TemporaryDirectory(prefix="becalm-tune-") as name:
        folder = Path(name)
        conf = folder / "cong.conf"
        command = [sys.executable, "-m", "becalm", "tune", str(SPEC), "--trials", str(trials)]
        command += ["--out", str(folder / "study"), "--opensm", str(conf), "--json"]
        killed_at = killed(command, folder / "study", trials // 2)
        start = time.monotonic()
        done = subprocess.run([*command, "--resume"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        differing = opensm_differs(conf)
        read = "OpenSM is not installed" if differing is None else f"{len(differing)} options differ"
        message = {
            "killed_at_trial": killed_at,
            "trials": found["trials"],
            "seconds_after_resume": round(time.monotonic() - start),
            "parameters": found["parameters"],
            "gain": found["gain"],
            "recommended": found["recommended"],
            "at_end": found["at_end"],
            "importance": found["importance"],
            "opensm": read,
        }
        print(json.dumps(message, indent=2))
        return (
            found["trials"] == trials
            and found["gain"]["ratio"] <= MOST
            and found["gain"]["low"] > 0
            and found["recommended"] == "tuned"
            and not differing
        )


def killed(command: list[str], study: Path, trials: int) -> int:
    """Start a tuning, kill it (SIGKILL) after `trials` trials, and return the number of finished trials."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while finished(study) < trials:
            assert process.poll() is None, (process.stderr.read() if process.stderr else b"").decode()
            time.sleep(0.2)
    finally:
        process.kill()
        process.wait()
    return finished(study)


def finished(study: Path) -> int:
    """Return the number of complete trials in a study's journal."""
    journal = study / "study.journal"
    if not journal.exists():
        return 0
    return sum('"state": 1' in line or '"state":1' in line for line in journal.read_text().splitlines())


def opensm_differs(conf: Path) -> list[str] | None:
    """Let OpenSM read and write options; return the keys that differ.

    Return None if OpenSM is not installed.
    """
    program = shutil.which("opensm") or shutil.which("opensm", path="/usr/sbin:/sbin")
    if program is None:
        return None
    loaded = conf.with_name("loaded.conf")
    command = [program, "-F", str(conf), "-c", str(loaded), "-f", str(conf.with_name("opensm.log"))]
    subprocess.run(command, capture_output=True, timeout=30, check=True)
    ours, theirs = (dict(options(path.read_text())) for path in (conf, loaded))
    return [key for key, value in ours.items() if theirs.get(key) != value]


def options(text: str) -> Iterator[tuple[str, Any]]:
    """Yield options by key, and by service level if there are several, with numbers converted."""
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        key, _, value = line.partition(" ")
        words = value.split()
        if len(words) == 2 and key.startswith("cc_"):
            yield f"{key} {words[0]}", int(words[1], 0)
        elif key.startswith("cc_") and ":" not in value and words:
            yield key, int(value, 0)
        else:
            yield key, value.strip()


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 60) else 1)
