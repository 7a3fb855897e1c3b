"""Statements of papers, drawn into the figures of their experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex

from becalm.lab import printed
from becalm.lab.discovery import registry
from becalm.lab.expect import Region, expectation
from becalm.plot import figure, save


def _drawn(region: Region, **keys: Any) -> Any:  # noqa: ANN401
    made, axes = figure()
    axes.plot([0, 10], [0.2, 0.2], color="#0072b2", label="victim")
    axes.set_ylim(0, 1)
    printed.draw(made, [(printed.Drawn.model_validate(keys), region)])
    return made


def test_a_value_is_a_line_within_its_tolerance_in_the_colour_of_its_curve() -> None:
    made = _drawn(Region(0.13, 0.17, 0.15), over=[4, 6], like="victim")
    axes = made.axes[0]
    line, (band,) = axes.lines[1], axes.collections
    assert (set(line.get_ydata()), line.get_xdata()[0], line.get_xdata()[-1]) == ({0.15}, 4, 6)
    low, high = band.get_datalim(axes.transData).intervaly
    assert (round(low, 9), round(high, 9)) == (0.13, 0.17)
    assert to_hex(line.get_color()) == to_hex(band.get_facecolor()[0]) == "#0072b2"
    assert [text.get_text() for text in made.legends[0].get_texts()] == [printed.VALUE, printed.BAND]
    assert axes.get_ylim() == (0, 1)


def test_bounds_point_to_what_is_right_and_widen_the_axis() -> None:
    for region, name in ((Region(1.5, None), printed.LEAST), (Region(None, 1.5), printed.MOST)):
        made = _drawn(region)
        assert [text.get_text() for text in made.legends[0].get_texts()] == [name]
        assert made.axes[0].get_ylim()[1] > 1.5
    upright = _drawn(Region(3, 3, 3), along="x").axes[0].lines[1]
    assert set(upright.get_xdata()) == {3}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"like": "other"}, r"drawn.like = 'other': no such label; valid: victim"),
        ({"panel": 4}, r"drawn.panel = 4: the figure has 1 panels"),
    ],
)
def test_mistakes_are_reported(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _drawn(Region(0.1, None), **keys)


def test_expectations_have_regions_but_orders_have_none() -> None:
    assert expectation({"within": 0.02}, 0.15).region == Region(0.13, 0.16999999999999998, 0.15)
    assert expectation({"at_least": 5, "at_most": 10}, "5 to 10").region == Region(5, 10)
    assert expectation({"increasing": True}, "rising").region is None


def test_many_sentences_are_drawn() -> None:
    count: dict[str, int] = {}
    for experiment in registry():
        drawn = sum(each.drawn is not None for each in experiment.statements)
        count[experiment.paper] = count.get(experiment.paper, 0) + drawn
    for paper in ("santos2002", "santos2003", "gran2010", "pfister2005", "ramakrishnan1990"):
        assert count[paper] >= 2, paper
    assert sum(count.values()) > 60


def test_pictures_are_small(tmp_path: Path) -> None:
    made = _drawn(Region(0.13, 0.17, 0.15))
    picture = save(made, tmp_path / "a.png").read_bytes()
    assert len(picture) < 20_000
    assert save(made, tmp_path / "b.png").read_bytes() == picture
