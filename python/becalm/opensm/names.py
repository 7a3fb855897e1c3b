"""Names of nodes: short, unique ones from the descriptions of a fabric; ranges of numbered names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

_NUMBERED = re.compile(r"(|.*[^0-9])(0|[1-9][0-9]{0,14})")
"""A name that ends in a number without leading zeros, as in ranges."""


def legal(text: str) -> str:
    """Return a text as a name: letters, digits, `_`, `-` and single dots; empty if none of them are left."""
    return re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9_.-]+", "_", text)).strip("_.")


def short(description: str) -> str:
    """Return the first word of a description; for a managed switch, `MF0;name:model/U1`, its name."""
    _, _, managed = description.partition(";")
    words = (managed.partition(":")[0] or description).split()
    return legal(words[0]) if words else ""


def different(candidates: Mapping[Node, Sequence[str]]) -> dict[Node, str]:
    """Give every node its first candidate that no other node has, or wants at the same stage.

    Nodes that want the same name all move on to their next candidates, so that none is mistaken for another.
    The last candidates must differ.
    """
    names: dict[Node, str] = {}
    taken: set[str] = {""}
    for stage in range(max(map(len, candidates.values()), default=0)):
        wanted = {node: each[stage] for node, each in candidates.items() if node not in names}
        counts = Counter(wanted.values())
        found = {node: name for node, name in wanted.items() if counts[name] == 1 and name not in taken}
        names |= found
        taken |= counts.keys()
    return {node: names[node] for node in candidates}


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts `host2` before `host10`."""
    parts = re.split(r"([0-9]+)", name)
    # Of two numbers without leading zeros, the longer is the larger.
    digits = [part.lstrip("0") for part in parts]
    return [(len(digits[i]), digits[i]) if i % 2 else (-1, part) for i, part in enumerate(parts)]


def ranges(names: Iterable[str]) -> list[str]:
    """Return names as scenarios list them: three or more in a row, `h1`, `h2`, `h3`, as `h1..h3`."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    written = ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else run for run in runs)
    return [text for texts in written for text in texts]


def count(name: str) -> int:
    """Return the number of names in an item of `ranges`."""
    first, _, last = (_NUMBERED.fullmatch(end) for end in name.partition(".."))
    return int(last[2]) - int(first[2]) + 1 if first and last else 1


def quoted(texts: list[str]) -> str:
    """Return names as a list in TOML, without its brackets."""
    return ", ".join(f'"{text}"' for text in ranges(texts))


def _follows(name: str, after: str) -> bool:
    return _next(name) == after


@cache
def _next(name: str) -> str | None:
    """Return the name after a numbered one."""
    found = _NUMBERED.fullmatch(name)
    return f"{found[1]}{int(found[2]) + 1}" if found else None
