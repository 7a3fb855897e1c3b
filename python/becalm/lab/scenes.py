"""Scenes of experiments as scenarios: the points of a figure, by name, for files that `becalm run` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from becalm.base.errors import BecalmError
from becalm.lab.discovery import select
from becalm.lab.runner import Lab

if TYPE_CHECKING:
    from becalm.lab.model import Point
    from becalm.scenario import Scenario

MOST = 12
"""Maximum number of points in a message."""


def listed(figure: str) -> str:
    """Return the numbers and labels of a figure's points, one per line."""
    points = select([figure])[0].runs(short=False)
    return "\n".join(f"{number:>4}  {_name(point)}" for number, point in enumerate(points, 1))


def scene(figure: str, point: str, *, seed: int = 1, short: bool = False) -> Scenario:
    """Return the scenario of a figure's point, with this seed.

    Args:
        figure: `PAPER/FIGURE`.
        point: the point's number from 1, or labels that only it has, such as `case=4 control=off`.
        seed: seed of the run.
        short: whether to use the reduced version of the figure.

    Raises:
        ValueError: there is no such figure.
        BecalmError: there is no such point, or there are several; the message lists the points.

    """
    found = [item for item in select([figure]) if item.id == figure]
    if not found:
        raise ValueError(f"{figure}: is a paper; name one of its figures, as in {select([figure])[0].id}")
    points = found[0].runs(short)
    if not points:
        raise BecalmError(f"{figure}: has no scenario; it reads numbers and runs nothing")
    chosen = [each for place, each in enumerate(points, 1) if _is(each, place, point)]
    if len(chosen) != 1:
        problem = f"names {len(chosen)} points" if chosen else "no such point"
        raise BecalmError(f"{figure}: `{point}`: {problem}; valid: {_some(chosen or points, points)}")
    if chosen[0].schemes:
        raise BecalmError(f"{figure}: `{point}`: has a scheme in Python, which a file cannot contain")
    return Lab(seed).scenarios(chosen)[0]


def _is(point: Point, place: int, wanted: str) -> bool:
    """Return whether a number or labels name a point. Labels may be separated by spaces or commas."""
    if wanted.strip().isdecimal():
        return int(wanted) == place
    asked = f" {' '.join(wanted.replace(',', ' ').split())} "
    own = [" ".join(f"{key}={value}".replace(",", " ").split()) for key, value in point.labels.items()]
    # Values may contain spaces, so labels are cut out of the text, longest first.
    for label in sorted(own, key=len, reverse=True):
        asked = asked.replace(f" {label} ", " ", 1)
    return bool(wanted.strip()) and not asked.strip()


def _some(chosen: list[Point], points: list[Point]) -> str:
    numbered = [f"{points.index(each) + 1} ({_name(each)})" for each in chosen[:MOST]]
    more = [f"and {len(chosen) - MOST} more"] if len(chosen) > MOST else []
    return ", ".join([*numbered, *more])


def _name(point: Point) -> str:
    return " ".join(f"{key}={value}" for key, value in point.labels.items())
