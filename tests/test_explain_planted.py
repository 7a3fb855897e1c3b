"""Planted causes and healthy scenes: explanations name the fault and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import becalm
from becalm.analysis.case import Case
from becalm.analysis.facts import Facts
from becalm.explanations import Explanation

Data = dict[str, Any]
SWITCH: Data = {"buffer": "32 KiB", "arbiter": {"round_robin": {}}}
LIPD: Data = {"marking": {"input_triggered": {}}, "echo": {"ack": {}}, "response": {"lipd": {}}}
DCQCN: Data = {"marking": {"ramp": {}}, "echo": {"rocev2": {}}, "response": {"dcqcn": {}}}
PFC: Data = {"flow_control": {"pfc": {}}}
HOSTS = [f"H{host}" for host in range(16)]
RING = ["H0", "H4", "H8", "H12", "H1", "H5", "H9", "H13"]


def clos(**more: Any) -> Data:  # noqa: ANN401
    shape = {"leaves": 4, "spines": 4, "hosts_per_leaf": 4, "rate": "25 Gb/s", "delay": "100 ns", **more}
    return {"topology": {"clos": shape}}


def load(share: float) -> Data:
    return {"traffic": {"poisson": {"load": share}}}


def group(name: str, sources: list[str], to: list[str], **more: Any) -> Data:  # noqa: ANN401
    return {"name": name, "from": sources, "to": to, **more}


def pairs(name: str, ends: list[tuple[int, int]], share: float) -> Data:
    connections = [{"from": f"H{one}", "to": f"H{other}"} for one, other in ends]
    return {"name": name, "connections": connections, **load(share)}


def ring(**more: Any) -> Data:  # noqa: ANN401
    collective = {"all_reduce": {"bytes": "1 MiB", "algorithm": "ring"}}
    return {"name": "training", "hosts": RING, "placement": "list", "collective": collective, **more}


def scene(
    switch: Data | None = None,
    *parts: Data,
    end: str = "duration",
    length: str = "4 ms",
    seed: int = 3,
    **more: Any,  # noqa: ANN401
) -> Data:
    ending: Data = {"warmup": "500 us"} if end == "duration" else {"end": end}
    found: Data = {
        "run": {"duration": length, "seed": seed, **ending},
        **clos(),
        "switch": {**SWITCH, **(switch or {})},
    }
    for part in (*parts, more):
        found |= part
    return found


def explained(data: Data) -> Explanation:
    return becalm.explain(becalm.run(becalm.Scenario(data, name="planted"), threads=1))


ECMP: Data = {"paths": {"flow": {}}}
INCAST = group("incast", ["H2", "H6", "H10", "H14"], ["H15"])
RACKS: Data = {
    "topology": {
        "edges": {
            "hosts": ["W1..W6", "by", "target", "login"],
            "switches": ["near", "far"],
            "rate": "25 Gb/s",
            "cables": [
                {"between": ["W1..W6", "near"]},
                {"between": ["by", "near"]},
                {"between": ["near", "far"], "rate": "50 Gb/s"},
                {"between": ["target", "far"]},
                {"between": ["login", "far"]},
            ],
        }
    }
}
WRONG = {"marking": {"input_output_triggered": {}}, "response": {"lipd": {"window": 8}}}
WRITES = group(
    "writes", ["W1..W6"], ["target"], start="1 ms", traffic={"batch": {"count": 8, "message": "512 KiB"}}
)
SLOWER = {"adapter": {"caps": [{"hosts": ["H5"], "drain_rate": "8 Gb/s"}]}}
SLOW = {"adapter": {"caps": [{"hosts": ["H5"], "drain_rate": "2 Gb/s"}]}}
STOPPED = {"adapter": {"caps": [{"hosts": ["H5"], "drain_rate": "1 Mb/s"}]}}
BROKEN = [{"link": "leaf1->H5", "at": "100 us", "rate": "1 Mb/s"}]
ALL = group("all", ["*"], ["*"], **load(0.4))
BACKUP = group("backup", ["H2", "H6"], ["H5"], **load(0.2))
LOCAL = group("local", ["H1", "H2"], ["H3"])
COLLIDING = pairs("pairs", [(0, 4), (1, 5), (2, 6)], 0.8)
WRITERS = [group("writers", HOSTS[2:8], ["H15"]), group("others", ["*"], ["*"], **load(0.1))]

PLANTED: dict[str, tuple[Data, set[str], list[str]]] = {
    "a job slowed by an incast": (
        scene(None, clos(spines=2), jobs=[ring(repeat=3)], flows=[INCAST], end="jobs", length="40 ms"),
        {"slowed job", "hot host"},
        ["Job training takes", "it is filled by incast"],
    ),
    "a job slowed by a slow receiver": (
        scene(None, SLOWER, jobs=[ring()], flows=[BACKUP], end="jobs", length="60 ms"),
        {"slowed job", "slow receiver"},
        ["Job training takes", "it is filled by backup"],
    ),
    "slow recovery by wrong marks": (
        scene(None, RACKS, WRONG, flows=[WRITES, group("stream", ["by"], ["login"])], length="16 ms"),
        {"slowed by marks"},
        ["A flow of group stream is slowed by its own response", "response.lipd"],
    ),
    "an ECMP collision upwards": (
        scene(ECMP, flows=[COLLIDING]),
        {"path collision"},
        ["whose paths collide", "switch.paths={least_waiting = {}}"],
    ),
    "an ECMP collision downwards": (
        scene(ECMP, clos(rate="100 Gb/s"), seed=7, flows=[pairs("pairs", [(0, 12), (4, 13), (8, 14)], 0.8)]),
        {"path collision"},
        ["whose paths collide", "switch.paths={least_waiting = {}}"],
    ),
    "a job that never ends": (
        scene(None, STOPPED, jobs=[ring(record_ops=True)], end="jobs"),
        {"unfinished job", "slow receiver"},
        ["rank 4 waits in operation 0", "with rank 5"],
    ),
    "a job before a cable that breaks": (
        scene({"switching": "store_and_forward"}, jobs=[ring(record_ops=True)], changes=BROKEN, end="jobs"),
        {"unfinished job", "slow cable"},
        ["none of its operations has begun or ended since", "with rank 5"],
    ),
    "a pause storm": (scene(PFC, SLOW, flows=[ALL]), {"pause storm"}, [": a pause storm", "watchdog"]),
    "a slow receiver": (scene(None, SLOW, flows=[ALL]), {"slow receiver"}, ["receives more slowly"]),
    "marks beyond the buffer": (
        scene(
            None,
            DCQCN,
            {"marking": {"ramp": {"kmin": 400, "kmax": 400}}},
            flows=[INCAST, pairs("by", [(0, 13)], 0.5)],
        ),
        {"hot host", "threshold off"},
        ["Marking is off at"],
    ),
    "two hot hosts, one with victims": (
        scene(
            None,
            flows=[
                LOCAL,
                group("incast", ["H4", "H5", "H6", "H8", "H9", "H10"], ["H15"]),
                pairs("by", [(7, 11)], 0.5),
            ],
        ),
        {"hot host"},
        ["victims lose"],
    ),
    "six writers among others": (scene(None, flows=WRITERS), {"hot host"}, ["H15: "]),
}
HEALTHY: dict[str, Data] = {
    "uniform": scene(None, flows=[ALL]),
    "uniform with PFC": scene(PFC, flows=[ALL]),
    "uniform with DCQCN": scene(PFC, DCQCN, flows=[ALL]),
    "uniform with LIPD": scene(None, LIPD, flows=[group("all", ["*"], ["*"], **load(0.2))]),
    "ECMP with room": scene(ECMP, flows=[pairs("pairs", [(0, 4), (1, 5), (2, 6)], 0.3)]),
    "spraying": scene({"paths": {"packet": {}}}, flows=[pairs("pairs", [(0, 4), (1, 5), (2, 6)], 0.8)]),
    "a job alone": scene(None, jobs=[ring(repeat=3)], end="jobs"),
    "a job with operations": scene(None, jobs=[ring(record_ops=True)], end="jobs"),
    "a job beside calm traffic": scene(
        None, jobs=[ring()], flows=[pairs("by", [(2, 3), (6, 7)], 0.3)], end="jobs"
    ),
    "a job that goes on": scene(None, jobs=[ring(repeat=100)]),
    "one greedy flow": scene(None, flows=[group("one", ["H0"], ["H5"])]),
    "a receiver with room": scene(None, SLOW, flows=[pairs("one", [(0, 5)], 0.05)]),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_causes_are_named(name: str) -> None:
    data, causes, words = PLANTED[name]
    found = explained(data)
    assert {cause for cause, _ in found.causes} == causes, str(found)
    for word in words:
        assert word in str(found), str(found)
    if causes & {"slowed job", "unfinished job"}:
        assert "No flow without a part" not in str(found)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_scenes_raise_no_alarm(name: str) -> None:
    found = explained(HEALTHY[name])
    assert found.causes == [], str(found)


def test_there_are_twelve_of_each() -> None:
    assert (len(PLANTED), len(HEALTHY)) == (12, 12)


def test_roots_come_by_harm() -> None:
    """The local hot host harms no flows, although it is a root for as long."""
    found = explained(PLANTED["two hot hosts, one with victims"][0])
    roots = [each for each in found.about("roots") if each.place]
    assert [each.place.partition("->")[2] for each in roots] == ["leaf3", "H3"], str(found)
    lost = [each.numbers.get("lost_bytes", 0.0) for each in roots]
    assert lost[0] > 1e5 and lost[1] == 0


def test_a_run_that_ends_with_its_jobs_has_that_length() -> None:
    data = PLANTED["a job slowed by an incast"][0]
    results = becalm.run(becalm.Scenario(data), threads=1)
    (end,) = results.jobs["end"].to_list()
    assert end < 35e-3
    (root, *_) = becalm.explain(results).about("roots")
    assert end <= root.numbers["window"] < end + 2e-4, "and not the 40 ms that it might have taken"


def test_contributors_are_those_above_their_fair_share() -> None:
    """Nine other hosts send a little to the same host; control need not slow them."""
    results = becalm.run(becalm.Scenario(PLANTED["six writers among others"][0]), threads=1)
    each = Case(Facts(results, 0)).bottlenecks[0]
    assert (each.sources, each.contributors) == (15, 6)
