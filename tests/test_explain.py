"""`becalm explain` names planted causes, and blames no flow without a reason."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import becalm
import explain_scenes
from becalm.analysis.case import Case
from becalm.analysis.facts import Facts
from becalm.cli import BAD_INPUT, app
from becalm.explanations import TOPICS, Explanation
from becalm.explanations.rules import RULES
from becalm.reports.page import _diagnosis
from becalm.reports.source import _results
from explain_scenes import FABRICS, Scene

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from rules_page import rules

SCENARIOS = Path(__file__).parents[1] / "scenarios"
SCENES = list(explain_scenes.scenes())
READY = {
    "binary_feedback": {"hot host"},
    "blocking_switch": set(),
    "congestion_spreading": {"hot host"},
    "input_triggered_lipd": {"hot host"},
    "legacy_hosts": {"hot host"},
    "naive_marking": {"hot host"},
    "on_off": {"hot host"},
    "output_threshold": {"hot host"},
    "pfc_spreading": {"hot host"},
    "storage_incast": {"hot host", "slowed by marks"},
    "tree32/fabric": set(),
    "uniform_load": set(),
}
"""Causes in the ready scenarios, except slow ones."""

SHORT = {"pfister2005_hot_spot_432": "1.2 ms", "websearch": "1.2 ms"}
"""Durations of the largest ready scenarios in tests of their commands."""


def explained(scene: Scene) -> tuple[becalm.Results, Explanation]:
    results = becalm.run(scene.scenario, threads=1)
    return results, becalm.explain(results)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.scenario.name)
def test_names_the_planted_cause_and_no_other(scene: Scene) -> None:
    results, found = explained(scene)
    # Wrong parameters also slow the flow next to the incast, through marks.
    # gran2010's parameters slow some pairs with crossing paths by a fifth, through marks of short queues.
    wrong = scene.name in ("step too large", "timer too long") or scene.scenario.name.startswith("pairs-")
    also = {"slowed by marks"} if wrong else set()
    assert {cause for cause, _ in found.causes} - also == {cause for cause, _ in scene.causes}, str(found)
    for cause, place in scene.causes:
        (said,) = (each for each in found.sentences if each.cause == cause)
        assert place in f"{said.place} {said.text}", str(found)
        assert said.place in _crossed(scene), str(found)
    _check_references(results, found)


def _crossed(scene: Scene) -> set[str]:
    """Return the links that the scene's flows cross."""
    network = scene.scenario.network()
    return set(network.links["link"][network.flow_paths["link"].unique()])


def _check_references(results: becalm.Results, found: Explanation) -> None:
    """Check that each sentence refers to existing rows and columns, or to a key of the scenario."""
    for sentence in found.sentences:
        assert sentence.references, sentence
        assert sentence.topic in TOPICS
        assert sentence.text.endswith(".")
        # Links have one style, except in text to copy.
        assert "->" not in "".join(sentence.text.split("`")[::2]).replace(" -> ", "")
        for reference in sentence.references:
            if reference.key:
                assert reference.key.split(".")[0] in results.scenario.resolved
            else:
                table = results.tables[reference.table]
                assert reference.rows and max(reference.rows) < table.height
                assert reference.columns and set(reference.columns) <= set(table.columns)


def test_scenes_cover_all_causes_that_are_asked_for() -> None:
    assert len({scene.name for scene in SCENES}) == 10
    assert len(SCENES) == 7 * len(FABRICS) + 4 * len(explain_scenes.RACKS)


def test_sentences_have_the_numbers_of_their_rows() -> None:
    results, found = explained(explain_scenes.hot_host(FABRICS[0]))
    (root,) = (each for each in found.sentences if each.rule == "roots")
    row = results.tree.row(root.references[0].rows[0], named=True)
    assert f"{row['from']}->{row['to']}" == root.place == "spine0->leaf0"
    assert {name: root.numbers[name] for name in ("since", "root_share", "longest")} == {
        name: row[name] for name in ("since", "root_share", "longest")
    }
    (fed,) = (each for each in found.sentences if each.rule == "feeders")
    accounts = results.victims[list(fed.references[0].rows)]
    assert set(accounts["group"]) == {"hot"}
    assert fed.numbers["hosts"] == 8
    assert fed.numbers["offered"] == pytest.approx(accounts["offered"].sum())
    assert fed.numbers["delivered"] == pytest.approx(accounts["delivered"].sum())


