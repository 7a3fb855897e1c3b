//! Tables of messages and jobs.

use super::{ColumnSchema, TableSchema, bytes, count, name, number, rate, ratio, share, time};

/// Completion times and slowdowns of several messages.
const SPREADS: &[ColumnSchema] = &[
    time(
        "completion_mean",
        "Mean completion time, from a message's posting to the arrival of its last byte; NaN without messages.",
    ),
    time("completion_p50", "Median of completion times."),
    time("completion_p95", "95th percentile of completion times."),
    time("completion_p99", "99th percentile of completion times."),
    time("completion_p999", "99.9th percentile of completion times."),
    time("completion_max", "Largest completion time."),
    ratio(
        "slowdown_mean",
        "Mean slowdown: completion time divided by the ideal time on an empty network, without delays due to credit, windows or responses.",
    ),
    ratio("slowdown_p50", "Median of slowdowns."),
    ratio("slowdown_p95", "95th percentile of slowdowns."),
    ratio("slowdown_p99", "99th percentile of slowdowns."),
    ratio("slowdown_p999", "99.9th percentile of slowdowns."),
    ratio("slowdown_max", "Largest slowdown."),
];

/// One row per group of flows, with statistics of its messages.
pub static COMPLETION: TableSchema = TableSchema {
    name: "completion",
    rows: "One row per group of flows, with statistics of its messages.",
    asked_by: "observe.messages = true",
    over_time: false,
    rank: "slowdown_p99",
    columns: &[
        &[
            name("group", "Name of the group."),
            count("messages", "messages", "Messages delivered in the measured window."),
            count("unfinished", "messages", "Messages posted but not delivered by the end of the run."),
            bytes("bytes", "Payload of the delivered messages."),
        ],
        SPREADS,
    ],
};

/// Up to 20 rows per group, one for each size class. The classes have equally many messages, but messages of equal
/// size share a class.
pub static COMPLETION_BY_SIZE: TableSchema = TableSchema {
    name: "completion_by_size",
    rows: "Up to 20 rows per group, one for each size class. The classes have equally many messages, but messages of equal size share a class.",
    asked_by: "observe.messages = true",
    over_time: false,
    rank: "",
    columns: &[
        &[
            name("group", "Name of the group."),
            bytes("smallest", "Smallest payload of these messages."),
            bytes("largest", "Largest payload of these messages."),
            count("messages", "messages", "Number of these messages."),
        ],
        SPREADS,
    ],
};

/// Histogram of completion times, with one row per group and nonempty range of times.
pub static COMPLETION_TIMES: TableSchema = TableSchema {
    name: "completion_times",
    rows: "Histogram of completion times, with one row per group and nonempty range of times.",
    asked_by: "observe.messages = true",
    over_time: false,
    rank: "",
    columns: &[&[
        name("group", "Name of the group."),
        time("from", "Smallest completion time in the range, with a resolution of 1 ns."),
        time("to", "Start of the next range; there are 16 ranges between consecutive powers of two."),
        count("messages", "messages", "Messages with a completion time in the range."),
    ]],
};

/// One row per message, in order of delivery. The table is omitted if there are more messages than
/// `observe.message_rows`.
pub static MESSAGES: TableSchema = TableSchema {
    name: "messages",
    rows: "One row per message, in order of delivery. The table is omitted if there are more messages than `observe.message_rows`.",
    asked_by: "observe.messages = true, with observe.message_rows at least the number of messages",
    over_time: false,
    rank: "slowdown",
    columns: &[&[
        name("group", "Name of the group."),
        number("flow", "Number of the flow."),
        bytes("bytes", "Payload of the message."),
        time("posted", "Time of posting; with endless data, time at which the first byte left."),
        time("first_byte", "Time at which its first byte left."),
        time("delivered", "Time at which its last byte arrived."),
        time("acknowledged", "Time at which the ACK of its last packet returned, or NaN."),
        time("completion", "Time from the message's posting to the arrival of its last byte."),
        time("ideal", "Ideal completion time, on an empty network."),
        ratio("slowdown", "`completion` divided by `ideal`."),
    ]],
};

/// One row per job (`[[jobs]]` of the scenario), for the entire run.
pub static JOBS: TableSchema = TableSchema {
    name: "jobs",
    rows: "One row per job (`[[jobs]]` of the scenario), for the entire run.",
    asked_by: "[[jobs]]",
    over_time: false,
    rank: "slowdown",
    columns: &[&[
        name("job", "Name of the job."),
        count("ranks", "ranks", "Number of ranks in the job."),
        time("start", "Start of the job."),
        time("end", "Time at which the job's last rank ended; NaN if the job has not ended."),
        time("time", "Time from start to end."),
        time(
            "time_alone",
            "Duration of the job without other traffic; NaN if there is no other traffic, or with `alone = false`.",
        ),
        ratio("slowdown", "`time` divided by `time_alone`."),
        share("compute_share", "Mean share of `time` that ranks spend computing."),
        share("wait_share", "Mean share of `time` that ranks spend neither computing nor working on messages."),
        rate(
            "bus_bandwidth",
            "Bus bandwidth of the job's collective operation, as defined by nccl-tests: bytes divided by the time without `compute`, times 2(p-1)/p for an all-reduce on p ranks, or times (p-1)/p for an operation in which each rank has a part of the vector. For all other jobs, the most bytes that a rank sends to others, divided by this time, which includes the computations of a step, list or file. NaN if no rank sends.",
        ),
    ]],
};

/// One row per rank of each job, for the entire run.
pub static RANKS: TableSchema = TableSchema {
    name: "ranks",
    rows: "One row per rank of each job, for the entire run.",
    asked_by: "[[jobs]]",
    over_time: false,
    rank: "wait",
    columns: &[&[
        name("job", "Name of the job."),
        number("rank", "Number of the rank, starting at 0."),
        name("host", "Host of the rank."),
        time("end", "Time at which the rank's last operation ended; NaN if it has not ended."),
        time("compute", "Time spent computing."),
        time("overhead", "Time spent working on messages while not computing."),
        time("wait", "Time from the job's start to `end` spent neither computing nor working on messages."),
    ]],
};

/// One row per operation of each rank, for jobs with `record_ops`.
pub static OPS: TableSchema = TableSchema {
    name: "ops",
    rows: "One row per operation of each rank, for jobs with `record_ops`.",
    asked_by: "jobs.record_ops = true",
    over_time: false,
    rank: "",
    columns: &[&[
        name("job", "Name of the job."),
        number("rank", "Number of the rank, starting at 0."),
        number(
            "op",
            "Number of the operation within the rank, starting at 0. A message with rendezvous has three operations.",
        ),
        name("kind", "`calc`, `send` or `recv`."),
        number("peer", "The other rank; NaN for a computation, and for a receive from any rank."),
        bytes("bytes", "Payload of the message; 0 for a computation."),
        time("start", "Start of the operation or, for a receive, the time at which it was posted."),
        time("end", "End of the operation or, for a send, the time at which the last byte left."),
    ]],
};
