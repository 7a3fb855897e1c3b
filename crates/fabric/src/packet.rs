//! Packets.

use becalm_engine::{Time, mix};

use crate::ids::FlowId;

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A segment of a message.
    #[default]
    Data,
    /// An acknowledgement of a data packet and of others that arrived before it.
    Ack,
    /// A congestion notification packet.
    Cnp,
}

/// A packet. With the time and the rank of an event it fills one cache line.
// The order of the fields is that of memory: the number and the flow of a packet are read as one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    /// Time at which its message was posted; for a flow that always has data, when the message's first packet was injected.
    /// Of an ACK or a CNP: time at which it was queued.
    pub posted: Time,
    /// Time at which its header left the source. Of an ACK: that of the packet that it answers, of the first where ACKs have
    /// merged.
    pub injected: Time,
    /// Number of the packet within its flow and kind, from 0.
    pub sequence: u32,
    /// The flow it belongs to; an ACK or a CNP belongs to the flow it answers.
    pub flow: FlowId,
    /// The host it goes to: its rank among the hosts of the topology.
    pub destination: u32,
    /// Size on the wire in bytes, headers included.
    pub size: u32,
    /// Nanoseconds that the receiver held it, and, of an ACK, the packet that it answers. Of a packet with a trail: the
    /// place of its trail, which has them instead.
    pub held: u32,
    /// Seeded hash of (flow, kind, sequence): decides between packets that arrive at the same time.
    pub tie: u32,
    /// Data, ACK or CNP.
    pub kind: Kind,
    /// The virtual lane it travels on.
    pub vl: u8,
    /// Whether this is the last packet of its message.
    pub last: bool,
    /// Set by a switch that sees congestion (ECN, FECN).
    pub marked: bool,
    /// On an ACK: the data packets that it covers. On a data packet that makes a detour: one more than the region that it goes
    /// to, until it has got there.
    pub covers: u16,
    /// On an ACK: the marked packets that it reports. On a CNP: 1.
    pub marks: u16,
}

const _: () = assert!(size_of::<Packet>() == 48);

/// The bit of [`Packet::held`] that marks the other bits as the place of a trail.
const TRAIL: u32 = 1 << 31;

impl Packet {
    /// Whether it reports congestion to the source (BECN).
    #[inline]
    pub fn becn(&self) -> bool {
        self.marks > 0
    }

    /// The region that it goes to first, if it makes a detour and has not got there.
    #[inline]
    pub(crate) fn via(&self) -> Option<u32> {
        (self.kind == Kind::Data && self.covers > 0).then(|| u32::from(self.covers) - 1)
    }

    /// Sends a data packet to a region first, or straight on.
    pub(crate) fn set_via(&mut self, region: Option<u32>) {
        self.covers = region.map_or(0, |region| region as u16 + 1);
    }

    /// Takes in a later ACK of the same flow, so that it says what both say; returns whether it can. Its times remain those
    /// of the packet that it has answered first.
    pub(crate) fn absorb(&mut self, later: &Packet) -> bool {
        let acks = self.kind == Kind::Ack && later.kind == Kind::Ack && self.flow == later.flow;
        if !acks || self.trail().is_some() || later.trail().is_some() {
            return false;
        }
        let Some(covers) = self.covers.checked_add(later.covers) else { return false };
        (self.covers, self.marks) = (covers, self.marks.saturating_add(later.marks));
        // Whether it acknowledges the end of a message.
        self.last |= later.last;
        if later.sequence > self.sequence {
            (self.sequence, self.tie) = (later.sequence, later.tie);
        }
        true
    }

    /// Whether switches record its path.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.held & TRAIL != 0 && self.kind == Kind::Data
    }

    /// The place of its trail, if it has one.
    #[inline]
    pub(crate) fn trail(&self) -> Option<u32> {
        (self.held & TRAIL != 0).then_some(self.held & !TRAIL)
    }

    /// Gives it a trail at this place.
    pub(crate) fn set_trail(&mut self, place: u32) {
        assert!(place < TRAIL, "a place for each of 2^31 trails");
        self.held = place | TRAIL;
    }

    /// Moves its trail, if it has one, by this many places.
    pub(crate) fn move_trail(&mut self, places: u32) {
        if let Some(place) = self.trail() {
            self.set_trail(place + places);
        }
    }

    /// Adds time that the receiver has held it, if it has no trail.
    pub(crate) fn hold(&mut self, time: Time) {
        self.held = held_for(self.held, time);
    }
}

/// The time that a packet has been held, in nanoseconds, after it has been held for this much longer.
pub(crate) fn held_for(held: u32, time: Time) -> u32 {
    (u64::from(held) + time.0 / 1000).min(u64::from(TRAIL - 1)) as u32
}

/// The hash of a flow's packets of a kind, from which that of each follows.
pub(crate) fn common_tie(seed: u64, flow: FlowId, kind: Kind) -> u64 {
    mix(seed, u64::from(flow.0) << 2 | kind as u64)
}

/// The hash that decides between packets that reach a switch at the same time.
#[inline]
pub(crate) fn tie(common: u64, sequence: u32) -> u32 {
    mix(common, u64::from(sequence)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_takes_in_later_ones_of_its_flow() {
        let ack = |sequence, covers, marks| Packet {
            kind: Kind::Ack,
            sequence,
            covers,
            marks,
            injected: Time(u64::from(sequence)),
            tie: sequence + 50,
            ..Packet::default()
        };
        let mut waiting = ack(7, 2, 1);
        assert!(waiting.absorb(&Packet { last: true, ..ack(9, 3, 0) }));
        let merged = Packet { covers: 5, sequence: 9, tie: 59, last: true, ..ack(7, 2, 1) };
        assert_eq!(waiting, merged, "the times of the first, the end of a message");
        assert!(waiting.absorb(&ack(8, 1, 1)), "one that was overtaken");
        assert_eq!((waiting.sequence, waiting.covers, waiting.marks), (9, 6, 2));
        let before = waiting;
        let mut recorded = ack(10, 1, 0);
        recorded.set_trail(3);
        let others = [
            Packet { flow: FlowId(1), ..ack(10, 1, 0) },
            Packet { kind: Kind::Cnp, ..ack(10, 0, 1) },
            ack(10, u16::MAX, 0),
            recorded,
        ];
        assert!(others.iter().all(|other| !waiting.absorb(other)));
        assert_eq!(waiting, before);
    }
}
