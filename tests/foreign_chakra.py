"""Chakra execution traces, encoded without a library according to MLCommons' `et_def.proto` 1.0.0.

`python tests/foreign_chakra.py` writes `tests/data/chakra`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data" / "chakra"
INVALID, METADATA, MEM_LOAD, MEM_STORE, COMP, SEND, RECV, COLLECTIVE = range(8)
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER = 0, 2, 6, 7
"""Numbers of `CollectiveCommType`."""
MASK = (1 << 64) - 1


def varint(number: int) -> bytes:
    """Encode seven bits per byte, lowest first; negative numbers in two's complement."""
    number &= MASK
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | bytes | str, wire: int | None = None) -> bytes:
    """Encode a field: a number as a varint, other values as their length and bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    key = varint(number << 3 | (2 if wire is None else wire))
    return key + (varint(len(value)) if wire is None else b"") + value


def zigzag(number: int) -> int:
    return number << 1 ^ number >> 63


INTEGERS: dict[str, Callable[[int], bytes]] = {
    "int32_val": lambda n: field(7, n),
    "int64_val": lambda n: field(9, n),
    "uint32_val": lambda n: field(11, n),
    "uint64_val": lambda n: field(13, n),
    "sint32_val": lambda n: field(15, zigzag(n)),
    "sint64_val": lambda n: field(17, zigzag(n)),
    "fixed32_val": lambda n: field(19, n.to_bytes(4, "little"), wire=5),
    "fixed64_val": lambda n: field(21, n.to_bytes(8, "little"), wire=1),
    "sfixed32_val": lambda n: field(23, n.to_bytes(4, "little", signed=True), wire=5),
    "sfixed64_val": lambda n: field(25, n.to_bytes(8, "little", signed=True), wire=1),
}
"""Encoders of an `AttributeProto`'s value, by integer type."""


def attribute(name: str, value: bool | int | str, kind: str = "int64_val") -> bytes:
    """Encode an `AttributeProto` as field 10 of a node."""
    if isinstance(value, bool):
        encoded = field(27, int(value))
    elif isinstance(value, str):
        encoded = field(29, value)
    else:
        encoded = INTEGERS[kind](value)
    return field(10, field(1, name) + encoded)


def node(
    id_: int,
    type_: int,
    *,
    name: str = "",
    data: Iterable[int] = (),
    control: Iterable[int] = (),
    micros: int = 0,
    kind: str = "int64_val",
    more: bytes = b"",
    packed: bool = True,
    **attributes: bool | int | str,
) -> bytes:
    """Encode a `Node`; proto3 omits values that are 0 or empty."""

    def ids(number: int, values: Iterable[int]) -> bytes:
        each = [varint(value) for value in values]
        if packed:
            return field(number, b"".join(each)) if each else b""
        return b"".join(varint(number << 3) + one for one in each)

    parts = [
        field(1, id_) if id_ else b"",
        field(2, name) if name else b"",
        field(3, type_) if type_ else b"",
        ids(4, control),
        ids(5, data),
        field(7, micros) if micros else b"",
        more,
        *(attribute(key, value, kind) for key, value in attributes.items()),
    ]
    return b"".join(parts)


def metadata(version: str = "", **attributes: int | str) -> bytes:
    """Encode the `GlobalMetadata`; its attributes are field 2."""
    given = b"".join(
        field(2, field(1, name) + (field(29, value) if isinstance(value, str) else field(13, value)))
        for name, value in attributes.items()
    )
    return (field(1, version) if version else b"") + given


def stream(*messages: bytes) -> bytes:
    """Encode messages, each preceded by its length, like `protolib.encodeMessage`."""
    return b"".join(varint(len(message)) + message for message in messages)


def astra(collective: int, name: str, npus: int) -> dict[str, bytes]:
    """Return files in the form of ASTRA-sim's microbenchmarks: one collective of 1 MiB."""
    return {
        f"{name}.{npu}.et": stream(
            metadata("0.0.4"),
            node(
                npu,
                COLLECTIVE,
                name=f"{name}_{npus}npus_1MB",
                is_cpu_op=False,
                comm_type=collective,
                comm_size=1 << 20,
            ),
        )
        for npu in range(npus)
    }


