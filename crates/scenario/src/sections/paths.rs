//! `paths` of a switch: the law by which it chooses among equal ports.

use becalm_engine::Time;
use becalm_fabric::PathSelection;

becalm_schema::table! {
    /// One port for each destination, that of the forwarding table: the port number is the destination's number modulo the
    /// number of equal ports (d-mod-k). InfiniBand without adaptive routing.
    pub struct ByDestination {}
}

becalm_schema::table! {
    /// By a hash of the flow: all packets of a flow take one path (ECMP). ACKs and congestion notification packets are
    /// a flow of their own.
    pub struct ByFlow {
        /// Whether the switch is part of the hash. Without it, a switch of the second level has only flows for which the first
        /// level drew the same number, and uses few of its ports (polarization).
        pub salted: bool = true,
    }
}

becalm_schema::table! {
    /// By a hash of the packet: oblivious spraying. Packets of a flow arrive out of order.
    pub struct ByPacket {}
}

becalm_schema::table! {
    /// In turn, for each set of equal ports of a switch. Packets of a flow arrive out of order.
    pub struct PortsInTurn {}
}

becalm_schema::table! {
    /// The port with the least work waiting, in time on its link, the rest of the packet that it sends included. Ports with
    /// credit for the packet go first; a hash decides between equals. Adaptive routing; packets of a flow arrive out of order.
    pub struct LeastWaiting {
        /// Ports that are drawn at random, each independently, and compared; 2 is the power of two choices (Mitzenmacher
        /// 2001). All if left out.
        pub sample: Option<u32>; "ports"; 1..=65_534,
    }
}

becalm_schema::table! {
    /// As `least_waiting` for the first packet of a flowlet; the others follow it. Packets of a flow seldom arrive out of order.
    pub struct Flowlet {
        /// Idle time of a flow at a switch after which a new flowlet begins.
        pub gap: Time = Time::from_us(10); ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// By way of a switch of the torus, or a group of the dragonfly, that is drawn for every data packet, other than those of its
    /// ends (Valiant 1982). It makes any pattern of traffic as good, or as bad, as a uniform one. Answers go straight.
    /// Packets of a flow arrive out of order. Needs twice the lanes on a torus, one more on a dragonfly.
    pub struct Valiant {}
}

becalm_schema::table! {
    /// As `valiant`, for the packets that gain by it: the switch of the source compares queue times hops of the way straight
    /// on with that of the detour (UGAL-L: Singh 2005; Kim, Dally, Scott and Abts 2008). A queue is what waits for the output,
    /// and what it has sent into the next buffer as far as credit tells.
    pub struct Ugal {}
}

becalm_schema::choice! {
    /// The law by which a switch chooses among equal ports, when a packet's header is through.
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
        /// By way of a region drawn by lot; torus and dragonfly.
        Valiant(Valiant) = "valiant",
        /// So where that is shorter by queue and hops; torus and dragonfly.
        Ugal(Ugal) = "ugal",
    }
}

impl PathLaw {
    /// Whether equal ports count.
    pub fn chooses(&self) -> bool {
        !matches!(self, PathLaw::Destination(_)) && !self.makes_detours()
    }

    /// Whether packets may go by way of another region.
    pub fn makes_detours(&self) -> bool {
        matches!(self, PathLaw::Valiant(_) | PathLaw::Ugal(_))
    }

    /// The law as the fabric has it.
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
