"""Curves from a tidy table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


def curves(
    axes: Axes,
    table: pl.DataFrame,
    *,
    x: str,
    y: str,
    by: str | None = None,
    order: Sequence[Any] | None = None,
    labels: Mapping[Any, str] | None = None,
    styles: Mapping[Any, Mapping[str, Any]] | None = None,
    **style: Any,  # noqa: ANN401
) -> None:
    """Draw column `y` over column `x`, with one curve for each value of column `by`.

    Args:
        axes: the axes to draw on.
        table: one row per point of a curve.
        x: column of the horizontal axis; each curve is sorted by it.
        y: column of the vertical axis.
        by: column that distinguishes the curves; None: one curve.
        order: values of `by` to draw, in the order of the legend; None: as they appear in the table.
        labels: names for the legend by value of `by`; a missing name is the value itself.
        styles: matplotlib line options by value of `by`.
        style: matplotlib line options of all curves.

    """
    if by is None:
        ordered = table.sort(x)
        axes.plot(ordered[x].to_numpy(), ordered[y].to_numpy(), **style)
        return
    for value in order if order is not None else table[by].unique(maintain_order=True).to_list():
        curve = table.filter(table[by] == value).sort(x)
        label = (labels or {}).get(value, str(value))
        options = {**style, **(styles or {}).get(value, {})}
        axes.plot(curve[x].to_numpy(), curve[y].to_numpy(), label=label, **options)
