//! Jobs: programs whose ranks run on hosts.

use std::collections::VecDeque;

use becalm_engine::Time;
use becalm_workload::{Action, Rank, Surroundings};

use crate::host::job::JobSpec;
use crate::ids::{FlowId, NodeId, RankId};
use crate::network::link::LOCAL;

/// All jobs and ranks, including ranks on hosts that another part handles.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub specs: Vec<JobSpec>,
    /// The first rank of each job.
    first_rank: Vec<u32>,
    pub ranks: Vec<HostedRank>,
    /// Channels indexed by flow, starting with the first flow of jobs.
    channels: Vec<Channel>,
    /// Unfinished ranks of this simulator.
    open: u32,
    /// Requests of a rank while its program runs.
    pub asked: Asked,
}

/// A rank and its paths to the ranks that receive its messages.
#[derive(Debug, Default)]
pub(crate) struct HostedRank {
    pub rank: Rank,
    pub job: u32,
    pub host: NodeId,
    /// The part that handles this rank's host, or [`LOCAL`].
    pub part: u16,
    pub begun: bool,
    /// In ascending order of receiving rank and port.
    pub paths: Vec<((u32, u8), Path)>,
}

/// The path of messages from one rank to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path {
    /// Packets of a flow.
    Flow(FlowId),
    /// Copies within the host, one message at a time. Contains the time at which the path is free.
    Local(Time),
}

/// A flow between two ranks. Its messages stay in order, so packets and answers need not identify them.
#[derive(Debug, Default)]
struct Channel {
    from: RankId,
    to: RankId,
    /// Messages that have not been sent completely, tracked by the sender's part.
    leaving: VecDeque<u32>,
    /// Messages that were posted but have not arrived, tracked by the receiver's part.
    announced: VecDeque<u32>,
}

/// Requests of a rank during a step of its program.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub overhead: Time,
    pub overhead_per_byte: f64,
    pub sends: Vec<u32>,
    pub wakes: Vec<Time>,
}

impl Surroundings for Asked {
    fn begin(&mut self, now: Time, _: u32, action: &Action) -> (Time, bool) {
        let span = match *action {
            Action::Calc { time } => time,
            Action::Send { bytes, .. } | Action::Recv { bytes, .. } if self.overhead_per_byte > 0.0 => {
                self.overhead + Time((bytes as f64 * self.overhead_per_byte).round() as u64)
            }
            Action::Send { .. } | Action::Recv { .. } => self.overhead,
        };
        (now.saturating_add(span), false)
    }

    fn send(&mut self, _: Time, op: u32) {
        self.sends.push(op);
    }

    fn wake(&mut self, at: Time) {
        self.wakes.push(at);
    }
}

impl Jobs {
    /// The jobs, with the ranks of the simulator's own hosts ready to begin. `part_of` returns the part of a
    /// host, [`LOCAL`] for the simulator's own.
    pub fn new(specs: Vec<JobSpec>, part_of: impl Fn(NodeId) -> u16) -> Jobs {
        let mut jobs = Jobs::default();
        for (number, spec) in (0u32..).zip(&specs) {
            let first = jobs.ranks.len() as u32;
            jobs.first_rank.push(first);
            for (rank, &host) in (0u32..).zip(&spec.hosts) {
                let part = part_of(host);
                let state = if part == LOCAL { Rank::new(&spec.program, rank, spec.record) } else { Rank::default() };
                jobs.open += u32::from(!state.is_done());
                let hosted = HostedRank { rank: state, job: number, host, part, begun: false, paths: Vec::new() };
                jobs.ranks.push(hosted);
            }
            let mut flows = (spec.first_flow.0..).map(FlowId).zip(&spec.channels).peekable();
            for (from, to, port) in spec.program.channels() {
                let flow = flows.next_if(|(_, channel)| **channel == (from, to, port)).map(|(flow, _)| flow);
                let path = flow.map_or(Path::Local(Time::ZERO), Path::Flow);
                jobs.ranks[(first + from) as usize].paths.push(((to, port), path));
                if flow.is_some() {
                    let (from, to) = (RankId(first + from), RankId(first + to));
                    jobs.channels.push(Channel { from, to, ..Channel::default() });
                }
            }
        }
        jobs.specs = specs;
        jobs
    }

    /// The first flow of jobs, which follow all other flows; `u32::MAX` without jobs.
    pub fn first_flow(&self) -> u32 {
        self.specs.first().map_or(u32::MAX, |job| job.first_flow.0)
    }

    /// The global identifier of a job's rank.
    pub fn id(&self, job: u32, rank: u32) -> RankId {
        RankId(self.first_rank[job as usize] + rank)
    }

    /// A rank of a job.
    pub fn rank(&self, job: usize, rank: u32) -> &Rank {
        &self.ranks[self.id(job as u32, rank).index()].rank
    }

    /// Number of unfinished ranks of this simulator.
    pub fn open_ranks(&self) -> u32 {
        self.open
    }

    /// Records that a rank has finished.
    pub fn rank_done(&mut self) {
        self.open -= 1;
    }

    fn channel(&mut self, flow: FlowId) -> &mut Channel {
        let first = self.first_flow();
        &mut self.channels[(flow.0 - first) as usize]
    }

    /// Records that a message is posted. It is sent after the flow's earlier messages.
    pub fn post(&mut self, flow: FlowId, send: u32) {
        self.channel(flow).leaving.push_back(send);
    }

    /// Notifies a receiver of a message that is on its way.
    pub fn announce(&mut self, flow: FlowId, send: u32) {
        self.channel(flow).announced.push_back(send);
    }

    /// The part that handles the receiver of a flow.
    pub fn part_of_receiver(&mut self, flow: FlowId) -> u16 {
        let to = self.channel(flow).to;
        self.ranks[to.index()].part
    }

    /// The sender of the flow's message that has just been sent, and the index of its send operation.
    pub fn left(&mut self, flow: FlowId) -> (RankId, u32) {
        let channel = self.channel(flow);
        (channel.from, channel.leaving.pop_front().expect("a message leaves after it was posted"))
    }

    /// The sender and the receiver of the flow's message that has just arrived, and the index of its send
    /// operation.
    pub fn arrived(&mut self, flow: FlowId) -> (RankId, RankId, u32) {
        let channel = self.channel(flow);
        let send = channel.announced.pop_front().expect("a message is announced before it arrives");
        (channel.from, channel.to, send)
    }

    /// Takes over the ranks of another part's hosts, and their ends of channels.
    pub fn take(&mut self, other: &mut Jobs, theirs: &dyn Fn(NodeId) -> bool) {
        for (ours, its) in self.channels.iter_mut().zip(&mut other.channels) {
            if theirs(self.ranks[ours.from.index()].host) {
                std::mem::swap(&mut ours.leaving, &mut its.leaving);
            }
            if theirs(self.ranks[ours.to.index()].host) {
                std::mem::swap(&mut ours.announced, &mut its.announced);
            }
        }
        for (ours, its) in self.ranks.iter_mut().zip(&mut other.ranks) {
            if theirs(ours.host) {
                std::mem::swap(ours, its);
            }
        }
        self.open += other.open;
    }

    /// Assigns all ranks to this part.
    pub fn handle_all(&mut self) {
        self.ranks.iter_mut().for_each(|rank| rank.part = LOCAL);
    }
}
