//! `[adapter]`: the hosts' adapters.

use becalm_engine::Time;
use becalm_fabric as fabric;
use becalm_fabric::AdapterConfig;
use becalm_schema::Located;

use crate::sections::quantities::{Limit, LinkRate};

becalm_schema::words! {
    /// The order of eligible flows at an adapter.
    pub enum Injection {
        /// Flows in round-robin order, one packet each.
        RoundRobin = "round_robin",
        /// Messages of all flows in the order of posting. A message is skipped while its flow's pace or
        /// window does not allow it to send.
        Posted = "posted",
    }
}

becalm_schema::words! {
    /// Order of answers (ACKs and congestion notification packets) and data on the same lane of an adapter.
    pub enum Answers {
        /// Answers and data alternate. The next packet waits for its credit, and no other packet overtakes it on its
        /// lane.
        Turns = "turns",
        /// Answers have priority. A host that receives many packets across a congested cable may then be
        /// unable to send any data.
        First = "first",
    }
}

becalm_schema::words! {
    /// Scope of a response to congestion (IBTA's Port_Control).
    pub enum PortControl {
        /// Each flow (queue pair) separately.
        Qp = "qp",
        /// All flows of the same host and service level together.
        Sl = "sl",
    }
}

becalm_schema::words! {
    /// What happens to a message when the send queue is full.
    pub enum WhenFull {
        /// Its host waits, and posts no other message until this one fits.
        Block = "block",
        /// It is dropped and counted.
        Drop = "drop",
    }
}

becalm_schema::table! {
    /// Rate caps for the adapters of some hosts. These replace the caps of `[adapter]`.
    pub located struct Caps {
        /// Names of hosts, ranges such as `"H1..H8"`, or `"*"`.
        pub hosts: Vec<Located<String>>,
        /// Rate at which data packets are fetched from memory; the link rate if left out.
        pub injection_rate: Option<LinkRate>,
        /// Rate at which packets are received; unlimited if left out.
        pub drain_rate: Option<LinkRate>,
    }
}

becalm_schema::table! {
    /// The service level of paths, as the subnet manager's path records state it.
    pub located struct PathLevel {
        /// Sending hosts: names, ranges such as `"H1..H8"`, or `"*"`.
        pub from: Vec<Located<String>>,
        /// Receiving hosts, in the same form.
        pub to: Vec<Located<String>>,
        /// The service level.
        pub sl: u32; ""; 0..=15,
    }
}

becalm_schema::table! {
    /// Settings of the hosts' adapters.
    pub located struct Adapter {
        /// The order of eligible flows.
        pub injection: Injection = Injection::RoundRobin,
        /// Whether answers alternate with data on the same lane or have priority.
        pub answers: Answers = Answers::Turns,
        /// Whether an ACK that waits at the adapter absorbs later ACKs of its queue pair. ACKs with telemetry never
        /// merge. If left out, ACKs merge only with `answers = "turns"`.
        pub coalesce_acks: Option<bool> = None,
        /// Scope of a response to congestion.
        pub port_control: PortControl = PortControl::Qp,
        /// Rate at which data packets are fetched from memory (for example, through a PCIe slot); the link
        /// rate if left out.
        pub injection_rate: Option<LinkRate> = None,
        /// Processing time of a message at its host before its first packet is fetched. A host can process a message
        /// while it sends the previous one.
        pub message_overhead: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Rate at which packets are received; unlimited if left out. The receive buffer is as large as a switch's
        /// input buffer.
        pub drain_rate: Option<LinkRate> = None,
        /// Capacity of a host's send queue, in packets of posted messages of all flows. An empty queue accepts a
        /// message of any size. `greedy` and `on_off` flows do not use it.
        pub queue: Limit = Limit(AdapterConfig::UNLIMITED); "packets",
        /// What happens to a message when the send queue is full.
        pub when_full: WhenFull = WhenFull::Block,
        /// Separate rate caps for the adapters of some hosts.
        pub caps: Vec<Located<Caps>> = Vec::new(),
        /// Service levels whose flows respond to congestion (IBTA's Control_Map); all if left out. Other flows send at
        /// the link rate without a window.
        pub control_map: Option<Vec<u32>> = None,
        /// Service levels of paths, which routing engines choose to avoid deadlocks. Groups and jobs whose `sl` is 0
        /// use them, and their answers use the level of the way back. Other paths have level 0.
        pub path_sl: Vec<Located<PathLevel>> = Vec::new(),
    }
}

impl Adapter {
    /// The fabric's settings for the adapter of a host that is not in `caps`.
    pub fn config(&self) -> AdapterConfig {
        self.with_caps(&self.injection_rate, &self.drain_rate)
    }

    /// The fabric's settings for the adapter of a host with these rate caps.
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
