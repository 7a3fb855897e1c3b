"""Runs the congestion-aware analytical network of ASTRA-sim on a case.

ASTRA_ANALYTICAL is the folder of the program's example, the executable `aware`. In this example, each node
sends a chunk of 1 MiB to every other node at once.

A case's `peer` contains `topology` and `nodes`, or `test`, a value that one of the program's tests asserts.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from becalm.crosscheck.entry import Case, Entry


def reference(_: Entry, case: Case) -> dict[str, float | list[float]]:
    """Return the time at which the last chunk arrives [ns]."""
    if "test" in case.peer:
        return {"end": case.peer["test"]}
    program = Path(os.environ["ASTRA_ANALYTICAL"]).resolve() / "aware"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "run").mkdir()
        # The example reads this file relative to its working directory, as ../input/Ring.yml.
        network = Path(folder) / "input" / "Ring.yml"
        network.parent.mkdir()
        network.write_text(
            f"topology: [ {case.peer['topology']} ]\nnpus_count: [ {case.peer['nodes']} ]\n"
            "bandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n",
            encoding="utf-8",
        )
        done = subprocess.run([program], cwd=f"{folder}/run", check=True, capture_output=True, text=True)
    found = re.search(r"finished at time: (\d+)", done.stdout)
    if found is None:
        raise ValueError(f"{program} printed no time: {done.stdout[-200:]}")
    return {"end": float(found[1])}
