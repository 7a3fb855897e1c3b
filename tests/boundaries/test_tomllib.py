"""tomllib: TOML of strangers is data. What it cannot read ends with one message that names the line."""

from __future__ import annotations

import pytest

import becalm
from becalm.base.documents import parse
from becalm.base.errors import ScenarioError

BROKEN = {
    "a = ": 1,
    "a = 1\nb = {": 2,
    "a = 1\na = 2": 2,
    "a = 1979-99-99": 1,
    'a = "\\ud800"': 1,
    "[" * 2000: 1,
    "a = " + "[" * 2000: 1,
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_text_ends_with_one_message_and_its_line(text: str) -> None:
    for read in (lambda: parse(text, "x.toml"), lambda: becalm.Scenario(text, name="x.toml")):
        with pytest.raises(ScenarioError) as raised:
            read()
        assert str(raised.value).startswith("x.toml") and len(str(raised.value)) < 5000


@pytest.mark.parametrize(
    "text", ["a = 1" + "1" * 5000, "a = 1e999", "a = nan", "a = 07:32:00", "a.b.c.d.e = 1"]
)
def test_values_that_python_reads_in_its_own_way_are_no_surprise(text: str) -> None:
    with pytest.raises(ScenarioError):
        becalm.Scenario(text, name="x.toml")


def test_python_and_the_core_read_the_same() -> None:
    """Both parsers see every scenario: the core checks it, and Python changes it."""
    flows = '[[flows]]\nname = "\\u0041"\nfrom = ["A1"]\nto = ["BC"]\n'
    text = f'[run]\nduration = "1 ms" # a\n[topology.dumbbell]\n{flows}'
    scenario = becalm.Scenario(text)
    assert scenario.data()["flows"][0]["name"] == scenario.resolved["flows"][0]["name"] == "A"
    assert becalm.Scenario(scenario.data()) == scenario
