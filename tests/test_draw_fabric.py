"""Snapshots and drawings of a fabric."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

import becalm
from becalm.plot import draw_fabric, save
from becalm.plot.fabric import Layout


@pytest.fixture(scope="module")
def congested() -> becalm.Results:
    """A tree of 8 hosts, in which one host per leaf sends to the last host."""
    scenario = {
        "run": {"duration": "300 us"},
        "topology": {"tree": {"ports": 4, "levels": 2}},
        "switch": {"buffer": "4 slots"},
        "flows": [
            {"name": "background", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.3}}},
            {"name": "hot", "from": ["H0", "H2", "H4", "H6"], "to": ["H7"]},
        ],
        "observe": {"snapshots": ["300 us", "1 us"]},
    }
    return becalm.run(becalm.Scenario(scenario, name="tree"))


def test_layout_puts_switches_above_what_they_join() -> None:
    cables = [("a", "S"), ("b", "S"), ("c", "T"), ("S", "top"), ("T", "top")]
    both = [*cables, *((b, a) for a, b in cables)]
    layout = Layout.of(both, ["a", "b", "c"])
    assert layout.level == {"a": 0, "b": 0, "c": 0, "S": 1, "T": 1, "top": 2}
    x = {node: place[0] for node, place in layout.place.items()}
    assert x["S"] == (x["a"] + x["b"]) / 2
    assert x["T"] == x["c"]
    heights = {layout.place[node][1] for node in ("a", "S", "top")}
    assert len(heights) == 3


def _legend(drawn: Figure) -> set[str]:
    (legend,) = drawn.legends
    return {text.get_text() for text in legend.get_texts()}


def _names(drawn: Figure) -> list[Any]:
    """Draw the figure and return the names next to nodes."""
    drawn.canvas.draw()
    return [text for text in drawn.axes[0].texts if text.get_text()]


def test_the_root_is_where_all_send_to(congested: becalm.Results, tmp_path: Path) -> None:
    late = congested.snapshots.filter(pl.col("time") > 1e-4)
    assert congested.units["snapshots"]["waiting"] == "B"
    roles = {(row["from"], row["to"]): row["role"] for row in late.iter_rows(named=True)}
    assert roles["L1S3", "H7"] == "root"
    assert roles["L2S1", "L1S3"] == "branch"
    assert roles["L1S3", "L2S1"] == "calm"
    assert late["occupancy"].max() == 1.0
    assert late["occupancy"].min() == 0.0
    drawn = draw_fabric(congested, 300e-6)
    assert {"host", "switch", "root of congestion"} <= _legend(drawn)
    assert "root of congestion" not in _legend(draw_fabric(congested, 1e-6))
    assert save(drawn, tmp_path / "fabric.png").stat().st_size > 10_000


def test_names_do_not_overlap_and_arrows_show_the_way(congested: becalm.Results) -> None:
    drawn = draw_fabric(congested, 300e-6)
    boxes = [text.get_window_extent() for text in _names(drawn)]
    assert len(boxes) == 8 + 4 + 2
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    (arrows,) = [each for each in drawn.axes[0].collections if isinstance(each, Quiver)]
    # The root's arrow points down to its host, and arrows of full links point up.
    up = np.asarray(arrows.V)
    assert up.min() < 0 < up.max()


def test_names_of_a_large_fabric_are_left_out_where_there_is_no_room() -> None:
    scenario = {
        "run": {"duration": "2 us"},
        "topology": {
            "edges": {
                "hosts": ["a-long-name-of-a-host-0..a-long-name-of-a-host-149"],
                "switches": ["S"],
                "cables": [{"between": ["a-long-name-of-a-host-0..a-long-name-of-a-host-149", "S"]}],
            }
        },
        "flows": [{"name": "f", "from": ["a-long-name-of-a-host-0"], "to": ["a-long-name-of-a-host-1"]}],
        "observe": {"snapshots": ["1 us"]},
    }
    drawn = draw_fabric(becalm.run(becalm.Scenario(scenario)), 1e-6)
    names = _names(drawn)
    assert 30 < len(names) < 151
    assert all(len(text.get_text()) <= 18 for text in names)
    boxes = [text.get_window_extent() for text in names]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_torus_is_drawn_as_a_grid() -> None:
    scenario = {
        "run": {"duration": "20 us"},
        "topology": {"torus": {"sides": [4, 3]}},
        "switch": {"vls": 2},
        "flows": [{"name": "all", "from": ["*"], "pattern": {"permutation": {}}}],
        "observe": {"snapshots": ["20 us"]},
    }
    results = becalm.run(becalm.Scenario(scenario))
    layout = Layout.of_results(results)
    switches = [layout.place[name] for name, level in layout.level.items() if level == 1]
    assert not layout.rows and len(switches) == 12
    assert len({round(y) for _, y in switches}) >= 3
    assert all(math.dist(a, b) >= 1 for a, b in combinations(layout.place.values(), 2))
    boxes = [text.get_window_extent() for text in _names(draw_fabric(results, 20e-6))]
    assert len(boxes) >= 12
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_time_without_a_snapshot_is_an_error(congested: becalm.Results) -> None:
    with pytest.raises(becalm.ResultsError, match=r"valid: 1e-06 s, 0\.0003 s"):
        draw_fabric(congested, 2e-4)
    with pytest.raises(becalm.ResultsError, match="VL 1"):
        draw_fabric(congested, 300e-6, vl=1)


def test_frames_are_drawn_where_there_are_no_snapshots(congested: becalm.Results) -> None:
    framed = becalm.run(congested.scenario.replace({"observe": {"frames": "100 us"}}))
    both = becalm.run(congested.scenario.replace({"observe": {"snapshots": ["300 us"]}}))
    texts = []
    for results, time in ((framed, 290e-6), (both, 300e-6)):
        figure = draw_fabric(results, time)
        texts.append(figure.axes[0].get_title())
        (_, legend) = figure.axes[0].get_legend_handles_labels()
        assert "root of congestion" in legend
    assert texts == ["tree at 0.3 ms"] * 2
    with pytest.raises(becalm.ResultsError, match=r"no frame at 0\.002 s; valid: from 0 s to 0\.0003 s"):
        draw_fabric(framed, 2e-3)
    with pytest.raises(becalm.ResultsError, match="no frames for replication 4"):
        draw_fabric(framed, 290e-6, replication=4)


def test_the_command_draws_from_a_folder(congested: becalm.Results, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from becalm.cli import app
    from becalm.cli.exits import BAD_INPUT

    folder = congested.save(tmp_path / "results")
    picture = tmp_path / "tree.svg"
    done = CliRunner().invoke(app, ["report", str(folder), "--time", "300 us", "--out", str(picture)])
    assert (done.exit_code, done.stdout.strip()) == (0, str(picture))
    assert picture.read_text().startswith("<?xml")
    for wrong, said in (("300", "one of the units ps, ns, us, ms, s"), ("2 ms", "no snapshot at 0.002 s")):
        done = CliRunner().invoke(app, ["report", str(folder), "--time", wrong])
        assert done.exit_code == BAD_INPUT
        assert said in done.stderr


def test_no_snapshots_were_asked_for() -> None:
    scenario = {
        "run": {"duration": "1 us"},
        "topology": {"dumbbell": {}},
        "flows": [{"name": "f", "from": ["A1"], "to": ["BC"]}],
    }
    with pytest.raises(becalm.ResultsError, match=r"observe\.snapshots"):
        _ = becalm.run(becalm.Scenario(scenario)).snapshots


def test_roots_and_victims_have_colours_of_other_hues() -> None:
    import colorsys

    from becalm.plot import ROLES

    def hue(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        return 360 * colorsys.rgb_to_hsv(red, green, blue)[0]

    apart = abs(hue(ROLES["root"]) - hue(ROLES["victim"]))
    assert min(apart, 360 - apart) > 45
    assert len(set(ROLES.values())) == len(ROLES)
