"""Rules: named functions that read the tables of a run and yield sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from becalm.analysis.case import Case
from becalm.explanations.model import Sentence

Make = Callable[[Case], Iterator[Sentence]]


class Rule(NamedTuple):
    """A rule that writes sentences."""

    name: str
    topic: str
    """Part of the explanation that contains its sentences."""
    says: str
    """Description of the rule in Markdown, as in docs/explain.md."""
    make: Make


RULES: list[Rule] = []
"""The rules of the modules imported so far; importing `becalm.explanations.rules` registers all rules."""


def rule(name: str, topic: str) -> Callable[[Make], Make]:
    """Register a function as a rule; its docstring becomes the rule's description."""

    def added(make: Make) -> Make:
        RULES.append(Rule(name, topic, " ".join((make.__doc__ or "").split()), make))
        return make

    return added
