"""Tables in files: JSON, CSV and C, written and read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from becalm.designs.check import Check
from becalm.designs.law import Law
from becalm.designs.tabulate import Cct, DelayTable
from becalm.errors import DesignError
from becalm.manager import MAX_MULTIPLIER
from becalm.mistakes import reason

FORMATS = ("json", "csv", "h")
"""Formats, as the suffixes of their files."""

_UNREADABLE = (csv.Error, OverflowError, RecursionError, TypeError, ValueError)
_STEP = ("slower", "acks", "faster")
_ENTRY = ("shift", "multiplier")
_SETTINGS = ("increase", "timer", "limit")


def text(table: DelayTable | Cct, form: str) -> str:
    """Return a table as the text of a file; `form`: one of `FORMATS`."""
    writers: dict[str, Callable[[DelayTable | Cct], str]] = {"json": _json, "csv": _csv, "h": _c}
    return writers[form](table)


def read(path: str | PathLike[str]) -> DelayTable | Cct:
    """Read a table from a file that `text` made; its suffix determines the format.

    Raises:
        FileNotFoundError: no such file.
        DesignError: not a file of this kind.

    """
    path = Path(path)
    form = path.suffix.lstrip(".")
    if form not in FORMATS:
        raise DesignError(f"{path}: must end in one of: {', '.join(f'.{each}' for each in FORMATS)}")
    try:
        return parse(path.read_text(encoding="utf-8"), form)
    except DesignError as error:
        raise DesignError(f"{path}: {error}") from error
    except (KeyError, *_UNREADABLE) as error:
        raise DesignError(f"{path}: not a becalm table: {type(error).__name__} {reason(error)}") from error


def parse(content: str, form: str) -> DelayTable | Cct:
    """Read a table from the text of a file; `form`: one of `FORMATS`."""
    readers: dict[str, Callable[[str], dict[str, Any]]] = {"json": json.loads, "csv": _from_csv, "h": _from_c}
    return _made(readers[form](content))


def toml(table: DelayTable) -> str:
    """Return a table as `[response.table]` of a scenario."""
    steps = [f"[{slower}, {acks}, {faster}]" for slower, acks, faster in table.steps]
    lines = [f"    {', '.join(steps[start : start + 8])}," for start in range(0, len(steps), 8)]
    return "\n".join(
        [f"# {table.name}", "[response.table]", f"rmax = {table.rmax!r}", "steps = [", *lines, "]", ""]
    )


def functions(law: Law, found: Check) -> str:
    """Return a law as CSV: the rates after a mark and without one, and the recovery time in packet times."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["r", "f_dec", "f_inc", "recovery_time"])
    columns = (found.rates, law.f_dec(found.rates), law.f_inc(found.rates), found.recovery)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        writer.writerow([repr(value) for value in row])
    return out.getvalue()


def read_points(path: str | PathLike[str]) -> list[tuple[float, float]]:
    """Read a function from a file of points: JSON, a list of pairs; or CSV, two numbers per line.

    Raises:
        FileNotFoundError: no such file.
        DesignError: no valid points.

    """
    path = Path(path)
    try:
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return [(float(rate), float(value)) for rate, value in json.loads(content)]
        lines = [line for line in csv.reader(io.StringIO(content)) if line and not line[0].startswith("#")]
        start = 0 if _is_number(lines[0][0]) else 1
        return [(float(line[0]), float(line[1])) for line in lines[start:]]
    except (IndexError, *_UNREADABLE) as error:
        raise DesignError(
            f"{path}: must contain pairs of a rate and the function's value: {reason(error)}"
        ) from error


def read_function(given: str) -> str | list[tuple[float, float]]:
    """Return an expression unchanged, or the points of a file if its name ends in .csv or .json."""
    return read_points(given) if given.endswith((".csv", ".json")) else given


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def plain(table: DelayTable | Cct) -> dict[str, Any]:
    """Return a table as plain data."""
    if isinstance(table, DelayTable):
        return {
            "kind": "delays",
            "name": table.name,
            "rmax": table.rmax,
            "steps": [list(step) for step in table.steps],
        }
    settings = {key: getattr(table, key) for key in _SETTINGS}
    return {
        "kind": "cct",
        "name": table.name,
        **settings,
        "entries": [list(entry) for entry in table.entries],
    }


