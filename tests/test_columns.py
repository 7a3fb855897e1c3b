"""The schema of tables: runs contain the declared tables, and a new table requires only a declaration."""

from __future__ import annotations

import json
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import becalm
from becalm.analysis import formats
from becalm.reports.page import payload
from becalm.results import Results
from becalm.results.attributes import Tables
from becalm.results.tables import SCHEMA, Column, Schema
from becalm.store.archive import opened, pack

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import generate

CASES = json.loads((Path(__file__).parent / "data" / "formats.json").read_text())


@pytest.fixture
def everything(scenario: becalm.Scenario) -> Results:
    """A run with all tables."""
    end = scenario.resolved["run"]["duration"]
    changes = {
        **{"observe.paces": True, "observe.queues": True, "observe.snapshots": [end]},
        **{"observe.frames": end, "observe.spans": True, "observe.messages": True},
        "switch.flow_control": {"pfc": {"watchdog": {"detection": "10 us"}}},
        "faults": [{"kind": {"slow_receiver": {"hosts": ["B1"], "drain_rate": "50 MB/s"}}, "at": "1 us"}],
        "jobs": [{"name": "job", "hosts": ["A1", "B1"], "collective": {"barrier": {}}, "record_ops": True}],
    }
    return becalm.run(scenario.replace(changes))


def test_runs_have_the_tables_and_columns_of_the_schema(everything: Results) -> None:
    found = {
        name: [column for column in table.columns if column != "replication"]
        for name, table in everything.tables.items()
    }
    assert found == {name: list(table.columns) for name, table in SCHEMA.items() if name in found}
    assert set(found) == set(SCHEMA)
    units = {
        name: {column: each.unit for column, each in table.columns.items()} for name, table in SCHEMA.items()
    }
    assert {name: {"replication": ""} | each for name, each in units.items()} == {
        name: dict(each) for name, each in everything.units.items()
    }
    assert {name: getattr(everything, name).height for name in SCHEMA if name != "frames"} == {
        name: table.height for name, table in everything.tables.items() if name != "frames"
    }


def _written(results: Results, folder: Path) -> tuple[Any, ...]:
    """Return all that is made of the table of flows before and after someone reads it."""
    results.save(folder)
    (folder / "kept").write_bytes(pack(results, "0" * 64, "all"))
    with zipfile.ZipFile(folder / "kept") as archive:
        kept = pl.read_parquet(archive.read("flows.parquet"))
    verdict, shown = results.verdict, repr(results)
    flows = results.flows
    assert results.verdict == verdict
    assert repr(results) == shown
    return (flows, pl.read_parquet(folder / "flows.parquet"), kept), verdict, shown


def test_names_of_large_tables_are_numbers_until_someone_reads_them(
    scenario: becalm.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = becalm.run(scenario).flows.height
    whole = {}
    for most in (rows, rows + 1):
        monkeypatch.setattr("becalm.base.columns.MANY_ROWS", most)
        results = becalm.run(scenario.replace({"run.replications": 2}))
        kinds = {kind.base_type() for kind in results.tables.compact("flows").schema.values()}
        assert (pl.Enum in kinds) == (most == rows)
        assert pl.String in {kind.base_type() for kind in results.tables.compact("links").schema.values()}
        whole[most] = _written(results, tmp_path / str(most))
        assert pl.Enum not in set(results.tables.compact("flows").schema.values())
    (few, *said), (many, *same) = whole.values()
    assert said == same
    for own, other in zip(few, many, strict=True):
        assert_frame_equal(own, other)


def test_tables_are_attributes_by_the_schema(everything: Results) -> None:
    assert everything.pauses.height > 0
    with pytest.raises(AttributeError, match="no attribute or table 'pause'"):
        _ = everything.pause  # type: ignore[attr-defined]
    assert set(SCHEMA) <= set(dir(everything))
    bare = becalm.run(everything.scenario.replace({"observe.paces": False}))
    with pytest.raises(becalm.ResultsError, match=r"set observe\.paces = true and run it again"):
        _ = bare.paces


def test_the_stubs_are_those_of_the_schema() -> None:
    assert generate.STUBS.read_text() == generate.stubs()
    assert all(f"def {name}(self)" in generate.stubs() for name in SCHEMA if name not in vars(Results))
    assert not set(SCHEMA) & set(vars(Tables))


def test_a_new_table_appears_everywhere(scenario: becalm.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """One declaration is enough for results, store, documentation and report."""
    columns = {
        "what": Column("what", "name", "", "What it is."),
        "part": Column("part", "share", "", "Its part."),
    }
    probe = Schema(
        "probe", "One row per probe.", "observe.probe = true", over_time=False, rank="part", columns=columns
    )
    run = becalm.run(scenario, threads=1)
    with pytest.raises(AttributeError):
        _ = run.probe  # type: ignore[attr-defined]
    monkeypatch.setitem(SCHEMA, "probe", probe)
    with pytest.raises(becalm.ResultsError, match=r"has no probe: set observe.probe = true"):
        _ = run.probe  # type: ignore[attr-defined]
    rows = pl.DataFrame({"what": ["a", "b"], "part": [0.25, 0.5]})
    table = rows.insert_column(0, pl.Series("replication", [0, 0], dtype=pl.UInt32))
    units = {**run.units, "probe": {"replication": "", "what": "", "part": ""}}
    found = Results(run.scenario, run.replications[:1], {**run.tables, "probe": table}, units)
    assert found.probe.equals(table)  # type: ignore[attr-defined]
    assert "## `probe`\n\nOne row per probe. Requires `observe.probe = true`." in generate.results()
    assert "def probe(self)" in generate.stubs()
    shown = {each["name"]: each for each in header(payload(found))["runs"][0]["tables"]}["probe"]
    assert (shown["about"], shown["rows"]) == ("One row per probe.", [["b", 0.5], ["a", 0.25]])
    assert [each["kind"] for each in shown["columns"]] == ["name", "share"]
    one = becalm.run(scenario.replace({"run.replications": 1}), threads=1)
    kept = Results(one.scenario, one.replications, {**one.tables, "probe": table}, units, one.origin)
    for keep, over_time in (("summary", False), ("summary", True), ("all", True)):
        monkeypatch.setitem(SCHEMA, "probe", Schema(**{**vars(probe), "over_time": over_time}))
        assert ("probe" in pack_and_read(kept, keep).tables) == (not over_time or keep == "all")


def pack_and_read(results: Results, keep: str) -> Results:
    """Return results after storing and loading them."""
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        Path(file.name).write_bytes(pack(results, "0" * 64, keep))
        return opened(Path(file.name), "0" * 64).results()


def header(packed: bytes) -> Any:  # noqa: ANN401
    """Return the header of a payload."""
    whole = zlib.decompress(packed, -zlib.MAX_WBITS)
    length = int.from_bytes(whole[:8], "little")
    return json.loads(whole[8 : 8 + length])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']} {case['value']}")
def test_values_are_written_by_their_kind(case: dict[str, object]) -> None:
    value = float("nan") if case["value"] is None else case["value"]
    assert formats.value(str(case["kind"]), str(case["unit"]), value) == case["python"]


def test_one_is_singular() -> None:
    assert [formats.counted(number_of, "link") for number_of in (0, 1, 2)] == ["0 links", "1 link", "2 links"]


def test_every_kind_has_a_case() -> None:
    kinds = {column.kind for table in SCHEMA.values() for column in table.columns.values()} - {"row"}
    assert kinds == {case["kind"] for case in CASES}
