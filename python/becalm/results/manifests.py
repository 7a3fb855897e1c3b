"""The manifest of a run, as `explain`, `report` and stores read it. It may come from anywhere: check it.

Import this module only where a manifest is read, because pydantic takes a while to load.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator, model_validator

from becalm.base.documents import Part, of_json, wrong
from becalm.base.errors import BecalmError
from becalm.base.mistakes import nearest_file, other_kind, read_text

_Count = Annotated[int, Field(ge=0, lt=2**63, description="a whole number, at least 0")]
_Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", description="16 hexadecimal digits")]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z_]*$", description="lowercase letters and _")]


_RUN_FIRST = "`becalm run SCENARIO --out FOLDER` writes one"
_MOST_INSIDE = 5
"""Maximum number of folders in a message about the folder that contains them."""


class _Kept(Part):
    # A newer version of becalm may have written more.
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)


class _Scenario(_Kept):
    name: str
    hash: str
    toml: str
    resolved: dict[str, Any]


class _Replication(_Kept):
    replication: _Count
    fingerprint: _Fingerprint
    events: _Count
    packet_hops: _Count
    wall_time: float
    guards: list[str]
    end: float = Field(math.nan, allow_inf_nan=True)
    processor_time: float | None = None
    stopped: bool = False
    train_hops: _Count | None = None
    left_out: float | None = None

    @field_validator("end", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return math.nan if value is None else value


class _Table(_Kept):
    file: str
    rows: _Count
    units: dict[str, str]
    sha256: str | None = None


class _Checked(_Table):
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="64 hexadecimal digits")]


class _Manifest(_Kept):
    becalm: str
    core: str | None = None
    model: str | None = None
    compiler: str | None = None
    git_revision: str | None = None
    created: str | None = None
    platform: dict[str, str | int | None] | None = None
    scenario: _Scenario
    seed: _Count
    replications: list[_Replication] = Field(min_length=1)
    tables: dict[_Name, _Table]

    @model_validator(mode="after")
    def _own_files(self) -> _Manifest:
        for name, table in self.tables.items():
            if table.file != f"{name}.parquet":
                raise wrong(
                    f"tables.{name}.file {table.file!r}: is not the file name of the table", f"{name}.parquet"
                )
        return self


class Manifest(_Manifest):
    """The manifest of a results folder."""

    tables: dict[_Name, _Checked]  # type: ignore[assignment]


class StoredManifest(_Manifest):
    """The manifest of a run in a store, whose file has a checksum."""

    key: str
    keep: str
    model: str
    created: str
    replications: list[_Replication] = Field(min_length=1, max_length=1)


def read(content: object, where: str) -> Manifest:
    """Return the manifest of a results folder; `where` names its file in messages.

    Raises:
        BecalmError: it is none; the message states the first problem.

    """
    return of_json(content, Manifest, f"{where}: not a becalm manifest")


def read_stored(content: object, where: str) -> StoredManifest:
    """Return the manifest of a run in a store; `where` names its file in messages.

    Raises:
        BecalmError: it is none; the message states the first problem.

    """
    return of_json(content, StoredManifest, f"{where} is not a becalm manifest")


def missing(path: Path, index: str) -> str:
    """Return why a path has no results, and what to give instead.

    Args:
        path: the path.
        index: name of the file that results have.

    """
    if path.is_dir():
        inside = [f"`{each.parent}`" for each in sorted(path.glob(f"*/{index}"))]
        more = ", ..." if len(inside) > _MOST_INSIDE else ""
        step = f"it contains {', '.join(inside[:_MOST_INSIDE])}{more}" if inside else _RUN_FIRST
        return f"it has no readable {index}; {step}"
    if not path.exists():
        return f"it does not exist{nearest_file(path)}; `becalm run SCENARIO --out {path}` writes one"
    if path.name == index:
        return f"it is a file of one; valid: `{path.parent}`"
    if path.suffix != ".toml":
        return f"it is a file; {_RUN_FIRST}"
    try:
        problem = other_kind(str(path), tomllib.loads(read_text(path)))
    except (BecalmError, OSError, RecursionError, ValueError):
        problem = None
    return f"it {problem}" if problem else f"it is a scenario; run it first: `becalm run {path}`"
