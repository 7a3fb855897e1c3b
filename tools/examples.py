"""Runs the examples in Markdown pages and puts in what they print.

In a block marked `console` every line that begins with `$ ` is run by the shell, and what it prints follows.
Blocks marked `python` share their names, as if typed one after the other; what one prints stands in a block
marked `text` right below.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/tour.md",
    "docs/administrators.md",
    "docs/roce.md",
    "docs/design.md",
    "docs/comparison.md",
    "docs/sweeps.md",
    "docs/own-schemes.md",
    *(f"docs/gallery/{path.name}" for path in sorted((ROOT / "docs" / "gallery").glob("*.md"))),
    *(f"docs/api/{path.name}" for path in sorted((ROOT / "docs" / "api").glob("*.md"))),
)
FABRIC = ("ibnetdiscover.txt", "opensm-lfts.dump")
"""What the tools print of a fabric, among the data of the tests."""

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(\n?```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)
_VOLATILE = (
    (re.compile(r"^\S+ \S+ of work: ", re.MULTILINE), "... of work: "),
    (re.compile(r"\S+ [kMG] packet-hops per core-second"), "... packet-hops per core-second"),
    (re.compile(r"each, \S+ s in all"), "each, ... s in all"),
    # What a slow machine adds: the progress of a sweep, every half minute.
    (re.compile(r"^\d+ found, \d+ of \d+ computed, .*\n", re.MULTILINE), ""),
    (re.compile(r"( failed| other shards) in \S+ \S+; store"), r"\1 in ...; store"),
)


def refreshed(text: str, pictures: Path | None = None) -> str:
    """Return a page with the output of its examples as it is now, without what differs from run to run.

    Args:
        text: the page.
        pictures: folder that gets the SVG files that the examples write; none are kept without it.

    """
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(ROOT / "scenarios", "scenarios")
        for name in FABRIC:
            shutil.copy(ROOT / "tests" / "data" / "ft2_18" / name, name)
        shutil.copy(ROOT / "tests" / "data" / "counters" / "incast.txt", "counters.txt")
        made = _BLOCK.sub(lambda found: _block(found, names), text)
        if pictures:
            for picture in Path().glob("*.svg"):
                shutil.copy(picture, pictures)
        return made


def _block(found: re.Match[str], names: dict[str, Any]) -> str:
    kind, code, printed = found.groups()
    if kind == "console":
        commands = [line for line in code.splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{_shell(line[2:])}" for line in commands) + "```\n"
    output = _steady(_python(code, names))
    block = f"```python\n{code}```\n"
    return f"{block}\n```text\n{output}```\n" if output or printed else block


def _shell(command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        command, shell=True, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return _steady(done.stdout)


def _python(code: str, names: dict[str, Any]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, names)
    return output.getvalue()


def _steady(output: str) -> str:
    for pattern, replacement in _VOLATILE:
        output = pattern.sub(replacement, output)
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())
