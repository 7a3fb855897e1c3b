"""Comparison of becalm's results with those of other simulators.

    for found in crosscheck.check(["loggopsim"]):
        for each in found.quantities:
            print(each.case, each.name, each.reference, each.becalm, each.agrees)

An entry is a folder of `crosschecks`: a scenario, and `reference.toml` with the other program's version,
parameters and numbers. Modules, from the bottom up: `measure` computes numbers from a run, `entry` reads an
entry and defines a tolerance for each kind of quantity, `run` runs and judges the cases of entries.
"""

from becalm.crosscheck.entry import KINDS, Entry, find, names
from becalm.crosscheck.run import Checked, check

__all__ = ["KINDS", "Checked", "Entry", "check", "find", "names"]
