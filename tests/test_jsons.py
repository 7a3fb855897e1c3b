"""JSON of results: values that JSON cannot represent."""

from __future__ import annotations

import json
import math

import pytest

from becalm.base import jsons
from becalm.lab.model import Claim


def test_infinity_is_a_text_and_no_number_is_null() -> None:
    text = jsons.dumps({"a": [math.inf, -math.inf, math.nan, 1.5], "b": (1, "x"), "c": True})
    assert text == '{"a": ["inf", "-inf", null, 1.5], "b": [1, "x"], "c": true}'

    def refuse(word: str) -> float:
        raise AssertionError(word)

    assert json.loads(text, parse_constant=refuse)["a"][0] == "inf"
    assert [jsons.number(each) for each in ("inf", "-inf", 2)] == [math.inf, -math.inf, 2.0]
    assert math.isnan(jsons.number(None))


def test_claims_with_infinite_values_come_back() -> None:
    claim = Claim("never", "quote", 1.0, [1, 2], [[math.inf, 2.0], [1.0, math.inf]], ">= 1", "holds")
    back = Claim.from_json(json.loads(jsons.dumps(claim.to_json())))
    assert back.values == claim.values


def test_other_values_are_as_before() -> None:
    values: list[object] = [{"a": {"b": [1, 2.5, None]}}, [], "text", 3]
    for value in values:
        assert jsons.dumps(value) == json.dumps(value)
    with pytest.raises(TypeError):
        jsons.dumps(object())