def _made(data: dict[str, Any]) -> DelayTable | Cct:
    if data["kind"] == "delays":
        steps = tuple((int(slower), int(acks), int(faster)) for slower, acks, faster in data["steps"])
        return DelayTable(str(data["name"]), float(data["rmax"]), steps)
    if data["kind"] == "cct":
        entries = tuple((int(shift), int(multiplier)) for shift, multiplier in data["entries"])
        return Cct(str(data["name"]), entries, *(int(data[key]) for key in _SETTINGS))
    raise DesignError(f"kind {data['kind']!r}: must be delays or cct")


def _json(table: DelayTable | Cct) -> str:
    data = plain(table)
    rows = data.pop("steps" if "steps" in data else "entries")
    name = "steps" if isinstance(table, DelayTable) else "entries"
    head = json.dumps(data, indent=2)[:-2]
    return f'{head},\n  "{name}": [\n' + ",\n".join(f"    {json.dumps(row)}" for row in rows) + "\n  ]\n}\n"


def _csv(table: DelayTable | Cct) -> str:
    """Write the rows below a comment line with everything else."""
    data = plain(table)
    rows = data.pop("steps" if "steps" in data else "entries")
    out = io.StringIO()
    out.write(f"# {json.dumps(data)}\n")
    writer = csv.writer(out, lineterminator="\n")
    delays = isinstance(table, DelayTable)
    writer.writerow(["index", *(_STEP if delays else _ENTRY), "rate" if delays else "gap"])
    values = table.rates if isinstance(table, DelayTable) else table.gaps
    for index, (row, value) in enumerate(zip(rows, values.tolist(), strict=True)):
        writer.writerow([index, *row, repr(value)])
    return out.getvalue()


def _from_csv(content: str) -> dict[str, Any]:
    first, _, rest = content.partition("\n")
    if not first.startswith("# {"):
        raise ValueError("the first line must be a comment with the table's settings")
    data: dict[str, Any] = json.loads(first.removeprefix("# "))
    columns, key = (_STEP, "steps") if data["kind"] == "delays" else (_ENTRY, "entries")
    data[key] = [[row[column] for column in columns] for row in csv.DictReader(io.StringIO(rest))]
    return data


def _c(table: DelayTable | Cct) -> str:
    data = plain(table)
    name = re.sub(r"\W", "_", table.name.lower()).lstrip("0123456789") or "design"
    rows = data.pop("steps" if "steps" in data else "entries")
    head = f"/* {json.dumps(data).replace('*/', '* /')} */\n#include <stdint.h>\n\n"
    if isinstance(table, DelayTable):
        declared = (
            "/* For each delay: the delay after a marked ACK, the number of consecutive unmarked ACKs "
            "before the delay shortens, and that shorter delay. */\n"
            "static const struct { uint8_t slower; uint32_t acks; uint8_t faster; } "
            f"{name}_delays[{len(rows)}] = {{\n"
        )
        lines = [f"    {{{slower}, {acks}, {faster}}}," for slower, acks, faster in rows]
    else:
        declared = (
            "/* Congestion control table: shift in bits 15 and 14, multiplier in bits 13 to 0. */\n"
            f"static const uint16_t {name}_cct[{len(rows)}] = {{\n"
        )
        words = [f"0x{word:04x}" for word in table.words]
        lines = [f"    {', '.join(words[start : start + 8])}," for start in range(0, len(words), 8)]
    return head + declared + "\n".join(lines) + "\n};\n"


def _from_c(content: str) -> dict[str, Any]:
    comment = re.match(r"/\* (\{.*\}) \*/", content)
    if comment is None:
        raise ValueError("the first line must be a comment with the table's settings")
    data: dict[str, Any] = json.loads(comment[1])
    body = content[content.index("] = {") :]
    if data["kind"] == "delays":
        data["steps"] = re.findall(r"\{(\d+), (\d+), (\d+)\}", body)
    else:
        words = [int(word, 16) for word in re.findall(r"0x[0-9a-f]{4}", body)]
        data["entries"] = [(word >> 14, word & MAX_MULTIPLIER) for word in words]
    return data
