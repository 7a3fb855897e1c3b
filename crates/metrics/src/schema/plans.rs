//! Tables that a scenario provides without a run, and tables of traces.

use super::{ColumnSchema, TableSchema, bytes, count, flag, name, number, quantity, rate, share, time};

/// Tables other than results.
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
        name("node", "Name of the node."),
        name("kind", "`host` or `switch`."),
        number("level", "0 for a host; for a switch, the number of cables to the nearest host."),
        count("ports", "ports", "Number of ports with a cable."),
    ]],
);

/// One row per direction of a cable, in the order of the table `links` of results.
pub static NETWORK_LINKS: TableSchema = table(
    "links",
    "One row per direction of a cable, in the order of the table `links` of results.",
    &[&[
        name("link", "`A->B` for the link's nodes; if several links join the same two nodes, `A[port]->B`."),
        name("from", "Sending node."),
        number("from_port", "Port of the sending node."),
        name("to", "Receiving node."),
        number("to_port", "Port of the receiving node."),
        rate("capacity", "Rate of the link."),
        time("delay", "Propagation delay."),
        number("from_level", "Level of the sending node."),
        number("to_level", "Level of the receiving node."),
        quantity(
            "pairs",
            "pairs",
            "Number of pairs of hosts whose path crosses the link. Pairs with several equivalent ports count by their share. NaN if there are too many pairs to count.",
        ),
    ]],
);

/// One row per flow, in the order of the table `flows` of results.
pub static PLANNED_FLOWS: TableSchema = table(
    "flows",
    "One row per flow, in the order of the table `flows` of results.",
    &[&[
        name("group", "Name of the flow's group or job."),
        name("source", "Host that sends."),
        name("destination", "Host that receives."),
        number("sl", "Service level."),
        time("start", "Time at which the flow's first source starts."),
        time("stop", "Time at which its last source stops; the end of the run if none stops."),
    ]],
);

/// One row per flow and link that its packets may cross, in path order.
pub static PATHS: TableSchema = table(
    "paths",
    "One row per flow and link that its packets may cross, in path order.",
    &[&[
        number("flow", "Number of the flow."),
        number("link", "Row number of the link in the table `links`."),
        share("share", "Share of the flow's packets that cross the link if equivalent ports are used evenly."),
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
        ticks("time", "Time at which the packet's header leaves."),
        number("link", "Row number of the link in the table `links`."),
        number("flow", "Number of the packet's flow."),
        number("kind", "0 for data, 1 for an ACK, 2 for a CNP."),
        number(
            "sequence",
            "Number of the packet within the flow; for an ACK, the number of the last packet that it covers.",
        ),
        number("vl", "Virtual lane."),
        bytes("size", "Size on the wire."),
        bytes("payload", "Payload."),
        flag("first", "Whether the packet is the first of its message on this link."),
        flag("last", "Whether the packet is the last of its message."),
        flag("fecn", "Whether the packet is marked."),
        flag("becn", "Whether the packet reports a mark."),
        ticks("posted", "Time at which the packet's message was posted."),
    ]],
);

/// One row per message that arrived completely.
pub static TRACE_MESSAGES: TableSchema = table(
    "messages",
    "One row per message that arrived completely.",
    &[&[
        ticks("posted", "Time at which the message was posted."),
        ticks("arrived", "Time at which the message arrived."),
        number("flow", "Number of the message's flow."),
        number("number", "Number of the message within the flow."),
        bytes("bytes", "Payload of the message."),
    ]],
);

const PERIODS: &[&[ColumnSchema]] = &[&[
    ticks("begin", "Start of the period."),
    ticks("end", "End of the period."),
    number("link", "Row number of the link in the table `links`."),
    number("vl", "Virtual lane."),
    name("role", "Role in a congestion tree; `calm` for a wait."),
]];

/// One row per period in which an output's lane waited for credit.
pub static TRACE_WAITS: TableSchema = table(
    "waits",
    "One row per period in which an output's lane waited for credit, even if other lanes sent.",
    PERIODS,
);

/// One row per period in which an output's lane was a root or a branch.
pub static TRACE_ROLES: TableSchema =
    table("roles", "One row per period in which an output's lane was a root or a branch.", PERIODS);

/// One row per change of a flow's gap.
pub static TRACE_GAPS: TableSchema = table(
    "gaps",
    "One row per change of a flow's gap.",
    &[&[
        ticks("time", "Time of the sample."),
        number("flow", "Number of the flow."),
        quantity("gap", "packet times", "Idle time after a packet, as a multiple of its transmission time."),
    ]],
);

/// One row per call of a marker.
pub static MARKER_CALLS: TableSchema = table(
    "marker_calls",
    "One row per call of a marker, in chronological order.",
    &[&[
        ticks("time", "Time of the call."),
        number("switch", "Index of the switch among all switches."),
        name("call", "Name of the marker function: `arrived`, `stored`, `departing` or `left`."),
        number("input", "Input port of the packet."),
        number("output", "Output port of the packet."),
        number("vl", "Virtual lane."),
        number("order", "Position of the packet in the switch's order of arrival."),
        bytes("size", "Size of the packet on the wire."),
        flag("waits", "Whether the packet has to wait."),
        count("room", "packets", "Free space in the input buffer, in packets of the largest size."),
        count("waiting", "packets", "Packets of the virtual lane waiting for the output."),
        count(
            "present",
            "packets",
            "Packets of the virtual lane in the switch that are bound for the output, including those in transmission.",
        ),
        flag("mark", "Whether the marker marks the packet."),
    ]],
);

/// One row per call of a response.
pub static RESPONSE_CALLS: TableSchema = table(
    "response_calls",
    "One row per call of a response, in chronological order.",
    &[&[
        ticks("time", "Time of the call."),
        number("flow", "Number of the first flow of the response."),
        name("call", "Name of the response function, or the kind of notice."),
        count("marked", "packets", "Number of marks that an ACK reports."),
        count("covers", "packets", "Number of packets that an ACK covers."),
        bytes("size", "Size of a departing packet."),
        count("in_flight", "packets", "Packets not yet acknowledged."),
        quantity("gap", "packet times", "Gap after the call."),
        count("window", "packets", "Window after the call."),
        ticks("deadline", "Time at which the response asks to be called; the largest number if it does not."),
    ]],
);
