"""Files of other kinds than expected: what they look like, and what reads them."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from becalm.base.errors import ScenarioError
from becalm.base.mistakes import kind_of, printable
from becalm.opensm.keys import KEYS

LOOKED_AT = 1 << 20
"""Number of bytes of a file in which its kind must show."""
LINE_LOOKED_AT = 500
"""Number of characters of a line in which its kind must show, so that no pattern needs long for a line."""


class Wanted(NamedTuple):
    """A kind of file that a command reads."""

    what: str
    sign: re.Pattern[str]
    """A line that every such file has."""
    valid: str
    """Where such a file comes from."""


FABRIC = Wanted(
    "output of ibnetdiscover",
    re.compile(
        r'^(?:Switch|Ca|Hca|Rt)\s*\d{1,3}\s+"|^\[\d+\][^"\n]*"[^"\n]+"\[\d+\]'
        r"|^\s*(?:CA|SW|RT)\s+\d+\s+\d+\s+0x\w+\s+\S+\s+\S+\s+(?:-|')|^\s*\{ *(?:CA|SW|RT|Rt)\S* +Ports:",
        re.MULTILINE,
    ),
    "what `ibnetdiscover > fabric.txt` writes",
)
TABLES = Wanted(
    "forwarding tables",
    re.compile(r"^Unicast lids \[|dump_ucast_routes: *Switch ", re.MULTILINE),
    "what `dump_fts > tables.txt` writes",
)
PATHS = Wanted(
    "a list of path records",
    re.compile(r"^\s*PathRecord dump:", re.MULTILINE),
    "what `saquery -p > path-records.txt` writes",
)
LANES = Wanted(
    "lanes of service levels",
    re.compile(r"^#in out *: *0 +1 ", re.MULTILINE),
    "opensm-sl2vl.dump, which OpenSM writes with `-Q`",
)
CONFIGURATION = Wanted(
    "a configuration of OpenSM",
    re.compile(rf"^(?:{'|'.join(map(re.escape, KEYS))})(?:\s|$)", re.MULTILINE),
    "what `opensm --create-config opensm.conf` writes",
)
SCENARIO = Wanted(
    "a scenario",
    re.compile(r"^(?:\[\[?(?:topology|flows|jobs|run|switch|adapter)\b|(?:topology|run)\.)", re.MULTILINE),
    "what `becalm list examples NAME` prints",
)
COUNTERS = Wanted(
    "counters of ports",
    re.compile(
        r"^# Port (?:extended )?counters:|^[ \t]*GUID 0x\w+ port |^Port=\d+ |^START_PM_INFO|^## Summary:"
        r"|^(?:Errors|Data Counters) for ",
        re.MULTILINE,
    ),
    "what `(ibqueryerrors --counters; ibqueryerrors --data) > counters.txt` writes",
)

_BINARY = {
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "compressed by xz; unpack it first",
    b"(\xb5/\xfd": "compressed by zstd; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"PAR1": "a Parquet table",
    b"\x7fELF": "a program",
    b"\xff\xfe": "text in UTF-16; save it in UTF-8",
    b"\xd4\xc3\xb2\xa1": "a packet capture",
}
"""First bytes of binary files."""

TOML = "TOML"
NOTHING = "nothing that becalm knows"
_CABLES = "`ibnetdiscover > fabric.txt` lists the same cables for becalm"
_TEXT = {
    r"==\(.*\)==>": f"output of iblinkinfo; {_CABLES}",
    r"^(?:Ca|Switch|Rt)\s*: 0x\w+ ports \d+": f"a list of nodes, without cables; {_CABLES}",
    FABRIC.sign.pattern: "a list of cables; `becalm import FILE` reads it",
    TABLES.sign.pattern: "forwarding tables; `becalm import IBNETDISCOVER --lfts FILE` reads them",
    PATHS.sign.pattern: "path records; `becalm import IBNETDISCOVER --path-records FILE` reads them",
    LANES.sign.pattern: "lanes of service levels; `becalm import IBNETDISCOVER --sl2vl FILE` reads them",
    COUNTERS.sign.pattern: "counters of ports; `becalm counters IBNETDISCOVER FILE` reads them",
    r"^START_[A-Z_]+[ \t]*$": "ibdiagnet's CSV; becalm reads its .lst, .fdbs, and the counters in PM_INFO",
    r"^-I-|^-E-": "a log of ibdiagnet; becalm reads ibdiagnet's .lst and .fdbs",
    r"-\d+x-[\d.]+G->": f"a topology of ibdiagnet (.topo); {_CABLES}",
    r"^\d+ \d+ \d+[ \d]*\n(?:[\d ]+\n)?\d+ \d+ [\d.]+[GM]bps ": (
        "a topology of HPCC's ns-3 simulator; `becalm import FILE` makes a scenario of it"
    ),
    r"^Nodes \d+[ \t]*\nTiers \d+": "a topology of htsim; `becalm import FILE` makes a scenario of it",
    r"^Nodes \d+[ \t]*\nConnections \d+": "a file of the simulator htsim, which reads it",
    r"^num_ranks \d+": "a GOAL schedule; [[jobs]] of a scenario reads it",
    r"^[ \t]*(?:di)?graph\b[^\n]*\{": "a graph of Graphviz, whose `dot` reads it",
    r"^[ \t]*<(?:\?xml|!DOCTYPE|html|svg)": "XML or HTML",
    SCENARIO.sign.pattern: "a scenario of becalm; `becalm run FILE` reads it",
    r"^(?:simple|network|submodule|channel)\b.*$": "a network of OMNeT++ (NED), which reads it",
    r"^\[[\w.\"-]+\][ \t]*\n[ \t]*[\w.\"-]+ *=": TOML,
    r"^(?:import [\w.]+|from [\w.]+ import .*|class \w+.*:|def \w+\(.*:)[ \t]*$": (
        "a Python program; `becalm run SCENARIO --response FILE:CLASS` uses a scheme in it"
    ),
    r"\A[\w.-]+:(?: \S.*)?\n(?:[\w.-]+:| +[\w-])": "YAML",
    r"\A[^,\n]+(?:,[^,\n]*)+\n[^,\n]*(?:,[^,\n]*)+(?:\n|\Z)": "a table of values between commas (CSV)",
    CONFIGURATION.sign.pattern: "a configuration of OpenSM; `becalm check FILE` reads it",
}
"""Signs of text files without blank lines, in the order of search; what such a file is, and what reads it."""
_BARE = (TOML, "YAML")
"""Kinds of files whose comments have no meaning, but some tools write their signs behind a `#`."""


def check(path: str | PathLike[str], wanted: Wanted) -> None:
    """Refuse a file of another kind, in one sentence.

    An empty file, and one with a wanted line, are left to the reader, which names their lines.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: a file of another kind.

    """
    if (other := looks(path, wanted)) is not None:
        step = "" if ";" in other else f"; valid: {wanted.valid}"
        raise ScenarioError(f"{path}: is not {wanted.what}; it looks like {other}{step}", str(path))


def looks(path: str | PathLike[str], wanted: Wanted) -> str | None:
    """Return what a file of another kind looks like, and what reads it.

    None for a file that is empty but for comments, and for one with a wanted line.

    Raises:
        FileNotFoundError: no such file.

    """
    with Path(path).open("rb") as file:
        data = file.read(LOOKED_AT)
    binary = next((what for first, what in _BINARY.items() if data.startswith(first)), None)
    if binary is None and b"\0" in data:
        binary = "a binary file"
    if binary is not None:
        return binary
    text = data.decode("utf-8-sig", errors="replace")
    lines = _lines(text)
    if all(line.startswith("#") for line in lines) or wanted.sign.search("\n".join(lines)):
        return None
    found = _json(Path(path), text) if _is_json(text) else _kind(lines)
    if found is None:
        return f"{NOTHING}: it begins with `{printable(lines[0].strip()[:60])}`"
    return found.replace("FILE", shlex.quote(str(path)))


def which(path: str | PathLike[str], kinds: Iterable[Wanted]) -> Wanted | None:
    """Return the first kind that a file is of, by its lines; None if it is of none.

    Raises:
        FileNotFoundError: no such file.

    """
    with Path(path).open("rb") as file:
        text = "\n".join(_lines(file.read(LOOKED_AT).decode("utf-8-sig", errors="replace")))
    return next((kind for kind in kinds if kind.sign.search(text)), None)


def _lines(text: str) -> list[str]:
    """Return the lines that are not empty, as far as they are looked at."""
    return [cut for line in text.splitlines() if (cut := line[:LINE_LOOKED_AT].rstrip())]


def _kind(lines: list[str]) -> str | None:
    """Return what lines of text look like, and what reads them."""
    text = "\n".join(lines)
    bare = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    for sign, what in _TEXT.items():
        if re.search(sign, bare if what in _BARE else text, re.MULTILINE):
            return _toml(text) if what == TOML else what
    return None


def _toml(text: str) -> str:
    """Return which file of becalm a TOML text is, if it is one other than a scenario."""
    try:
        found = kind_of(tomllib.loads(text))
    except (RecursionError, ValueError):
        return TOML
    return TOML if found is None else f"a {found[0]} of becalm; `{found[1]} FILE` runs it"


def _json(path: Path, text: str) -> str:
    """Return what a file of JSON is. Each folder that becalm writes has an index with becalm's version."""
    if re.match(r'\s*\{\s*"becalm":', text):
        return f"the index of a folder that becalm wrote; valid: {printable(str(path.parent))}"
    return "JSON"


def _is_json(text: str) -> bool:
    """Return whether a text is JSON, or begins as JSON if it was cut."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return re.match(r'\s*[{\[]\s*(?:[{\["]|$)', text) is not None and '":' in text[:4096]
    return True
