"""Draws the tour's picture of a congestion tree in a fat tree, with the example on that page."""

from __future__ import annotations

from pathlib import Path

import becalm
from becalm.plot import draw_fabric, save

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
HOT_SPOT = {
    "run": {"duration": "1 ms", "warmup": "0.5 ms"},
    "topology": {"tree": {"ports": 8, "levels": 2}},
    "switch": {"buffer": "36 packets"},
    "flows": [
        {"name": "background", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.5}}},
        {"name": "hot", "from": ["H0..H19"], "to": ["H31"], "traffic": {"poisson": {"load": 0.2}}},
    ],
    "observe": {"snapshots": ["1 ms"]},
}


def main() -> None:
    """Run the scenario and draw the fabric."""
    results = becalm.run(becalm.Scenario(HOT_SPOT, name="hot spot"))
    print(save(draw_fabric(results, time=1e-3), PICTURES / "fabric.svg"))


if __name__ == "__main__":
    main()
