"""Service levels of paths: path records, lanes, control maps, and deadlocks without them."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.analysis.hot_spots import Case
from becalm.cli import app
from becalm.opensm import ibnetdiscover, path_records, service_levels
from becalm.opensm.configuration import load
from becalm.opensm.importing import Imported, import_fabric
from becalm.opensm.simulate import idle_levels, with_configuration
from becalm.runs.engines import Threads
from becalm.store import Store
from becalm.tunings.evaluate import Evaluator
from becalm.whatif.incast import _with_incast
from fabrics import DATA

RING = DATA / "ring5"
"""A ring of five switches with one host each: files of a real OpenSM with the routing engine dfsssp."""
FABRIC, TABLES, RECORDS, LANES = (
    RING / name for name in ("ibnetdiscover.txt", "opensm-lfts.dump", "path-records.txt", "opensm-sl2vl.dump")
)
FAR = [(f"H{n}", f"H{(n + 2) % 5}") for n in range(5)]
"""Paths over two cables between switches, all in the same direction around the ring."""


def said() -> dict[tuple[int, int], int]:
    """Return the levels of the path records by source and destination LID, read in another way."""
    found = {}
    for record in RECORDS.read_text().split("PathRecord dump:")[1:]:
        fields = dict(re.findall(r"(\w+)\.+(\S+)", record))
        found[int(fields["slid"]), int(fields["dlid"])] = int(fields["sl"], 16)
    return found


def loaded(imported: Imported, **changes: object) -> becalm.Scenario:
    """Return the scenario with always sending flows over two cables."""
    pairs = [{"from": source, "to": to} for source, to in FAR]
    flows = [{"name": "far", "connections": pairs, "traffic": {"greedy": {}}}]
    run = {"duration": "2 ms", "warmup": "1 ms"}
    # In turns, the flows of so even a ring would just fit.
    small = {"flows": flows, "run": run, "switch.buffer": "8 KiB", "switch.arbiter": {"oldest_first": {}}}
    return becalm.Scenario(imported.text).replace({**small, **changes})


def imported(*, lanes: Path | None = LANES) -> Imported:
    return import_fabric(FABRIC, TABLES, RECORDS, lanes)


def test_every_path_has_the_level_of_its_record() -> None:
    taken = imported()
    lids = {host.name: host.lid for host in taken.fabric.hosts}
    pairs = [{"from": a, "to": b} for a in lids for b in lids if a != b]
    every = {"flows": [{"name": "all", "connections": pairs}]}
    flows = becalm.Scenario(taken.text).replace(every).network().flows
    found = {
        (lids[row["source"]], lids[row["destination"]]): row["sl"] for row in flows.iter_rows(named=True)
    }
    assert found == said()
    assert len(found) == 20
    assert len(set(found.values())) > 2
    assert taken.notes == []


def test_lanes_break_the_deadlock_that_the_routes_have() -> None:
    without = import_fabric(FABRIC, TABLES)
    (note,) = without.notes
    assert "its routes can deadlock" in note
    assert "--path-records FILE reads them" in note
    stuck = loaded(without)
    assert "its routes can deadlock" in stuck.warnings[0]
    with pytest.raises(becalm.DeadlockError, match=r"5 of 5 flows stopped; cycle of buffers") as caught:
        becalm.run(stuck)
    assert caught.value.stopped == 5
    assert len(caught.value.cycle) == 6
    for lanes in (LANES, None):
        free = loaded(imported(lanes=lanes))
        assert "allow_cycles" not in free.to_toml()
        assert free.warnings == []
        assert (becalm.run(free).flows["delivered_packets"] > 100).all()
    # The levels alone do not help if they share a lane.
    one = {"switch.vls": 1, "switch.sl_to_vl": [0] * 8, "topology.edges.allow_cycles": True}
    with pytest.raises(becalm.DeadlockError):
        becalm.run(loaded(imported(), **one))


def test_lanes_are_those_of_the_dump() -> None:
    levels = set(said().values())
    switch = becalm.Scenario(imported().text).resolved["switch"]
    assert switch["vls"] == 8
    assert switch["sl_to_vl"] == list(range(8))
    assert levels < set(range(8))
    own = imported(lanes=None)
    assert any("a virtual lane of its own" in note for note in own.notes)
    assert becalm.Scenario(own.text).resolved["switch"]["vls"] == len(levels | {0})


def test_tables_that_differ_are_said_and_levels_stay_apart(tmp_path: Path) -> None:
    changed = tmp_path / "sl2vl.dump"
    row = "2   3   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7"
    text = LANES.read_text()
    assert row in text
    changed.write_text(text.replace(row, row.replace(": 0  1  2  3", ": 0  1  3  2"), 1))
    taken = import_fabric(FABRIC, TABLES, RECORDS, changed)
    (note,) = taken.notes
    assert "has 2 different tables, so packets change lanes" in note
    lanes = becalm.Scenario(taken.text).resolved["switch"]["sl_to_vl"]
    used = sorted({0, *said().values()})
    assert [lanes[level] for level in used] == list(range(len(used)))
    # A level that no path uses may have any lane.
    changed.write_text(text.replace(row, row.replace("6  7  0", "6  7  3"), 1))
    assert import_fabric(FABRIC, TABLES, RECORDS, changed).notes == []


Change = Callable[[str], str]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace("dlid....................", "dlid....................9", 1),
            "is not a LID of",
        ),
        (lambda text: text[: text.rindex("sl...")], "this record has no sl"),
        (lambda text: text.replace("sl......................0x1", "sl......................0x10"), "0 to 15"),
        (lambda text: text.replace("slid", "Zeile", 1), "this record has no slid"),
        (
            lambda text: text.replace("\t\ttclass", "\t\tsome words\n\t\ttclass", 1),
            "is not a line of a path record",
        ),
        (lambda text: re.sub(r"slid\.+\d+", "slid....................0", text), "the output is cut"),
    ],
)
def test_wrong_records_are_one_message_with_a_line(change: Change, message: str, tmp_path: Path) -> None:
    file = tmp_path / "records.txt"
    file.write_text(change(RECORDS.read_text()))
    with pytest.raises(becalm.ScenarioError, match=message) as caught:
        import_fabric(FABRIC, TABLES, file)
    assert re.match(rf"{file}:\d+: ", str(caught.value))
    assert len(caught.value.mistakes) <= 5


def test_missing_and_doubtful_records_are_notes(tmp_path: Path) -> None:
    first, *others = RECORDS.read_text().split("PathRecord dump:")[1:]
    file = tmp_path / "records.txt"
    file.write_text("$ saquery -p\r\n" + "PathRecord dump:".join(["", *others[1:]]).replace("\n", "\r\n"))
    fabric = ibnetdiscover.read(FABRIC)
    levels, (note,) = path_records.read(file, fabric)
    assert len(levels) == 18
    assert note == "2 of 20 paths have no path record: their service level is taken to be 0"
    other = re.sub(r"\bsl\.{4,}\S+", "sl......................0xe", first)
    file.write_text("PathRecord dump:".join(["", first, *others, other]))
    levels, (note,) = path_records.read(file, fabric)
    assert len(levels) == 20
    assert "a path has records with several service levels, of which the first one is used" in note


def test_a_level_whose_packets_are_dropped_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "sl2vl.dump"
    file.write_text(LANES.read_text().replace("2   3   : 0  1  2", "2   3   : 0  15 2", 1))
    with pytest.raises(becalm.ScenarioError, match="packets of service level 1 are dropped here"):
        import_fabric(FABRIC, TABLES, RECORDS, file)
    file.write_text(LANES.read_text().replace("Switch 0x0002c9", "Switch 0x0003c9", 1))
    with pytest.raises(becalm.ScenarioError, match="lanes and fabric from the same sweep"):
        import_fabric(FABRIC, TABLES, RECORDS, file)


def command(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    return done.exit_code, " ".join(done.output.split())


def test_the_command_recognises_its_files(tmp_path: Path) -> None:
    out = tmp_path / "fabric.toml"
    code, _ = command("import", LANES, RECORDS, FABRIC, TABLES, "--out", out)
    assert code == 0
    assert out.read_text() == imported().text
    options = ("--lfts", TABLES, "--path-records", RECORDS, "--sl2vl", LANES)
    assert command("import", FABRIC, *options, "--out", out, "--overwrite")[0] == 0
    assert out.read_text() == imported().text
    code, _ = command("import", FABRIC, RECORDS, "--path-records", RECORDS, "--out", out)
    assert code == 2
    assert command("import", FABRIC, RECORDS, RECORDS, "--out", tmp_path / "x")[1].endswith(
        f"after {RECORDS}"
    )
    assert "is the second fabric" in command("import", FABRIC, FABRIC, "--out", tmp_path / "x")[1]
    assert "path records; `becalm import" in command("import", RECORDS, "--out", tmp_path / "x")[1]
    code, output = command("import", DATA / "sonic", "--path-records", RECORDS, "--out", tmp_path / "x")
    assert (code, "--path-records: has no effect with" in output) == (2, True)
    assert not (tmp_path / "x").exists()
    assert "needs --path-records" in command("import", FABRIC, LANES, "--out", tmp_path / "x")[1]


def configured(folder: Path, scenario: str, *options: str) -> tuple[int, str, Path]:
    file, conf = folder / "fabric.toml", folder / "cc.conf"
    file.write_text(scenario)
    chosen = ("--guideline", "becalm", "--contributors", 4, "--overwrite", *options)
    code, output = command("manage", file, "--opensm", conf, *chosen)
    return code, output, conf


def test_the_export_sets_up_the_levels_of_the_paths(tmp_path: Path) -> None:
    code, output, conf = configured(tmp_path, imported().text)
    assert code == 0
    assert "service levels" not in output
    expected = sum(1 << level for level in {0, *said().values()})
    for file, value in ((conf, 10), (Path(f"{conf}.rollback"), 0)):
        found = load(file)
        assert found.value("cc_ca_cong_setting_control_map") == expected
        assert [found.value("cc_ca_cong_setting_ccti_increase", level) > 0 for level in range(16)] == [
            bool(value) and bool(expected >> level & 1) for level in range(16)
        ]


def test_unknown_levels_are_all_set_up_with_a_warning(tmp_path: Path) -> None:
    plain = import_fabric(FABRIC, TABLES).text
    code, output, conf = configured(tmp_path, plain)
    assert code == 0
    assert "does not say which service levels its flows use: the options set up all 16" in output
    assert load(conf).value("cc_ca_cong_setting_control_map") == 0xFFFF
    assert load(conf).value("cc_ca_cong_setting_ccti_timer", 15) > 0
    code, output, conf = configured(tmp_path, plain, "--sl", "0,3-5")
    assert "service levels its flows" not in output
    assert load(conf).value("cc_ca_cong_setting_control_map") == 0b111001
    code, output, _ = configured(tmp_path, imported().text, "--sl", "0,1")
    assert code == 2
    assert "--sl: lacks 2, 3, 4, 5, 7" in output
    assert command("manage", tmp_path / "fabric.toml", "--sl", "0")[0] == 2


@pytest.mark.parametrize("text", ["", "16", "3-1", "a", "1,,2", "-1"])
def test_levels_are_numbers_from_0_to_15(text: str) -> None:
    with pytest.raises(becalm.BecalmError, match="is not a service level; valid: 0 to 15"):
        service_levels.parse(text)


def test_levels_outside_the_control_map_do_not_respond(tmp_path: Path) -> None:
    _, _, conf = configured(tmp_path, imported().text)
    scenario = loaded(imported())
    whole = with_configuration(scenario, conf)
    assert whole.resolved["adapter"]["control_map"] is None
    assert idle_levels(scenario, conf) == []
    text = conf.read_text()
    conf.write_text(re.sub("(cc_ca_cong_setting_control_map) .*", r"\1 0x0007", text))
    used = service_levels.of_flows(scenario)
    assert idle_levels(scenario, conf) == [level for level in used if level > 2]
    part = with_configuration(scenario, conf)
    assert part.resolved["adapter"]["control_map"] == [level for level in used if level <= 2]
    assert list(part.resolved["response"]) == ["ibta"]
    conf.write_text(re.sub("(ccti_increase 2) .*", r"\1 77", text))
    with pytest.raises(becalm.ScenarioError, match="service levels of the scenario's paths have different"):
        with_configuration(scenario, conf)


def test_a_run_warns_of_levels_without_control(tmp_path: Path) -> None:
    _, _, conf = configured(tmp_path, imported().text)
    conf.write_text(re.sub("(cc_ca_cong_setting_control_map) .*", r"\1 0x0001", conf.read_text()))
    file = tmp_path / "fabric.toml"
    file.write_text(loaded(imported()).to_toml())
    code, output = command("run", file, "--opensm", conf, "--out", tmp_path / "out")
    assert code == 0
    assert "sets up no congestion control for flows on service levels" in output


def test_every_command_that_runs_says_a_deadlock(tmp_path: Path) -> None:
    file = tmp_path / "stuck.toml"
    file.write_text(loaded(import_fabric(FABRIC, TABLES)).to_toml())
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{file.name}"\nstore = "store"\n[grid]\n"run.seed" = [1, 2]\n')
    out = ("--out", tmp_path / "out")
    for arguments in (
        ("run", file, *out),
        ("run", file, *out, "--json"),
        ("run", file, *out, "--report", tmp_path / "report.html"),
        ("sweep", sweep),
        ("whatif", file, "--hot", "H0", "--contributors", 3),
    ):
        code, output = command(*arguments)
        assert code == 1, arguments
        assert re.search(r"deadlock at .*\d+ of \d+ flows stopped; cycle of buffers", output), arguments
        assert "Victims" not in output
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "report.html").exists()
    code, output = command("validate", file)
    assert code == 0
    assert "warning: topology: its routes can deadlock" in output


def test_no_parameters_are_chosen_from_runs_that_deadlock(tmp_path: Path) -> None:
    stuck = loaded(import_fabric(FABRIC, TABLES))
    case = Case("far", stuck, (), ("far",))
    store = Store(tmp_path / "store")
    engine = Threads(1, store)
    with pytest.raises(becalm.DeadlockError, match="2 of 2 runs ended in a deadlock; the first: deadlock at"):
        Evaluator([case], store, engine).evaluate({"as it is": {}}, [case], [1, 2])
    engine.close()


def test_manage_names_the_cycle_and_levels_without_control() -> None:
    stuck = loaded(import_fabric(FABRIC, TABLES))
    routes, _ = manager.review(stuck)
    assert routes.problem.startswith("can deadlock: each of these links may wait for the next: S0 -> ")
    free = loaded(imported())
    assert [each.key for each in manager.review(free)] == ["response"]
    managed = free.with_guideline().replace({"adapter.control_map": [0, 2]})
    levels, *others = (each for each in manager.review(managed) if each.key == "adapter.control_map")
    assert (levels.problem, others) == ("flows on other levels ignore marks: 3, 5, 7", [])


def test_whatif_says_where_the_levels_come_from(tmp_path: Path) -> None:
    one = {"switch.vls": 1, "switch.sl_to_vl": [0] * 8, "topology.edges.allow_cycles": True}
    without, on_one_lane = loaded(import_fabric(FABRIC, TABLES)), loaded(imported(), **one)
    file = tmp_path / "fabric.toml"
    for scenario, told in ((without, True), (on_one_lane, False)):
        file.write_text(scenario.to_toml())
        code, output = command("whatif", file, "--hot", "H0", "--contributors", 3)
        assert code == 1
        assert ("import it with --path-records" in output) == told


def test_the_page_of_a_sweep_names_points_that_deadlock(tmp_path: Path) -> None:
    (tmp_path / "stuck.toml").write_text(loaded(import_fabric(FABRIC, TABLES)).to_toml())
    sweep = tmp_path / "sweep.toml"
    points = '"flows.far.stop" = ["1 us", "1999 us"]'
    sweep.write_text(f'scenario = "stuck.toml"\nstore = "store"\n[grid]\n{points}\n')
    code, output = command("sweep", sweep)
    assert code == 1
    assert "1 failed" in output
    page = tmp_path / "sweep.html"
    assert command("report", sweep, "--out", page)[0] == 0
    data = re.search(r'id="payload">([^<]+)<', page.read_text())
    assert data is not None
    told = zlib.decompress(base64.b64decode(data[1]), -zlib.MAX_WBITS).decode(errors="replace")
    assert "Failed with flows.far.stop = 1999 us: deadlock at" in told


def test_a_hot_spot_with_a_level_of_its_own_can_be_examined(tmp_path: Path) -> None:
    source = loaded(imported())
    groups = [
        {"name": "far", "from": ["*"], "pattern": {"permutation": {}}, "traffic": {"poisson": {"load": 0.2}}},
        {"name": "hot_spot", "sl": 1, "from": ["H1", "H2"], "to": ["H0"], "traffic": {"greedy": {}}},
    ]
    lanes = {"switch.vls": 2, "switch.sl_to_vl": [0, 1], "adapter.path_sl": None, "flows": groups}
    file = tmp_path / "fabric.toml"
    file.write_text(source.replace(lanes).to_toml())
    for arguments in (
        ("whatif", file, "--hot", "H0", "--contributors", 2),
        ("manage", file, "--hot", "H0", "--max-time", 1),
    ):
        code, output = command(*arguments)
        assert code == 0, output
    scenario = becalm.load(file)
    assert service_levels.of_flows(_with_incast(scenario, "H0", ["H1", "H2"])) == [0, 1]
    assert service_levels.used(scenario).levels == (0, 1)
    (warning,) = scenario.replace({"flows": groups[:1]}).warnings
    assert warning == "switch.vls = 2: does nothing beyond 1: no flow uses a higher VL"
