//! Tables of flows, groups and hosts.

use super::{ColumnSchema, TableSchema, bytes, count, flag, index, name, number, rate, ratio, share, time};

/// Latencies of packets.
const LATENCY: &[ColumnSchema] = &[
    time(
        "latency_mean",
        "Mean latency of delivered data packets: the time from the posting of a packet's message to the arrival of its last byte; NaN without packets.",
    ),
    time("latency_p50", "Median latency."),
    time("latency_p99", "99th percentile of latency."),
    time("latency_max", "Largest latency."),
];

/// One row per flow.
pub static FLOWS: TableSchema = TableSchema {
    name: "flows",
    rows: "One row per flow.",
    asked_by: "",
    over_time: false,
    rank: "lost",
    columns: &[
        &[
            number("flow", "Number of the flow, from 0, in the order of the groups."),
            name("group", "Name of its group."),
            name("source", "Host that sends."),
            name("destination", "Host that receives."),
            count("sent_packets", "packets", "Data packets that left the source."),
            count("delivered_packets", "packets", "Data packets that arrived."),
            bytes("delivered_bytes", "Their bytes on the wire."),
            count("messages", "messages", "Messages that were delivered whole."),
            rate("rate", "Delivered bytes over the length of the measured window."),
            share("share", "`rate` over the rate of the source's link."),
            rate(
                "offered",
                "What it could have sent: bytes of posted messages or, while it has endless data, the rate of its source's link; \
                 at most its part of what that link carries.",
            ),
            name(
                "role",
                "Its part in the congestion: `contributor`, `victim`, `both` or `none`; see \
                 [model.md](model.md#roots-branches-contributors-and-victims).",
            ),
            rate(
                "lost",
                "By how much it falls short of what it is due, if by more than chance: of what it offers or, with endless data, \
                 of its fair share. With the role `none`, for a reason other than the roots; 0 for a `contributor`. NaN for a \
                 flow with endless data that waits behind a branch and takes several paths.",
            ),
            flag(
                "own_link",
                "Whether it is a victim whose source also contributes, so that both share the source's link.",
            ),
            count("marked", "packets", "Delivered packets that carried a congestion mark."),
            count(
                "out_of_order",
                "packets",
                "Delivered packets that arrived before an earlier one; see `switch.paths`.",
            ),
            count("dropped", "messages", "Messages that found the host's send queue full and were dropped."),
        ],
        LATENCY,
    ],
};

/// One row per group of flows, `[[flows]]` of the scenario; each job is also a group.
pub static GROUPS: TableSchema = TableSchema {
    name: "groups",
    rows: "One row per group of flows, `[[flows]]` of the scenario; each job is also a group.",
    asked_by: "",
    over_time: false,
    rank: "",
    columns: &[
        &[
            name("group", "Name of the group."),
            count("flows", "flows", "Number of its flows."),
            rate("rate", "Sum of the rates of its flows."),
            ratio("share", "`rate` over the mean rate of the sources' links: 1 is one link full."),
            count(
                "contributors",
                "flows",
                "Its flows that contribute to a root of congestion, including those that are `both`.",
            ),
            count("victims", "flows", "Its flows that are victims, including those that are `both`."),
            rate("lost", "Sum of what these victims lose."),
            index(
                "jain",
                "Jain's fairness index of the flows' shares: 1 is fair, 1/n means that one of n flows gets everything.",
            ),
            share("marked_share", "Marked over delivered packets; NaN if none was delivered."),
        ],
        LATENCY,
    ],
};

/// Histogram of latencies: one row per group and range of latencies that has packets.
pub static LATENCIES: TableSchema = TableSchema {
    name: "latencies",
    rows: "Histogram of latencies: one row per group and range of latencies that has packets.",
    asked_by: "",
    over_time: false,
    rank: "",
    columns: &[&[
        name("group", "Name of the group."),
        time("from", "Smallest latency of the range, in steps of 1 ns."),
        time("to", "Latency at which the next range begins; there are 16 between a power of two and the next."),
        count("packets", "packets", "Delivered data packets with a latency in the range."),
    ]],
};

/// One row per group and source host: offered and delivered traffic.
pub static VICTIMS: TableSchema = TableSchema {
    name: "victims",
    rows: "One row per group and source host: offered and delivered traffic.",
    asked_by: "",
    over_time: false,
    rank: "lost",
    columns: &[&[
        name("host", "Source host."),
        name("group", "Name of the group."),
        count("flows", "flows", "Number of the group's flows from this host."),
        count(
            "contributors",
            "flows",
            "Those that contribute to a root of congestion, including those that are `both`.",
        ),
        count("victims", "flows", "Those that are victims, including those that are `both`."),
        count("own_link", "flows", "The victims among them whose source also contributes."),
        rate("offered", "Bytes of posted messages, and what flows with endless data could have sent, per time."),
        rate("delivered", "Bytes that arrived, per time."),
        share(
            "delivered_share",
            "`delivered` over `offered`; NaN if nothing was offered. Exceeds 1, and is then not a share, if traffic offered earlier arrives.",
        ),
        rate("lost", "Sum of what the victims among them lose."),
    ]],
};

/// One row per host: packets of all kinds, ACKs and congestion notification packets included.
pub static HOSTS: TableSchema = TableSchema {
    name: "hosts",
    rows: "One row per host: packets of all kinds, ACKs and congestion notification packets included.",
    asked_by: "",
    over_time: false,
    rank: "rcv_becn",
    columns: &[&[
        name("host", "Name of the host."),
        count("sent_packets", "packets", "Packets that left the adapter."),
        bytes("sent_bytes", "Their bytes."),
        count("received_packets", "packets", "Packets that arrived."),
        bytes("received_bytes", "Their bytes."),
        count("rcv_fecn", "packets", "Packets that arrived with a mark, as PortRcvFECN counts."),
        count("rcv_becn", "packets", "ACKs and notification packets with the echo of a mark, as PortRcvBECN counts."),
    ]],
};
