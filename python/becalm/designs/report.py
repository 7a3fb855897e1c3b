"""Results of a design, as one table and one figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from becalm.designs.check import Check
from becalm.designs.hermite import Array
from becalm.designs.law import Law
from becalm.designs.tabulate import DelayTable
from becalm.designs.trial import QUANTITIES
from becalm.plot import MARKERS, SCHEMES, curves, panels, scheme_colours

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONDITIONS = ("Condition 1", "Condition 2", "Condition 3", "Chiu-Jain")
WIDTH, HEIGHT = 4.2, 3.4
"""Size of a panel in inches."""


def table(
    checks: Mapping[str, Check],
    delays: Mapping[str, DelayTable],
    errors: Mapping[str, Array],
    trial: pl.DataFrame | None,
) -> pl.DataFrame:
    """Return all results as text: a row for each quantity, a column for each response.

    Args:
        checks: by the name of the response.
        delays: tables of delays, likewise.
        errors: relative errors of the rates after a mark, likewise.
        trial: results of `trial.run`; its values are averaged over `x`.

    """
    import polars as pl

    rows: list[tuple[str, Mapping[str, str]]] = [
        *(
            (name, {key: "yes" if found[name].holds else "no" for key, found in checks.items()})
            for name in CONDITIONS
        ),
        ("T_rec x rmin", {key: _range(found) for key, found in checks.items()}),
        ("rmin to rmax", {key: _ms(found, found.total) for key, found in checks.items()}),
        ("rmin to rmax, table", {key: _ms(checks[key], steps.climb) for key, steps in delays.items()}),
        (
            "error after a mark",
            {key: f"{100 * np.max(np.abs(error)):.1f}%" for key, error in errors.items()},
        ),
        *_trial_rows(trial),
    ]
    columns = list(checks) if trial is None else trial["response"].unique(maintain_order=True).to_list()
    data: dict[str, list[str]] = {"": [name for name, _ in rows]}
    data |= {column: [cells.get(column, "-") for _, cells in rows] for column in columns}
    return pl.DataFrame(data)


def _range(found: Check) -> str:
    low, high = (time / found.shortest for time in found.recovery_range)
    return f"{high:.3g}" if high - low < 0.01 * high else f"{low:.3g} to {high:.3g}"


def _ms(found: Check, time: float) -> str:
    return f"{time * found.packet_time * 1e3:.1f} ms"


def _trial_rows(trial: pl.DataFrame | None) -> list[tuple[str, Mapping[str, str]]]:
    import polars as pl

    if trial is None:
        return []
    means = trial.group_by("scene", "quantity", "response", maintain_order=True).agg(pl.col("value").mean())
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for scene, quantity, response, value in means.iter_rows():
        cells.setdefault((scene, quantity), {})[response] = f"{value:.3f}"
    return [(f"{scene}: {QUANTITIES[scene][quantity]}", found) for (scene, quantity), found in cells.items()]


def figure(
    laws: Sequence[Law], checks: Mapping[str, Check], delays: DelayTable, trial: pl.DataFrame | None
) -> Figure:
    """Draw the laws, the first of them also as a table, and below them their results in the scenes.

    A response has the same colour in all panels; the legend is below them.
    """
    made, areas = panels(1 if trial is None else 2, 3, width=WIDTH, height=HEIGHT)
    tried = [] if trial is None else trial["response"].unique(maintain_order=True).to_list()
    colours = scheme_colours(dict.fromkeys([*(law.name for law in laws), *tried]))
    _increase(areas[0], laws, next(iter(checks.values())).packet_time, colours)
    _recovery(areas[1], laws, checks, colours)
    _table(areas[2], laws[0], delays, colours)
    if trial is not None:
        _scene(areas[3], trial, "static", "root", "buffer size (packets per input port)", colours)
        _scene(areas[4], trial, "dynamic", "root", "mean ON time (ms)", colours)
        _bars(areas[5], trial, colours)
    entries: dict[str, Artist] = {}
    for axes in areas[:4]:
        handles, labels = axes.get_legend_handles_labels()
        entries |= {str(label): handle for label, handle in zip(labels, handles, strict=True)}
    made.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=len(entries), frameon=False
    )
    return made


def _increase(axes: Axes, laws: Sequence[Law], packet_time: float, colours: Mapping[str, str]) -> None:
    """Draw F_inc(t) of all laws: Fig. 5 of santos2003."""
    end = max(law.curve.total for law in laws)
    times = np.linspace(0, 1.05 * end, 2000)
    _lines(axes, laws, lambda law: (times * packet_time * 1e3, law.curve.rate(times) / law.rmax), colours)
    _dress(axes, "time without marks (ms)", "rate / maximum rate", "F_inc(t)")


def _recovery(
    axes: Axes, laws: Sequence[Law], checks: Mapping[str, Check], colours: Mapping[str, str]
) -> None:
    def line(law: Law) -> tuple[Array, Array]:
        found = checks[law.name]
        above = found.rates >= found.free
        return found.rates[above] / law.rmax, found.recovery[above] / found.shortest

    _lines(axes, laws, line, colours)
    _dress(axes, "rate / maximum rate", "recovery time x rmin", "T_rec(r)", top=None)
    axes.set_xscale("log")
    axes.set_yscale("log")


def _table(axes: Axes, law: Law, delays: DelayTable, colours: Mapping[str, str]) -> None:
    """Draw rates after a mark, both of the law and of the table."""
    rates = np.geomspace(law.rmin, law.rmax, 500)
    rates[0], rates[-1] = law.rmin, law.rmax
    after = delays.rates[[slower for slower, _, _ in delays.steps]]
    axes.plot(
        rates / law.rmax, law.f_dec(rates) / law.rmax, color=colours[law.name], linewidth=2.2, label=law.name
    )
    axes.plot(
        delays.rates / law.rmax,
        after / law.rmax,
        ".",
        color=SCHEMES["table"],
        markersize=4,
        label=f"{law.name}, table of delays",
    )
    _dress(axes, "rate / maximum rate", "rate after a mark / maximum rate", f"{law.name}: f_dec(r)", top=None)
    axes.set_xscale("log")
    axes.set_yscale("log")


def _scene(
    axes: Axes, trial: pl.DataFrame, scene: str, quantity: str, x: str, colours: Mapping[str, str]
) -> None:
    chosen = trial.filter((trial["scene"] == scene) & (trial["quantity"] == quantity))
    order = chosen["response"].unique(maintain_order=True).to_list()
    styles = {name: {"color": colours[name], "marker": MARKERS[place]} for place, name in enumerate(order)}
    curves(axes, chosen, x="x", y="value", by="response", order=order, styles=styles)
    _dress(axes, x, QUANTITIES[scene][quantity], scene)
    axes.set_xscale("log")
    places = chosen["x"].unique().sort().to_list()
    axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.minorticks_off()
    axes.set_ylim(min(0.8, 0.98 * float(chosen["value"].to_numpy().min())), 1.02)


def _bars(axes: Axes, trial: pl.DataFrame, colours: Mapping[str, str]) -> None:
    chosen = trial.filter(trial["scene"] == "tree")
    names = chosen["response"].unique(maintain_order=True).to_list()
    quantities = QUANTITIES["tree"]
    for place, name in enumerate(names):
        values = [
            float(chosen.filter((chosen["response"] == name) & (chosen["quantity"] == q))["value"].item())
            for q in quantities
        ]
        at = np.arange(len(quantities)) + (place - (len(names) - 1) / 2) * 0.8 / len(names)
        axes.bar(at, values, 0.8 / len(names), color=colours[name], label=name)
    axes.set_xticks(range(len(quantities)), ["hot link", "Jain's index", "background"])
    # More than is offered can arrive if an earlier backlog drains, too.
    _dress(axes, "", "share", "tree", top=max(1.05, 1.05 * axes.dataLim.y1))


def _lines(
    axes: Axes,
    laws: Sequence[Law],
    points: Callable[[Law], tuple[Array, Array]],
    colours: Mapping[str, str],
) -> None:
    """Draw a line for each law; the first, which the figure is about, is the thickest."""
    for place, law in enumerate(laws):
        axes.plot(*points(law), color=colours[law.name], label=law.name, linewidth=2.2 if place == 0 else 1.2)


def _dress(axes: Axes, x: str, y: str, title: str, *, top: float | None = 1.05) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    if top is not None:
        axes.set_ylim(0, top)
