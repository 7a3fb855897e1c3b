//! `[[changes]]`: changes of link rates during a run.

use becalm_engine::Time;

use crate::sections::quantities::LinkRate;

becalm_schema::table! {
    /// A change of a link's rate. Requires `switching = "store_and_forward"`. Shares and utilizations in
    /// results refer to the rate in `[topology]`.
    pub located struct Change {
        /// The link in one direction, such as `"A->B"`. If several links join the same two nodes, add the port, as in
        /// `"A[0]->B"`.
        pub link: String,
        /// Time of the change. A packet that is being transmitted continues at the old rate.
        pub at: Time; ""; Time(1)..,
        /// The new rate.
        pub rate: LinkRate,
    }
}
