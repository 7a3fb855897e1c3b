"""Writes the pages on schemes, scenario keys and result columns, and the output of examples.

Run `python tools/generate.py`. The tests check that the pages are up to date.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from pathlib import Path

import examples
import validation
from markers import between_markers
from rules_page import rules

import becalm
from becalm import _core
from becalm.results.tables import REPLICATION, SCHEMA, Column, Schema
from becalm.scenario.contents import Entry, Parameter, catalogue, default, expects

DOCS = Path(__file__).parents[1] / "docs"
STUBS = Path(__file__).parents[1] / "python/becalm/results/attributes.pyi"
SCHEMES = {
    "marking": "which packets switches mark",
    "echo": "how destinations answer a mark",
    "response": "how sources respond",
}
CHOICES = {
    "topologies": ("topology", "Nodes and cables."),
    "patterns": ("flows.pattern", "Destinations among the hosts in `from`."),
    "collectives": ("jobs.collective", "A collective operation of all ranks."),
    "arbiters": ("switch.arbiter", "Choice of the input that sends to a free output."),
    "paths": ("switch.paths", "Choice among a packet's equal output ports."),
    "flow_controls": ("switch.flow_control", "Protection of the next buffer from overflow."),
    "thresholds": (
        "switch.flow_control.pfc.thresholds",
        "Levels at which a buffer pauses and resumes its sender.",
    ),
    "faults": ("faults.kind", "What breaks."),
    "traffic": ("flows.traffic", "Timing and size of the messages in a group's flows."),
}

LISTS = ("flows", "jobs", "jobs.ops", "jobs.step.slow", "changes", "faults")
"""Sections that a scenario may contain several times."""
_KINDS = {
    ", ".join(entry.name for entry in entries): CHOICES[kind][0] if kind in CHOICES else kind
    for kind, entries in catalogue().items()
}
"""The tables of each kind of choice, by their names."""
_SECTIONS = {
    ", ".join(each["name"] for each in entry.parameters): entry.name for entry in catalogue()["sections"]
}
"""The sections by their keys."""
_ITEM = re.compile(r"^- .*(?:\n  (?!- )\S.*)*", re.MULTILINE)
ENDS = ("from", "from_port", "to", "vl", "switch", "port", "peer")
"""Columns that name a link, an output or a buffer, in tables with ports."""
OFTEN = 3
"""Number of tables of a kind from which on a key that they share is described once."""

TERMS = {
    'a time with its unit, such as "40 ns" or "2 ms"': "time",
    'a rate with its unit, such as "1 GB/s" or "100 Gb/s"': "rate",
    'a whole number of bytes with its unit, such as "2048 B" or "64 KiB"': "size",
    "an integer": "integer",
    "a finite number": "number",
    "a string": "string",
    'a number of packets between 1 and 1000000, or "unlimited"': 'integer from 1, or "unlimited"',
}
"""Words for values of a key, which pages use instead of descriptions in messages."""


def _range(found: re.Match[str]) -> str:
    """Return a range of values as pages show it: not at all if its limits are only technical."""
    technical = re.compile(r"\d{4,}|e-|\d (?:s|B|MiB)$")
    return "" if any(technical.search(end) for end in found.groups()) else f" {found[1]} to {found[2]}"


_SHORTER = (
    (r"a list, each item (?:an? )?(\w+)", r"list of \1s"),
    (r"list of lists, each item (?:an? )?(\w+)", r"list of lists of \1s"),
    (r"^the path of a file with .*", "path"),
    (r"^the path of a (?:\w+ )*(without \S+), such as \S+", r"path \1,"),
    (r"^a number of packets, slots or bytes with its unit, such as ", ""),
    (r"(table)(s?) with the keys", r"\1\2:"),
    (r"^a table", "table"),
    (r"^table with one sub-table, named", "one table:"),
    (r"; or a measured", ", a measured"),
    (r",? or ", ", "),
    (r",? at (?:least|most) 1 (?:ps|s|B)\b", ""),
    (r"(integers?),? (?:between 0 and 4294967295|0, more)", r"\1"),
    (r"a number of packets between \S+ and \d+", "packets"),
    (r"(?:an? )?(?:integer|number) (?=between)", ""),
    (r",? ?between ([\w.-]+(?: [A-Za-z]+)?) and ([\w.-]+(?: [A-Za-z]+)?)", _range),
)
"""Patterns in descriptions of values, and what pages say instead."""
CITED = {
    "Santos 2002": 'J. R. Santos, Y. Turner, G. Janakiraman, "Evaluation of Congestion Detection Mechanisms '
    'for InfiniBand Switches", GLOBECOM 2002',
    "Santos 2003": 'J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", '
    "INFOCOM 2003",
    "Ramakrishnan and Jain 1990": 'K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion '
    'Avoidance in Computer Networks", ACM Transactions on Computer Systems 8(2), 1990',
    "Pfister 2005": 'G. Pfister et al., "Solving Hot Spot Contention Using InfiniBand Architecture '
    'Congestion Control", HPI-DC 2005',
    "Gran 2010": 'E. G. Gran et al., "First Experiences with Congestion Control in InfiniBand Hardware", '
    "IPDPS 2010",
    "IBTA": "InfiniBand Architecture Specification, Volume 1, Release 1.2.1",
    "DCTCP": 'M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010',
    "Zhu 2015": 'Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015',
    "HPCC": 'Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019',
}
"""Sources of several schemes; the index has the full citation."""
_HEAD = re.compile(r"^- ((?:`\w+`, )*`\w+`): ", re.MULTILINE)
"""Names at the beginning of an item in a scheme's section of parameters."""


