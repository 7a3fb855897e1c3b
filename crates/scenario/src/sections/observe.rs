//! `[observe]`: recordings over time.

use becalm_engine::Time;
use becalm_schema::field::{Field, refuse};
use becalm_schema::{Errors, Located, Node, seconds};
use serde_json::json;

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
        /// Whether to record completion times and slowdowns of messages.
        pub messages: bool = false,
        /// Maximum number of rows of the table `messages`. If more messages are delivered, the table is left
        /// out.
        pub message_rows: u32 = 100_000; ""; 0..=10_000_000,
        /// Times of snapshots. A snapshot records each link's role in a congestion tree, and the occupancy of the input
        /// buffer at its end.
        pub snapshots: Vec<Located<Time>> = Vec::new(),
        /// Interval of frames, which reports use. In addition to a snapshot's state, a frame records the shares of time
        /// for which each link was busy and stalled, and the share of its packets that were marked, each as one byte.
        /// With `"auto"`, 50 to 100 frames cover the run.
        pub frames: Option<FrameStep> = None,
        /// Whether to measure the lengths of output queues, as marking policies count them.
        pub queues: bool = false,
        /// Whether to record the periods in which each output was a root or a branch of a congestion tree.
        pub spans: bool = false,
        /// Maximum number of rows of the table `spans`, with at least 16 for each lane of an output. Beyond that,
        /// short periods and gaps are merged.
        pub span_rows: u32 = 50_000; ""; 1..=10_000_000,
    }
}

/// The interval of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStep {
    /// A time, at least 1 ps.
    Every(Time),
    /// As long as necessary for at most [`FrameStep::MOST`] frames, and at least half as many.
    Auto,
}

impl FrameStep {
    const AUTO: &str = "auto";

    /// The largest number of frames with [`FrameStep::Auto`]. It is even.
    pub const MOST: u64 = 100;
}

impl Field for FrameStep {
    fn expects() -> String {
        format!("{}, at least 1 ps, or \"{}\"", Time::expects(), Self::AUTO)
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<FrameStep> {
        let Some(text) = node.text() else { return refuse(node, errors) };
        if text == Self::AUTO {
            return Some(FrameStep::Auto);
        }
        if seconds(text).is_none() {
            return refuse(node, errors);
        }
        let step = Time::read(node, errors)?;
        if step == Time::ZERO {
            errors.add(node, "must be at least 1 ps", "");
            return None;
        }
        Some(FrameStep::Every(step))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            FrameStep::Every(step) => step.to_json(),
            FrameStep::Auto => json!(Self::AUTO),
        }
    }

    fn json_schema() -> serde_json::Value {
        json!({"anyOf": [Time::json_schema(), {"const": Self::AUTO}]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_an_interval_or_find_it() {
        let read =
            |text: &str| becalm_schema::read_json::<FrameStep>(&json!(text), "f").map_err(|errors| errors.to_string());
        assert_eq!(read("auto"), Ok(FrameStep::Auto));
        assert_eq!(read("2 us"), Ok(FrameStep::Every(Time::from_us(2))));
        for step in [FrameStep::Auto, FrameStep::Every(Time(1))] {
            assert_eq!(read(step.to_json().as_str().unwrap()), Ok(step));
        }
        assert!(read("0 ps").unwrap_err().contains("must be at least 1 ps"));
        assert!(read("automatic").unwrap_err().contains("or \"auto\""));
    }
}
