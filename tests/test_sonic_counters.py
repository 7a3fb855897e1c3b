"""Roots of pause storms from counters: of simulated storms, and of outputs as the tools write them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.base.errors import ScenarioError
from becalm.cli import app
from becalm.sonic import counters, storms
from becalm.sonic.fabric import Fabric, load
from sonic_samples import example

SCENE = """
[run]
duration = "200 us"
[topology.edges]
hosts = ["host0..host7"]
switches = ["leaf0", "leaf1", "spine0", "spine1"]
rate = "100 Gb/s"
delay = "25 ns"
cables = [
    { between = ["host0..host3", "leaf0"] },
    { between = ["host4..host7", "leaf1"] },
    { between = ["leaf0", "spine0"] },
    { between = ["leaf0", "spine1"] },
    { between = ["leaf1", "spine0"] SLOW },
    { between = ["leaf1", "spine1"] },
]
routes = [
    { switch = "leaf0", to = ["host4..host7"], via = "spine0" },
    { switch = "leaf1", to = ["host0..host3"], via = "spine0" },
]
[switch]
buffer = "64 KiB"
forwarding_delay = "300 ns"
[switch.flow_control.pfc]
[packet]
mtu = "4096 B"
header = "78 B"
ack = "84 B"
[marking.none]
[response.none]
"""


def flows(*pairs: tuple[str, str]) -> str:
    return "".join(
        f'[[flows]]\nname = "f{i}"\nfrom = [{source}]\nto = ["{to}"]\n'
        for i, (source, to) in enumerate(pairs)
    )


CAPS = '[adapter]\ncaps = [{ hosts = ["host5"], drain_rate = "20 Gb/s" }]\n'
STORMS = {
    "a slow receiver": ("", CAPS + flows(('"host0"', "host5")), {"host5"}),
    "an incast across the fabric": ("", flows(('"host1..host3"', "host4"), ('"host5"', "host4")), {"leaf1"}),
    "an incast within a leaf": ("", flows(('"host1..host3"', "host0")), {"leaf0"}),
    "a slow cable": (', rate = "20 Gb/s"', flows(('"host0"', "host4"), ('"host1"', "host5")), {"spine0"}),
    "two at once": (
        "",
        CAPS + flows(('"host1"', "host0"), ('"host2"', "host0"), ('"host6"', "host5")),
        {"leaf0", "host5"},
    ),
}
LANE = 3
"""The priority in the tools' output."""
SIGNED = {name: index for index, name in enumerate(("Rx", "Tx"))}


def written(results: becalm.Results, fabric: Fabric, folder: Path) -> Path:
    """Write the pauses of a run as `show pfc counters` and `ethtool -S` print them."""
    counted: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    ends = {
        (one.node, two.node): (one, two)
        for cable in fabric.cables
        for one, two in ((cable.near, cable.far), (cable.far, cable.near))
    }
    for source, target, number in results.pauses.select("from", "to", "pauses").iter_rows():
        stopped, pausing = ends[source, target]
        # A switch counts the frames that end pauses, too.
        counted[stopped][0] += 2 * number
        counted[pausing][1] += 2 * number
    for name, switch in fabric.switches.items():
        text = ""
        for what, index in SIGNED.items():
            text += (
                f"  Port {what}    "
                + "    ".join(f"PFC{each}" for each in range(8))
                + "\n---------  ------\n"
            )
            for port in switch.ports:
                row = [0] * 8
                row[LANE] = counted[name, port][index]
                text += f"{port:>9}" + "".join(f"{each:>8,}" for each in row) + "\n"
            text += "\n"
        (folder / f"{name}-pfc.txt").write_text(text)
    for host in fabric.hosts:
        told, sent = counted[host, "eth0"]
        (folder / f"{host}.txt").write_text(
            f"NIC statistics:\n     rx_packets: 1000\n     rx_prio{LANE}_pause: {told}\n"
            f"     rx_prio{LANE}_pause_duration: 12\n     tx_prio{LANE}_pause: {sent}\n"
            "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:0\n"
        )
    return folder


@pytest.fixture(name="switches")
def made(tmp_path: Path) -> Path:
    return example(tmp_path / "switches")


@pytest.mark.parametrize("name", STORMS)
def test_roots_of_simulated_storms_are_found(name: str, switches: Path, tmp_path: Path) -> None:
    slow, traffic, expected = STORMS[name]
    results = becalm.run(becalm.Scenario(SCENE.replace(" SLOW", slow) + traffic))
    fabric = load([switches])
    (tmp_path / "dump").mkdir()
    folder = written(results, fabric, tmp_path / "dump")
    counts = counters.read(fabric, [folder])
    found = storms.roots(fabric, counts)
    assert {each.node for each in found} == expected
    assert {each.priority for each in found} == {LANE}
    for each in found:
        assert each.paused and each.frames and each.evidence
    assert ["pauses come before marks" in each for each in storms.doubts(fabric, counts)] == [True]
    # The counters of the switches suffice.
    for file in folder.glob("host*.txt"):
        file.unlink()
    assert {each.node for each in storms.roots(fabric, counters.read(fabric, [folder]))} == expected


