"""Comparison of becalm's results with those of other simulators.

    for found in crosscheck.check(["loggopsim"]):
        for each in found.quantities:
            print(each.case, each.name, each.reference, each.becalm, each.agrees)

An entry is a folder of `crosschecks`: a scenario, and `reference.toml` with the other program's version,
parameters and numbers. Modules, from the bottom up: `tolerances` defines a tolerance for each kind of
quantity, `entry` reads an entry, `measure` computes numbers from a run, `run` runs and judges the cases of
entries, `page` and `picture` show the results.
"""

from becalm.crosscheck.entry import Case, Entry, Program, Quantity, find, names
from becalm.crosscheck.run import Checked, Found, check
from becalm.crosscheck.tolerances import KINDS

__all__ = ["KINDS", "Case", "Checked", "Entry", "Found", "Program", "Quantity", "check", "find", "names"]
