"""Results: tables with units, kept in a folder of Parquet files with a manifest.

From the bottom up: `tables` (what the core declares), `columns`, `frames`, `compact`, `attributes`,
`manifests`, this file, and `verdicts` (the difference between two runs).
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from becalm._core import verdict
from becalm.base import columns, jsons, provenance
from becalm.base.errors import BecalmError, ResultsError
from becalm.base.folders import Kind
from becalm.base.parquet import digest_of, read_table, write_table
from becalm.results.attributes import Tables
from becalm.results.compact import CompactTables
from becalm.results.frames import Frames
from becalm.results.outcomes import Outcome, Replication, replication
from becalm.results.tables import SCHEMA
from becalm.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from becalm.results.manifests import Manifest

MANIFEST = "manifest.json"
"""Name of the file that identifies a results folder."""
_JUDGED = {
    "flows": ("group", "source", "role", "lost", "rate"),
    "jobs": ("job", "end", "slowdown", "time", "time_alone"),
    "links": ("from", "to", "utilization"),
    "tree": ("role", "since", "root_share", "branch_share", "offered", "contributors"),
}
"""Columns that a verdict reads."""
_FILE = re.compile(r"[a-z][a-z_]*\.parquet")


def _files(manifest: Mapping[str, Any]) -> set[str]:
    """Return the file names of the tables. Raise ValueError for a name outside the folder."""
    names = [entry["file"] for entry in manifest["tables"].values()]
    for name in names:
        if not _FILE.fullmatch(name):
            raise ValueError(f"{name!r} is not the file name of a table")
    return set(names)


FOLDER = Kind(MANIFEST, "a results folder", _files)
"""Results folders."""


class Results(Tables):
    """The tables of a run, with all its replications.

    Every table has a column `replication`. `units` contains the unit of each column, or an empty string for
    plain numbers and text.
    """

    notebook: ClassVar[Callable[[Results], str] | None] = None
    """The function that renders a run in a notebook; set by `becalm.reports`, which is above this module."""

    def __init__(
        self,
        scenario: Scenario,
        replications: list[Replication],
        tables: Mapping[str, pl.DataFrame],
        units: dict[str, dict[str, str]],
        origin: dict[str, Any] | None = None,
    ) -> None:
        self.scenario = scenario
        self.replications = replications
        self.tables = CompactTables(tables)
        self.units = units
        self.origin = origin or provenance.describe()
        """Version of becalm, platform and time at which the run was made."""

    @classmethod
    def from_outcomes(cls, scenario: Scenario, outcomes: Sequence[Outcome]) -> Results:
        """Combine the replications of a run, in order."""
        import polars as pl

        parts: dict[str, list[pl.DataFrame]] = {}
        units: dict[str, dict[str, str]] = {}
        for outcome in outcomes:
            for name, given in outcome.core["tables"].items():
                units[name] = {"replication": ""} | {column: unit for column, unit, _ in given}
                parts.setdefault(name, []).append(columns.frame(outcome.replication, given))
        # A column without rows may have no type.
        tables = {name: pl.concat(frames, how="vertical_relaxed") for name, frames in parts.items()}
        return cls(scenario, [replication(outcome, scenario) for outcome in outcomes], tables, units)

    @property
    def frames(self) -> Frames:
        """The fabric over time in the first replication, as arrays.

        Raises:
            ResultsError: the scenario does not request frames with `observe.frames`.

        """
        return self.frames_of(0)

    def frames_of(self, replication: int, vl: int = 0) -> Frames:
        """Return the frames of one replication and virtual lane.

        Raises:
            ResultsError: there are no such frames.

        """
        import polars as pl

        chosen = pl.col("replication") == replication, pl.col("vl") == vl
        table = self.table("frames").filter(*chosen)
        if table.is_empty():
            raise ResultsError(
                f"{self.scenario.name} has no frames of VL {vl}, replication {replication}; "
                f"it has {len(self.replications)} replications"
            )
        return Frames.of(table)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table.

        Raises:
            ResultsError: the table is missing; the message explains how to request it.

        """
        if name not in self.tables and name in SCHEMA:
            asked = SCHEMA[name].asked_by
            how = f"set {asked} and run it again" if asked else "it was not kept"
            raise ResultsError(f"{self.scenario.name} has no {name}: {how}")
        return self.tables[name]

    def to_pandas(self, name: str) -> Any:  # noqa: ANN401
        """Return a table as a pandas data frame. Requires `becalm[pandas]`.

        Raises:
            ResultsError: the table is missing, or pandas or pyarrow is not installed.

        """
        try:
            return self.table(name).to_pandas()
        except ImportError as error:
            why = f"{error}; pip install 'becalm[pandas]'"
            raise ResultsError(f"to_pandas needs pandas and pyarrow: {why}") from error

    @property
    def verdict(self) -> str | None:
        """Who suffers in the first replication, and from what; see `verdict_of`."""
        return self.verdict_of(self.replications[0].replication)

    def verdict_of(self, replication: int) -> str | None:
        """Return who suffers in a replication, and from what, in one sentence.

        None if the results lack tables that every run produces, as in a store that kept only the summary.
        """
        tables = {
            name: columns.of(self._judged(name, read), replication, self.units[name])
            for name, read in _JUDGED.items()
            # Results of older versions lack some columns.
            if name in self.tables and {*read} <= {*self.tables.compact(name).columns}
        }
        ends = {each.replication: each.end for each in self.replications if each.stopped}
        said = verdict(self.scenario.core, tables, ends.get(replication))
        number = len(self.replications)
        return said if said is None or number == 1 else f"Replication {replication} of {number}: {said}"

    def _judged(self, name: str, read: tuple[str, ...]) -> pl.DataFrame:
        """Return the columns of a table that a verdict reads."""
        table = self.tables.compact(name).select("replication", *read)
        # Of flows, a verdict names only victims. A million names are large as Python's objects.
        if name == "flows" and not table["role"].is_in(["victim", "both"]).any():
            table = table.clear()
        return columns.with_names(table)

    @property
    def stopped(self) -> float | None:
        """The simulated time [s] at which the run was stopped before its end; None if it was not stopped.

        With several replications, the earliest such time. Replications that had not begun are missing.
        """
        return min((item.end for item in self.replications if item.stopped), default=None)

    @property
    def fingerprints(self) -> list[str]:
        """One fingerprint per replication, equal if and only if every packet moved at the same time."""
        return [item.fingerprint for item in self.replications]

    @property
    def fingerprint(self) -> str:
        """The fingerprints of all replications, joined with `-`."""
        return "-".join(self.fingerprints)

    @property
    def events(self) -> int:
        """Total number of events of all replications."""
        return sum(item.events for item in self.replications)

    @property
    def packet_hops(self) -> int:
        """Total number of packet-hops of all replications."""
        return sum(item.packet_hops for item in self.replications)

    @property
    def train(self) -> float | None:
        """Mean number of packets that a simulated packet stood for; None if each packet was simulated."""
        hops = [item.train_hops for item in self.replications]
        known = [count for count in hops if count is not None]
        if len(known) < len(hops):
            return None
        return self.packet_hops / sum(known) if any(known) else 1.0

    @property
    def left_out(self) -> float | None:
        """The share of time that was left out, as flows kept their rates; None without such a fidelity."""
        times = [item.left_out for item in self.replications if item.left_out is not None]
        if len(times) < len(self.replications):
            return None
        whole = sum(item.end for item in self.replications)
        return sum(times) / whole if whole else 0.0

    @property
    def approximation(self) -> str | None:
        """What is approximate about the run, in words; None if it is exact."""
        if self.train is None:
            return None
        said = f"a simulated packet stood for {self.train:.1f} packets on average"
        if self.left_out is None:
            return said
        if self.left_out == 0.0:
            return f"{said}; no time was left out, as flows did not keep their rates for long"
        return f"{said}; {100 * self.left_out:.1f}% of the time was left out, as flows kept their rates"

    @property
    def wall_time(self) -> float:
        """Total seconds of all replications, even if they ran in parallel."""
        return sum(item.wall_time for item in self.replications)

    @property
    def processor_time(self) -> float | None:
        """Total processor seconds of all replications; None if not all of them were measured."""
        times = [item.processor_time for item in self.replications]
        known = [time for time in times if time is not None]
        return sum(known) if len(known) == len(times) else None

    @property
    def guards(self) -> list[str]:
        """The rules of the model that were checked and held in every replication."""
        common = [set(item.guards) for item in self.replications]
        return [guard for guard in self.replications[0].guards if all(guard in held for held in common)]

    def manifest(self) -> dict[str, Any]:
        """Everything needed to trace the origin of the tables and to repeat the run."""
        scenario = self.scenario
        return {
            **self.origin,
            "scenario": {
                # Store only the file's name, because paths are private.
                "name": PurePath(scenario.name).name,
                "hash": scenario.hash,
                "toml": scenario.pinned().to_toml(),
                "resolved": scenario.resolved,
            },
            "seed": scenario.resolved["run"]["seed"],
            "wall_time": self.wall_time,
            "processor_time": self.processor_time,
            "events": self.events,
            "packet_hops": self.packet_hops,
            "guards": self.guards,
            "fingerprints": self.fingerprints,
            "replications": [vars(item) for item in self.replications],
            "tables": {
                name: {"file": f"{name}.parquet", "rows": table.height, "units": self.units[name]}
                for name, table in self._compact()
            },
        }

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the manifest and one Parquet file per table.

        All files go to a temporary folder, which is renamed at the end, so that the folder is either complete
        or absent.

        Raises:
            ResultsError: the folder exists and `overwrite` is not set, or it contains files that becalm did
                not write, or it cannot be written.

        """
        return FOLDER.write(folder, self.fill, overwrite=overwrite)

    def fill(self, folder: Path, check: Callable[[], None]) -> None:
        """Write the files to an empty folder. `check` is called often, and raises an exception to stop."""
        manifest = self.manifest()
        for name, table in self._compact():
            metadata = {f"unit:{column}": unit for column, unit in self.units[name].items()}
            with (folder / f"{name}.parquet").open("wb") as file:
                write_table(table, file, metadata, check)
            manifest["tables"][name]["sha256"] = digest_of(folder / f"{name}.parquet")
        (folder / MANIFEST).write_text(jsons.dumps(manifest, indent=2) + "\n", encoding="utf-8")

    def _compact(self) -> Iterator[tuple[str, pl.DataFrame]]:
        return ((name, self.tables.compact(name)) for name in self.tables)

    def _repr_html_(self) -> str | None:
        """Return the report, for notebooks."""
        # The module is above this one, and sets the function when it is loaded.
        importlib.import_module("becalm.reports")
        show = type(self).notebook
        return show(self) if show else None

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} ({table.height})" for name, table in self._compact())
        number = len(self.replications)
        runs = f"{number} replication{'' if number == 1 else 's'}"
        said = f"{self.verdict}\n" if self.verdict else ""
        return f"{said}<Results of {self.scenario.name!r}, {runs}: {tables}>"


def load_results(folder: str | PathLike[str], *, only: Collection[str] | None = None) -> Results:
    """Read a results folder.

    Args:
        folder: the folder.
        only: names of the tables to read; None: all.

    Raises:
        ResultsError: the folder is not a results folder, or is damaged.
        ScenarioError: the scenario is not valid in this version of becalm.

    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    entries = {name: entry for name, entry in manifest.tables.items() if only is None or name in only}
    # Reading results runs no code, so the schemes need not exist.
    scenario = Scenario(manifest.scenario.toml, name=manifest.scenario.name, schemes=None)
    tables = {
        name: read_table(folder / entry.file, entry.sha256, entry.rows, entry.units)
        for name, entry in entries.items()
    }
    units = {name: entry.units for name, entry in entries.items()}
    replications = [Replication(**vars(item)) for item in manifest.replications]
    return Results(scenario, replications, tables, units, provenance.of(vars(manifest)))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a results folder.

    Raises:
        ResultsError: the folder is not a results folder.

    """
    from becalm.results import manifests

    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, RecursionError, ValueError) as error:
        why = manifests.missing(folder, MANIFEST)
        raise ResultsError(f"{folder}: not a results folder: {why}") from error
    try:
        return manifests.read(content, str(folder / MANIFEST))
    except BecalmError as error:
        raise ResultsError(str(error)) from error
