"""Draws the picture for the page on designing a response function, with the page's example."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import becalm

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def main() -> None:
    """Design the function and save its figure."""
    with tempfile.TemporaryDirectory() as folder:
        made = becalm.design("max(r - 0.05 * sqrt(r), rmin)", name="SQRT").save(Path(folder) / "SQRT")
        print(shutil.copy(made / "design.png", PICTURES / "design.png"))


if __name__ == "__main__":
    main()
