"""The fabric over time as NumPy arrays, with one byte per frame and link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ROLES = ("calm", "root", "branch")
"""Names of the values in `Frames.role`, which are indices into this tuple."""


@dataclass(frozen=True)
class Frames:
    """Frames of one replication and virtual lane.

    Arrays are [time x link]; links are in the order of the table `links`. Shares are in units of 1/255, and
    every share above 0 is at least 1.
    """

    time: NDArray[np.float64]
    """Times in s, [time]. A frame covers the time since the previous one, or since the start."""
    occupancy: NDArray[np.uint8]
    """Share of the input buffer at the link's end that is occupied."""
    role: NDArray[np.uint8]
    """Role of the output at the link's start, as an index into `ROLES`."""
    busy: NDArray[np.uint8]
    """Share of the time in which the link sent, over all virtual lanes."""
    stalled: NDArray[np.uint8]
    """Share of the time in which the link sent nothing while a packet on any lane waited for credit."""
    marked: NDArray[np.uint8]
    """Share of sent packets that the switch marked, over all virtual lanes."""

    @classmethod
    def of(cls, table: pl.DataFrame) -> Frames:
        """Create arrays from rows of the table `frames`."""
        import numpy as np

        def stacked(column: str) -> NDArray[np.uint8]:
            rows = table[column].to_list()
            return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)

        names = ("occupancy", "role", "busy", "stalled", "marked")
        return cls(table["time"].to_numpy(), *(stacked(name) for name in names))
