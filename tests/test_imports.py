"""Imports between the modules of becalm run one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "becalm"
LOWER = {"lab": ("papers",), "design": ("papers",), "plot": ("lab", "papers"), "theory": ("lab", "papers")}
"""What the packages of a room must not import."""
EXCEPT = {("becalm.lab.discovery", "becalm.papers"), ("becalm.lab.pages", "becalm.papers")}
"""The list of papers, from which the lab discovers them."""


def _name(path: Path) -> str:
    parts = ("becalm", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in PACKAGE.rglob("*.py")}
COMPILED = "becalm._core"


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a module without what only type checkers see."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _statements(child)


def _imports(path: Path) -> set[str]:
    """Return the modules of becalm that a module imports, within functions, too."""
    found = set()
    for node in _statements(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES or inner == COMPILED else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(MODULES)


GRAPH = {name: _imports(path) for name, path in MODULES.items()}


def test_rooms_import_downward_only() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, others in GRAPH.items()
        for other in others
        for room in LOWER.get(name.split(".")[1] if "." in name else "", ())
        if other.split(".")[1:2] == [room] and (name, other) not in EXCEPT
    ]
    assert not wrong, "\n".join(wrong)


def test_papers_do_not_import_each_other() -> None:
    rooms = {name: name.split(".")[2] for name in MODULES if name.startswith("becalm.papers.")}
    wrong = [
        f"{name} imports {other}"
        for name, others in GRAPH.items()
        for other in others
        if name in rooms and other in rooms and rooms[other] not in (rooms[name], "common")
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_is_longer_than_400_lines() -> None:
    long = {
        name: count for name, path in MODULES.items() if (count := len(path.read_text().splitlines())) > 400
    }
    assert not long
