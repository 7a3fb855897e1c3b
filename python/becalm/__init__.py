"""becalm: a laboratory for congestion control in lossless fabrics.

Typical use:

    scenario = becalm.load("scenarios/congestion_spreading.toml")
    results = becalm.run(scenario)
    print(results.groups)

Modules, from the bottom up: `scenario` (read, change, write), `workload` (flows from files of other
programs), `results` (tables and folders), `runs` (one scenario), `store` and `sweeps` (many scenarios),
`analysis` (shared analysis of runs), `plot` (figures), `theory` (closed forms without a simulation), `lab`
(experiments and their claims), `designs` (a workbench for response functions), `opensm` (InfiniBand fabrics),
`traces` (single packets), `tunings` (parameter search), `whatif` (the effects of an incast), `comparison`
(schemes side by side), `explanations` (a run in words), `reports` (HTML pages), `papers`, `cli`. `rl`
(environments for learning agents) must be imported explicitly.

The module of a function such as `becalm.tune` has a different name, `becalm.tunings`, so that every module
can be imported by its path.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

# isort: on
from becalm._core import __version__

# isort: off - must come first, because the rest loads slowly
from becalm.base import interrupts as _interrupts  # noqa: F401

if TYPE_CHECKING:
    from becalm.base.errors import (
        BecalmError,
        DeadlockError,
        DesignError,
        FabricError,
        MemoryLimitError,
        Mistake,
        ResultsError,
        ScenarioError,
        SchemeError,
        StoppedError,
        StoreError,
    )
    from becalm.base.progress import SweepProgress
    from becalm.designs import Design, design
    from becalm.explanations import Explanation, explain
    from becalm.reports import report
    from becalm.results import Results, load_results
    from becalm.runs import Progress, run
    from becalm.scenario import Scenario, load
    from becalm.schemes import (
        MS,
        NEVER,
        NO_ACK,
        NS,
        UNLIMITED,
        US,
        Answer,
        Echo,
        Lanes,
        Marker,
        Parameter,
        Response,
        S,
        exponential,
        logarithm,
        native,
        power,
    )
    from becalm.simulators import read_connection_job, read_connection_matrix
    from becalm.stepping import Run, start
    from becalm.sweeps import SweepError, SweepResults, sweep
    from becalm.traces import Trace, trace
    from becalm.tunings import Tuned, tune

_MODULES = {
    "base.errors": (
        "BecalmError",
        "DeadlockError",
        "DesignError",
        "FabricError",
        "MemoryLimitError",
        "Mistake",
        "ResultsError",
        "ScenarioError",
        "SchemeError",
        "StoppedError",
        "StoreError",
    ),
    "base.progress": ("SweepProgress",),
    "designs": ("Design", "design"),
    "explanations": ("Explanation", "explain"),
    "reports": ("report",),
    "results": ("Results", "load_results"),
    "runs": ("Progress", "run"),
    "scenario": ("Scenario", "load"),
    "schemes": (
        "MS",
        "NEVER",
        "NO_ACK",
        "NS",
        "UNLIMITED",
        "US",
        "Answer",
        "Echo",
        "Lanes",
        "Marker",
        "Parameter",
        "Response",
        "S",
        "exponential",
        "logarithm",
        "native",
        "power",
    ),
    "simulators": ("read_connection_job", "read_connection_matrix"),
    "stepping": ("Run", "start"),
    "sweeps": ("SweepError", "SweepResults", "sweep"),
    "traces": ("Trace", "trace"),
    "tunings": ("Tuned", "tune"),
}
"""The names of this package by module. A module is imported when one of its names is first used: all of them
take as long as starting Python ten times."""
_OTHERS = ("analysis", "manager", "network", "store")
"""Other modules that are attributes of this package without an import of their own."""
_SUBMODULES = {*_OTHERS, *(module.partition(".")[0] for module in _MODULES)}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "MS",
    "NEVER",
    "NO_ACK",
    "NS",
    "UNLIMITED",
    "US",
    "Answer",
    "BecalmError",
    "DeadlockError",
    "Design",
    "DesignError",
    "Echo",
    "Explanation",
    "FabricError",
    "Lanes",
    "Marker",
    "MemoryLimitError",
    "Mistake",
    "Parameter",
    "Progress",
    "Response",
    "Results",
    "ResultsError",
    "Run",
    "S",
    "Scenario",
    "ScenarioError",
    "SchemeError",
    "StoppedError",
    "StoreError",
    "SweepError",
    "SweepProgress",
    "SweepResults",
    "Trace",
    "Tuned",
    "__version__",
    "design",
    "explain",
    "exponential",
    "load",
    "load_results",
    "logarithm",
    "native",
    "power",
    "read_connection_job",
    "read_connection_matrix",
    "report",
    "run",
    "start",
    "sweep",
    "trace",
    "tune",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name of this package, or one of the modules above, at its first use."""
        if name in _SUBMODULES:
            return importlib.import_module(f"becalm.{name}")
        if name not in _PLACES:
            raise AttributeError(f"module 'becalm' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"becalm.{_PLACES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Return all names, imported or not."""
        return sorted({*globals(), *_SUBMODULES, *_PLACES})
