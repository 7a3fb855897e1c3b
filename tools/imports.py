"""Imports between the files of each Rust crate and of each Python package, and the circles among them.

    python tools/imports.py            # lists every file with the files that it imports
    python tools/imports.py --check    # prints circles only
    python tools/imports.py fabric     # one crate; `becalm` is the Python package

The exit code is 1 if there is a circle. An import of a re-exported name counts as one of the file that
defines it. Files that only declare and re-export (`lib.rs`, `mod.rs`, `__init__.py`) are no part of a circle.
Imports that only tests (`#[cfg(test)]`) or type checkers (`if TYPE_CHECKING:`) need make no circle, either;
they are listed apart.

Names that macros produce and methods that are called without an import are not seen.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]


@dataclass
class Graph:
    """The imports of each file of a crate or package; `aside` holds those for tests and type checkers."""

    name: str
    folder: Path
    imports: dict[str, set[str]] = field(default_factory=dict)
    aside: dict[str, set[str]] = field(default_factory=dict)

    def circles(self) -> list[list[str]]:
        """A shortest circle for each set of files that import each other; its first file ends it, too."""
        found: list[list[str]] = []
        seen: set[str] = set()
        for start in sorted(self.imports):
            if start not in seen and (circle := self._circle(start)):
                found.append(circle)
                reach = self._reachable(start)
                seen |= {file for file in reach if start in self._reachable(file)}
        return found

    def _reachable(self, start: str) -> set[str]:
        reached: set[str] = set()
        pending = [start]
        while pending:
            new = self.imports.get(pending.pop(), set()) - reached
            reached |= new
            pending += new
        return reached

    def _circle(self, start: str) -> list[str] | None:
        paths = [[start]]
        visited: set[str] = set()
        for path in paths:
            for following in sorted(self.imports.get(path[-1], ())):
                if following == start:
                    return [*path, start]
                if following not in visited:
                    visited.add(following)
                    paths.append([*path, following])
        return None


# Rust


@dataclass
class RustFile:
    """A source file: its module, its text without comments and strings, and the imports in it."""

    path: Path
    module: Module
    code: str
    tests: str
    names: dict[str, Module]
    globs: list[Module]
    facade: bool


def plain(text: str) -> str:
    """Rust text without comments, strings and characters."""
    literal = re.compile(
        r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""", re.DOTALL
    )
    return literal.sub(lambda found: " " if found[0].startswith("/") else '""', text)


