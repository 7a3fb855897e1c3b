//! The two ends of a flow (a queue pair), and the pacer that one or several senders share.

use std::collections::VecDeque;

use becalm_engine::Time;

use crate::adapter::Ready;
use crate::ids::FlowId;
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

/// Where a pacer stands with its adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing to send, or all windows are closed.
    Idle,
    /// On the adapter's list of pacers that may send.
    Ready,
    /// May send from this time on.
    Paced(Time),
}

/// The unit of congestion control: a response and the pace that it sets, for one flow or for all of a service level.
#[derive(Debug)]
pub(crate) struct Pacer<R> {
    pub host: u32,
    pub standing: Standing,
    pub response: R,
    pub pace: Pace,
    pub flows: Candidates,
    /// When and for how long the last packet was sent.
    last: Option<(Time, Time)>,
    /// A timer event is pending for this time.
    pub timer: Option<Time>,
}

/// The flows of a pacer.
#[derive(Debug)]
pub(crate) enum Candidates {
    /// Its only flow.
    One(FlowId),
    /// Those that have something to send, where it has several.
    Several(Ready),
}

impl<R: Response> Pacer<R> {
    pub fn new(host: u32, flows: Candidates, response: R) -> Pacer<R> {
        Pacer { host, standing: Standing::Idle, pace: response.pace(), response, flows, last: None, timer: None }
    }

    /// When the pace allows the next packet.
    pub fn due(&self) -> Time {
        match self.last {
            Some((start, transmission)) => start + transmission + transmission.scaled(self.pace.gap),
            None => Time::ZERO,
        }
    }

    /// Notes that a packet goes out.
    pub fn sent(&mut self, now: Time, transmission: Time) {
        self.last = Some((now, transmission));
        self.standing = Standing::Idle;
        self.pace = self.response.pace();
    }
}

/// The sending end: what is to be sent.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    pub pacer: u32,
    pub destination: u32,
    pub vl: u8,
    /// Always has a packet to send.
    pub greedy: bool,
    /// On the list of a pacer with several flows.
    pub listed: bool,
    pub in_flight: u32,
    pub packets: u32,
    pub bytes: u64,
    pub acks: u64,
    pub acks_marked: u64,
    posted: VecDeque<Posted>,
    /// Bytes already sent of the first message.
    sent_of_first: u32,
}

impl Sender {
    pub fn new(pacer: u32, destination: u32, vl: u8) -> Sender {
        Sender { pacer, destination, vl, ..Sender::default() }
    }

    pub fn post(&mut self, posted: Posted) {
        self.posted.push_back(posted);
    }

    /// Place of the first message in the order of posting at the host, if there is one.
    pub fn first_order(&self) -> Option<u64> {
        self.posted.front().map(|first| first.order)
    }

    /// Whether there is a packet to send and the window is open.
    pub fn may_send(&self, window: u32) -> bool {
        (self.greedy || !self.posted.is_empty()) && self.in_flight < window
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
    pub fn sent(&mut self, size: u32) {
        self.in_flight += 1;
        self.packets += 1;
        self.bytes += u64::from(size);
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

    #[derive(Debug)]
    struct Thrice;
    impl Response for Thrice {
        fn pace(&self) -> Pace {
            Pace { gap: 3.0, window: 1 }
        }
        fn notice(&mut self, _: Time, _: crate::seam::Notice) {}
    }

    #[test]
    fn cuts_messages_into_packets() {
        let mut sender = Sender::default();
        sender.post(Posted { at: Time(7), order: 0, bytes: 5000, count: 2 });
        let pieces: Vec<_> = (0..6).map(|_| sender.next_piece(Time(9), 2048)).collect();
        let sizes: Vec<_> = pieces.iter().map(|p| (p.payload, p.last)).collect();
        assert_eq!(sizes[..3], [(2048, false), (2048, false), (904, true)]);
        assert_eq!(sizes[3..], sizes[..3]);
        assert!(!sender.may_send(1));
    }

    #[test]
    fn an_empty_message_takes_one_packet() {
        let mut sender = Sender::default();
        sender.post(Posted { at: Time(0), order: 0, bytes: 0, count: 1 });
        assert_eq!(sender.next_piece(Time(0), 2048), Piece { posted: Time(0), payload: 0, last: true });
    }

    #[test]
    fn the_gap_is_a_multiple_of_the_packets_own_time() {
        let mut pacer = Pacer::new(0, Candidates::One(FlowId(0)), Thrice);
        assert_eq!(pacer.due(), Time::ZERO);
        pacer.sent(Time::from_us(10), Time::from_us(2));
        assert_eq!(pacer.due(), Time::from_us(10 + 2 + 6));
    }
}
