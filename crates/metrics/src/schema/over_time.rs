//! Tables over time.

use super::{TableSchema, bytes, count, name, number, quantity, rate, ratio, row, share, time};

/// Rates over time, one row per sample of each group, followed link and followed flow.
pub static SERIES: TableSchema = TableSchema {
    name: "series",
    rows: "Rates over time, one row per sample of each group, followed link and followed flow.",
    asked_by: "",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the sample."),
        name("kind", "`group`, `link` or `flow`."),
        name("name", "Name of the group or link, number of the flow."),
        rate("rate", "Mean rate in a window of `observe.window` around the time, cut at the ends of the run."),
        ratio("share", "`rate` over the rate of the link, or of the sources' links."),
    ]],
};

/// Gaps and windows set by responses, one row per sample and group; with `observe.paces`.
pub static PACES: TableSchema = TableSchema {
    name: "paces",
    rows: "Gaps and windows set by responses, one row per sample and group; with `observe.paces`.",
    asked_by: "observe.paces = true",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the sample."),
        name("group", "Name of the group."),
        quantity("gap_mean", "packet times", "Gap that a flow has to keep after a packet, mean over the flows."),
        quantity("gap_max", "packet times", "Largest of these gaps."),
        time("delay_mean", "The gap after a packet of the largest size, mean over the flows."),
        time("delay_max", "Largest of these delays."),
        count(
            "window_mean",
            "packets",
            "Packets that a flow may have under way, mean over the flows; infinite without a limit.",
        ),
        count("window_sum", "packets", "Sum over the flows."),
    ]],
};

/// One row per time in `observe.snapshots`, link and virtual lane.
pub static SNAPSHOTS: TableSchema = TableSchema {
    name: "snapshots",
    rows: "One row per time in `observe.snapshots`, link and virtual lane.",
    asked_by: "observe.snapshots = [\"5 ms\"]",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the snapshot."),
        name("from", "Node that sends on the link."),
        number("from_port", "Its port."),
        name("to", "Node that receives."),
        number("vl", "Virtual lane."),
        share("occupancy", "Occupied share of the input buffer at the link's end."),
        bytes("waiting", "Bytes that wait for the link at its beginning."),
        name("role", "Role of the output at its beginning: `root`, `branch` or `calm`."),
    ]],
};

/// One row per step of `observe.frames` and lane; one byte per link, in the order of `links`.
pub static FRAMES: TableSchema = TableSchema {
    name: "frames",
    rows: "One row per step of `observe.frames` and lane; one byte per link, in the order of `links`.",
    asked_by: "observe.frames = \"50 us\"",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the frame."),
        number("vl", "Virtual lane."),
        row("occupancy", "Occupied share of the input buffer at each link's end, in 255ths."),
        row("role", "Role of the output at its beginning: 0 calm, 1 root, 2 branch."),
        row("busy", "Share of the time since the previous frame in which the link sent, in 255ths; on any lane."),
        row("stalled", "Share of that time in which a packet waited for credit, in 255ths; on any lane."),
        row("marked", "Share of the packets sent in that time that the switch marked, in 255ths; on any lane."),
    ]],
};

/// One row per step of `observe.frames` and group.
pub static FRAMES_GROUPS: TableSchema = TableSchema {
    name: "frames_groups",
    rows: "One row per step of `observe.frames` and group.",
    asked_by: "observe.frames = \"50 us\"",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the frame."),
        name("group", "Name of the group."),
        rate("rate", "Delivered bytes since the previous frame, per unit of time."),
        share("marked_share", "Marked over delivered packets in that time; NaN if none was delivered."),
    ]],
};

/// One row per period in which an output was root or branch; with `observe.spans`.
pub static SPANS: TableSchema = TableSchema {
    name: "spans",
    rows: "One row per period in which an output was root or branch; with `observe.spans`.",
    asked_by: "observe.spans = true",
    over_time: true,
    rank: "",
    columns: &[&[
        name("from", "Node of the output."),
        number("from_port", "Its port."),
        name("to", "Node at the other end of its link."),
        number("vl", "Virtual lane."),
        name("role", "`root` or `branch`."),
        time("begin", "Start of the period; it may lie before the measured window."),
        time("end", "Its end, or that of the run."),
    ]],
};
