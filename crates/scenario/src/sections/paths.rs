//! `paths` of a switch: how it chooses among equal ports.

use becalm_engine::Time;
use becalm_fabric::PathSelection;

becalm_schema::table! {
    /// One port for each destination, the one in the forwarding table: the port number is the destination's number
    /// modulo the number of equal ports (d-mod-k). InfiniBand without adaptive routing.
    pub struct ByDestination {}
}

becalm_schema::table! {
    /// By a hash of the flow: all packets of a flow take one path (ECMP). ACKs and congestion notification packets form
    /// a flow of their own.
    pub struct ByFlow {
        /// Whether the switch is part of the hash. Without it, a switch of the second level sees only flows for which
        /// the first level computed the same hash, and uses few of its ports (polarization).
        pub salted: bool = true,
    }
}

becalm_schema::table! {
    /// By a hash of the packet (oblivious spraying). Packets of a flow arrive out of order.
    pub struct ByPacket {}
}

becalm_schema::table! {
    /// In turn, separately for each set of equal ports of a switch. Packets of a flow arrive out of order.
    pub struct PortsInTurn {}
}

becalm_schema::table! {
    /// The port with the least work waiting, measured in time on its link and including the rest of the packet that it
    /// is sending. Ports with credit for the packet are preferred; a hash breaks ties. This is adaptive routing;
    /// packets of a flow arrive out of order.
    pub struct LeastWaiting {
        /// Number of ports that are drawn independently at random and compared; 2 is the power of two choices
        /// (Mitzenmacher 2001). All ports if left out.
        pub sample: Option<u32>; "ports"; 1..=65_534,
    }
}

becalm_schema::table! {
    /// Like `least_waiting` for the first packet of a flowlet, which the others follow. Packets of a flow seldom arrive
    /// out of order.
    pub struct Flowlet {
        /// Idle time of a flow at a switch after which a new flowlet begins.
        pub gap: Time = Time::from_us(10); ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// Through an intermediate switch of a torus, or group of a dragonfly, that is drawn at random for every data
    /// packet and differs from those of its source and destination (Valiant 1982). This makes any traffic pattern as
    /// good, or as bad, as a uniform one. Answers take the direct path. Packets of a flow arrive out of order. Needs
    /// twice the lanes on a torus, one more on a dragonfly.
    pub struct Valiant {}
}

becalm_schema::table! {
    /// Like `valiant`, but only for packets that gain by it: the source's switch compares queue times hops on the
    /// direct path with queue times hops on the detour (UGAL-L: Singh 2005; Kim, Dally, Scott and Abts 2008). A queue
    /// is what waits for the output, plus what it has sent into the next buffer as far as credit shows.
    pub struct Ugal {}
}

becalm_schema::choice! {
    /// How a switch chooses among equal ports, once a packet's header has passed.
    pub enum PathLaw {
        /// By destination.
        Destination(ByDestination) = "destination",
        /// By flow.
        Flow(ByFlow) = "flow",
        /// By packet.
        Packet(ByPacket) = "packet",
        /// In turn.
        RoundRobin(PortsInTurn) = "round_robin",
        /// Least work.
        LeastWaiting(LeastWaiting) = "least_waiting",
        /// Least work, flowlet by flowlet.
        Flowlet(Flowlet) = "flowlet",
        /// Through a region drawn at random; torus and dragonfly.
        Valiant(Valiant) = "valiant",
        /// The same, but only where queues and hops make it shorter; torus and dragonfly.
        Ugal(Ugal) = "ugal",
    }
}

impl PathLaw {
    /// Whether equal ports matter.
    pub fn chooses(&self) -> bool {
        !matches!(self, PathLaw::Destination(_)) && !self.makes_detours()
    }

    /// Whether packets may go through another region.
    pub fn makes_detours(&self) -> bool {
        matches!(self, PathLaw::Valiant(_) | PathLaw::Ugal(_))
    }

    /// The choice in the form that the fabric expects.
    pub fn config(&self) -> PathSelection {
        match self {
            PathLaw::Destination(_) => PathSelection::Destination,
            PathLaw::Flow(p) => PathSelection::Flow { salted: p.salted },
            PathLaw::Packet(_) => PathSelection::Packet,
            PathLaw::RoundRobin(_) => PathSelection::RoundRobin,
            PathLaw::LeastWaiting(p) => PathSelection::LeastWaiting { sample: p.sample.unwrap_or(PathSelection::ALL) },
            PathLaw::Flowlet(p) => PathSelection::Flowlet { gap: p.gap },
            PathLaw::Valiant(_) => PathSelection::Valiant,
            PathLaw::Ugal(_) => PathSelection::Ugal,
        }
    }
}
