"""Files of other kinds than expected: what they look like, and what reads them."""

from __future__ import annotations

import json
import re
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from becalm.errors import ScenarioError
from becalm.opensm.keys import KEYS

LOOKED_AT = 1 << 20
"""Number of bytes of a file in which its kind must show."""


class Wanted(NamedTuple):
    """A kind of file that a command reads."""

    what: str
    sign: re.Pattern[str]
    """A line that every such file has."""


FABRIC = Wanted(
    "output of ibnetdiscover",
    re.compile(
        r'^(?:Switch|Ca|Hca|Rt)\s*\d{1,3}\s+"|^\[\d+\][^"\n]*"[^"\n]+"\[\d+\]'
        r"|^\s*(?:CA|SW|RT)\s+\d+\s+\d+\s+0x\w+\s+\S+\s+\S+\s+(?:-|')|^\s*\{ *(?:CA|SW|RT|Rt)\S* +Ports:",
        re.MULTILINE,
    ),
)
TABLES = Wanted(
    "forwarding tables", re.compile(r"^Unicast lids \[|dump_ucast_routes: *Switch ", re.MULTILINE)
)
COUNTERS = Wanted(
    "counters of ports",
    re.compile(
        r"^# Port (?:extended )?counters:|^\s*GUID 0x\w+ port |^Port=\d+ |^START_PM_INFO|^## Summary:"
        r"|^(?:Errors|Data Counters) for ",
        re.MULTILINE,
    ),
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

_CABLES = "`ibnetdiscover > FILE` lists the same cables for becalm"
_TEXT = {
    r"==\(.*\)==>": f"output of iblinkinfo; {_CABLES}",
    r"^(?:Ca|Switch|Rt)\s*: 0x\w+ ports \d+": f"a list of nodes, without cables; {_CABLES}",
    FABRIC.sign.pattern: "a list of cables; `becalm import FILE` reads it",
    TABLES.sign.pattern: "forwarding tables; `becalm import IBNETDISCOVER --lfts FILE` reads them",
    COUNTERS.sign.pattern: "counters of ports; `becalm counters IBNETDISCOVER FILE` reads them",
    r"^START_[A-Z_]+\s*$": "ibdiagnet's CSV; becalm reads its .lst, its .fdbs, and the counters in PM_INFO",
    r"^-I-|^-E-": "a log of ibdiagnet; becalm reads ibdiagnet's .lst and .fdbs",
    r"-\d+x-[\d.]+G->": f"a topology of ibdiagnet (.topo); {_CABLES}",
    r"^\d+ \d+ \d+(?: \d+)*\s*\n(?:[\d ]+\n)?(?:\d+ ){2}[\d.]+[GM]bps ": (
        "a topology of HPCC's ns-3 simulator, which reads it; becalm reads such a network as "
        "[topology.edges] of a scenario"
    ),
    r"^Nodes \d+\s*\n(?:Connections|Tiers) \d+": "a file of the simulator htsim, which reads it",
    r"^num_ranks \d+": "a GOAL schedule; [[jobs]] of a scenario reads it",
    r"^\s*(?:di)?graph\b[^\n]*\{": "a graph of Graphviz, whose `dot` reads it",
    r"^\s*<(?:\?xml|!DOCTYPE|html|svg)": "XML or HTML",
    r"^\[\[?(?:topology|flows|jobs|run|switch|adapter)\b": "a scenario of becalm; `becalm run FILE` reads it",
    r"^(?:simple|network|submodule|channel)\b.*\{?\s*$": "a network of OMNeT++ (NED), which reads it",
    r"^\[[\w.\"-]+\]\s*\n(?:\s*#.*\n)*\s*[\w.\"-]+ *=": "TOML",
    r"^(?:\s*#.*\n|\s*\n)*[\w.-]+:(?: \S.*)?\n(?:[\w.-]+:| +[\w-])": "YAML",
}
"""Signs of text files, searched for in this order, and what such a file is and what reads it."""


def check(path: str | PathLike[str], wanted: Wanted) -> None:
    """Refuse a file of another kind, in one sentence.

    An empty file, and one with a wanted line, are left to the reader, which names their lines.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: a file of another kind.

    """
    with Path(path).open("rb") as file:
        data = file.read(LOOKED_AT)
    binary = next((what for first, what in _BINARY.items() if data.startswith(first)), None)
    if binary is None and b"\0" in data:
        binary = "a binary file"
    if binary is not None:
        raise ScenarioError(f"{path}: is not {wanted.what}; it looks like {binary}", str(path))
    text = data.decode(errors="replace").replace("\r\n", "\n")
    if not text.strip() or wanted.sign.search(text):
        return
    looks = _kind(text)
    if looks is None:
        first = next(line.strip() for line in text.splitlines() if line.strip())
        looks = f"nothing that becalm knows: it begins with `{first[:60]}`"
    raise ScenarioError(f"{path}: is not {wanted.what}; it looks like {looks}", str(path))


def _kind(text: str) -> str | None:
    """Return what a text looks like, and what reads it."""
    if text.lstrip()[:1] in ("{", "[") and _is_json(text):
        return "JSON"
    for sign, what in _TEXT.items():
        if re.search(sign, text, re.MULTILINE):
            return what
    words = [line.split(None, 1)[0] for line in text.splitlines() if line.strip()]
    if any(word in KEYS for word in words):
        return "a configuration of OpenSM; `becalm check FILE` reads it"
    return None


def _is_json(text: str) -> bool:
    """Return whether a text is JSON, or begins as JSON if it was cut."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return re.match(r'\s*[{\[]\s*(?:[{\["]|$)', text) is not None and '":' in text[:4096]
    return True
