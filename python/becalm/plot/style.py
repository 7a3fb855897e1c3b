"""The style of figures, functions to create and save them, and curves from a tidy table."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm.base.disk import replacing

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Colours that colour-blind readers can distinguish (Okabe and Ito), in order of use."""

SCHEMES = {
    name: COLOURS[place]
    for place, name in enumerate(
        ("lipd", "fimd", "aimd", "ibta", "binary_feedback", "table", "fixed", "none")
    )
}
"""The colour of each response, the same in all figures."""

ROLES = {
    "inter_switch": COLOURS[0],
    "root": COLOURS[1],
    "local": COLOURS[2],
    "remote": COLOURS[5],
    "victim": COLOURS[3],
}
"""The colour of each part of a congestion scene: the link before the root, the root, the flows on either side
of the link, the victim. Root and victim differ as much as on report pages."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Markers of points, in order of use."""

WIDTH = 6.4
"""Width of a single-panel figure in inches."""

HEIGHT = 4.0
"""Height of a panel, in inches."""

PALETTE = 96
"""Number of colours in a PNG. More would make no visible difference."""

FORMATS = (".png", ".svg", ".pdf")
"""Formats of figures, by the suffix of their files."""

_STYLE: Any = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 150,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    # Without it, names inside the file would differ from run to run.
    "svg.hashsalt": "becalm",
}


def scheme_colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each response: its colour in `SCHEMES`, ignoring case, or an unused colour."""
    wanted = list(names)
    taken = {SCHEMES[name.lower()] for name in wanted if name.lower() in SCHEMES}
    left = itertools.cycle([colour for colour in reversed(COLOURS) if colour not in taken] or COLOURS)
    return {name: SCHEMES.get(name.lower()) or next(left) for name in wanted}


def figure(width: float = WIDTH, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """Return a figure with one panel, with sizes in inches."""
    made, axes = panels(1, 1, width=width, height=height)
    return made, axes[0]


def panels(
    rows: int, columns: int, *, width: float = WIDTH, height: float = HEIGHT
) -> tuple[Figure, list[Axes]]:
    """Return a figure with several panels of the given size in inches, row by row.

    The figure is not registered with pyplot, so it need not be closed.
    """
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.figure import Figure

    cycle = cycler(color=list(COLOURS))
    with mpl.rc_context({**mpl.rcParamsDefault, "axes.prop_cycle": cycle, **_STYLE}):
        made = Figure(figsize=(columns * width, rows * height), layout="constrained")
        axes = made.subplots(rows, columns, squeeze=False)
    return made, list(axes.flat)


def legend(made: Figure, *areas: Axes, title: str | None = None, below: int = 0) -> None:
    """Add one legend for several panels outside them, so that it hides no curve.

    Args:
        made: the figure.
        areas: the panels. Entries in several panels appear once.
        title: the legend's heading.
        below: number of columns for a legend below the panels; 0 for a legend on the right.

    """
    entries: dict[str, Any] = {}
    for axes in areas:
        shown = axes.get_legend_handles_labels()
        entries |= {str(label): handle for handle, label in zip(*shown, strict=True)}
    handles, labels = list(entries.values()), list(entries)
    if below:
        made.legend(handles, labels, title=title, loc="outside lower center", ncols=below, frameon=False)
    else:
        made.legend(handles, labels, title=title, loc="outside right center", frameon=False)


def save(made: Figure, path: str | PathLike[str]) -> Path:
    """Write a figure in the format of the path's suffix. Equal figures produce equal files.

    The file is written under another name and renamed, so that it is either complete or absent. A PNG gets a
    palette, which reduces it to about a third of its size.
    """
    import matplotlib as mpl

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    with replacing(path) as partial:
        _without_formulas(made)
        with mpl.rc_context(_STYLE):
            made.savefig(partial, metadata=metadata)
        if path.suffix == ".png":
            _fewer_colours(partial)
    return path


def _without_formulas(made: Figure) -> None:
    """Draw names as they are. matplotlib would read a text between dollar signs as a formula, or fail.

    The numbers at the ticks of a logarithmic axis are formulas of its own.
    """
    from matplotlib.text import Text

    axes = [axis for area in made.axes for axis in (area.xaxis, area.yaxis)]
    labels = [text for axis in axes for text in axis.get_ticklabels(which="both")]
    ticks = {id(text) for text in labels}
    for text in made.findobj(Text):
        if isinstance(text, Text) and id(text) not in ticks and "$" in text.get_text():
            text.set_parse_math(False)


def _fewer_colours(path: Path) -> None:
    """Write a PNG with a palette, since lines and letters need few colours."""
    from PIL import Image

    with Image.open(path) as image:
        dpi = image.info.get("dpi")
        few = image.convert("RGB").quantize(PALETTE, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(path, "PNG", optimize=True, **({"dpi": dpi} if dpi else {}))


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
