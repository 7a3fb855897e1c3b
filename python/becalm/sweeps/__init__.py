"""Sweeps: one scenario with many changes, on threads, processes or a cluster, resumable from a store.

From the bottom up: `changes` (the changes of a point), `task` (one run), `engines` and `cluster` (computation
of runs), `plan` (the runs to compute), `run` (the loop), `table` (results), `api` (`becalm.sweep`), `random`
and `spec` (a sweep as a file).
"""

from becalm.progress import SweepProgress
from becalm.sweeps.api import SweepError, sweep
from becalm.sweeps.table import Point, SweepResults

__all__ = ["Point", "SweepError", "SweepProgress", "SweepResults", "sweep"]
