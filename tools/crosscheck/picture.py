"""Figure of an entry, with the reference and becalm in one panel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from becalm import plot
from becalm.crosscheck.run import Checked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 5.2, 3.0


def draw(checked: Checked, path: Path) -> Path:
    """Draw an entry as curves over the cases or as distributions."""
    made, axes = plot.figure(WIDTH, HEIGHT)
    picture = checked.entry.picture
    if any(checked.entry.quantities[key].kind.name == "distribution" for key in picture.quantities):
        _distributions(axes, checked)
    else:
        _curves(axes, checked)
    axes.set_xlabel(picture.x)
    axes.set_ylabel(picture.y)
    plot.legend(made, axes)
    return plot.save(made, path)


def _curves(axes: Axes, checked: Checked) -> None:
    entry = checked.entry
    program = entry.program.name
    where = {case.name: case.x for case in entry.cases if case.x is not None}
    several = len(entry.picture.quantities) > 1
    for place, key in enumerate(entry.picture.quantities):
        points = sorted(
            (where[each.case], each.reference, each.becalm)
            for each in checked.quantities
            if each.key == key and each.case in where
        )
        x, reference, becalm = zip(*points, strict=True)
        name, colour = entry.quantities[key].name, plot.COLOURS[place]
        head = f"{name}, " if several else ""
        axes.plot(x, reference, label=f"{head}{program}", color=colour, marker="o", markerfacecolor="none")
        axes.plot(x, becalm, label=f"{head}becalm", color=colour, marker="x", linestyle="--")
    if entry.picture.log:
        axes.set_yscale("log")


def _distributions(axes: Axes, checked: Checked) -> None:
    cases = {case.name: case for case in checked.entry.cases}
    drawn = [each for each in checked.samples.items() if each[0][1] in checked.entry.picture.quantities]
    for place, ((name, key), samples) in enumerate(drawn):
        reference = cases[name].values[key]
        if not isinstance(reference, tuple):
            continue
        for label, values, style in ((checked.entry.program.name, reference, "-"), ("becalm", samples, "--")):
            ordered = sorted(values)
            share = [(at + 1) / len(ordered) for at in range(len(ordered))]
            axes.plot(ordered, share, label=f"{name}, {label}", color=plot.COLOURS[place], linestyle=style)
    if checked.entry.picture.log:
        axes.set_xscale("log")
