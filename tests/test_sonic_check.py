"""Checks of SONiC switches find planted faults and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from becalm.base.errors import BecalmError, ScenarioError
from becalm.base.findings import Finding
from becalm.cli import app
from becalm.sonic import hosts
from becalm.sonic.check import Asked, check
from becalm.sonic.fabric import load
from becalm.sonic.headroom import Asic, Headroom, Line, Traffic, headroom
from fabrics import DATA
from sonic_samples import (
    SANE,
    Nested,
    changed,
    dynamic,
    example,
    fabric,
    flat,
    traditional,
    wide,
    write,
)

PROFILE, LOSSLESS = "pg_lossless_100000_5m_profile", "AZURE_LOSSLESS"
PAIR = ("Servers-leaf0-Ethernet0", "Servers-leaf1-Ethernet4")
Change = tuple[str, str, str, str | None]


class Fault(NamedTuple):
    """A fault to plant, and the finding that names it."""

    change: Change
    expected: str
    where: str
    """Table, key and field that the finding names."""
    severity: str = "error"


FAULTS = {
    "headroom below the bytes in flight": Fault(
        ("CABLE_LENGTH", "AZURE", "Ethernet8", "2000m"),
        "is less than the 252525 B on the cable in both directions: pauses lose packets at 100 Gb/s "
        "and 2000 m, at Ethernet8",
        f"BUFFER_PROFILE|{PROFILE} xoff",
    ),
    "headroom below the response time": Fault(
        ("BUFFER_PROFILE", PROFILE, "xoff", "40000"),
        "is less than 44047 B",
        f"BUFFER_PROFILE|{PROFILE} xoff",
        "warning",
    ),
    "a pause before a mark": Fault(
        ("WRED_PROFILE", LOSSLESS, "green_max_threshold", "4000000"),
        "XOFF is at most 3666667 B with 8 busy ports and 3666667 B with 8",
        f"WRED_PROFILE|{LOSSLESS} green_max_threshold",
        "warning",
    ),
    "no mark before a pause": Fault(
        ("BUFFER_PROFILE", PROFILE, "dynamic_th", "-5"),
        "pauses come before any mark at an input that feeds only this queue. XOFF is at most 1000000 B with "
        "a single busy port and 825000 B with 8",
        f"WRED_PROFILE|{LOSSLESS} green_min_threshold",
    ),
    "a queue without ECN": Fault(
        ("QUEUE", "Ethernet12|3", "wred_profile", None),
        "ECN is off in lossless queue 3 of Ethernet12",
        "QUEUE|Ethernet12|3 wred_profile",
    ),
    "a profile without ECN": Fault(
        ("WRED_PROFILE", LOSSLESS, "ecn", "ecn_none"), "never marks", f"WRED_PROFILE|{LOSSLESS} ecn"
    ),
    "a profile for another colour": Fault(
        ("WRED_PROFILE", LOSSLESS, "ecn", "ecn_yellow_red"),
        "packets are green",
        f"WRED_PROFILE|{LOSSLESS} ecn",
    ),
    "thresholds without WRED": Fault(
        ("WRED_PROFILE", LOSSLESS, "wred_green_enable", None),
        "`ecnconfig` does not switch on",
        f"WRED_PROFILE|{LOSSLESS} wred_green_enable",
    ),
    "no probability": Fault(
        ("WRED_PROFILE", LOSSLESS, "green_drop_probability", "0"),
        "marks nothing between Kmin and Kmax",
        f"WRED_PROFILE|{LOSSLESS} green_drop_probability",
        "warning",
    ),
    "thresholds in reverse": Fault(
        ("WRED_PROFILE", LOSSLESS, "green_min_threshold", "2100000"),
        "is above green_max_threshold 2097152",
        f"WRED_PROFILE|{LOSSLESS} green_min_threshold",
    ),
    "a threshold above the pool": Fault(
        ("WRED_PROFILE", LOSSLESS, "yellow_max_threshold", "50000000"),
        "is larger than the largest pool, 43000000 B",
        f"WRED_PROFILE|{LOSSLESS} yellow_max_threshold",
    ),
    "PFC without headroom": Fault(
        ("BUFFER_PG", "Ethernet16|3-4", "profile", None),
        "pauses priority 3, whose group has no headroom",
        "PORT_QOS_MAP|Ethernet16 pfc_enable",
    ),
    "headroom without PFC": Fault(
        ("PORT_QOS_MAP", "Ethernet20", "pfc_enable", "3"),
        "group 4 has no priority with PFC",
        "BUFFER_PG|Ethernet20|3-4 profile",
    ),
    "notifications that WRED drops": Fault(
        ("QUEUE", "Ethernet24|6", "wred_profile", LOSSLESS),
        "which drops them",
        "DSCP_TO_TC_MAP|AZURE 48",
    ),
    "notifications in a lossless queue": Fault(
        ("DSCP_TO_TC_MAP", "AZURE", "48", "3"),
        "which is lossless",
        "DSCP_TO_TC_MAP|AZURE 48",
        "warning",
    ),
    "a pause that stops another queue": Fault(
        ("TC_TO_QUEUE_MAP", "AZURE", "3", "1"),
        "which pauses of priority 3 do not stop",
        "TC_TO_QUEUE_MAP|AZURE 3",
    ),
    "no watchdog": Fault(("PFC_WD", "Ethernet0", "*", None), "is absent at Ethernet0", "PFC_WD ", "warning"),
    "restoration before detection": Fault(
        ("PFC_WD", "Ethernet0", "detection_time", "400"),
        "is below detection_time 400",
        "PFC_WD|Ethernet0 restoration_time",
        "warning",
    ),
    "no restoration": Fault(
        ("PFC_WD", "Ethernet0", "restoration_time", None),
        "never restored",
        "PFC_WD|Ethernet0 restoration_time",
        "warning",
    ),
    "a poll interval above the times": Fault(
        ("PFC_WD", "GLOBAL", "POLL_INTERVAL", "600"),
        "is above the shortest time, 200 ms",
        "PFC_WD|GLOBAL POLL_INTERVAL",
    ),
    "a detection time out of range": Fault(
        ("PFC_WD", "Ethernet4", "detection_time", "50"),
        "is refused by orchagent",
        "PFC_WD|Ethernet4 detection_time",
    ),
    "an unwatched priority": Fault(
        ("PORT_QOS_MAP", "Ethernet8", "pfcwd_sw_enable", "3"),
        "are not the priorities with PFC, 3,4",
        "PORT_QOS_MAP|Ethernet8 pfcwd_sw_enable",
        "warning",
    ),
    "the big red switch": Fault(
        ("PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "enable"),
        "drops the lossless classes",
        "PFC_WD|GLOBAL BIG_RED_SWITCH",
    ),
    "a profile that is absent": Fault(
        ("QUEUE", "Ethernet0|3", "wred_profile", "AZURE_LOSLESS"),
        "WRED_PROFILE has no such row",
        "QUEUE|Ethernet0|3 wred_profile",
    ),
    "a profile above its pool": Fault(
        ("BUFFER_PROFILE", PROFILE, "size", "33000001"),
        "is larger than its pool ingress_lossless_pool, 33000000 B",
        f"BUFFER_PROFILE|{PROFILE} size",
    ),
    "a power that SONiC does not have": Fault(
        ("BUFFER_PROFILE", PROFILE, "dynamic_th", "8"),
        "is not a power that SONiC has",
        f"BUFFER_PROFILE|{PROFILE} dynamic_th",
    ),
}


def plant(nested: Nested, change: Change) -> Nested:
    table, key, name, _ = change
    if name == "*":
        made = changed(nested)
        del made[table][key]
        return made
    return changed(nested, change)


def severe(findings: list[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity != "note"]


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("form", [dict, flat], ids=["nested", "flat"])
def test_a_planted_fault_is_found(name: str, form: type, tmp_path: Path) -> None:
    fault = FAULTS[name]
    file = write(tmp_path, form(plant(traditional(), fault.change)))
    found = severe(check([file]))
    hits = [each for each in found if fault.expected in each.reason]
    assert hits, [each.message() for each in found]
    for each in hits:
        assert f"{each.table} {each.key}".startswith(fault.where)
        assert each.severity == fault.severity
        assert each.value in file.read_text().splitlines()[each.line - 1] if each.line else not each.value
        assert each.cure


@pytest.mark.parametrize("name", SANE)
@pytest.mark.parametrize("form", [dict, flat], ids=["nested", "flat"])
def test_nothing_is_found_in_sane_switches(name: str, form: type, tmp_path: Path) -> None:
    found = check([write(tmp_path, form(SANE[name]()))])
    assert severe(found) == []
    # The template has no strict queue, which is no fault.
    assert ["which is served by DWRR and not first" in each.reason for each in found] == [True]


@pytest.mark.parametrize(
    ("gb", "metres", "xoff", "size"),
    [
        (25, 5, 47_104, 65_536),
        (40, 40, 60_416, 78_848),
        (100, 5, 108_544, 126_976),
        (100, 40, 121_856, 140_288),
        (100, 300, 220_160, 238_592),
        (200, 40, 148_480, 166_912),
        (400, 40, 265_216, 283_648),
        (800, 40, 326_656, 345_088),
    ],
)
def test_headroom_is_that_of_sonic(gb: int, metres: int, xoff: int, size: int) -> None:
    assert headroom(Line(gb * 1000, metres), Asic(144), Traffic()) == Headroom(size, 18_432, xoff)


def test_variants_of_headroom_are_those_of_sonic() -> None:
    line = Line(100_000, 40)
    assert headroom(line, Asic(208), Traffic())[::2] == (180_224, 161_792)
    assert headroom(line, Asic(96), Traffic())[::2] == (100_352, 81_920)
    assert headroom(line, Asic(144), Traffic(small=50))[::2] == (71_680, 53_248)
    assert headroom(line, Asic(144), Traffic(), shared=True).size == 18_432
    wide = headroom(Line(400_000, 40, lanes=8), Asic(144, generation=4), Traffic())
    assert wide == Headroom(329_728, 36_864, 283_648)


def test_headroom_of_a_known_asic_follows_its_cells(tmp_path: Path) -> None:
    asic = {"ASIC_TABLE": {"MELLANOX-SPECTRUM-2": {"cell_size": "144", "pipeline_latency": "18"}}}
    short = changed(traditional(), ("BUFFER_PROFILE", PROFILE, "xoff", "108543"))
    (found,) = severe(check([write(tmp_path, short | asic)]))
    assert (found.severity, found.value) == ("warning", "108543")
    assert "for cells of 144 B, 108544 B" in found.reason
    enough = changed(traditional(), ("BUFFER_PROFILE", PROFILE, "xoff", "108544"))
    assert severe(check([write(tmp_path, enough | asic)])) == []
    # Without an ASIC, only what no switch can do without.
    assert severe(check([write(tmp_path, short)])) == []
    assert len(severe(check([write(tmp_path, short)], Asked(cell=144)))) == 1


def test_computed_headroom_must_fit_into_its_pool(tmp_path: Path) -> None:
    plain = changed(
        dynamic(),
        ("BUFFER_POOL", "ingress_lossless_pool", "xoff", None),
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "over_subscribe_ratio", "0"),
        # 32 groups of 140288 B at 100 Gb/s and 40 m.
        ("BUFFER_POOL", "ingress_lossless_pool", "size", str(32 * 140_288)),
    )
    reserved = "BUFFER_POOL|ingress_lossless_pool"
    assert reserved not in [each.table for each in check([write(tmp_path, plain)])]
    over = changed(plain, ("BUFFER_POOL", "ingress_lossless_pool", "size", str(32 * 140_288 - 1)))
    found = [each for each in check([write(tmp_path, over)]) if each.table == reserved]
    assert ["4489216 B that the priority groups reserve" in each.reason for each in found] == [True]


def test_thresholds_depend_on_the_busy_ports(tmp_path: Path) -> None:
    file = write(
        tmp_path, changed(traditional(), ("WRED_PROFILE", LOSSLESS, "green_max_threshold", "5000000"))
    )
    (found,) = severe(check([file]))
    assert "5500000 B" not in found.reason
    assert "4714286 B with 6 busy ports and 3666667 B with 8" in found.reason
    assert severe(check([file], Asked(busy=5))) == []
    assert "4714286 B with 6" in severe(check([file], Asked(busy=6)))[0].reason


@pytest.mark.parametrize("base", [traditional, dynamic, wide])
def test_dscp_26_is_lossy_with_the_template(base: object, tmp_path: Path) -> None:
    file = write(tmp_path, base())  # type: ignore[operator]
    (found,) = severe(check([file], Asked(hosts.Host(tos=106))))
    assert found.reason.startswith("DSCP 26 is lossy here: DSCP 26 -> TC 1 -> queue 1, PG 0")
    assert (found.table, found.key, found.value) == ("DSCP_TO_TC_MAP|AZURE", "26", "1")
    assert found.cure == "TC 3 or 4, or hosts that send DSCP 3 or 4"
    patched = write(tmp_path, changed(base(), ("DSCP_TO_TC_MAP", "AZURE", "26", "3")))  # type: ignore[operator]
    assert severe(check([patched], Asked(hosts.Host(tos=106, pfc=frozenset({3}))))) == []


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (hosts.Host(tos=12), "DSCP 3 is priority 0 in the adapter, but the switch pauses priority 3"),
        (hosts.Host(tos=12, priorities={3: 3}), ""),
        (hosts.Host(tos=12, trust="pcp"), ""),
        (hosts.Host(tos=12, priorities={3: 3}, pfc=frozenset({4})), "ignores the pauses of DSCP 3"),
        (hosts.Host(tos=12, priorities={3: 3}, cnp=3), "which is lossless"),
        (hosts.Host(mtu=9500), "is below the hosts' 9500 B"),
    ],
)
def test_host_and_switch_are_judged_together(host: hosts.Host, expected: str, tmp_path: Path) -> None:
    found = severe(check([fabric(tmp_path)], Asked(host)))
    if expected:
        assert found, expected
        assert all(expected in each.reason for each in found)
    else:
        assert found == []


def test_only_hops_of_the_pair_are_judged(tmp_path: Path) -> None:
    folder = fabric(tmp_path)
    lossy = write(
        folder / "spine0",
        plant(
            json.loads((folder / "spine0" / "config_db.json").read_text()),
            ("PORT_QOS_MAP", "Ethernet4", "pfc_enable", "4"),
        ),
    )
    host = hosts.Host(tos=12, priorities={3: 3})
    found = [each for each in check([folder], Asked(host, PAIR)) if "is lossy here" in each.reason]
    assert [(each.file, each.reason.rpartition(" ")[2]) for each in found] == [(str(lossy), "Ethernet4")]
    near = (PAIR[0], "Servers-leaf0-Ethernet4")
    assert [e for e in check([folder], Asked(host, near)) if "is lossy here" in e.reason] == []
    with pytest.raises(BecalmError, match="no switch has a cable to this host"):
        check([folder], Asked(host, ("nobody", PAIR[0])))


@pytest.mark.parametrize(
    ("change", "expected", "severity"),
    [
        (("PORT_QOS_MAP", "Ethernet28", "pfc_enable", "4"), "is 4 at the other end", "error"),
        (("PORT", "Ethernet28", "mtu", "1500"), "is 1500 at the other end", "error"),
        (("PORT", "Ethernet28", "speed", "40000"), "is 40000 at the other end", "error"),
        (("CABLE_LENGTH", "AZURE", "Ethernet28", "3m"), "is 3 at the other end", "warning"),
    ],
)
def test_ends_of_a_cable_must_agree(change: Change, expected: str, severity: str, tmp_path: Path) -> None:
    folder = fabric(tmp_path)
    assert severe(check([folder])) == []
    file = folder / "leaf1" / "config_db.json"
    file.write_text(json.dumps(plant(json.loads(file.read_text()), change)))
    # The end whose name comes first.
    found = [each for each in check([folder]) if expected in each.reason or "at the other end" in each.reason]
    assert [(each.severity, "spine0 Ethernet4" in each.reason) for each in found] == [(severity, True)]


def test_the_example_is_sane(tmp_path: Path) -> None:
    made = example(tmp_path)
    for file in (DATA / "sonic").rglob("*.json"):
        assert file.read_text() == (made / file.relative_to(DATA / "sonic")).read_text()
    assert severe(check([made])) == []
    assert len(load([made]).hosts) == 8


def test_lldp_replaces_neighbours(tmp_path: Path) -> None:
    write(tmp_path / "leaf0", traditional("leaf0"))
    write(tmp_path / "leaf1", traditional("leaf1"))
    (tmp_path / "leaf0" / "lldp.txt").write_text(
        "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
        "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n"
        "-----------  --------------  --------------  ------------  -----------------\n"
        "Ethernet0    host0           eth0            O             mlx\n"
        "Ethernet28   leaf1           Ethernet28      BR            Eth8\n"
        "--------------------------------------------------\n"
        "Total entries displayed:  2\n"
    )
    read = load([tmp_path])
    assert [(cable.near.port, *cable.far, cable.to_host) for cable in read.cables] == [
        ("Ethernet0", "host0", "eth0", True),
        ("Ethernet28", "leaf1", "Ethernet28", False),
    ]


MLNX_QOS = """\
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:3 dscp:31,30,29,28,27,26,25,24,
default priority:
Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,
Cable len: 7
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   0   0
\tbuffer      0   0   0   1   0   0   0   0
tc: 0 ratelimit: unlimited, tsa: vendor
\t priority:  1
"""


def test_hosts_are_read_from_their_tools(tmp_path: Path) -> None:
    file = tmp_path / "host.txt"
    file.write_text(MLNX_QOS)
    read = hosts.read(file)
    assert (read.trust, read.pfc, read.priority(26), read.dscp) == ("dscp", frozenset({3}), 3, None)
    file.write_text(
        "# the job's environment\nmlnx_qos -i eth2 --trust dscp --pfc 0,0,0,0,1,0,0,0\n"
        "cma_roce_tos -d mlx5_0 -t 0x68\nexport NCCL_IB_TC=106\ncnp_dscp 46\n"
        "2: eth2: <BROADCAST,UP> mtu 9000 qdisc mq\n"
    )
    read = hosts.read(file)
    assert (read.tos, read.dscp, read.pfc, read.cnp, read.mtu) == (106, 26, frozenset({4}), 46, 9000)
    file.write_text("NCCL_IB_TC=300\nNCCL_IB_TC=x\nhello\n")
    with pytest.raises(ScenarioError) as error:
        hosts.read(file)
    assert [mistake["line"] for mistake in error.value.mistakes] == [1, 2, 3]


def test_mistakes_in_a_dump_are_told_at_once(tmp_path: Path) -> None:
    text = json.dumps(
        changed(
            traditional(),
            ("PORT", "Ethernet0", "speed", "100G"),
            ("CABLE_LENGTH", "AZURE", "Ethernet4", "5"),
            ("PORT_QOS_MAP", "Ethernet8", "pfc_enable", "3;4"),
        ),
        indent=1,
    )
    file = tmp_path / "config_db.json"
    file.write_text(text)
    done = CliRunner().invoke(app, ["check", str(file)])
    assert done.exit_code == 2
    for value, valid in (("100G", "1024"), ("5", '"40m"'), ("3;4", "3,4")):
        (line,) = (each for each in done.output.splitlines() if f" {value}: " in each)
        assert valid in line
        assert f'"{value}"' in text.splitlines()[int(line.split(":")[1]) - 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "is not JSON"),
        ("[]", "has no tables"),
        ("{}", "has no tables"),
        ('{"a": 1}', "is not a table"),
        ('{"DEVICE": {"x": {}}}', "has no table of a SONiC switch"),
        ('{"PORT": {"Ethernet0": 1}}', "is not a row of fields"),
        ('{"PORT": {"E": {}},\n"PORT": {"E": {}}}', "occurs twice"),
        ('{"BUFFER_PG": {"Ethernet0": {}}}', "is not a port and a range"),
    ],
)
def test_other_files_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=expected):
        check([file])


def test_the_command_recognises_what_it_is_given(tmp_path: Path) -> None:
    run = CliRunner()
    sane = fabric(tmp_path / "switches")
    done = run.invoke(app, ["check", str(sane)])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, f"{sane}: ok")
    done = run.invoke(app, ["check", str(sane), "--tos", "106", "--pair", *PAIR, "--json"])
    lines = [json.loads(line) for line in done.output.splitlines()]
    assert done.exit_code == 1
    assert {"severity", "file", "line", "table", "key", "value", "reason", "cure"} == lines[0].keys()
    assert sum("DSCP 26 is lossy here" in each["reason"] for each in lines) == 3
    conf = tmp_path / "opensm.conf"
    conf.write_text("congestion_control TRUE\ncc_sw_cong_setting_threshold 16\n")
    both = run.invoke(app, ["check", str(conf), str(sane)])
    assert (both.exit_code, both.output.splitlines()[0].startswith(f"{conf}:2: warning: ")) == (1, True)
    (tmp_path / "other.json").write_text('{"hosts": [1, 2]}')
    for arguments, expected in (
        ([str(tmp_path / "other.json")], "is not a configuration of OpenSM"),
        ([str(conf), "--tos", "106"], "--tos: has no effect without SONiC switches"),
        ([str(sane), "--fabric", "x"], "--fabric: has no effect without a configuration of OpenSM"),
        ([str(sane), "--pair", *PAIR], "--pair: has no effect without --tos"),
        ([str(sane), "--pfc", "3"], "--pfc 3: is no list of 8 flags"),
        ([str(tmp_path / "none")], "no such file"),
        (["scenarios/uniform_load.toml"], "is a scenario"),
    ):
        done = run.invoke(app, ["check", *arguments])
        assert (done.exit_code, expected in done.output) == (2, True), done.output


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    )
)
def test_any_values_are_read(value: object) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for document in (value, {"PORT": value}, {"PORT": {"Ethernet0": value}, "QUEUE|Ethernet0|1": value}):
            try:
                found = check([write(Path(folder), document)])
            except ScenarioError:
                continue
            assert all(each.message().isprintable() for each in found)
