//! Converts traces to a program.

use std::collections::{BTreeMap, HashMap};

use becalm_engine::{Time, order};

use super::node::{Gathered, Kind, Node, short};
use super::silence::Silence;
use super::trace::Trace;
use crate::builder::Builder;
use crate::collectives::{AllGather, AllReduce, AllToAll, Broadcast, Collective, ReduceScatter, Repetition};
use crate::mistakes::Mistakes;
use crate::operation::{Action, LARGEST_MESSAGE, Op, OpId, Part, When};
use crate::program::{Program, Reading};

/// Lanes of a rank, for the CPU, the GPU, communication, and operations without duration.
const CPU: u16 = 0;
const GPU: u16 = 1;
const COMM: u16 = 2;
const NOTHING: u16 = 3;

/// The first tag of collectives. Other messages have smaller tags.
const FIRST_TAG: u32 = 1 << 31;
/// Duration of the longest computation, in microseconds (one day).
const LONGEST: u64 = 86_400_000_000;

/// The first and the last operation of a node.
type Ends = (OpId, OpId);
/// The collectives of a group by rank, as indices of nodes.
type Group = BTreeMap<u32, Vec<usize>>;

pub(super) fn program(traces: &[Trace], name: &str, gathered: Gathered) -> Result<Reading, Mistakes> {
    let mut lowering = Lowering {
        builder: Builder::new(traces.len() as u32),
        mistakes: Mistakes::new(name),
        tag: FIRST_TAG,
        gathered,
        absent: Ignored::default(),
        circular: Ignored::default(),
        silence: Silence::default(),
    };
    let ends: Vec<Vec<Ends>> = (0..).zip(traces).map(|(rank, trace)| lowering.nodes(rank, trace)).collect();
    for (group, members) in groups(traces) {
        lowering.group(group, &members, traces, &ends);
    }
    let Lowering { builder, mistakes, absent, circular, silence, .. } = lowering;
    mistakes.settle(())?;
    let program = builder.build().map_err(|error| Mistakes::one(name, None, error.to_string()))?;
    let absent = absent.warning(name, "on nodes that do not exist");
    let circular = circular.warning(name, "in ranks where they form a cycle");
    let silent = silence.warnings(name, traces, &program);
    Ok(Reading { program, warnings: absent.into_iter().chain(circular).chain(silent).collect() })
}

/// The groups of ranks by name.
fn groups(traces: &[Trace]) -> BTreeMap<Option<&str>, Group> {
    let mut groups: BTreeMap<Option<&str>, Group> = BTreeMap::new();
    for (rank, trace) in (0..).zip(traces) {
        for (at, node) in trace.nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Collective) {
            let name = node.comm.group.as_deref().filter(|name| !name.is_empty());
            groups.entry(name).or_default().entry(rank).or_default().push(at);
        }
    }
    if let Some(all) = groups.get_mut(&None) {
        for rank in 0..traces.len() as u32 {
            all.entry(rank).or_default();
        }
    }
    groups
}

struct Lowering {
    builder: Builder,
    mistakes: Mistakes,
    /// The next tag of a collective.
    tag: u32,
    gathered: Gathered,
    /// Control dependencies on nodes that a trace does not have.
    absent: Ignored,
    /// Control dependencies of ranks whose control dependencies form a cycle.
    circular: Ignored,
    silence: Silence,
}

/// Ignored control dependencies. The converter of PyTorch traces writes some that are clearly unintended.
#[derive(Default)]
struct Ignored {
    count: usize,
    /// The first dependency, in words.
    first: String,
}

impl Ignored {
    fn note(&mut self, trace: &Trace, node: &Node, id: u64) {
        if self.count == 0 {
            self.first = format!("{}: node {} on node {id}", trace.file, node.id);
        }
        self.count += 1;
    }

    fn warning(&self, name: &str, which: &str) -> Option<String> {
        let Ignored { count, first } = self;
        (*count > 0).then(|| format!("{name}: ignored control dependencies {which}: {count} (first: {first})"))
    }
}

/// Whether the control dependencies form a cycle, by themselves or together with data dependencies.
/// Repeatedly removes nodes that wait for nothing.
fn goes_round(trace: &Trace, places: &HashMap<u64, usize>) -> bool {
    let mut needs = vec![0_usize; trace.nodes.len()];
    let mut waiting = vec![Vec::new(); trace.nodes.len()];
    for (at, node) in trace.nodes.iter().enumerate() {
        for earlier in node.data.iter().chain(&node.control).filter_map(|id| places.get(id)) {
            needs[at] += 1;
            waiting[*earlier].push(at);
        }
    }
    let mut free: Vec<usize> = (0..needs.len()).filter(|&at| needs[at] == 0).collect();
    let mut left = needs.len();
    while let Some(at) = free.pop() {
        left -= 1;
        for &waits in &waiting[at] {
            needs[waits] -= 1;
            if needs[waits] == 0 {
                free.push(waits);
            }
        }
    }
    left > 0
}