def pages() -> dict[str, str]:
    """Return the text of each generated file, by its path below `docs`."""
    made = {"scenario.md": scenario(), "scenario.schema.json": schema(), "schemes/README.md": index()}
    made["results.md"] = results()
    made["explain.md"] = between_markers((DOCS / "explain.md").read_text(), "rules", rules())
    made |= validation.made()
    for kind in SCHEMES:
        for entry in catalogue()[kind]:
            made[f"schemes/{kind}.{entry.name}.md"] = scheme(kind, entry)
    return made


def index() -> str:
    """Return the list of all schemes."""
    lines = [
        "# Schemes",
        "",
        "Each scheme has a page, written from its source file. Parentheses contain the values of a key and,",
        "after a semicolon, its default.",
    ]
    for kind, meaning in SCHEMES.items():
        lines += ["", f"## `[{kind}.*]`: {meaning}", ""]
        for entry in catalogue()[kind]:
            lines.append(_filled(f"- [`{entry.name}`]({kind}.{entry.name}.md): {entry.summary}."))
    lines += ["", "## Sources", "", *(_filled(f"- *{short}*: {full}.") for short, full in CITED.items())]
    return "\n".join(lines) + "\n"


def scheme(kind: str, entry: Entry) -> str:
    """Return the page of a scheme, with the value and default of each key in the section of parameters."""
    known = {each["name"]: each for each in entry.parameters}
    # What a scheme does follows its name without another heading.
    doc = entry.doc.replace("# What it does\n", "").replace(
        "# Departures from the source\n", "# Departures\n"
    )

    def described(found: re.Match[str]) -> str:
        names = re.findall(r"\w+", found[1])
        if found.string.startswith("as for", found.end()):
            return found[0]
        return f"- {', '.join(f'`{name}`{_value(known[name])}' for name in names)}: "

    # The index has the summary, which is the first paragraph.
    text = demoted(doc).partition("\n\n")[2]
    for short, full in CITED.items():
        text = re.sub(r"\s+".join(map(re.escape, full.split())), f"[{short}](README.md#sources)", text)
    before, title, rest = text.partition("## Parameters\n")
    before, source, cited = before.partition("## Source\n")
    before += source + "\n\n".join(
        part if part.startswith(("- ", "|")) else textwrap.fill(" ".join(part.split()), 110)
        for part in cited.split("\n\n")
    )
    parameters, after, rest = rest.partition("\n## ")
    told = {name for heads in _HEAD.findall(parameters) for name in re.findall(r"\w+", heads)}
    parameters = _ITEM.sub(lambda item: _filled(_HEAD.sub(described, item[0])), parameters).strip()
    untold = keys([each for each in entry.parameters if each["name"] not in told])
    text = f"{before}{title}{parameters}\n" + "".join(f"{line}\n" for line in untold) + f"{after}{rest}"
    text = re.sub(r"\n## (Parameters|Departures)\nNone\.\n(?=\n|$)", "", f"{text.strip()}\n")
    return f"# `[{kind}.{entry.name}]`\n\n{text}".replace("; default `", "; `")


