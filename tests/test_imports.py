"""Import contracts in pyproject.toml hold and detect violations; the web has no circles."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "becalm"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n"


def lint(folder: Path) -> tuple[int, str]:
    tool = str(Path(sys.executable).with_name("lint-imports"))
    command = [tool, "--no-cache", "--no-logo", "--config", str(ROOT / "pyproject.toml")]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_no_modules_import_each_other() -> None:
    graph = grimp.build_graph("becalm", cache_dir=None)
    imports = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    TopologicalSorter(imports).prepare()
    assert len(graph.modules) > 200


def _of_the_web(folder: Path) -> dict[str, set[str]]:
    imported = re.compile(r"""(?:from|import)\s*\(?["']\./([\w-]+)(?:\.ts)?["']""")
    return {file.stem: set(imported.findall(file.read_text())) for file in folder.glob("*.ts")}


def test_no_modules_of_the_web_import_each_other(tmp_path: Path) -> None:
    graph = _of_the_web(ROOT / "web" / "src")
    TopologicalSorter(graph).prepare()
    assert "kinds" in graph["core"]
    (tmp_path / "a.ts").write_text('import type { B } from "./b";\n')
    (tmp_path / "b.ts").write_text('import {\n  a,\n} from "./a";\n')
    with pytest.raises(CycleError):
        TopologicalSorter(_of_the_web(tmp_path)).prepare()


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("", "", ""),
        ("theory/pfc", "from becalm.lab import Lab", "becalm.theory is not allowed to import becalm.lab"),
        ("theory/pfc", "def later():\n    from becalm import runs", "becalm.theory.pfc -> becalm.runs"),
        ("plot/style", TYPES.format("from becalm.runs import run"), "becalm.plot.style -> becalm.runs"),
        (
            "tunings/goals",
            "from becalm.whatif import incast",
            "tunings is not allowed to import becalm.whatif",
        ),
        (
            "analysis/faults",
            "from becalm.opensm import fabric",
            "becalm.analysis is not allowed to import becalm.opensm",
        ),
        ("store/key", "import becalm.cli.console", "becalm.store is not allowed to import becalm.cli"),
        ("lab/text", "from becalm import run", "becalm.lab.text -> becalm"),
        (
            "papers/pfc/__init__",
            "import becalm.papers.li2019",
            "Papers do not import each other BROKEN",
        ),
        (
            "lab/discovery",
            "from becalm.papers import santos2002",
            "lab is not allowed to import becalm.papers",
        ),
        ("sweeps/plan", "def later():\n    from becalm.sweeps import spec", "any depth BROKEN"),
        ("new_room", "", "new_room"),
    ],
)
def test_an_import_against_the_rows_is_found(tmp_path: Path, module: str, line: str, broken: str) -> None:
    copy = tmp_path / "becalm"
    shutil.copytree(PACKAGE, copy, ignore=lambda folder, names: _not_python(Path(folder), names))
    if module:
        with (copy / f"{module}.py").open("a") as file:
            file.write(f"\n\n{line}\n")
    code, said = lint(tmp_path)
    assert code == (1 if broken else 0), said
    assert broken in said


def _not_python(folder: Path, names: list[str]) -> list[str]:
    kept = {each for each in names if each.endswith(".py") or (folder / each).is_dir()} - {"__pycache__"}
    return sorted(set(names) - kept)


def test_no_module_is_longer_than_400_lines() -> None:
    lines = {str(path): len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {path: count for path, count in lines.items() if count > 400} == {}


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its parameters and its docstring."""
    first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
    return (function.end_lineno or 0) - first.lineno + 1


def test_no_function_is_longer_than_60_lines() -> None:
    """Options and their help do not count: commands with up to 20 of them take 60 to 90 lines."""
    functions = {
        f"{path.relative_to(PACKAGE)} {each.name}": _length(each)
        for path in PACKAGE.rglob("*.py")
        for each in ast.walk(ast.parse(path.read_text()))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in functions.items() if lines > 60} == {}
