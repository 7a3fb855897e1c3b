"""Completion times of messages against queueing theory, and of a single message on an imported fabric."""

from __future__ import annotations

from pathlib import Path

import pytest

import becalm
from becalm import theory
from becalm.base.intervals import mean_interval
from becalm.opensm.importing import import_fabric

DATA = Path(__file__).parent / "data"
SEEDS = range(1, 11)
PACKET = 2068e-9
"""Transmission time of a full packet at 1 GB/s in s."""


def _beyond_ideal(load: float, seed: int) -> float:
    """Return the mean delay of one-packet messages beyond their ideal completion time in s."""
    scenario = becalm.Scenario(
        {
            "run": {"duration": "200 ms", "warmup": "10 ms", "seed": seed},
            "topology": {
                "edges": {
                    "hosts": ["a", "b"],
                    "switches": ["s"],
                    "cables": [{"between": ["a", "s"]}, {"between": ["b", "s"]}],
                }
            },
            "switch": {"buffer": "64 packets"},
            "flows": [{"name": "f", "from": ["a"], "to": ["b"], "traffic": {"poisson": {"load": load}}}],
            "observe": {"messages": True, "links": [], "step": "100 ms", "window": "100 ms"},
        }
    )
    messages = becalm.run(scenario, threads=1).messages
    assert messages.height > 20_000
    return float((messages["completion"] - messages["ideal"]).mean())  # type: ignore[arg-type]


@pytest.mark.parametrize("load", [0.3, 0.6, 0.9])
def test_messages_of_one_packet_wait_as_in_m_d_1(load: float) -> None:
    expected = theory.md1_wait(PACKET, load)
    found = mean_interval([_beyond_ideal(load, seed) for seed in SEEDS])
    print(
        f"load {load}: {found.mean * 1e6:.4f} us ({found.low * 1e6:.4f} to {found.high * 1e6:.4f}),", end=" "
    )
    print(f"M/D/1 {expected * 1e6:.4f} us")
    assert found.low <= expected <= found.high
    assert found.high - found.low < 0.1 * expected


ONE_PACKET, LARGER = ("1 B", "2048 B"), ("2049 B", "1 MB", "30 MB")
SEVENTH = {"echo": {"ibta": {"ack_every": 7}}}


@pytest.mark.parametrize(
    ("size", "feedback"),
    [*((size, {}) for size in ONE_PACKET + LARGER), *((size, SEVENTH) for size in LARGER)],
)
def test_a_message_alone_on_an_imported_fabric_takes_its_ideal_time(
    size: str, feedback: dict[str, object]
) -> None:
    folder = DATA / "ft3_16"
    imported = import_fabric(folder / "ibnetdiscover.txt", folder / "opensm-lfts.dump")
    ends = {"from": [imported.fabric.hosts[0].name], "to": [imported.fabric.hosts[-1].name]}
    flow = {"name": "f", **ends, "traffic": {"batch": {"count": 1, "message": size}}}
    changes = {"run": {"duration": "1 s", "end": "delivered"}, "flows": [flow], "observe": {"messages": True}}
    messages = becalm.run(becalm.Scenario(imported.text).replace({**changes, **feedback})).messages
    assert messages["slowdown"].to_list() == [1.0]