def scenario() -> str:
    """Return the reference of all scenario keys."""
    lines = [
        "# The keys of a scenario",
        "",
        "`make docs` generates this page from the declarations that also validate scenarios. Editors that",
        "support JSON Schema can use [scenario.schema.json](scenario.schema.json), which has all limits. Set",
        "one of the tables under a heading such as `[topology.*]`. Parentheses contain the values of a key",
        "and, after a semicolon, its default:",
        "",
        *(f"- *{term}*: {meaning}" for meaning, term in TERMS.items() if "unit" in meaning),
    ]
    for entry in catalogue()["sections"]:
        lines += ["", f"## `{_titled(entry.name)}`", "", entry.doc, "", *keys(entry.parameters)]
    for kind, (table, meaning) in CHOICES.items():
        lines += ["", f"## `[{table}.*]`", "", meaning, *_choices(table, catalogue()[kind])]
    lines += ["", "## `[marking.*]`, `[echo.*]`, `[response.*]`", "", "See [schemes](schemes/README.md)."]
    return "\n".join(lines).replace("; default `", "; `") + "\n"


def _titled(section: str) -> str:
    return f"[[{section}]]" if section in LISTS else f"[{section}]"


def _choices(table: str, entries: list[Entry]) -> list[str]:
    """Return the description of each table of a kind, and the keys that several of them have, only once."""
    written = [(entry, dict(zip(_names(entry), keys(entry.parameters), strict=True))) for entry in entries]
    often = {line for line, count in Counter(_lines(written)).items() if count >= OFTEN}
    lines = ["", "Keys of several tables:", "", *dict.fromkeys(x for x in _lines(written) if x in often)]
    lines = lines if often else []
    for entry, described in written:
        lines += ["", f"### `[{table}.{entry.name}]`", "", demoted(entry.doc)]
        own = [line for line in described.values() if line not in often]
        lines += ["", *own] if own else []
        also = ", ".join(f"`{name}`" for name, line in described.items() if line in often)
        lines += ["", f"Also {also}."] if also else []
    return lines


def _names(entry: Entry) -> list[str]:
    return [each["name"] for each in entry.parameters]


def _lines(written: list[tuple[Entry, dict[str, str]]]) -> list[str]:
    return [line for _, described in written for line in described.values()]


def results() -> str:
    """Return the reference of all result tables and their columns."""
    lines = [
        "# The columns of results",
        "",
        "`make docs` writes this page from the declarations of the core's tables. Tables without a time",
        "column cover the measured window, from `run.warmup` to `run.duration`. Rates are bytes on the",
        "wire per second, including headers. [model.md](model.md#what-is-measured) describes how",
        "quantities are measured.",
        "",
        f"Every table also has the column `replication`: the {REPLICATION[0].lower()}{REPLICATION[1:]}",
        "",
        'In JSON, infinity is the string `"inf"`, and NaN is `null`. Shares above 1 have no meaning, so the',
        "command line and reports show a dash instead.",
        "",
        "Tables of links, outputs and buffers name the sending node and its port (`from`, `from_port`),",
        "the receiving node (`to`) and the virtual lane (`vl`), or the `switch`, its `port` and the `peer`",
        "at the other end of the cable. `_p50` after `latency_mean` stands for `latency_p50`, and so on.",
        "Other columns of several tables:",
        "",
    ]
    often = _often()
    lines += often
    for table in SCHEMA.values():
        key, comma, more = table.asked_by.partition(", ")
        needs = f" Requires `{key}`{comma}{more}." if key else ""
        described = _columns(table)
        ends = [f"`{name}`" for name in table.columns if _is_end(name, table)]
        shared = ", ".join([*ends, *(_shared(line) for line in described if line in often)])
        also = f" Shared columns: {shared}." if shared else ""
        lines += ["", f"## `{table.name}`", "", textwrap.fill(table.rows + needs + also, 110)]
        own = [line for line in described if line not in often]
        lines += ["", *own] if own else []
    return "\n".join(lines) + "\n"


def _often() -> list[str]:
    """Return the lines of columns that several tables have; for each name, only the most frequent."""
    counts = Counter(line for table in SCHEMA.values() for line in _columns(table))
    first: dict[str, str] = {}
    for line, count in counts.most_common():
        if count > 1:
            first.setdefault(line.split()[1].rstrip(",:"), line)
    return list(first.values())


def _is_end(name: str, table: Schema) -> bool:
    """Return whether a column is a part of the name of a link, an output or a buffer."""
    return name in ENDS and not {"port", "from_port"}.isdisjoint(table.columns)


