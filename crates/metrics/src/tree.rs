//! The roots and branches of congestion trees among the outputs, and the periods of these roles.

use becalm_engine::Time;
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::{NodeId, NodeKind, Packet, PortId, Topology};

use crate::ports::Ports;
use crate::schema;
use crate::table::Table;

/// The role of an output in a congestion tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// No role.
    #[default]
    Calm,
    /// The output has credit and a long queue, or waits for a host, so the congestion begins here.
    Root,
    /// The output's packets wait for credit, because of congestion further along the path.
    Branch,
}

impl Role {
    /// Name of the role in tables.
    pub fn name(self) -> &'static str {
        match self {
            Role::Calm => "calm",
            Role::Root => "root",
            Role::Branch => "branch",
        }
    }
}

/// Times in which an output had a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Episode {
    /// Time in the measured window.
    pub total: Time,
    /// Start of the first period that extends into the window.
    pub since: Time,
    /// End of the last period.
    pub until: Time,
    /// Length of the longest period, including its part outside the window.
    pub longest: Time,
    /// Start of the longest period.
    pub longest_since: Time,
}

impl Episode {
    fn add(&mut self, from: Time, start: Time, end: Time) {
        if end <= from {
            return;
        }
        if self.total == Time::ZERO {
            self.since = start;
        }
        self.total += end.since(start.max(from));
        self.until = end;
        if end.since(start) > self.longest {
            (self.longest, self.longest_since) = (end.since(start), start);
        }
    }
}

/// A period in which a virtual lane of an output had one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the output in [`Ports`].
    pub port: u32,
    /// The virtual lane.
    pub vl: u8,
    /// Root or branch.
    pub role: Role,
    /// Start.
    pub begin: Time,
    /// End.
    pub end: Time,
    /// Shorter periods and gaps of the lane are merged with their neighbours; zero if none are.
    pub resolution: Time,
}

/// One virtual lane of an output.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Whether the lane leads to a host.
    last: bool,
    /// Whether its queue exceeds half of an input buffer.
    long: bool,
    empty: bool,
    stalled: bool,
    /// Whether it has waited for credit since it last began to send.
    waited: bool,
    /// Whether the packet in transmission had to wait for credit and others wait behind it.
    lags: bool,
    role: Role,
    since: Time,
}

/// Minimum number of periods kept per lane, however many lanes there are.
pub const LEAST_PERIODS: usize = 16;

/// The episodes of an output's virtual lane as a root and as a branch.
type Episodes = (Episode, Episode);

/// The record of an output's virtual lane.
struct Record<'a> {
    from: Time,
    episodes: &'a mut Episodes,
    /// Index of the lane, and the periods of all lanes if they are kept.
    at: usize,
    log: &'a mut Option<Log>,
}

/// A role with its start and its end.
type Period = (Role, Time, Time);

/// The periods of all lanes.
#[derive(Clone, Debug)]
struct Log {
    /// Largest number of periods per lane; beyond it, they are merged to half that number.
    most: usize,
    lanes: Vec<Periods>,
}

/// The periods of one lane, in chronological order.
#[derive(Clone, Debug, Default)]
struct Periods {
    all: Vec<Period>,
    /// Shorter periods and gaps are merged with their neighbours.
    resolution: Time,
}

impl Periods {
    fn add(&mut self, period: Period, most: usize) {
        self.push(period);
        let full = self.all.len() > most;
        while full && self.all.len() > most / 2 {
            let (first, last) = (self.all[0].1, self.all[self.all.len() - 1].2);
            let least = last.since(first).0 / (8 * most as u64);
            self.resolution = Time(2 * self.resolution.0.max(least).max(1));
            let all = std::mem::take(&mut self.all);
            all.into_iter().for_each(|period| self.push(period));
        }
    }

    /// Appends a period, or merges it with the last one. They merge if the gap is short and either one of them is short
    /// or they have the same role. The longer one determines the role.
    fn push(&mut self, period: Period) {
        let (role, begin, end) = period;
        if let Some(last) = self.all.last_mut() {
            let short = |begin: Time, end: Time| end.since(begin) < self.resolution;
            let one_is_short = short(last.1, last.2) || short(begin, end) || last.0 == role;
            if short(last.2, begin) && one_is_short {
                if end.since(begin) > last.2.since(last.1) {
                    last.0 = role;
                }
                last.2 = end;
                return;
            }
        }
        self.all.push(period);
    }
}

