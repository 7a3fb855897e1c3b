"""Mistakes in TOML files read by Python: all reported together, with line, key and valid values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import becalm
from becalm.comparison import scene, scheme
from becalm.sweeps.spec import read_spec
from becalm.tunings.spec import read_tune

SWEEP = """scenario = 3
keep = "some"
stor = "x"
[grid]
"switch.buffer" = []
run.duration = "3 ms"
[random]
points = 0
method = "halton"
"x" = { int = [9, 1] }
"y" = 3
"z" = { float = [0, inf] }
[seeds]
count = true
"""
TUNING = """[hot_spot]
scenario = "f.toml"
degree = 1
hot = "3 parsecs"
[space]
"marking.ibta.threshold" = { int = [1.5, 15] }
[goals]
minimize = ["speed"]
limits = ["a > b", 3]
[budget]
trials = 0
sampler = "best"
[gaols]
"""
SCHEME = """name = 3
[respons.lipd]
"""
SCENE = """[run]
seed = 1
[compare]
link = "B"
longest = 2000
sizes = [2, 1]
background = ["cold"]
[[flows]]
name = "hot"
response.lipd = {}
"""
RANGE = '{ int = [1, 64] }, { float = [0.1, 0.9], log = true, unit = "us" } or { choice = ["a", "b"] }'
CASES: list[tuple[Callable[[Path], object], str, list[str]]] = [
    (
        read_spec,
        SWEEP,
        [
            "1: scenario = 3: must be a string; valid: the path of a scenario, relative to this file",
            '2: keep = "some": unknown; valid: summary, series, all',
            "3: stor: unknown key; valid: scenario, store, keep, set, grid, zip, list, random, seeds",
            "5: grid.switch.buffer = []: has too few items; valid: a list of values",
            '6: grid.run.duration = "3 ms": must be a list; valid: a list of values',
            "8: random.points = 0: out of range; valid: 1 or more",
            '9: random.method = "halton": unknown; valid: sobol, uniform',
            "10: random.x: starts above its end",
            f"11: random.y = 3: must be a range; valid: {RANGE}",
            "12: random.z.float[1] = inf: must be a number",
            "14: seeds.count = true: must be a whole number",
        ],
    ),
    (
        read_tune,
        TUNING,
        [
            "1: hot_spot.host: is missing; valid: the name of the hot host",
            "3: hot_spot.degree = 1: out of range; valid: 2 or more",
            '4: hot_spot.hot = "3 parsecs": time `3 parsecs`: must be a number '
            "with one of the units ps, ns, us, ms, s",
            "6: space.marking.ibta.threshold.int[0] = 1.5: must be a whole number; valid: two whole numbers",
            "8: goals.minimize: leave out this key of earlier versions: every tuning minimizes the loss",
            '9: goals.limits[0] = "a > b": limit `a > b`: valid: a measure (',
            "9: goals.limits[1] = 3: must be a string",
            "11: budget.trials = 0: out of range; valid: 1 or more",
            "12: budget.sampler: leave out this key of earlier versions: there is one; valid: trials, seeds",
            "13: gaols: unknown key; valid: cases, hot_spot, case, space, fixed, goals, budget",
        ],
    ),
    (
        scheme.read,
        SCHEME,
        [
            "1: name = 3: must be a string",
            "2: respons: unknown key; valid: name, guideline, marking, echo, response, switch, adapter",
        ],
    ),
    (
        scene.read,
        SCENE,
        [
            '1: run.duration: is missing; valid: a time, such as "20 ms"',
            '4: compare.link = "B": wrong form; valid: a link, such as "A->B"',
            "5: compare.longest = 2000: out of range; valid: 1 to 1024",
            "6: compare.sizes = [2, 1]: must be an ascending list of sizes in bytes",
            "10: flows[0].response: is set by the schemes instead",
        ],
    ),
]


@pytest.mark.parametrize(("reader", "text", "said"), CASES, ids=["sweep", "tuning", "scheme", "scene"])
def test_all_mistakes_with_their_lines(
    tmp_path: Path, reader: Callable[[Path], object], text: str, said: list[str]
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(becalm.ScenarioError) as caught:
        reader(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == len(said)
    for line, expected in zip(lines, said, strict=True):
        assert line.startswith(f"{path}:{expected}")


@pytest.mark.parametrize("reader", [read_spec, read_tune, scheme.read, scene.read])
def test_no_toml(tmp_path: Path, reader: Callable[[Path], object]) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('name = 3\nscenario = "x\n')
    with pytest.raises(becalm.ScenarioError, match=r"bad\.toml:2: not valid TOML: invalid basic string"):
        reader(path)


def test_lists_side_by_side_are_of_one_length(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('scenario = "x.toml"\n[zip]\na = [1, 2]\nb.c = [1]\n')
    with pytest.raises(becalm.ScenarioError, match=r"bad\.toml:2: zip: .* same length: a: 2, b\.c: 1$"):
        read_spec(path)
