"""Runs the grids of all schemes on all scenes of `becalm compare` and writes `tuned.json`."""

from __future__ import annotations

import json
import sys

from becalm import comparison
from becalm.comparison import tuning
from becalm.runs.drive import driver


def main() -> None:
    """Write the losses of every point; report each finished scheme."""
    found = {}
    for scheme in comparison.chosen_schemes():
        if scheme.tune:
            with driver() as runs:
                losses = tuning.losses(scheme, comparison.chosen_scenes(), runs)
            rounded = {
                name: [None if each is None else round(each, 4) for each in values]
                for name, values in losses.items()
            }
            found[scheme.name] = {"grid": tuning.grid(scheme), "losses": rounded}
            sys.stderr.write(f"{scheme.name}: {len(tuning.grid(scheme))} points\n")
    text = json.dumps(found).replace('}, "', '},\n"')
    tuning.STORED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
