//! `[[changes]]`: links that get another rate in the course of a run.

use becalm_engine::Time;

use crate::sections::quantities::LinkRate;

becalm_schema::table! {
    /// A link that gets another rate at some time. Packets must be stored before they are sent on
    /// (`switching = "store_and_forward"`). Shares and utilizations in results refer to the rate of the topology.
    pub located struct Change {
        /// The link, in one direction, such as `"A->B"`; of several between the same two nodes, each is named with its
        /// port: `"A[0]->B"`.
        pub link: String,
        /// From when on; a packet in transmission goes on at the old rate.
        pub at: Time; ""; Time(1)..,
        /// The new rate.
        pub rate: LinkRate,
    }
}
