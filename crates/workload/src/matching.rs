//! The matching of messages and receives.

use std::collections::VecDeque;

use crate::operation::{Action, Op};
use crate::program::Program;

/// A message at its receiver: the sending rank and the number of its send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// The sending rank.
    pub from: u32,
    /// The number of the send.
    pub send: u32,
}

/// The posted receives of a rank, and the messages that have arrived before their receives.
///
/// A receive matches the first suitable message in the order of arrival. A message matches the first suitable
/// receive in the order of posting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    posted: VecDeque<u32>,
    unexpected: VecDeque<Arrival>,
    /// The first receive that is shorter than its message.
    short: Option<u32>,
}

impl Matching {
    /// Posts a receive. Returns its message, if it has already arrived.
    pub fn post(&mut self, receive: u32, program: &Program) -> Option<Arrival> {
        let op = program.op(receive);
        let place = self.unexpected.iter().position(|arrival| suits(&op, *arrival, program));
        if place.is_none() {
            self.posted.push_back(receive);
        }
        let found = place.and_then(|place| self.unexpected.remove(place));
        if let Some(arrival) = found {
            self.fits(receive, arrival, program);
        }
        found
    }

    /// Records the arrival of a message. Returns its receive, if it is already posted.
    pub fn arrived(&mut self, arrival: Arrival, program: &Program) -> Option<u32> {
        let place = self.posted.iter().position(|&receive| suits(&program.op(receive), arrival, program));
        if place.is_none() {
            self.unexpected.push_back(arrival);
        }
        let found = place.and_then(|place| self.posted.remove(place));
        if let Some(receive) = found {
            self.fits(receive, arrival, program);
        }
        found
    }

    /// Records a receive that is shorter than its message, which is an error in MPI.
    fn fits(&mut self, receive: u32, arrival: Arrival, program: &Program) {
        let bytes = |op: u32| program.op(op).action.bytes();
        if bytes(receive) < bytes(arrival.send) {
            self.short = self.short.or(Some(receive));
        }
    }

    /// The first receive that was shorter than its message.
    pub fn first_short(&self) -> Option<u32> {
        self.short
    }

    /// The first waiting receive.
    pub fn first_posted(&self) -> Option<u32> {
        self.posted.front().copied()
    }

    /// The first message without a receive.
    pub fn first_unexpected(&self) -> Option<Arrival> {
        self.unexpected.front().copied()
    }
}

fn suits(receive: &Op, arrival: Arrival, program: &Program) -> bool {
    let send = program.op(arrival.send);
    let Action::Recv { from, tag, .. } = receive.action else { return false };
    let Action::Send { tag: sent, .. } = send.action else { return false };
    let same = (receive.part, receive.port) == (send.part, send.port);
    same && from.is_none_or(|from| from == arrival.from) && tag.is_none_or(|tag| tag == sent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn the_first_that_suits_is_taken() {
        let mut builder = Builder::new(3);
        builder.send(0, 2, 10, 5);
        builder.send(0, 2, 10, 6);
        builder.send(1, 2, 10, 6);
        builder.recv(2, None, 10, 6);
        builder.recv(2, 0, 10, None);
        builder.recv(2, 0, 10, 6);
        let program = builder.build().unwrap();
        let arrival = |send| Arrival { from: program.id(send).rank, send };
        let mut matching = Matching::default();
        assert_eq!(matching.arrived(arrival(2), &program), None);
        assert_eq!(matching.post(3, &program), Some(arrival(2)));
        assert_eq!(matching.post(5, &program), None);
        assert_eq!(matching.post(4, &program), None);
        assert_eq!(matching.arrived(arrival(0), &program), Some(4), "tag 5 matches only the receive of any tag");
        assert_eq!(matching.first_posted(), Some(5));
        assert_eq!(matching.arrived(arrival(1), &program), Some(5));
        assert_eq!(matching.arrived(arrival(1), &program), None);
        assert_eq!(matching.first_unexpected(), Some(arrival(1)));
    }
}
