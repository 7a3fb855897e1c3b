"""An incast on an imported fabric: what is wrong with the fabric, and who suffers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.importing import import_fabric
from becalm.whatif.case import Case, simulate
from becalm.whatif.faults import Fault, faults
from becalm.whatif.incast import WhatIf
from becalm.whatif.network import network
from fabrics import DATA, Cable, discovered, dumped, guid, written

SMALL = DATA / "ft2_18"
FABRIC, TABLES = SMALL / "ibnetdiscover.txt", SMALL / "opensm-lfts.dump"

FOLDED: list[Cable] = [
    *((f"H{1 + 3 * leaf + place}", 1, f"S{1 + leaf}", 1 + place) for leaf in range(4) for place in range(3)),
    *((f"S{1 + leaf}", 10 + spine, f"S{11 + spine}", 1 + leaf) for leaf in range(4) for spine in range(3)),
]
"""Four leaves of three hosts under three spines."""

RING: list[Cable] = [
    *((f"S{n}", 1, f"S{n % 5 + 1}", 2) for n in range(1, 6)),
    *((f"H{n}", 1, f"S{n}", 3) for n in range(1, 6)),
]
"""Five switches in a circle."""


def found(folder: Path, text: str, dump: str | None = None) -> list[Fault]:
    file, tables = written(folder, text, dump)
    scenario = becalm.Scenario(import_fabric(file, tables).text)
    return faults(scenario, network(scenario, ibnetdiscover.read(file)))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fabric of 324 hosts, as OpenSM routed it."""
    folder = tmp_path_factory.mktemp("ft2_324")
    for packed in (DATA / "ft2_324").iterdir():
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.fixture(scope="module")
def incast(large: Path) -> WhatIf:
    """What an incast does to the large fabric."""
    return simulate(Case(large / FABRIC.name, "host0", lfts=large / TABLES.name), threads=1)


def test_nothing_is_wrong_with_whole_fabrics(large: Path, tmp_path: Path) -> None:
    for folder in (SMALL, DATA / "ft3_16", large):
        text, dump = ((folder / name).read_text() for name in (FABRIC.name, TABLES.name))
        assert found(tmp_path, text, dump) == []


def test_a_missing_cable_is_named(tmp_path: Path) -> None:
    lost = [cable for cable in FOLDED if cable[0::2] != ("S2", "S12")]
    assert found(tmp_path, discovered(lost)) == [
        Fault("missing cable", "S2", "2 cables to the level above, where its peers have 3: none to S12")
    ]


def test_a_slow_cable_is_named(tmp_path: Path) -> None:
    text = discovered(FOLDED)
    for own, peer in ((f'[11]\t"S-{guid("S12"):016x}"[2]', "S12"), (f'[2]\t"S-{guid("S2"):016x}"[11]', "S2")):
        (line,) = (each for each in text.splitlines() if each.startswith(own) and f'"{peer}"' in each)
        text = text.replace(line, line.replace("4xQDR", "1xQDR"))
    assert found(tmp_path, text) == [
        Fault("slow cable", "S2 port 11 - S12", "8 Gb/s, where its peers have 32 Gb/s")
    ]


def test_routes_that_all_take_one_way_are_named(tmp_path: Path) -> None:
    def first(_switch: str, _to: str, ports: list[int]) -> int:
        return ports[0]

    def spread(_switch: str, to: str, ports: list[int]) -> int:
        return ports[int(to[1:].partition("/")[0]) % len(ports)]

    assert found(tmp_path, discovered(FOLDED), dumped(FOLDED, spread)) == []
    named = found(tmp_path, discovered(FOLDED), dumped(FOLDED, first))
    assert [(each.kind, each.where) for each in named] == [
        ("unbalanced routes", f"S{leaf} port 10 -> S11") for leaf in (1, 2, 3, 4)
    ]
    assert named[0].what == "27 pairs of hosts, where 3 links up have 9 on average, 0 at least"


def test_a_credit_loop_is_named(tmp_path: Path) -> None:
    named = found(tmp_path, discovered(RING))
    assert [each.kind for each in named] == ["credit loop"]
    assert "S1" in named[0].what


def test_hosts_that_cannot_be_reached_are_named_and_refused(tmp_path: Path) -> None:
    table, _, rest = TABLES.read_text().partition("0x0012 ")
    file = tmp_path / "lfts.dump"
    file.write_text(table + rest.partition("\n")[2])
    result = CliRunner().invoke(app, ["whatif", str(FABRIC), "--lfts", str(file), "--hot", "host0"])
    assert result.exit_code == 2
    assert "has no entry for host12 (LID 0x0012)" in result.output
    text = FABRIC.read_text()
    (tmp_path / "parted.txt").write_text(text + discovered([("H91", 1, "S91", 1), ("H92", 1, "S91", 2)]))
    result = CliRunner().invoke(app, ["whatif", str(tmp_path / "parted.txt"), "--hot", "host0"])
    assert result.exit_code == 2
    assert result.output


def test_tables_with_gaps_are_not_judged() -> None:
    scenario = becalm.Scenario(import_fabric(FABRIC, TABLES).text)
    net = network(scenario)
    del net.routes["leaf0"]["host9"]
    (fault,) = faults(scenario, net)
    assert (fault.kind, fault.what.partition(":")[0]) == ("unchecked", "leaf0 has none for host9")


