//! `[adapter]`: the hosts' adapters.

use becalm_engine::Time;
use becalm_fabric as fabric;
use becalm_fabric::AdapterConfig;
use becalm_schema::Located;

use crate::sections::quantities::{Limit, LinkRate};

becalm_schema::words! {
    /// The order of eligible flows at an adapter.
    pub enum Injection {
        /// Flows take turns, packet by packet.
        RoundRobin = "round_robin",
        /// Messages leave in the order in which they were posted, across flows; a message whose pace or window does not
        /// allow sending is skipped.
        Posted = "posted",
    }
}

becalm_schema::words! {
    /// What goes next at an adapter: an answer (an ACK or a congestion notification packet) or data of the same lane.
    pub enum Answers {
        /// They take turns. The packet whose turn it is waits for its credit, and nothing overtakes it on its lane.
        Turns = "turns",
        /// Answers go first. A host that receives many packets from the far side of a congested cable may then send no
        /// data at all.
        First = "first",
    }
}

becalm_schema::words! {
    /// What the response to congestion controls (IBTA's Port_Control).
    pub enum PortControl {
        /// Each flow (queue pair) separately.
        Qp = "qp",
        /// All flows of the same host and service level together.
        Sl = "sl",
    }
}

becalm_schema::words! {
    /// What happens to a message that finds the send queue full.
    pub enum WhenFull {
        /// Its source waits, and makes no other message until this one is posted.
        Block = "block",
        /// It is dropped and counted.
        Drop = "drop",
    }
}

becalm_schema::table! {
    /// Rate caps for some hosts' adapters, in place of the common ones.
    pub located struct Caps {
        /// Names of hosts, ranges such as `"H1..H8"`, or `"*"`.
        pub hosts: Vec<Located<String>>,
        /// Rate at which data packets are fetched from memory; the rate of the link if left out.
        pub injection_rate: Option<LinkRate>,
        /// Rate at which packets are received; unlimited if left out.
        pub drain_rate: Option<LinkRate>,
    }
}

becalm_schema::table! {
    /// Settings of the hosts' adapters.
    pub located struct Adapter {
        /// The order of eligible flows.
        pub injection: Injection = Injection::RoundRobin,
        /// Whether answers and data of a lane take turns.
        pub answers: Answers = Answers::Turns,
        /// Whether an ACK that waits at the adapter absorbs later ones of the same queue pair: it names the last packet
        /// and covers all before it. An ACK with telemetry does not. If left out, ACKs merge only with
        /// `answers = "turns"`.
        pub coalesce_acks: Option<bool> = None,
        /// What the response to congestion controls.
        pub port_control: PortControl = PortControl::Qp,
        /// Rate at which data packets are fetched from memory (through a PCIe slot, say); the rate of the link if left out.
        pub injection_rate: Option<LinkRate> = None,
        /// Time for which a host works on a message before it fetches the message's first packet. It works on one
        /// message while the previous one is being sent, so it begins at most one message per this time.
        pub message_overhead: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Rate at which packets are received, through a receive buffer as large as a switch's; unlimited if left out. A
        /// slow receiver makes the switch before it a root of congestion.
        pub drain_rate: Option<LinkRate> = None,
        /// Number of packets of posted messages that a host's send queue holds, over all flows together. A queue that
        /// is empty takes a message of any size. `greedy` and `on_off` flows post nothing, and need no room.
        pub queue: Limit = Limit(AdapterConfig::UNLIMITED); "packets",
        /// What happens to a message that finds the send queue full.
        pub when_full: WhenFull = WhenFull::Block,
        /// Hosts with their own rate caps.
        pub caps: Vec<Located<Caps>> = Vec::new(),
    }
}

impl Adapter {
    /// The adapter of a host without rate caps of its own, in the form that the fabric expects.
    pub fn config(&self) -> AdapterConfig {
        self.with_caps(&self.injection_rate, &self.drain_rate)
    }

    /// The adapter of a host with these rate caps, in the form that the fabric expects.
    pub fn with_caps(&self, injection_rate: &Option<LinkRate>, drain_rate: &Option<LinkRate>) -> AdapterConfig {
        AdapterConfig {
            injection: match *self.injection {
                Injection::RoundRobin => fabric::Injection::RoundRobin,
                Injection::Posted => fabric::Injection::Posted,
            },
            answers: match *self.answers {
                Answers::Turns => fabric::Answers::Turns,
                Answers::First => fabric::Answers::First,
            },
            coalesces: self.coalesce_acks.unwrap_or(*self.answers == Answers::Turns),
            injection_rate: injection_rate.as_ref().map(LinkRate::rate),
            message_overhead: *self.message_overhead,
            drain_rate: drain_rate.as_ref().map(LinkRate::rate),
            queue: self.queue.0,
            when_full: match *self.when_full {
                WhenFull::Block => fabric::WhenFull::Block,
                WhenFull::Drop => fabric::WhenFull::Drop,
            },
        }
    }
}
