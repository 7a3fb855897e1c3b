"""Descriptions of claims: measured values, the sentences of the claims, and the score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from becalm.base.intervals import Interval
from becalm.lab.expect import FAILS, HOLDS, STANDINGS, UNDECIDED, WEAK
from becalm.lab.model import KINDS, Claim, Report


def measured(claim: Claim) -> str:
    """Return the mean of each value, with the half-width of its 95% confidence interval if above 0."""
    return ", ".join(_value(interval) for interval in claim.intervals)


def against(claim: Claim) -> str:
    """Describe a claim's null: its name, its values, and whether it holds."""
    null = claim.null
    if null is None:
        return ""
    if null.mean is None:
        return null.words
    values = null.mean if isinstance(null.mean, list) else [null.mean]
    return f"{null.words}: {', '.join(_digits(value, 4) for value in values)} {null.verdict}"


def _value(interval: Interval) -> str:
    half = (interval.high - interval.low) / 2
    return _digits(interval.mean, 4) + (f" +-{_digits(half, 2)}" if half > 0 else "")


def _digits(value: float, digits: int) -> str:
    """Return a number with `digits` significant digits; numbers below a million have no exponent."""
    return f"{float(f'{value:.{digits}g}'):g}"


def of_kind(claims: Iterable[Claim], kind: str) -> list[Claim]:
    """Return the claims of a kind."""
    return [claim for claim in claims if claim.kind == kind]


def count(claims: Iterable[Claim], verdict: str) -> int:
    """Return the number of claims with a verdict."""
    return sum(claim.verdict == verdict for claim in claims)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper, with all claims that quote it or a part of it. It counts once in the score."""

    quote: str
    claims: tuple[Claim, ...]

    @property
    def standing(self) -> str:
        """The standing of its worst claim."""
        return max((claim.standing for claim in self.claims), key=STANDINGS.index)


def sentences(reports: Iterable[Report]) -> list[Sentence]:
    """Return the scored sentences, in the order of their first claims.

    Claims of a paper belong to one sentence if their quotes are equal, or if one contains the other.
    """
    found: dict[tuple[str, str], list[Claim]] = {}
    for report in reports:
        for claim in of_kind(report.claims, KINDS[0]):
            found.setdefault((report.id.split("/")[0], " ".join(claim.quote.split())), []).append(claim)
    whole: dict[tuple[str, str], list[Claim]] = {}
    for (paper, quote), claims in found.items():
        around = [other for home, other in found if home == paper and quote in other]
        whole.setdefault((paper, max(around, key=len)), []).extend(claims)
    return [Sentence(quote, tuple(claims)) for (_, quote), claims in whole.items()]


def standings(reports: Iterable[Report]) -> dict[str, int]:
    """Return the numbers of sentences that hold, are weak, are undecided and fail."""
    found = Counter(sentence.standing for sentence in sentences(reports))
    return {standing: found[standing] for standing in STANDINGS}


def score(reports: Sequence[Report]) -> str:
    """Describe the numbers of sentences by standing, and the claims that are not scored."""
    every = [claim for report in reports for claim in report.claims]
    counts = standings(reports)
    text = "No sentence of the paper is quoted"
    if total := sum(counts.values()):
        text = f"{counts[HOLDS]} of {total} sentences of the paper hold, "
        text += f"{counts[WEAK]} weak, " if any(claim.null for claim in every) else ""
        text += f"{counts[UNDECIDED]} undecided, {counts[FAILS]} fail"
    others = [
        f"{kind} {count(of_kind(every, kind), HOLDS)} of {len(of_kind(every, kind))}"
        for kind in KINDS[1:]
        if of_kind(every, kind)
    ]
    return f"{text}; not scored: {', '.join(others)} hold" if others else text


def seeds(claims: Iterable[Claim]) -> str:
    """Return the seeds of the claim with the most seeds."""
    most = max((claim.seeds for claim in claims), key=len, default=[])
    return f"{most[0]} to {most[-1]}" if len(most) > 1 else ", ".join(map(str, most))
