"""The C interface: a declaration within limits, and a crash that names the library and the function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import becalm
from becalm.schemes.loading import load

sys.path.insert(0, str(Path(__file__).parents[1] / "schemes"))

import libraries

SOURCE = Path(__file__).parent / "scheme.c"


def scene() -> becalm.Scenario:
    return becalm.load(Path(__file__).parents[2] / "scenarios" / "input_triggered_lipd.toml")


def compiled(folder: Path, **parts: str) -> Path:
    options = [f"-D{key}={value}" for key, value in parts.items()]
    return libraries.compile_c(SOURCE, folder / "libmine.so", *options)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"TRAIL": "4000000000u"}, "declares 4000000000 bytes of telemetry; at most 65536"),
        (
            {"AT": "&scheme"},
            "scheme 1 is `mine` again; `becalm_scheme_at` must return NULL after the last scheme",
        ),
        ({"COUNT": "1000000"}, "declares 1000000 parameters, but no list of them"),
        ({"COUNT": "1000000", "PARAMETERS": "(void *)16"}, "declares 1000000 parameters; at most 1000"),
    ],
)
def test_a_declaration_out_of_bounds_is_refused(tmp_path: Path, parts: dict[str, str], problem: str) -> None:
    with pytest.raises(becalm.SchemeError) as raised:
        load(str(compiled(tmp_path, **parts)))
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"ACK": "pace->timer = now + 1;"}, "its timer expires more than 1000 times within 1 us"),
        ({"ACK": "pace->failed = 1;"}, "its function `ack` reports a failure"),
    ],
)
def test_a_failing_function_ends_the_run(tmp_path: Path, parts: dict[str, str], problem: str) -> None:
    with pytest.raises(becalm.SchemeError, match=problem):
        becalm.run(scene(), schemes=[str(compiled(tmp_path, **parts))])


def test_a_truncated_library_is_refused(tmp_path: Path) -> None:
    library = compiled(tmp_path)
    if library.read_bytes()[:4] != b"\x7fELF":
        pytest.skip("not an ELF file")
    content = library.read_bytes()
    for part in (30, 100, len(content) // 4, len(content) // 2):
        library.write_bytes(content[:part])
        with pytest.raises(becalm.SchemeError, match=f"is truncated: it has {part} of at least"):
            load(str(library))


CRASHES = {
    "ack": ({"ACK": "*(volatile int *)(8L + zero) = 1;"}, "in its function `ack` (SIGSEGV)"),
    "abort": ({"ACK": "abort();"}, "in its function `ack` (SIGABRT)"),
    "division": ({"ACK": "pace->gap = 1000 / zero;"}, "in its function `ack` (SIGFPE)"),
    "declaration": ({"AT": "number ? &scheme : (void *)16"}, "while it was loaded (SIGSEGV)"),
    "name": ({"NAME": "(char *)16"}, "while it was loaded (SIGSEGV)"),
}


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("case", CRASHES)
def test_a_crash_names_the_library_and_the_function(tmp_path: Path, case: str) -> None:
    if case == "division" and os.uname().machine != "x86_64":
        pytest.skip("other processors do not trap a division by zero")
    parts, problem = CRASHES[case]
    library, out = compiled(tmp_path, **parts), tmp_path / "results"
    command = [sys.executable, "-m", "becalm", "run", "--example", "input_triggered_lipd", "--out", str(out)]
    done = subprocess.run([*command, "--response", str(library)], capture_output=True, text=True, check=False)
    assert done.returncode < 0 and f"libmine.so: crashed {problem}" in done.stderr.replace(":mine", "")
    assert not out.exists()
