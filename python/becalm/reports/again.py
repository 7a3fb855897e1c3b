"""File name and commands to reproduce what a page shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from becalm.base.errors import ScenarioError
from becalm.results import Results
from becalm.scenario import Scenario

MOST_TEXT = 40_000
"""Maximum length of a scenario on a page. Longer scenarios have no commands."""
FILE_KEYS = ("cdf", "goal", "chakra")
"""Keys whose values are paths of files."""


def again(results: Results, replication: int | None = None) -> dict[str, Any]:
    """Return instructions to run a scenario again: `{"file", "commands", "note"}`; no file if it is too long.

    Args:
        results: results of the run.
        replication: the only replication on the page; None: all.

    """
    scenario = results.scenario
    text = scenario.to_toml()
    file = file_name(scenario.name)
    if len(text) > MOST_TEXT:
        note = (
            f"The scenario has {len(text):,} characters, too many for this page. Use the copy in the results "
            "folder."
        )
        return {"file": "", "commands": [], "note": note}
    stem = PurePath(file).stem
    page = shlex.quote(f"{stem}.html")
    commands = [f"becalm run {shlex.quote(file)} --report {page}"]
    if replication is not None:
        folder = shlex.quote(f"results/{stem}")
        commands = [
            f"becalm run {shlex.quote(file)} --out {folder}",
            f"becalm report {folder} --replication {replication} --out {page}",
        ]
    prints = [each.fingerprint for each in results.replications if replication in (None, each.replication)]
    word = "fingerprint" if len(prints) == 1 else "fingerprints"
    note = f"The same version of becalm produces the same {word}: {', '.join(prints)}."
    if named := sorted(set(_named_files(scenario))):
        note += f" The scenario reads these files, which must be next to it: {', '.join(named)}."
    return {"file": file, "commands": [*commands, f"becalm play {shlex.quote(file)}"], "note": note}


def again_sweep(file: Path, base: Scenario) -> dict[str, Any]:
    """Return instructions to run a sweep again, like `again`; `base` is the scenario that it changes."""
    name = file_name(file.name)
    quoted = shlex.quote(name)
    changed = PurePath(base.name).name
    note = f"The sweep changes the scenario {changed}. Its store keeps finished runs."
    return {"file": name, "commands": [f"becalm sweep {quoted}", f"becalm report {quoted}"], "note": note}


def _named_files(scenario: Scenario) -> Iterator[str]:
    try:
        open_: list[Any] = [scenario.data()]
    except ScenarioError:
        # The core accepts newer TOML than Python does.
        return
    while open_:
        item = open_.pop()
        if isinstance(item, dict):
            yield from (value for key, value in item.items() if key in FILE_KEYS and isinstance(value, str))
        open_ += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()


def file_name(name: str) -> str:
    """Return the name of a scenario's file, with only characters that every system accepts."""
    stem = PurePath(name).name.removesuffix(".toml")
    plain = re.sub(r"[^\w.-]+", "_", stem, flags=re.ASCII).strip("._")
    return f"{plain or 'scenario'}.toml"
