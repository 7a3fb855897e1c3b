"""Sweeps: one scenario with many changes, on threads, processes or a cluster, resumable from a store.

From the bottom up: `plan` (the points and the runs to compute), `table` (results), `api` (`becalm.sweep`),
`random` and `spec` (a sweep as a file). `becalm.runs` computes the runs.
"""

from becalm.progress import SweepProgress
from becalm.sweeps.api import SweepError, sweep
from becalm.sweeps.table import Point, SweepResults

__all__ = ["Point", "SweepError", "SweepProgress", "SweepResults", "sweep"]
