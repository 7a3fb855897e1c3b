"""Figures of experiments as tables: which rows become which curves, bars and panels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from matplotlib.patches import Rectangle

from becalm.lab.figures import Bars, Curves, Law, Level, Panel, Plot, simulated, single
from becalm.lab.model import Label, Table, Tables, grid

TABLES: Tables = {
    "points": pl.DataFrame(
        {
            "flows": [4, 2, 4, 2],
            "law": ["plain", "plain", "patched", "patched"],
            "rate": [1.0, 2.0, 3.0, 4.0],
        }
    )
}


def test_a_curve_is_sorted_and_keeps_its_rows() -> None:
    (axes,) = single(Curves("flows", "rate", where={"law": "plain"}), xlabel="flows")(TABLES).axes
    (line,) = axes.lines
    assert np.array_equal(line.get_xydata(), [[2, 2.0], [4, 1.0]])
    assert axes.get_xlabel() == "flows"


def test_named_curves_have_the_order_of_their_names_and_the_style_of_their_place() -> None:
    names = {"patched": "with a fixed point", "later": "not in the table", "plain": "without"}
    part = Curves("flows", pl.col("rate") * 2, by="law", names=names, style={"linestyle": "none"})
    (axes,) = single(part)(TABLES).axes
    assert axes.get_legend_handles_labels()[1] == ["with a fixed point", "without"]
    assert [line.get_marker() for line in axes.lines] == ["o", "^"]
    assert np.array_equal(axes.lines[0].get_xydata(), [[2, 8.0], [4, 6.0]])


def test_a_closed_form_and_simulated_values_have_different_colours() -> None:
    made = single(Law("closed form", (2, 4), lambda n: 1 / n), simulated("flows", "rate"))(TABLES)
    law, dots = made.axes[0].lines
    assert law.get_color() != dots.get_color()
    assert dots.get_linestyle() == "None"
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["closed form", "simulated"]


def test_bars_stand_in_groups_by_row() -> None:
    (axes,) = single(Bars("law", {"rate": "rate", "flows": "flows"}, {"flows": 2}))(TABLES).axes
    assert [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)] == [2.0, 4.0, 2, 2]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["plain", "patched"]


def test_panels_fill_rows_and_a_figure_without_labels_has_no_legend() -> None:
    made = Plot(*(Panel(Curves("flows", "rate")) for _ in range(3)), columns=2)(TABLES)
    assert [axes.axison for axes in made.axes] == [True, True, True, False]
    assert not made.legends
    (level,) = single(Level("limit", 3.0, upright=True))(TABLES).axes[0].lines
    assert np.array_equal(level.get_xydata(), [[3.0, 0.0], [3.0, 1.0]])


@pytest.mark.parametrize(("short", "flows"), [(False, [2, 2, 4, 4]), (True, [4, 4])])
def test_a_grid_combines_its_axes_and_shortens_them(short: bool, flows: list[int]) -> None:
    def scene(reduced: bool, **labels: Label) -> Table:
        return {"reduced": reduced, **labels}

    points = grid(scene, {"flows": (4,)}, flows=(2, 4), law=("a", "b"))(short)
    assert [point.labels["flows"] for point in points] == flows
    assert [point.labels["law"] for point in points] == ["a", "b"] * (len(flows) // 2)
    assert all(point.scenario == {"reduced": short, **point.labels} for point in points)
