//! The execution of one rank, with its ready operations, lanes and waiting receives.
//!
//! A rank does not depend on a network or a clock. It is called at every event, and uses its [`Surroundings`]
//! for everything else. The fabric and [`LogGops`](crate::LogGops) can therefore execute the same programs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use becalm_engine::Time;

use crate::error::Stuck;
use crate::matching::{Arrival, Matching};
use crate::operation::{Action, OpId, When};
use crate::program::Program;

/// The surroundings of a rank.
pub trait Surroundings {
    /// Starts an operation on its lane. Returns the time until which it occupies the lane, and whether it has
    /// already ended for the operations that wait for it.
    fn begin(&mut self, now: Time, op: u32, action: &Action) -> (Time, bool);

    /// Sends a message after the work on it is done. [`Rank::left`] reports its end, unless it has already
    /// ended.
    fn send(&mut self, now: Time, op: u32);

    /// Requests a call of [`Rank::wake`] at this time.
    fn wake(&mut self, at: Time);
}

/// The current time, the program and the surroundings of a rank.
pub struct Turn<'a, S> {
    /// The time.
    pub now: Time,
    /// The program.
    pub program: &'a Program,
    /// The surroundings.
    pub around: &'a mut S,
}

/// A future event at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A lane is free again.
    Lane(u16),
    /// A message has left.
    Left(u32),
    /// A message arrives.
    Arrival(Arrival),
}

/// A lane of a rank.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// The operation on the lane, and whether it has already ended for the operations that wait for it.
    current: Option<(u32, bool)>,
    queue: VecDeque<u32>,
}

/// Total time for which at least one lane is busy.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    lanes: u16,
    since: Time,
    total: Time,
}

impl Busy {
    fn begin(&mut self, now: Time) {
        if self.lanes == 0 {
            self.since = now;
        }
        self.lanes += 1;
    }

    fn end(&mut self, now: Time) {
        self.lanes -= 1;
        if self.lanes == 0 {
            self.total += now.since(self.since);
        }
    }
}

/// Start and end of an operation; [`Time::MAX`] before they occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its start or, for a receive, the time of posting.
    pub start: Time,
    /// Its end.
    pub end: Time,
}

/// One rank of a program and its state.
#[derive(Clone, Debug, Default)]
pub struct Rank {
    rank: u32,
    first: u32,
    /// Operations that no longer wait: all before this one, which is the first in `needs`.
    settled: u32,
    /// Number of events that an operation still waits for; of those before the last that any event has reached.
    needs: VecDeque<u32>,
    lanes: Vec<Lane>,
    matching: Matching,
    ready: VecDeque<u32>,
    later: BinaryHeap<Reverse<(Time, u64, Due)>>,
    /// Number of entries in `later` so far. It orders entries with equal times.
    entries: u64,
    /// Operations that have not ended.
    open: u32,
    ended: Time,
    calculating: Busy,
    working: Busy,
    /// The times of each operation, if they are recorded.
    spans: Option<Vec<Span>>,
}

impl Rank {
    /// A rank before its start. `record` enables the recording of the times of all operations.
    pub fn new(program: &Program, rank: u32, record: bool) -> Rank {
        let ops = program.of_rank(rank);
        Rank {
            rank,
            first: ops.start,
            settled: ops.start,
            lanes: vec![Lane::default(); usize::from(program.lanes())],
            open: ops.len() as u32,
            spans: record.then(|| vec![Span { start: Time::MAX, end: Time::MAX }; ops.len()]),
            ..Rank::default()
        }
    }

    /// Starts all operations that wait for nothing.
    pub fn begin<S: Surroundings>(&mut self, turn: &mut Turn<'_, S>) {
        self.ready.extend(turn.program.free(self.rank));
        self.ended = turn.now;
        self.go_on(turn);
    }

    /// Handles the complete arrival of a message.
    pub fn arrived<S: Surroundings>(&mut self, arrival: Arrival, turn: &mut Turn<'_, S>) {
        self.take(arrival, turn);
        self.go_on(turn);
    }

    /// Handles the departure of a message's last byte.
    pub fn left<S: Surroundings>(&mut self, op: u32, turn: &mut Turn<'_, S>) {
        self.end(op, turn);
        self.go_on(turn);
    }

    /// Schedules the arrival of a message from a rank on the same host. [`Rank::wake`] must be called at that
    /// time.
    pub fn arrives_at(&mut self, at: Time, arrival: Arrival) {
        self.later(at, Due::Arrival(arrival));
    }

    /// Schedules the departure of a message to a rank on the same host. [`Rank::wake`] must be called at that
    /// time.
    pub fn leaves_at(&mut self, at: Time, op: u32) {
        self.later(at, Due::Left(op));
    }

    /// Handles all due events.
    pub fn wake<S: Surroundings>(&mut self, turn: &mut Turn<'_, S>) {
        while let Some(&Reverse((at, _, due))) = self.later.peek() {
            if at > turn.now {
                return;
            }
            self.later.pop();
            match due {
                Due::Lane(lane) => self.lane_ended(lane, turn),
                Due::Left(op) => self.end(op, turn),
                Due::Arrival(arrival) => self.take(arrival, turn),
            }
            self.go_on(turn);
        }
    }

    /// Whether all operations have ended.
    pub fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Whether [`Rank::wake`] has something to do later.
    pub fn waits_for_time(&self) -> bool {
        !self.later.is_empty()
    }

    /// The latest time at which an operation, or the work on it, ended so far.
    pub fn ended(&self) -> Time {
        self.ended
    }

    /// Total time of computation.
    pub fn calculated(&self) -> Time {
        self.calculating.total
    }

    /// Total time of computation and of work on messages.
    pub fn worked(&self) -> Time {
        self.working.total
    }

