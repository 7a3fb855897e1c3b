"""Runs the examples in Markdown pages and inserts their output.

In a block marked `console`, each line that begins with `$ ` is run by the shell and followed by its output.
Blocks marked `python` on a page share their names, as if typed in order. Output of a Python block is placed
in a block marked `text` directly below it. `python tools/examples.py PAGE...` runs the examples of pages with
the becalm of this Python, prints what differs, and changes nothing.
"""

from __future__ import annotations

import contextlib
import difflib
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
    "docs/sweeps.md",
    "docs/own-schemes.md",
    *(f"docs/gallery/{path.name}" for path in sorted((ROOT / "docs" / "gallery").glob("*.md"))),
    *(f"docs/api/{path.name}" for path in sorted((ROOT / "docs" / "api").glob("*.md"))),
)
FABRIC = ("ibnetdiscover.txt", "opensm-lfts.dump")
"""Fabric files printed by InfiniBand tools, from the tests' data."""

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(\n?```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)
_VOLATILE = (
    (re.compile(r"^\S+ \S+ of work: ", re.MULTILINE), "... of work: "),
    (re.compile(r"\S+ [kMG] packet-hops per core-second"), "... packet-hops per core-second"),
    (re.compile(r"each, computed in \S+ s"), "each, computed in ... s"),
    # Progress of a sweep, printed every half minute, which appears on slow machines only.
    (re.compile(r"^\d+ found, \d+ of \d+ computed, .*\n", re.MULTILINE), ""),
    (re.compile(r"( failed| other shards) in \S+ \S+; store"), r"\1 in ...; store"),
)


def refreshed(text: str, pictures: Path | None = None) -> str:
    """Return a page with the current output of its examples, except what differs between runs.

    Args:
        text: the page.
        pictures: folder for SVG files that the examples write; without it, none are kept.

    """
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(ROOT / "scenarios", "scenarios")
        for name in FABRIC:
            shutil.copy(ROOT / "tests" / "data" / "ft2_18" / name, name)
        shutil.copy(ROOT / "tests" / "data" / "counters" / "incast.txt", "counters.txt")
        shutil.copytree(ROOT / "tests" / "data" / "sonic", "switches")
        shutil.copytree(ROOT / "tests" / "data" / "sonic_dump", "dump")
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


def _differences(page: str) -> str:
    """Return the lines in which the output of a page's examples differs from the page."""
    text = (ROOT / page).read_text()
    now = refreshed(text).splitlines(keepends=True)
    return "".join(difflib.unified_diff(text.splitlines(keepends=True), now, page, "now"))


if __name__ == "__main__":
    different = "".join(map(_differences, sys.argv[1:]))
    sys.stdout.write(different)
    sys.exit(bool(different))
