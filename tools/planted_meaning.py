"""Puts old defects back into a copy of becalm, one by one, and checks that `tests/meaning` finds each.

    python tools/planted_meaning.py [NAME...]

A defect is a change of exact text in the core. The copy is built in `target/planted`, with the same options
as for the tests in CI. The scenes are those of `make meaning`. The exit code is 1 if the suite misses a
defect, or fails without one. Each defect takes a build of the core and up to two minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPY = ROOT / "target" / "planted"
QUICK = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "8",
    "CARGO_PROFILE_RELEASE_INCREMENTAL": "true",
}


class Plant(NamedTuple):
    """A defect: a text in a file, and the text in its place."""

    name: str
    file: str
    old: str
    new: str


PLANTS = (
    Plant(
        "sources of a host take turns at a full send queue",
        "crates/fabric/src/host/posting.rs",
        "Traffic::Poisson { .. } if self.is_blocked(id) => self.suspend(id),",
        "Traffic::Poisson { .. } if false => self.suspend(id),",
    ),
    Plant(
        "a buffer of N packets charges an answer a whole packet",
        "crates/scenario/src/resolve/buffers.rs",
        "packets.saturating_mul(each);\n                Buffers { room: Room::Bytes(bytes), bytes }",
        "packets.saturating_mul(each);\n                "
        "Buffers { room: if credited { Room::Slots(packets) } else { Room::Bytes(bytes) }, bytes }",
    ),
    Plant(
        "a port's wait clock runs while another lane sends",
        "crates/fabric/src/context.rs",
        "        self.observer.sending(self.now, from, tail);\n",
        "",
    ),
    Plant(
        "a run with jobs goes on after their end",
        "crates/fabric/src/host/execution.rs",
        "if self.jobs.open_ranks() == 0 {",
        "if false {",
    ),
)


def copied(copy: Path = COPY) -> None:
    """Copy all files of the project that have changed since the last copy."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, copy / name
        if not source.is_file():
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def planted(plant: Plant, copy: Path = COPY) -> None:
    """Change the copy."""
    path = copy / plant.file
    text = path.read_text(encoding="utf-8")
    if text.count(plant.old) != 1:
        raise SystemExit(f"{plant.name}: {plant.file} must contain once: {plant.old}")
    path.write_text(text.replace(plant.old, plant.new), encoding="utf-8")


def built() -> None:
    """Build the copy's core, and put it into the copy's package."""
    # Like maturin: the module does not link Python's library.
    options = {**QUICK, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    cargo = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "becalm-py"]
    subprocess.run(cargo, cwd=COPY, env={**os.environ, **options}, check=True)
    (library,) = [
        path for path in (COPY / "target" / "release").glob("lib_core.*") if path.suffix in (".so", ".dylib")
    ]
    shutil.copyfile(library, COPY / "python" / "becalm" / "_core.abi3.so")


def failures() -> list[str]:
    """Run the suite on the copy, and return the tests that fail."""
    tests = [sys.executable, "-m", "pytest", "tests/meaning", "-x", "-n", "2"]
    environment = {**os.environ, "PYTHONPATH": str(COPY / "python")}
    done = subprocess.run(tests, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    failed = re.findall(r"^FAILED \S*::(.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    # With several processes, `-x` interrupts the others: exit code 2.
    if done.returncode and not failed:
        raise SystemExit(done.stdout + done.stderr)
    return failed


def main(names: list[str]) -> int:
    """Print the tests that find each defect; return 1 if one is missed."""
    missed = 0
    for plant in (None, *(each for each in PLANTS if not names or each.name in names)):
        copied()
        if plant:
            planted(plant)
        built()
        found = failures()
        missed += bool(found) == (plant is None)
        print(f"{plant.name if plant else 'no defect'}: {', '.join(found) or 'no test fails'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
