//! Tables of links, buffers and queues.

use super::{TableSchema, bytes, count, name, number, rate, ratio, share, time};

/// One row per direction of a cable.
pub static LINKS: TableSchema = TableSchema {
    name: "links",
    rows: "One row per direction of a cable.",
    asked_by: "",
    over_time: false,
    rank: "utilization",
    columns: &[&[
        name("from", "Node that sends on the link."),
        number("from_port", "Port of the sending node."),
        name("to", "Node that receives."),
        rate("rate", "Bytes sent divided by the length of the measured window."),
        share("utilization", "`rate` divided by the link's rate."),
        count("packets", "packets", "Sent packets of all kinds, as counted by PortXmitPkts."),
        bytes("bytes", "Sent bytes, also of packets that left only partly in the measured window."),
        count(
            "marked",
            "packets",
            "Packets that the switch marked as they left through this port, as counted by PortMarkFECN.",
        ),
        share(
            "stalled_share",
            "Share of time in which the port sent nothing while a packet waited for credit or for the end of a pause.",
        ),
        time("xmit_wait", "Time of `stalled_share`, as counted by PortXmitWait."),
        time(
            "xmit_time_cong",
            "Time in which at least one VL was in the congestion state, as counted by PortXmitTimeCong.",
        ),
    ]],
};

/// One row per input buffer and virtual lane of a switch.
pub static BUFFERS: TableSchema = TableSchema {
    name: "buffers",
    rows: "One row per input buffer and virtual lane of a switch.",
    asked_by: "",
    over_time: false,
    rank: "mean_packets",
    columns: &[&[
        name("switch", "Switch of the buffer."),
        number("port", "Port of the buffer."),
        name("peer", "Node at the other end of the port's link."),
        number("vl", "Virtual lane."),
        count("mean_packets", "packets", "Time-weighted mean number of packets in the buffer."),
        count("max_packets", "packets", "Largest number of packets in the buffer."),
    ]],
};

/// One row per output and virtual lane, with its role in congestion trees.
pub static TREE: TableSchema = TableSchema {
    name: "tree",
    rows: "One row per output and virtual lane, with its role in congestion trees.",
    asked_by: "",
    over_time: false,
    rank: "",
    columns: &[&[
        name("from", "Node of the output."),
        number("from_port", "Port of the output."),
        name("to", "Node at the other end of its link."),
        number("vl", "Virtual lane."),
        name(
            "role",
            "`root` or `branch`, whichever role it had for longer; `calm` if it had each role for less than 1% of the window.",
        ),
        time("since", "Start of its first period in this role; NaN for `calm`."),
        time("until", "End of its last period in this role."),
        time("longest", "Length of the longest period."),
        time("longest_since", "Start of the longest period."),
        share("root_share", "Share of the window in which it was a root."),
        share("branch_share", "Share of the window in which it was a branch, also while other lanes of the port sent."),
        ratio("offered", "Offered traffic of the flows that cross the output, as a multiple of the link's rate."),
        count(
            "contributors",
            "flows",
            "Number of flows that contribute to its congestion; 0 if it is not oversubscribed.",
        ),
    ]],
};

/// One row per link and virtual lane whose buffer can pause the sender; only with PFC.
pub static PAUSES: TableSchema = TableSchema {
    name: "pauses",
    rows: "One row per link and virtual lane whose buffer can pause the sender; only with PFC.",
    asked_by: "switch.flow_control.pfc",
    over_time: false,
    rank: "paused_share",
    columns: &[&[
        name("from", "Paused node, which sends on the link."),
        number("from_port", "Port of the sending node."),
        name("to", "Node whose buffer pauses the sender."),
        number("vl", "Virtual lane."),
        count("pauses", "pauses", "Pauses that began in the measured window."),
        time(
            "paused",
            "Total duration of the pauses, each until the frame that ends it, whether or not packets waited.",
        ),
        share("paused_share", "`paused` as a share of the measured window."),
        bytes("headroom", "Buffer space above XOFF."),
        bytes("headroom_used", "Largest amount of headroom in use, over the entire run."),
    ]],
};

/// One row per fault and port; only with faults.
pub static FAULTS: TableSchema = TableSchema {
    name: "faults",
    rows: "One row per fault and port; only with faults.",
    asked_by: "faults",
    over_time: false,
    rank: "held_bytes",
    columns: &[&[
        number("fault", "Number of the fault in the scenario, starting at 0."),
        name("kind", "Kind of the fault, such as `link_down`."),
        name("node", "Node at which it occurs: an end of the cable, the host, or the node that sends the pauses."),
        number("port", "Port of this node."),
        name("peer", "Node at the other end of the port's cable."),
        time("begin", "Start of the fault."),
        time("end", "End of the fault, or of the run."),
        count(
            "on_wire",
            "packets",
            "Packets from this port that had not arrived completely when the link went down. They arrive; a real cable loses them.",
        ),
        bytes("on_wire_bytes", "Bytes of these packets."),
        count(
            "moved",
            "packets",
            "Packets that waited for the port when its link went down, and took another one; at a host, those of messages that were sent again.",
        ),
        count(
            "held",
            "packets",
            "Packets that waited at the end of the fault: in the switch for this port, or in the host's receive buffer.",
        ),
        bytes("held_bytes", "Bytes of these packets."),
    ]],
};

/// One row per output and virtual lane on which a watchdog found a storm of pauses.
pub static STORMS: TableSchema = TableSchema {
    name: "storms",
    rows: "One row per output and virtual lane on which a watchdog found a storm of pauses, over the entire run.",
    asked_by: "switch.flow_control.pfc.watchdog",
    over_time: false,
    rank: "stormed",
    columns: &[&[
        name("switch", "Switch of the watchdog."),
        number("port", "Port of the output."),
        name("peer", "Node at the other end of its cable, which sent the pauses."),
        number("vl", "Virtual lane."),
        count("detected", "storms", "Storms that were found."),
        count("restored", "storms", "Storms that ended."),
        time("first", "Time at which the first was found."),
        time("stormed", "Total time from finding a storm to its end, or to the end of the run."),
        count("tx_dropped", "packets", "Discarded packets that waited for the output, or came for it."),
        bytes("tx_dropped_bytes", "Bytes of these packets."),
        count("rx_dropped", "packets", "Discarded packets that arrived at the port on the lane."),
        bytes("rx_dropped_bytes", "Bytes of these packets."),
        count(
            "overflowed",
            "packets",
            "Packets that were sent in spite of pauses and lost, because the other end had no room for them.",
        ),
        bytes("overflowed_bytes", "Bytes of these packets."),
    ]],
};

/// One row per switch output and virtual lane, with statistics of the waiting bytes.
pub static QUEUES: TableSchema = TableSchema {
    name: "queues",
    rows: "One row per switch output and virtual lane, with statistics of the waiting bytes.",
    asked_by: "observe.queues = true",
    over_time: false,
    rank: "p99",
    columns: &[&[
        name("from", "Switch of the output."),
        number("from_port", "Port of the output."),
        name("to", "Node at the other end of its link."),
        number("vl", "Virtual lane."),
        bytes("mean", "Mean number of waiting bytes, not including the packet in transmission."),
        bytes("min", "Smallest number of waiting bytes."),
        bytes("p50", "Median over time, accurate to within 2%."),
        bytes("p95", "95th percentile over time, accurate to within 2%."),
        bytes("p99", "99th percentile over time, accurate to within 2%."),
        bytes("max", "Largest number of waiting bytes."),
    ]],
};
