"""Sweeps: one scenario with many changes, on threads, processes or a cluster, resumed from a store.

From the bottom: `changes` (what a point changes), `task` (one run), `engines` and `cluster` (where runs are
computed), `plan` (what there is to do), `run` (the loop), `table` (results), `api` (`becalm.sweep`),
`random` and `spec` (a sweep as a file), `screen` and `cli` (`becalm sweep`).
"""

from becalm.progress import SweepProgress
from becalm.sweep.api import sweep
from becalm.sweep.table import Point, SweepResults

__all__ = ["Point", "SweepProgress", "SweepResults", "sweep"]
