//! Tables of flows, groups and hosts.

use super::{ColumnSchema, TableSchema, bytes, count, flag, index, name, number, rate, ratio, share, time};

/// Latencies of packets.
const LATENCY: &[ColumnSchema] = &[
    time(
        "latency_mean",
        "Mean latency of delivered data packets, from the posting of their message to the arrival of their last byte; NaN without packets.",
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
            number("flow", "Number of the flow, starting at 0, in the order of the groups."),
            name("group", "Name of the flow's group."),
            name("source", "Host that sends."),
            name("destination", "Host that receives."),
            count("sent_packets", "packets", "Data packets that left the source."),
            count("delivered_packets", "packets", "Data packets that arrived."),
            bytes("delivered_bytes", "Bytes of the delivered packets on the wire."),
            count("messages", "messages", "Messages delivered completely."),
            rate("rate", "Delivered bytes divided by the length of the measured window."),
            share("share", "`rate` divided by the rate of the source's link."),
            rate(
                "offered",
                "Rate at which the flow could have sent: the bytes per second of its posted messages or, with endless data, the rate of the source's link, which the flows of a host share.",
            ),
            name(
                "role",
                "Role of the flow in the congestion: `contributor`, `victim`, `both` or `none`; see \
                 [model.md](model.md#roots-branches-contributors-and-victims).",
            ),
            rate(
                "lost",
                "Shortfall below the offered rate or, with endless data, below the fair share. 0 for a `contributor` and for a shortfall that chance can explain; NaN if the fair share is unknown.",
            ),
            flag("own_link", "Whether the flow is a victim that shares its source's link with a contributor."),
            count("marked", "packets", "Delivered packets with a congestion mark."),
            count("out_of_order", "packets", "Delivered packets that overtook an earlier packet of the flow."),
            count("dropped", "messages", "Messages dropped at a full send queue."),
        ],
        LATENCY,
    ],
};

/// One row per group of flows (`[[flows]]` of the scenario). Each job is also a group.
pub static GROUPS: TableSchema = TableSchema {
    name: "groups",
    rows: "One row per group of flows (`[[flows]]` of the scenario). Each job is also a group.",
    asked_by: "",
    over_time: false,
    rank: "",
    columns: &[
        &[
            name("group", "Name of the group."),
            count("flows", "flows", "Number of flows in the group."),
            rate("rate", "Sum of the flows' rates."),
            ratio("share", "`rate` divided by the mean rate of the sources' links: 1 stands for one full link."),
            count("contributors", "flows", "Flows with the role `contributor` or `both`."),
            count("victims", "flows", "Flows with the role `victim` or `both`."),
            rate("lost", "Sum of the victims' losses."),
            index("jain", "Jain's fairness index of the flows' shares."),
            share("marked_share", "Marked packets as a share of delivered packets; NaN if none was delivered."),
        ],
        LATENCY,
    ],
};

/// Histogram of latencies, with one row per group and nonempty range of latencies.
pub static LATENCIES: TableSchema = TableSchema {
    name: "latencies",
    rows: "Histogram of latencies, with one row per group and nonempty range of latencies.",
    asked_by: "",
    over_time: false,
    rank: "",
    columns: &[&[
        name("group", "Name of the group."),
        time("from", "Smallest latency in the range, with a resolution of 1 ns."),
        time("to", "Start of the next range; there are 16 ranges between consecutive powers of two."),
        count("packets", "packets", "Delivered data packets with a latency in the range."),
    ]],
};

/// One row per group and source host, with offered and delivered traffic.
pub static VICTIMS: TableSchema = TableSchema {
    name: "victims",
    rows: "One row per group and source host, with offered and delivered traffic.",
    asked_by: "",
    over_time: false,
    rank: "lost",
    columns: &[&[
        name("host", "Source host."),
        name("group", "Name of the group."),
        count("flows", "flows", "Number of the group's flows from this host."),
        count("contributors", "flows", "Flows with the role `contributor` or `both`."),
        count("victims", "flows", "Flows with the role `victim` or `both`."),
        count("own_link", "flows", "Victims in this row whose source also has a contributor."),
        rate("offered", "Sum of the flows' offered rates."),
        rate("delivered", "Bytes per second that arrived."),
        share(
            "delivered_share",
            "`delivered` divided by `offered`; NaN if nothing was offered. It may exceed 1 if earlier traffic arrives.",
        ),
        rate("lost", "Sum of the losses of the victims in this row."),
    ]],
};

/// One row per host. Packets of all kinds count.
pub static HOSTS: TableSchema = TableSchema {
    name: "hosts",
    rows: "One row per host. Packets of all kinds count.",
    asked_by: "",
    over_time: false,
    rank: "rcv_becn",
    columns: &[&[
        name("host", "Name of the host."),
        count("sent_packets", "packets", "Packets that left the adapter."),
        bytes("sent_bytes", "Sent bytes, also of packets that left only partly in the measured window."),
        count("received_packets", "packets", "Packets that arrived."),
        bytes("received_bytes", "Bytes of the received packets."),
        count("rcv_fecn", "packets", "Marked packets that arrived, as counted by PortRcvFECN."),
        count("rcv_becn", "packets", "Received packets that report a mark, as counted by PortRcvBECN."),
    ]],
};
