//! `[observe]`: recordings over time.

use becalm_engine::Time;
use becalm_schema::Located;

becalm_schema::table! {
    /// Recordings over time.
    pub located struct Observe {
        /// Sampling interval of time series.
        pub step: Time = Time::from_us(100); ""; Time(1)..,
        /// Averaging window of rates, centred on each sample and truncated at the start and end of the run.
        pub window: Time = Time::from_ms(2); ""; Time(1)..,
        /// Links to record, such as `"A->B"`. `"*"` means all links, and an empty list means none. If several links
        /// join the same two nodes, add the port, as in `"A[0]->B"`.
        pub links: Vec<Located<String>> = vec![Located::from("*".to_string())],
        /// Whether to record every flow, in addition to the groups.
        pub flows: bool = false,
        /// Whether to record, at every step, the packet gaps and windows that each group's responses impose.
        pub paces: bool = false,
        /// Whether to record completion times and slowdowns of messages, per group, per size class and per message.
        pub messages: bool = false,
        /// Maximum number of rows of the table `messages`. If more messages are delivered, the table is left
        /// out.
        pub message_rows: u32 = 100_000; ""; 0..=10_000_000,
        /// Times of snapshots. A snapshot records, for every link, the occupancy of the input buffer at its end, and
        /// its role in a congestion tree.
        pub snapshots: Vec<Located<Time>> = Vec::new(),
        /// Interval of frames. In addition to the state in a snapshot, a frame records the shares of time for which
        /// each link was busy and stalled, and the share of its packets that were marked. Each value is one byte, so
        /// frames need far less space than snapshots. Reports use frames.
        pub frames: Option<Time> = None; ""; Time(1)..,
        /// Whether to measure the lengths of output queues, in waiting bytes as counted by marking policies.
        pub queues: bool = false,
        /// Whether to record the periods in which each output was a root or a branch of a congestion tree.
        pub spans: bool = false,
        /// Maximum number of rows of the table `spans`, divided equally among the virtual lanes of all
        /// outputs, with at least 16 for each lane. If a lane has more periods, the shortest periods and gaps
        /// are merged with their neighbours.
        pub span_rows: u32 = 50_000; ""; 1..=10_000_000,
    }
}
