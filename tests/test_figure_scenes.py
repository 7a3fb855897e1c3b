"""Scenes of the papers' figures as files: each figure has one, which is the scenario that the figure runs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import becalm
from becalm.base.errors import BecalmError
from becalm.lab import registry
from becalm.lab.runner import Lab
from becalm.lab.scenes import scene
from test_cli import becalm_command

RUNNING = [item for item in registry() if item.points(True)]
ONLY_NUMBERS = {"santos2002/hardware", "santos2003/hardware"}
"""Figures of numbers that no run of becalm measures."""


def test_every_figure_has_a_scene() -> None:
    assert {item.id for item in registry()} - {item.id for item in RUNNING} == ONLY_NUMBERS


@pytest.mark.parametrize("paper", sorted({item.paper for item in RUNNING}))
def test_a_file_is_the_scenario_that_the_figure_runs(paper: str) -> None:
    for experiment in (item for item in RUNNING if item.paper == paper):
        point = experiment.runs(short=True)[-1]
        number = str(len(experiment.runs(short=True)))
        (run,) = Lab(7).scenarios([point])
        text = scene(experiment.id, number, seed=7, short=True).to_toml()
        assert becalm.Scenario(tomllib.loads(text), name=run.name).hash == run.hash, experiment.id


def test_labels_name_a_point() -> None:
    whole = "control=with control, case=4"
    assert scene("pfister2005/fig3", whole).hash == scene("pfister2005/fig3", "8").hash
    with pytest.raises(BecalmError, match=r"`case=4`: names 2 points; valid: 7 \(case=4 control=without"):
        scene("pfister2005/fig3", "case=4")
    with pytest.raises(BecalmError, match="`case=5`: no such point; valid: 1 "):
        scene("pfister2005/fig3", "case=5")
    with pytest.raises(BecalmError, match="runs nothing"):
        scene("santos2002/hardware", "1")


@pytest.mark.parametrize("arguments", [["pfister2005"], ["pfister2005/fig99"], [], ["pfc", "li2019"]])
def test_a_scene_needs_one_figure(arguments: list[str]) -> None:
    done = becalm_command("reproduce", *arguments, "--scenario", "1")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_scene_runs(tmp_path: Path) -> None:
    listed = becalm_command("list", "figures", "gran2010/ccti_min").stdout
    assert "   3  minimum=80 " in listed
    done = becalm_command("reproduce", "gran2010/ccti_min", "--scenario", "3")
    file = tmp_path / "mine.toml"
    file.write_text(done.stdout)
    assert (
        becalm.load(file).replace({"run.duration": "110 ms"}).resolved["response"]["ibta"]["ccti_min"] == 80
    )
    short = becalm.load(file).replace({"run.duration": "105 ms"})
    assert becalm.run(short).groups.filter(group="F1")["rate"].item() > 0
