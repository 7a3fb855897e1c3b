"""The manifest of a run, as `explain`, `report` and stores read it. It may come from anywhere: check it.

Import this module only where a manifest is read, because pydantic takes a while to load.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator, model_validator

from becalm.documents import Part, of_json, wrong

_Count = Annotated[int, Field(ge=0, lt=2**63, description="a whole number, at least 0")]
_Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", description="16 hexadecimal digits")]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z_]*$", description="lowercase letters and _")]


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
