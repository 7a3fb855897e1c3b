"""Proposed changes are tried: explanations state what they gain, and gain it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
from becalm.analysis import spreading
from becalm.cli import app
from becalm.explanations import Explanation, Sentence

Data = dict[str, Any]
LINE_RATE = {f"H{host}": f"H{host + 4}" for host in (0, 1, 2, 3, 8, 9, 10, 11)}


def clos(connections: dict[str, str], **more: Any) -> Data:  # noqa: ANN401
    """Four leaves of four hosts under four spines, with ECMP."""
    return {
        "run": {"duration": "1 ms", "warmup": "200 us"},
        "topology": {"clos": {"leaves": 4, "spines": 4, "hosts_per_leaf": 4, "rate": "100 Gb/s"}},
        "switch": {"buffer": "64 KiB", "paths": {"flow": {}}},
        "flows": [
            {
                "name": "pairs",
                "connections": [{"from": one, "to": other} for one, other in connections.items()],
                **more,
            }
        ],
    }


def tried(data: Data) -> tuple[becalm.Results, Explanation]:
    results = becalm.run(becalm.Scenario(data, name="tried"), threads=1)
    return results, becalm.explain(results, max_time=60)


def gains(found: Explanation, rule: str = "remedy") -> list[Sentence]:
    return [each for each in found.about("advice") if each.rule == rule and "gain" in each.numbers]


@pytest.mark.parametrize("traffic", [{}, {"traffic": {"poisson": {"load": 0.9}}}])
def test_collisions_of_hosts_at_line_rate_are_no_lack_of_capacity(traffic: Data) -> None:
    """Four flows fit on four uplinks, but two of the uplinks carry two flows each."""
    results, found = tried(clos(LINE_RATE, **traffic))
    assert {cause for cause, _ in found.causes} == {"path collision"}, str(found)
    before = float(results.groups["rate"].sum())
    best = gains(found)[0]
    assert "switch.paths={least_waiting = {}}" in best.text
    after = becalm.run(results.scenario.replace({"switch.paths": {"least_waiting": {}}}), threads=1)
    assert float(after.groups["rate"].sum()) == pytest.approx((1 + best.numbers["gain"]) * before)
    assert best.numbers["gain"] > 0.2


def test_a_link_is_compared_with_the_mean_of_its_equals_and_not_with_an_idle_one() -> None:
    """Three flows of 0.6 fit on two uplinks if their packets are spread."""
    data = clos({"H0": "H4", "H1": "H6", "H2": "H5"}, traffic={"poisson": {"load": 0.6}})
    data["topology"]["clos"]["spines"] = 2
    data["switch"]["paths"] = {"destination": {}}
    _, found = tried(data)
    assert found.causes == [("path collision", "leaf0->spine0")], str(found)
    (cause,) = found.about("causes")
    assert cause.numbers["offered"] == pytest.approx(1.2, rel=0.1)
    assert cause.numbers["even"] == pytest.approx(0.9, rel=0.1)
    assert gains(found)[0].numbers["gain"] > 0.1


def test_flows_that_exceed_all_uplinks_together_lack_capacity() -> None:
    data = clos({"H0": "H4", "H1": "H5", "H2": "H6"}, traffic={"poisson": {"load": 0.9}})
    data["topology"]["clos"]["spines"] = 2
    _, found = tried(data)
    assert {cause for cause, _ in found.causes} == {"oversubscribed link"}, str(found)
    (wider,) = (each for each in gains(found) if "topology.clos.spines=4" in each.text)
    assert wider.numbers["gain"] > 0.1


def test_nothing_is_tried_without_time() -> None:
    results = becalm.run(becalm.Scenario(clos(LINE_RATE), name="tried"), threads=1)
    assert not gains(becalm.explain(results))
    hurried = becalm.explain(results, max_time=1e-9)
    assert not gains(hurried)
    (said,) = (each for each in hurried.about("missing") if each.rule == "untried")
    assert "--max-time" in said.text


def test_printed_commands_gain_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.toml").write_text(becalm.Scenario(clos(LINE_RATE)).to_toml())
    runner = CliRunner()
    assert runner.invoke(app, ["run", "pairs.toml", "--quiet"]).exit_code == 0
    said = runner.invoke(app, ["explain", "results/pairs", "--json"])
    assert said.exit_code == 0, said.output
    found = [each for each in json.loads(said.stdout)["sentences"] if each["rule"] == "remedy"]
    command = shlex.split(found[0]["command"])
    assert command[:2] == ["run", "results/pairs"]
    ran = runner.invoke(app, [*command, "--out", "better", "--quiet"])
    assert ran.exit_code == 0, ran.output
    before, after = (
        float(becalm.load_results(each).groups["rate"].sum()) for each in ("results/pairs", "better")
    )
    assert after == pytest.approx((1 + found[0]["numbers"]["gain"]) * before)
    none = runner.invoke(app, ["explain", "results/pairs", "--max-time", "0 s"])
    assert "tried" not in none.stdout
    assert runner.invoke(app, ["explain", "results/pairs", "--max-time", "soon"]).exit_code == 2


def test_many_flows_are_compared_with_the_mean_of_their_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without following all paths, the verdict is the same on a layered fabric."""
    results = becalm.run(becalm.Scenario(clos(LINE_RATE), name="tried"), threads=1)
    followed = becalm.explain(results)
    monkeypatch.setattr(spreading, "MANY", 0)
    compared = becalm.explain(results)
    assert followed.causes == compared.causes != []
    evens = [[each.numbers["even"] for each in found.about("causes")] for found in (followed, compared)]
    assert evens[0] == pytest.approx(evens[1])
