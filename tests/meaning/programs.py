"""Relations between ways to write a job: a collective operation, operations, GOAL, Chakra, and messages."""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import foreign_chakra as chakra
from drawn import Tables
from meaning.equal import different
from meaning.relation import relation, run

PLACE = Path(tempfile.gettempdir()) / "becalm-meaning"
"""Folder of schedules and traces, named after their content."""


class Op(NamedTuple):
    """A message that a rank sends or receives, after earlier operations of the rank."""

    kind: str
    peer: int
    size: int
    tag: int
    after: tuple[int, ...]


Program = list[list[Op]]
"""The operations of each rank."""


def ring(ranks: int, size: int, steps: int) -> Program:
    """Return steps in which each rank sends a part to the next rank while it receives one."""
    made: Program = [[] for _ in range(ranks)]
    for step in range(steps):
        after = (2 * step - 2, 2 * step - 1) if step else ()
        for rank, ops in enumerate(made):
            ops.append(Op("send", (rank + 1) % ranks, size, step + 1, after))
            ops.append(Op("recv", (rank - 1) % ranks, size, step + 1, after))
    return made


def as_ops(program: Program) -> Tables:
    """Return the keys of a job with a list of operations."""
    ops = []
    for rank, own in enumerate(program):
        for at, op in enumerate(own):
            other = {"send": "to", "recv": "from"}[op.kind]
            table = {"rank": rank, "name": f"o{at}", op.kind: f"{op.size} B", other: op.peer, "tag": op.tag}
            ops.append(table | ({"after": [f"o{each}" for each in op.after]} if op.after else {}))
    return {"ops": ops}


def as_goal(program: Program) -> Tables:
    """Return the keys of a job with a GOAL schedule."""
    lines = [f"num_ranks {len(program)}"]
    for rank, own in enumerate(program):
        lines.append(f"rank {rank} {{")
        for at, op in enumerate(own):
            way = {"send": "to", "recv": "from"}[op.kind]
            lines.append(f"o{at}: {op.kind} {op.size}b {way} {op.peer} tag {op.tag}")
            lines += [f"o{at} requires o{each}" for each in op.after]
        lines.append("}")
    content = "\n".join(lines).encode()
    return {"goal": str(_kept(hashlib.sha256(content).hexdigest()[:16], {".goal": content})) + ".goal"}


def as_chakra(program: Program) -> Tables:
    """Return the keys of a job with a Chakra trace."""
    files = {}
    for rank, own in enumerate(program):
        nodes = [
            chakra.node(
                at + 1,
                chakra.SEND if op.kind == "send" else chakra.RECV,
                data=[each + 1 for each in op.after],
                comm_size=op.size,
                comm_src=rank if op.kind == "send" else op.peer,
                comm_dst=op.peer if op.kind == "send" else rank,
                comm_tag=op.tag,
            )
            for at, op in enumerate(own)
        ]
        files[f".{rank}.et"] = chakra.stream(chakra.metadata("0.0.4"), *nodes)
    return {"chakra": str(_kept(hashlib.sha256(b"".join(files.values())).hexdigest()[:16], files))}


def _kept(name: str, files: dict[str, bytes]) -> Path:
    """Write files with a common stem, and return it."""
    PLACE.mkdir(exist_ok=True)
    for end, content in files.items():
        (PLACE / f"{name}{end}").write_bytes(content)
    return PLACE / name


def times(scenes: list[Tables]) -> Iterator[str]:
    """Compare the times of jobs and ranks, and fingerprints."""
    first, *others = map(run, scenes)
    for scene, other in zip(scenes[1:], others, strict=True):
        kind = next((key for key in ("ops", "goal", "chakra") if key in scene["jobs"][0]), "nodes")
        for table in ("jobs", "ranks"):
            drop = {"bus_bandwidth"} & set(first.tables[table].columns)
            pair = (results.tables[table].drop(drop) for results in (first, other))
            yield from (f"{kind}: {text}" for text in different(table, *pair))