impl Lowering {
    fn add(&mut self, rank: u32, action: Action, lane: u16) -> OpId {
        self.builder.add(rank, Op { action, lane, part: Part::Eager, port: 0 })
    }

    fn wrong(&mut self, trace: &Trace, node: &Node, problem: &str) {
        self.mistakes.add(None, format!("{}: node {}: {problem}", trace.file, node.id));
    }

    /// Adds the operations of a rank's nodes and their dependencies. Collectives only get a beginning and an
    /// end.
    fn nodes(&mut self, rank: u32, trace: &Trace) -> Vec<Ends> {
        let mut places = HashMap::with_capacity(trace.nodes.len());
        for (at, node) in trace.nodes.iter().enumerate() {
            if places.insert(node.id, at).is_some() {
                self.wrong(trace, node, "occurs twice");
            }
        }
        let ends: Vec<Ends> = trace.nodes.iter().map(|node| self.node(rank, trace, node)).collect();
        let circular = goes_round(trace, &places);
        for (node, &(begin, _)) in trace.nodes.iter().zip(&ends) {
            let mut after = node.data.clone();
            for &id in &node.control {
                match places.contains_key(&id) {
                    true if circular => self.circular.note(trace, node, id),
                    true => after.push(id),
                    false => self.absent.note(trace, node, id),
                }
            }
            order::sort_and_dedup(&mut after, Ord::cmp);
            for id in after {
                match places.get(&id) {
                    Some(&at) => self.builder.after(begin, ends[at].1, When::Done),
                    None => self.wrong(trace, node, &format!("waits for node {id}, which is not in the trace")),
                }
            }
        }
        ends
    }

    fn node(&mut self, rank: u32, trace: &Trace, node: &Node) -> Ends {
        let nothing = Action::Calc { time: Time::ZERO };
        let (action, lane) = match node.kind {
            Kind::Nothing => (Ok(nothing), NOTHING),
            Kind::Compute => (compute(node), if node.on_cpu { CPU } else { GPU }),
            Kind::Send | Kind::Recv => (self.exchange(rank, node), COMM),
            Kind::Collective => {
                let ends = [nothing; 2].map(|action| self.add(rank, action, NOTHING));
                self.builder.after(ends[1], ends[0], When::Done);
                return (ends[0], ends[1]);
            }
        };
        let action = action.unwrap_or_else(|problem| {
            self.wrong(trace, node, &problem);
            nothing
        });
        let op = self.add(rank, action, lane);
        (op, op)
    }

    /// The action of a send or a receive.
    fn exchange(&self, rank: u32, node: &Node) -> Result<Action, String> {
        let (name, other) = match node.kind {
            Kind::Send => ("comm_dst", node.comm.destination),
            _ => ("comm_src", node.comm.source),
        };
        let ranks = u64::from(self.builder.ranks());
        let other = other.ok_or_else(|| format!("`{name}` is missing"))?;
        if other >= ranks {
            return Err(format!("`{name}`: there is no rank {other}; the ranks are 0 to {}", ranks - 1));
        }
        if other == u64::from(rank) {
            return Err(format!("`{name}`: a rank cannot send to itself or receive from itself"));
        }
        let (other, bytes) = (other as u32, size(node)?);
        let tag = node.comm.tag.unwrap_or(0);
        let tag = u32::try_from(tag).ok().filter(|&tag| tag < FIRST_TAG);
        let tag = tag.ok_or_else(|| format!("`comm_tag` must be below {FIRST_TAG}"))?;
        Ok(match node.kind {
            Kind::Send => Action::Send { to: other, bytes, tag },
            _ => Action::Recv { from: Some(other), bytes, tag: Some(tag) },
        })
    }

    /// Adds the collectives of a group.
    fn group(&mut self, name: Option<&str>, members: &Group, traces: &[Trace], ends: &[Vec<Ends>]) {
        let ranks: Vec<u32> = members.keys().copied().collect();
        let Some(first) = members.values().next() else { return };
        let uneven = members.iter().find(|(_, own)| own.len() != first.len());
        if let Some((rank, own)) = uneven {
            let group = name.map_or("without a name".to_string(), |name| format!("`{}`", short(name)));
            let problem = format!(
                "group {group}: rank {} has {} collectives, rank {rank} has {}",
                ranks[0],
                first.len(),
                own.len()
            );
            return self.mistakes.add(None, problem);
        }
        let count = first.len();
        if let Some(node) = first.first().map(|&at| &traces[ranks[0] as usize].nodes[at]) {
            let words = format!("{}: node {}", traces[ranks[0] as usize].file, node.id);
            self.silence.note(name, node.comm.group_size, ranks.len(), (count, &words));
        }
        for number in 0..count {
            let nodes = members.iter().map(|(&rank, own)| (rank, own[number]));
            self.collective(&nodes.collect::<Vec<_>>(), traces, ends);
        }
    }