def test_names_victims_and_their_loss() -> None:
    results, found = explained(explain_scenes.hot_host(FABRICS[0]))
    (said,) = found.about("victims")
    row = results.victims.row(said.references[0].rows[0], named=True)
    assert (row["host"], row["group"]) == ("H7", "victim")
    assert said.numbers["delivered"] == pytest.approx(row["delivered"])
    assert row["delivered_share"] < 0.9
    (lost,) = (each for each in found.sentences if each.rule == "lost")
    assert lost.numbers["lost"] == pytest.approx(row["offered"] - row["delivered"])


def test_control_that_holds_is_not_blamed() -> None:
    """With a timer of 20 us, four sources keep the link full; the guideline's timer starves it."""
    fabric = FABRICS[0]
    found = {}
    for timer in (150, 20):
        parameters = explain_scenes.ibta(ccti_timer=timer)
        scenario = explain_scenes.made(
            "held", fabric, explain_scenes.hot_spot(fabric, 4), parameters, "20 ms"
        )
        found[timer] = becalm.explain(becalm.run(scenario.replace({"run.warmup": "10 ms"}), threads=1))
    assert {cause for cause, _ in found[150].causes} == {"hot host", "timer too long"}, str(found[150])
    assert {cause for cause, _ in found[20].causes} == {"hot host"}, str(found[20])
    assert [each.rule for each in found[20].about("control")] == ["held"], str(found[20])
    assert not found[20].about("advice"), str(found[20])


def test_a_link_that_waits_for_another_is_no_bottleneck() -> None:
    """Remote flows and the victim offer twice the inter-switch link's rate, but the link is a third full."""
    window = {"run.duration": "59 ms", "run.warmup": "45 ms", "flows.victim.stop": "59 ms"}
    scenario = becalm.load(SCENARIOS / "congestion_spreading.toml").replace(window)
    found = becalm.explain(becalm.run(scenario, threads=1))
    assert found.causes == [("hot host", "B->BC")]
    (said,) = found.about("victims")
    assert said.place == "victim"
    assert said.numbers["delivered"] < 0.2 * said.numbers["offered"]


def test_a_slow_receiver_is_named_amid_other_traffic() -> None:
    fabric = FABRICS[0]
    flows = [explain_scenes.group("all", ["*"], ["*"], **explain_scenes.load(0.5))]
    drain = {"caps": [{"hosts": ["H5"], "drain_rate": "300 MB/s"}]}
    scenario = explain_scenes.made("slow", fabric, flows, {"adapter": drain})
    found = becalm.explain(becalm.run(scenario, threads=1))
    assert found.causes == [("slow receiver", "leaf1->H5")], str(found)
    assert found.about("victims"), str(found)


def test_a_link_that_becomes_slower_is_named() -> None:
    fabric = FABRICS[0]
    flows = [explain_scenes.group("one", ["H1"], ["H5"], **explain_scenes.load(0.5))]
    changes = [{"link": "leaf1->H5", "at": "1 ms", "rate": "200 MB/s"}]
    switch = {"buffer": "16 KiB", "arbiter": {"round_robin": {}}, "switching": "store_and_forward"}
    scenario = explain_scenes.made("slower", fabric, flows, {"changes": changes, "switch": switch})
    found = becalm.explain(becalm.run(scenario, threads=1))
    assert found.causes == [("slow cable", "leaf1->H5")], str(found)


@pytest.mark.parametrize("name", READY)
def test_ready_scenarios_raise_no_false_alarm(name: str) -> None:
    found = becalm.explain(becalm.run(becalm.load(SCENARIOS / f"{name}.toml"), threads=1))
    assert {cause for cause, _ in found.causes} == READY[name], str(found)


def test_names_the_key_that_would_show_more() -> None:
    scene = explain_scenes.step_too_large(FABRICS[0])
    keys = {}
    changed: dict[str, dict[str, Any]] = {
        "as it is": {},
        "long windows": {"observe.window": "2 ms"},
        "no links": {"observe.links": []},
        "paces": {"observe.paces": True},
    }
    for name, changes in changed.items():
        found = becalm.explain(becalm.run(scene.scenario.replace(changes), threads=1))
        keys[name] = {reference.key for each in found.about("missing") for reference in each.references}
    assert keys["as it is"] == {"observe.paces"}
    assert keys["long windows"] == {"observe.window", "observe.paces"}
    assert keys["no links"] == {"observe.links", "observe.paces"}
    assert keys["paces"] == set()


