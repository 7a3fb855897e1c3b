//! The two ends of a flow (a queue pair).

use std::collections::VecDeque;

use becalm_engine::Time;

use crate::config::FlowSpec;
use crate::seam::{Pace, Response};

/// Messages of the same size, posted together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub at: Time,
    /// Number in the order of posting at the host.
    pub order: u64,
    pub bytes: u32,
    pub count: u32,
}

/// The next piece of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub posted: Time,
    pub payload: u32,
    pub last: bool,
}

/// Where a flow stands with its adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing to send, or the window is closed.
    Idle,
    /// On the adapter's list of flows that may send.
    Ready,
    /// May send from this time on.
    Paced(Time),
}

/// The sending end: what is to be sent, and the pace.
#[derive(Debug)]
pub(crate) struct Sender<R> {
    pub host: u32,
    pub destination: u32,
    pub vl: u8,
    pub standing: Standing,
    /// Always has a packet to send.
    pub greedy: bool,
    pub response: R,
    pub pace: Pace,
    pub in_flight: u32,
    pub packets: u32,
    pub bytes: u64,
    pub acks: u64,
    pub acks_marked: u64,
    posted: VecDeque<Posted>,
    /// Bytes already sent of the first message.
    sent_of_first: u32,
    /// When and for how long the last packet was sent.
    last: Option<(Time, Time)>,
    /// A [`Event::Timer`](crate::event::Event::Timer) is pending for this time.
    pub timer: Option<Time>,
}

impl<R: Response> Sender<R> {
    pub fn new(host: u32, destination: u32, spec: FlowSpec<R>) -> Sender<R> {
        Sender {
            host,
            destination,
            vl: spec.vl,
            standing: Standing::Idle,
            greedy: false,
            pace: spec.response.pace(),
            response: spec.response,
            in_flight: 0,
            packets: 0,
            bytes: 0,
            acks: 0,
            acks_marked: 0,
            posted: VecDeque::new(),
            sent_of_first: 0,
            last: None,
            timer: None,
        }
    }

    pub fn post(&mut self, posted: Posted) {
        self.posted.push_back(posted);
    }

    /// Place of the first message in the order of posting at the host, if there is one.
    pub fn first_order(&self) -> Option<u64> {
        self.posted.front().map(|first| first.order)
    }

    /// Whether there is a packet to send and the window is open.
    pub fn may_send(&self) -> bool {
        (self.greedy || !self.posted.is_empty()) && self.in_flight < self.pace.window
    }

    /// When the pace allows the next packet.
    pub fn due(&self) -> Time {
        match self.last {
            Some((start, transmission)) => start + transmission + transmission.scaled(self.pace.gap),
            None => Time::ZERO,
        }
    }

    /// Takes the next piece of the first message; posted messages go before greedy data.
    pub fn next_piece(&mut self, now: Time, mtu: u32) -> Piece {
        let Some(first) = self.posted.front_mut() else {
            return Piece { posted: now, payload: mtu, last: true };
        };
        let rest = first.bytes - self.sent_of_first;
        let piece = Piece { posted: first.at, payload: rest.min(mtu), last: rest <= mtu };
        if !piece.last {
            self.sent_of_first += mtu;
            return piece;
        }
        self.sent_of_first = 0;
        first.count -= 1;
        if first.count == 0 {
            self.posted.pop_front();
        }
        piece
    }

    /// Notes that a packet goes out.
    pub fn sent(&mut self, now: Time, size: u32, transmission: Time) {
        self.in_flight += 1;
        self.packets += 1;
        self.bytes += u64::from(size);
        self.last = Some((now, transmission));
    }
}

/// The receiving end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// Packets that have arrived; also the sequence number expected next.
    pub packets: u32,
    pub bytes: u64,
    pub payload: u64,
    pub marked: u64,
    pub messages: u64,
    /// Packets that arrived out of order: always zero unless the model is broken.
    pub disordered: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;

    #[derive(Debug)]
    struct Free;
    impl Response for Free {
        fn pace(&self) -> Pace {
            Pace { gap: 3.0, window: 1 }
        }
        fn notice(&mut self, _: Time, _: crate::seam::Notice) {}
    }

    fn sender() -> Sender<Free> {
        Sender::new(0, 1, FlowSpec { source: NodeId(0), destination: NodeId(1), vl: 0, response: Free })
    }

    #[test]
    fn cuts_messages_into_packets() {
        let mut sender = sender();
        sender.post(Posted { at: Time(7), order: 0, bytes: 5000, count: 2 });
        let pieces: Vec<_> = (0..6).map(|_| sender.next_piece(Time(9), 2048)).collect();
        let sizes: Vec<_> = pieces.iter().map(|p| (p.payload, p.last)).collect();
        assert_eq!(sizes[..3], [(2048, false), (2048, false), (904, true)]);
        assert_eq!(sizes[3..], sizes[..3]);
        assert!(!sender.may_send());
    }

    #[test]
    fn an_empty_message_takes_one_packet() {
        let mut sender = sender();
        sender.post(Posted { at: Time(0), order: 0, bytes: 0, count: 1 });
        assert_eq!(sender.next_piece(Time(0), 2048), Piece { posted: Time(0), payload: 0, last: true });
    }

    #[test]
    fn the_gap_is_a_multiple_of_the_packets_own_time() {
        let mut sender = sender();
        assert_eq!(sender.due(), Time::ZERO);
        sender.sent(Time::from_us(10), 2068, Time::from_us(2));
        assert_eq!(sender.due(), Time::from_us(10 + 2 + 6));
    }
}
