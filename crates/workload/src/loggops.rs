//! The time of a program without a network: the LogGOPS model.
//!
//! Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim: simulating large-scale applications in the LogGOPS
//! model", LSAP 2010. A message of `s` bytes occupies the sender's lane for `o + (s-1) O` and the sender's network
//! interface for `g + (s-1) G`. Its first byte arrives at the receiver after `o + L`. There, the message occupies the
//! interface for the same time, and the lane for `o + (s-1) max(O, G)`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use becalm_engine::Time;

use crate::error::ProgramError;
use crate::matching::Arrival;
use crate::operation::Action;
use crate::program::Program;
use crate::rank::{Rank, Surroundings, Turn};

/// The parameters of LogGOPS. Messages above the eager limit must first be converted by
/// [`Program::with_rendezvous`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGops {
    /// L: latency.
    pub latency: Time,
    /// o: overhead of a send and of a receive.
    pub overhead: Time,
    /// O: overhead per byte.
    pub overhead_per_byte: Time,
    /// g: minimum interval between messages at an interface.
    pub gap: Time,
    /// G: time per byte at an interface.
    pub gap_per_byte: Time,
}

impl LogGops {
    /// Parameters with which only computations have a duration.
    pub const FREE: LogGops = LogGops {
        latency: Time::ZERO,
        overhead: Time::ZERO,
        overhead_per_byte: Time::ZERO,
        gap: Time::ZERO,
        gap_per_byte: Time::ZERO,
    };

    /// The defaults of LogGOPSim.
    pub const LOGGOPSIM: LogGops = LogGops {
        latency: Time::from_ns(2500),
        overhead: Time::from_ns(1500),
        overhead_per_byte: Time::ZERO,
        gap: Time::from_ns(1000),
        gap_per_byte: Time::from_ns(6),
    };

    /// The times at which the ranks end.
    ///
    /// # Errors
    /// [`ProgramError::Stuck`] if the program cannot end.
    pub fn ends(&self, program: &Program) -> Result<Vec<Time>, ProgramError> {
        let mut ranks: Vec<Rank> = (0..program.ranks()).map(|rank| Rank::new(program, rank, false)).collect();
        let mut ether = Ether {
            parameters: *self,
            rank: 0,
            free: vec![Time::ZERO; ranks.len()],
            events: BinaryHeap::new(),
            sent: 0,
        };
        for (number, rank) in (0u32..).zip(&mut ranks) {
            ether.rank = number;
            rank.begin(&mut Turn { now: Time::ZERO, program, around: &mut ether });
        }
        while let Some(Reverse((now, _, rank, arrival))) = ether.events.pop() {
            ether.rank = rank;
            let turn = &mut Turn { now, program, around: &mut ether };
            match arrival {
                Some(arrival) => ranks[rank as usize].arrived(arrival, turn),
                None => ranks[rank as usize].wake(turn),
            }
        }
        // A waiting receive is more informative than a message without a receiver.
        let stuck = ranks.iter().filter(|rank| !rank.is_done()).chain(&ranks).find_map(|rank| rank.stuck(program));
        stuck.map_or(Ok(()), |stuck| Err(ProgramError::Stuck(stuck)))?;
        Ok(ranks.iter().map(Rank::ended).collect())
    }
}

impl Program {
    /// Checks that the program ends if all messages arrive without delay. A regular program does.
    ///
    /// # Errors
    /// [`ProgramError::Stuck`] with an operation that does not end.
    pub fn check(&self) -> Result<(), ProgramError> {
        if self.is_regular() { Ok(()) } else { LogGops::FREE.ends(self).map(|_| ()) }
    }
}

/// Time, order, rank, and the arriving message, if any.
type Happening = (Time, u64, u32, Option<Arrival>);

/// The surroundings of all ranks.
struct Ether {
    parameters: LogGops,
    /// The current rank.
    rank: u32,
    /// The time at which each rank's interface is free.
    free: Vec<Time>,
    events: BinaryHeap<Reverse<Happening>>,
    sent: u64,
}

impl Ether {
    fn push(&mut self, at: Time, rank: u32, arrival: Option<Arrival>) {
        self.events.push(Reverse((at, self.sent, rank, arrival)));
        self.sent += 1;
    }
}

