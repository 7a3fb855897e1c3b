"""Changes constants and signs of becalm's advice in a copy, one by one; a test must fail for each.

    python tools/mutations.py [NAME...]

A mutation is a change of exact text, with the tests that state the behaviour. The copy is in
`target/mutations`, with the core of this checkout. The exit code is 1 if the tests of a mutation pass with
it, or if one of them fails without it. It takes about a minute, or several on a busy machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from planted_meaning import ROOT, Plant, copied, planted

COPY = ROOT / "target" / "mutations"


class Mutation(NamedTuple):
    """A change, and the tests of which at least one must fail."""

    plant: Plant
    tests: tuple[str, ...]


def mutation(name: str, file: str, old: str, new: str, *tests: str) -> Mutation:
    """Return a mutation of a file in `python/becalm`, with tests as in `tests/FILE::TEST`."""
    return Mutation(Plant(name, f"python/becalm/{file}", old, new), tuple(f"tests/{test}" for test in tests))


LIMITS, MEASURES, GUIDELINES = "analysis/limits.py", "analysis/measures.py", "manager/guidelines.py"
OWN = "manager/own.py"
MUTATIONS = (
    mutation(
        "least-root",
        LIMITS,
        "LEAST_ROOT = 0.05",
        "LEAST_ROOT = 0.15",
        "test_limits.py::test_a_link_that_waits_for_a_twentieth_of_the_time_belongs_to_a_tree",
    ),
    mutation(
        "swings",
        LIMITS,
        "SWINGS = 4",
        "SWINGS = 12",
        "test_limits.py::test_a_rate_that_swings_four_times_oscillates",
    ),
    mutation(
        "unmarked",
        LIMITS,
        "UNMARKED = 0.001",
        "UNMARKED = 0.02",
        "test_limits.py::test_marking_is_off_if_less_than_a_thousandth_is_marked",
    ),
    mutation(
        "pfister-increase",
        GUIDELINES,
        "round(min(hosts / 6, degree / 2))",
        "round(min(hosts / 6, degree / 3))",
        "test_manager.py",
    ),
    mutation(
        "hold",
        OWN,
        "HOLD = 38.0",
        "HOLD = 30.0",
        "test_guidelines.py::test_a_becn_of_becalms_guideline_lasts_38_packet_times",
    ),
    mutation(
        "left",
        MEASURES,
        'return min(1.0, found["fair"] / calm["fair"]) if calm["fair"] else 1.0',
        "return 1.0",
        "test_measures.py::test_the_part_that_fairness_takes_from_the_background_is_no_loss",
    ),
    mutation(
        "right",
        MEASURES,
        "RIGHT = 0.9",
        "RIGHT = 0.7",
        "test_measures.py::test_the_background_keeps_its_share_above_nine_tenths",
    ),
    mutation(
        "kolmogorov",
        "crosscheck/entry.py",
        "size + 0.12 + 0.11 / size",
        "size + 0.11 + 0.12 / size",
        "test_crosscheck.py::test_distributions_are_distinct",
    ),
    mutation(
        "kept",
        "runs/memory.py",
        "(max(at_once, kept) if name in _KEPT else at_once)",
        "at_once",
        "system/test_memory.py::test_tables_of_finished_replications_stay_in_memory",
    ),
    mutation(
        "strict",
        "lab/expect.py",
        "low > 0 or (low == 0 and not strict)",
        "low >= 0",
        "test_verdict.py",
    ),
    mutation(
        "price",
        "tunings/verdict.py",
        "price.loss.mean > PRICE",
        "price.loss.high > PRICE",
        "test_tune_verdict.py::test_a_price_is_a_mean_above_two_hundredths",
    ),
    mutation(
        "busy",
        "whatif/measured.py",
        "BUSY = 0.8",
        "BUSY = 0.6",
        "test_counters.py::test_a_root_sends_at_four_fifths_of_its_rate",
    ),
    mutation(
        "least-load",
        "whatif/measured.py",
        "LEAST = 0.005",
        "LEAST = 0.05",
        "test_counters.py::test_loads_below_a_two_hundredth_are_none",
    ),
)


def fails(tests: Sequence[str]) -> bool:
    """Run tests on the copy, and return whether one fails."""
    # A file that changes twice within a second may keep its size and its time: use no compiled files.
    environment = {
        **os.environ,
        "PYTHONPATH": f"{COPY / 'python'}{os.pathsep}{COPY / 'tests'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return done.returncode == 1


def main(names: list[str]) -> int:
    """Print whether the tests of each mutation fail; return 1 if they do not, or fail without it."""
    chosen = [mutation for mutation in MUTATIONS if not names or mutation.plant.name in names]
    copied(COPY)
    for core in (ROOT / "python" / "becalm").glob("_core.*.so"):
        shutil.copyfile(core, COPY / "python" / "becalm" / core.name)
    if fails(list(dict.fromkeys(test for mutation in chosen for test in mutation.tests))):
        print("without a mutation: a test fails")
        return 1
    survived = 0
    for mutation in chosen:
        copied(COPY)
        planted(mutation.plant, COPY)
        dead = fails(mutation.tests)
        survived += not dead
        print(f"{mutation.plant.name}: {'a test fails' if dead else 'no test fails'}", flush=True)
    copied(COPY)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
