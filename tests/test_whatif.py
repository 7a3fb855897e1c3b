"""An incast on an imported fabric: faults of the fabric, and victims."""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
import drawn
from becalm import manager
from becalm.analysis.faults import Fault, faults, labels
from becalm.base.quantities import seconds
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.importing import import_fabric, port_numbers
from becalm.runs import Progress
from becalm.scenario.contents import catalogue
from becalm.whatif import budget, length
from becalm.whatif import incast as incasts
from becalm.whatif.case import Case, simulate
from becalm.whatif.incast import WhatIf
from fabrics import DATA, Cable, discovered, dumped, guid, written

SCENARIOS = Path(__file__).parents[1] / "scenarios"
SMALL = DATA / "ft2_18"
FABRIC, TABLES = SMALL / "ibnetdiscover.txt", SMALL / "opensm-lfts.dump"

RUNS = {"calm", "calm_managed", "without", "managed"}
FOLDED: list[Cable] = [
    *((f"H{1 + 3 * leaf + place}", 1, f"S{1 + leaf}", 1 + place) for leaf in range(4) for place in range(3)),
    *((f"S{1 + leaf}", 10 + spine, f"S{11 + spine}", 1 + leaf) for leaf in range(4) for spine in range(3)),
]
"""Four leaves of three hosts under three spines."""

ROCE = """
[run]
duration = "2 ms"
warmup = "500 us"
[topology.clos]
leaves = 4
spines = 2
hosts_per_leaf = 4
rate = "25 Gb/s"
[switch]
buffer = "64 KiB"
arbiter.round_robin = {}
flow_control.pfc = {}
[marking.ramp]
kmin = 5
kmax = 20
pmax = 0.1
[echo.rocev2]
[response.dcqcn]
[[flows]]
name = "background"
from = ["*"]
pattern.shift.by = 5
traffic.poisson.load = 0.3
"""
RING: list[Cable] = [
    *((f"S{n}", 1, f"S{n % 5 + 1}", 2) for n in range(1, 6)),
    *((f"H{n}", 1, f"S{n}", 3) for n in range(1, 6)),
]
"""Five switches in a ring."""


def found(folder: Path, text: str, dump: str | None = None) -> list[Fault]:
    file, tables = written(folder, text, dump)
    scenario = becalm.Scenario(import_fabric(file, tables).text)
    return faults(scenario, labels(scenario.network(), port_numbers(ibnetdiscover.read(file))))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fabric of 324 hosts with OpenSM's routes."""
    folder = tmp_path_factory.mktemp("ft2_324")
    for packed in (DATA / "ft2_324").iterdir():
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.fixture(scope="module")
def incast(large: Path) -> WhatIf:
    """Effects of an incast on the large fabric."""
    return simulate(Case(large / FABRIC.name, "host0", lfts=large / TABLES.name), threads=1)


def test_nothing_is_wrong_with_whole_fabrics(large: Path, tmp_path: Path) -> None:
    for folder in (SMALL, DATA / "ft3_16", large):
        text, dump = ((folder / name).read_text() for name in (FABRIC.name, TABLES.name))
        assert found(tmp_path, text, dump) == []


def test_a_missing_cable_is_named(tmp_path: Path) -> None:
    lost = [cable for cable in FOLDED if cable[0::2] != ("S2", "S12")]
    assert found(tmp_path, discovered(lost)) == [
        Fault("missing cable", "S2", "2 cables to the level above, while its peers have 3: none to S12")
    ]


def test_cables_to_the_wrong_switch_are_named(tmp_path: Path) -> None:
    wrong = [(*cable[:2], "S11", 9) if cable[0::2] == ("S2", "S12") else cable for cable in FOLDED]
    assert found(tmp_path, discovered(wrong)) == [Fault("uneven cables", "S2", "none to S12, but 2 to S11")]


