"""Findings of checks: what is wrong with a value in a configuration, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from becalm.base.mistakes import printable, short

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From worst to best. An error loses or stops traffic, or never works; a note needs no action."""

NAMED = 3
"""Number of ports or other things that a message names."""


class Finding(NamedTuple):
    """A finding about a value of a configuration."""

    severity: Severity
    file: str
    line: int | None
    """Its line in the file, from 1; None if the value is absent."""
    table: str
    """The table and the key of its row, such as `WRED_PROFILE|AZURE_LOSSLESS`, if any."""
    key: str
    value: str
    """The value as the file has it; empty if it is absent."""
    reason: str
    """What is wrong, with the numbers that show it."""
    cure: str
    """What would be right."""

    def message(self) -> str:
        """Return the finding as one line."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        what = " ".join(map(short, filter(None, (self.table, self.key, self.value))))
        return printable(f"{where}: {self.severity}: {what}: {self.reason}; valid: {self.cure}")


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by file and line, each once."""
    different = dict.fromkeys(findings)
    return sorted(different, key=lambda each: (each.file, each.line or 0, SEVERITIES.index(each.severity)))


def listed(names: Iterable[str]) -> str:
    """Return names as a text: the first ones, and the number of the others."""
    every = list(names)
    more = len(every) - NAMED
    return ", ".join(every) if more <= 1 else f"{', '.join(every[:NAMED])} and {more} more"