@relation(times, count=30, kinds=("jobs",))
def a_collective_as_operations(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A collective operation, its operations, its GOAL schedule and its Chakra trace take the same time."""
    (job,) = data["jobs"]
    if "nodes" in job:
        return None
    ranks = len(job["hosts"])
    size = draw.choice([64, 4096, 9000])
    kept = {
        key: job[key] for key in ("name", "hosts", "start", "eager", "response", "alone", "sl") if key in job
    }
    chosen, factor, steps = draw.choice(
        [
            ("all_gather", ranks, ranks - 1),
            ("all_reduce", ranks, 2 * ranks - 2),
            ("reduce_scatter", ranks, ranks - 1),
        ]
    )
    program = ring(ranks, size, steps)
    table = {"bytes": f"{factor * size} B", "algorithm": "ring"}
    jobs = [{"collective": {chosen: table}}, as_ops(program), as_goal(program), as_chakra(program)]
    return [{**data, "jobs": [kept | way]} for way in jobs]


def last_message(scenes: list[Tables]) -> Iterator[str]:
    """Compare the time of a job with the delivery of the last message."""
    job, flows = map(run, scenes)
    ends = flows.tables["messages"].group_by("replication").max().sort("replication")["delivered"].to_list()
    times = job.tables["jobs"]["end"].to_list()
    if any(abs(one - two) > 1e-12 for one, two in zip(times, ends, strict=True)):
        yield f"end of the job, and delivery of the last message: {times} and {ends}"


@relation(last_message, count=30, kinds=("jobs",))
def a_job_as_messages(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A job in which each rank sends one message at its start is a batch of one message from each host."""
    (job,) = data["jobs"]
    if "flows" in data or "nodes" in job or "ack_every" in str(data.get("echo")):
        return None
    size = draw.choice([64, 2048, 100_000])
    kept = {key: job[key] for key in ("name", "hosts", "start", "response", "sl") if key in job}
    data["run"] = {"duration": "10 ms", "end": "jobs", "seed": data["run"]["seed"]}
    batch = {"traffic": {"batch": {"count": 1, "message": f"{size} B"}}}
    hosts = {"from": kept.pop("hosts"), "pattern": {"shift": {"by": 1}}}
    group = {**kept, **hosts, **batch}
    observe = {"step": "10 us", "window": "20 us", "messages": True, "links": []}
    job = {**kept, "hosts": hosts["from"], **as_ops(ring(len(hosts["from"]), size, 1))}
    rest = {key: value for key, value in data.items() if key not in ("jobs", "observe")}
    return [
        {**rest, "jobs": [job], "observe": {**observe, "messages": False}},
        {**rest, "flows": [group], "observe": observe, "run": {**data["run"], "end": "delivered"}},
    ]


@relation(times, count=20, kinds=("jobs", "traces"))
def nodes_with_one_adapter(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A job on nodes with one GPU and one NIC each is the job on their hosts, by any law of adapters."""
    (job,) = data["jobs"]
    if "nodes" in data or "nodes" in job or "rail" in data["topology"]:
        return None
    names = job["hosts"]
    nodes = [{"name": f"n0..n{len(names) - 1}", "nics": [names]}]
    law = draw.choice(["same_rail", "stripe", "hash", "pxn"])
    placed = {key: value for key, value in job.items() if key != "hosts"} | {"nodes": ["*"], "nics": law}
    return [data, {**data, "nodes": nodes, "jobs": [placed]}]


@relation(times, count=20, kinds=("jobs",))
def groups_in_another_order(data: Tables, draw: random.Random) -> list[Tables] | None:
    """The order of groups of ranks has no meaning, and one group of all ranks is none."""
    (job,) = data["jobs"]
    job.pop("groups", None)
    ranks = len(job.get("hosts", ()))
    if "collective" not in job or ranks < 4 or job.get("placement") == "random":
        return None
    whole = [data, {**data, "jobs": [{**job, "groups": [[*range(ranks)]]}]}]
    some = draw.sample(range(ranks), ranks)
    cut = draw.randint(2, ranks - 2)
    parts = [[some[:cut], some[cut:]], [some[cut:], some[:cut]]]
    if "recursive" in str(job["collective"]) or draw.random() < 0.3:
        return whole
    return [{**data, "jobs": [{**job, "groups": groups}]} for groups in parts]


@relation(times, count=20, kinds=("jobs",))
def equal_sizes(data: Tables, draw: random.Random) -> list[Tables] | None:
    """An all-to-all with equal sizes is the linear all-to-all."""
    (job,) = data["jobs"]
    ranks, size = draw.choice([2, 4, 6]), draw.choice([64, 5000])
    kept = {
        key: value
        for key, value in job.items()
        if key not in ("collective", "step", "all_to_all_v", "groups", "reduce_rate")
    }
    table = {"table": [[f"{size} B"] * ranks] * ranks}
    linear = {"all_to_all": {"bytes": f"{ranks * size} B", "algorithm": "linear"}}
    ways: list[Tables] = [{"collective": linear}, {"all_to_all_v": table}]
    return [{**data, "jobs": [{**kept, "ranks": ranks, **way}]} for way in ways]
