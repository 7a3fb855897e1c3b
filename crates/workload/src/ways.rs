//! The ways of messages between ranks with several ports: one port, a share over each port, or through another rank.
//!
//! Source of forwarding: PXN of NCCL 2.12. A message to a GPU of another rail first crosses NVLink to the GPU of its node
//! that is on this rail, which sends it on by its own NIC.

use std::collections::HashMap;

use crate::builder::Builder;
use crate::error::ProgramError;
use crate::operation::{Action, Channel, Op, OpId, Part, When};
use crate::program::Program;

/// The way of the messages from one rank to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The rank that forwards the messages, if they do not go directly.
    pub via: Option<u32>,
    /// Ports that carry equal shares of every message: of the sending rank or, behind a forwarding rank, of that rank.
    pub ports: Vec<u8>,
}

impl Way {
    /// The only way between ranks with one port.
    pub fn direct() -> Way {
        Way { via: None, ports: vec![0] }
    }
}

/// The ways of all messages.
pub trait Ways {
    /// The way from one rank to another.
    fn way(&self, from: u32, to: u32) -> Way;

    /// Whether there is no other way than the direct one, whatever a law has chosen.
    fn is_direct(&self, from: u32, to: u32) -> bool {
        self.way(from, to) == Way::direct()
    }

    /// Size of the largest piece that is forwarded before the next arrives, in bytes.
    fn piece(&self) -> u64;
}

/// A message that a rank forwards.
struct Relay {
    /// The ranks that send, forward and receive it.
    ranks: [u32; 3],
    bytes: u64,
    tag: u32,
}

/// The new operations in place of one, all of which start and end together.
type Group = Vec<OpId>;

struct Lowering<'a, W> {
    program: &'a Program,
    ways: &'a W,
    builder: Builder,
    relays: Vec<Relay>,
    /// Tags of forwarded messages, by sender, receiver, tag and part.
    tags: HashMap<(u32, u32, u32, Part), u32>,
}

impl Program {
    /// The same program with the messages on these ways. A rank forwards a message on a lane of its own, piece by
    /// piece, without work of its other operations.
    ///
    /// # Errors
    /// [`ProgramError::AnyWay`] if a receive does not name its source and tag, and its message may take several ways.
    /// [`ProgramError::TooManyToList`].
    pub fn with_ways(self, ways: &impl Ways) -> Result<Program, ProgramError> {
        let is_direct = |&(from, to, _): &Channel| ways.is_direct(from, to);
        if (0..self.ranks()).all(|rank| self.channels_of(rank).iter().all(is_direct)) {
            return Ok(self);
        }
        self.check_listed()?;
        let builder = Builder::new(self.ranks());
        let mut lowering = Lowering { program: &self, ways, builder, relays: Vec::new(), tags: HashMap::new() };
        for rank in 0..self.ranks() {
            lowering.rank(rank)?;
        }
        lowering.forward();
        lowering.builder.build()
    }
}

impl<W: Ways> Lowering<'_, W> {
    fn rank(&mut self, rank: u32) -> Result<(), ProgramError> {
        let groups: Vec<Group> = self.program.of_rank(rank).map(|number| self.op(number)).collect::<Result<_, _>>()?;
        let first = self.program.of_rank(rank).start;
        for (number, group) in self.program.of_rank(rank).zip(&groups) {
            for (waits, when) in self.program.waiting(number) {
                for &waits in &groups[(waits - first) as usize] {
                    group.iter().for_each(|&earlier| self.builder.after(waits, earlier, when));
                }
            }
        }
        Ok(())
    }

    fn op(&mut self, number: u32) -> Result<Group, ProgramError> {
        let (op, OpId { rank, op: place }) = (self.program.op(number), self.program.id(number));
        let (other, way, bytes, tag) = match op.action {
            Action::Calc { .. } => return Ok(vec![self.builder.add(rank, op)]),
            Action::Send { to, bytes, tag } => (to, self.ways.way(rank, to), bytes, Some(tag)),
            Action::Recv { from: Some(from), bytes, tag } => (from, self.ways.way(from, rank), bytes, tag),
            Action::Recv { from: None, .. } => {
                let what = op.action.to_string();
                return Err(ProgramError::AnyWay { rank, op: place, what });
            }
        };
        let Some(via) = way.via else { return Ok(self.shares(rank, op, &way.ports)) };
        let Some(tag) = tag else {
            return Err(ProgramError::AnyWay { rank, op: place, what: op.action.to_string() });
        };
        let sends = matches!(op.action, Action::Send { .. });
        let (from, to) = if sends { (rank, other) } else { (other, rank) };
        let next = self.tags.len() as u32;
        let tag = *self.tags.entry((from, to, tag, op.part)).or_insert(next);
        let mut group = Group::new();
        for bytes in pieces(bytes, self.ways.piece()) {
            if sends {
                self.relays.push(Relay { ranks: [from, via, to], bytes, tag });
                let action = Action::Send { to: via, bytes, tag };
                let ports = self.ways.way(from, via).ports;
                group.extend(self.shares(rank, Op { action, part: Part::Relayed, ..op }, &ports));
            } else {
                let action = Action::Recv { from: Some(via), bytes, tag: Some(tag) };
                group.extend(self.shares(rank, Op { action, part: Part::Relayed, ..op }, &way.ports));
            }
        }
        Ok(group)
    }

    /// Adds an operation for each port's share of a message.
    fn shares(&mut self, rank: u32, op: Op, ports: &[u8]) -> Group {
        let count = ports.len() as u64;
        let of = |bytes: u64, i: u64| {
            let end = |i: u64| (u128::from(bytes) * u128::from(i) / u128::from(count)) as u64;
            end(i + 1) - end(i)
        };
        let share = |(i, &port): (u64, &u8)| {
            let action = match op.action {
                Action::Send { to, bytes, tag } => Action::Send { to, bytes: of(bytes, i), tag },
                Action::Recv { from, bytes, tag } => Action::Recv { from, bytes: of(bytes, i), tag },
                calc @ Action::Calc { .. } => calc,
            };
            self.builder.add(rank, Op { action, port, ..op })
        };
        (0..).zip(ports).map(share).collect()
    }

    /// Adds the operations that forward messages. Of the messages from one rank, each is expected after the one before.
    fn forward(&mut self) {
        let lane = self.program.lanes();
        let mut last: HashMap<(u32, u32), Group> = HashMap::new();
        for Relay { ranks: [from, via, to], bytes, tag } in std::mem::take(&mut self.relays) {
            let op = |action| Op { action, lane, part: Part::Relayed, port: 0 };
            let recv = op(Action::Recv { from: Some(from), bytes, tag: Some(tag) });
            let received = self.shares(via, recv, &self.ways.way(from, via).ports);
            let before = last.insert((via, from), received.clone()).unwrap_or_default();
            self.all_after(&received, &before);
            let sent = self.shares(via, op(Action::Send { to, bytes, tag }), &self.ways.way(from, to).ports);
            self.all_after(&sent, &received);
        }
    }

    fn all_after(&mut self, later: &[OpId], earlier: &[OpId]) {
        for &op in later {
            earlier.iter().for_each(|&before| self.builder.after(op, before, When::Done));
        }
    }
}