def step() -> dict[str, bytes]:
    """Four ranks compute, reduce 1 MB, and compute; then 0 sends 64 KiB to 1, and 2 and 3 gather 4 kB.

    Each rank encodes its integers differently, and the files state version 1.0.0, 0.0.4 or none.
    """
    files = {}
    for rank, kind in enumerate(("int32_val", "int64_val", "uint32_val", "uint64_val")):
        last = (
            node(4, COLLECTIVE, data=[3], kind=kind, comm_type=ALL_GATHER, comm_size=2048, pg_name="pair")
            if rank > 1
            else node(
                4,
                (SEND, RECV)[rank],
                data=[3],
                kind=kind,
                comm_size=65_536,
                comm_src=0,
                comm_dst=1,
                comm_tag=7,
            )
        )
        files[f"step.{rank}.et"] = stream(
            metadata(("1.0.0", "0.0.4", "", "1.0.0")[rank]),
            node(1, COMP, name="node 1", micros=100, is_cpu_op=False),
            node(
                2, COLLECTIVE, data=[1], kind=kind, is_cpu_op=False, comm_type=ALL_REDUCE, comm_size=1_000_000
            ),
            node(3, COMP, data=[2], micros=20, is_cpu_op=True, packed=False),
            last,
            node(5, METADATA, data=[4]),
        )
    # Without a fixed time, Python's gzip writes the current time into the file.
    files["step.3.et.gz"] = gzip.compress(files.pop("step.3.et"), mtime=0)
    return files


def as_json() -> dict[str, bytes]:
    """Return the nodes of `step` in the forms of JSON: objects that follow each other, lists, and lines.

    Protobuf's JSON writes numbers of 64 bits as texts, and names in either spelling.
    """

    def attributes(**values: bool | int | str) -> list[dict[str, Any]]:
        keys = {bool: "boolVal", int: "int64Val", str: "stringVal"}
        texts = {name: value if isinstance(value, bool) else str(value) for name, value in values.items()}
        return [{"name": name, keys[type(value)]: texts[name]} for name, value in values.items()]

    files = {}
    for rank in range(4):
        size: dict[str, Any] = {"comm_size": 65_536, "comm_src": 0, "comm_dst": 1, "comm_tag": 7}
        if rank > 1:
            size = {"comm_type": ALL_GATHER, "comm_size": 2048, "pg_name": "pair"}
        kind = ("COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE", "COMM_COLL_NODE")[rank]
        reduce = attributes(is_cpu_op=False, comm_type=ALL_REDUCE, comm_size=1_000_000)
        messages: list[dict[str, Any]] = [
            {"version": "1.0.0"} if rank % 2 else {},
            {
                "id": "1",
                "name": "node 1",
                "type": "COMP_NODE",
                "durationMicros": "100",
                "attr": attributes(is_cpu_op=False),
            },
            {"id": "2", "type": "COMM_COLL_NODE", "dataDeps": ["1"], "attr": reduce},
            {
                "id": "3",
                "type": "COMP_NODE",
                "dataDeps": ["2"],
                "durationMicros": "20",
                "attr": attributes(is_cpu_op=True),
            },
            {"id": "4", "type": kind, "dataDeps": ["3"], "attr": attributes(**size)},
            {"id": "5", "type": "METADATA_NODE", "dataDeps": ["4"]},
        ]
        texts = [json.dumps(message, indent=2) for message in messages]
        files[f"step_json.{rank}.json"] = ("".join(texts) if rank < 2 else json.dumps(messages)).encode()
    lines = [json.dumps(each) for each in json.loads(files["step_json.2.json"])]
    snake = "\n".join(lines).replace("dataDeps", "data_deps").replace("durationMicros", "duration_micros")
    files["step_json.2.json"] = re.sub(r'"(\d+)"', r"\1", snake).encode()
    files["step_json.3.json.gz"] = gzip.compress(files.pop("step_json.3.json"), mtime=0)
    return files


