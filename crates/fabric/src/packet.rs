//! Packets.

use becalm_engine::{Time, mix};

use crate::ids::FlowId;
use crate::train::Train;

/// The kind of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A segment of a message.
    #[default]
    Data,
    /// An acknowledgement of a data packet, and possibly of earlier ones.
    Ack,
    /// A congestion notification packet.
    Cnp,
}

/// A packet. With an event's time and rank, it fills one cache line.
// The order of fields is their order in memory: a packet's number and flow are read as one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    /// Time at which its message was posted. For a flow that always has data, the injection time of the
    /// message's first packet. For an ACK or a CNP, the time at which it was queued.
    pub posted: Time,
    /// Time at which the packet's header left the source. For an ACK, the answered packet's; for merged ACKs,
    /// the first answered packet's.
    pub injected: Time,
    /// Number of the packet within its flow and kind, starting at 0; of a train of data packets, of the first.
    pub sequence: u32,
    /// The packet's flow. An ACK or a CNP belongs to the flow that it answers.
    pub flow: FlowId,
    /// Rank of the destination among the hosts of the topology.
    pub destination: u32,
    /// Size on the wire in bytes, including headers.
    pub size: u32,
    /// Nanoseconds for which the receiver held the packet; for an ACK, including those of the answered
    /// packet. For a packet with a trail, the trail's index; the trail stores the time instead.
    pub held: u32,
    /// Seeded hash of (flow, kind, sequence), which orders packets that arrive at the same time.
    pub tie: u32,
    /// Data, ACK or CNP.
    pub kind: Kind,
    /// Virtual lane of the packet.
    pub vl: u8,
    /// The packets that it stands for, and whether the last of them ends its message.
    pub train: Train,
    /// Set by a switch that detects congestion (ECN, FECN).
    pub marked: bool,
    /// On an ACK, the number of data packets that it acknowledges. On a data packet making a detour, the
    /// number of the region plus 1 until it arrives there. On a train of data packets, which makes no detours, one bit for
    /// each marked packet, the lowest for the first.
    pub covers: u16,
    /// On an ACK, the number of marked packets that it reports. On a CNP, 1. On a data packet, its entropy value and, in
    /// the highest bit, whether it requests an ACK.
    pub marks: u16,
}

const _: () = assert!(size_of::<Packet>() == 48);

/// The bit of [`Packet::held`] that indicates that the other bits hold a trail's index.
const TRAIL: u32 = 1 << 31;

/// The bit of a data packet's [`Packet::marks`] that requests an ACK.
const REQUEST: u16 = 1 << 15;

impl Packet {
    /// Whether the packet reports congestion to the source (BECN).
    #[inline]
    pub fn becn(&self) -> bool {
        self.marks > 0 && self.kind != Kind::Data
    }

    /// The region that the packet is heading for, if it is making a detour and has not arrived there.
    #[inline]
    pub(crate) fn via(&self) -> Option<u32> {
        (self.kind == Kind::Data && self.covers > 0 && self.train.is_single()).then(|| u32::from(self.covers) - 1)
    }

    /// Directs a data packet to a region first, or straight to its destination.
    pub(crate) fn set_via(&mut self, region: Option<u32>) {
        self.covers = region.map_or(0, |region| region as u16 + 1);
    }

    /// Whether a data packet requests an ACK, because it fills its flow's window. Set only for echoes that
    /// [hear requests](crate::policy::Echo::hears_requests).
    #[inline]
    pub fn requests_ack(&self) -> bool {
        self.kind == Kind::Data && self.marks & REQUEST != 0
    }

    /// Lets a data packet request an ACK.
    pub fn request_ack(&mut self) {
        self.marks |= REQUEST;
    }

    /// The entropy value of a data packet.
    pub(crate) fn entropy(&self) -> u16 {
        self.marks & !REQUEST
    }

    /// Sets the entropy value of a data packet, which is below 32,768.
    pub(crate) fn set_entropy(&mut self, value: u16) {
        self.marks = self.marks & REQUEST | value;
    }

    /// Merges a later ACK of the same flow into this one; returns whether this is possible. The merged ACK
    /// keeps the times of the first.
    pub(crate) fn absorb(&mut self, later: &Packet) -> bool {
        let acks = self.kind == Kind::Ack && later.kind == Kind::Ack && self.flow == later.flow;
        if !acks || self.trail().is_some() || later.trail().is_some() {
            return false;
        }
        let Some(covers) = self.covers.checked_add(later.covers) else { return false };
        (self.covers, self.marks) = (covers, self.marks.saturating_add(later.marks));
        self.train = self.train.ending_with(later.train);
        if later.sequence > self.sequence {
            (self.sequence, self.tie) = (later.sequence, later.tie);
        }
        true
    }

    /// Whether switches record the packet's path.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.held & TRAIL != 0 && self.kind == Kind::Data
    }

    /// The index of the packet's trail, if it has one.
    #[inline]
    pub(crate) fn trail(&self) -> Option<u32> {
        (self.held & TRAIL != 0).then_some(self.held & !TRAIL)
    }

    /// Attaches the trail at this index.
    pub(crate) fn set_trail(&mut self, place: u32) {
        assert!(place < TRAIL, "there are at most 2^31 trails");
        self.held = place | TRAIL;
    }

    /// Increases the index of the packet's trail, if it has one, by `places`.
    pub(crate) fn move_trail(&mut self, places: u32) {
        if let Some(place) = self.trail() {
            self.set_trail(place + places);
        }
    }

    /// Adds time for which the receiver held the packet, if it has no trail.
    pub(crate) fn hold(&mut self, time: Time) {
        self.held = held_for(self.held, time);
    }
}

/// Updates a holding time in nanoseconds by adding `time`.
pub(crate) fn held_for(held: u32, time: Time) -> u32 {
    (u64::from(held) + time.0 / 1000).min(u64::from(TRAIL - 1)) as u32
}

/// The hash that a flow's packets of one kind share, from which each packet's hash is derived.
pub(crate) fn common_tie(seed: u64, flow: FlowId, kind: Kind) -> u64 {
    mix(seed, u64::from(flow.0) << 2 | kind as u64)
}

/// The hash that orders packets that reach a switch at the same time.
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
        assert!(waiting.absorb(&Packet { train: Train::LAST, ..ack(9, 3, 0) }));
        let merged = Packet { covers: 5, sequence: 9, tie: 59, train: Train::LAST, ..ack(7, 2, 1) };
        assert_eq!(waiting, merged, "the first ACK's times, and the end of a message");
        assert!(waiting.absorb(&ack(8, 1, 1)), "an overtaken ACK");
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