@pytest.mark.parametrize("fabric", FABRICS[:3], ids=lambda fabric: fabric.name)
def test_oscillation_is_seen_in_the_series(fabric: explain_scenes.Fabric) -> None:
    """One BECN nearly stops a source, and the timer soon releases it."""
    table = {"linear": {"entries": 128, "max": "300 us"}}
    parameters = explain_scenes.ibta(ccti_increase=127, ccti_timer=20, cct=table)
    scenario = explain_scenes.made("swing", fabric, explain_scenes.hot_spot(fabric, 4), parameters, "12 ms")
    found = becalm.explain(becalm.run(scenario, threads=1))
    (said,) = (each for each in found.sentences if each.rule == "oscillates")
    assert said.cause == "step too large"
    assert said.numbers["low"] < 0.05
    assert said.numbers["high"] > 0.2


def test_victims_of_many_small_flows_are_those_of_the_page() -> None:
    """Each flow offers only a packet or two, so only a host's flows together show its loss."""
    scenario = becalm.Scenario(
        {
            "run": {"duration": "0.5 ms", "warmup": "0.2 ms"},
            "topology": {"tree": {"ports": 8, "levels": 3}},
            "flows": [
                {"name": "background", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.3}}},
                {
                    "name": "hot",
                    "from": ["H0..H31"],
                    "to": ["H127"],
                    "traffic": {"poisson": {"load": 0.15}},
                },
            ],
        },
        name="many",
    )
    results = becalm.run(scenario, threads=1)
    case = Case(Facts(results, 0))
    packet = float(scenario.summary["packet_bytes"])
    flows = case.facts.flows
    assert flows.offered.max() * case.facts.window < 200 * packet
    found = {(flows.group[flow], flows.source[flow]) for flow in case.victims}
    suffering = (pl.col("victims") > pl.col("contributors")) & (pl.col("delivered_share") < 0.9)
    # A difference of a few packets may be random, which the table cannot distinguish.
    missing = (pl.col("offered") - pl.col("delivered")) * case.facts.window / packet
    rows = results.victims.filter(suffering, missing > 15)
    listed = set(zip(rows["group"].to_list(), rows["host"].to_list(), strict=True))
    assert len(listed) >= 10 and listed <= found
    (said,) = becalm.explain(results).about("victims")
    assert said.numbers["hosts"] == len({host for _, host in found})


def test_commands_that_are_proposed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scene = explain_scenes.hot_host(FABRICS[0])
    Path(scene.scenario.name).write_text(scene.scenario.to_toml())
    _, found = explained(scene)
    commands = [each.command for each in found.about("advice") if each.command]
    assert [command.split()[0] for command in commands] == ["manage", "tune"]
    result = CliRunner().invoke(app, shlex.split(commands[0]))
    assert result.exit_code == 0, result.output
    managed = becalm.explain(becalm.run(becalm.load("managed.toml"), threads=1))
    (before,), after = (
        [each.numbers["lost"] for each in said.about("cost") if each.rule == "lost"]
        for said in (found, managed)
    )
    # Without a loss, no sentence mentions it.
    assert sum(after) < 0.5 * before
    assert "manage" not in {each.rule for each in managed.about("advice")}, "it has those parameters already"
    arguments = [*shlex.split(commands[1])[:-1], "0"]
    result = CliRunner().invoke(app, arguments)
    assert "--trials" in result.output, "the other options are read before the number of trials is refused"


