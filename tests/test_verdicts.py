"""One verdict: the command line, the page, the explanation and the notebook begin with the same sentence."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
from becalm import examples
from becalm.cli import app
from becalm.errors import ResultsError
from becalm.reports.pair import pair
from becalm.verdicts import versus

SHORTER = {"pfister2005_hot_spot_432": "1.5 ms"}
"""Durations of examples that would take a minute."""


def header(page: str, element: str = "payload") -> dict[str, Any]:
    """Return the header of a page's payload."""
    data = re.search(rf'id="{element}">([^<]*)<', page)
    assert data is not None
    whole = zlib.decompress(base64.b64decode(data[1]), -zlib.MAX_WBITS)
    length = int.from_bytes(whole[:8], "little")
    read: dict[str, Any] = json.loads(whole[8 : 8 + length])
    return read


@pytest.mark.parametrize("name", examples.names())
def test_every_face_of_an_example_begins_with_the_same_sentence(name: str, tmp_path: Path) -> None:
    change = [f"--set=run.duration={SHORTER[name]}", "--set=run.warmup=0.5 ms"] if name in SHORTER else []
    arguments = ["run", "--example", name, "--out", str(tmp_path / "r"), "--quiet", "--json", *change]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    sentence = json.loads(told.stdout)["verdict"]
    results = becalm.load_results(tmp_path / "r")
    assert sentence == results.verdict
    assert sentence.startswith(("With congestion control", "Without congestion control", "Replication 0 of"))
    explained = CliRunner().invoke(app, ["explain", str(tmp_path / "r"), "--max-time", "0 s"])
    assert " ".join(explained.stdout.split()).startswith(sentence)
    alone = re.sub(r"^Replication .*?: ", "", sentence)
    page = becalm.report(results)
    assert header(page)["runs"][0]["verdict"] == alone
    assert f"<p>{html.escape(sentence)}</p>" in page.split("<noscript>")[1].split("</noscript>")[0]
    assert repr(results).startswith(sentence)


def test_the_first_example_has_one_victim_and_control_helps_it(tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    arguments = ["run", "--example", "storage_incast", "--twin", "--out", str(tmp_path / "r"), "--quiet"]
    told = CliRunner().invoke(app, [*arguments, "--json", "--report", str(page)])
    assert told.exit_code == 0, told.output
    sentence = json.loads(told.stdout)["verdict"]
    assert sentence.startswith("Congestion control helps: bystander delivers")
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert sentence in " ".join(readme.replace("\n> ", " ").split())
    without, controlled = (becalm.load_results(tmp_path / name) for name in ("r-without-control", "r"))
    assert "1 flow of bystander from host node9 is a victim and loses 8" in (without.verdict or "")
    assert "no flow is a victim" in (controlled.verdict or "")
    text = page.read_text(encoding="utf-8")
    left, right = header(text), header(text, "second")
    assert left["about"]["verdict"] == sentence
    assert [left["runs"][0]["verdict"], right["runs"][0]["verdict"]] == [without.verdict, controlled.verdict]


def test_a_twin_needs_control(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["run", "--example", "two_jobs", "--twin", "--out", str(tmp_path / "r")])
    assert told.exit_code == 2
    assert "--twin: the scenario has no congestion control" in told.output
    assert not (tmp_path / "r").exists()


def test_results_without_tables_have_no_verdict() -> None:
    results = becalm.run(examples.load("storage_incast"))
    del results.tables["tree"]
    assert results.verdict is None
    assert repr(results).startswith("<Results of")


def test_runs_of_other_fabrics_or_traffic_are_not_compared() -> None:
    one = becalm.run(examples.load("storage_incast"))
    other = becalm.run(examples.load("two_jobs"))
    with pytest.raises(ResultsError, match="differ in their groups of flows: bystander, incast; experts"):
        versus(one, other)
    with pytest.raises(ResultsError, match="on different fabrics; valid: two runs on the same fabric"):
        pair(one, other)


def test_a_page_of_two_runs_takes_no_option_of_one(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["report", str(tmp_path), str(tmp_path), "--replication", "1"])
    assert told.exit_code == 2
    assert "have no effect on a page of two runs" in told.output
