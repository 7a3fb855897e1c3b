from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

import becalm
from becalm.cli import console


@pytest.fixture(scope="module")
def results() -> becalm.Results:
    from conftest import SMALL

    return becalm.run(becalm.Scenario(SMALL, name="small.toml").replace({"run.replications": 2}))


def test_tables(results: becalm.Results) -> None:
    names = {"flows", "groups", "latencies", "links", "buffers", "hosts", "tree", "victims", "series"}
    assert set(results.tables) == names
    assert results.groups["group"].to_list() == ["local", "remote", "victim"] * 2
    assert results.flows.height == 2 * 11
    assert results.tree.filter(role="root", to="BC")["replication"].to_list() == [0, 1]
    assert results.victims.height == results.flows.height
    for name, table in results.tables.items():
        assert table.columns[0] == "replication"
        assert list(results.units[name]) == table.columns


def test_units(results: becalm.Results) -> None:
    assert results.units["groups"]["rate"] == "B/s"
    assert results.units["series"]["time"] == "s"
    assert results.units["flows"]["replication"] == ""


def test_paces_are_there_if_asked_for(results: becalm.Results) -> None:
    with pytest.raises(becalm.ResultsError, match=r"observe\.paces = true"):
        _ = results.paces
    paced = becalm.run(results.scenario.replace({"observe.paces": True}))
    assert paced.paces["group"].unique().sort().to_list() == ["local", "remote", "victim"]
    assert paced.units["paces"]["gap_mean"] == "packet times"
    assert paced.units["paces"]["delay_max"] == "s"


def test_rates_are_those_of_a_lossless_fabric(results: becalm.Results) -> None:
    # A packet counts when its transmission begins. In 1 ms, one packet is 0.2% of a link's capacity.
    assert results.links["utilization"].is_between(0, 1.0021).all()
    hot = results.groups.filter(pl.col("group") != "victim").group_by("replication").agg(pl.col("rate").sum())
    assert (hot["rate"] <= 1.0021e9).all()


def test_there_and_back(results: becalm.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "deep" / "folder")
    back = becalm.load_results(folder)
    assert back.scenario == results.scenario
    assert back.replications == results.replications
    assert back.units == results.units
    assert all(back.tables[name].equals(table) for name, table in results.tables.items())
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["manifest.json", *(f"{name}.parquet" for name in results.tables)]
    )


def test_parquet_files_carry_their_units(results: becalm.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "out")
    metadata = pl.read_parquet_metadata(folder / "groups.parquet")
    assert metadata["unit:rate"] == "B/s"


def test_tables_for_pandas_name_what_they_need(
    results: becalm.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(becalm.ResultsError, match=r"needs pandas and pyarrow: .*becalm\[pandas\]"):
        results.to_pandas("groups")


def test_manifest(results: becalm.Results, tmp_path: Path) -> None:
    manifest = json.loads((results.save(tmp_path / "out") / "manifest.json").read_text())
    replications = manifest["replications"]
    spent = [item["processor_time"] for item in replications]
    assert manifest["scenario"]["hash"] == results.scenario.hash
    assert becalm.Scenario(manifest["scenario"]["toml"]) == results.scenario
    assert manifest["becalm"] == becalm.__version__
    assert manifest["seed"] == 1
    assert manifest["fingerprints"] == results.fingerprints
    assert manifest["guards"] == results.guards
    assert manifest["events"] > manifest["packet_hops"] > 0
    assert manifest["wall_time"] > 0
    assert manifest["processor_time"] == results.processor_time == sum(spent)
    assert all(
        0 < seconds <= 1.1 * item["wall_time"] for seconds, item in zip(spent, replications, strict=True)
    )
    assert manifest["tables"]["flows"]["rows"] == results.flows.height


def test_a_summary_without_processor_time_names_no_speed(
    results: becalm.Results,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    for measured, named in ((2.0, True), (None, False)):
        monkeypatch.setattr(becalm.Results, "processor_time", measured)
        console.show_run(results, tmp_path)
        said = "".join(capsys.readouterr())
        assert ("per core-second" in said) == named
        assert "packet-hops" in said


def test_never_overwrites_silently(results: becalm.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "out")
    (folder / "groups.parquet").unlink()
    with pytest.raises(becalm.ResultsError, match="already exists"):
        results.save(folder)
    results.save(folder, overwrite=True)
    assert (folder / "groups.parquet").is_file()


@pytest.mark.parametrize("name", ["../secret.parquet", "/etc/passwd", "sub/x.parquet", "x.txt", 3])
def test_tables_are_files_of_the_folder(results: becalm.Results, tmp_path: Path, name: object) -> None:
    results.groups.write_parquet(tmp_path / "secret.parquet")
    folder = results.save(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"]["groups"]["file"] = name
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(becalm.ResultsError, match=r"manifest\.json: not a becalm manifest"):
        becalm.load_results(folder)


def test_a_table_that_is_a_link_is_not_followed(results: becalm.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "out")
    (folder / "groups.parquet").rename(tmp_path / "elsewhere.parquet")
    (folder / "groups.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(becalm.ResultsError, match=r"groups\.parquet: is a symbolic link"):
        becalm.load_results(folder)


@pytest.mark.parametrize("content", [None, b"", b"PAR1", bytes(1000)])
def test_a_damaged_table_is_named(results: becalm.Results, tmp_path: Path, content: bytes | None) -> None:
    folder = results.save(tmp_path / "out")
    (folder / "groups.parquet").unlink()
    if content is not None:
        (folder / "groups.parquet").write_bytes(content)
    with pytest.raises(becalm.ResultsError, match=r"groups\.parquet: (damaged|is missing)"):
        becalm.load_results(folder)


def test_never_overwrites_what_is_not_a_results_folder(results: becalm.Results, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").touch()
    with pytest.raises(becalm.ResultsError, match="not a results folder"):
        results.save(precious, overwrite=True)
    assert (precious / "thesis.tex").exists()


def test_a_failed_write_leaves_nothing(
    results: becalm.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "manifest", fail)
    with pytest.raises(KeyboardInterrupt):
        results.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, "", "not json"])
def test_load_of_something_else(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(becalm.ResultsError, match="not a results folder"):
        becalm.load_results(tmp_path)


def test_flows_of_a_job_that_have_not_begun_have_rows_on_any_number_of_threads() -> None:
    clos = {"leaves": 8, "spines": 8, "hosts_per_leaf": 4, "rate": "400 Gb/s", "delay": "600 ns"}
    exchange = {"all_to_all": {"bytes": "256 KiB"}}
    scenario = becalm.Scenario(
        {
            "run": {"duration": "6 us"},
            "topology": {"clos": clos},
            "jobs": [{"name": "exchange", "hosts": ["*"], "collective": exchange}],
        }
    )
    assert scenario.core.allowed_threads(3) == 3
    one, three = (becalm.run(scenario, threads=threads) for threads in (1, 3))
    assert one.fingerprint == three.fingerprint
    assert all(table.equals(three.tables[name], null_equal=True) for name, table in one.tables.items())
    # A rank sends to the nearest ranks first.
    sent = one.flows.filter(one.flows["sent_packets"] > 0)
    assert one.flows.height == 32 * 31 > sent.height >= 32
    assert one.flows["source"].unique(maintain_order=True).to_list() == scenario.hosts("*")
    assert {*one.flows["role"].unique()} == {"none"}
