"""The first picture of the largest example, with and without control: minutes, so not one of pytest's tests.

    python tests/system/first_picture.py [FOLDER]

Its fabric is drawn as the tree of the worst root, which must leave out neither the tree nor its victims.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

from browsing import chromium, first_picture, opened

import becalm
from becalm import examples
from becalm.analysis.recording import recording

NAME = "pfister2005_hot_spot_432"


def main(folder: Path) -> int:
    """Print ink and drawn victims of both runs, and return the number of pictures that leave out too much."""
    given, bad = examples.load(NAME), 0
    browsers = chromium()
    browser = next(browsers)
    for name, scenario in (("with control", given), ("without control", given.without_control())):
        page = folder / f"{name.replace(' ', '_')}.html"
        page.write_text(becalm.report(becalm.run(recording(scenario))), encoding="utf-8")
        ink, (drawn, every) = first_picture(opened(browser, page))
        print(f"{name}: ink {ink:.1%}, {drawn} of {every} victims in the picture", flush=True)
        bad += not (ink > 0.05 and drawn > every / 2 > 0)
    next(browsers, None)
    return bad


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
