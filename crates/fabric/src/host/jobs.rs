//! Jobs: programs whose ranks run on hosts.

mod ports;

use std::collections::VecDeque;

use becalm_engine::Time;
use becalm_workload::{Action, Rank, Surroundings};

use crate::host::job::JobSpec;
use crate::host::store::Store;
use crate::ids::{FlowId, NodeId, RankId};
use crate::network::link::LOCAL;

/// All jobs and ranks, including ranks on hosts that another part handles.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub specs: Vec<JobSpec>,
    /// The first rank of each job.
    first_rank: Vec<u32>,
    pub ranks: Vec<HostedRank>,
    /// Messages of each channel, by flow, starting with the first flow of jobs.
    channels: Store<Queues>,
    /// Unfinished ranks of this simulator.
    open: u32,
    /// Requests of a rank while its program runs.
    pub asked: Asked,
}

/// A rank, and its copies to ranks on the same host.
#[derive(Debug, Default)]
pub(crate) struct HostedRank {
    pub rank: Rank,
    pub job: u32,
    pub host: NodeId,
    /// The part that handles this rank's host, or [`LOCAL`].
    pub part: u16,
    pub begun: bool,
    /// By receiving rank and port, the time at which the last copy ends. Messages are copied one at a time.
    pub copies: Vec<((u32, u8), Time)>,
}

impl HostedRank {
    /// Begins a copy to a rank and port on the same host as soon as the one before has ended. Returns its end.
    pub fn copy(&mut self, to: (u32, u8), now: Time, takes: Time) -> Time {
        let place = self.copies.binary_search_by_key(&to, |(to, _)| *to).unwrap_or_else(|place| {
            self.copies.insert(place, (to, Time::ZERO));
            place
        });
        let free = &mut self.copies[place].1;
        *free = (*free).max(now) + takes;
        *free
    }
}

/// A message that was posted again by another port, so that its end and its arrival do not count.
const VOID: u32 = u32::MAX;

/// The messages of a flow between two ranks. They stay in order, so packets and answers need not identify them.
#[derive(Debug, Default)]
struct Queues {
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
                let hosted = HostedRank { rank: state, job: number, host, part, begun: false, copies: Vec::new() };
                jobs.ranks.push(hosted);
            }
        }
        jobs.channels = Store::new(Vec::new(), specs.iter().map(|spec| spec.channels.len()).sum());
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

    /// Whether a rank of this simulator has an event at a known time: the end of an operation's work, or of a copy.
    pub fn wait_for_time(&self) -> bool {
        self.ranks.iter().any(|hosted| hosted.rank.waits_for_time())
    }

    /// Records that a rank has finished.
    pub fn rank_done(&mut self) {
        self.open -= 1;
    }

    /// The flow of a rank's messages to another; `None` if they share a host.
    pub fn flow(&self, rank: RankId, to: u32, port: u8) -> Option<FlowId> {
        let job = self.ranks[rank.index()].job;
        let (spec, from) = (&self.specs[job as usize], rank.0 - self.first_rank[job as usize]);
        let place = spec.channels.binary_search(&(from, to, port)).ok()?;
        Some(FlowId(spec.first_flow.0 + place as u32))
    }

    fn job_of(&self, flow: FlowId) -> usize {
        self.specs.partition_point(|spec| spec.first_flow <= flow) - 1
    }

    /// The job of a flow.
    pub fn spec_of(&self, flow: FlowId) -> &JobSpec {
        &self.specs[self.job_of(flow)]
    }

    /// The sender and the receiver of a flow.
    pub fn ends(&self, flow: FlowId) -> (RankId, RankId) {
        let job = self.job_of(flow);
        let (from, to, _) = self.specs[job].channels[(flow.0 - self.specs[job].first_flow.0) as usize];
        (self.id(job as u32, from), self.id(job as u32, to))
    }

    fn queues(&mut self, flow: FlowId) -> &mut Queues {
        let first = self.first_flow();
        self.channels.get_or_make((flow.0 - first) as usize, Queues::default)
    }

    /// Records that a message is posted. It is sent after the flow's earlier messages.
    pub fn post(&mut self, flow: FlowId, send: u32) {
        self.queues(flow).leaving.push_back(send);
    }

    /// Notifies a receiver of a message that is on its way.
    pub fn announce(&mut self, flow: FlowId, send: u32) {
        self.queues(flow).announced.push_back(send);
    }

    /// The part that handles the receiver of a flow.
    pub fn part_of_receiver(&self, flow: FlowId) -> u16 {
        self.ranks[self.ends(flow).1.index()].part
    }

    /// The sender of the flow's message that has just been sent, and the index of its send operation; `None` if its end
    /// does not count.
    pub fn left(&mut self, flow: FlowId) -> Option<(RankId, u32)> {
        let send = self.queues(flow).leaving.pop_front().expect("a message leaves after it was posted");
        (send != VOID).then(|| (self.ends(flow).0, send))
    }

    /// The sender and the receiver of the flow's message that has just arrived, and the index of its send
    /// operation; `None` if it does not count.
    pub fn arrived(&mut self, flow: FlowId) -> Option<(RankId, RankId, u32)> {
        let send = self.queues(flow).announced.pop_front().expect("a message is announced before it arrives");
        let (from, to) = self.ends(flow);
        (send != VOID).then_some((from, to, send))
    }

    /// Takes over the ranks of another part's hosts, and their ends of channels.
    pub fn take(&mut self, other: &mut Jobs, theirs: &dyn Fn(NodeId) -> bool) {
        let first = self.first_flow();
        let made: Vec<usize> = (0..other.channels.len()).filter(|&i| other.channels.get(i).is_some()).collect();
        for channel in made {
            let (from, to) = self.ends(FlowId(first + channel as u32));
            let (sends, receives) = (theirs(self.ranks[from.index()].host), theirs(self.ranks[to.index()].host));
            let (ours, its) = (self.channels.get_or_make(channel, Queues::default), &mut other.channels[channel]);
            if sends {
                std::mem::swap(&mut ours.leaving, &mut its.leaving);
            }
            if receives {
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
