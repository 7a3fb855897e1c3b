"""The nodes and GPUs to which hosts belong, in scenarios whose nodes have several adapters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from becalm.scenario import Scenario

_WORD = re.compile(r"[\w.:-]+")


def owners(scenario: Scenario) -> dict[str, str]:
    """Return the owner of each adapter in words, by its host: `GPU 1 of node N0`; empty without nodes."""
    return dict(scenario.core.owners())


def named(text: str, owner_of: Mapping[str, str]) -> str:
    """Add the owner to the first adapter that a text names, except in text for copying."""
    said = text.split("`")
    for place in range(0, len(said), 2):
        for match in _WORD.finditer(said[place]):
            host = match[0].rstrip(".:-")
            if host in owner_of:
                end = match.start() + len(host)
                said[place] = f"{said[place][:end]} ({owner_of[host]}){said[place][end:]}"
                return "`".join(said)
    return text
