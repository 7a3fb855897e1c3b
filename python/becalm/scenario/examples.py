"""Example scenarios that come with the package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from becalm.base.errors import BecalmError
from becalm.base.mistakes import nearest

if TYPE_CHECKING:
    from becalm.scenario import Scenario

_HERE = Path(__file__).parents[1] / "scenarios"
# In a checkout, the folder is a link, which not every system supports.
_FOLDER = _HERE if _HERE.is_dir() else Path(__file__).parents[3] / "scenarios"


def names() -> list[str]:
    """Return the names of all examples."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


def path(name: str) -> Path:
    """Return the file of an example.

    Raises:
        BecalmError: no example has this name; the message lists the valid names.

    """
    if name not in names():
        near = nearest(name, names())
        raise BecalmError(f"`{name}`: no such example{near or '; valid: ' + ', '.join(names())}")
    return _FOLDER / f"{name}.toml"


def load(name: str) -> Scenario:
    """Read an example. Messages and reports show its name, not its path in the package.

    Raises:
        BecalmError: no example has this name; the message lists the valid names.

    """
    from becalm.scenario import Scenario

    file = path(name)
    return Scenario(file.read_text(encoding="utf-8"), name=file.name)


def summary(name: str) -> str:
    """Return the first sentence of the comment at the top of an example."""
    lines = path(name).read_text(encoding="utf-8").splitlines()
    end = next(
        place for place, line in enumerate(lines) if line.strip("# ") == "" or not line.startswith("#")
    )
    text = " ".join(line.strip("# ") for line in lines[:end])
    # Do not split after "Fig. 5": a sentence starts with a capital letter.
    return re.split(r"\.(?: (?=[A-Z])|$)", text)[0]
