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
        number("from_port", "Its port."),
        name("to", "Node that receives."),
        rate("rate", "Bytes sent over the length of the measured window."),
        share("utilization", "`rate` over the rate of the link."),
        count("packets", "packets", "Packets sent, of all kinds, as PortXmitPkts counts."),
        bytes("bytes", "Bytes sent."),
        count("marked", "packets", "Packets that the switch marked as they left by this port, as PortMarkFECN counts."),
        share(
            "stalled_share",
            "Share of the time in which a packet waited without credit; with PFC, in which it waited for the end of a pause.",
        ),
        time("xmit_wait", "The same as a time, as PortXmitWait counts."),
        time("xmit_time_cong", "Time in which some VL was in the congestion state, as PortXmitTimeCong counts."),
    ]],
};

/// One row per input buffer of a switch and virtual lane.
pub static BUFFERS: TableSchema = TableSchema {
    name: "buffers",
    rows: "One row per input buffer of a switch and virtual lane.",
    asked_by: "",
    over_time: false,
    rank: "mean_packets",
    columns: &[&[
        name("switch", "Switch of the buffer."),
        number("port", "Its port."),
        name("peer", "Node at the other end of the port's link."),
        number("vl", "Virtual lane."),
        count("mean_packets", "packets", "Mean number of packets in the buffer over time."),
        count("max_packets", "packets", "Largest number of packets at any time."),
    ]],
};

/// One row per output and virtual lane: its role in congestion trees.
pub static TREE: TableSchema = TableSchema {
    name: "tree",
    rows: "One row per output and virtual lane: its role in congestion trees.",
    asked_by: "",
    over_time: false,
    rank: "",
    columns: &[&[
        name("from", "Node of the output."),
        number("from_port", "Its port."),
        name("to", "Node at the other end of its link."),
        number("vl", "Virtual lane."),
        name("role", "`root` or `branch`, whichever it was for longer; `calm` if both are below 1% of the window."),
        time("since", "When its first period in this role began; NaN for `calm`."),
        time("until", "When its last period in this role ended."),
        time("longest", "Length of the longest period."),
        time("longest_since", "When the longest period began."),
        share("root_share", "Share of the window in which it was a root."),
        share("branch_share", "Share of the window in which it was a branch."),
        ratio("offered", "What the flows that cross it offer, as a multiple of the link's rate."),
        count(
            "contributors",
            "flows",
            "Flows that contribute to the congestion that begins here; 0 for an output that is not oversubscribed.",
        ),
    ]],
};

/// One row per link and virtual lane whose buffer can pause the sender; with PFC.
pub static PAUSES: TableSchema = TableSchema {
    name: "pauses",
    rows: "One row per link and virtual lane whose buffer can pause the sender; with PFC.",
    asked_by: "switch.flow_control.pfc",
    over_time: false,
    rank: "paused_share",
    columns: &[&[
        name("from", "Node that sends on the link, and is paused."),
        number("from_port", "Its port."),
        name("to", "Node of the buffer that pauses it."),
        number("vl", "Virtual lane."),
        count("pauses", "pauses", "Pauses that began in the measured window."),
        time(
            "paused",
            "Time between a pause and the frame that ends it; `xmit_wait` of `links` is the part in which packets waited.",
        ),
        share("paused_share", "The same as a share of the measured window."),
        bytes("headroom", "Bytes that the buffer has above XOFF."),
        bytes("headroom_used", "Largest part of it in use at any time; over the whole run."),
    ]],
};

/// One row per output of a switch and virtual lane: the bytes that wait for it, over time; with `observe.queues`.
pub static QUEUES: TableSchema = TableSchema {
    name: "queues",
    rows: "One row per output of a switch and virtual lane: the bytes that wait for it, over time; with `observe.queues`.",
    asked_by: "observe.queues = true",
    over_time: false,
    rank: "p99",
    columns: &[&[
        name("from", "Switch of the output."),
        number("from_port", "Its port."),
        name("to", "Node at the other end of its link."),
        number("vl", "Virtual lane."),
        bytes("mean", "Mean number of bytes that wait; a packet in transmission does not."),
        bytes("min", "Smallest number at any time."),
        bytes("p50", "Number that is not exceeded for half of the time, to 2%."),
        bytes("p95", "Number that is not exceeded for 95% of the time, to 2%."),
        bytes("p99", "Number that is not exceeded for 99% of the time, to 2%."),
        bytes("max", "Largest number at any time."),
    ]],
};
