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
        /// Messages leave in the order in which they were posted, across flows; one whose pace or window does not let it
        /// send is skipped.
        Posted = "posted",
    }
}

becalm_schema::words! {
    /// Which goes next at an adapter: an answer (an ACK or a congestion notification packet), or data of the same lane.
    pub enum Answers {
        /// They take turns. The packet whose turn it is waits for its credit, and nothing overtakes it on its lane.
        Turns = "turns",
        /// Answers go first. A host that gets many packets from beyond a congested cable may then send no data at all.
        First = "first",
    }
}

becalm_schema::words! {
    /// The target of the response to congestion (IBTA's Port_Control).
    pub enum PortControl {
        /// The flow (queue pair) alone.
        Qp = "qp",
        /// All flows of the same host and service level together.
        Sl = "sl",
    }
}

becalm_schema::words! {
    /// What becomes of a message that finds the send queue full.
    pub enum WhenFull {
        /// Its source waits with it, and makes no other until it is posted.
        Block = "block",
        /// It is dropped, and counted.
        Drop = "drop",
    }
}

becalm_schema::table! {
    /// Caps of some hosts' adapters, in place of those of all.
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
        /// Whether an ACK that waits at the adapter takes in those of the same queue pair that come after it: it names the
        /// last packet, and covers all before it. One with telemetry does not. If left out, ACKs merge with `answers = "turns"` alone.
        pub coalesce_acks: Option<bool> = None,
        /// The target of the response to congestion.
        pub port_control: PortControl = PortControl::Qp,
        /// Rate at which data packets are fetched from memory (through a PCIe slot, say); the rate of the link if left out.
        pub injection_rate: Option<LinkRate> = None,
        /// Time that a host works on a message before it fetches the message's first packet. It works on one message
        /// while the one before is being sent, so it begins at most one message in this time.
        pub message_overhead: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Rate at which packets are received, through a receive buffer as large as a switch's; unlimited if left out. A
        /// slow receiver makes the switch before it a root of congestion.
        pub drain_rate: Option<LinkRate> = None,
        /// Packets of posted messages that a host's send queue holds, those of all flows together. A queue that is empty
        /// takes a message of any size. `greedy` and `on_off` flows post nothing, and need no room.
        pub queue: Limit = Limit(AdapterConfig::UNLIMITED); "packets",
        /// What becomes of a message that finds it full.
        pub when_full: WhenFull = WhenFull::Block,
        /// Hosts with other caps.
        pub caps: Vec<Located<Caps>> = Vec::new(),
    }
}

impl Adapter {
    /// The adapter of a host without caps of its own, as the fabric has it.
    pub fn config(&self) -> AdapterConfig {
        self.with_caps(&self.injection_rate, &self.drain_rate)
    }

    /// The adapter of a host with these caps, as the fabric has it.
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
