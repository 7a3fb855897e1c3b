//! `[adapter]`: what all hosts' adapters are like.

use becalm_fabric as fabric;

becalm_schema::words! {
    /// Which of the flows that may send goes next at an adapter.
    pub enum Injection {
        /// Flows take turns, packet by packet.
        RoundRobin = "round_robin",
        /// Messages leave in the order in which they were posted, whatever flow they belong to; one whose pace or
        /// window does not let it send is passed over.
        Posted = "posted",
    }
}

becalm_schema::table! {
    /// What all hosts' adapters are like.
    pub struct Adapter {
        /// Which of the flows that may send goes next.
        pub injection: Injection = Injection::RoundRobin,
    }
}

impl Adapter {
    /// The choice as the fabric has it.
    pub fn injection(&self) -> fabric::Injection {
        match self.injection {
            Injection::RoundRobin => fabric::Injection::RoundRobin,
            Injection::Posted => fabric::Injection::Posted,
        }
    }
}
