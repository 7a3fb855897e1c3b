"""Sets up an incast from files: reads a fabric, its traffic and its congestion control."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from becalm import manager
from becalm.analysis.faults import Fault, labels
from becalm.analysis.parts import parts
from becalm.base.errors import BecalmError, DeadlockError
from becalm.base.mistakes import Mistakes
from becalm.opensm import ibnetdiscover, traffic
from becalm.opensm.fabric import Fabric
from becalm.opensm.importing import import_fabric, port_numbers
from becalm.opensm.masks import check_fabric
from becalm.opensm.simulate import with_configuration
from becalm.runs import Progress
from becalm.scenario import Scenario, load
from becalm.whatif.incast import WhatIf, whatif

LOAD = 0.2
"""Default background load, as a share of each host's link. It causes little congestion."""
_LEVELS = (
    "if the fabric's routing engine avoids this by service levels, import it with --path-records, and give "
    "whatif the scenario"
)
UNMOVED = {"none", "fixed"}
"""Responses that do not react to congestion."""


class Case(NamedTuple):
    """The arguments of an analysis."""

    file: Path
    """A scenario (.toml), or output of `ibnetdiscover`."""
    hot: str
    contributors: int | None = None
    lfts: Path | None = None
    """Forwarding tables, if the file is output of `ibnetdiscover`."""
    fabric: Path | None = None
    """Output of `ibnetdiscover` for the fabric of a scenario."""
    load: float | None = None
    """Load of each host, which sends to one other host, instead of the scenario's background."""
    opensm: Path | None = None
    """An OpenSM configuration; default: the scenario's own control, or else the default guideline."""
    changes: Mapping[str, object] = MappingProxyType({})
    """Values of the scenario to replace, by key."""


def simulate(
    case: Case,
    *,
    max_time: float = 120.0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
    on_faults: Callable[[list[Fault]], object] | None = None,
    keep: bool = False,
) -> WhatIf:
    """Read the files of a case and simulate it. The other arguments are the same as for `whatif`.

    Raises:
        FileNotFoundError: a file does not exist.
        ScenarioError: a file is invalid, or the fabric is not the scenario's.
        BecalmError: options are incompatible, or `whatif` fails.

    """
    scenario, fabric = _read(case)
    if case.changes:
        scenario = scenario.replace(case.changes, option="--set")
    if case.load is not None:
        scenario = _loaded(scenario, fabric, case.load, case.hot)
    own = _own(scenario)
    name = f"the scenario's own, {own}" if own else f"the guideline {manager.DEFAULT}"

    def control(given: Scenario, contributors: int) -> Scenario:
        if case.opensm is not None:
            return with_configuration(given, case.opensm, fabric)
        # The guideline assumes at least two sources.
        return given if own else given.with_guideline(hot_spot_degree=max(2, contributors))

    try:
        return whatif(
            scenario,
            case.hot,
            control,
            control_name=name if case.opensm is None else str(case.opensm),
            contributors=case.contributors,
            rails=_rails(scenario, fabric),
            names=labels(scenario.network(), None if fabric is None else port_numbers(fabric)),
            max_time=max_time,
            threads=threads,
            progress=progress,
            on_faults=on_faults,
            keep=keep,
        )
    except DeadlockError as error:
        if not (scenario.topology.get("edges") or {}).get("routes") or _has_levels(scenario):
            raise
        raise DeadlockError(f"{error}; {_LEVELS}", error.cycle, error.stopped) from error


def _read(case: Case) -> tuple[Scenario, Fabric | None]:
    # A folder of results has the scenario of its run.
    if case.file.suffix == ".toml" or case.file.is_dir():
        if case.lfts is not None:
            raise BecalmError("--lfts: has no effect with a scenario, which has its own routes")
        if case.fabric is None:
            return load(case.file), None
        fabric = ibnetdiscover.read(case.fabric)
        return checked(case.file, fabric), fabric
    if case.fabric is not None:
        raise BecalmError(
            f"--fabric: has no effect with {case.file}, which is already output of `ibnetdiscover`"
        )
    imported = import_fabric(case.file, case.lfts)
    scenario = Scenario(imported.text, name=str(case.file))
    share = min(LOAD, imported.background.load)
    return _loaded(scenario, imported.fabric, share, case.hot), imported.fabric


def checked(file: Path, fabric: Fabric) -> Scenario:
    """Read a scenario that was imported from a fabric.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is invalid, or has a different fabric.

    """
    scenario = load(file)
    mistakes = Mistakes(file)
    check_fabric(scenario, fabric, mistakes)
    mistakes.check()
    return scenario


def imported(discovered: Path, tables: Path | None) -> Scenario:
    """Return the scenario imported from a fabric. `import_fabric` lists the errors."""
    return Scenario(import_fabric(discovered, tables).text, name=str(discovered))


def _has_levels(scenario: Scenario) -> bool:
    """Whether flows have service levels of their own, or of their paths."""
    return bool(scenario.resolved["adapter"]["path_sl"]) or any(scenario.network().flows["sl"])


def _own(scenario: Scenario) -> str:
    """Return the names of a scenario's responses that react to congestion; empty if none does."""
    tables = [scenario.resolved["response"], *(group["response"] for group in scenario.groups)]
    return ", ".join(sorted({name for table in tables for name in table or ()} - UNMOVED))


def _rails(scenario: Scenario, fabric: Fabric | None) -> list[list[str]]:
    """Return the hosts by rail of a fabric, or by part of a network whose parts no cable connects."""
    if fabric is not None:
        return [[host.name for host in rail] for rail in traffic.rails(fabric)]
    found = parts(scenario.network())
    return found if len(found) > 1 else []


def _loaded(scenario: Scenario, fabric: Fabric | None, load: float, hot: str) -> Scenario:
    """Return the scenario with a background of the given load, apart by rails if its fabric is known."""
    if fabric is not None:
        return scenario.replace({"flows": traffic.flows(fabric, load)})
    hosts = next((rail for rail in _rails(scenario, None) if hot in rail), ["*"])
    flows = {"name": "background", "from": hosts, "pattern": {"permutation": {}}}
    return scenario.replace({"flows": [{**flows, "traffic": {"poisson": {"load": load}}}]})
