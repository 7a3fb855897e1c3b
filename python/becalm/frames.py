"""The fabric over time as NumPy arrays: one byte per frame and link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ROLES = ("calm", "root", "branch")
"""Names of the numbers in `Frames.role`."""


@dataclass(frozen=True)
class Frames:
    """Frames of one replication and virtual lane.

    Arrays are [time x link]; links are in the order of the table `links`. Shares are of 255, and every share
    above 0 is at least 1.
    """

    time: NDArray[np.float64]
    """Times in s, [time]. A frame counts what happened since the one before, or since the start."""
    occupancy: NDArray[np.uint8]
    """Share of the input buffer at the link's end that is taken."""
    role: NDArray[np.uint8]
    """Role of the output at the link's beginning, as a place in `ROLES`."""
    busy: NDArray[np.uint8]
    """Share of the time in which the link sent, all virtual lanes together."""
    stalled: NDArray[np.uint8]
    """Share of the time in which a packet waited for credit, on any virtual lane."""
    marked: NDArray[np.uint8]
    """Share of the packets sent that the switch marked, all virtual lanes together."""

    @classmethod
    def of(cls, table: pl.DataFrame) -> Frames:
        """Make arrays of rows of the table `frames`."""
        import numpy as np

        def stacked(column: str) -> NDArray[np.uint8]:
            rows = table[column].to_list()
            return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)

        names = ("occupancy", "role", "busy", "stalled", "marked")
        return cls(table["time"].to_numpy(), *(stacked(name) for name in names))
