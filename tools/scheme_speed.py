"""Measures the cost of user-defined schemes relative to built-in ones, by the least processor time.

    python tools/scheme_speed.py [--rounds 9] [--scene hot128] [--duration "10 ms"]

The rows are LIPD with input-triggered marking in four forms: built in, in C, compiled by Numba, and as Python
classes. Each round runs all forms on a benchmark scene. "ns per call" is the additional time compared with
the built-in schemes, divided by the number of calls to both schemes.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import becalm

ROOT = Path(__file__).parents[1]
CONTROL: dict[str, Any] = {"marking": {"input_triggered": {}}, "response": {"lipd": {}}, "echo": {"ack": {}}}


def own() -> Any:  # noqa: ANN401
    """Return the module with the schemes."""
    spec = importlib.util.spec_from_file_location("own_schemes", ROOT / "tests/schemes/own.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(folder: Path) -> Path:
    """Compile the schemes in C and return the library's path."""
    library = folder / "libown.so"
    include, source = ROOT / "crates/external/include", ROOT / "tests/schemes/own.c"
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    return library


def once(scenario: becalm.Scenario) -> tuple[float, str]:
    """Return the processor time and the fingerprint of a run."""
    before = time.process_time()
    results = becalm.run(scenario, threads=1)
    return time.process_time() - before, results.fingerprint


def calls(scenario: becalm.Scenario) -> int:
    """Return the number of calls to both schemes in a run, counted with wrapped Python classes."""
    module, count = own(), [0]

    def counted(cls: type, *names: str) -> type:
        def wrap(method: Any) -> Any:  # noqa: ANN401
            def call(*arguments: Any) -> Any:  # noqa: ANN401
                count[0] += 1
                return method(*arguments)

            return call

        return type(cls.__name__, (cls,), {name: wrap(getattr(cls, name)) for name in names})

    schemes = [counted(module.Lipd, "on_ack"), counted(module.InputTriggered, "arrived", "departing")]
    becalm.run(scenario.using(schemes), threads=1)
    return count[0]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--scene", default="hot128")
    parser.add_argument("--duration", default="10 ms")
    chosen = parser.parse_args()
    scene = becalm.load(ROOT / f"crates/bench/scenarios/{chosen.scene}.toml")
    scene = scene.replace({"run.duration": chosen.duration, **CONTROL})
    module = own()
    classes = [module.Lipd, module.InputTriggered]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        faces: dict[str, becalm.Scenario] = {
            "built in": scene,
            "C": scene.using([f"{library}:lipd", f"{library}:input_triggered"]),
            "Numba": scene.using([becalm.native(cls) for cls in classes]),
            "Python": scene.using(classes),
        }
        best = dict.fromkeys(faces, float("inf"))
        found = set()
        for _ in range(chosen.rounds):
            for name, scenario in faces.items():
                seconds, fingerprint = once(scenario)
                best[name] = min(best[name], seconds)
                found.add(fingerprint)
        number = calls(scene)
    print(f"{chosen.scene}, {chosen.duration}, {number} calls, least time of {chosen.rounds} rounds")
    for name, seconds in best.items():
        more = seconds - best["built in"]
        share = more / best["built in"]
        print(f"{name:9} {seconds:8.3f} s  {share:+8.1%}  {more / number * 1e9:8.1f} ns per call")
    if len(found) > 1:
        sys.exit(f"fingerprints differ: {found}")


if __name__ == "__main__":
    main()
