"""SONiC switches as scenarios, and settings of scenarios as changes of switches."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import BecalmError, ScenarioError
from becalm.cli import app
from becalm.sonic import hosts, protection
from becalm.sonic.check import Asked, check
from becalm.sonic.fabric import load
from becalm.sonic.importing import import_fabric
from becalm.sonic.patches import patch, thresholds
from fabrics import DATA
from sonic_samples import changed, dynamic, example, fabric, joined, traditional, wide, write

PROFILE = "pg_lossless_100000_5m_profile"


def apply(document: Any, operations: list[dict[str, Any]]) -> Any:  # noqa: ANN401
    """Apply a JSON patch, as RFC 6902 says."""
    made = copy.deepcopy(document)
    for operation in operations:
        *before, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        row = made
        for part in before:
            row = row[part]
        assert (last in row) == (operation["op"] != "add")
        if operation["op"] == "remove":
            del row[last]
        else:
            row[last] = operation["value"]
    return made


def test_an_import_has_the_switches_settings_and_runs() -> None:
    imported = import_fabric([DATA / "sonic"])
    assert imported.notes == []
    scenario = becalm.Scenario(imported.text)
    resolved = scenario.resolved
    assert resolved["marking"]["ramp"]["kmin"] == 1048.576
    assert resolved["marking"]["ramp"]["pmax"] == 0.05
    dynamic_ = resolved["switch"]["flow_control"]["pfc"]["thresholds"]["dynamic"]
    assert (dynamic_["alpha"], dynamic_["shared"]) == (1.0, "33000000 B")
    links = scenario.network().links
    assert links.height == 24
    assert set(links["capacity"]) == {12.5e9}
    results = becalm.run(scenario.replace({"run.duration": "200 us", "run.warmup": "0 s"}))
    assert results.groups["marked_share"][1] > 0.5


def test_rates_lengths_and_rails_of_cables_are_kept(tmp_path: Path) -> None:
    base = changed(
        traditional("leaf0"),
        ("PORT", "Ethernet4", "speed", "40000"),
        ("CABLE_LENGTH", "AZURE", "Ethernet8", "40m"),
    )
    neighbours = {f"Ethernet{4 * i}": (f"gpu{i // 2}", f"eth{i % 2}", "Server") for i in range(4)}
    write(tmp_path, joined(base, **neighbours))
    imported = import_fabric([tmp_path])
    assert 'between = ["leaf0", "gpu0-eth1"], rate = "40 Gb/s"' in imported.text
    # 40 m of glass.
    assert 'between = ["leaf0", "gpu1-eth0"], delay = "202 ns"' in imported.text
    assert "2 rails, of 2, 2 adapters" in " ".join(imported.notes)
    assert "paths.flow" not in imported.text
    becalm.Scenario(imported.text)


@pytest.mark.parametrize("base", [dynamic, wide])
def test_other_switches_are_imported(base: Any, tmp_path: Path) -> None:  # noqa: ANN401
    names = list(base()["PORT"])
    neighbours = {names[i]: ("Servers", "eth0", "Server") for i in range(3)}
    file = write(tmp_path, joined(base("leaf0"), **neighbours))
    scenario = becalm.Scenario(import_fabric([file]).text)
    assert len(scenario.hosts()) == 3
    assert scenario.resolved["switch"]["flow_control"]["pfc"]["thresholds"]["dynamic"]["alpha"] in (1.0, 0.5)


def test_what_the_files_lack_is_noted(tmp_path: Path) -> None:
    folder = fabric(tmp_path)
    file = folder / "leaf1" / "config_db.json"
    document = changed(
        json.loads(file.read_text()),
        ("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold", "500000"),
        ("CABLE_LENGTH", "AZURE", "Ethernet0", None),
    )
    file.write_text(json.dumps(joined(document, Ethernet12=("tor9", "Ethernet0", "ToRRouter"))))
    imported = import_fabric([folder])
    notes = " ".join(imported.notes)
    assert "leaf1: other thresholds than most switches" in notes
    assert "no speed or no cable length of leaf1 Ethernet0" in notes
    assert "leaf1 Ethernet12 leads to tor9, which is not among the files" in notes
    becalm.Scenario(imported.text)
    with pytest.raises(BecalmError, match="need at least 2 hosts"):
        import_fabric([write(tmp_path / "alone", traditional())])


def test_a_patch_makes_dscp_26_lossless_and_its_inverse_undoes_it(tmp_path: Path) -> None:
    folder = example(tmp_path / "switches")
    source = becalm.Scenario(import_fabric([folder]).text)
    tuned = source.replace(
        {
            "marking.ramp.kmin": 400,
            "marking.ramp.kmax": 1600,
            "marking.ramp.pmax": 0.2,
            "switch.flow_control.pfc.thresholds.dynamic.alpha": 0.25,
        }
    )
    file = tmp_path / "tuned.toml"
    file.write_text(tuned.to_toml())
    arguments = ["settings", str(file), "--sonic", str(folder), "--tos", "106", "--out", str(tmp_path / "p")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(app, arguments).exit_code == 2, "nothing is replaced without --overwrite"
    host = Asked(hosts.Host(tos=106, pfc=frozenset({3})), ("host0", "host4"))
    lossy = [each for each in check([folder], host) if "DSCP 26 is lossy here" in each.reason]
    assert len(lossy) == 4
    originals = {}
    for switch in sorted(folder.iterdir()):
        own = switch / "config_db.json"
        originals[switch.name] = json.loads(own.read_text())
        forth = json.loads((tmp_path / "p" / f"{switch.name}.json").read_text())
        own.write_text(json.dumps(apply(originals[switch.name], forth)))
    assert [each for each in check([folder], host) if each.severity != "note"] == []
    again = becalm.Scenario(import_fabric([folder]).text).resolved
    assert again["marking"] == tuned.resolved["marking"]
    assert again["switch"]["flow_control"] == tuned.resolved["switch"]["flow_control"]
    for name, original in originals.items():
        back = json.loads((tmp_path / "p" / f"{name}.rollback.json").read_text())
        assert apply(json.loads((folder / name / "config_db.json").read_text()), back) == original


def test_a_patch_keeps_what_is_right_and_adds_what_is_absent(tmp_path: Path) -> None:
    missing = changed(
        traditional(),
        ("WRED_PROFILE", "AZURE_LOSSLESS", "wred_green_enable", None),
        ("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold", " 1048576"),
    )
    (switch,) = load([write(tmp_path, missing)]).switches.values()
    same = thresholds(becalm.Scenario(import_fabric([DATA / "sonic"]).text))
    path = "/WRED_PROFILE/AZURE_LOSSLESS/wred_green_enable"
    assert patch(switch, same) == (
        [{"op": "add", "path": path, "value": "true"}],
        [{"op": "remove", "path": path}],
    )
    _, back = patch(switch, same._replace(kmin=1))
    assert back[-1]["value"] == " 1048576", "as the file has it"


def test_computed_profiles_get_the_default_threshold(tmp_path: Path) -> None:
    (switch,) = load([write(tmp_path, dynamic())]).switches.values()
    wanted = thresholds(becalm.Scenario(import_fabric([DATA / "sonic"]).text))._replace(exponent=-2)
    forth, _ = patch(switch, wanted)
    path = "/DEFAULT_LOSSLESS_BUFFER_PARAMETER/AZURE/default_dynamic_th"
    assert {"op": "replace", "path": path, "value": "-2"} in forth


def test_thresholds_follow_the_rates_of_ports(tmp_path: Path) -> None:
    wanted = thresholds(
        becalm.Scenario(import_fabric([DATA / "sonic"]).text).replace(
            {"marking.ramp.per": 25, "marking.ramp.kmin": 100, "marking.ramp.kmax": 400}
        )
    )
    (switch,) = load([write(tmp_path, traditional())]).switches.values()
    values = {each["path"].rpartition("/")[2]: each["value"] for each in patch(switch, wanted)[0]}
    assert (values["green_min_threshold"], values["green_max_threshold"]) == ("400000", "1600000")
    mixed = changed(traditional(), ("PORT", "Ethernet0", "speed", "40000"))
    (switch,) = load([write(tmp_path, mixed)]).switches.values()
    with pytest.raises(BecalmError, match="serves ports whose rates need different thresholds"):
        patch(switch, wanted)


def test_what_switches_cannot_have_is_refused() -> None:
    source = becalm.Scenario(import_fabric([DATA / "sonic"]).text)
    key = "switch.flow_control.pfc.thresholds.dynamic.alpha"
    with pytest.raises(ScenarioError, match="is not a dynamic_th; valid: a power of two"):
        thresholds(source.replace({key: 0.3}))
    with pytest.raises(BecalmError, match="marks by none, which Ethernet switches do not have"):
        thresholds(source.replace({"marking": {"none": {}}}))


def test_lines_for_other_switches(tmp_path: Path) -> None:
    scenario = tmp_path / "fabric.toml"
    source = becalm.Scenario(import_fabric([DATA / "sonic"]).text)
    scenario.write_text(
        source.replace(
            {
                "response.dcqcn.g": 0.005,
                "response.dcqcn.increase_timer": "300 us",
                "response.dcqcn.additive_increase": 50,
            }
        ).to_toml()
    )
    nvue, eos = tmp_path / "nvue.txt", tmp_path / "eos.txt"
    arguments = ["settings", str(scenario), "--nvue", str(nvue), "--eos", str(eos), "--priority", "4"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    where = "nv set qos congestion-control becalm traffic-class 4"
    lines = nvue.read_text().splitlines()
    assert [
        f"{where} min-threshold 1048576",
        f"{where} max-threshold 2097152",
        f"{where} probability 5",
    ] == lines[1:4]
    assert lines[-4:-1] == ["# dce_tcp_g 1019", "# rpg_time_reset 300", "# rpg_ai_rate 50"]
    assert (tmp_path / "nvue.txt.rollback").read_text().splitlines()[
        0
    ] == "nv unset qos congestion-control becalm"
    assert (
        "      random-detect ecn minimum-threshold 1048576 bytes maximum-threshold 2097152 bytes "
        "max-mark-probability 5 weight 0" in eos.read_text().splitlines()
    )
    for more, expected in (
        ([], "writes nothing; valid: --sonic, --nvue or --eos"),
        (["--nvue", "x", "--tos", "106"], "--tos: has no effect without --sonic"),
    ):
        done = CliRunner().invoke(app, ["settings", str(scenario), *more])
        assert (done.exit_code, expected in done.output) == (2, True), done.output


def test_import_recognises_switches(tmp_path: Path) -> None:
    out = tmp_path / "fabric.toml"
    done = CliRunner().invoke(app, ["import", str(DATA / "sonic"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "8 hosts, 4 switches, 12 cables; background load 0.5" in done.output
    assert out.read_text() == import_fabric([DATA / "sonic"]).text
    done = CliRunner().invoke(
        app, ["import", str(DATA / "sonic"), "--lfts", "x", "--out", str(out), "--overwrite"]
    )
    assert (done.exit_code, "--lfts: has no effect with SONiC switches" in done.output) == (2, True)


def test_headroom_and_watchdog_are_imported(tmp_path: Path) -> None:
    folder = fabric(tmp_path)
    resolved = becalm.Scenario(import_fabric([folder]).text).resolved
    pfc = resolved["switch"]["flow_control"]["pfc"]
    assert pfc["watchdog"] == {
        "rule": "broadcom",
        "detection": "200 ms",
        "restoration": "200 ms",
        "poll": "200 ms",
        "action": "drop",
    }
    sizes = {int(row["xoff"]) for row in traditional()["BUFFER_PROFILE"].values() if "xoff" in row}
    assert {int(pfc["headroom"].split()[0])} <= sizes
    file = folder / "leaf1" / "config_db.json"
    document = changed(
        json.loads(file.read_text()),
        ("PFC_WD", "Ethernet0", "detection_time", "600"),
        ("PFC_WD", "Ethernet0", "restoration_time", None),
        ("DEVICE_METADATA", "localhost", "platform", "x86_64-mlnx_msn4600c-r0"),
    )
    file.write_text(json.dumps(document))
    assert "leaf1: ports with another watchdog than most" in " ".join(import_fabric([folder]).notes)
    (alone,) = load([file]).switches.values()
    first, second = list(protection.watchdogs(alone))[:2]
    assert first == protection.Watchdog("mellanox", 600, protection.NEVER, 200, "drop")
    assert second == protection.Watchdog("mellanox", 200, 200, 200, "drop")


def test_a_static_threshold_is_xoff(tmp_path: Path) -> None:
    profile = next(name for name, row in traditional()["BUFFER_PROFILE"].items() if "xoff" in row)
    base = changed(
        traditional("leaf0"),
        ("BUFFER_PROFILE", profile, "dynamic_th", None),
        ("BUFFER_PROFILE", profile, "static_th", "65536"),
    )
    neighbours = {f"Ethernet{4 * i}": (f"gpu{i}", "eth0", "Server") for i in range(2)}
    text = import_fabric([write(tmp_path, joined(base, **neighbours))]).text
    assert becalm.Scenario(text).resolved["switch"]["buffer"] in ("64 KiB", "65536 B")
