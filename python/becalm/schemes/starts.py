"""Starter files for user-defined schemes: commented Python versions of becalm's own schemes."""

from __future__ import annotations

import re
from pathlib import Path

from becalm.schemes.objects import SEAMS

_FOLDER = Path(__file__).parent / "examples"
_SEAMS = {base.__name__: seam for base, seam in SEAMS.items()}


def names() -> list[str]:
    """Return the names of schemes with starter files."""
    return sorted(file.stem for file in _FOLDER.glob("*.txt"))


def start(like: str, stem: str) -> tuple[str, str, str]:
    """Return the text of a starter file, the name of its class and its seam.

    Args:
        like: one of `names()`.
        stem: the name of the file without its extension, from which the class is named.

    """
    text = (_FOLDER / f"{like}.txt").read_text(encoding="utf-8")
    found = re.search(r"^class (\w+)\(becalm\.(\w+)\):", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{like}: no class")
    name = "".join(part.capitalize() for part in re.split(r"[^A-Za-z0-9]+", stem) if part) or "Mine"
    name = name if name[0].isalpha() else f"Mine{name}"
    return (
        text.replace(f"class {found[1]}(", f"class {name}(").replace("{file}", stem),
        name,
        _SEAMS[found[2]],
    )
