"""Rules: functions that read the tables of a run and yield sentences, each with a name and a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from becalm.analysis.case import Case
from becalm.explanations.model import Sentence

Make = Callable[[Case], Iterator[Sentence]]


class Rule(NamedTuple):
    """A rule by which sentences are made."""

    name: str
    topic: str
    """The part of the explanation that its sentences belong to."""
    says: str
    """What it says and when, in Markdown, as on the page of rules."""
    make: Make


RULES: list[Rule] = []
"""The rules of the modules that are imported; `becalm.explanations.rules` has all."""


def rule(name: str, topic: str) -> Callable[[Make], Make]:
    """Add a function to the rules under a name and topic; its docstring becomes its text on the page."""

    def added(make: Make) -> Make:
        RULES.append(Rule(name, topic, " ".join((make.__doc__ or "").split()), make))
        return make

    return added
