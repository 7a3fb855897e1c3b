"""All schemes on the same scenes: complete, and with the order that the page tells of."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from becalm import comparison
from becalm.cli import app
from becalm.lab import Lab


@pytest.fixture(scope="module")
def scenes() -> dict[str, pl.DataFrame]:
    result = CliRunner().invoke(app, ["compare", "--short", "--json"])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return {line["scene"]: pl.DataFrame(line["schemes"]) for line in lines}


def value(table: pl.DataFrame, scheme: str, column: str) -> float:
    return float(table.filter(pl.col("scheme") == scheme)[column].item())


def test_every_scheme_is_on_every_scene(scenes: dict[str, pl.DataFrame]) -> None:
    assert set(scenes) == set(comparison.SCENES)
    for table in scenes.values():
        assert table["scheme"].to_list() == list(comparison.SCHEMES)


def test_a_window_does_not_free_the_victim_of_the_dumbbell(scenes: dict[str, pl.DataFrame]) -> None:
    dumbbell = scenes["dumbbell"]
    for scheme in ("window of 1", "binary feedback"):
        assert 0.03 < value(dumbbell, scheme, "victims") < 0.06
    for scheme in ("LIPD", "FIMD", "AIMD"):
        assert value(dumbbell, scheme, "victims") > 0.6


def test_without_control_the_tree_collapses(scenes: dict[str, pl.DataFrame]) -> None:
    tree = scenes["tree"]
    assert value(tree, "none", "victims") < 0.3
    assert value(tree, "binary feedback", "victims") > 0.95


def test_it_is_the_same_again_with_one_thread(scenes: dict[str, pl.DataFrame]) -> None:
    points = [point for point in comparison.points(True) if point.labels["scene"] == "dumbbell"][:2]
    lab = Lab(seed=1, threads=1)
    lab.run(points)
    assert [comparison._row(outcome) for outcome in lab.outcomes(points)] == scenes["dumbbell"].head(
        2
    ).to_dicts()
