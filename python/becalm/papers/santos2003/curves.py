"""santos2003, section V: the closed forms of the rate increase, F_inc(t), with rates as fractions of R_max.

The simulator implements them as steps per ACK. Fig. 5 compares the closed forms with these steps.
"""

from __future__ import annotations

import numpy as np
import polars as pl

RMIN = 1 / 256
"""Minimum rate, as a fraction of R_max."""
M = 2
"""Decrease factor of FIMD and AIMD."""
PACKET_BYTES = 2048
"""Size of a packet on the wire. The paper computes recovery times for 2048 bytes including the header."""
RECOVERY_MS = PACKET_BYTES / 1e9 / RMIN * 1e3
"""T_rec = 1/R_min in ms at 1 GB/s (Condition 3)."""


def rate(response: str, time_ms: np.ndarray) -> np.ndarray:
    """Return F_inc(t) from R_min, at most 1."""
    steps = time_ms / RECOVERY_MS
    match response:
        case "lipd":
            value = 1 / np.maximum(1 / RMIN - steps, 1.0)
        case "fimd":
            value = RMIN * M ** np.minimum(steps, 1024.0)
        case "aimd":
            value = RMIN + (M - 1) * RMIN * steps
        case _:
            raise ValueError(f"{response}: no closed form; choose lipd, fimd or aimd")
    return np.minimum(value, 1.0)


def total_ms(response: str) -> float:
    """Return the time from R_min to R_max in ms, by bisection of the closed form."""
    low, high = 0.0, 1000 * RECOVERY_MS
    for _ in range(80):
        middle = (low + high) / 2
        reached = rate(response, np.array([middle]))[0] >= 1.0
        low, high = (low, middle) if reached else (middle, high)
    return high


def slope(response: str, at_rate: float) -> float:
    """Return dF_inc/dt at the rate `at_rate`, in R_max per ms."""
    step = 1e-4 * RECOVERY_MS
    times = np.linspace(0, total_ms(response), 200_001)
    passed = times[np.searchsorted(rate(response, times), at_rate)]
    before, after = rate(response, np.array([max(passed - 2 * step, 0.0), max(passed - step, step)]))
    return float((after - before) / step)


def table(response: str, points: int = 600) -> pl.DataFrame:
    """Tabulate the curve from 0 to 140 ms."""
    times = np.linspace(0, 140, points)
    return pl.DataFrame({"response": [response] * points, "time_ms": times, "rate": rate(response, times)})