impl Record<'_> {
    fn add(&mut self, role: Role, start: Time, end: Time) {
        match role {
            Role::Calm => return,
            Role::Root => self.episodes.0.add(self.from, start, end),
            Role::Branch => self.episodes.1.add(self.from, start, end),
        }
        if let Some(log) = self.log {
            log.lanes[self.at].add((role, start, end), log.most);
        }
    }
}

impl Lane {
    /// The lane's role after a change.
    #[inline]
    fn new_role(&self) -> Role {
        match self.stalled | self.waited | self.lags {
            true if self.last => Role::Root,
            true => Role::Branch,
            false if self.long => Role::Root,
            false => Role::Calm,
        }
    }
}

/// The roles of all outputs and virtual lanes, updated by events.
///
/// - A lane is a *branch* while it waits for credit. It is also a branch while it sends a packet that had to wait for
///   credit, if others wait behind it, because credit for one packet does not make a root.
/// - Otherwise it is a *root* while its queue exceeds half of an input buffer.
/// - A lane that leads to a host is also a root while it waits for credit, since no switch beyond it could be the root.
///
/// The queues of hosts' outputs are not observed. These outputs are branches while they wait for credit.
#[derive(Clone, Debug)]
pub struct Tree {
    from: Time,
    half: u64,
    vls: usize,
    ports: Ports,
    lanes: Vec<Lane>,
    /// Separate from the lanes, since they are large and rarely used.
    episodes: Vec<Episodes>,
    /// The periods that have ended, if periods are kept.
    log: Option<Log>,
}

impl Tree {
    /// Starts measuring at `from`; `capacity` is the size of an input buffer in bytes.
    pub fn new(topology: &Topology, vls: u8, capacity: u32, from: Time) -> Tree {
        let (ports, vls) = (Ports::new(topology), usize::from(vls));
        let mut lanes = vec![Lane { empty: true, ..Lane::default() }; ports.len() * vls];
        for cable in topology.cables() {
            for (end, other) in [(cable.a, cable.b), (cable.b, cable.a)] {
                let last = topology.node(other.node).kind == NodeKind::Host;
                lanes[ports.index(end) * vls..][..vls].iter_mut().for_each(|lane| lane.last = last);
            }
        }
        let episodes = vec![Episodes::default(); lanes.len()];
        Tree { from, half: u64::from(capacity) / 2, vls, ports, lanes, episodes, log: None }
    }

    /// Keeps about this many periods from now on, for [`Tree::spans`], with equal shares for all lanes.
    pub fn keep_spans(&mut self, most: usize) {
        let most = (most / self.lanes.len().max(1)).max(LEAST_PERIODS);
        self.log = Some(Log { most, lanes: vec![Periods::default(); self.lanes.len()] });
    }

    /// The index of a lane.
    #[inline]
    fn at(&self, output: PortId, vl: u8) -> usize {
        self.ports.index(output) * self.vls + usize::from(vl)
    }

    /// Updates the role of a lane after a change.
    #[inline]
    fn settle(&mut self, now: Time, at: usize) {
        let role = self.lanes[at].new_role();
        if role != self.lanes[at].role {
            self.begin(role, now, at);
        }
    }

    /// Starts a role of a lane.
    #[inline(never)]
    fn begin(&mut self, role: Role, now: Time, at: usize) {
        let lane = &mut self.lanes[at];
        let (last, since) = (std::mem::replace(&mut lane.role, role), std::mem::replace(&mut lane.since, now));
        Record { from: self.from, episodes: &mut self.episodes[at], at, log: &mut self.log }.add(last, since, now);
    }

    /// The current role of a lane.
    pub fn role(&self, output: PortId, vl: u8) -> Role {
        self.lanes[self.at(output, vl)].role
    }

    /// Times of a lane as root and as branch from the start of the window until `end`.
    pub fn episodes(&self, output: PortId, vl: u8, end: Time) -> (Episode, Episode) {
        let at = self.at(output, vl);
        let mut episodes = self.episodes[at];
        let lane = &self.lanes[at];
        Record { from: self.from, episodes: &mut episodes, at, log: &mut None }.add(lane.role, lane.since, end);
        episodes
    }

