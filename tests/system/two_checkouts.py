"""Builds a copy of the sources in another folder with another home, and compares the model hash in run keys.

    python tests/system/two_checkouts.py

Running `cargo check` with the build script is enough to obtain the hash. The exit code is 1 if it differs
from the installed module's hash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from becalm import _core

ROOT = Path(__file__).parents[2]


def main() -> bool:
    """Build the copy, print both hashes, and return whether they are equal."""
    with tempfile.TemporaryDirectory(prefix="becalm-checkout-") as name:
        copy = Path(name) / "another" / "place"
        shutil.copytree(ROOT / "crates", copy / "crates")
        for file in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / file, copy / file)
        home = Path(name) / "home"
        found = built(copy, home)
    print(f"installed module: {_core.model}\nother checkout:   {found}")
    return found == _core.model


def built(copy: Path, home: Path) -> str:
    """Check the crates with another home, and return the build script's hash."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    (home / "cargo").mkdir(parents=True)
    # Reuse downloaded third-party crates; all paths still differ.
    if (cargo / "registry").is_dir():
        (home / "cargo" / "registry").symlink_to(cargo / "registry")
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    environment = {**os.environ, "HOME": str(home), "CARGO_HOME": str(home / "cargo"), "RUSTUP_HOME": rustup}
    environment.pop("CARGO_TARGET_DIR", None)
    command = ["cargo", "check", "--locked", "--quiet", "-p", "becalm-py"]
    subprocess.run(command, cwd=copy, env=environment, check=True, timeout=1800)
    outputs = (copy / "target" / "debug" / "build").glob("becalm-py-*/output")
    said = "".join(path.read_text() for path in outputs)
    model: str
    (model,) = set(re.findall("BECALM_MODEL=([0-9a-f]{64})", said))
    return model


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
