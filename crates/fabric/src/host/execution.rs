//! Execution of the programs of ranks, and their messages.

use becalm_engine::{Time, mix};
use becalm_workload::{Action, Arrival, Rank, Turn};

use crate::context::Context;
use crate::event::Signal;
use crate::host::hosts::Hosts;
use crate::host::jobs::Asked;
use crate::ids::{FlowId, RankId};
use crate::message::Message;
use crate::network::link::LOCAL;
use crate::policy::{Observer, Response};

impl<R: Response, E> Hosts<R, E> {
    /// Schedules the starts of the ranks on this part's hosts.
    pub fn begin_jobs<O: Observer>(&self, cx: &mut Context<'_, O>) {
        for (id, rank) in (0u32..).map(RankId).zip(&self.jobs.ranks) {
            if rank.part == LOCAL {
                self.call_rank(id, self.jobs.specs[rank.job as usize].start, cx);
            }
        }
    }

    /// Starts a rank, or runs its operations that are due.
    pub fn on_rank<O: Observer>(&mut self, id: RankId, cx: &mut Context<'_, O>) {
        let begun = std::mem::replace(&mut self.jobs.ranks[id.index()].begun, true);
        self.turn(id, cx, |rank, turn| if begun { rank.wake(turn) } else { rank.begin(turn) });
    }

    /// Handles the departure of the last byte of a flow's message.
    pub fn on_left<O: Observer>(&mut self, flow: FlowId, cx: &mut Context<'_, O>) {
        let Some((from, send)) = self.jobs.left(flow) else { return };
        self.turn(from, cx, |rank, turn| rank.left(send, turn));
    }

    /// Handles the complete arrival of a message of a job's flow.
    pub fn job_message<O: Observer>(&mut self, flow: FlowId, cx: &mut Context<'_, O>) {
        let Some((from, to, send)) = self.jobs.arrived(flow) else { return };
        let arrival = Arrival { from: from.0 - self.jobs.id(self.jobs.ranks[from.index()].job, 0).0, send };
        self.turn(to, cx, |rank, turn| rank.arrived(arrival, turn));
    }

    /// Runs a step of a rank, and carries out its requests.
    fn turn<O: Observer>(
        &mut self,
        id: RankId,
        cx: &mut Context<'_, O>,
        act: impl FnOnce(&mut Rank, &mut Turn<'_, Asked>),
    ) {
        let hosted = &mut self.jobs.ranks[id.index()];
        let job = &self.jobs.specs[hosted.job as usize];
        let mut asked = std::mem::take(&mut self.jobs.asked);
        (asked.overhead, asked.overhead_per_byte) = (job.overhead, job.overhead_per_byte);
        let was_done = hosted.rank.is_done();
        act(&mut hosted.rank, &mut Turn { now: cx.now, program: &job.program, around: &mut asked });
        if hosted.rank.is_done() && !was_done {
            self.jobs.rank_done();
            if self.jobs.open_ranks() == 0 {
                cx.agenda.halt();
            }
        }
        asked.wakes.drain(..).for_each(|at| self.call_rank(id, at, cx));
        asked.sends.drain(..).for_each(|send| self.send(id, send, cx));
        self.jobs.asked = asked;
    }

    /// Lets the adapter of a flow send. The current event may be at another adapter of the rank's node.
    pub(super) fn wake_adapter<O: Observer>(&self, flow: FlowId, cx: &mut Context<'_, O>) {
        let adapter = &self.adapters[self.flows.host_of(flow) as usize];
        cx.schedule(cx.now, adapter.node, 0, 0, Signal::Wake);
    }

    fn call_rank<O: Observer>(&self, id: RankId, at: Time, cx: &mut Context<'_, O>) {
        let tie = mix(!self.flows.seed, u64::from(id.0));
        cx.schedule(at, self.jobs.ranks[id.index()].host, id.0 as u16, tie, Signal::Rank(id));
    }

    /// Posts a message to a flow, and announces it to the receiver.
    pub(super) fn post_to<O: Observer>(&mut self, flow: FlowId, (send, bytes): (u32, u64), cx: &mut Context<'_, O>) {
        self.flows.make(flow);
        match self.jobs.part_of_receiver(flow) {
            LOCAL => self.announce(flow, send),
            part => cx.shared.outboxes[usize::from(part)].push(Message::Announce { flow, send }),
        }
        self.post_messages(flow, bytes, 1, cx);
        if !self.jobs.spec_of(flow).together.is_empty() {
            self.wake_adapter(flow, cx);
        }
    }

    /// Sends a message of a rank.
    fn send<O: Observer>(&mut self, id: RankId, send: u32, cx: &mut Context<'_, O>) {
        let number = self.jobs.ranks[id.index()].job;
        let op = self.jobs.specs[number as usize].program.op(send);
        let Action::Send { to, bytes, .. } = op.action else { return };
        match self.jobs.flow(id, to, op.port) {
            Some(flow) => {
                let flow = self.way(flow, send, cx);
                self.jobs.post(flow, send);
                self.post_to(flow, (send, bytes), cx);
            }
            None => {
                let job = &self.jobs.specs[number as usize];
                let takes = job.local_rate.map_or(Time::ZERO, |rate| rate.time_of_long(bytes));
                let hosted = &mut self.jobs.ranks[id.index()];
                let copied = hosted.copy((to, op.port), cx.now, takes);
                let arrives = copied + job.local_latency;
                hosted.rank.leaves_at(copied, send);
                self.call_rank(id, copied, cx);
                let from = id.0 - self.jobs.id(number, 0).0;
                let receiver = self.jobs.id(number, to);
                self.jobs.ranks[receiver.index()].rank.arrives_at(arrives, Arrival { from, send });
                self.call_rank(receiver, arrives, cx);
            }
        }
    }
}