    /// The periods from time zero until `end`, by output, virtual lane and time; empty if periods are not kept.
    pub fn spans(&self, end: Time) -> Vec<Span> {
        let Some(log) = &self.log else { return Vec::new() };
        let mut spans = Vec::new();
        for (at, (kept, lane)) in log.lanes.iter().zip(&self.lanes).enumerate() {
            let mut kept = kept.clone();
            if lane.role != Role::Calm {
                kept.add((lane.role, lane.since, end), log.most);
            }
            let (port, vl) = ((at / self.vls) as u32, (at % self.vls) as u8);
            let (all, resolution) = (kept.all.into_iter().filter(|(_, begin, end)| begin < end), kept.resolution);
            spans.extend(all.map(|(role, begin, end)| Span { port, vl, role, begin, end, resolution }));
        }
        spans
    }
}

impl Joint for Tree {
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool) {
        self.ports.take_over(&mut self.lanes, &other.lanes, theirs);
        self.ports.take_over(&mut self.episodes, &other.episodes, theirs);
        // Every part sees only the events of its own nodes.
        if let (Some(mine), Some(its)) = (&mut self.log, other.log) {
            self.ports.take_over(&mut mine.lanes, &its.lanes, theirs);
        }
    }
}

impl Observer for Tree {
    #[inline]
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        let at = self.at(from, packet.vl);
        let lane = &mut self.lanes[at];
        if lane.waited || lane.lags {
            lane.lags = lane.waited && !lane.empty;
            lane.waited = false;
            self.settle(now, at);
        }
    }

    #[inline]
    fn queue(&mut self, now: Time, output: PortId, vl: u8, bytes: u64) {
        let (at, empty, long) = (self.at(output, vl), bytes == 0, bytes > self.half);
        let lane = &mut self.lanes[at];
        if (lane.empty, lane.long) == (empty, long) {
            return;
        }
        (lane.empty, lane.long) = (empty, long);
        lane.lags &= !lane.empty;
        self.settle(now, at);
    }

    #[inline]
    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        let at = self.at(output, vl);
        let lane = &mut self.lanes[at];
        lane.stalled = stalled;
        lane.waited |= stalled;
        self.settle(now, at);
    }
}