def pytorch(ranks: int = 2) -> bytes:
    """Return a trace in the form of the converter for PyTorch traces.

    It has no version, depends on nodes that the conversion removed, and contains irrelevant attributes.
    """
    values = field(8, field(1, "[[1, 2]]") + field(2, "[[2]]") + field(3, "['Tensor(float)']"))
    listed = field(10, field(1, "group_ranks") + field(10, field(1, bytes(range(ranks)))))
    negative = attribute("seq_id", -1) + attribute("scope", 7) + attribute("op_schema", "")
    time = field(6, 1_700_000_000)
    return stream(
        metadata(schema="1.0.2-chakra.0.0.4", pid=4711, start_ts=1, finish_ts=9),
        node(2, METADATA, name="[pytorch|profiler|execution_trace|process]", more=values),
        node(6, COMP, name="aten::mm", control=[3, 2], micros=30, is_cpu_op=True, more=time + negative),
        node(
            9, COMP, name="gemm", control=[6, 4], data=[6], micros=50, is_cpu_op=False, stream=7, more=listed
        ),
        node(
            10,
            COLLECTIVE,
            name="c10d::_allgather_base_",
            control=[2],
            data=[6],
            micros=20,
            is_cpu_op=True,
            tid=1,
        ),
        node(
            12,
            COLLECTIVE,
            name="ncclDevKernel_AllGather_RING_LL",
            control=[5],
            data=[9, 10],
            micros=40,
            is_cpu_op=False,
            comm_type=ALL_GATHER,
            comm_size=4096,
            pg_name="0",
        ),
    )


def circular() -> bytes:
    """Return a PyTorch trace with cyclic control dependencies.

    A kernel and its call wait for each other, and a node waits for itself.
    """
    return stream(
        metadata(schema="1.0.1", pid=4711),
        node(2, COMP, name="aten::relu", control=[1], micros=10, is_cpu_op=True),
        node(3, COMP, name="aten::mul", control=[4], data=[2], micros=20, is_cpu_op=True),
        node(4, COMP, name="elementwise_kernel", control=[2], data=[3], micros=40, is_cpu_op=False),
        node(5, COMP, name="aten::threshold", control=[5], data=[3], micros=80, is_cpu_op=True),
    )


def kinds() -> bytes:
    """Return collectives of 1000 B, 2000 B and so on, each size in a different integer type."""
    return stream(
        metadata("1.0.0"),
        *(
            node(at, COLLECTIVE, kind=kind, comm_type=ALL_REDUCE, comm_size=1000 * at)
            for at, kind in enumerate(INTEGERS, 1)
        ),
    )


def wrong() -> dict[str, bytes]:
    """Return traces with mistakes."""
    first = metadata("1.0.0")
    reduce = node(1, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=8, pg_name="dp")
    second = node(2, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=8, pg_name="dp")
    larger = node(2, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=9, pg_name="dp")
    good = step()["step.0.et"]
    return {
        "wrong.0.et": stream(
            first,
            node(1, COMP, data=[9], micros=5),
            node(1, COMP, micros=5),
            node(2, SEND, comm_size=8),
            node(3, SEND, comm_size=8, comm_dst=5),
            node(4, COLLECTIVE, comm_type=3, comm_size=8),
            node(5, RECV, comm_src=1, comm_tag=0),
        ),
        "wrong.1.et": stream(first, node(1, COLLECTIVE, comm_type=3, comm_size=12), node(2, 9)),
        "negative.0.et": stream(first, node(1, SEND, comm_size=-8, comm_dst=1)),
        "uneven.0.et": stream(first, reduce),
        "uneven.1.et": stream(first, reduce, second),
        "unlike.0.et": stream(first, reduce, second),
        "unlike.1.et": stream(first, reduce, larger),
        "round.0.et": stream(first, node(1, COMP, data=[2]), node(2, COMP, data=[1], control=[2])),
        "old.0.et": stream(metadata("0.0.1")),
        "cut.0.et": good[:-3],
    }


def files() -> dict[str, bytes]:
    """Return all files of `tests/data/chakra`."""
    return {
        **step(),
        **as_json(),
        **astra(ALL_GATHER, "all_gather", 8),
        **astra(ALL_REDUCE, "all_reduce", 4),
        **astra(ALL_TO_ALL, "all_to_all", 4),
        **astra(REDUCE_SCATTER, "reduce_scatter", 4),
        **{f"pytorch.{rank}.et": pytorch() for rank in range(2)},
        "circular.0.et": circular(),
        **{f"kinds.{rank}.et": kinds() for rank in range(2)},
        **wrong(),
    }


if __name__ == "__main__":
    for name, content in files().items():
        (DATA / name).write_bytes(content)
