//! Tables that a scenario has without a run, and tables of traces.

use super::{ColumnSchema, TableSchema, bytes, count, flag, name, number, quantity, rate, share, time};

/// Tables in addition to those of results.
pub static PLANS: [&TableSchema; 11] = [
    &NODES,
    &NETWORK_LINKS,
    &PLANNED_FLOWS,
    &PATHS,
    &TRACE_PACKETS,
    &TRACE_MESSAGES,
    &TRACE_WAITS,
    &TRACE_ROLES,
    &TRACE_GAPS,
    &MARKER_CALLS,
    &RESPONSE_CALLS,
];

const fn table(name: &'static str, rows: &'static str, columns: &'static [&'static [ColumnSchema]]) -> TableSchema {
    TableSchema { name, rows, asked_by: "", over_time: false, rank: "", columns }
}

/// One row per host and switch.
pub static NODES: TableSchema = table(
    "nodes",
    "One row per host and switch.",
    &[&[
        name("node", "Its name."),
        name("kind", "`host` or `switch`."),
        number("level", "0 for a host; for a switch, its distance from the nearest host in cables."),
        count("ports", "ports", "Ports with a cable."),
    ]],
);

/// One row per direction of a cable, in the order of the table `links` of results.
pub static NETWORK_LINKS: TableSchema = table(
    "links",
    "One row per direction of a cable, in the order of the table `links` of results.",
    &[&[
        name("link", "`A->B` after its nodes; if several links join the same two nodes, `A[port]->B`."),
        name("from", "Node that sends on it."),
        number("from_port", "Its port."),
        name("to", "Node that receives."),
        number("to_port", "Its port."),
        rate("capacity", "Rate of the link."),
        time("delay", "Propagation delay."),
        number("from_level", "Level of the node that sends."),
        number("to_level", "Level of the node that receives."),
        quantity(
            "pairs",
            "pairs",
            "Pairs of hosts whose path crosses it, each with its share if there are several equal ports; NaN if there are \
             too many to count.",
        ),
    ]],
);

/// One row per flow, in the order of the table `flows` of results.
pub static PLANNED_FLOWS: TableSchema = table(
    "flows",
    "One row per flow, in the order of the table `flows` of results.",
    &[&[
        name("group", "Name of its group, or of its job."),
        name("source", "Host that sends."),
        name("destination", "Host that receives."),
        number("sl", "Service level."),
    ]],
);

/// One row per flow and link that its packets can take, in the order of the path.
pub static PATHS: TableSchema = table(
    "paths",
    "One row per flow and link that its packets can take, in the order of the path.",
    &[&[
        number("flow", "Number of the flow."),
        number("link", "Row of the link in the table `links`."),
        share("share", "Share of its packets that takes the link if equal ports are used evenly."),
    ]],
);

const fn ticks(name: &'static str, meaning: &'static str) -> ColumnSchema {
    quantity(name, "ps", meaning)
}

/// One row per packet and link.
pub static TRACE_PACKETS: TableSchema = table(
    "packets",
    "One row per packet and link.",
    &[&[
        ticks("time", "When its header goes out."),
        number("link", "Row of the link in the table `links`."),
        number("flow", "Number of its flow."),
        number("kind", "0 data, 1 ACK, 2 CNP."),
        number("sequence", "Its number in the flow; for an ACK, that of the last packet that it covers."),
        number("vl", "Virtual lane."),
        bytes("size", "Bytes on the wire."),
        bytes("payload", "Payload."),
        flag("first", "Whether it is the first packet of its message on this link."),
        flag("last", "Whether it is the last packet of its message."),
        flag("fecn", "Whether it carries a mark."),
        flag("becn", "Whether it reports one."),
        ticks("posted", "When its message was posted."),
    ]],
);

/// One row per message that arrived whole.
pub static TRACE_MESSAGES: TableSchema = table(
    "messages",
    "One row per message that arrived whole.",
    &[&[
        ticks("posted", "When it was posted."),
        ticks("arrived", "When it arrived."),
        number("flow", "Number of its flow."),
        number("number", "Its number in the flow."),
        bytes("bytes", "Its payload."),
    ]],
);

const PERIODS: &[&[ColumnSchema]] = &[&[
    ticks("begin", "Begin."),
    ticks("end", "End."),
    number("link", "Row of the link in the table `links`."),
    number("vl", "Virtual lane."),
    name("role", "Role in a congestion tree; `calm` for a wait."),
]];

/// One row per time in which a lane of an output waited for credit.
pub static TRACE_WAITS: TableSchema =
    table("waits", "One row per time in which a lane of an output waited for credit.", PERIODS);

/// One row per time in which a lane of an output was root or branch.
pub static TRACE_ROLES: TableSchema =
    table("roles", "One row per time in which a lane of an output was root or branch.", PERIODS);

/// One row per change of the gap that a flow keeps.
pub static TRACE_GAPS: TableSchema = table(
    "gaps",
    "One row per change of the gap that a flow keeps.",
    &[&[
        ticks("time", "Time of the sample."),
        number("flow", "Number of the flow."),
        quantity("gap", "packet times", "Idle time after a packet, as a multiple of its transmission time."),
    ]],
);

/// One row per call of a marker.
pub static MARKER_CALLS: TableSchema = table(
    "marker_calls",
    "One row per call of a marker, in order of time.",
    &[&[
        ticks("time", "Time of the call."),
        number("switch", "Place of the switch among the switches."),
        name("call", "Function of the marker: `arrived`, `stored`, `departing`, `left`."),
        number("input", "Port by which the packet came."),
        number("output", "Port by which it leaves."),
        number("vl", "Virtual lane."),
        number("order", "Place of the packet in the order of arrival at the switch."),
        bytes("size", "Its size on the wire."),
        flag("waits", "Whether it has to wait."),
        count("room", "packets", "Packets of the largest size that the input buffer has room for."),
        count("waiting", "packets", "Packets of the virtual lane that wait for the output."),
        count(
            "present",
            "packets",
            "Packets of the virtual lane for the output that are in the switch, those in transmission included.",
        ),
        flag("mark", "Whether the marker marks the packet."),
    ]],
);

/// One row per call of a response.
pub static RESPONSE_CALLS: TableSchema = table(
    "response_calls",
    "One row per call of a response, in order of time.",
    &[&[
        ticks("time", "Time of the call."),
        number("flow", "First flow of the response."),
        name("call", "Function of the response, or the kind of the notice."),
        count("marked", "packets", "Marks that an ACK reports."),
        count("covers", "packets", "Packets that it covers."),
        bytes("size", "Size of a packet that goes out."),
        count("in_flight", "packets", "Packets that are not yet acknowledged."),
        quantity("gap", "packet times", "Gap from then on."),
        count("window", "packets", "Window from then on."),
        ticks("deadline", "When the response wants to be called; the largest number for never."),
    ]],
);
