"""Sweeps: one scenario with many changes, on threads, processes or a cluster, resumed from a store.

From the bottom up: `changes` (what a point changes), `task` (one run), `engines` and `cluster` (where runs
are computed), `plan` (the runs to compute), `run` (the loop), `table` (results), `api` (`becalm.sweep`),
`random` and `spec` (a sweep as a file).
"""

from becalm.progress import SweepProgress
from becalm.sweeps.api import SweepError, sweep
from becalm.sweeps.table import Point, SweepResults

__all__ = ["Point", "SweepError", "SweepProgress", "SweepResults", "sweep"]