def test_a_slow_cable_is_named(tmp_path: Path) -> None:
    text = discovered(FOLDED)
    for own, peer in ((f'[11]\t"S-{guid("S12"):016x}"[2]', "S12"), (f'[2]\t"S-{guid("S2"):016x}"[11]', "S2")):
        (line,) = (each for each in text.splitlines() if each.startswith(own) and f'"{peer}"' in each)
        text = text.replace(line, line.replace("4xQDR", "1xQDR"))
    assert found(tmp_path, text) == [
        Fault("slow cable", "S2 port 11 - S12", "8 Gb/s, while its peers have 32 Gb/s")
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
    assert named[0].what == "27 pairs of hosts; the switch's 3 uplinks carry 9 on average, the least used 0"


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


def test_sources_of_many_small_flows_are_victims_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "fabric.toml"
    text = import_fabric(FABRIC, TABLES).text
    file.write_text(text.replace("[flows.pattern.permutation]", 'to = ["*"]'))
    result = simulate(Case(file, "host0", contributors=12))
    assert result.victims
    assert {each.destination for each in result.victims} == {"*"}


def test_an_incast_on_a_large_fabric_names_its_victims(large: Path, incast: WhatIf) -> None:
    result = incast
    hosts = set(becalm.Scenario(import_fabric(large / FABRIC.name, large / TABLES.name).text).hosts())
    assert len(result.sources) == 8
    # All sources share one link with the same rate as the host's link, so either may be the root.
    roots = {each.link for each in result.tree if each.role == "root"}
    assert roots & {"leaf0 port 1 -> host0", "spine0 port 1 -> leaf0"}
    assert any(each.role == "branch" for each in result.tree)
    assert result.victims
    for victim in result.victims:
        assert {victim.source, victim.destination} <= hosts
        assert victim.destination != "host0"
        assert victim.lost_to_incast > 0.05
    calm, without, managed = (result.rates[name].others for name in ("calm", "without", "managed"))
    assert without < managed <= calm * 1.01
    assert result.simulated >= 200e-6
    assert result.faults == []


@pytest.mark.parametrize(("fabric", "contributors", "costs"), [("ft2_324", 16, True), ("ft2_18", 6, False)])
def test_control_may_cost_something_when_nothing_is_wrong(
    large: Path, fabric: str, contributors: int, *, costs: bool
) -> None:
    """The guideline's table for 16 contributors slows traffic on the large fabric even without an incast."""
    folder = large if fabric == "ft2_324" else SMALL
    arguments = [str(folder / FABRIC.name), "--lfts", str(folder / TABLES.name), "--hot", "host0", "--json"]
    arguments += ["--load", "0.5"] if costs else []
    option = "--contributors" if costs else "--degree"
    found = json.loads(CliRunner().invoke(app, ["whatif", *arguments, option, str(contributors)]).stdout)
    assert len(found["sources"]) == contributors and set(found["rates"]) == RUNS
    rates = {run: each["others"] for run, each in found["rates"].items()}
    assert found["lost"]["calm_managed"] == pytest.approx(1 - rates["calm_managed"] / rates["calm"], abs=1e-9)
    assert (found["lost"]["calm_managed"] > 0.05) is costs
    assert found["rates"]["calm"]["incast"] == found["rates"]["calm_managed"]["incast"] == 0


def test_a_scenario_with_control_of_its_own_keeps_it(tmp_path: Path) -> None:
    """InfiniBand guidelines do not replace DCQCN on a RoCE fabric with PFC."""
    file = tmp_path / "roce.toml"
    file.write_text(ROCE)
    result = CliRunner().invoke(app, ["whatif", str(file), "--hot", "H15", "--contributors", "6"])
    assert result.exit_code == 0, result.output
    assert "with control: the scenario's own, dcqcn" in result.output
    cost = next(line for line in result.output.splitlines() if line.startswith("without any incast"))
    assert cost.startswith("without any incast, control costs all other traffic")
    found = simulate(Case(file, "H15", 6))
    assert found.rates["managed"].others > found.rates["without"].others
    assert f"traffic {100 * found.lost('calm_managed'):.1f}%" in cost


def test_parameters_that_cannot_work_are_named(tmp_path: Path) -> None:
    made = becalm.Scenario(import_fabric(FABRIC, TABLES).text).with_guideline(hot_spot_degree=8)
    file = tmp_path / "masked.toml"
    for mask, said in (("all", "marking.ibta.victim_mask = all"), ("none", "")):
        file.write_text(made.replace({"marking.ibta.victim_mask": mask}).to_toml())
        found = simulate(Case(file, "host0", 4))
        assert [each.sentence[: len(said)] for each in found.concerns] == [said] * bool(said)
        printed = CliRunner().invoke(app, ["whatif", str(file), "--hot", "host0"]).output
        assert ("with control: marking.ibta.victim_mask" in printed) == bool(said)


def test_victims_share_the_path_of_the_incast(large: Path, incast: WhatIf) -> None:
    """Victims cross a link of the tree, except a few that wait at links with earlier congestion."""
    scenario = becalm.Scenario(import_fabric(large / FABRIC.name, large / TABLES.name).text)
    network = scenario.network()
    names = labels(network, port_numbers(ibnetdiscover.read(large / FABRIC.name)))
    tree, apart = {each.link for each in incast.tree}, []
    for victim in incast.victims:
        path = network.paths(victim.source, victim.destination)
        crossed = {names[place] for place in path.select("from", "from_port").iter_rows()}
        if not (victim.own_link or tree & crossed):
            apart.append(victim)
    assert len(apart) <= 0.2 * len(incast.victims), apart


def test_the_same_case_gives_the_same_result() -> None:
    case = Case(FABRIC, "host3", contributors=5, lfts=TABLES)
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
    for arguments, message in (
        ([file, "--hot", "host99"], "there is no host `host99`"),
        ([file, "--hot", "host0", "--degree", "18"], "must be between 1 and the 17 other hosts"),
        ([file, "--hot", "host0", "--fabric", other], "has 16 hosts and 20 switches"),
        ([file, "--hot", "host0", "--lfts", TABLES], "--lfts: has no effect"),
        ([FABRIC, "--hot", "host0", "--fabric", FABRIC], "--fabric: has no effect"),
        ([file, "--hot", "host0", "--load", "11"], "must be"),
        ([tmp_path / "none.toml", "--hot", "host0"], "no such file"),
    ):
        result = CliRunner().invoke(app, ["whatif", *map(str, arguments)])
        assert (result.exit_code, message in result.output) == (2, True), result.output


def test_the_command_prints_tables_or_an_object() -> None:
    arguments = ["whatif", str(FABRIC), "--lfts", str(TABLES), "--hot", "host0", "--degree", "8"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for text in ("no faults", "Congestion tree", "Victims", "Throughput", "4 runs of"):
        assert text in result.output
    printed = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert printed["hot"] == "host0"
    assert all(each["lost_to_incast"] > 0.05 for each in printed["victims"])


@pytest.fixture
def pace() -> list[float]:
    """Seconds for 1 ms of each run in turn; the last also of all later ones."""
    return [10.0]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pace: list[float]) -> Path:
    """A scenario of 1 ms, of which each run takes 10 s by a clock of the test. Control needs 0.4 ms."""
    now = 0.0

    def run(scenario: becalm.Scenario, look: Callable[[Progress], object], _: int | None) -> becalm.Results:
        nonlocal now
        began, duration = now, seconds(scenario.resolved["run"]["duration"])
        each = pace.pop(0) if len(pace) > 1 else pace[0]
        for part in range(11):
            now = began + part / 10 * each * duration / 1e-3
            look(Progress(0, 1, part / 10 * duration, duration, 0, 0))
        return becalm.run(scenario)

    monkeypatch.setattr(budget, "run", run)
    monkeypatch.setattr(incasts, "Budget", functools.partial(budget.Budget, clock=lambda: now))
    monkeypatch.setattr(length, "DECAY", 0.3e-3)
    file = tmp_path / "slow.toml"
    file.write_text(ROCE.replace("2 ms", "1 ms").replace("500 us", "250 us"))
    return file


@pytest.mark.parametrize(
    ("limit", "runs", "simulated"),
    [
        (45.0, 4, 1e-3),
        # At a tenth of the first run, 1 s has passed. Shorter runs need 0.8 of the time left.
        (39.0, 4, 0.8 * (39 - 1) / 40 * 1e-3),
        (22.0, 4, 0.8 * (22 - 1) / 40 * 1e-3),
        # Four runs of 0.4 ms would end at 21 s, but the two without control fit as they are.
        (20.5, 2, 1e-3),
        (10.0, 2, 0.8 * (10 - 1) / 20 * 1e-3),
    ],
)
def test_runs_that_fit_into_the_limit_are_made(slow: Path, limit: float, runs: int, simulated: float) -> None:
    result = simulate(Case(slow, "H0"), max_time=limit)
    assert set(result.rates) == (RUNS if runs == 4 else {"calm", "without"})
    assert result.simulated == pytest.approx(simulated, rel=1e-3)
    assert result.took <= limit
    assert result.needed == pytest.approx(0.0 if runs == 4 else 21.0)
    assert all(math.isnan(each.managed) == (runs == 2) for each in result.victims)


def test_a_slower_second_run_counts_for_all_four(slow: Path, pace: list[float]) -> None:
    # By the first run, the runs without control fit as they are. At 12 s, the mean of a run seems to be 15 s.
    pace[:] = [10.0, 20.0, 1.0]
    result = simulate(Case(slow, "H0"), max_time=20.5)
    assert set(result.rates) == {"calm", "without"}
    assert result.needed == pytest.approx(12 + 4 * 15 * 0.4 / 0.8)


def test_a_limit_that_is_too_small_is_told_with_what_is_needed(slow: Path) -> None:
    text = "needs about 6 s, or 21 s for runs with congestion control, but --max-time permits 5 s"
    with pytest.raises(becalm.BecalmError, match=text):
        simulate(Case(slow, "H0"), max_time=5)


def test_runs_shorter_than_control_recovers_say_nothing_about_its_cost(
    slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for decay, said in ((2e-3, "is not known: it needs 2.00 ms to recover"), (0.5e-3, "all other traffic")):
        monkeypatch.setattr(length, "DECAY", decay)
        printed = CliRunner().invoke(app, ["whatif", str(slow), "--hot", "H0"]).output
        assert f"control costs {said}" in printed


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


TOPOLOGIES = {name: shapes[0] for name, shapes in drawn.TOPOLOGIES.items()}


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten all runs."""
    monkeypatch.setattr(length, "MOST_HOPS", 1e5)
    monkeypatch.setattr(length, "SHORTEST", 20e-6)
    monkeypatch.setattr(length, "DECAY", 0.0)
    monkeypatch.setattr(manager, "unwind", lambda _: 0.0)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", sorted(path.stem for path in SCENARIOS.glob("*.toml")))
def test_it_works_on_every_ready_scenario(name: str) -> None:
    file = SCENARIOS / f"{name}.toml"
    hot = becalm.load(file).network().flows["destination"][0]
    result = CliRunner().invoke(app, ["whatif", str(file), "--hot", hot, "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.output.partition("{")[1] + result.output.partition("{")[2])
    assert printed["hot"] == hot and set(printed["rates"]) == RUNS


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_it_works_on_every_topology(topology: str) -> None:
    assert set(TOPOLOGIES) == {entry.name for entry in catalogue()["topologies"]}
    flows = [{"name": "all", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.2}}}]
    lanes = {"vls": 2 if topology in ("dragonfly", "torus") else 1}
    network = {"topology": {topology: TOPOLOGIES[topology]}, "switch": lanes}
    data = {"run": {"duration": "50 us"}, "flows": flows, **network}
    scenario = becalm.Scenario(data)
    first, *others = scenario.hosts()
    found = incasts.whatif(
        scenario,
        first,
        lambda given, degree: given.with_guideline(hot_spot_degree=max(2, degree)),
        control_name="g",
    )
    assert set(found.sources) <= set(others) and found.faults == []
    incast, into = (found.rates["without"].incast, f"-> {first}")
    assert incast > 0 and any(each.link.endswith(into) for each in found.tree)
