"""Sentences of an explanation, each with its numbers and the table rows that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from becalm.analysis.reference import Reference

TOPICS: Mapping[str, str] = {
    "roots": "Roots of congestion",
    "feeders": "Who feeds them",
    "causes": "Causes",
    "victims": "Victims",
    "cost": "Cost",
    "control": "Congestion control",
    "advice": "What to try next",
    "missing": "What the results do not show",
}
"""Headings of the parts of an explanation, in order."""


@dataclass(frozen=True)
class Sentence:
    """One statement about a run, derived from its tables."""

    rule: str
    """Name of the rule that wrote it; docs/explain.md describes the rules."""
    topic: str
    """A key of `TOPICS`."""
    text: str
    """Plain text that ends with a full stop."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Numbers in the text: times in s, rates in B/s, shares from 0 to 1."""
    references: tuple[Reference, ...] = ()
    cause: str = ""
    """Cause that the sentence names, such as `hot host`; empty if it names none."""
    place: str = ""
    """Link, host or key that the sentence is about; empty for the entire run."""
    command: str = ""
    """Proposed command, without `becalm`."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        references = [
            {"key": each.key}
            if each.key
            else {"table": each.table, "rows": list(each.rows), "columns": list(each.columns)}
            for each in self.references
        ]
        return {**vars(self), "numbers": dict(self.numbers), "references": references}


@dataclass(frozen=True)
class Explanation:
    """All sentences about one replication of a run."""

    name: str
    """Name of the scenario."""
    replication: int
    sentences: tuple[Sentence, ...]
    verdict: str | None = None
    """Who suffers, and from what; see `becalm.Results.verdict`."""

    @property
    def causes(self) -> list[tuple[str, str]]:
        """All named causes, each with its link, host or key; empty if nothing is wrong."""
        return list(dict.fromkeys((each.cause, each.place) for each in self.sentences if each.cause))

    def about(self, topic: str) -> list[Sentence]:
        """Return the sentences of a topic."""
        return [each for each in self.sentences if each.topic == topic]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "scenario": self.name,
            "replication": self.replication,
            "verdict": self.verdict,
            "causes": [{"cause": cause, "place": place} for cause, place in self.causes],
            "sentences": [each.to_json() for each in self.sentences],
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text: the verdict, headings, and sentences with references."""
        if self.verdict:
            yield self.verdict
        for topic, heading in TOPICS.items():
            said = self.about(topic)
            if said:
                yield heading
            for each in said:
                origin = "; ".join(str(reference) for reference in each.references)
                yield f"  {each.text}" + (f" [{origin}]" if origin else "")

    def __str__(self) -> str:
        return "\n".join(self.lines())