impl Surroundings for Ether {
    fn begin(&mut self, now: Time, op: u32, action: &Action) -> (Time, bool) {
        let LogGops { latency, overhead, overhead_per_byte, gap, gap_per_byte } = self.parameters;
        let free = &mut self.free[self.rank as usize];
        match *action {
            Action::Calc { time } => (now + time, false),
            Action::Send { to, bytes, .. } => {
                let (start, rest) = (now.max(*free), bytes.saturating_sub(1));
                *free = start + gap + gap_per_byte * rest;
                let arrival = Arrival { from: self.rank, send: op };
                self.push(start + overhead + latency, to, Some(arrival));
                (start + overhead + overhead_per_byte * rest, true)
            }
            Action::Recv { bytes, .. } => {
                let (start, rest) = (now.max(*free), bytes.saturating_sub(1));
                *free = start + gap + gap_per_byte * rest;
                (start + overhead + overhead_per_byte.max(gap_per_byte) * rest, false)
            }
        }
    }

    fn send(&mut self, _: Time, _: u32) {}

    fn wake(&mut self, at: Time) {
        self.push(at, self.rank, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::operation::When;

    /// A reduction to rank 0 along the tree in which a rank without its highest bit is its parent.
    fn binomial_reduce(ranks: u32, bytes: u64) -> Program {
        let mut builder = Builder::new(ranks);
        for rank in 0..ranks {
            let mut last = None;
            for bit in (0..ranks.ilog2()).rev().map(|k| 1 << k) {
                let op = match rank & bit {
                    0 if rank < bit => builder.recv(rank, rank + bit, bytes, 0),
                    0 => continue,
                    _ => builder.send(rank, rank - bit, bytes, 0),
                };
                if let Some(last) = last.replace(op) {
                    builder.after(op, last, When::Done);
                }
                if rank & bit != 0 {
                    break;
                }
            }
        }
        builder.build().unwrap()
    }

    #[test]
    fn the_reference_vector_of_loggopsim() {
        let ends = LogGops::LOGGOPSIM.ends(&binomial_reduce(8, 1024)).unwrap();
        let ns: Vec<u64> = ends.iter().map(|time| time.0 / 1000).collect();
        assert_eq!(ns, [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]);
    }

    #[test]
    fn a_program_that_cannot_end_is_named() {
        let mut builder = Builder::new(2);
        let wait = builder.recv(1, 0, 64, 3);
        let send = builder.send(1, 0, 64, 4);
        builder.after(send, wait, When::Done);
        builder.recv(0, 1, 64, 4);
        let error = builder.build().unwrap().check().unwrap_err().to_string();
        let expected = "the program cannot end: rank 0, operation 0 (recv 64 B from 1, tag 4) waits for a message that is never sent";
        assert_eq!(error, expected);
        let mut builder = Builder::new(2);
        builder.send(1, 0, 64, 4);
        let error = builder.build().unwrap().check().unwrap_err().to_string();
        assert_eq!(
            error,
            "the program cannot end: rank 1, operation 0 (send 64 B to 0, tag 4) sends a message that is never received"
        );
    }

    #[test]
    fn ranks_that_wait_for_each_other_are_found() {
        let mut builder = Builder::new(2);
        for rank in 0..2 {
            let wait = builder.recv(rank, 1 - rank, 8, 0);
            let send = builder.send(rank, 1 - rank, 8, 0);
            builder.after(send, wait, When::Done);
        }
        assert!(matches!(builder.build().unwrap().check(), Err(ProgramError::Stuck(_))));
    }

    #[test]
    fn lanes_work_side_by_side_and_one_lane_does_not() {
        let program = |lane: u16| {
            let mut builder = Builder::new(1);
            builder.calc(0, Time::from_ns(10));
            let action = Action::Calc { time: Time::from_ns(7) };
            builder.add(0, crate::operation::Op { action, lane, part: Default::default(), port: 0 });
            builder.build().unwrap()
        };
        assert_eq!(LogGops::FREE.ends(&program(0)).unwrap(), [Time::from_ns(17)]);
        assert_eq!(LogGops::FREE.ends(&program(1)).unwrap(), [Time::from_ns(10)]);
    }

    #[test]
    fn rendezvous_waits_for_the_receive() {
        let mut builder = Builder::new(2);
        builder.send(0, 1, 1000, 0);
        let work = builder.calc(1, Time::from_us(100));
        let receive = builder.recv(1, 0, 1000, 0);
        builder.after(receive, work, When::Done);
        let program = builder.build().unwrap();
        let eager = LogGops::LOGGOPSIM.ends(&program).unwrap()[0];
        let polite = LogGops::LOGGOPSIM.ends(&program.with_rendezvous(500).unwrap()).unwrap()[0];
        assert_eq!(eager, Time::from_ns(1500));
        assert!(polite > Time::from_us(100), "{polite}");
    }
}
