"""Discovery of the papers: their experiments, their claims, and the measures that the claims name.

Only this part of the lab depends on the papers' location. Each paper is a package in `becalm.papers`, with a
list `EXPERIMENTS`, a constant `PHASE` (the maximum random delay of the sources' starts, or None),
optional `NULLS`, and a file `claims.toml`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from becalm.lab import claims
from becalm.lab.model import Change, Experiment
from becalm.lab.nulls import GENERAL

PAPERS = (
    "santos2002",
    "santos2003",
    "gran2010",
    "pfister2005",
    "ramakrishnan1990",
    "alizadeh2010",
    "zhu2015",
    "mittal2015",
    "kumar2020",
    "li2019",
    "pfc",
    "dixit2013",
)
"""Names of the papers' packages, in the order in which they are listed."""
FILE = "claims.toml"
SHARED = {"common": "becalm.papers.common", "lab": "becalm.lab"}
"""Packages whose measures all papers may use, by prefix."""


@cache
def registry() -> tuple[Experiment, ...]:
    """Return all experiments with their claims, by paper and in the order of the paper's figures.

    Raises:
        ClaimsError: a file of claims has mistakes.

    """
    return tuple(experiment for paper in PAPERS for experiment in _experiments(paper))


def select(ids: Sequence[str]) -> list[Experiment]:
    """Find the experiments of papers (`santos2003`) and figures (`santos2003/fig2`), or all without ids.

    Raises:
        ValueError: an id is unknown; the message lists the papers, or the figures of its paper.

    """
    known = registry()
    unknown = [name for name in ids if name not in PAPERS and all(name != item.id for item in known)]
    if unknown:
        asked = {name.split("/")[0] for name in unknown}
        figures = [item.id for item in known if item.paper in asked]
        valid = ", ".join(figures or PAPERS)
        raise ValueError(
            f"no such experiment: {', '.join(unknown)}; valid: {valid}; `becalm list figures` shows all"
        )
    return [item for item in known if not ids or item.paper in ids or item.id in ids]


def about(paper: str) -> str:
    """Return the description of a paper from its package: title in the first line, then source."""
    return inspect.getdoc(_package(paper)) or paper


def find_measure(paper: str, name: str) -> Callable[..., Any]:
    """Find the function that a paper's claim names as `module.function`, or `function` of its package.

    Raises:
        LookupError: the function does not exist; the message lists the valid names.

    """
    module_name, _, function_name = name.rpartition(".")
    prefix, _, rest = module_name.partition(".")
    package = SHARED.get(prefix, f"becalm.papers.{paper}")
    module_name = rest if prefix in SHARED else module_name
    modules = [module.name for module in iter_modules(import_module(package).__path__)]
    if module_name not in ("", *modules):
        valid = [*modules, *(f"{shared}." for shared in SHARED)]
        raise LookupError(f"measure = {name!r}: no such module; valid in {package}: {', '.join(valid)}")
    functions = _functions(import_module(f"{package}.{module_name}".rstrip(".")))
    if function_name not in functions:
        valid = [*functions, *([] if module_name else [f"{part}." for part in (*modules, *SHARED)])]
        raise LookupError(f"measure = {name!r}: no such function; valid: {', '.join(valid)}")
    return functions[function_name]


def find_changes(paper: str) -> Mapping[str, Change]:
    """Find the changes that the nulls of a paper's claims may use."""
    return {**GENERAL, **getattr(_package(paper), "NULLS", {})}


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the public functions of a module whose first argument is an experiment's tables."""
    return {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_") and _takes_tables(function)
    }


def _takes_tables(function: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    return bool(parameters) and parameters[0].annotation == "Tables"


def _package(paper: str) -> ModuleType:
    return import_module(f"becalm.papers.{paper}")


def _experiments(paper: str) -> list[Experiment]:
    """Return the experiments in the order of their claims."""
    package, source = _package(paper), _source(paper)
    experiments: dict[str, Experiment] = {each.figure: each for each in package.EXPERIMENTS}
    statements = claims.statements(source, experiments, find_measure, _source, find_changes)
    return [
        replace(
            experiments[figure],
            statements=statements[figure],
            phase=package.PHASE if experiments[figure].phase is None else experiments[figure].phase,
        )
        for figure in source.figures
    ]


@cache
def _source(paper: str) -> claims.Source:
    if paper not in PAPERS:
        raise LookupError(f"{paper}: no such paper; valid: {', '.join(PAPERS)}")
    file = resources.files(_package(paper)).joinpath(FILE)
    return claims.read(paper, f"papers/{paper}/{FILE}", file.read_text(encoding="utf-8"))