    /// Adds a collective. Each member has a rank and the index of its node.
    fn collective(&mut self, members: &[(u32, usize)], traces: &[Trace], ends: &[Vec<Ends>]) {
        let node = |&(rank, at): &(u32, usize)| &traces[rank as usize].nodes[at];
        let first = node(&members[0]);
        if let Some(other) = members
            .iter()
            .find(|other| node(other).comm.kind != first.comm.kind || node(other).comm.size != first.comm.size)
        {
            let problem = format!(
                "differs in kind or size from node {} of rank {}, which belongs to the same collective",
                first.id, members[0].0
            );
            return self.wrong(&traces[other.0 as usize], node(other), &problem);
        }
        let mut members = members.to_vec();
        let made = collective(first, members.len() as u64, self.gathered).and_then(|collective| {
            let root = first.comm.root.unwrap_or(u64::from(members[0].0));
            let at = members.iter().position(|(rank, _)| u64::from(*rank) == root);
            members.rotate_left(at.ok_or_else(|| format!("`root_rank`: rank {root} is not in the group"))?);
            match members.len() {
                1 => Ok(None),
                ranks => {
                    let once = Repetition { times: 1, compute: Time::ZERO, reduction_per_byte: 0.0 };
                    collective.listed(ranks as u32, &once).map(Some).map_err(|error| error.to_string())
                }
            }
        });
        match made {
            Ok(Some(schedule)) => self.put(&schedule, &members, ends),
            Ok(None) => {}
            Err(problem) => self.wrong(&traces[members[0].0 as usize], first, &problem),
        }
    }

    /// Inserts a schedule between the beginnings and the ends of a collective's nodes.
    fn put(&mut self, schedule: &Program, members: &[(u32, usize)], ends: &[Vec<Ends>]) {
        let (base, mut last) = (self.tag, self.tag);
        let ranks: Vec<u32> = members.iter().map(|&(rank, _)| rank).collect();
        let mut tagged = |tag: u32| {
            last = last.max(base.saturating_add(tag));
            base.saturating_add(tag)
        };
        let ops = self.builder.insert(schedule, &ranks, |mut op| {
            match &mut op.action {
                Action::Calc { .. } | Action::Recv { tag: None, .. } => {}
                Action::Send { tag, .. } | Action::Recv { tag: Some(tag), .. } => *tag = tagged(*tag),
            }
            Op { lane: COMM, ..op }
        });
        for member in 0..schedule.ranks() {
            let (rank, at) = members[member as usize];
            let (begin, end) = ends[rank as usize][at];
            for number in schedule.of_rank(member) {
                let op = ops[number as usize];
                if schedule.needs(number) == 0 {
                    self.builder.after(op, begin, When::Done);
                }
                if schedule.waiting(number).next().is_none() {
                    self.builder.after(end, op, When::Done);
                }
            }
        }
        // Only collectives that are two billion steps apart can have the same tags.
        self.tag = if last > u32::MAX - (1 << 20) { FIRST_TAG } else { last + 1 };
    }
}

fn compute(node: &Node) -> Result<Action, String> {
    match node.micros {
        micros if micros <= LONGEST => Ok(Action::Calc { time: Time::from_us(micros) }),
        micros => Err(format!("`duration_micros` must be at most {LONGEST}, not {micros}")),
    }
}

fn size(node: &Node) -> Result<u64, String> {
    match node.comm.size {
        Some(bytes) if bytes <= LARGEST_MESSAGE => Ok(bytes),
        Some(bytes) => Err(format!("`comm_size` must be at most {LARGEST_MESSAGE}, not {bytes}")),
        None => Err("`comm_size` is missing".to_string()),
    }
}

/// The collective of a node with this number of ranks, with an algorithm for long vectors.
fn collective(node: &Node, ranks: u64, gathered: Gathered) -> Result<Collective, String> {
    let gather = || match gathered {
        Gathered::Part => size(node).map(|part| part * ranks),
        Gathered::Whole => size(node),
    };
    Ok(match node.comm.kind.ok_or("`comm_type` is missing")? {
        0 => Collective::AllReduce(AllReduce::Ring, size(node)?),
        1 => Collective::Reduce(size(node)?),
        2 => Collective::AllGather(AllGather::Ring, gather()?),
        5 => Collective::Broadcast(Broadcast::Binomial, size(node)?),
        6 => Collective::AllToAll(AllToAll::Pairwise, size(node)?),
        7 | 8 => Collective::ReduceScatter(ReduceScatter::Ring, size(node)?),
        9 => Collective::Barrier,
        kind => {
            let valid =
                "0 all-reduce, 1 reduce, 2 all-gather, 5 broadcast, 6 all-to-all, 7 and 8 reduce-scatter, 9 barrier";
            return Err(format!("`comm_type` {kind} is not supported; valid: {valid}"));
        }
    })
}
