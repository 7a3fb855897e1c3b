"""The databases of a SONiC switch, as its tools write them: tables, rows and fields, with their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from becalm.base.errors import ScenarioError
from becalm.base.findings import Finding, Severity
from becalm.base.mistakes import Mistakes, read_text, reason

SIGNS = frozenset(
    {
        "PORT",
        "BUFFER_PG",
        "BUFFER_PROFILE",
        "BUFFER_POOL",
        "BUFFER_QUEUE",
        "PORT_QOS_MAP",
        "DSCP_TO_TC_MAP",
        "WRED_PROFILE",
        "QUEUE",
        "PFC_WD",
        "CABLE_LENGTH",
        "DEVICE_METADATA",
        "DEVICE_NEIGHBOR",
    }
)
"""Tables of which at least one is in a file of a switch."""

EXPECTED = (
    'an object such as {"PORT": {"Ethernet0": {"speed": "100000"}}}, as of `sonic-cfggen -d --print-data`, '
    'or {"PORT|Ethernet0": {"speed": "100000"}}'
)

Row = Mapping[str, str]


@dataclass(frozen=True)
class Field:
    """The origin of a value."""

    file: str
    line: int


@dataclass
class Tables:
    """The tables of a switch, of one or several files."""

    files: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    """Fields by table and key, without the blanks around values."""
    places: dict[tuple[str, ...], Field] = field(default_factory=dict)
    """Origins of fields by table, key and field; of rows by table and key."""
    raw: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    """Values as the files have them."""

    def table(self, name: str) -> dict[str, dict[str, str]]:
        """Return the rows of a table; empty if it is absent."""
        return self.rows.get(name, {})

    def row(self, table: str, key: str) -> Row:
        """Return a row; empty if it is absent."""
        return self.table(table).get(key, {})

    def place(self, table: str, key: str = "", name: str = "") -> Field | None:
        """Return the origin of a field, or else of its row; None if both are absent."""
        return self.places.get((table, key, name)) or self.places.get((table, key))

    def finding(self, severity: Severity, row: tuple[str, str], key: str, reason: str, cure: str) -> Finding:
        """Return a finding about a field of a row of a table."""
        table, name = row
        place = self.place(table, name, key)
        value = self.row(table, name).get(key, "")
        file = self.files[0] if place is None else place.file
        where = f"{table}|{name}" if name else table
        return Finding(severity, file, None if place is None else place.line, where, key, value, reason, cure)


def read(paths: list[str | PathLike[str]]) -> Tables:
    """Read the files of one switch: dumps of its databases, of which the later add to the earlier.

    Args:
        paths: nested dumps (`sonic-cfggen -d --print-data`, `config_db.json`), or flat ones (`redis-dump`).

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: not JSON, or not tables of SONiC; with all mistakes in the file at once.

    """
    tables = Tables()
    for path in paths:
        _read(path, tables)
    if not SIGNS & tables.rows.keys():
        problem = f"has no table of a SONiC switch; valid: {EXPECTED}"
        raise ScenarioError(f"{paths[0]}: {problem}", str(paths[0]))
    return tables


def _read(path: str | PathLike[str], tables: Tables) -> None:
    text = read_text(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ScenarioError(f"{path}{at}: is not JSON: {reason(error)}", str(path)) from error
    mistakes = Mistakes(path)
    if not isinstance(document, dict) or not document:
        mistakes.add(1, "", "", "has no tables", EXPECTED)
        mistakes.check()
    found, twice = _lines(text)
    for each in twice:
        mistakes.add(found[each], "|".join(each), "", "occurs twice; only one has an effect", "one")
    tables.files.append(str(path))
    for where, value in _rows(document, mistakes, found):
        _take(tables, where, value, mistakes, found)
    mistakes.check()


def _rows(
    document: Mapping[str, Any], mistakes: Mistakes, found: Mapping[tuple[str, ...], int]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path of each row, and its fields."""
    for key, value in document.items():
        if not isinstance(value, dict):
            mistakes.add(found.get((key,)), key, json.dumps(value), "is not a table", EXPECTED)
        elif "|" in key:
            yield (key,), value
        else:
            yield from (((key, name), row) for name, row in value.items())


def _take(
    tables: Tables,
    at: tuple[str, ...],
    row: Any,  # noqa: ANN401
    mistakes: Mistakes,
    found: Mapping[tuple[str, ...], int],
) -> None:
    table, _, key = "|".join(at).partition("|")
    inner = at
    # `redis-dump` puts the fields beside their type and time to live.
    if isinstance(row, dict) and {"type", "value"} <= row.keys() and isinstance(row["value"], dict):
        row, inner = row["value"], (*at, "value")
    if not isinstance(row, dict):
        if table in SIGNS:
            mistakes.add(found.get(at), f"{table}|{key}", json.dumps(row), "is not a row of fields", EXPECTED)
        return
    kept = tables.rows.setdefault(table, {}).setdefault(key, {})
    tables.places[table, key] = Field(str(mistakes.file), found.get(at, 1))
    for name, value in row.items():
        kept[name] = _text(value)
        tables.raw[table, key, name] = value
        tables.places[table, key, name] = Field(str(mistakes.file), found.get((*inner, name), 1))


def _text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return value.strip() if isinstance(value, str) else json.dumps(value)


def reference(text: str) -> str:
    """Return the name in a reference, `AZURE` in both `AZURE` and `[WRED_PROFILE|AZURE]`."""
    found = re.fullmatch(r"\[[A-Z_0-9]+\|(.+)\]", text)
    return found[1] if found else text


def items(text: str) -> list[str]:
    """Return the items of a list such as `Ethernet0,Ethernet4`."""
    return [each.strip() for each in text.split(",") if each.strip()]


def numbers(text: str) -> list[int] | None:
    """Return the numbers of a list with ranges, such as `0-2,6`; None if it is none."""
    found: list[int] = []
    for each in items(text):
        match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", each)
        if match is None:
            return None
        found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return found


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n')


def _lines(text: str) -> tuple[dict[tuple[str, ...], int], list[tuple[str, ...]]]:
    """Return the line of each key of a valid JSON document, by its path, and the paths that occur twice.

    Items of lists have no paths.
    """
    found: dict[tuple[str, ...], int] = {}
    twice: list[tuple[str, ...]] = []
    open_: list[str | None] = []
    """The keys of the enclosing objects; None for a list."""
    line, last, key = 1, "", ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token in "{[":
            open_.append(key if token == "{" else None)
            key = ""
        elif token in "}]":
            open_.pop()
        elif token == ":":
            key = json.loads(last)
            if None not in open_:
                path = (*[each for each in open_[1:] if each is not None], key)
                if path in found:
                    twice.append(path)
                found[path] = line
        last = token if token[0] == '"' else last
    return found, twice
