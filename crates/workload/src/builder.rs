//! Builders of programs.

use becalm_engine::Time;

use crate::error::ProgramError;
use crate::operation::{Action, Op, OpId, Part, When};
use crate::program::{Form, Listed, Program, START};

/// A program under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    ranks: Vec<Vec<Op>>,
    /// By rank, the waiting operation, the operation that it waits for, and the event.
    edges: Vec<Vec<(u32, u32, When)>>,
}

impl Builder {
    /// A program with this number of ranks and no operations.
    pub fn new(ranks: u32) -> Builder {
        Builder { ranks: vec![Vec::new(); ranks as usize], edges: vec![Vec::new(); ranks as usize] }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Number of operations of all ranks.
    pub fn len(&self) -> usize {
        self.ranks.iter().map(Vec::len).sum()
    }

    /// Whether no rank has an operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an operation to a rank.
    pub fn add(&mut self, rank: u32, op: Op) -> OpId {
        let ops = &mut self.ranks[rank as usize];
        ops.push(op);
        OpId { rank, op: ops.len() as u32 - 1 }
    }

    fn on_first_lane(&mut self, rank: u32, action: Action) -> OpId {
        self.add(rank, Op { action, lane: 0, part: Part::Eager, port: 0 })
    }

    /// Adds a computation on the first lane.
    pub fn calc(&mut self, rank: u32, time: Time) -> OpId {
        self.on_first_lane(rank, Action::Calc { time })
    }

    /// Adds a send on the first lane.
    pub fn send(&mut self, rank: u32, to: u32, bytes: u64, tag: u32) -> OpId {
        self.on_first_lane(rank, Action::Send { to, bytes, tag })
    }

    /// Adds a receive on the first lane.
    pub fn recv(&mut self, rank: u32, from: impl Into<Option<u32>>, bytes: u64, tag: impl Into<Option<u32>>) -> OpId {
        self.on_first_lane(rank, Action::Recv { from: from.into(), bytes, tag: tag.into() })
    }

    /// Adds the operations of another program, with their order, as `change` makes them. Rank `i` of it is `ranks[i]` here.
    /// Returns the new operations by their numbers in the other program.
    pub fn insert(&mut self, program: &Program, ranks: &[u32], mut change: impl FnMut(Op) -> Op) -> Vec<OpId> {
        let rank_of = |rank: u32| ranks[rank as usize];
        let mut ops = Vec::with_capacity(program.len());
        for member in 0..program.ranks() {
            for number in program.of_rank(member) {
                let mut op = change(program.op(number));
                match &mut op.action {
                    Action::Calc { .. } | Action::Recv { from: None, .. } => {}
                    Action::Send { to: other, .. } | Action::Recv { from: Some(other), .. } => *other = rank_of(*other),
                }
                ops.push(self.add(rank_of(member), op));
            }
        }
        for number in 0..program.len() as u32 {
            for (waits, when) in program.waiting(number) {
                self.after(ops[waits as usize], ops[number as usize], when);
            }
        }
        ops
    }

    /// Makes an operation wait for another operation of the same rank.
    ///
    /// # Panics
    /// If they belong to different ranks.
    pub fn after(&mut self, op: OpId, earlier: OpId, when: When) {
        assert_eq!(op.rank, earlier.rank, "ranks wait for each other only via messages");
        self.edges[op.rank as usize].push((op.op, earlier.op, when));
    }

    /// Makes an operation wait for the ends of other operations of the same rank.
    pub fn after_all(&mut self, op: OpId, earlier: impl IntoIterator<Item = OpId>) {
        earlier.into_iter().for_each(|earlier| self.after(op, earlier, When::Done));
    }

    /// The program.
    ///
    /// # Errors
    /// [`ProgramError::NoRanks`], [`ProgramError::TooLong`], [`ProgramError::NoSuchRank`] or [`ProgramError::Cycle`].
    pub fn build(self) -> Result<Program, ProgramError> {
        if self.ranks.is_empty() {
            return Err(ProgramError::NoRanks);
        }
        let edges: usize = self.edges.iter().map(Vec::len).sum();
        if self.len().max(edges) >= START as usize {
            return Err(ProgramError::TooLong { operations: self.len(), dependencies: edges, most: START - 1 });
        }
        let program = self.number();
        check_ranks(&program)?;
        check_cycles(&program)?;
        Ok(program)
    }

    /// Numbers all operations, and sorts the edges by the earlier operation.
    fn number(self) -> Program {
        let lanes = self.ranks.iter().flatten().map(|op| op.lane + 1).max().unwrap_or(1);
        let mut first = vec![0];
        first.extend(self.ranks.iter().scan(0, |sum, ops| {
            *sum += ops.len() as u32;
            Some(*sum)
        }));
        let ops: Vec<Op> = self.ranks.into_iter().flatten().collect();
        let mut needs = vec![0; ops.len()];
        let mut first_edge = vec![0; ops.len() + 1];
        let numbered = |rank: usize, op: u32| (first[rank] + op) as usize;
        for (rank, edges) in self.edges.iter().enumerate() {
            for &(op, earlier, _) in edges {
                needs[numbered(rank, op)] += 1;
                first_edge[numbered(rank, earlier) + 1] += 1;
            }
        }
        for i in 0..ops.len() {
            first_edge[i + 1] += first_edge[i];
        }
        let mut next = first_edge.clone();
        let mut all = vec![0; *first_edge.last().expect("never empty") as usize];
        for (rank, edges) in self.edges.into_iter().enumerate() {
            for (op, earlier, when) in edges {
                let place = &mut next[numbered(rank, earlier)];
                all[*place as usize] = numbered(rank, op) as u32 | if when == When::Start { START } else { 0 };
                *place += 1;
            }
        }
        Form::Listed(Listed { ops, first, needs, first_edge, edges: all, lanes }).into()
    }
}

/// Checks that every operation names an existing rank.
fn check_ranks(program: &Program) -> Result<(), ProgramError> {
    let last = program.ranks() - 1;
    for number in 0..program.len() as u32 {
        let action = program.op(number).action;
        let other = match action {
            Action::Send { to, .. } => Some(to),
            Action::Recv { from, .. } => from,
            Action::Calc { .. } => None,
        };
        if let Some(other) = other.filter(|&other| other > last) {
            let OpId { rank, op } = program.id(number);
            return Err(ProgramError::NoSuchRank { rank, op, what: action.to_string(), other, last });
        }
    }
    Ok(())
}

/// Checks that no operation waits for itself. Repeatedly removes operations that wait for nothing.
fn check_cycles(program: &Program) -> Result<(), ProgramError> {
    let mut needs: Vec<u32> = (0..program.len() as u32).map(|op| program.needs(op)).collect();
    let mut free: Vec<u32> = (0..program.len() as u32).filter(|&op| needs[op as usize] == 0).collect();
    while let Some(op) = free.pop() {
        for (waits, _) in program.waiting(op) {
            needs[waits as usize] -= 1;
            if needs[waits as usize] == 0 {
                free.push(waits);
            }
        }
    }
    // The remaining operations wait for a cycle, but are not always part of it. Following their requirements
    // leads to the cycle.
    let Some(start) = needs.iter().position(|&needs| needs > 0) else { return Ok(()) };
    let OpId { rank, op } = program.id(on_cycle(program, start as u32, &needs));
    let what = program.op(program.of_rank(rank).start + op).action.to_string();
    Err(ProgramError::Cycle { rank, op, what })
}

/// An operation on a cycle that `start` waits for. The remaining graph contains only operations that still wait for
/// others.
fn on_cycle(program: &Program, start: u32, needs: &[u32]) -> u32 {
    let mut earlier = vec![u32::MAX; program.len()];
    for op in (0..program.len() as u32).filter(|&op| needs[op as usize] > 0) {
        program.waiting(op).for_each(|(waits, _)| earlier[waits as usize] = op);
    }
    let mut seen = vec![false; program.len()];
    let mut op = start;
    while !std::mem::replace(&mut seen[op as usize], true) {
        op = earlier[op as usize];
    }
    op
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_knows_who_waits_for_whom() {
        let mut builder = Builder::new(2);
        let work = builder.calc(1, Time::from_ns(5));
        let send = builder.send(1, 0, 100, 7);
        let other = builder.calc(1, Time::from_ns(1));
        builder.after(send, work, When::Done);
        builder.after(other, send, When::Start);
        builder.recv(0, None, 100, 7);
        let program = builder.build().unwrap();
        assert_eq!((program.ranks(), program.len(), program.lanes()), (2, 4, 1));
        assert_eq!(program.of_rank(1), 1..4);
        assert_eq!(program.id(2), OpId { rank: 1, op: 1 });
        assert_eq!(program.waiting(1).collect::<Vec<_>>(), [(2, When::Done)]);
        assert_eq!(program.waiting(2).collect::<Vec<_>>(), [(3, When::Start)]);
        assert_eq!((program.channels(), program.bytes(1, 0)), (vec![(1, 0, 0)], 100));
    }

    #[test]
    fn cycles_and_unknown_ranks_are_named() {
        let mut builder = Builder::new(2);
        let [a, b, c] = [5, 6, 7].map(|ns| builder.calc(1, Time::from_ns(ns)));
        builder.after(a, b, When::Done);
        builder.after(b, a, When::Start);
        builder.after(c, b, When::Done);
        let error = builder.build().unwrap_err().to_string();
        assert_eq!(error, "rank 1, operation 0 (calc 5 ns) waits for itself: its requirements form a cycle");
        let mut builder = Builder::new(2);
        builder.send(1, 2, 10, 0);
        let error = builder.build().unwrap_err().to_string();
        assert_eq!(error, "rank 1, operation 0 (send 10 B to 2, tag 0): there is no rank 2; the ranks are 0 to 1");
        assert_eq!(Builder::new(0).build(), Err(ProgramError::NoRanks));
    }

    #[test]
    fn an_operation_takes_less_than_200_bytes() {
        let mut builder = Builder::new(10);
        for rank in 0..10 {
            let mut last = builder.calc(rank, Time::ZERO);
            for _ in 0..10_000 {
                let next = builder.send(rank, (rank + 1) % 10, 10, 0);
                builder.after(next, last, When::Done);
                last = next;
            }
        }
        let program = builder.build().unwrap();
        assert!(program.size() < 100 * program.len(), "{} B", program.size() / program.len());
    }
}
