from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "imports.py"


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_no_files_import_each_other() -> None:
    assert run("--check") == (0, "")


RUST = {
    "lib.rs": '//! Says "crate::a".\nmod a;\nmod b;\npub mod room;\npub use b::{Inner as Renamed, Other};\n',
    "a.rs": "use crate::{Renamed, room::*};\n",
    "b.rs": "// use crate::a::Nothing;\npub struct Inner; pub struct Other;\n",
    "room/mod.rs": "mod c;\npub use c::Thing;\n",
    "room/c.rs": "pub struct Thing;\n",
}


@pytest.mark.parametrize(
    ("changed", "cycle"),
    [
        ({}, ""),
        ({"b.rs": "use super::a::Item;\n"}, "a.rs -> b.rs -> a.rs"),
        ({"b.rs": "fn f() { crate::a::item() }\n"}, "a.rs -> b.rs -> a.rs"),
        ({"b.rs": "use crate::a;\nfn f() { a::item() }\n"}, "a.rs -> b.rs -> a.rs"),
        ({"room/c.rs": "use crate::Other;\n", "b.rs": "use crate::a::X;\n"}, "a.rs -> b.rs -> a.rs"),
        ({"room/c.rs": "use super::super::{a::{self, X}};\n"}, "a.rs -> room/c.rs -> a.rs"),
        ({"b.rs": 'const TEXT: &str = "crate::a::item"; /* use crate::a::X; */\n'}, ""),
        ({"b.rs": "#[cfg(test)]\nmod tests { use crate::a::X; mod deep { } }\n"}, ""),
    ],
)
def test_cycles_of_a_crate_are_found(tmp_path: Path, changed: dict[str, str], cycle: str) -> None:
    write(tmp_path / "crates/planted/src", RUST | changed)
    code, text = run("--check", "--root", str(tmp_path))
    path = " -> ".join(f"crates/planted/src/{file}" for file in cycle.split(" -> "))
    assert (code, text) == ((1, f"cycle in planted: {path}\n") if cycle else (0, ""))


def test_imports_are_listed_by_the_file_that_defines_them(tmp_path: Path) -> None:
    module = "#[cfg(test)]\nmod tests { use super::*; use crate::a::X; }\n"
    write(
        tmp_path / "crates/planted/src",
        RUST | {"b.rs": f"use crate::room;\n{module}fn f() {{ room::Thing }}\n"},
    )
    code, text = run("--root", str(tmp_path), "planted")
    assert code == 0
    assert text.splitlines() == [
        "planted:",
        "  a.rs -> b.rs, room/c.rs",
        "  b.rs -> room/c.rs",
        "    tests: a.rs",
        "  room/c.rs -> nothing",
    ]