def _shared(line: str) -> str:
    """Return the names in the line of a shared column."""
    first = line.split()[1].rstrip(":")
    return f"{first[:-1].rpartition('_')[0]}_*`" if first.endswith(",") else first


def _says(column: Column, unit: str) -> bool:
    """Return whether a column's name or meaning already says what is counted, such as packets."""
    return len(unit) > len("GiB") and unit in f"{column.name} {column.meaning}".lower()


def _columns(table: Schema) -> list[str]:
    """Return a line for each column of a table; percentiles share the line of their mean or median."""
    lines: list[str] = []
    column: Column | None = None
    more: list[str] = []

    def flush() -> None:
        if column:
            others = "".join(f", `{name}`" for name in more)
            unit = f" ({column.unit})" if column.unit and not _says(column, column.unit) else ""
            lines.append(_filled(f"- `{column.name}`{others}{unit}: {column.meaning}"))

    for each in (each for each in table.columns.values() if not _is_end(each.name, table)):
        stem = column.name.rpartition("_")[0] if column else ""
        if stem and re.fullmatch(rf"{stem}_(p\d+|max)", each.name):
            more.append(each.name.removeprefix(stem))
        elif column and each.name == f"{column.name}_bytes" and each.meaning == "Bytes of these packets.":
            more.append(each.name)
        else:
            flush()
            column, more = each, []
    flush()
    return lines


def stubs() -> str:
    """Return type stubs for result tables as attributes."""
    lines = [
        '"""Result tables as attributes, written by `make docs`."""',
        "",
        "import polars as pl",
        "",
        "class Tables:",
        "    def table(self, name: str) -> pl.DataFrame: ...",
    ]
    # `Results` itself defines some of them, such as frames, which are arrays.
    for table in (each for each in SCHEMA.values() if each.name not in vars(becalm.Results)):
        lines += ["    @property", f"    def {table.name}(self) -> pl.DataFrame: ..."]
    return "\n".join(lines) + "\n"


def schema() -> str:
    """Return the JSON Schema of scenarios."""
    return json.dumps(json.loads(_core.json_schema()), indent=2) + "\n"


def keys(parameters: list[Parameter]) -> list[str]:
    """Return a scenario table's keys as items of a Markdown list."""
    return [_filled(f"- `{each['name']}`{_value(each)}: {each['help']}") for each in parameters]


def _value(parameter: Parameter) -> str:
    """Return the valid values and the default of a key, in parentheses."""
    values, known = expects(parameter), f"default `{default(parameter)}`"
    for meaning, term in TERMS.items():
        values = values.replace(meaning, term)
    for pattern, shorter in _SHORTER:
        values = re.sub(pattern, shorter, values).strip()
    if (one := re.fullmatch(r"one table: (.*)", values)) and (table := _KINDS.get(one[1])):
        values = f"one of `[{table}.*]`"
    if (own := re.search(r"(?:list of )?tables?: (.*)", values)) and (section := _SECTIONS.get(own[1])):
        return f" (`{_titled(section)}`)"
    if one and parameter["default"]:
        known = f"default `{next(iter(parameter['default']))}`"
    if parameter["required"]:
        known = "required"
    values = re.sub("^of the link", "share of the link", values.strip(" ,:"))
    if parameter["default"] is None and not parameter["required"]:
        return f" ({values})" if values else ""
    return f" ({known})" if isinstance(parameter["default"], bool) or not values else f" ({values}; {known})"


def _filled(item: str) -> str:
    """Return an item of a list in lines of 110 characters."""
    return textwrap.fill(
        " ".join(item.split()), 110, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def demoted(text: str) -> str:
    """Return Markdown with headings one level lower."""
    return "\n".join(f"#{line}" if line.startswith("#") else line for line in text.splitlines())


def main() -> None:
    """Write all pages, and delete pages of schemes that no longer exist."""
    made = pages()
    for old in (DOCS / "schemes").glob("*.md"):
        if f"schemes/{old.name}" not in made:
            old.unlink()
    for path, text in made.items():
        (DOCS / path).parent.mkdir(exist_ok=True)
        (DOCS / path).write_text(text)
    STUBS.write_text(stubs())
    for page in (examples.ROOT / name for name in examples.PAGES):
        page.write_text(examples.refreshed(page.read_text()))


if __name__ == "__main__":
    main()
