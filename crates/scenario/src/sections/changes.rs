//! `[[changes]]`: changes of link rates during a run.

use becalm_engine::Time;

use crate::sections::quantities::LinkRate;

becalm_schema::table! {
    /// A change of a link's rate. Packets must be stored before they are forwarded
    /// (`switching = "store_and_forward"`). Shares and utilizations in results refer to the rate of the topology.
    pub located struct Change {
        /// The link, in one direction, such as `"A->B"`; if several links join the same two nodes, each is named with
        /// its port: `"A[0]->B"`.
        pub link: String,
        /// Time of the change; a packet in transmission continues at the old rate.
        pub at: Time; ""; Time(1)..,
        /// The new rate.
        pub rate: LinkRate,
    }
}
