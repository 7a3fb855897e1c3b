"""Priority-based flow control: closed forms, warnings, the table of pauses, named deadlocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import becalm
from becalm import cli
from becalm.theory import pfc

BUFFER = pfc.SharedBuffer(size=12e6, ports=32, headroom=22.4e3)
"""The switch in section 4 of the DCQCN paper."""


def test_thresholds_of_dcqcn() -> None:
    assert BUFFER.xoff == pytest.approx(24.48e3, abs=5)
    assert BUFFER.marking == pytest.approx(0.76e3, abs=5), "below a packet: not feasible"
    assert BUFFER.dynamic_marking(beta=8) == pytest.approx(21.76e3, abs=5)
    used = BUFFER.classes * BUFFER.ports * BUFFER.dynamic_marking(beta=8)
    each = BUFFER.ports * BUFFER.dynamic_marking(beta=8)
    assert BUFFER.dynamic_xoff(8, used) == pytest.approx(each), "the bound is where one input is paused"


@pytest.mark.parametrize(
    ("gbps", "metres", "long", "short"),
    [
        (40, 300, 27.3, 21.1),
        (100, 100, 24.8, 18.6),
        (400, 2, 13.3, 7.1),
        (400, 100, 62.3, 56.1),
    ],
)
def test_headroom_in_kilobytes(gbps: float, metres: float, long: float, short: float) -> None:
    rate = gbps / 8 * 1e9
    found = [pfc.headroom(rate, metres, mtu=mtu, response=60 * pfc.QUANTUM) / 1e3 for mtu in (4096, 1024)]
    assert [round(value, 1) for value in found] == [long, short]


def test_responses_are_those_of_the_standard() -> None:
    """The sum in SONiC's scripts without cells and switch delays, for 40 m of cable and frames of 4.2 kB."""
    quanta = [pfc.response_bytes(gbps / 8 * 1e9) / pfc.QUANTUM for gbps in (1, 8, 10, 56, 100, 400, 1600)]
    assert quanta == [2, 67, 67, 394, 394, 905, 905], "between two rates, that of the upper"
    found = [pfc.headroom(gbps / 8 * 1e9, 40, mtu=4118) / 1e3 for gbps in (100, 400)]
    assert found == pytest.approx([38.7, 86.4], abs=0.1)


def test_the_model_has_the_same_headroom() -> None:
    """The model's headroom is one byte less, because its packets begin strictly before the sender obeys."""
    rate, metres, packet = 12.5e9, 100, 4096 + 82
    scenario = {
        "run": {"duration": "1 us"},
        "topology": {
            "clos": {"leaves": 1, "spines": 1, "hosts_per_leaf": 2, "rate": "100 Gb/s", "delay": "500 ns"}
        },
        "packet": {"mtu": "4096 B", "header": "82 B", "ack": "84 B", "cnp": "84 B"},
        "switch": {"buffer": "100 KiB", "forwarding_delay": "200 ns", "flow_control": {"pfc": {}}},
        "flows": [{"name": "f", "from": ["H0"], "to": ["H1"]}],
    }
    found = becalm.run(becalm.Scenario(scenario)).tables["pauses"]["headroom"].to_list()
    wanted = pfc.headroom(rate, metres, mtu=packet - 82, forwarding=200e-9)
    assert set(found) == {round(wanted) - 1}


def test_a_buffer_runs_dry_below_one_blind_time() -> None:
    share = [
        pfc.utilization(xoff=40_000, xon=1000 * xon, packet=1000, slow=1e9, fast=2e9, blind=12.5e-6)
        for xon in (0, 6, 12, 13, 20)
    ]
    assert share[3:] == [1, 1]
    assert share[0] < share[1] < share[2] < 1
    # 80 packets arrive until 41 are queued, and 24 more until the sender obeys: 104 us busy, 12.5 us idle.
    assert share[0] == pytest.approx(104 / (104 + 12.5))


def dumbbell(**switch: object) -> dict[str, Any]:
    """Return a dumbbell with cables of 1 us."""
    return {
        "run": {"duration": "1 ms"},
        "topology": {"dumbbell": {"remote": 2, "local": 2, "delay": "1 us"}},
        "switch": switch,
        "flows": [{"name": "all", "from": ["A1..A2", "B1..B2"], "to": ["BC"]}],
    }


def test_pauses_are_a_table() -> None:
    results = becalm.run(becalm.Scenario(dumbbell(buffer="16 KiB", flow_control={"pfc": {}})))
    pauses = results.tables["pauses"]
    assert pauses["pauses"].sum() > 0
    assert (pauses["headroom_used"] <= pauses["headroom"]).all()
    assert "pauses" not in becalm.run(becalm.Scenario(dumbbell())).tables


def test_validate_warns(tmp_path: Path) -> None:
    file = tmp_path / "pfc.toml"
    scenario = dumbbell(buffer="16 KiB", flow_control={"pfc": {"headroom": "4 kB"}})
    file.write_text(becalm.Scenario(scenario).to_toml())
    done = CliRunner().invoke(cli.app, ["validate", str(file)])
    assert done.exit_code == 0
    assert f"{file}: ok" in done.output.replace("\n", " ")
    assert "warning: switch.flow_control.pfc.headroom: 4000 B is too little" in done.output


def test_a_ring_of_three_switches_is_named() -> None:
    ring = ["S0", "S1", "S2"]
    hosts = [f"H{place}" for place in range(3)]
    cables = [{"between": [ring[place], ring[(place + 1) % 3]]} for place in range(3)]
    cables += [{"between": [host, switch]} for host, switch in zip(hosts, ring, strict=True)]
    routes = [
        {"switch": ring[place], "to": [hosts[(place + 2) % 3]], "via": ring[(place + 1) % 3]}
        for place in range(3)
    ]
    edges = {"hosts": hosts, "switches": ring, "cables": cables, "routes": routes, "allow_cycles": True}
    scenario = {
        "run": {"duration": "1 ms"},
        "topology": {"edges": {**edges, "rate": "1 GB/s"}},
        # With round robin this ring does not deadlock; with few bypasses it does.
        "switch": {"flow_control": {"pfc": {}}, "arbiter": {"oldest_first": {"max_bypass": 4}}},
        "flows": [
            {"name": f"f{place}", "from": [hosts[place]], "to": [hosts[(place + 2) % 3]]}
            for place in range(3)
        ],
    }
    with pytest.raises(
        becalm.BecalmError, match=r"deadlock at .*: 3 of 3 flows stopped; cycle of buffers"
    ) as error:
        becalm.run(becalm.Scenario(scenario))
    assert all(f"{switch}[" in str(error.value) for switch in ring)