def without_tests(code: str) -> tuple[str, str]:
    """Code outside and inside of the modules under `#[cfg(test)]`."""
    tests = ""
    while begin := re.search(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))?\s+)?mod\s+\w+\s*\{", code):
        depth, at = 1, begin.end()
        while depth and at < len(code):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
        tests += code[begin.end() : at - 1]
        code = code[: begin.start()] + code[at:]
    return code, tests


def expand(tree: str) -> Iterator[tuple[list[str], str]]:
    """The paths of a use-tree, each with the name that it gets here."""
    tree = " ".join(tree.split())
    brace = tree.find("{")
    if brace < 0:
        path, _, name = tree.partition(" as ")
        segments = [part.strip() for part in path.split("::") if part.strip()]
        if segments and segments[-1] == "self":
            segments.pop()
        if segments:
            yield segments, name.strip() or segments[-1]
        return
    prefix, inner = tree[:brace].strip(), tree[brace + 1 : tree.rindex("}")]
    depth, start = 0, 0
    for at, char in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            if part := inner[start:at].strip():
                yield from expand(prefix + part)
            start = at + 1


USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
INLINE = re.compile(r"(?<![\w$:])([a-z_]\w*)((?:::\w+)+)")


class Crate:
    """The files of a crate, by module."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.files: dict[Module, RustFile] = {}
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            module = parts[:-1] if parts[-1] in ("lib", "main", "mod") else parts
            code, tests = without_tests(plain(path.read_text()))
            self.files[module] = RustFile(path, module, code, tests, {}, [], self._is_facade(path, code))
        for file in self.files.values():
            for match in USE.finditer(file.code):
                for segments, name in expand(match[2]):
                    if (target := self.absolute(file.module, segments)) is None:
                        continue
                    if segments[-1] == "*":
                        file.globs.append(target[:-1])
                    else:
                        file.names[name] = target

    @staticmethod
    def _is_facade(path: Path, code: str) -> bool:
        if path.name not in ("lib.rs", "mod.rs"):
            return False
        rest = re.sub(r"#!?\[[^\]]*\]", "", USE.sub("", code))
        return not re.sub(r"(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*;", "", rest).strip()

    def absolute(self, here: Module, segments: list[str]) -> Module | None:
        """The path from the root of the crate, or nothing for one of another crate."""
        first, rest = segments[0], segments[1:]
        if first == "crate":
            return tuple(rest)
        if first == "self":
            return (*here, *rest)
        if first == "super":
            while rest and rest[0] == "super":
                here, rest = here[:-1], rest[1:]
            return (*here[:-1], *rest)
        if (*here, first) in self.files:
            return (*here, *segments)
        return None

    def defining(self, path: Module, depth: int = 0) -> set[Module]:
        """The modules whose files define what a path names."""
        module: Module = ()
        for at, segment in enumerate(path):
            if (*module, segment) in self.files:
                module = (*module, segment)
                continue
            file = self.files.get(module)
            if file is None or depth > 20:
                return set()
            if segment == "*":
                return self._all(file, depth)
            if segment in file.names:
                return self.defining((*file.names[segment], *path[at + 1 :]), depth + 1)
            if file.facade:
                return {
                    found for glob in file.globs for found in self.defining((*glob, *path[at:]), depth + 1)
                }
            return {module}
        return set() if self.files[module].facade else {module}

    def _all(self, file: RustFile, depth: int) -> set[Module]:
        if not file.facade:
            return {file.module}
        paths = [*file.names.values(), *((*glob, "*") for glob in file.globs)]
        return {found for path in paths for found in self.defining(path, depth + 1)}

    def imported(self, file: RustFile, code: str, inner: bool) -> set[Module]:
        """The modules that a piece of a file imports; `inner` is a piece within a module of its own."""
        here = (*file.module, "tests") if inner else file.module
        reexports = file.path.name in ("lib.rs", "mod.rs")
        paths: list[Module] = []
        for match in USE.finditer(code):
            if match[1] and reexports:
                continue
            for segments, _ in expand(match[2]):
                if (target := self.absolute(here, segments)) is not None:
                    paths.append(target)
        for match in INLINE.finditer(USE.sub("", code)):
            segments = [match[1], *match[2].split("::")[1:]]
            if match[1] in file.names:
                paths.append((*file.names[match[1]], *segments[1:]))
            elif (target := self.absolute(here, segments)) is not None:
                paths.append(target)
        return {found for path in paths for found in self.defining(path)} - {file.module}

    def graph(self, name: str) -> Graph:
        """The imports between the files."""
        graph = Graph(name, self.source)
        files = {module: str(file.path) for module, file in self.files.items()}
        for module, file in self.files.items():
            if file.facade:
                continue
            direct = {files[found] for found in self.imported(file, file.code, inner=False)}
            graph.imports[files[module]] = direct
            graph.aside[files[module]] = {
                files[m] for m in self.imported(file, file.tests, inner=True)
            } - direct
        return graph


# Python


class Package:
    """The modules of a Python package, by dotted name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trees: dict[str, ast.Module] = {}
        self.paths: dict[str, Path] = {}
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.trees[name] = ast.parse(path.read_text(), str(path))
            self.paths[name] = path

    def is_facade(self, name: str) -> bool:
        """Whether a module is an `__init__.py` with nothing but imports, names and a docstring."""
        if self.paths[name].name != "__init__.py":
            return False
        plain_nodes = (ast.Import, ast.ImportFrom, ast.Expr, ast.Assign, ast.AnnAssign)
        return all(isinstance(node, plain_nodes) for node in self.trees[name].body)

    def source(self, name: str, node: ast.ImportFrom) -> str:
        """The module that an import names."""
        if not node.level:
            return node.module or ""
        parts = name.split(".")
        kept = len(parts) - node.level + (self.paths[name].name == "__init__.py")
        return ".".join([*parts[:kept], *filter(None, [node.module])])

    def defining(self, module: str, item: str, depth: int = 0) -> str | None:
        """The module that defines an item of a module."""
        if f"{module}.{item}" in self.trees:
            return f"{module}.{item}"
        if module not in self.trees:
            return None
        if self.paths[module].name == "__init__.py" and depth < 20:
            for node in self.trees[module].body:
                if isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        if (alias.asname or alias.name) == item:
                            return self.defining(self.source(module, node), alias.name, depth + 1)
        return module

    def imported(self, name: str, nodes: list[ast.AST]) -> set[str]:
        """The modules that these nodes of a module import."""
        found: set[str | None] = set()
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {self.defining(self.source(name, node), alias.name) for alias in node.names}
        return {
            module
            for module in found
            if module in self.trees and module != name and not self.is_facade(module)
        }

    def graph(self, title: str) -> Graph:
        """The imports between the files."""
        graph = Graph(title, self.folder)
        for name, tree in self.trees.items():
            if self.is_facade(name):
                continue
            blocks = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            ]
            checked = [inner for block in blocks for statement in block.body for inner in ast.walk(statement)]
            ids = set(map(id, checked))
            direct = self.imported(name, [node for node in ast.walk(tree) if id(node) not in ids])
            file = str(self.paths[name])
            graph.imports[file] = {str(self.paths[module]) for module in direct}
            graph.aside[file] = {str(self.paths[module]) for module in self.imported(name, checked) - direct}
        return graph


def graphs(root: Path) -> list[Graph]:
    """The crates under `crates` and the packages under `python`."""
    crates = [Crate(source).graph(source.parent.name) for source in sorted(root.glob("crates/*/src"))]
    packages = [
        Package(init.parent).graph(init.parent.name) for init in sorted(root.glob("python/*/__init__.py"))
    ]
    return crates + packages


def main() -> int:
    """Prints imports and circles; gives 1 if there is a circle."""
    parser = argparse.ArgumentParser(description="imports between files, and circles among them")
    parser.add_argument("names", nargs="*", help="crates and packages; all if none is named")
    parser.add_argument("--check", action="store_true", help="print circles only")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    found = graphs(options.root)
    if unknown := set(options.names) - {graph.name for graph in found}:
        parser.error(f"no crate or package {', '.join(sorted(unknown))}")
    circles = 0
    for graph in found:
        if options.names and graph.name not in options.names:
            continue
        if not options.check:
            print("\n".join(listing(graph)))
        for circle in graph.circles():
            circles += 1
            files = [str(Path(file).relative_to(options.root)) for file in circle]
            print(f"circle in {graph.name}: {' -> '.join(files)}")
    return 1 if circles else 0


def listing(graph: Graph) -> Iterator[str]:
    """The imports of each file, by paths within the crate or package."""

    def names(files: set[str]) -> str:
        return ", ".join(sorted(str(Path(file).relative_to(graph.folder)) for file in files)) or "nothing"

    yield f"{graph.name}:"
    for file in sorted(graph.imports):
        yield f"  {names({file})} -> {names(graph.imports[file])}"
        if aside := graph.aside[file]:
            yield f"    tests or types: {names(aside)}"


if __name__ == "__main__":
    sys.exit(main())
