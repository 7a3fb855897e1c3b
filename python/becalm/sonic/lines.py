"""The line of each key of a JSON document, for messages."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n')

Path = tuple[str, ...]


def lines(text: str) -> tuple[dict[Path, int], list[Path]]:
    """Return the line of each key of a valid JSON document, by its path, and the paths that occur twice.

    Items of lists have no paths.
    """
    found: dict[Path, int] = {}
    twice: list[Path] = []
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