def test_command_line_prints_text_and_json(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    results = becalm.run(explain_scenes.hot_host(FABRICS[0]).scenario.replace({"run.replications": 2}))
    results.save(folder)
    printed = CliRunner().invoke(app, ["explain", str(folder), "--replication", "1"])
    assert printed.exit_code == 0, printed.output
    assert "\nCauses\n  spine0 -> leaf0 is on the way to a hot host, H0: 8 hosts offer" in printed.stdout
    objects = CliRunner().invoke(app, ["explain", str(folder), "--replication", "1", "--json"])
    found = json.loads(objects.stdout)
    assert found["causes"] == [{"cause": "hot host", "place": "spine0->leaf0"}]
    first = next(each for each in found["sentences"] if each["rule"] == "roots")
    reference = first["references"][0]
    assert reference["table"] == "tree"
    assert results.tree["replication"][reference["rows"][0]] == 1
    for arguments, message in (
        ([str(folder), "--replication", "2"], "valid: 0 to 1"),
        ([str(tmp_path)], "not a results folder"),
    ):
        refused = CliRunner().invoke(app, ["explain", *arguments])
        assert refused.exit_code == BAD_INPUT
        assert message in refused.output


def test_the_page_describes_every_rule_that_names_a_cause() -> None:
    text = rules()
    for rule in RULES:
        assert (f"`{rule.name}`" in text) == ("*" in rule.says)
        assert rule.says
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_commands_need_a_file_with_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scene = explain_scenes.hot_host(FABRICS[0])
    results = becalm.run(scene.scenario, threads=1)

    def commands(folder: str | None = None) -> list[str]:
        return [
            each.command for each in becalm.explain(results, folder=folder).about("advice") if each.command
        ]

    assert commands() == [], "there is no such file"
    Path(scene.scenario.name).write_text(scene.scenario.replace({"run.seed": 99}).to_toml())
    assert commands() == [], "it has another scenario"
    Path(scene.scenario.name).write_text(scene.scenario.to_toml())
    assert [each.split()[:2] for each in commands()] == [
        [name, scene.scenario.name] for name in ("manage", "tune")
    ]
    results.save("my runs")
    assert [shlex.split(each)[:2] for each in commands("my runs")] == [
        ["manage", "my runs"],
        ["tune", "my runs"],
    ]
    Path("managed.toml").write_text("")
    assert "--out managed-2.toml" in commands("my runs")[0]


@pytest.mark.parametrize("name", sorted(path.stem for path in SCENARIOS.glob("*.toml")))
def test_commands_on_ready_scenarios_run_as_printed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the commands in the folder of the explained run; only searches are shortened."""
    monkeypatch.chdir(tmp_path)
    scenario = becalm.load(SCENARIOS / f"{name}.toml")
    shorter = [f"--set=run.duration={SHORT[name]}"] if name in SHORT else []
    changed = ["--set=run.seed=12", *shorter]
    ran = CliRunner().invoke(app, ["run", "--example", name, *changed, "--quiet"])
    assert ran.exit_code == 0, ran.output
    said = CliRunner().invoke(app, ["explain", f"results/{name}", "--json", "--max-time", "0 s"])
    assert said.exit_code == 0, said.output
    printed = [each["command"] for each in json.loads(said.stdout)["sentences"] if each["command"]]
    if "pfc" in scenario.resolved["switch"]["flow_control"]:
        assert not any(command.startswith(("manage", "tune")) for command in printed)
    for command in printed:
        arguments = shlex.split(command)
        assert arguments[1] == f"results/{name}"
        if arguments[0] == "tune":
            arguments = [*arguments[:-1], "0"]
        result = CliRunner().invoke(app, arguments)
        if arguments[0] == "tune":
            assert "--trials" in result.output, "all else is read before the number of trials is refused"
        else:
            assert result.exit_code == 0, result.output
        if arguments[0] == "manage":
            assert becalm.load("managed.toml").resolved["run"]["seed"] == 12


def test_a_saved_run_has_all_sentences(tmp_path: Path) -> None:
    results = becalm.run(becalm.load(SCENARIOS / "pfc_spreading.toml"), threads=1)
    results.save(tmp_path / "saved")
    read = _results(tmp_path / "saved")
    said = [[each.text for each in becalm.explain(found).about("cost")] for found in (results, read)]
    assert said[0] == said[1] and any("PFC pauses" in text for text in said[0])


@pytest.mark.parametrize("name", ["storage_incast", "all_reduce_beside_incast", "pfc_spreading"])
def test_a_page_has_the_sentences_of_explain(name: str) -> None:
    results = becalm.run(becalm.load(SCENARIOS / f"{name}.toml"))
    said = [each.text for each in becalm.explain(results).sentences]
    assert said and sorted(each["text"] for each in _diagnosis(results, 0)) == sorted(said)


def test_advice_begins_with_the_root_to_which_victims_lose_most(tmp_path: Path) -> None:
    """Path collisions have separate remedies, but are not the worst root here."""
    senders = [f"H{18 * leaf}" for leaf in range(18) if leaf != 9]
    work = {"from": ["*"], "pattern": {"permutation": {}}, "traffic": {"poisson": {"load": 0.3}}}
    scene = {
        "run": {"duration": "200 us", "seed": 3},
        "topology": {"clos": {"leaves": 18, "spines": 18, "hosts_per_leaf": 18}},
        "switch": {"buffer": "16 KiB"},
        "flows": [{"name": "hot", "from": senders, "to": ["H162"]}, {"name": "work", **work}],
    }
    results = becalm.run(becalm.Scenario(scene))
    found = becalm.explain(results, folder=results.save(tmp_path / "out"))
    advice = found.about("advice")
    assert len({each.place for each in advice}) > 1
    assert advice[0].place == found.about("roots")[0].place
