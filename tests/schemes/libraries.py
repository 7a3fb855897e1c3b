"""The library of C schemes, compiled once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "crates" / "external" / "include"


def compile_c(source: Path, library: Path, *options: str) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    command = [compiler, *flags, *options, f"-I{INCLUDE}", str(source), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return library


@pytest.fixture(scope="session")
def c_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(HERE / "own.c", tmp_path_factory.mktemp("library") / "libown.so")
