//! Events of the simulation.

use becalm_engine::{Key, Time, mix};

use crate::ids::{FlowId, PortId, RankId, SourceId};
use crate::packet::Packet;

/// An event at a node; the node is the key's target, the port its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Credit for a sender that waits for it.
    Credit {
        /// Virtual lane.
        vl: u8,
    },
    /// The last byte of a packet has left a switch by the port.
    Tail {
        /// The port by which it came in.
        input: u16,
        /// Its virtual lane.
        vl: u8,
        /// Units of the input buffer that it took.
        units: u32,
    },
    /// An output of a switch is free again, for which a packet waits.
    Free,
    /// At a switch: the header is through and the output known. At a host: the last byte is in.
    Arrive(Packet),
    /// At a switch: a packet from a slow link may start on a faster one without running dry; its
    /// place among those that the switch holds.
    Ready(u32),
    /// At a switch: the last byte is in of the next packet of the port and lane that had to wait.
    Stored {
        /// Virtual lane.
        vl: u8,
    },
    /// An adapter may be able to send.
    Wake,
    /// A source has to post or to change.
    Post(SourceId),
    /// A rank of a job has something to do.
    Rank(RankId),
    /// The last byte of a message of a job has left its adapter.
    Left(FlowId),
    /// The deadline of a response; the number of its pacer.
    Timer(u32),
    /// At a host: a packet has been drained; its place among those that the host drains.
    Drained(u32),
    /// The link behind the port gets another rate; its place in the list of changes.
    Rate(u32),
}

impl Event {
    /// The rank of arrivals.
    pub(crate) const ARRIVE: u8 = 2;

    /// Rank of the kind among events of the same time and node: events that free resources come first.
    pub(crate) const fn kind(self) -> u8 {
        match self {
            Event::Credit { .. } => 0,
            Event::Tail { .. } | Event::Free => 1,
            Event::Arrive(_) | Event::Ready(_) | Event::Stored { .. } | Event::Drained(_) => Event::ARRIVE,
            Event::Timer(_) => 3,
            Event::Post(_) | Event::Rank(_) | Event::Left(_) => 4,
            Event::Wake => 5,
            Event::Rate(_) => 6,
        }
    }

    /// The event that brings credit to a waiting sender, with its time and rank. A hash decides among ports: where
    /// outputs share inputs, the first has the first choice.
    #[inline]
    pub(crate) fn credit(time: Time, sender: PortId, vl: u8) -> (Time, Key, Event) {
        let event = Event::Credit { vl };
        let tie = mix(time.0, u64::from(sender.port)) << 4 | u64::from(vl);
        (time, Key::new(sender.node.0, event.kind(), tie, sender.port), event)
    }
}

const _: () = assert!(size_of::<Event>() == size_of::<Packet>());
