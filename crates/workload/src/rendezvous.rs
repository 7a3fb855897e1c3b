//! Rendezvous, in which a large message waits until its receive is posted.

use crate::builder::Builder;
use crate::error::ProgramError;
use crate::operation::{Action, Op, OpId, Part, When};
use crate::program::Program;

impl Program {
    /// The same program with a rendezvous for every message above `eager` bytes. The sender sends an empty
    /// request. The receiver replies with another empty message when its receive is posted. The sender then
    /// sends the data.
    ///
    /// # Errors
    /// [`ProgramError::AnySource`] if the receive of a large message does not name its source and tag.
    /// [`ProgramError::TooManyToList`].
    pub fn with_rendezvous(self, eager: u64) -> Result<Program, ProgramError> {
        let large = |op: &Op| match op.action {
            Action::Send { bytes, .. } | Action::Recv { bytes, .. } => bytes > eager && op.part == Part::Eager,
            Action::Calc { .. } => false,
        };
        if self.largest() <= eager || !(0..self.len() as u32).any(|number| large(&self.op(number))) {
            return Ok(self);
        }
        self.check_listed()?;
        let mut builder = Builder::new(self.ranks());
        for rank in 0..self.ranks() {
            let mut ends: Vec<(OpId, OpId)> = Vec::new();
            for number in self.of_rank(rank) {
                let op = self.op(number);
                ends.push(if large(&op) { self.exchange(number, &mut builder)? } else { same(rank, op, &mut builder) });
            }
            let first = self.of_rank(rank).start;
            for (number, &(start, end)) in self.of_rank(rank).zip(&ends) {
                for (waits, when) in self.waiting(number) {
                    let earlier = if when == When::Done { end } else { start };
                    builder.after(ends[(waits - first) as usize].0, earlier, when);
                }
            }
        }
        builder.build()
    }

    /// Replaces one operation with three. Returns the first and the last of them.
    fn exchange(&self, number: u32, builder: &mut Builder) -> Result<(OpId, OpId), ProgramError> {
        let (op, OpId { rank, op: place }) = (self.op(number), self.id(number));
        let mut add = |action, part| builder.add(rank, Op { action, lane: op.lane, part, port: 0 });
        let (first, second, last) = match op.action {
            Action::Send { to, tag, .. } => {
                let request = add(Action::Send { to, bytes: 0, tag }, Part::Request);
                let clear = add(Action::Recv { from: Some(to), bytes: 0, tag: Some(tag) }, Part::Clear);
                (request, clear, add(op.action, Part::Bulk))
            }
            Action::Recv { from: Some(from), tag: Some(tag), .. } => {
                let request = add(Action::Recv { from: Some(from), bytes: 0, tag: Some(tag) }, Part::Request);
                let clear = add(Action::Send { to: from, bytes: 0, tag }, Part::Clear);
                (request, clear, add(op.action, Part::Bulk))
            }
            Action::Recv { bytes, .. } => {
                let what = op.action.to_string();
                return Err(ProgramError::AnySource { rank, op: place, what, bytes });
            }
            Action::Calc { .. } => unreachable!("only messages are large"),
        };
        builder.after(second, first, When::Done);
        builder.after(last, second, When::Done);
        Ok((first, last))
    }
}

fn same(rank: u32, op: Op, builder: &mut Builder) -> (OpId, OpId) {
    let id = builder.add(rank, op);
    (id, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_messages_ask_first() {
        let mut builder = Builder::new(2);
        builder.send(0, 1, 100, 1);
        builder.send(0, 1, 101, 2);
        builder.recv(1, 0, 100, 1);
        let large = builder.recv(1, 0, 101, 2);
        let last = builder.calc(1, becalm_engine::Time::from_ns(1));
        builder.after(last, large, When::Done);
        let program = builder.build().unwrap().with_rendezvous(100).unwrap();
        let parts: Vec<Part> = program.of_rank(1).map(|number| program.op(number).part).collect();
        assert_eq!(parts, [Part::Eager, Part::Request, Part::Clear, Part::Bulk, Part::Eager]);
        assert_eq!(program.waiting(7).collect::<Vec<_>>(), [(8, When::Done)]);
        assert_eq!(program.clone().with_rendezvous(100), Ok(program), "a second conversion changes nothing");
    }

    #[test]
    fn a_receive_by_rendezvous_names_its_source() {
        let mut builder = Builder::new(2);
        builder.send(0, 1, 101, 2);
        builder.recv(1, None, 101, 2);
        let error = builder.build().unwrap().with_rendezvous(100).unwrap_err().to_string();
        assert!(
            error.starts_with("rank 1, operation 0 (recv 101 B from any, tag 2): a rendezvous receive must"),
            "{error}"
        );
    }
}
