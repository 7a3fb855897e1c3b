//! `paths` of a switch: how it selects one of several equal ports.

use becalm_engine::Time;
use becalm_fabric::{Balancer, PathSelection};
use becalm_schema::Conflict;

becalm_schema::table! {
    /// Selects a fixed port for each destination: the destination's number modulo the number of equal ports (d-mod-k),
    /// as in InfiniBand without adaptive routing.
    pub struct ByDestination {}
}

becalm_schema::table! {
    /// Selects by a hash of the flow, so all its packets take one path (ECMP). Answers form a separate flow.
    pub struct ByFlow {
        /// Whether the hash includes the switch. Otherwise, a second-level switch uses only a few of its ports
        /// (polarization).
        pub salted: bool = true,
    }
}

becalm_schema::table! {
    /// Selects by a hash of the packet (oblivious spraying). Packets of a flow arrive out of order.
    pub struct ByPacket {}
}

becalm_schema::table! {
    /// Selects in round-robin order, separately for each set of equal ports of a switch. Packets of a flow arrive out
    /// of order.
    pub struct PortsInTurn {}
}

becalm_schema::table! {
    /// Selects the port with the least waiting data, as transmission time, including the rest of the packet in
    /// transmission. Ports with credit for the packet are preferred. A hash breaks ties. Packets of a flow arrive out
    /// of order.
    pub struct LeastWaiting {
        /// Number of randomly sampled ports to compare; all if left out. 2 yields the power of two choices
        /// (Mitzenmacher 2001).
        pub sample: Option<u32>; "ports"; 1..=65_534,
    }
}

becalm_schema::table! {
    /// Like `least_waiting`, but only for the first packet of a flowlet. The flowlet's other packets use the
    /// same port. Packets of a flow seldom arrive out of order.
    pub struct Flowlet {
        /// Idle time of a flow after which a new flowlet begins.
        pub gap: Time = Time::from_us(10); ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// Sends each data packet through a random intermediate switch of a torus, or group of a dragonfly (Valiant 1982).
    /// The load is then as even as with uniform traffic. Answers take the direct path. Packets of a flow arrive out of
    /// order. Each service level needs twice as many lanes on a torus, and one more lane on a dragonfly.
    pub struct Valiant {}
}

becalm_schema::table! {
    /// Like `valiant`, but only for packets that gain from the detour. The source's switch compares the product of
    /// queue length and number of hops on the direct path with the product on the detour (UGAL-L: Singh 2005; Kim,
    /// Dally, Scott and Abts 2008). The queue includes the data in the next buffer, as far as credits reveal it.
    pub struct Ugal {}
}

becalm_schema::words! {
    /// How a source selects the entropy value of a packet.
    pub enum BalancerWord {
        /// All values in turn, in a random order that changes with every turn.
        Oblivious = "oblivious",
        /// Like `oblivious`, but each value is skipped as often as its packets were marked, at most 15 times.
        Bitmap = "bitmap",
        /// The value of an acknowledged packet without a mark, which is used once more. Eight such values are stored. If
        /// there is none, a random value (REPS: Bonato et al., 2024).
        Reps = "reps",
        /// The value of any acknowledged packet without a mark, or as in `bitmap` if there is none.
        Mixed = "mixed",
    }
}

impl BalancerWord {
    fn config(self) -> Balancer {
        match self {
            BalancerWord::Oblivious => Balancer::Oblivious,
            BalancerWord::Bitmap => Balancer::Bitmap,
            BalancerWord::Reps => Balancer::Reps,
            BalancerWord::Mixed => Balancer::Mixed,
        }
    }
}

/// The number of entropy values of a flow.
const VALUES: std::ops::RangeInclusive<u32> = 1..=PathSelection::MOST_VALUES;

becalm_schema::table! {
    /// Selects by a hash of the flow and of an entropy value that the source sets in each data packet, as in Ultra
    /// Ethernet. ACKs tell the source which values led to marks. Packets of a flow arrive out of order. Answers are
    /// hashed one by one. Source: the Ultra Ethernet Consortium's simulator uet-htsim, commit 40ccb05, without its
    /// rules for lost and trimmed packets.
    pub struct ByEntropy {
        /// Number of values that each flow uses, a power of two.
        pub values: u32 = 64; ""; VALUES,
        /// How the source selects a value.
        pub balancer: BalancerWord = BalancerWord::Mixed,
    }
    check ByEntropy::check;
}

impl ByEntropy {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(self.values.is_power_of_two(), "values", || "must be a power of two".into())
    }
}

becalm_schema::choice! {
    /// How a switch selects one of several equal ports after a packet's header has arrived.
    pub enum PathLaw {
        /// A fixed port for each destination.
        Destination(ByDestination) = "destination",
        /// By a hash of the flow.
        Flow(ByFlow) = "flow",
        /// By a hash of the packet.
        Packet(ByPacket) = "packet",
        /// In round-robin order.
        RoundRobin(PortsInTurn) = "round_robin",
        /// The port with the least waiting data.
        LeastWaiting(LeastWaiting) = "least_waiting",
        /// The port with the least waiting data, for each flowlet.
        Flowlet(Flowlet) = "flowlet",
        /// By a hash of the flow and an entropy value that the source sets in each packet.
        Entropy(ByEntropy) = "entropy",
        /// Through a random intermediate switch or group; torus and dragonfly only.
        Valiant(Valiant) = "valiant",
        /// Like `valiant`, but only if queues and hops favour the detour; torus and dragonfly only.
        Ugal(Ugal) = "ugal",
    }
}

impl PathLaw {
    /// Whether the switch selects among equal ports for each packet or flow.
    pub fn chooses(&self) -> bool {
        !matches!(self, PathLaw::Destination(_)) && !self.makes_detours()
    }

    /// Whether packets may take detours.
    pub fn makes_detours(&self) -> bool {
        matches!(self, PathLaw::Valiant(_) | PathLaw::Ugal(_))
    }

    /// The selection as the fabric represents it.
    pub fn config(&self) -> PathSelection {
        match self {
            PathLaw::Destination(_) => PathSelection::Destination,
            PathLaw::Flow(p) => PathSelection::Flow { salted: p.salted },
            PathLaw::Packet(_) => PathSelection::Packet,
            PathLaw::RoundRobin(_) => PathSelection::RoundRobin,
            PathLaw::LeastWaiting(p) => PathSelection::LeastWaiting { sample: p.sample.unwrap_or(PathSelection::ALL) },
            PathLaw::Flowlet(p) => PathSelection::Flowlet { gap: p.gap },
            PathLaw::Entropy(p) => PathSelection::Entropy { values: p.values, balancer: p.balancer.config() },
            PathLaw::Valiant(_) => PathSelection::Valiant,
            PathLaw::Ugal(_) => PathSelection::Ugal,
        }
    }
}
