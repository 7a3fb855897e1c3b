"""Claims in words: what was measured, and how many hold."""

from __future__ import annotations

from collections.abc import Iterable

from becalm.intervals import Interval
from becalm.lab.model import KINDS, Claim
from becalm.lab.verdict import FAILS, HOLDS, UNDECIDED


def measured(claim: Claim) -> str:
    """Return the mean of each value with the half-width of its 95% confidence interval, if it has a width."""
    return ", ".join(_value(interval) for interval in claim.intervals)


def _value(interval: Interval) -> str:
    half = (interval.high - interval.low) / 2
    return _digits(interval.mean, 4) + (f" +-{_digits(half, 2)}" if half > 0 else "")


def _digits(value: float, digits: int) -> str:
    """Return a number with this many significant digits, without an exponent up to a million."""
    return f"{float(f'{value:.{digits}g}'):g}"


def of_kind(claims: Iterable[Claim], kind: str) -> list[Claim]:
    """Return the claims of a kind."""
    return [claim for claim in claims if claim.kind == kind]


def count(claims: Iterable[Claim], verdict: str) -> int:
    """Return how many claims have a verdict."""
    return sum(claim.verdict == verdict for claim in claims)


def score(claims: Iterable[Claim]) -> str:
    """Return how many sentences of the paper hold, are undecided and fail; then the claims not scored."""
    every = list(claims)
    scored = of_kind(every, KINDS[0])
    undecided, fail = count(scored, UNDECIDED), count(scored, FAILS)
    text = f"{count(scored, HOLDS)} of {len(scored)} sentences of the paper hold"
    text += f", {undecided} undecided, {fail} fail"
    if not scored:
        text = "No sentence of the paper is quoted"
    others = [
        f"{kind} {count(of_kind(every, kind), HOLDS)} of {len(of_kind(every, kind))}"
        for kind in KINDS[1:]
        if of_kind(every, kind)
    ]
    return f"{text}; not scored: {', '.join(others)} hold" if others else text


def seeds(claims: Iterable[Claim]) -> str:
    """Return which seeds claims were judged by: those of the claim with most."""
    most = max((claim.seeds for claim in claims), key=len, default=[])
    return f"{most[0]} to {most[-1]}" if len(most) > 1 else ", ".join(map(str, most))
