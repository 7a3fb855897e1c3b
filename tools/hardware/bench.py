"""Builds programs that replay calls on modules of `hardware`, with Verilator and a C++ test bench."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HARDWARE = ROOT / "hardware"
MODULES = ("marker", "responder", "ibta_responder")
INCLUDED = Path("share/verilator/include")


def verilator() -> Path | None:
    """Return the path of Verilator if it is installed."""
    found = shutil.which("verilator")
    return None if found is None else Path(found)


@dataclass(frozen=True)
class Bench:
    """A module with its parameters and build folder."""

    module: str
    parameters: Mapping[str, int]
    folder: Path
    source: str | None = None
    """Text of the module; read from its file by default."""

    @property
    def derived(self) -> dict[str, int]:
        """Return all parameters that the bench requires."""
        p = dict(self.parameters)
        if self.module == "marker":
            bits = {"PORT_BITS": _bits(p["PORTS"]), "SLOT_BITS": max(1, _bits(p["SLOTS"]))}
        elif self.module == "responder":
            bits = {"INDEX_BITS": _bits(p["RATES"])}
        else:
            bits = {}
        return {**p, **bits}

    def build(self) -> Path:
        """Translate and compile the module and its bench; return the program's path.

        Raises:
            CalledProcessError: the module is not valid SystemVerilog, or the bench is not valid C++.

        """
        self.folder.mkdir(parents=True, exist_ok=True)
        program = self.folder / self.module
        text = self.source or (HARDWARE / f"{self.module}.sv").read_text(encoding="utf-8")
        source = self.folder / f"{self.module}.sv"
        stamp = json.dumps(self.derived) + text + _benches()
        built = self.folder / "built"
        if program.exists() and built.exists() and built.read_text(encoding="utf-8") == stamp:
            return program
        source.write_text(text, encoding="utf-8")
        settings = [f"-G{name}={value}" for name, value in self.parameters.items()]
        made = self.folder / "made"
        shutil.rmtree(made, ignore_errors=True)
        _run(
            "verilator",
            "--cc",
            "-O3",
            "-Wno-WIDTH",
            *settings,
            "--Mdir",
            made,
            "--top-module",
            self.module,
            source,
        )
        include = _include()
        defined = [f"-D{name}={value}" for name, value in self.derived.items()]
        libraries = [_library(self.folder.parent, name) for name in ("verilated", "verilated_threads")]
        # One unit: most of the time goes into Verilator's headers, and each file would read them again.
        unit = made / "unit.cc"
        parts = (*sorted(made.glob("*.cpp")), HARDWARE / "replay" / f"{self.module}.cpp")
        unit.write_text("".join(f'#include "{part}"\n' for part in parts), encoding="utf-8")
        places = ["-I", include, "-I", include / "vltstd", "-I", made]
        _run("g++", "-std=c++17", "-O1", *defined, *places, unit, *libraries, "-pthread", "-o", program)
        built.write_text(stamp, encoding="utf-8")
        return program

    def replay(self, file: Path) -> Result:
        """Build the program and replay the calls in a file."""
        done = subprocess.run([self.build(), file], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{self.module}: {done.stderr.strip()}")
        return Result(**json.loads(done.stdout), said=done.stderr.strip())


@dataclass(frozen=True)
class Result:
    """Result of a replay."""

    streams: int
    calls: int
    cycles: int
    answers: int
    marks: int
    differences: int
    said: str = ""


def _bits(count: int) -> int:
    return math.ceil(math.log2(count))


def _benches() -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted((HARDWARE / "replay").iterdir()))


def _include() -> Path:
    program = verilator()
    assert program is not None
    return program.parents[1] / INCLUDED


def _library(folder: Path, name: str) -> Path:
    """Return an object file of Verilator's library, compiled once for all modules."""
    made = folder / f"{name}.o"
    if not made.exists():
        include = _include()
        _run(
            "g++",
            "-std=c++17",
            "-O1",
            "-I",
            include,
            "-I",
            include / "vltstd",
            "-c",
            include / f"{name}.cpp",
            "-o",
            made,
        )
    return made


def _run(*command: Any) -> None:  # noqa: ANN401
    subprocess.run([str(each) for each in command], check=True)
