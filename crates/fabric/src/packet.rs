//! Packets, and the arena that holds them on links and at hosts.

use becalm_engine::{Time, mix};

use crate::ids::{FlowId, PacketId};

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A segment of a message.
    Data,
    /// An acknowledgement of a data packet and all before it.
    Ack,
    /// A congestion notification packet.
    Cnp,
}

/// A packet. It fills one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Packet {
    /// Time at which its message was posted; for a flow that always has data, when the message's first packet was injected.
    /// Of an ACK or a CNP: time at which it was queued.
    pub posted: Time,
    /// Time at which its header left the source. Of an ACK: that of the last packet that it covers.
    pub injected: Time,
    /// The flow it belongs to; an ACK or a CNP belongs to the flow it answers.
    pub flow: FlowId,
    /// The host it goes to: its rank among the hosts of the topology.
    pub destination: u32,
    /// Number of the packet within its flow and kind, from 0.
    pub sequence: u32,
    /// Size on the wire in bytes, headers included.
    pub size: u32,
    /// Payload in bytes; 0 for an ACK or a CNP.
    pub payload: u32,
    /// Nanoseconds that the receiver held it, and, of an ACK, the packet that it answers.
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
    /// On an ACK: the data packets that it covers.
    pub covers: u16,
    /// On an ACK: the marked packets that it reports. On a CNP: 1.
    pub marks: u16,
    /// At the switch where it is: the port it came in by.
    pub input: u16,
    /// At the switch where it is: the port it leaves by.
    pub output: u16,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// Whether it reports congestion to the source (BECN).
    #[inline]
    pub fn becn(&self) -> bool {
        self.marks > 0
    }

    /// Adds time that the receiver has held it.
    pub(crate) fn hold(&mut self, time: Time) {
        self.held = self.held.saturating_add((time.0 / 1000).min(u64::from(u32::MAX)) as u32);
    }
}

/// The hash that decides between packets that reach a switch at the same time.
pub(crate) fn tie(seed: u64, flow: FlowId, kind: Kind, sequence: u32) -> u32 {
    mix(mix(seed, u64::from(flow.0) << 2 | kind as u64), u64::from(sequence)) as u32
}

/// Packets on links and at hosts; freed places are used again.
#[derive(Debug, Default)]
pub struct PacketArena {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl PacketArena {
    /// Stores a packet.
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.packets[id.index()] = packet;
                id
            }
            None => {
                self.packets.push(packet);
                PacketId(self.packets.len() as u32 - 1)
            }
        }
    }

    /// Frees a packet's place and returns it.
    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.packets[id.index()]
    }

    /// Takes over the packets of another arena; returns the number to add to theirs.
    pub(crate) fn join(&mut self, other: PacketArena) -> u32 {
        let offset = self.packets.len() as u32;
        self.packets.extend(other.packets);
        self.free.extend(other.free.into_iter().map(|id| id.moved_by(offset)));
        offset
    }

    /// Packets that are stored now.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Whether no packet is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::ops::Index<PacketId> for PacketArena {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id.index()]
    }
}

impl std::ops::IndexMut<PacketId> for PacketArena {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index()]
    }
}
