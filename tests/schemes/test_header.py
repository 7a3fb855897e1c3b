"""Types in `becalm.h`, in the core and for ctypes have the same sizes and offsets."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from libraries import INCLUDE

from becalm import _core
from becalm.schemes.abi import CONSTANTS, STRUCTURES


def test_the_header_is_the_one_of_the_core() -> None:
    assert _core.header() == (INCLUDE / "becalm.h").read_text()
    assert f"#define BECALM_ABI {CONSTANTS['ABI']}u" in _core.header()


@pytest.mark.parametrize("language", ["c", "c++"])
def test_sizes_and_offsets_are_those_of_the_header(tmp_path: Path, language: str) -> None:
    compiler = shutil.which("cc" if language == "c" else "c++")
    if compiler is None:
        pytest.skip(f"no compiler of {language}")
    lines = []
    for name, kind in STRUCTURES.items():
        lines.append(f'printf("[\\"{name}\\", null, %zu],", sizeof({name}));')
        lines += [
            f'printf("[\\"{name}\\", \\"{field}\\", %zu],", offsetof({name}, {field}));'
            for field, _ in kind._fields_
        ]
    source = tmp_path / ("sizes.c" if language == "c" else "sizes.cc")
    head = '#include <stddef.h>\n#include <stdio.h>\n#include "becalm.h"\nint main(void) { printf("[");'
    source.write_text(head + "\n".join(lines) + 'printf("0]"); }\n')
    program = tmp_path / "sizes"
    command = [compiler, "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", str(source), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)[:-1]
    expected = []
    for name, kind in STRUCTURES.items():
        expected.append([name, None, ctypes.sizeof(kind)])
        expected += [[name, field, getattr(kind, field).offset] for field, _ in kind._fields_]
    assert found == expected
    assert {f"{name}.{field or ''}": place for name, field, place in found} == dict(_core.abi_layout())
