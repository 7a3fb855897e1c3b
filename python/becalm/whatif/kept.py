"""A folder of the runs of an incast, for a page that shows them side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from becalm._core import __version__
from becalm.base import jsons
from becalm.base.errors import ResultsError
from becalm.base.folders import Kind
from becalm.results import Results, load_results
from becalm.whatif.incast import WhatIf

INDEX = "whatif.json"
"""Name of the file that identifies such a folder."""
FOLDER = Kind(INDEX, "a folder of an incast's runs", lambda _: set())
NAMES = {"calm": "Before the incast", "without": "Incast", "managed": "Incast, with control"}
"""The kept runs and their headings, in order."""


def fill(found: WhatIf, folder: Path, check: Callable[[], None]) -> None:
    """Write the runs to subfolders of an empty folder, and the index; see `Reservation.write`."""
    kept = [name for name in NAMES if name in found.runs]
    for name in kept:
        (folder / name).mkdir()
        found.runs[name].fill(folder / name, check)
    index = {"becalm": __version__, "hot": found.hot, "verdict": found.verdict, "runs": kept}
    (folder / INDEX).write_text(jsons.dumps(index, indent=2) + "\n", encoding="utf-8")


def load(folder: Path) -> tuple[str, str, dict[str, Results]]:
    """Return the hot host, the verdict and the runs by heading of a folder.

    Raises:
        ResultsError: the folder is damaged.

    """
    try:
        index = json.loads((folder / INDEX).read_bytes())
        hot, verdict = str(index["hot"]), str(index["verdict"])
        names = {name: heading for name, heading in NAMES.items() if name in index["runs"]}
    except (KeyError, OSError, RecursionError, TypeError, ValueError) as error:
        raise ResultsError(f"{folder / INDEX}: was not written by becalm: {error}") from error
    return hot, verdict, {heading: load_results(folder / name) for name, heading in names.items()}
