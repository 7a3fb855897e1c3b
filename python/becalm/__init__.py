"""becalm: a laboratory for congestion control in lossless fabrics.

Typical use:

    scenario = becalm.load("scenarios/congestion_spreading.toml")
    results = becalm.run(scenario)
    print(results.groups)

Floors, from the bottom: `scenario` (read, change, write), `workload` (flows from files of others),
`results` (tables and folders), `report` (a page that shows them), `run` (one scenario), `sweep` (many
scenarios), `plot` (tables to figures),
`theory` (closed networks without a simulation), `lab` (experiments and their claims), `papers` (the papers'
experiments), `comparison` (all schemes side by side), `explain` (a run in words), `design` (a workbench for
response functions), `cli`.
"""

from becalm._core import __version__
from becalm.design import Design, design
from becalm.errors import (
    BecalmError,
    DeadlockError,
    DesignError,
    FabricError,
    MemoryLimitError,
    Mistake,
    ResultsError,
    ScenarioError,
    StoreError,
    SweepError,
)
from becalm.explain import Explanation, explain
from becalm.progress import SweepProgress
from becalm.report import report
from becalm.results import Results, load_results
from becalm.run import Progress, run
from becalm.scenario import Scenario, load
from becalm.sweep import SweepResults, sweep
from becalm.trace import Trace, trace
from becalm.tune import Tuned, tune
from becalm.workload import read_connection_matrix

__all__ = [
    "BecalmError",
    "DeadlockError",
    "Design",
    "DesignError",
    "Explanation",
    "FabricError",
    "MemoryLimitError",
    "Mistake",
    "Progress",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "StoreError",
    "SweepError",
    "SweepProgress",
    "SweepResults",
    "Trace",
    "Tuned",
    "__version__",
    "design",
    "explain",
    "load",
    "load_results",
    "read_connection_matrix",
    "report",
    "run",
    "sweep",
    "trace",
    "tune",
]