/// The table `spans`. `ends` names both nodes of every link, in the order of [`Ports`], with the sending port.
pub fn table(spans: &[Span], ends: &[(String, u64, String)]) -> Table {
    let end = |span: &Span| &ends[span.port as usize];
    Table::new(&schema::SPANS)
        .with("from", spans.iter().map(|span| end(span).0.clone()).collect::<Vec<_>>())
        .with("from_port", spans.iter().map(|span| end(span).1).collect::<Vec<_>>())
        .with("to", spans.iter().map(|span| end(span).2.clone()).collect::<Vec<_>>())
        .with("vl", spans.iter().map(|span| u64::from(span.vl)).collect::<Vec<_>>())
        .with("role", spans.iter().map(|span| span.role.name().to_string()).collect::<Vec<_>>())
        .with("begin", spans.iter().map(|span| span.begin.as_secs()).collect::<Vec<_>>())
        .with("end", spans.iter().map(|span| span.end.as_secs()).collect::<Vec<_>>())
        .with("resolution", spans.iter().map(|span| span.resolution.as_secs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::tests::packet;
    use becalm_fabric::Rate;

    const TRUNK: PortId = PortId { node: NodeId(0), port: 0 };
    const TO_HOST: PortId = PortId { node: NodeId(0), port: 1 };

    /// A switch with a cable to another switch and a cable to a host, and buffers of 100 bytes.
    fn tree(from: u64) -> Tree {
        let mut topology = Topology::default();
        let (switch, other, host) = (topology.add_switch("S"), topology.add_switch("T"), topology.add_host("H"));
        let rate = Rate::from_bits_per_second(8e9);
        topology.connect(switch, other, rate, Time::ZERO);
        topology.connect(switch, host, rate, Time::ZERO);
        Tree::new(&topology, 1, 100, Time(from))
    }

    fn episode(total: u64, since: u64, until: u64, longest: u64, longest_since: u64) -> Episode {
        let [total, since, until, longest, longest_since] = [total, since, until, longest, longest_since].map(Time);
        Episode { total, since, until, longest, longest_since }
    }

    #[test]
    fn a_long_queue_with_credit_is_a_root() {
        let mut tree = tree(0);
        for (now, bytes) in [(1, 50), (2, 51), (4, 40), (5, 90), (9, 0)] {
            tree.queue(Time(now), TO_HOST, 0, bytes);
            tree.hop(Time(now), TO_HOST, &packet(0, 0, Time::ZERO));
        }
        assert_eq!(tree.episodes(TO_HOST, 0, Time(20)), (episode(6, 2, 9, 4, 5), Episode::default()));
    }

    #[test]
    fn a_queue_that_waits_for_credit_now_and_then_is_a_branch_throughout() {
        let mut tree = tree(0);
        let sends = |tree: &mut Tree, now, left| {
            tree.queue(Time(now), TRUNK, 0, left);
            tree.hop(Time(now), TRUNK, &packet(0, 0, Time::ZERO));
        };
        tree.queue(Time(1), TRUNK, 0, 90);
        for (stop, go, left) in [(2, 4, 80), (5, 9, 70)] {
            tree.stalled(Time(stop), TRUNK, 0, true);
            tree.stalled(Time(go), TRUNK, 0, false);
            sends(&mut tree, go, left);
        }
        assert_eq!(tree.episodes(TRUNK, 0, Time(10)), (episode(1, 1, 2, 1, 1), episode(8, 2, 10, 8, 2)));
        sends(&mut tree, 12, 60);
        sends(&mut tree, 13, 0);
        assert_eq!(tree.episodes(TRUNK, 0, Time(20)), (episode(2, 1, 13, 1, 1), episode(10, 2, 12, 10, 2)));
    }

    #[test]
    fn spans_are_all_periods_from_the_start_to_the_end() {
        let mut tree = tree(10);
        tree.keep_spans(100);
        for (now, bytes) in [(1, 90), (3, 0), (8, 90)] {
            tree.queue(Time(now), TRUNK, 0, bytes);
        }
        tree.stalled(Time(9), TRUNK, 0, true);
        let resolution = Time::ZERO;
        let span = |role, begin, end| Span { port: 0, vl: 0, role, begin: Time(begin), end: Time(end), resolution };
        let expected = [span(Role::Root, 1, 3), span(Role::Root, 8, 9), span(Role::Branch, 9, 20)];
        assert_eq!(tree.spans(Time(20)), expected);
    }

    #[test]
    fn many_spans_are_merged_and_the_long_ones_stay() {
        let mut tree = tree(0);
        tree.keep_spans(0);
        // Periods of 1 ns every 2 ns, except for two long ones with no periods around them.
        for i in 0..1_000_000u64 {
            let begin = 2_000 * i;
            let silent = (400_000..=600_000).contains(&i);
            if silent && i != 450_000 && i != 550_000 {
                continue;
            }
            tree.queue(Time(begin), TRUNK, 0, 90);
            tree.queue(Time(begin + if silent { 50_000_000 } else { 1_000 }), TRUNK, 0, 0);
        }
        let spans = tree.spans(Time(2_000_000_000));
        assert!((4..=LEAST_PERIODS).contains(&spans.len()), "{}", spans.len());
        assert!(spans.iter().all(|span| span.role == Role::Root && span.resolution > Time::ZERO));
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].begin));
        for begin in [900_000_000, 1_100_000_000] {
            let long = spans.iter().find(|span| span.begin == Time(begin)).unwrap();
            assert_eq!(long.end, Time(begin + 50_000_000));
        }
        let busy: u64 = spans.iter().map(|span| span.end.since(span.begin).0).sum();
        assert!((1_600_000_000..1_710_000_000).contains(&busy), "{busy}");
    }

    #[test]
    fn a_wait_for_a_host_is_a_root() {
        let mut tree = tree(0);
        tree.queue(Time(1), TO_HOST, 0, 10);
        tree.stalled(Time(1), TO_HOST, 0, true);
        assert_eq!(tree.episodes(TO_HOST, 0, Time(5)), (episode(4, 1, 5, 4, 1), Episode::default()));
    }

    #[test]
    fn the_warm_up_does_not_count_but_periods_may_begin_in_it() {
        let mut tree = tree(10);
        for (now, bytes) in [(1, 90), (3, 0), (8, 90), (12, 0)] {
            tree.queue(Time(now), TRUNK, 0, bytes);
        }
        assert_eq!(tree.episodes(TRUNK, 0, Time(20)).0, episode(2, 8, 12, 4, 8));
    }
}