RX = """\
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0   1,200       0       0       0       0
Ethernet4     N/A     N/A     N/A     N/A     N/A     N/A     N/A     N/A

"""
TX = RX.replace("Port Rx", "Port Tx").replace("Ethernet0 ", "Ethernet16").replace("1,200", "1,100")
STATS = (
    "      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    "
    "RX LAST OK/DROP\n"
    "-----------  -----------  -------------------------  ------------  ------------  -----------------  "
    "-----------------\n"
    "Ethernet0:3      stormed                        2/1       100/300       100/50               0/200     "
    "         0/200\n"
)
PAST = (
    "     Port    Priority    RX Pause Transitions    Total RX Pause Time US    Recent RX Pause Time US    "
    "Recent RX Pause Timestamp\n---------  ----------\n"
    "Ethernet0        PFC3                      12                    12,000                      1,200     "
    "    01/10/2008, 21:20:00\n\n"
    "Ethernet4        PFC3                     N/A                       N/A                        N/A     "
    "                     N/A\n"
)


def test_output_of_the_tools_is_read(switches: Path) -> None:
    (switches / "leaf0" / "pfc.txt").write_text("admin@leaf0:~$ show pfc counters\n" + RX + TX + STATS)
    fabric = load([switches])
    counts = counters.read(fabric, [switches])
    (found,) = storms.roots(fabric, counts)
    assert (found.node, found.priority, found.frames) == ("host0", 3, 1200)
    assert found.paused == ["leaf0", "spine0"]
    assert "found 2 storms, and dropped 350 packets" in found.evidence[-1]
    assert list(storms.doubts(fabric, counts)) == [
        "no counters of leaf1, spine0, spine1: a root may be behind it"
    ]


def test_earlier_counters_are_subtracted(switches: Path, tmp_path: Path) -> None:
    fabric = load([switches])
    (switches / "leaf0" / "pfc.txt").write_text(RX)
    before = tmp_path / "before" / "leaf0.txt"
    before.parent.mkdir()
    before.write_text(RX.replace("1,200", "1,150"))
    counts = counters.read(fabric, [switches], before.parent)
    assert [value for value in counts.told.values() if value] == [50]
    before.write_text(RX.replace("1,200", "1,201"))
    with pytest.raises(ScenarioError, match="less than 1201 before"):
        counters.read(fabric, [switches], before.parent)


def test_times_and_counters_of_adapters_are_read(switches: Path) -> None:
    (switches / "leaf0" / "history.txt").write_text(PAST)
    (switches / "host3").mkdir()
    (switches / "host3" / "hw.txt").write_text(
        "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:7\n"
        "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:1\n"
    )
    (switches / "leaf0" / "pfc.txt").write_text(RX)
    fabric = load_switches(switches)
    counts = counters.read(fabric, [switches])
    (found,) = storms.roots(fabric, counts)
    assert found.evidence[1] == "its peers were paused for 12.0 ms in total"
    assert [(place.end.port, value) for place, value in counts.paused.items()] == [("Ethernet0", 12_000)]
    assert counts.hosts == {"host3": {"np_cnp_sent": 7, "out_of_sequence": 1}}


def load_switches(folder: Path) -> Fabric:
    return load(sorted(each for each in folder.iterdir() if (each / "config_db.json").exists()))


def test_a_cycle_of_pauses_has_no_root(switches: Path) -> None:
    ring = ["leaf0", "spine0", "leaf1", "spine1"]
    fabric = load([switches])
    ends = {(cable.near.node, cable.far.node): cable for cable in fabric.cables}
    for one, two in zip(ring, [*ring[1:], ring[0]], strict=True):
        cable = ends.get((one, two)) or ends[two, one]
        port = cable.near.port if cable.near.node == one else cable.far.port
        (switches / one / "pfc.txt").write_text(
            "".join(line for line in TX.replace("Ethernet16", port).splitlines(True) if "N/A" not in line)
        )
    (found,) = storms.roots(fabric, counters.read(fabric, [switches]))
    assert "pause each other" in found.why
    assert sorted(found.paused) == sorted(ring)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("leaf0.txt", RX.replace("1,200", "many"), "is not a row of this table"),
        ("leaf0.txt", RX.replace("Ethernet0 ", "Ethernet2 "), "leaf0 has no such port"),
        ("nobody.txt", RX, "belongs to no switch or host"),
        ("leaf0.txt", "hello\n", "has no counters of the fabric"),
    ],
)
def test_wrong_outputs_are_refused(
    name: str, text: str, expected: str, switches: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / name).write_text(text)
    with pytest.raises(ScenarioError, match=expected):
        counters.read(load([switches]), [folder])


def test_the_command_prints_roots(switches: Path) -> None:
    (switches / "leaf0" / "pfc.txt").write_text(RX + TX)
    done = CliRunner().invoke(app, ["counters", str(switches)])
    assert done.exit_code == 0, done.output
    assert "Roots of pauses, 1" in done.output
    assert "host0: leaf0 Ethernet0 received 1,200 PFC3 frames" in done.output
    for arguments, expected in (
        ([str(switches), "--seconds", "1"], "--seconds: has no effect with SONiC switches"),
        (["tests/data/ft2_18/ibnetdiscover.txt"], "DUMP: is required for InfiniBand"),
        (["tests/data/ft2_18/ibnetdiscover.txt", "x"], "--seconds: is required for InfiniBand"),
    ):
        done = CliRunner().invoke(app, ["counters", *arguments])
        assert (done.exit_code, expected in done.output) == (2, True), done.output
