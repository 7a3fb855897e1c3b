"""Writes the generated pages: schemes, scenario keys, result columns, and the output of examples.

`python tools/generate.py` writes them; the tests compare them with what is there.
"""

from __future__ import annotations

import json
from pathlib import Path

import examples
import validation

import becalm
from becalm import _core
from becalm.contents import Entry, Parameter, catalogue, default, expects
from becalm.explanations.page import page as rules_page
from becalm.tables import REPLICATION, SCHEMA

DOCS = Path(__file__).parents[1] / "docs"
STUBS = Path(__file__).parents[1] / "python/becalm/attributes.pyi"
SCHEMES = {
    "marking": "which packets switches mark",
    "echo": "how destinations answer a mark",
    "response": "how sources respond",
}
CHOICES = {
    "topologies": ("topology", "Nodes and cables: exactly one of these tables."),
    "patterns": ("flows.pattern", "Who sends to whom among the hosts in `from`: one of these tables."),
    "collectives": ("jobs.collective", "A collective operation of all ranks: one of these tables."),
    "arbiters": ("switch.arbiter", "Who gets a free output: one of these tables."),
    "paths": ("switch.paths", "Which of several equal ports a packet takes: one of these tables."),
    "flow_controls": (
        "switch.flow_control",
        "What keeps a sender from overflowing the next buffer: one of these tables.",
    ),
    "thresholds": (
        "switch.flow_control.pfc.thresholds",
        "When a buffer pauses its sender, and when it lets the sender resume: one of these tables.",
    ),
    "traffic": ("flows.traffic", "When and how much the flows of a group send: one of these tables."),
}

LISTS = ("flows", "jobs", "jobs.ops")
"""Sections of which a scenario may have several."""


def pages() -> dict[str, str]:
    """Return the text of every generated file by its path below `docs`."""
    made = {"scenario.md": scenario(), "scenario.schema.json": schema(), "schemes/README.md": index()}
    made["results.md"] = results()
    made["explain.md"] = rules_page()
    made |= validation.made()
    for kind in SCHEMES:
        for entry in catalogue()[kind]:
            made[f"schemes/{kind}.{entry.name}.md"] = scheme(kind, entry)
    return made


def index() -> str:
    """Return the list of all schemes."""
    lines = ["# Schemes", "", "One page per scheme, written by `make docs` from the schemes' own files."]
    for kind, meaning in SCHEMES.items():
        lines += ["", f"## `[{kind}.*]`: {meaning}", "", "| scheme | what it does |", "|---|---|"]
        lines += [
            f"| [`{entry.name}`]({kind}.{entry.name}.md) | {entry.summary}. |" for entry in catalogue()[kind]
        ]
    return "\n".join(lines) + "\n"


def scheme(kind: str, entry: Entry) -> str:
    """Return the page of a scheme."""
    lines = [f"# `[{kind}.{entry.name}]`", "", demoted(entry.doc)]
    if entry.parameters:
        lines += ["", "## Keys", "", *keys(entry.parameters)]
    return "\n".join(lines) + "\n"


def scenario() -> str:
    """Return the reference of all keys of a scenario."""
    lines = [
        "# The keys of a scenario",
        "",
        "Written by `make docs` from the declarations that scenarios are checked against. Editors that",
        "understand JSON Schema can use [scenario.schema.json](scenario.schema.json).",
    ]
    for entry in catalogue()["sections"]:
        name = f"[[{entry.name}]]" if entry.name in LISTS else f"[{entry.name}]"
        lines += ["", f"## `{name}`", "", entry.doc, "", *keys(entry.parameters)]
    for kind, (table, meaning) in CHOICES.items():
        lines += ["", f"## `[{table}.*]`", "", meaning]
        for entry in catalogue()[kind]:
            lines += ["", f"### `[{table}.{entry.name}]`", "", demoted(entry.doc)]
            lines += ["", *keys(entry.parameters)] if entry.parameters else []
    lines += ["", "## `[marking.*]`, `[echo.*]`, `[response.*]`", "", "See [schemes](schemes/README.md)."]
    return "\n".join(lines) + "\n"


def results() -> str:
    """Return the dictionary of all tables of results and their columns."""
    lines = [
        "# The columns of results",
        "",
        "Written by `make docs` from the declarations that the core makes its tables by. All tables but",
        "those with times of their own cover the measured window, from `run.warmup` to `run.duration`.",
        "Rates are bytes on the wire per second, with headers. [model.md](model.md#what-is-measured)",
        "describes how things are counted.",
        "",
        f"Every table has the column `replication`: {REPLICATION[0].lower()}{REPLICATION[1:]}",
        "",
        'In JSON, infinity is the text `"inf"` and what is not a number is `null`. The command line and',
        "reports show a dash for a share above 1, which has no meaning.",
    ]
    for table in SCHEMA.values():
        lines += ["", f"## `{table.name}`", "", table.rows]
        if table.asked_by:
            key, comma, more = table.asked_by.partition(", ")
            lines += ["", f"Runs have it with `{key}`{comma}{more}."]
        lines += ["", "| column | kind | unit | meaning |", "|---|---|---|---|"]
        columns = table.columns.values()
        lines += [f"| `{each.name}` | {each.kind} | {each.unit} | {each.meaning} |" for each in columns]
    return "\n".join(lines) + "\n"


def stubs() -> str:
    """Return the types of the tables of results, as attributes."""
    lines = [
        '"""The tables of results as attributes, written by `make docs`."""',
        "",
        "import polars as pl",
        "",
        "class Tables:",
        "    def table(self, name: str) -> pl.DataFrame: ...",
    ]
    # Frames are arrays there.
    for table in (each for each in SCHEMA.values() if each.name not in vars(becalm.Results)):
        lines += ["    @property", f"    def {table.name}(self) -> pl.DataFrame: ..."]
    return "\n".join(lines) + "\n"


def schema() -> str:
    """Return the JSON Schema of scenarios."""
    return json.dumps(json.loads(_core.json_schema()), indent=2) + "\n"


def keys(parameters: list[Parameter]) -> list[str]:
    """Return the keys of a table, as a table."""
    lines = ["| key | value | default | what it does |", "|---|---|---|---|"]
    for each in parameters:
        known = default(each) if each["required"] or each["default"] is None else f"`{default(each)}`"
        cells = (f"`{each['name']}`", expects(each), known, " ".join(each["help"].split()))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def demoted(text: str) -> str:
    """Return Markdown with its headings one level down."""
    return "\n".join(f"#{line}" if line.startswith("#") else line for line in text.splitlines())


def main() -> None:
    """Write all pages, and remove pages of schemes that are gone."""
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
