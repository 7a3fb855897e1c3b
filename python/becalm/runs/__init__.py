"""Runs of scenarios: one, with all its replications, or many in one loop.

From the bottom up: `memory` (estimates before a run), `runs` (one scenario), `task` (one of many runs, and
the shelf that keeps it), `engines` and `cluster` (threads, processes, Dask), `drive` (the loop of many runs).
"""

from becalm.runs.runs import Progress, fewer_threads, run, run_one

__all__ = ["Progress", "fewer_threads", "run", "run_one"]
