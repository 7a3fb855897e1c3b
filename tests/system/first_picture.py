"""The first pictures of all examples and of four large fabrics: minutes, so not one of pytest's tests.

    python tests/system/first_picture.py [FOLDER]

A large fabric is drawn as the tree of its worst root, which must leave out neither the tree nor its victims.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

from browsing import chromium, first_picture, opened

import becalm
from becalm.analysis.recording import recording
from becalm.scenario import examples

HOSTS = 64
"""A picture of more hosts begins with a tree."""
INK = 0.05
"""Share of a large fabric's picture that must not be blank."""
LARGE = {
    "clos of 1296": {"clos": {"leaves": 36, "spines": 36, "hosts_per_leaf": 36}},
    "tree of 1024": {"tree": {"ports": 16, "levels": 3}},
    "dragonfly of 342": {"dragonfly": {"switches_per_group": 6, "hosts_per_switch": 3, "global_links": 3}},
    "torus of 512": {"torus": {"sides": [8, 8, 8]}},
}


def scenes() -> Iterator[tuple[str, becalm.Scenario]]:
    """Return all scenes with their names."""
    for name in examples.names():
        given = examples.load(name)
        yield name, given
        yield f"{name} without control", given.without_control()
    for name, topology in LARGE.items():
        flows = [
            {"name": "hot", "from": [f"H{7 * each}" for each in range(1, 31)], "to": ["H0"]},
            {
                "name": "work",
                "from": ["*"],
                "pattern": {"permutation": {}},
                "traffic": {"poisson": {"load": 0.3}},
            },
        ]
        kept = {"buffer": "16 KiB", "vls": 2}
        yield (
            name,
            becalm.Scenario(
                {"run": {"duration": "200 us"}, "topology": topology, "switch": kept, "flows": flows}
            ),
        )


def main(folder: Path) -> int:
    """Print ink and drawn victims of all runs, and return the number of pictures that leave out too much."""
    bad = 0
    browsers = chromium()
    browser = next(browsers)
    for number, (name, scenario) in enumerate(scenes()):
        page = folder / f"{number}.html"
        results = becalm.run(recording(scenario))
        page.write_text(becalm.report(results), encoding="utf-8")
        ink, (drawn, every) = first_picture(opened(browser, page))
        large = results.hosts.height > HOSTS
        wrong = every > 0 and (drawn <= every / 2 or (large and ink <= INK))
        print(
            f"{name}: ink {ink:.1%}, {drawn} of {every} victims in the picture{', BAD' if wrong else ''}",
            flush=True,
        )
        bad += wrong
    next(browsers, None)
    return bad


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
