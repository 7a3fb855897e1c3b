"""Writes the pages on schemes, scenario keys and result columns, and the output of examples.

Run `python tools/generate.py`. The tests check that the pages are up to date.
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
    "topologies": ("topology", "Nodes and cables. A scenario has exactly one of these tables."),
    "patterns": ("flows.pattern", "Destinations among the hosts in `from`. Set one of these tables."),
    "collectives": ("jobs.collective", "A collective operation of all ranks. Set one of these tables."),
    "arbiters": (
        "switch.arbiter",
        "Choice of the input that sends to a free output. Set one of these tables.",
    ),
    "paths": ("switch.paths", "Choice among a packet's equal output ports. Set one of these tables."),
    "flow_controls": (
        "switch.flow_control",
        "Protection of the next buffer from overflow. Set one of these tables.",
    ),
    "thresholds": (
        "switch.flow_control.pfc.thresholds",
        "Levels at which a buffer pauses and resumes its sender. Set one of these tables.",
    ),
    "faults": ("faults.kind", "What breaks. Set one of these tables."),
    "traffic": (
        "flows.traffic",
        "Timing and size of the messages in a group's flows. Set one of these tables.",
    ),
}

LISTS = ("flows", "jobs", "jobs.ops", "changes", "faults")
"""Sections that a scenario may contain several times."""


def pages() -> dict[str, str]:
    """Return the text of each generated file, by its path below `docs`."""
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
    lines = [
        "# Schemes",
        "",
        "Each scheme has a page. `make docs` writes these pages from the schemes' source files.",
    ]
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
    """Return the reference of all scenario keys."""
    lines = [
        "# The keys of a scenario",
        "",
        "`make docs` generates this page from the declarations that also validate scenarios. Editors that",
        "support JSON Schema can use [scenario.schema.json](scenario.schema.json).",
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
    ]
    for table in SCHEMA.values():
        lines += ["", f"## `{table.name}`", "", table.rows]
        if table.asked_by:
            key, comma, more = table.asked_by.partition(", ")
            lines += ["", f"Requires `{key}`{comma}{more}."]
        lines += ["", "| column | kind | unit | meaning |", "|---|---|---|---|"]
        columns = table.columns.values()
        lines += [f"| `{each.name}` | {each.kind} | {each.unit} | {each.meaning} |" for each in columns]
    return "\n".join(lines) + "\n"


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
    """Return a scenario table's keys as a Markdown table."""
    lines = ["| key | value | default | what it does |", "|---|---|---|---|"]
    for each in parameters:
        known = default(each) if each["required"] or each["default"] is None else f"`{default(each)}`"
        cells = (f"`{each['name']}`", expects(each), known, " ".join(each["help"].split()))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


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
