from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import becalm
from becalm.cli.options import parse_change


def test_defaults_are_resolved(scenario: becalm.Scenario) -> None:
    assert scenario.resolved["run"]["seed"] == 1
    assert scenario.resolved["response"]["lipd"]["rmin"] == 1 / 256
    assert scenario.replications == 1


def test_same_meaning_has_the_same_hash(scenario: becalm.Scenario, text: str) -> None:
    commented = becalm.Scenario("# a comment\n" + text.replace("[run]", "[run]\nseed = 1"), name="other.toml")
    assert commented == scenario
    assert hash(commented) == hash(scenario)
    assert commented.replace({"run.seed": 2}) != scenario


def test_resolved_is_a_scenario_and_means_the_same(scenario: becalm.Scenario) -> None:
    assert becalm.Scenario(without_none(scenario.resolved)) == scenario


def test_text_is_kept_as_it_was_written(scenario: becalm.Scenario, text: str) -> None:
    assert scenario.to_toml() == text
    assert becalm.Scenario(tomllib.loads(text)) == scenario


def test_replace_by_dotted_key(scenario: becalm.Scenario) -> None:
    changed = scenario.replace(
        {"response.lipd.rmin": 0.01, "switch.buffer": "8 packets", "flows.victim.sl": 0}
    )
    assert changed.resolved["response"]["lipd"]["rmin"] == 0.01
    assert changed.resolved["switch"]["buffer"] == "8 packets"
    assert scenario.resolved["response"]["lipd"]["rmin"] == 1 / 256


def test_replace_exchanges_a_choice(scenario: becalm.Scenario) -> None:
    changed = scenario.replace({"response": {"fimd": {"m": 4.0}}})
    assert list(changed.resolved["response"]) == ["fimd"]
    assert changed.replace({"response.fimd.m": None}).resolved["response"]["fimd"]["m"] == 2.0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"flows.nobody.vl": 1}, "no item `nobody`; valid: 0 to 2, or one of: local, remote, victim"),
        ({"flows.7.vl": 1}, "no item `7`"),
        ({"run.duration.x": 1}, "`run.duration` is not a table"),
        ({"run.sede": 1}, "sede"),
        ({"run.seed": object()}, "a scenario can contain only text, numbers, lists and tables"),
    ],
)
def test_replace_names_what_is_wrong(
    scenario: becalm.Scenario, changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(becalm.ScenarioError, match=r"^small\.toml") as caught:
        scenario.replace(changes)
    assert expected in str(caught.value)


def test_all_mistakes_at_once_with_lines(text: str) -> None:
    wrong = text.replace("remote = 6", "remote = -6").replace("load = 0.5", "lod = 0.5")
    with pytest.raises(becalm.ScenarioError) as caught:
        becalm.Scenario(wrong, name="wrong.toml")
    lines = {mistake["line"] for mistake in caught.value.mistakes}
    assert {wrong[: wrong.index(word)].count("\n") + 1 for word in ("remote = -6", "lod")} <= lines
    assert caught.value.file == "wrong.toml"
    assert "`load`" in str(caught.value)


def test_changes_made_in_python_have_no_lines(scenario: becalm.Scenario) -> None:
    with pytest.raises(becalm.ScenarioError) as caught:
        scenario.replace({"run.duration": "-1 ms"})
    assert [mistake["line"] for mistake in caught.value.mistakes] == [None]


def test_load_of_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        becalm.load(tmp_path / "none.toml")


def test_load_of_something_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "image.toml"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(becalm.ScenarioError, match="not a text file in UTF-8"):
        becalm.load(path)


@given(st.text())
def test_any_text_is_a_scenario_or_a_clear_mistake(text: str) -> None:
    with pytest.raises(becalm.ScenarioError) as caught:
        becalm.Scenario(text)
    assert caught.value.mistakes
    assert str(caught.value)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("run.seed=7", ("run.seed", 7)),
        ("switch.buffer=8 packets", ("switch.buffer", "8 packets")),
        ('switch.buffer="8 packets"', ("switch.buffer", "8 packets")),
        ("response={fimd={}}", ("response", {"fimd": {}})),
        ("response.lipd.discrete = true", ("response.lipd.discrete", True)),
    ],
)
def test_changes_on_the_command_line(text: str, change: tuple[str, object]) -> None:
    assert parse_change(text) == change


@pytest.mark.parametrize("text", ["run.seed", "=7", ""])
def test_changes_on_the_command_line_need_a_key_and_a_value(text: str) -> None:
    with pytest.raises(becalm.ScenarioError, match="key=value"):
        parse_change(text)


def without_none(value: Any) -> Any:  # noqa: ANN401
    """Remove keys without a value, because TOML has no null."""
    if isinstance(value, dict):
        return {key: without_none(each) for key, each in value.items() if each is not None}
    return [without_none(each) for each in value] if isinstance(value, list) else value


def test_a_mistake_in_an_option_names_the_option(scenario: becalm.Scenario) -> None:
    with pytest.raises(becalm.ScenarioError) as caught:
        scenario.replace({"switch.buffer": "4 packts", "flows.victim.sl": 99}, option="--set")
    buffer, level = sorted(str(caught.value).splitlines(), reverse=True)
    assert buffer.startswith("--set switch.buffer=4 packts: must be a number of packets, slots or bytes")
    assert level == "--set flows.victim.sl=99: must be between 0 and 15"
