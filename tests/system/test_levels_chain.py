"""Service levels with real programs: routing engines, path records, lanes, and what adapters are sent.

Requires the Debian packages opensm, ibsim-utils, infiniband-diags and libumad2sim0; skipped without them.
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.configuration import load
from becalm.opensm.importing import Imported, import_fabric
from ibsim import Responder, Simulator, missing, netfile
from wire import ADAPTER_SETTING, decoded

LACKING = missing() + [name for name in ("saquery",) if shutil.which(name, path="/usr/sbin:/usr/bin") is None]
pytestmark = pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}")

Ends = tuple[str, int, str, int]
"""A cable: node, port, node, port; ports start at 1."""

TORUS_2QOS = """\
torus {0} {1} 1
xp_link {here} {right}
xm_link {here} {left}
yp_link {here} {up}
ym_link {here} {down}
x_dateline 0
y_dateline 0
"""

CASES = {
    "ring, dfsssp": ((5, 1), "dfsssp", ""),
    "torus, dfsssp": ((5, 3), "dfsssp", ""),
    "torus, lash": ((5, 3), "lash", ""),
    "torus, torus-2QoS": ((5, 3), "torus-2QoS", ""),
    "torus, nue": ((4, 3), "nue", "nue_max_num_vls 4\n"),
}
"""Sides of a torus, a routing engine, and lines of the configuration."""


def torus(sides: tuple[int, int]) -> list[Ends]:
    """Return the cables of a torus with one host on each switch."""
    ports: Counter[str] = Counter()

    def end(node: str) -> tuple[str, int]:
        ports[node] += 1
        return node, ports[node]

    places = list(itertools.product(*map(range, sides)))
    cables = [(*end(f"H{number}"), *end(f"T{x}_{y}")) for number, (x, y) in enumerate(places)]
    for x, y in places:
        further = [((x + 1) % sides[0], y), (x, (y + 1) % sides[1])]
        cables += [(*end(f"T{x}_{y}"), *end(f"T{a}_{b}")) for a, b in further if (a, b) != (x, y)]
    return cables


def guids(cables: list[Ends]) -> dict[str, int]:
    names = sorted({str(name) for cable in cables for name in cable[0::2]})
    return {name: 0x2C90000000000 + 0x100 * place for place, name in enumerate(names, 1)}


def swept(folder: Path, case: str) -> dict[tuple[int, int], int]:
    """Run OpenSM with a routing engine; return the levels of the paths by LIDs.

    Leaves OpenSM's dumps, the output of `ibnetdiscover` and the path records of all pairs in the folder.
    """
    sides, engine, configuration = CASES[case]
    cables = torus(sides)
    numbers = guids(cables)
    net = folder / "fabric.net"
    net.write_text(netfile(cables, numbers))
    options = ["-R", engine, "-Q", "-D", "0x43"]
    if engine == "torus-2QoS":
        far = {"right": (1, 0), "left": (sides[0] - 1, 0), "up": (0, 1), "down": (0, sides[1] - 1)}
        named = {name: f"0x{numbers[f'T{x}_{y}']:016x}" for name, (x, y) in {"here": (0, 0), **far}.items()}
        (folder / "torus.conf").write_text(TORUS_2QOS.format(*sides, **named))
        options += ["--torus_config", str(folder / "torus.conf")]
    levels, records = {}, []
    with (
        Simulator(net, folder) as sim,
        sim.subnet_manager(*options, configuration=f"qos TRUE\n{configuration}"),
    ):
        (folder / "fabric.txt").write_text(sim.client("ibnetdiscover"))
        lids = [host.lid for host in ibnetdiscover.read(folder / "fabric.txt").hosts]
        for source, to in itertools.permutations(lids, 2):
            # ibsim does not carry answers of several packets: one pair at a time.
            records.append(sim.client("saquery", "-p", "--slid", str(source), "--dlid", str(to)))
            (level,) = re.findall(r"^\s*sl\.+0x(\w+)$", records[-1], re.MULTILINE)
            levels[source, to] = int(level, 16)
    (folder / "records.txt").write_text("".join(records))
    return levels


def taken(folder: Path, *, levels: bool = True) -> Imported:
    more = (folder / "records.txt", folder / "opensm-sl2vl.dump") if levels else ()
    return import_fabric(folder / "fabric.txt", folder / "opensm-lfts.dump", *more)


@pytest.mark.parametrize("case", CASES)
def test_levels_come_from_opensm_and_go_back_to_it(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = swept(tmp_path, case)
    imported = taken(tmp_path)
    lids = {host.name: host.lid for host in imported.fabric.hosts}
    pairs = [{"from": a, "to": b} for a, b in itertools.permutations(lids, 2)]
    every = [{"name": "all", "connections": pairs, "traffic": {"greedy": {}}}]
    run = {"duration": "300 us", "warmup": "0 s"}
    scenario = becalm.Scenario(imported.text).replace({"flows": every, "run": run})
    found = {
        (lids[row["source"]], lids[row["destination"]]): row["sl"]
        for row in scenario.network().flows.iter_rows(named=True)
    }
    assert found == said
    assert len(set(said.values())) > 1
    # The engine's lanes leave no cycle, so all flows deliver, whatever they send.
    assert not any("deadlock" in note for note in imported.notes)
    assert scenario.network().cycle(of_all=True) == []
    assert (becalm.run(scenario).flows["delivered_packets"] > 0).all()
    assert any("can deadlock" in note for note in taken(tmp_path, levels=False).notes)
    sent = installed(tmp_path, imported)
    expected = sum(1 << level for level in {0, *said.values()})
    assert sent == {(len(lids), expected)}
    with capsys.disabled():
        print(f"\n{case}: {len(said)} paths on levels {sorted(set(said.values()))}", end="")


def installed(folder: Path, imported: Imported) -> set[tuple[int, int]]:
    """Install becalm's options, compare all levels, and return the number of adapters and their map."""
    file, conf = folder / "fabric.toml", folder / "cc.conf"
    file.write_text(imported.text)
    arguments = ("manage", file, "--guideline", "becalm", "--contributors", 4, "--opensm", conf)
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    written = load(conf)
    with Simulator(folder / "fabric.net", folder) as sim, Responder(sim) as responder:
        command = ("opensm", "-o", "-F", str(conf), "-f", str(folder / "cc.log"))
        sim.client(*command, name=responder.name)
    packets = [decoded(mad) for mad in responder.mads]
    adapters = [packet for packet in packets if packet["attribute"] == ADAPTER_SETTING]
    names = ("ccti_timer", "ccti_increase", "trigger_threshold", "ccti_min")
    columns = [written.levels(f"cc_ca_cong_setting_{name}") for name in names]
    for packet in adapters:
        assert packet["levels"] == list(zip(*columns, strict=True))
        used = int(str(packet["control_map"]))
        steps = [increase for _, increase, *_ in zip(*columns, strict=True)]
        assert [step > 0 for step in steps] == [bool(used >> level & 1) for level in range(16)]
    return {(len(adapters), int(str(packet["control_map"]))) for packet in adapters}
