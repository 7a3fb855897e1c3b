"""Source of a statement about a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """Source of a sentence: rows of a table of the results, or a key of the scenario."""

    table: str
    """Name of the table; `scenario` for a key."""
    rows: tuple[int, ...] = ()
    """Row numbers from 0 in the complete table, with all replications."""
    columns: tuple[str, ...] = ()
    """Columns of these rows that contain the numbers."""
    key: str = ""
    """Dotted key of the scenario."""

    def __str__(self) -> str:
        if self.key:
            return self.key
        shown = ", ".join(str(row) for row in self.rows[:3])
        more = ", ..." if len(self.rows) > 3 else ""
        return f"{self.table}[{shown}{more}]"
