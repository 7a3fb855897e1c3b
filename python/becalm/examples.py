"""Ready scenarios that come with the package."""

from __future__ import annotations

import re
from pathlib import Path

from becalm.errors import BecalmError

_HERE = Path(__file__).parent / "scenarios"
# In a checkout the folder is a link, which not every system can have.
_FOLDER = _HERE if _HERE.is_dir() else Path(__file__).parents[2] / "scenarios"


def names() -> list[str]:
    """Return the names of all examples."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def path(name: str) -> Path:
    """Return the file of an example.

    Raises:
        BecalmError: there is none of this name; the message lists the names.

    """
    if name not in names():
        raise BecalmError(f"`{name}`: no such example; valid: {', '.join(names())}")
    return _FOLDER / f"{name}.toml"


def summary(name: str) -> str:
    """Return the first sentence of the comment at the top of an example."""
    lines = path(name).read_text(encoding="utf-8").splitlines()
    end = next(
        place for place, line in enumerate(lines) if line.strip("# ") == "" or not line.startswith("#")
    )
    text = " ".join(line.strip("# ") for line in lines[:end])
    return re.split(r"\.(?: |$)", text)[0]
