//! `[observe]`: recordings over time.

use becalm_engine::Time;
use becalm_schema::Located;

becalm_schema::table! {
    /// Recordings over time.
    pub located struct Observe {
        /// Sampling step of series.
        pub step: Time = Time::from_us(100); ""; Time(1)..,
        /// Sliding window over which rates are averaged, centred on each sample; cut at the ends of the run.
        pub window: Time = Time::from_ms(2); ""; Time(1)..,
        /// Links to record, such as `"A->B"`; `"*"` for all, an empty list for none. If several links join the same two
        /// nodes, each is named with its port: `"A[0]->B"`.
        pub links: Vec<Located<String>> = vec![Located::from("*".to_string())],
        /// Whether to record every flow, not only the groups.
        pub flows: bool = false,
        /// Whether to record, at every step, the gaps between packets that each group's flows have to keep, and their
        /// windows.
        pub paces: bool = false,
        /// Whether to record messages: completion times and slowdowns per group, by size, and for single messages.
        pub messages: bool = false,
        /// Maximum number of rows in the table `messages`, which is left out if more messages are delivered.
        pub message_rows: u32 = 100_000; ""; 0..=10_000_000,
        /// Times of snapshots: the contents of the input buffer behind every link, and the link's role in a congestion
        /// tree.
        pub snapshots: Vec<Located<Time>> = Vec::new(),
        /// Step of frames, which hold the same as snapshots for every link, plus how busy, stalled and marking it was,
        /// in one byte each. For reports; takes far less space than the same number of snapshots.
        pub frames: Option<Time> = None; ""; Time(1)..,
        /// Whether to measure the queues of outputs: the bytes that wait, as marking policies see them.
        pub queues: bool = false,
        /// Whether to record the periods in which each output was root or branch of a congestion tree.
        pub spans: bool = false,
        /// Rows of the table `spans`, shared evenly among the virtual lanes of all outputs, with at least 16 for each.
        /// A lane that has more periods merges the shortest periods and the shortest gaps with their neighbours.
        pub span_rows: u32 = 50_000; ""; 1..=10_000_000,
    }
}