def test_sources_of_many_small_flows_are_victims_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    text = import_fabric(FABRIC, TABLES).text
    file.write_text(text.replace("[flows.pattern.permutation]", 'to = ["*"]'))
    result = simulate(Case(file, "host0", degree=12))
    assert result.victims
    assert {each.destination for each in result.victims} == {"*"}


def test_an_incast_on_a_large_fabric_names_its_victims(large: Path, incast: WhatIf) -> None:
    result = incast
    net = network(becalm.Scenario(import_fabric(large / FABRIC.name, large / TABLES.name).text))
    assert len(result.sources) == 8
    # All sources come over one link, which is as slow as that to the host: either may be the root.
    roots = {each.link for each in result.tree if each.role == "root"}
    assert roots & {"leaf0 port 1 -> host0", "spine0 port 1 -> leaf0"}
    assert any(each.role == "branch" for each in result.tree)
    assert result.victims
    for victim in result.victims:
        assert {victim.source, victim.destination} <= net.known
        assert victim.destination != "host0"
        assert victim.lost > 0.05
    calm, without, managed = (result.rates[name].others for name in ("calm", "without", "managed"))
    assert without < managed <= calm * 1.01
    assert result.simulated >= 200e-6
    assert result.faults == []


def test_victims_share_the_way_of_the_incast(large: Path, incast: WhatIf) -> None:
    """Victims cross a link of the tree, but for a few whose hosts have ACKs that wait for one."""
    scenario = becalm.Scenario(import_fabric(large / FABRIC.name, large / TABLES.name).text)
    net = network(scenario, ibnetdiscover.read(large / FABRIC.name))
    tree, apart = {each.link for each in incast.tree}, []
    for victim in incast.victims:
        switch, way = net.ports[victim.source][0].peer, []
        while switch != victim.destination:
            port = net.routes[switch].get(victim.destination)
            if port is None:
                port = next(n for n, each in enumerate(net.ports[switch]) if each.peer == victim.destination)
            way.append(net.link(switch, port, net.ports[switch][port].peer))
            switch = net.ports[switch][port].peer
        if not (victim.takes_part or tree.intersection(way)):
            apart.append(victim)
    assert len(apart) <= 0.2 * len(incast.victims), apart


def test_the_same_case_gives_the_same_result() -> None:
    case = Case(FABRIC, "host3", degree=5, lfts=TABLES)
    one, other = simulate(case), simulate(case)
    assert (one.tree, one.victims, one.rates) == (other.tree, other.victims, other.rates)


def test_a_scenario_keeps_its_own_background(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    file.write_text(import_fabric(FABRIC, TABLES).text.replace('"background"', '"storage"'))
    result = simulate(Case(file, "host0", fabric=FABRIC))
    assert {each.group for each in result.victims} == {"storage"}
    assert simulate(Case(file, "host0", load=0.1)).rates["calm"].others < result.rates["calm"].others / 3


def test_bad_input_is_one_message(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    file.write_text(import_fabric(FABRIC, TABLES).text)
    other = DATA / "ft3_16" / "ibnetdiscover.txt"
    tree = tmp_path / "tree.toml"
    tree.write_text(
        '[run]\nduration = "1 us"\n[topology.tree]\nports = 4\nlevels = 2\n[[flows]]\nname = "a"\n'
        'from = ["*"]\nto = ["*"]\n'
    )
    for arguments, message in (
        ([file, "--hot", "host99"], "host `host99`: unknown"),
        ([file, "--hot", "host0", "--degree", "18"], "must be between 1 and the 17 other hosts"),
        ([file, "--hot", "host0", "--fabric", other], "has 16 hosts and 20 switches"),
        ([file, "--hot", "host0", "--lfts", TABLES], "--lfts: has no effect"),
        ([FABRIC, "--hot", "host0", "--fabric", FABRIC], "--fabric: has no effect"),
        ([tree, "--hot", "H1"], "topology.tree: is not a list of cables"),
        ([file, "--hot", "host0", "--load", "11"], "must be"),
        ([tmp_path / "none.toml", "--hot", "host0"], "no such file"),
    ):
        result = CliRunner().invoke(app, ["whatif", *map(str, arguments)])
        assert (result.exit_code, message in result.output) == (2, True), result.output


def test_the_command_prints_tables_or_an_object() -> None:
    arguments = ["whatif", str(FABRIC), "--lfts", str(TABLES), "--hot", "host0", "--degree", "8"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for text in ("no faults", "Congestion tree", "Victims", "Throughput", "3 runs of"):
        assert text in result.output
    printed = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert printed["hot"] == "host0"
    assert all(each["lost"] > 0.05 for each in printed["victims"])


def test_it_takes_no_longer_than_allowed(large: Path) -> None:
    with pytest.raises(becalm.BecalmError, match="took longer than"):
        simulate(Case(large / FABRIC.name, "host0", lfts=large / TABLES.name), max_time=0.01)


def test_faults_are_printed_even_if_the_fabric_stands_still(tmp_path: Path) -> None:
    file, _ = written(tmp_path, discovered(RING))
    arguments = ["whatif", str(file), "--hot", "H1", "--degree", "4", "--load", "1"]
    result = CliRunner().invoke(app, arguments)
    assert "credit loop: routes" in result.output
    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_two_hosts_are_enough(tmp_path: Path) -> None:
    file, _ = written(tmp_path, discovered([("H1", 1, "S1", 1), ("H2", 1, "S1", 2)]))
    result = simulate(Case(file, "H1"))
    assert (result.sources, result.victims) == (["H2"], [])
