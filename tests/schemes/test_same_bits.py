"""Schemes in Python, compiled by Numba and in C yield the same fingerprints as built-in ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import libraries
import pytest

import becalm

HERE = Path(__file__).parent
SCENARIOS = HERE.parents[1] / "scenarios"
OWN = HERE / "own.py"

CASES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "lipd": ("input_triggered_lipd", {}, ("Lipd",)),
    "input_triggered": ("input_triggered_lipd", {}, ("InputTriggered",)),
    "both": ("input_triggered_lipd", {}, ("Lipd", "InputTriggered")),
    "storage": ("storage_incast", {"run.duration": "3 ms", "response": {"lipd": {}}}, ("Lipd",)),
    "on_off": ("on_off", {"run.duration": "10 ms"}, ("InputTriggered",)),
    "aimd": ("input_triggered_lipd", {"response": {"aimd": {}}}, ("Aimd",)),
    "dcqcn": ("dcqcn_two", {"run.duration": "30 ms"}, ("Dcqcn",)),
    "ramp": ("dcqcn_two", {"run.duration": "30 ms"}, ("Ramp",)),
    "rocev2": ("dcqcn_two", {"run.duration": "30 ms"}, ("RoceV2",)),
    "roce": ("dcqcn_two", {"run.duration": "30 ms"}, ("Dcqcn", "Ramp", "RoceV2")),
    "dctcp": (
        "dcqcn_two",
        {"run.duration": "30 ms", "response": {"dctcp": {}}, "echo": {"ack": {}}},
        ("Dctcp", "Ramp"),
    ),
    "fast_recovery": (
        "dcqcn_two",
        {"run.duration": "30 ms", "response": {"dcqcn": {"increase_timer": "20 us", "byte_counter": 20_000}}},
        ("Dcqcn",),
    ),
}
FACES = ("python", "numba", "c")
ACKS: dict[str, Any] = {"response": {"lipd": {}}, "echo": {"ack": {}}}
TUNED = {"fast_recovery": {"increase_timer": "20 us", "byte_counter": 20_000}}


c_library = libraries.c_library


def scenario_of(case: str) -> becalm.Scenario:
    name, changes, _ = CASES[case]
    return becalm.load(SCENARIOS / f"{name}.toml").replace({"run.warmup": None, **changes})


def own_of(case: str, face: str, library: Path) -> becalm.Scenario:
    _, _, classes = CASES[case]
    return (
        scenario_of(case)
        .using(schemes(classes, face, library))
        .replace({f"response.external.parameters.{key}": value for key, value in TUNED.get(case, {}).items()})
    )


def schemes(classes: tuple[str, ...], face: str, library: Path) -> list[Any]:
    if face == "c":
        names = {"RoceV2": "roce_v2", "InputTriggered": "input_triggered"}
        return [f"{library}:{names.get(name, name.lower())}" for name in classes]
    if face == "numba":
        pytest.importorskip("numba")
        return [becalm.native(getattr(own(), name)) for name in classes]
    return [f"{OWN}:{name}" for name in classes]


_LOADED: list[Any] = []


def own() -> Any:  # noqa: ANN401
    if not _LOADED:
        spec = importlib.util.spec_from_file_location("own_schemes", OWN)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        _LOADED.append(module)
    return _LOADED[0]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("case", CASES)
def test_own_schemes_give_the_same_bits_as_built_in_ones(case: str, face: str, c_library: Path) -> None:
    built_in = becalm.run(scenario_of(case), threads=1)
    mine = own_of(case, face, c_library)
    results = becalm.run(mine, threads=1)
    assert results.fingerprint == built_in.fingerprint
    assert "external" in str(mine.resolved) and mine.hash != scenario_of(case).hash


@pytest.mark.parametrize("face", ["numba", "c"])
def test_native_schemes_run_on_two_threads(face: str, c_library: Path) -> None:
    scene = becalm.load(SCENARIOS / "pfister2005_hot_spot_432.toml")
    scene = scene.replace(
        {
            "run.duration": "150 us",
            "run.warmup": None,
            "flows.1.start": "10 us",
            "topology.tree.delay": "2 us",
            "marking": {"input_triggered": {}},
            **ACKS,
        }
    )
    mine = scene.using(schemes(("Lipd", "InputTriggered"), face, c_library))
    assert mine.core.native and mine.core.allowed_threads(2) == 2
    first = becalm.run(scene, threads=2).fingerprint
    assert becalm.run(mine, threads=2).fingerprint == first == becalm.run(mine, threads=1).fingerprint


def test_python_schemes_run_on_one_thread(c_library: Path) -> None:
    from becalm.runs import fewer_threads

    scene = becalm.load(SCENARIOS / "pfister2005_hot_spot_432.toml").replace(ACKS)
    scene = scene.using(schemes(("Lipd",), "python", c_library))
    assert scene.core.allowed_threads(2) == 1
    assert "Python schemes support only one" in str(fewer_threads(scene, 2))
