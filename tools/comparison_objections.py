"""Runs variations that a reviewer might request, one at a time, and writes `docs/objections.jsonl`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from becalm import comparison
from becalm.comparison import Scene, Scheme, tuning

SEEDS = 2
SCENES = ("incast", "all_reduce", "websearch")
SCHEMES = ("dcqcn_pfc", "dctcp", "swift", "hpcc_pfc")
PFC: dict[str, Any] = {"flow_control": {"pfc": {}}}
SHARED: dict[str, Any] = {
    "flow_control": {"pfc": {"thresholds": {"dynamic": {"shared": "12 MB", "alpha": 0.125}}}}
}
TARGET = Path(__file__).parents[1] / "docs" / "objections.jsonl"
MEASURES = ("incast: background", "all-reduce: job time", "web search: 99%")
NOTHING = "as in the verdicts above"


def main() -> None:
    """Write the numbers."""
    schemes, scenes = comparison.chosen_schemes(SCHEMES), comparison.chosen_scenes(SCENES)
    lines = []
    for name, change in CHANGES.items():
        for scheme in schemes:
            made = [change(scheme, scene) for scene in scenes]
            if name == NOTHING or made != [(scheme, scene) for scene in scenes]:
                cells = zip(MEASURES, (_cell(*each) for each in made), strict=True)
                lines.append(json.dumps({"change": name, "scheme": scheme.name, **dict(cells)}))
    TARGET.write_text("".join(f"{line}\n" for line in lines))


def _cell(scheme: Scheme, scene: Scene) -> str:
    (table,) = comparison.compare([replace(scheme, tune={})], [scene], seeds=SEEDS).values()
    row = table.to_dicts()[0]
    if not math.isnan(row["job"]):
        return f"{1000 * row['job_time']:.2f} ms"
    if scene.name == "incast":
        return f"{100 * row['background']:.1f}%"
    return f"{row['slowdown_all_99']:.1f}"


def _tuned(scheme: Scheme, scene: Scene) -> Scheme:
    """Return a scheme with its tuned values for the scene."""
    found = tuning.stored(scheme)
    return replace(scheme, values=tuning.best(scheme, found, scene.name).point) if found else scheme


def _laid(scheme: Scheme, **tables: Any) -> Scheme:  # noqa: ANN401
    merged = {key: {**scheme.tables.get(key, {}), **value} for key, value in tables.items()}
    return replace(scheme, tables={**scheme.tables, **merged})


def _window(scheme: Scheme, scene: Scene) -> Scheme:
    """Return DCQCN with a window of about one bandwidth-delay product, as in the HPCC paper."""
    if "dcqcn" not in scheme.tables["response"]:
        return scheme
    response = {**scheme.tables["response"]["dcqcn"], "window": WINDOWS[scene.name]}
    return replace(scheme, tables={**scheme.tables, "response": {"dcqcn": response}})


WINDOWS = {"incast": 9, "all-reduce beside incast": 4, "web search": 16}
"""Packets that a link sends in about the longest base round trip, plus one."""


def _kept(scene: Scene) -> Scene:
    """Return a scene in which flows keep their rates between messages."""
    flows = [{key: value for key, value in each.items() if key != "restart"} for each in scene.data["flows"]]
    return replace(scene, data={**scene.data, "flows": flows})


CHANGES: dict[str, Callable[[Scheme, Scene], tuple[Scheme, Scene]]] = {
    NOTHING: lambda scheme, scene: (scheme, scene),
    "tuned": lambda scheme, scene: (_tuned(scheme, scene), scene),
    "12 MB shared by all ports, PFC": lambda scheme, scene: (_laid(scheme, switch=SHARED), scene),
    "PFC": lambda scheme, scene: (_laid(scheme, switch=PFC), scene),
    "with a window": lambda scheme, scene: (_window(scheme, scene), scene),
    "rates outlive messages": lambda scheme, scene: (scheme, _kept(scene)),
    "header of 82 B": lambda scheme, scene: (_laid(scheme, packet={"header": "82 B"}), scene),
}
"""Changes to a scheme or a scene, by name."""


if __name__ == "__main__":
    main()
