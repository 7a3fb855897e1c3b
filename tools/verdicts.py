"""Compares verdicts on the claims of all papers with those in `docs/reproductions`.

    python tools/verdicts.py FOLDER         a folder written by `python tools/reproductions.py FOLDER`
    python tools/verdicts.py FOLDER --part  a folder with only some of the experiments

This prints each claim whose verdict, or null's verdict, has changed, and each claim that occurs in only one
of the two folders. The exit code is then 1. It also counts claims whose values have changed. Runs are
deterministic on all machines, so a changed value means that the model has changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs" / "reproductions"
Claims = dict[str, dict[str, Any]]


def claims(folder: Path) -> Claims:
    """Return all claims in a folder by paper, figure and name."""
    return {
        f"{figure['id']}/{claim['id']}": claim
        for file in sorted(folder.glob("*/verdicts.json"))
        for figure in json.loads(file.read_text())
        for claim in figure["claims"]
    }


def differences(old: Claims, new: Claims) -> Iterator[str]:
    """Yield a line for each claim whose verdicts differ."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name}: was {old[name]['verdict']}, and was not judged"
        elif name not in old:
            yield f"{name}: {new[name]['verdict']}, and was not judged before"
        elif _verdicts(old[name]) != _verdicts(new[name]):
            before, after = (f"{_verdicts(each[name])} with {each[name]['mean']}" for each in (old, new))
            yield f"{name}: was {before}, is {after}"


def _verdicts(claim: dict[str, Any]) -> str:
    """Return the verdicts of a claim and its null."""
    null = claim.get("null", {}).get("verdict")
    return f"{claim['verdict']} (null {null})" if null else str(claim["verdict"])


def main() -> None:
    """Compare the verdicts in a folder with the committed ones."""
    old, new = claims(DOCS), claims(Path(sys.argv[1]))
    if "--part" in sys.argv:
        figures = {name.rpartition("/")[0] for name in new}
        old = {name: claim for name, claim in old.items() if name.rpartition("/")[0] in figures}
    found = list(differences(old, new))
    other = sum(old[name]["values"] != new[name]["values"] for name in old.keys() & new.keys())
    print("\n".join([*found, f"{len(new)} claims, {len(found)} other verdicts, {other} other values"]))
    sys.exit(1 if found or not new else 0)


if __name__ == "__main__":
    main()
