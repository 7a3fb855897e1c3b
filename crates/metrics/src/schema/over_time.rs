//! Tables with values over time.

use super::{TableSchema, bytes, count, name, number, quantity, rate, ratio, row, share, time};

/// Rates over time, with one row per sample of each group, recorded link and recorded flow.
pub static SERIES: TableSchema = TableSchema {
    name: "series",
    rows: "Rates over time, with one row per sample of each group, recorded link and recorded flow.",
    asked_by: "",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the sample."),
        name("kind", "`group`, `link` or `flow`."),
        name("name", "Name of the group or link, or number of the flow."),
        rate(
            "rate",
            "Mean rate over `observe.window`, centred on the time and truncated at the start and end of the run.",
        ),
        ratio("share", "`rate` divided by the rate of the link or of the sources' links."),
    ]],
};

/// Gaps and windows set by responses, with one row per sample and group.
pub static PACES: TableSchema = TableSchema {
    name: "paces",
    rows: "Gaps and windows set by responses, with one row per sample and group.",
    asked_by: "observe.paces = true",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the sample."),
        name("group", "Name of the group."),
        quantity("gap_mean", "packet times", "Mean gap after a packet."),
        quantity("gap_max", "packet times", "Largest of these gaps."),
        time("delay_mean", "Mean gap after a packet of the largest size."),
        time("delay_max", "Largest of these delays."),
        count("window_mean", "packets", "Mean window of a flow; infinite without a limit."),
        count("window_sum", "packets", "Sum of the windows of the group's flows."),
    ]],
};

/// One row per link and virtual lane for each time in `observe.snapshots`.
pub static SNAPSHOTS: TableSchema = TableSchema {
    name: "snapshots",
    rows: "One row per link and virtual lane for each time in `observe.snapshots`.",
    asked_by: "observe.snapshots = [\"5 ms\"]",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the snapshot."),
        name("from", "Node that sends on the link."),
        number("from_port", "Port of the sending node."),
        name("to", "Node that receives."),
        number("vl", "Virtual lane."),
        share("occupancy", "Occupied share of the input buffer at the link's receiving end."),
        bytes("waiting", "Bytes waiting at the link's sending end."),
        name("role", "Role of the link's output: `root`, `branch` or `calm`."),
    ]],
};

/// One row per frame and virtual lane, with one byte per link in the order of `links`. The last frame is at the end of the run.
pub static FRAMES: TableSchema = TableSchema {
    name: "frames",
    rows: "One row per frame and virtual lane, with one byte per link in the order of `links`. The last frame is at the end of the run.",
    asked_by: "observe.frames = \"auto\"",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the frame."),
        number("vl", "Virtual lane."),
        row("occupancy", "Occupied share of the input buffer at each link's receiving end, in 255ths."),
        row("role", "Role of each link's output: 0 for calm, 1 for root, and 2 for branch."),
        row("busy", "Share of the time since the previous frame in which the link sent on any lane, in 255ths."),
        row(
            "stalled",
            "Share of this time in which the link sent nothing while a packet waited for credit, in 255ths.",
        ),
        row("marked", "Share of the packets sent since the previous frame that the switch marked, in 255ths."),
    ]],
};

/// One row per frame and group. The last frame is at the end of the run.
pub static FRAMES_GROUPS: TableSchema = TableSchema {
    name: "frames_groups",
    rows: "One row per frame and group. The last frame is at the end of the run.",
    asked_by: "observe.frames = \"auto\"",
    over_time: true,
    rank: "",
    columns: &[&[
        time("time", "Time of the frame."),
        name("group", "Name of the group."),
        rate("rate", "Bytes per second delivered since the previous frame."),
        share("marked_share", "Share of these packets that were marked, or NaN."),
    ]],
};

/// One row per period in which an output was a root or a branch.
pub static SPANS: TableSchema = TableSchema {
    name: "spans",
    rows: "One row per period in which an output was a root or a branch.",
    asked_by: "observe.spans = true",
    over_time: true,
    rank: "",
    columns: &[&[
        name("from", "Node of the output."),
        number("from_port", "Port of the output."),
        name("to", "Node at the other end of its link."),
        number("vl", "Virtual lane."),
        name("role", "`root` or `branch`."),
        time("begin", "Start of the period, which may precede the measured window."),
        time("end", "End of the period, or of the run."),
        time("resolution", "Shorter periods and gaps of the lane are merged; 0 if none are."),
    ]],
};
