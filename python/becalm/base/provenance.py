"""The origin of results: version, revision, compiled core, platform."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from becalm._core import __file__ as core_file
from becalm._core import __version__, compiler, model

_KEYS = ("becalm", "core", "model", "compiler", "git_revision", "created", "platform")


def of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest's values of `describe`, with None for values that older versions did not write."""
    return {key: manifest.get(key) for key in _KEYS}


def describe() -> dict[str, Any]:
    """Return the part of a manifest that does not depend on the run: `_KEYS`."""
    return {
        "becalm": __version__,
        "core": core_hash(),
        "model": model,
        "compiler": compiler,
        "git_revision": git_revision(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
        },
    }


@cache
def core_hash() -> str:
    """Return the SHA-256 of the compiled core. The same core and scenario produce the same results."""
    with Path(core_file).open("rb") as core:
        return hashlib.file_digest(core, "sha256").hexdigest()


@cache
def git_revision() -> str | None:
    """Return becalm's revision if it runs from a checkout, with `-dirty` if the checkout has changes."""
    here = Path(__file__)
    try:
        # A copy installed inside another repository is not tracked there.
        _git("ls-files", "--error-unmatch", here.name)
        return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    # A run that is killed must not leave the index locked.
    command = ["git", "--no-optional-locks", *arguments]
    done = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()