/// The pieces of a message; one for an empty message.
fn pieces(bytes: u64, piece: u64) -> impl Iterator<Item = u64> {
    let count = bytes.div_ceil(piece).max(1);
    (0..count).map(move |i| if i + 1 < count { piece } else { bytes - piece * (count - 1) })
}

#[cfg(test)]
mod tests {
    use becalm_engine::Time;

    use super::*;
    use crate::LogGops;
    use crate::collectives::{AllToAll, Collective, Repetition};

    /// Nodes of two ranks, each on its own rail.
    struct Rails {
        ports: u8,
    }

    impl Ways for Rails {
        fn way(&self, from: u32, to: u32) -> Way {
            let via = from / 2 * 2 + to % 2;
            Way { via: (from / 2 != to / 2 && via != from).then_some(via), ports: (0..self.ports).collect() }
        }

        fn piece(&self) -> u64 {
            1000
        }
    }

    fn exchange(ports: u8) -> (Program, Program) {
        let once = Repetition { times: 2, compute: Time::ZERO, reduction_per_byte: 0.0 };
        let program = Collective::AllToAll(AllToAll::Linear, 6 * 2500).program(6, &once).unwrap();
        (program.clone(), program.with_ways(&Rails { ports }).unwrap())
    }

    #[test]
    fn messages_to_other_rails_cross_the_node_first() {
        let (before, after) = exchange(1);
        after.check().unwrap();
        let rail = |program: &Program, from: u32, to: u32| program.bytes(from, to);
        // Rank 0 reaches ranks 3 and 5 through rank 1, twice each, and forwards what rank 1 sends to ranks 2 and 4.
        assert_eq!(rail(&before, 0, 3), 5000);
        assert_eq!((rail(&after, 0, 3), rail(&after, 0, 1), rail(&after, 0, 2)), (0, 3 * 5000, 2 * 5000));
        assert!(after.channels().iter().all(|&(from, to, _)| from / 2 == to / 2 || from % 2 == to % 2));
    }

    #[test]
    fn shares_of_all_ports_are_equal() {
        let (_, after) = exchange(2);
        after.check().unwrap();
        let mut by_port = [0, 0];
        for number in 0..after.len() as u32 {
            if let (Action::Send { bytes, .. }, port) = (after.op(number).action, after.op(number).port) {
                by_port[usize::from(port)] += bytes;
            }
        }
        assert_eq!(by_port[0], by_port[1]);
    }

    #[test]
    fn a_receive_on_several_ways_names_its_source() {
        let mut builder = Builder::new(4);
        builder.send(0, 3, 10, 7);
        builder.recv(3, None, 10, 7);
        let error = builder.build().unwrap().with_ways(&Rails { ports: 1 }).unwrap_err().to_string();
        assert!(error.starts_with("rank 3, operation 0 (recv 10 B from any, tag 7): "), "{error}");
    }

    #[test]
    fn pieces_of_long_messages_are_forwarded_one_by_one() {
        let mut builder = Builder::new(4);
        builder.send(0, 3, 2500, 7);
        builder.recv(3, 0, 2500, 7);
        let program = builder.build().unwrap().with_ways(&Rails { ports: 1 }).unwrap();
        assert_eq!(program.len(), 3 + 3 + 2 * 3);
        let wire = LogGops { latency: Time::from_ns(10), ..LogGops::FREE };
        assert_eq!(wire.ends(&program).unwrap()[3], Time::from_ns(20));
    }
}