    /// The times of the rank's operations, if they are recorded.
    pub fn spans(&self) -> &[Span] {
        self.spans.as_deref().unwrap_or(&[])
    }

    /// The first operation that has not ended when no events are left, with preference for posted receives, or a
    /// receive that was shorter than its message.
    pub fn stuck(&self, program: &Program) -> Option<Stuck> {
        let waits = (self.matching.first_posted(), self.matching.first_unexpected());
        let (op, why) = match waits {
            _ if self.matching.first_short().is_some() => {
                (self.matching.first_short()?, "is shorter than the message that it receives")
            }
            (Some(receive), _) => (receive, "waits for a message that is never sent"),
            (None, Some(arrival)) => (arrival.send, "sends a message that is never received"),
            (None, None) if self.is_done() => return None,
            (None, None) => (self.first_waiting(program)?, "waits for operations that never end"),
        };
        let OpId { rank, op: place } = program.id(op);
        Some(Stuck { rank, op: place, what: program.op(op).action.to_string(), why })
    }

    fn later(&mut self, at: Time, due: Due) {
        self.later.push(Reverse((at, self.entries, due)));
        self.entries += 1;
    }

    /// Starts all ready operations, and those that become ready as a result.
    fn go_on<S: Surroundings>(&mut self, turn: &mut Turn<'_, S>) {
        while let Some(op) = self.ready.pop_front() {
            if let Action::Recv { .. } = turn.program.op(op).action {
                self.started(op, turn);
                if self.matching.post(op, turn.program).is_some() {
                    self.enqueue(op, turn);
                }
            } else {
                self.enqueue(op, turn);
            }
        }
    }

    fn take<S: Surroundings>(&mut self, arrival: Arrival, turn: &mut Turn<'_, S>) {
        if let Some(receive) = self.matching.arrived(arrival, turn.program) {
            self.enqueue(receive, turn);
        }
    }

    fn enqueue<S: Surroundings>(&mut self, op: u32, turn: &mut Turn<'_, S>) {
        let lane = turn.program.op(op).lane;
        self.lanes[usize::from(lane)].queue.push_back(op);
        self.advance(lane, turn);
    }

    /// Starts the next operations of a lane until one occupies it.
    fn advance<S: Surroundings>(&mut self, lane: u16, turn: &mut Turn<'_, S>) {
        let l = usize::from(lane);
        while self.lanes[l].current.is_none()
            && let Some(op) = self.lanes[l].queue.pop_front()
        {
            let action = turn.program.op(op).action;
            let (until, ended) = turn.around.begin(turn.now, op, &action);
            if !matches!(action, Action::Recv { .. }) {
                self.started(op, turn);
            }
            if ended {
                self.end(op, turn);
            }
            if until <= turn.now {
                self.worked_on(op, ended, turn);
                continue;
            }
            self.lanes[l].current = Some((op, ended));
            self.working.begin(turn.now);
            if matches!(action, Action::Calc { .. }) {
                self.calculating.begin(turn.now);
            }
            self.later(until, Due::Lane(lane));
            turn.around.wake(until);
        }
    }

    fn lane_ended<S: Surroundings>(&mut self, lane: u16, turn: &mut Turn<'_, S>) {
        let Some((op, ended)) = self.lanes[usize::from(lane)].current.take() else { return };
        self.working.end(turn.now);
        self.ended = turn.now;
        if matches!(turn.program.op(op).action, Action::Calc { .. }) {
            self.calculating.end(turn.now);
        }
        self.worked_on(op, ended, turn);
        self.advance(lane, turn);
    }

    /// Handles the end of an operation's work on its lane.
    fn worked_on<S: Surroundings>(&mut self, op: u32, ended: bool, turn: &mut Turn<'_, S>) {
        match turn.program.op(op).action {
            Action::Send { .. } => turn.around.send(turn.now, op),
            Action::Calc { .. } | Action::Recv { .. } if !ended => self.end(op, turn),
            Action::Calc { .. } | Action::Recv { .. } => {}
        }
    }

    fn started<S>(&mut self, op: u32, turn: &Turn<'_, S>) {
        if let Some(spans) = &mut self.spans {
            spans[(op - self.first) as usize].start = turn.now;
        }
        self.release(op, When::Start, turn.program);
    }

    fn end<S>(&mut self, op: u32, turn: &Turn<'_, S>) {
        self.open -= 1;
        self.ended = turn.now;
        if let Some(spans) = &mut self.spans {
            spans[(op - self.first) as usize].end = turn.now;
        }
        self.release(op, When::Done, turn.program);
    }

    fn release(&mut self, op: u32, event: When, program: &Program) {
        for (waits, _) in program.waiting(op).filter(|(_, when)| *when == event) {
            if self.settle_one(waits, program) {
                self.ready.push_back(waits);
            }
        }
    }

    /// Records one of the events that an operation waits for. Returns whether it was the last.
    fn settle_one(&mut self, op: u32, program: &Program) -> bool {
        let place = (op - self.settled) as usize;
        while self.needs.len() <= place {
            self.needs.push_back(program.needs(self.settled + self.needs.len() as u32));
        }
        self.needs[place] -= 1;
        let is_last = self.needs[place] == 0;
        while self.needs.front() == Some(&0) {
            self.needs.pop_front();
            self.settled += 1;
        }
        is_last
    }

    /// The first operation that waits for others.
    fn first_waiting(&self, program: &Program) -> Option<u32> {
        let counted = self.needs.iter().position(|&needs| needs > 0).map(|place| self.settled + place as u32);
        let after = self.settled + self.needs.len() as u32..program.of_rank(self.rank).end;
        counted.or_else(|| after.into_iter().find(|&op| program.needs(op) > 0))
    }
}
