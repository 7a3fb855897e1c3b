"""Chrome's trace event format, which Perfetto reads: nodes as processes, ports as threads.

Source: Trace Event Format (Google, 2016): complete events (`X`), instants (`i`), asynchronous spans
(`b`, `e`), counters (`C`) and names (`M`), with times in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from becalm.traces.recording import Recording

Event = dict[str, Any]

TRACKS = ("packets", "waits for credit", "role")
"""Threads of a port, in order."""
_MICROSECOND = 1e6
"""Picoseconds."""


def write(trace: Recording, file: Path) -> None:
    """Write a trace to a file, one event per line."""
    head = {"displayTimeUnit": "ns", "otherData": {"scenario": trace.scenario.name, "end_ps": str(trace.end)}}
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + ', "traceEvents": [')
        for place, event in enumerate(events(trace)):
            out.write(",\n" if place else "\n")
            out.write(json.dumps(event))
        out.write("\n]}\n")


def events(trace: Recording) -> Iterator[Event]:
    """Return the events of a trace."""
    ports = _Ports(trace)
    yield from ports.names()
    yield from _packets(trace, ports)
    yield from _periods(trace.tables["waits"], ports, 1)
    yield from _periods(trace.tables["roles"], ports, 2)
    yield from _messages(trace, ports)
    yield from _gaps(trace, ports)


class _Ports:
    """Processes and threads: a number for each node and for each track of a port."""

    def __init__(self, trace: Recording) -> None:
        self.rows = trace.links.to_dicts()
        self.nodes = {
            name: place for place, name in enumerate(dict.fromkeys(row["from"] for row in self.rows), 1)
        }

    def place(self, link: int, track: int) -> Event:
        """Return the process and thread of a port's track."""
        row = self.rows[link]
        # Perfetto assumes that thread numbers are unique on the machine.
        thread = len(self.nodes) + 1 + len(TRACKS) * link + track
        return {"pid": self.nodes[row["from"]], "tid": thread}

    def names(self) -> Iterator[Event]:
        """Return the names of processes and threads."""
        for name, number in self.nodes.items():
            place = {"pid": number, "tid": number}
            yield {"ph": "M", "name": "process_name", **place, "args": {"name": name}}
            yield {"ph": "M", "name": "thread_name", **place, "args": {"name": "messages"}}
        for link, row in enumerate(self.rows):
            for track, what in enumerate(TRACKS):
                name = f"port {row['from_port']} to {row['to']}: {what}"
                yield {"ph": "M", "name": "thread_name", **self.place(link, track), "args": {"name": name}}


def _packets(trace: Recording, ports: _Ports) -> Iterator[Event]:
    """Return packets by link, and an instant when a packet is first seen with a mark."""
    import polars as pl

    capacity = trace.links["capacity"].to_list()
    names = {name: place for place, name in enumerate(trace.links["name"])}
    marked: set[tuple[int, str, int]] = set()
    packets = trace.packets.with_columns(pl.col("time").shift(-1).over("link").alias("next"))
    for row in packets.iter_rows(named=True):
        link = names[row["link"]]
        place, begin = ports.place(link, 0), row["time"] / _MICROSECOND
        # The events of a thread must not overlap, and a link may be slower or faster than its cable.
        length = row["size"] / capacity[link] * 1e6
        described = (
            "flow",
            "group",
            "source",
            "destination",
            "kind",
            "sequence",
            "size",
            "vl",
            "fecn",
            "becn",
        )
        yield {
            "ph": "X",
            "name": f"{row['kind']} {row['flow']}.{row['sequence']}",
            "cat": "packet",
            "ts": begin,
            "dur": min(length, row["next"] / _MICROSECOND - begin) if row["next"] else length,
            **place,
            "args": {name: row[name] for name in described},
        }
        key = row["flow"], row["kind"], row["sequence"]
        if row["fecn"] and key not in marked:
            marked.add(key)
            name = f"mark {row['flow']}.{row['sequence']}"
            yield {"ph": "i", "s": "t", "name": name, "cat": "mark", "ts": begin, **place}


def _periods(table: pl.DataFrame, ports: _Ports, track: int) -> Iterator[Event]:
    """Return waits and roles as asynchronous spans, since those of a port's lanes may overlap."""
    for number, row in enumerate(table.iter_rows(named=True)):
        name = "waits for credit" if track == 1 else row["role"]
        common = {"name": f"{name}, VL {row['vl']}", **ports.place(row["link"], track)}
        begin, length = row["begin"] / _MICROSECOND, (row["end"] - row["begin"]) / _MICROSECOND
        if row["vl"] == 0:
            yield {"ph": "X", "cat": TRACKS[track], "ts": begin, "dur": length, **common}
            continue
        spanning = {**common, "cat": TRACKS[track], "id": f"{TRACKS[track]} {number}"}
        yield {"ph": "b", "ts": begin, **spanning}
        yield {"ph": "e", "ts": row["end"] / _MICROSECOND, **spanning}


def _messages(trace: Recording, ports: _Ports) -> Iterator[Event]:
    """Return messages in the source's process, from posting to the arrival of the last byte."""
    flows = trace.flows.to_dicts()
    for row in trace.tables["messages"].iter_rows(named=True):
        flow = flows[row["flow"]]
        common = {
            "name": f"message to {flow['destination']}",
            "cat": "message",
            "id": f"message {row['flow']}.{row['number']}",
            "pid": ports.nodes[flow["source"]],
            "tid": ports.nodes[flow["source"]],
        }
        arguments = {
            "flow": row["flow"],
            "group": flow["group"],
            "number": row["number"],
            "bytes": row["bytes"],
        }
        yield {"ph": "b", "ts": row["posted"] / _MICROSECOND, **common, "args": arguments}
        yield {"ph": "e", "ts": row["arrived"] / _MICROSECOND, **common}


def _gaps(trace: Recording, ports: _Ports) -> Iterator[Event]:
    """Return the gaps of flows in packet times, as counters of the source."""
    flows = trace.flows.to_dicts()
    for row in trace.tables["gaps"].iter_rows(named=True):
        flow = flows[row["flow"]]
        yield {
            "ph": "C",
            "name": f"gap of flow {row['flow']} to {flow['destination']}",
            "ts": row["time"] / _MICROSECOND,
            "pid": ports.nodes[flow["source"]],
            "args": {"packet times": row["gap"]},
        }
