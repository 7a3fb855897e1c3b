"""Smooth interpolation of rising data that stays rising."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Rising:
    """A piecewise cubic through rising points, with rising values everywhere.

    Slopes lie between those of the secants on both sides, in the mean of their logarithms, and are limited to
    three times the smaller one (Fritsch and Carlson 1980), which never affects smooth data. Outside the
    points it is constant.

    Args:
        x: strictly rising positions, two or more.
        y: strictly rising values.

    """

    def __init__(self, x: Array, y: Array) -> None:
        self.x, self.y = x, y
        self._secants = np.diff(y) / np.diff(x)
        self._slopes = _slopes(np.diff(x), self._secants)

    def __call__(self, x: Array) -> Array:
        """Return the values at `x`."""
        x = np.clip(x, self.x[0], self.x[-1])
        cell = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, len(self.x) - 2)
        width = self.x[cell + 1] - self.x[cell]
        s = (x - self.x[cell]) / width
        left, right, secant = self._slopes[cell], self._slopes[cell + 1], self._secants[cell]
        # The straight line, and a correction that bends it and is zero at both ends.
        bend = s * (1 - s) * ((left - secant) * (1 - s) - (right - secant) * s)
        result: Array = self.y[cell] + width * (secant * s + bend)
        return result


def _slopes(widths: Array, secants: Array) -> Array:
    if len(secants) == 1:
        return np.array([secants[0], secants[0]])
    logs = np.log(secants)
    before, after = widths[:-1], widths[1:]
    inner = (logs[:-1] * after + logs[1:] * before) / (before + after)
    first = logs[0] - (inner[0] - logs[0])
    last = logs[-1] - (inner[-1] - logs[-1])
    slopes = np.exp(np.clip(np.concatenate([[first], inner, [last]]), -700, 700))
    least = np.concatenate([secants[:1], np.minimum(secants[:-1], secants[1:]), secants[-1:]])
    result: Array = np.minimum(slopes, 3.0 * least)
    return result
