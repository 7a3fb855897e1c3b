//! Events of the simulation.

use becalm_engine::{Compact, Key, Time, mix};

use crate::ids::{FlowId, PortId, RankId, SourceId};
use crate::packet::Packet;

/// An event at a node. The node is the key's target, and the port is its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// At a switch, the header has been processed. At a host, the last byte has arrived.
    Arrive(Packet),
    /// Any other event.
    Signal(Word),
}

/// A [`Signal`] as one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub(crate) u64);

/// An event other than an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Credit for a sender that waits.
    Credit {
        /// Virtual lane.
        vl: u8,
    },
    /// The last byte of a packet has left a switch by the port.
    Tail {
        /// Port at which the packet arrived.
        input: u16,
        /// Virtual lane on which the packet arrived.
        vl: u8,
        /// Units of the input buffer that the packet occupied.
        units: u32,
    },
    /// A switch's output for which a packet waits is free.
    Free,
    /// At a switch, a held packet from a slow link may now start on a faster link without a gap. Contains its slot.
    Ready(u32),
    /// At a switch, the last byte of the next waiting packet of the port and lane has arrived.
    Stored {
        /// Virtual lane.
        vl: u8,
    },
    /// An adapter may be able to send.
    Wake,
    /// A source has to post messages or change its state.
    Post(SourceId),
    /// A job's rank has operations to execute.
    Rank(RankId),
    /// The last byte of a job's message has left its adapter.
    Left(FlowId),
    /// The deadline of a response; contains the pacer's number.
    Timer(u32),
    /// At a host, a packet has been drained. Contains the packet's hash.
    Drained(u32),
    /// At a host, a congestion notification packet is ready to be sent. Contains the packet's hash.
    Notify(u32),
    /// The rate of the link at the port changes; contains an index into the list of changes.
    Rate(u32),
    /// A step of a fault at the port; contains its number, see [`crate::faults`].
    Fault(u32),
    /// A switch's watchdog polls its queues.
    Poll,
}

impl Compact for Event {
    #[inline(always)]
    fn signal(&self) -> Option<u64> {
        match *self {
            Event::Arrive(_) => None,
            Event::Signal(Word(word)) => Some(word),
        }
    }

    #[inline(always)]
    fn of(signal: u64) -> Event {
        Event::Signal(Word(signal))
    }
}

impl From<Signal> for Event {
    fn from(signal: Signal) -> Event {
        Event::Signal(signal.into())
    }
}

impl From<Signal> for Word {
    /// The kind is stored in the lowest byte of the word, followed by a lane in 7 bits, a port and a number.
    #[inline(always)]
    fn from(signal: Signal) -> Word {
        let (kind, vl, port, number) = match signal {
            Signal::Credit { vl } => (0, vl, 0, 0),
            Signal::Tail { input, vl, units } => (1, vl, input, units),
            Signal::Free => (2, 0, 0, 0),
            Signal::Ready(place) => (3, 0, 0, place),
            Signal::Stored { vl } => (4, vl, 0, 0),
            Signal::Wake => (5, 0, 0, 0),
            Signal::Post(source) => (6, 0, 0, source.0),
            Signal::Rank(rank) => (7, 0, 0, rank.0),
            Signal::Left(flow) => (8, 0, 0, flow.0),
            Signal::Timer(pacer) => (9, 0, 0, pacer),
            Signal::Drained(tie) => (10, 0, 0, tie),
            Signal::Rate(change) => (11, 0, 0, change),
            Signal::Notify(tie) => (12, 0, 0, tie),
            Signal::Fault(number) => (13, 0, 0, number),
            Signal::Poll => (14, 0, 0, 0),
        };
        let (vl, port, number) = (u64::from(vl) << 8, u64::from(port) << 15, u64::from(number) << 31);
        Word(kind | vl | port | number)
    }
}

impl Word {
    /// The signal.
    #[inline(always)]
    pub fn signal(self) -> Signal {
        let (vl, port, number) = ((self.0 >> 8) as u8 & 0x7F, (self.0 >> 15) as u16, (self.0 >> 31) as u32);
        match self.0 as u8 {
            0 => Signal::Credit { vl },
            1 => Signal::Tail { input: port, vl, units: number },
            2 => Signal::Free,
            3 => Signal::Ready(number),
            4 => Signal::Stored { vl },
            5 => Signal::Wake,
            6 => Signal::Post(SourceId(number)),
            7 => Signal::Rank(RankId(number)),
            8 => Signal::Left(FlowId(number)),
            9 => Signal::Timer(number),
            10 => Signal::Drained(number),
            11 => Signal::Rate(number),
            12 => Signal::Notify(number),
            13 => Signal::Fault(number),
            _ => Signal::Poll,
        }
    }
}

impl Signal {
    /// Rank of arrivals among simultaneous events.
    pub(crate) const ARRIVE: u8 = 2;

    /// Tie-breaker of polls. Those of changes and faults follow, so that no two events at a port have the same rank.
    pub(crate) const POLL: u64 = 0;
    /// Tie-breaker of changes of a rate: a link has one at a time.
    pub(crate) const RATE: u64 = 1;
    /// The first tie-breaker of steps of faults.
    pub(crate) const FAULT: u64 = 2;

    /// Rank of the kind among simultaneous events at a node. Events that free resources come first.
    pub(crate) const fn kind(self) -> u8 {
        match self {
            Signal::Credit { .. } => 0,
            Signal::Tail { .. } | Signal::Free => 1,
            Signal::Ready(_) | Signal::Stored { .. } | Signal::Drained(_) => Signal::ARRIVE,
            Signal::Timer(_) => 3,
            Signal::Post(_) | Signal::Rank(_) | Signal::Left(_) | Signal::Notify(_) => 4,
            Signal::Wake => 5,
            Signal::Rate(_) | Signal::Fault(_) | Signal::Poll => 6,
        }
    }

    /// The signal that delivers credit to a waiting sender, with its time and rank. A hash orders
    /// simultaneous signals, because the first of several outputs has the first choice of shared inputs.
    #[inline]
    pub(crate) fn credit(time: Time, sender: PortId, vl: u8) -> (Time, Key, Signal) {
        let signal = Signal::Credit { vl };
        let tie = mix(time.0, u64::from(sender.port)) << 4 | u64::from(vl);
        (time, Key::new(sender.node.0, signal.kind(), tie, sender.port), signal)
    }
}

const _: () = assert!(size_of::<Event>() == size_of::<Packet>());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_every_signal() {
        let (vl, input, number) = (15, u16::MAX, u32::MAX);
        let all = [
            Signal::Credit { vl },
            Signal::Tail { input, vl, units: number },
            Signal::Free,
            Signal::Ready(number),
            Signal::Stored { vl },
            Signal::Wake,
            Signal::Post(SourceId(number)),
            Signal::Rank(RankId(number)),
            Signal::Left(FlowId(number)),
            Signal::Timer(number),
            Signal::Drained(number),
            Signal::Rate(number),
            Signal::Notify(number),
            Signal::Fault(number),
            Signal::Poll,
        ];
        for signal in all {
            let word = Word::from(signal);
            assert_eq!((word.signal(), word.0 >> 63), (signal, 0));
        }
    }
}
