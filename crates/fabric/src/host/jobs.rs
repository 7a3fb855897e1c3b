//! Jobs: programs whose ranks run on hosts.

use std::collections::VecDeque;

use becalm_engine::Time;
use becalm_workload::{Action, Rank, Surroundings};

use crate::host::job::JobSpec;
use crate::ids::{FlowId, NodeId, RankId};
use crate::network::link::LOCAL;

/// All jobs, and the ranks of which a simulator handles the hosts.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub specs: Vec<JobSpec>,
    /// By job: its first rank.
    first_rank: Vec<u32>,
    pub ranks: Vec<HostedRank>,
    /// By flow, from the first one of jobs on.
    channels: Vec<Channel>,
    /// Ranks of this simulator with something left to do.
    open: u32,
    /// What a rank asks for, while it has its turn.
    pub asked: Asked,
}

/// A rank and the ways to the ranks that it sends to.
#[derive(Debug, Default)]
pub(crate) struct HostedRank {
    pub rank: Rank,
    pub job: u32,
    pub host: NodeId,
    /// The part that handles its host, or [`LOCAL`].
    pub part: u16,
    pub begun: bool,
    /// By receiving rank, in order.
    pub paths: Vec<(u32, Path)>,
}

/// The path of messages from one rank to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path {
    /// By packets.
    Flow(FlowId),
    /// Within the host, which copies messages one after the other and is free at this time.
    Local(Time),
}

/// A flow between two ranks. Its messages stay in order, so neither packets nor answers need to name them.
#[derive(Debug, Default)]
struct Channel {
    from: RankId,
    to: RankId,
    /// Messages that have not left yet, kept by the sender's part.
    leaving: VecDeque<u32>,
    /// Messages that have been posted and have not arrived, kept by the receiver's part.
    announced: VecDeque<u32>,
}

/// What a rank asks for during its turn.
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
    /// The jobs, with the ranks of a simulator's own hosts ready to begin. `part_of` gives the part of a host, [`LOCAL`] for
    /// the simulator's own.
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
            let mut pairs = (spec.first_flow.0..).map(FlowId).zip(&spec.pairs).peekable();
            for (from, to) in spec.program.pairs() {
                let flow = pairs.next_if(|(_, pair)| **pair == (from, to)).map(|(flow, _)| flow);
                let path = flow.map_or(Path::Local(Time::ZERO), Path::Flow);
                jobs.ranks[(first + from) as usize].paths.push((to, path));
                if flow.is_some() {
                    let (from, to) = (RankId(first + from), RankId(first + to));
                    jobs.channels.push(Channel { from, to, ..Channel::default() });
                }
            }
        }
        jobs.specs = specs;
        jobs
    }

    /// The first flow of jobs, which are the last of all; `u32::MAX` without jobs.
    pub fn first_flow(&self) -> u32 {
        self.specs.first().map_or(u32::MAX, |job| job.first_flow.0)
    }

    /// The number of a job's rank.
    pub fn id(&self, job: u32, rank: u32) -> RankId {
        RankId(self.first_rank[job as usize] + rank)
    }

    /// A rank of a job.
    pub fn rank(&self, job: usize, rank: u32) -> &Rank {
        &self.ranks[self.id(job as u32, rank).index()].rank
    }

    /// Ranks of this simulator with something left to do.
    pub fn open_ranks(&self) -> u32 {
        self.open
    }

    /// Counts a rank that has nothing left to do.
    pub fn rank_done(&mut self) {
        self.open -= 1;
    }

    fn channel(&mut self, flow: FlowId) -> &mut Channel {
        let first = self.first_flow();
        &mut self.channels[(flow.0 - first) as usize]
    }

    /// Notes that a message is posted; it leaves after those before it.
    pub fn post(&mut self, flow: FlowId, send: u32) {
        self.channel(flow).leaving.push_back(send);
    }

    /// Tells a receiver of a message that is on its way.
    pub fn announce(&mut self, flow: FlowId, send: u32) {
        self.channel(flow).announced.push_back(send);
    }

    /// The part of the receiver of a flow.
    pub fn part_of_receiver(&mut self, flow: FlowId) -> u16 {
        let to = self.channel(flow).to;
        self.ranks[to.index()].part
    }

    /// The sender of the message of a flow that has left, and the number of its send.
    pub fn left(&mut self, flow: FlowId) -> (RankId, u32) {
        let channel = self.channel(flow);
        (channel.from, channel.leaving.pop_front().expect("a message leaves after it was posted"))
    }

    /// The sender and the receiver of the message of a flow that has arrived, and the number of its send.
    pub fn arrived(&mut self, flow: FlowId) -> (RankId, RankId, u32) {
        let channel = self.channel(flow);
        let send = channel.announced.pop_front().expect("a message is announced before it arrives");
        (channel.from, channel.to, send)
    }

    /// Takes over the ranks of another part's hosts, with their ends of channels.
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

    /// Makes all ranks this part's own.
    pub fn handle_all(&mut self) {
        self.ranks.iter_mut().for_each(|rank| rank.part = LOCAL);
    }
}
