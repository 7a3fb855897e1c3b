"""Measures of candidates on hot spots, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from becalm.analysis import formats
from becalm.cli import console

if TYPE_CHECKING:
    from becalm.tunings.guidelines import Tried


def show_tried(tried: Tried) -> None:
    """Print the results of each guideline, the better one, and the next step."""
    rows = [case_row(row, row["with"]) for row in tried.table.iter_rows(named=True)]
    columns = ("case", "with", "background", "link", "settles", "99%", "loss")
    title = f"Hot spots of {formats.seconds(tried.length)}, one seed"
    console.out.print(console.table(title, columns, rows, text=2))
    console.say(f"the guideline of {tried.better} does better here; `becalm tune` looks for more")


def case_row(row: Mapping[str, Any], candidate: str) -> tuple[str, ...]:
    """Return the cells of a row of measures: case, candidate, background, hot link, settles, 99%, loss."""
    return (
        row["case"],
        candidate,
        formats.share(row["background"]),
        formats.share(row["hot_link"]),
        formats.seconds(row["settle"]) if row["settle"] else "0",
        formats.seconds(row["latency_p99"]),
        f"{row['loss']:.4f}",
    )
