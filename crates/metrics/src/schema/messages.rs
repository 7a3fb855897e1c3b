//! Tables of messages and jobs.

use super::{ColumnSchema, TableSchema, bytes, count, name, number, rate, ratio, share, time};

/// Completion times and slowdowns of several messages.
const SPREADS: &[ColumnSchema] = &[
    time(
        "completion_mean",
        "Mean completion time: the time from the posting of a message to the arrival of its last byte; NaN without messages.",
    ),
    time("completion_p50", "Median of completion times."),
    time("completion_p95", "95th percentile of completion times."),
    time("completion_p99", "99th percentile of completion times."),
    time("completion_p999", "99.9th percentile of completion times."),
    time("completion_max", "Largest completion time."),
    ratio(
        "slowdown_mean",
        "Mean slowdown: completion time over the time that it would take by its route on an empty network: links, switches and adapters count; credit, windows and delays of responses do not.",
    ),
    ratio("slowdown_p50", "Median of slowdowns."),
    ratio("slowdown_p95", "95th percentile of slowdowns."),
    ratio("slowdown_p99", "99th percentile of slowdowns."),
    ratio("slowdown_p999", "99.9th percentile of slowdowns."),
    ratio("slowdown_max", "Largest slowdown."),
];

/// One row per group of flows: its messages; with `observe.messages`.
pub static COMPLETION: TableSchema = TableSchema {
    name: "completion",
    rows: "One row per group of flows: its messages; with `observe.messages`.",
    asked_by: "observe.messages = true",
    over_time: false,
    rank: "slowdown_p99",
    columns: &[
        &[
            name("group", "Name of the group."),
            count("messages", "messages", "Messages delivered in the measured window."),
            count("unfinished", "messages", "Messages that were posted but not delivered by the end."),
            bytes("bytes", "Payload of the delivered messages."),
        ],
        SPREADS,
    ],
};

/// Up to 20 rows per group, each with a twentieth of its messages in order of size; messages of the same size are in one row. With `observe.messages`.
pub static COMPLETION_BY_SIZE: TableSchema = TableSchema {
    name: "completion_by_size",
    rows: "Up to 20 rows per group, each with a twentieth of its messages in order of size; messages of the same size are in one row. With `observe.messages`.",
    asked_by: "observe.messages = true",
    over_time: false,
    rank: "",
    columns: &[
        &[
            name("group", "Name of the group."),
            bytes("smallest", "Payload of the smallest of these messages."),
            bytes("largest", "Payload of the largest."),
            count("messages", "messages", "Number of these messages."),
        ],
        SPREADS,
    ],
};

/// Histogram of completion times: one row per group and range of times that has messages; with `observe.messages`.
pub static COMPLETION_TIMES: TableSchema = TableSchema {
    name: "completion_times",
    rows: "Histogram of completion times: one row per group and range of times that has messages; with `observe.messages`.",
    asked_by: "observe.messages = true",
    over_time: false,
    rank: "",
    columns: &[&[
        name("group", "Name of the group."),
        time("from", "Smallest completion time of the range, in steps of 1 ns."),
        time("to", "Time at which the next range begins; there are 16 between a power of two and the next."),
        count("messages", "messages", "Messages with a completion time in the range."),
    ]],
};

/// One row per message, in the order of delivery; with `observe.messages`, unless there are more than `observe.message_rows`.
pub static MESSAGES: TableSchema = TableSchema {
    name: "messages",
    rows: "One row per message, in the order of delivery; with `observe.messages`, unless there are more than `observe.message_rows`.",
    asked_by: "observe.messages = true, with a larger observe.message_rows if there are more messages",
    over_time: false,
    rank: "slowdown",
    columns: &[&[
        name("group", "Name of the group."),
        number("flow", "Number of the flow."),
        bytes("bytes", "Payload of the message."),
        time("posted", "When it was posted; with flows that always send, when its first byte left."),
        time("first_byte", "When its first byte left the source."),
        time("delivered", "When its last byte arrived."),
        time("acknowledged", "When the ACK of its last packet came back; NaN if none did."),
        time("completion", "The time from the posting of a message to the arrival of its last byte."),
        time(
            "ideal",
            "The time that it would take by its route on an empty network: links, switches and adapters count; credit, windows and delays of responses do not.",
        ),
        ratio("slowdown", "`completion` over `ideal`."),
    ]],
};

/// One row per job, `[[jobs]]` of the scenario; over the whole run.
pub static JOBS: TableSchema = TableSchema {
    name: "jobs",
    rows: "One row per job, `[[jobs]]` of the scenario; over the whole run.",
    asked_by: "[[jobs]]",
    over_time: false,
    rank: "slowdown",
    columns: &[&[
        name("job", "Name of the job."),
        count("ranks", "ranks", "Number of its ranks."),
        time("start", "Its start."),
        time("end", "End of its last rank; NaN if it has not ended."),
        time("time", "Time from its start to its end."),
        time("time_alone", "Its time without other traffic; NaN if there is none, or with `alone = false`."),
        ratio("slowdown", "`time` over `time_alone`."),
        share("compute_share", "Mean share of `time` in which a rank computes."),
        share("wait_share", "Mean share of `time` in which a rank neither computes nor works on a message."),
        rate(
            "bus_bandwidth",
            "Bus bandwidth of its collective operation, as nccl-tests define it: bytes over time without computation, times 2(p-1)/p for an all-reduce, or (p-1)/p if each rank has a part.",
        ),
    ]],
};

/// One row per rank of each job; over the whole run.
pub static RANKS: TableSchema = TableSchema {
    name: "ranks",
    rows: "One row per rank of each job; over the whole run.",
    asked_by: "[[jobs]]",
    over_time: false,
    rank: "wait",
    columns: &[&[
        name("job", "Name of the job."),
        number("rank", "Number of the rank, from 0."),
        name("host", "Host that it runs on."),
        time("end", "End of its last operation; NaN if it has not ended."),
        time("compute", "Time in which it computes."),
        time("overhead", "Time in which it works on messages and does not compute."),
        time("wait", "Time from the job's start to `end` in which it does neither."),
    ]],
};

/// One row per operation of each rank; for jobs with `record_ops`.
pub static OPS: TableSchema = TableSchema {
    name: "ops",
    rows: "One row per operation of each rank; for jobs with `record_ops`.",
    asked_by: "jobs.record_ops = true",
    over_time: false,
    rank: "",
    columns: &[&[
        name("job", "Name of the job."),
        number("rank", "Number of the rank, from 0."),
        number("op", "Number of the operation among those of the rank, from 0; by rendezvous, a message has three."),
        name("kind", "`calc`, `send` or `recv`."),
        number("peer", "The other rank; NaN for a computation, and for a receive from any rank."),
        bytes("bytes", "Payload of the message; 0 for a computation."),
        time("start", "Its start; for a receive, when it was posted."),
        time("end", "Its end; for a send, when the last byte has left."),
    ]],
};
