"""OpenSM's configuration, read as OpenSM 3.3.23 reads it: effective values and findings."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

from becalm.base.errors import ScenarioError
from becalm.base.findings import Finding, Severity
from becalm.base.mistakes import read_text
from becalm.opensm import foreign
from becalm.opensm.keys import KEYS
from becalm.opensm.values import REFUSED, SERVICE_LEVELS, read

NVIDIA = (
    "mlnx_congestion_control",
    "congestion_control_policy_file",
    "ppcc_algo_dir",
    "ar_mode",
    "shield_mode",
    "pgrp_policy_file",
    "sharp_enabled",
    "virt_enabled",
)
"""Keys that only NVIDIA's OpenSM knows."""

LONGEST_LINE = 1022
"""Bytes of a line that OpenSM reads at a time."""

LONGEST_SHOWN = 60
"""Characters of a value that a finding shows."""


class Place(NamedTuple):
    """The target of a line: a key, and for some keys a service level."""

    key: str
    level: int | None = None


class Setting(NamedTuple):
    """A value that OpenSM accepted, and its line."""

    value: Any
    line: int
    text: str


@dataclass
class Configuration:
    """A configuration as OpenSM has it after reading a file."""

    file: str
    settings: dict[Place, Setting] = field(default_factory=dict)
    """The file's values; the last one if a key has several."""
    findings: list[Finding] = field(default_factory=list)
    """Findings about single lines."""

    def value(self, key: str, level: int | None = None) -> Any:  # noqa: ANN401
        """Return the value of a key: the file's, or OpenSM's default if it has none."""
        found = self.settings.get(Place(key, level))
        return default(key) if found is None else found.value

    def levels(self, key: str) -> list[int]:
        """Return the values of a key for the service levels from 0 to 15."""
        return [self.value(key, level) for level in range(SERVICE_LEVELS)]

    def add(self, place: Place, does: str, valid: str, *, harmful: bool = False) -> None:
        """Add a finding about the value of a place.

        It is an error if the value can stop or starve traffic that is not even congested.
        """
        found = self.settings[place]
        self.tell(found.line, place.key, found.text, does, valid, severity="error" if harmful else "warning")

    def tell(
        self, line: int, key: str, text: str, does: str, valid: str, *, severity: Severity = "warning"
    ) -> None:
        """Add a finding about a line: OpenSM's reaction to it, and valid values."""
        reason = f"OpenSM {does}"
        self.findings.append(Finding(severity, self.file, line, "", shown(key), shown(text), reason, valid))


def default(key: str) -> Any:  # noqa: ANN401
    """Return OpenSM's default for a key."""
    kind, text = KEYS[key]
    if kind.startswith("sl"):
        return int(text)
    return read(key, text, lambda *_: None)


def shown(text: str) -> str:
    """Return a value for a finding, with unprintable characters escaped."""
    short = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in short)


def load(path: str | PathLike[str]) -> Configuration:
    """Read a configuration of OpenSM.

    Text that OpenSM would read differently is a finding, not an error.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: not a text file in UTF-8, or no line has a key of OpenSM, or the file belongs to
            NVIDIA's OpenSM.

    """
    text = read_text(path)
    keys = {key for key, _ in map(_split, text.split("\n"))}
    first = next((key for key in NVIDIA if key in keys), None)
    if first is not None:
        problem = (
            f"this is a configuration of NVIDIA's OpenSM ({first}), which sets up congestion control by its "
            "own policy files; becalm reads and writes that of the upstream OpenSM 3.3"
        )
        raise ScenarioError(f"{path}: {problem}", str(path))
    found = parse(text, str(path))
    if not found.settings and not any(finding.key in KEYS for finding in found.findings):
        foreign.check(path, foreign.CONFIGURATION)
        problem = "is not a configuration of OpenSM: no line has a key that OpenSM knows"
        raise ScenarioError(f"{path}: {problem}", str(path))
    return found


def parse(text: str, file: str) -> Configuration:
    """Read the text of a configuration, as `load` does; `file` is its name in messages."""
    made = Configuration(file)
    for number, line in enumerate(text.split("\n"), 1):
        pieces = list(_pieces(line))
        for place, piece in enumerate(pieces):
            key, value = _split(piece)
            if key and (place == 0 or key in KEYS):
                _take(made, number, key, value)
        if len(pieces) > 1:
            _tell_cut(made, number, line, pieces)
    return made


def _pieces(line: str) -> Iterator[str]:
    """Yield lines as OpenSM reads them: in pieces of its buffer's size."""
    data = line.encode()
    for start in range(0, max(len(data), 1), LONGEST_LINE):
        yield data[start : start + LONGEST_LINE].decode(errors="replace")


def _split(piece: str) -> tuple[str, str]:
    """Return key and value of a line, without comment, blanks and quotes around the value."""
    words = piece.partition("#")[0].strip().split(None, 1)
    value = words[1] if len(words) > 1 else ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return (words[0] if words else ""), value


def _tell_cut(made: Configuration, number: int, line: str, pieces: list[str]) -> None:
    key, value = _split(pieces[0])
    hidden = [first for first, _ in map(_split, pieces[1:]) if first in KEYS]
    also = f", where it finds `{hidden[0]}`" if hidden else ""
    does = (
        f"reads the first {LONGEST_LINE} of this line's {len(line.encode())} bytes, "
        f"and the rest as a separate line{also}"
    )
    valid = f"lines of at most {LONGEST_LINE} bytes"
    made.tell(number, key or "comment", value, does, valid)


def _take(made: Configuration, number: int, key: str, text: str) -> None:
    def tell(does: str, valid: str) -> None:
        made.tell(number, key, text, does, valid)

    if key not in KEYS:
        tell("does not know this key, and skips the line", _nearest(key))
        return
    value = read(key, text, tell)
    if value is REFUSED:
        return
    place = Place(key)
    if KEYS[key].kind.startswith("sl"):
        level, value = value
        place = Place(key, level)
    before = made.settings.get(place)
    if before is not None and before.value not in (value, default(key)):
        does = f"uses its value in line {number}: {shown(text) or 'nothing'}"
        made.add(place, does, "one line for a key, or for a key and service level")
    made.settings[place] = Setting(value, number, text)


def _nearest(key: str) -> str:
    """Return known keys that resemble an unknown one."""
    name = key.partition("=")[0].lower()
    if "=" in key and name in KEYS:
        return f"`{name} VALUE`, with a space and no equals sign"
    near = [name] if name in KEYS else difflib.get_close_matches(name, KEYS, n=3)
    return " or ".join(near) or "a key that `opensm -c FILE` writes"
