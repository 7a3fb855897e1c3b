"""All steps in one call: derive, check, tabulate, try."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm.base import jsons
from becalm.base.errors import DesignError
from becalm.base.folders import Kind

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from becalm.base.progress import SweepProgress
    from becalm.designs.check import Check
    from becalm.designs.function import RateFunction
    from becalm.designs.law import Law
    from becalm.designs.tabulate import Cct, DelayTable

INDEX = "design.json"
"""Name of the file that identifies the folder of a design."""
FOLDER = Kind(INDEX, "the folder of a design", lambda _: {"response.toml", "design.png"})
"""The folders that designs are kept in."""
OTHERS = ("LIPD", "FIMD", "AIMD")
"""Laws with which a design is compared."""


@dataclass(frozen=True)
class Design:
    """A response function, its evaluation, and its tables."""

    law: Law
    """f_dec, f_inc and F_inc(t)."""
    others: tuple[Law, ...]
    """LIPD, FIMD and AIMD over the same range of rates."""
    checks: dict[str, Check]
    """Conditions and recovery times of all of them, by name."""
    table: DelayTable
    """Steps for each inter-packet delay."""
    cct: Cct | None
    """Congestion control table of IBTA adapters; None for a law without Condition 3, which their timer cannot
    follow."""
    trial: pl.DataFrame | None
    """Their results in the standard scenes, one row per value; None if not requested."""

    @property
    def check(self) -> Check:
        """Conditions and recovery times of the design itself."""
        return self.checks[self.law.name]

    def summary(self) -> pl.DataFrame:
        """Return all results as text: a row for each quantity, a column for each response."""
        from becalm.designs import report
        from becalm.designs.tabulate import tabulate

        delays = {law.name: tabulate(law) for law in self.others} | {self.law.name: self.table}
        laws = {law.name: law for law in (self.law, *self.others)}
        errors = {name: table.errors(laws[name])["decrease"] for name, table in delays.items()}
        if self.cct is not None:
            errors[_as_cct(self.law.name)] = self.cct.errors(self.law)
        return report.table(self.checks, delays, errors, self.trial)

    def figure(self) -> Figure:
        """Draw everything: F_inc(t), recovery times, the table, and the scenes if they were run."""
        from becalm.designs import report

        return report.figure((self.law, *self.others), self.checks, self.table, self.trial)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        from becalm.base import provenance

        return {
            **provenance.describe(),
            "name": self.law.name,
            "rmin": self.law.rmin,
            "rmax": self.law.rmax,
            "checks": [check.to_json() for check in self.checks.values()],
            "table": self.table.to_json(),
            "cct": None if self.cct is None else self.cct.to_json(),
            "rounding": self.rounding(),
            "trial": None if self.trial is None else self.trial.to_dicts(),
        }

    def rounding(self) -> dict[str, Any]:
        """Return the relative errors of rounding, per delay of the table and per entry of the CCT."""
        errors = {key: values.tolist() for key, values in self.table.errors(self.law).items()}
        return {"table": errors, "cct": None if self.cct is None else self.cct.errors(self.law).tolist()}

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write numbers, tables and figure to a folder, which is complete or absent.

        Raises:
            ResultsError: the folder exists and `overwrite` is not given, or it contains files that becalm did
                not write, or it cannot be written.

        """
        return FOLDER.write(folder, self.fill, overwrite=overwrite)

    def fill(self, folder: Path, check: Callable[[], None]) -> None:
        """Write the files into an empty folder; `check` raises if the work has to stop."""
        from becalm.plot import save

        (folder / INDEX).write_text(jsons.dumps(self.to_json(), indent=2) + "\n", encoding="utf-8")
        (folder / "response.toml").write_text(self.table.to_toml(), encoding="utf-8")
        check()
        save(self.figure(), folder / "design.png")

    def __repr__(self) -> str:
        held = [condition.name for condition in self.check.conditions if condition.holds]
        return f"<Design {self.law.name!r}: {', '.join(held) or 'no condition'} met>"


def design(
    f_dec: RateFunction,
    f_inc: RateFunction | None = None,
    *,
    rmin: float = 1 / 256,
    rmax: float = 1.0,
    name: str = "design",
    packet_time: float = 2.048e-6,
    trial: bool = True,
    short: bool = False,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> Design:
    """Derive the increase function of a decrease function, check, tabulate and try the two.

    Args:
        f_dec: rate after a marked ACK: a Python function of the rate, an expression in `r`, `rmin` and `rmax`
            such as `"max(r / 2, rmin)"`. Rates are shares of the link's.
        f_inc: rate after an unmarked ACK, likewise; None: derived from `f_dec`.
        rmin: smallest rate, at least rmax / 256.
        rmax: largest rate.
        name: name in tables and files.
        packet_time: transmission time of a packet in s: the unit of recovery times, and the basis of the
            timer of the congestion control table.
        trial: whether to run the standard scenes, with LIPD, FIMD and AIMD for comparison.
        short: one point per scene and shorter runs.
        seed: seed of all runs.
        threads: runs at once; None: as many as there are cores.
        progress: called after each run, by one thread at a time.

    Raises:
        DesignError: a function that cannot be used; with the rate at which it fails.
        KeyboardInterrupt: Ctrl-C.

    """
    from becalm.designs import check, derive, law, tabulate

    _check_name(name, packet_time)
    if f_inc is None:
        own = derive.derive(f_dec, rmin=rmin, rmax=rmax, name=name)
    else:
        own = law.pair(f_dec, f_inc, rmin=rmin, rmax=rmax, name=name)
    table = tabulate.tabulate(own)
    others = (law.lipd(rmin, rmax), law.fimd(rmin, rmax), law.aimd(rmin, rmax))
    checks = {each.name: check.check(each, packet_time=packet_time) for each in (own, *others)}
    constant = checks[name]["Condition 3"].holds
    cct = tabulate.tabulate_cct(own, packet_time=packet_time) if constant else None
    found = _tried(own, table, cct, short, seed, threads, progress) if trial else None
    return Design(own, others, checks, table, cct, found)


def _tried(
    own: Law,
    table: DelayTable,
    cct: Cct | None,
    short: bool,
    seed: int,
    threads: int | None,
    progress: Callable[[SweepProgress], object] | None,
) -> pl.DataFrame:
    from becalm.designs import trial

    responses = {own.name: table.response()}
    if cct is not None:
        responses[_as_cct(own.name)] = cct.response()
    rates = {"discrete": True, "rmin": own.rmin, "rmax": own.rmax}
    responses |= {other: {other.lower(): rates} for other in OTHERS}
    return trial.run(responses, short=short, seed=seed, threads=threads, progress=progress)


def _as_cct(name: str) -> str:
    return f"{name}, CCT"


def _check_name(name: str, packet_time: float) -> None:
    if not re.fullmatch(r"[A-Za-z][\w. -]{0,39}", name) or name.upper() in OTHERS:
        raise DesignError(
            f"name {name!r}: must begin with a letter, contain at most 40 letters, digits, spaces or `._-`, "
            f"and not be one of {', '.join(OTHERS)}"
        )
    if not 1e-12 <= packet_time <= 1:
        raise DesignError(f"packet_time = {packet_time:g}: must be between 1e-12 and 1 s")
