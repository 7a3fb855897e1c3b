"""Lists imports between the files of each Rust crate, and cycles. Python code is checked with import-linter.

    python tools/imports.py            # lists each file with its imports
    python tools/imports.py --check    # prints cycles only
    python tools/imports.py fabric     # one crate

The exit code is 1 if there is a cycle. An import of a re-exported name counts as an import of the file that
defines the name. Files that only declare and re-export (`lib.rs`, `mod.rs`) and imports in tests
(`#[cfg(test)]`) are not part of a cycle. Imports in tests are listed separately.

Names from macros and methods called without an import are not detected.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]


@dataclass
class Graph:
    """Imports of each file of a crate; `aside` contains imports in tests only."""

    name: str
    folder: Path
    imports: dict[str, set[str]] = field(default_factory=dict)
    aside: dict[str, set[str]] = field(default_factory=dict)

    def cycles(self) -> list[list[str]]:
        """Return a shortest cycle for each set of files that import each other; it ends where it begins."""
        found: list[list[str]] = []
        seen: set[str] = set()
        for start in sorted(self.imports):
            if start not in seen and (cycle := self._cycle(start)):
                found.append(cycle)
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

    def _cycle(self, start: str) -> list[str] | None:
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


@dataclass
class RustFile:
    """A source file: its module, its text without comments and strings, and its imports."""

    path: Path
    module: Module
    code: str
    tests: str
    names: dict[str, Module]
    globs: list[Module]
    facade: bool


def plain(text: str) -> str:
    """Return Rust text without comments, strings and characters."""
    literal = re.compile(
        r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""", re.DOTALL
    )
    return literal.sub(lambda found: " " if found[0].startswith("/") else '""', text)


def without_tests(code: str) -> tuple[str, str]:
    """Return the code outside and inside modules under `#[cfg(test)]`."""
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
    """Yield the paths of a use tree, each with its local name."""
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
    """Files of a crate, by module."""

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
        """Return the path from the root of the crate, or None for a path in another crate."""
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
        """Return the modules that define the items at a path."""
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
        """Return the modules imported by code of a file; `inner` marks code of an inner test module."""
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
        """Return the imports between the files."""
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


def graphs(root: Path) -> list[Graph]:
    """Return the graphs of the crates under `crates`."""
    return [Crate(source).graph(source.parent.name) for source in sorted(root.glob("crates/*/src"))]


def main() -> int:
    """Print imports and cycles; return 1 if there is a cycle."""
    parser = argparse.ArgumentParser(description="imports between files, and cycles among them")
    parser.add_argument("names", nargs="*", help="crates (default: all)")
    parser.add_argument("--check", action="store_true", help="print cycles only")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    found = graphs(options.root)
    if unknown := set(options.names) - {graph.name for graph in found}:
        parser.error(f"no crate {', '.join(sorted(unknown))}")
    cycles = 0
    for graph in found:
        if options.names and graph.name not in options.names:
            continue
        if not options.check:
            print("\n".join(listing(graph)))
        for cycle in graph.cycles():
            cycles += 1
            files = [str(Path(file).relative_to(options.root)) for file in cycle]
            print(f"cycle in {graph.name}: {' -> '.join(files)}")
    return 1 if cycles else 0


def listing(graph: Graph) -> Iterator[str]:
    """Yield the imports of each file, as paths within the crate."""

    def names(files: set[str]) -> str:
        return ", ".join(sorted(str(Path(file).relative_to(graph.folder)) for file in files)) or "nothing"

    yield f"{graph.name}:"
    for file in sorted(graph.imports):
        yield f"  {names({file})} -> {names(graph.imports[file])}"
        if aside := graph.aside[file]:
            yield f"    tests: {names(aside)}"


if __name__ == "__main__":
    sys.exit(main())
