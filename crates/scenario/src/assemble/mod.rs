//! The model of a checked scenario. Only this module builds the fabric and its schemes.

use std::collections::HashMap;

use becalm_control::response::{Clock, TimerScope};
use becalm_control::{EchoScheme, Echoing, Marking, MarkingScheme, Responding, ResponseParams, ResponseScheme};
use becalm_engine::{Stream, Time};
use becalm_external::Faults;
use becalm_fabric::{
    FabricError, FlowId, FlowSpec, JobSpec, NodeId, NodeKind, PacketConfig, ParallelFabric, Partition, PortId,
    RateChange, SourceSpec, SwitchConfig,
};
use becalm_metrics::{Messages, Pauses, Ports, Watch};
use becalm_model::{Model, Spec};

use crate::scenario::Scenario;
use crate::sections::Settings;
use crate::sections::adapter::PortControl;
use crate::sections::flows::Restart;
use crate::trains::{longest, span};

/// Number of packets between switches per look-ahead from which an additional thread makes a run faster. Two threads
/// with 430 each take 0.6 times as long as one.
const PACKETS_PER_THREAD: u64 = 400;
/// Number of packets between switches per look-ahead that an additional thread requires. Two threads with 31 each take
/// 0.6 times as long as one, with 15 each 1.1 times, since they mainly synchronize.
const LEAST_PER_THREAD: u64 = 25;
/// Number of packets between switches per look-ahead that an additional group of nodes requires.
const PACKETS_PER_TURN: u64 = 10;
/// Number of ports whose state fits into a core's smallest cache, without the packets in their buffers.
const PORTS_PER_GROUP: usize = 16;
/// Smallest and largest number of groups. Fewer groups save less time than their inboxes cost.
const GROUPS: (usize, usize) = (5, 8192);

/// The traffic of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// The entire traffic.
    All,
    /// The traffic of one job.
    Job(usize),
}

/// The purposes of the random streams for the phases of timers, the clock errors of hosts and the starts of sources.
const PHASE_STREAM: u64 = 1 << 33;
const CLOCK_STREAM: u64 = 1 << 34;
const START_STREAM: u64 = 1 << 35;
const LEVEL_PHASE_STREAM: u64 = 1 << 36;

/// The clock of a response, with the phase of its timer and the error of its host's clock.
fn clock(seed: u64, scope: TimerScope, response: u64, (host, sl): (NodeId, u32)) -> Clock {
    let mut phase = match scope {
        TimerScope::Flow => Stream::new(seed, response, PHASE_STREAM),
        TimerScope::Sl => Stream::new(seed, u64::from(host.0) << 4 | u64::from(sl), LEVEL_PHASE_STREAM),
    };
    Clock { phase: phase.unit(), error: 2.0 * Stream::new(seed, u64::from(host.0), CLOCK_STREAM).unit() - 1.0 }
}

impl Scenario {
    /// Largest number of packets that a simulated packet may stand for: 1 in an exact run.
    pub fn train(&self) -> u32 {
        longest(&self.sections, &self.network, self.buffers)
    }

    /// The fabric in its initial state, with all traffic or only one job's traffic.
    ///
    /// If `makes_later`, flows of jobs whose response is steady are made when they first carry a message.
    pub(crate) fn fabric_spec(&self, seed: u64, traffic: Traffic, faults: &Faults, makes_later: bool) -> Spec {
        let sections = &self.sections;
        let vls = sections.vls();
        let shapes = self.network.switch_shapes(vls, self.capacity_bytes());
        let markers = shapes.into_iter().map(|shape| {
            let mut marker = Marking::new(&sections.marking, shape);
            if let Marking::External(external) = &mut marker {
                external.watched_by(faults.clone());
            }
            marker
        });
        let mut echo = Echoing::new(&sections.echo);
        if let Echoing::External(external) = &mut echo {
            external.watched_by(faults.clone());
        }
        let steady = makes_later && self.flows_can_be_made_later();
        let (flows, responses) = self.flows(seed, faults, steady);
        Spec {
            topology: self.network.topology.clone(),
            routes: self.network.routes.clone(),
            switch: self.switch_config(),
            packets: PacketConfig { train: self.train(), train_span: span(sections), ..sections.packet_config() },
            adapters: self.plan.adapters.clone(),
            flows,
            responses,
            sources: if traffic == Traffic::All { self.sources(seed) } else { Vec::new() },
            jobs: self.jobs(traffic, steady.then_some(self.first_of_jobs())),
            changes: self.rate_changes(),
            faults: self.plan.faults.iter().map(|each| each.fault).collect(),
            markers: markers.collect(),
            echo,
            seed,
        }
    }

    /// The first flow of jobs.
    pub(crate) fn first_of_jobs(&self) -> u32 {
        self.plan.groups.get(self.sections.flows.len()).map_or(0, |flows| flows.start)
    }

    /// Whether flows of jobs can be made when they first carry a message: if no flow responds to congestion, and each has
    /// its own pacer, the time at which they are made changes nothing.
    pub(crate) fn flows_can_be_made_later(&self) -> bool {
        let sections = &self.sections;
        let of = |group: Settings<'_>| group.response.unwrap_or(&sections.response).clone();
        let mut responses = sections.groups().skip(sections.flows.len()).map(of);
        let first = responses.next();
        let has_flows = self.plan.flows.len() > self.first_of_jobs() as usize;
        has_flows
            && first.is_some_and(|first| responses.all(|other| other == first))
            && sections.groups().all(|group| matches!(of(group), ResponseParams::Unlimited(_)))
            && *sections.adapter.port_control == PortControl::Qp
            && sections.adapter.control_map.is_none()
    }

    /// The jobs of a run. `steady` is the response of all their flows, if these are made later.
    fn jobs(&self, traffic: Traffic, steady: Option<u32>) -> Vec<JobSpec> {
        let first = self.sections.flows.len();
        let wanted = |i: &usize| traffic == Traffic::All || traffic == Traffic::Job(*i);
        let numbers = (0..self.plan.jobs.len()).filter(wanted);
        numbers.map(|i| self.job_spec(i, FlowId(self.plan.groups[first + i].start), steady)).collect()
    }

    fn job_spec(&self, number: usize, first_flow: FlowId, steady: Option<u32>) -> JobSpec {
        let section = &self.sections.jobs[number];
        let job = self.plan.jobs[number].as_ref().expect("checked");
        let overhead_rate = section.overhead_rate.as_ref();
        JobSpec {
            program: job.program.clone(),
            start: *section.start,
            hosts: job.hosts.clone(),
            together: job.together.clone(),
            channels: job.channels.clone(),
            first_flow,
            overhead: *section.overhead,
            overhead_per_byte: overhead_rate.map_or(0.0, |rate| 1e12 / rate.rate().bytes_per_second()),
            local_latency: *section.local_latency,
            local_rate: section.local_rate.as_ref().map(|rate| rate.rate()),
            record: *section.record_ops,
            steady,
        }
    }

    pub(crate) fn rate_changes(&self) -> Vec<RateChange> {
        self.network.rate_changes(&self.sections)
    }

    /// Size of an input buffer in bytes.
    pub(crate) fn capacity_bytes(&self) -> u32 {
        self.buffers.bytes
    }

    /// Number of full packets that fit into an input buffer; with PFC, up to XOFF.
    pub(crate) fn buffered_packets(&self) -> u32 {
        let largest = self.sections.largest(&self.sections.packet);
        let switch = self.switch_config();
        if switch.flow_control.pfc().is_some() {
            self.buffers.bytes / largest
        } else {
            self.buffers.room.holds(largest)
        }
    }

    /// The fabric's settings for the switches.
    pub(crate) fn switch_config(&self) -> SwitchConfig {
        self.sections.switch_config(self.buffers.room)
    }

    /// The flows and their responses. There is one response for each flow, or one for all flows of a host and
    /// service level, or only one for all flows of jobs, if these are made later.
    fn flows(&self, seed: u64, faults: &Faults, makes_later: bool) -> (Vec<FlowSpec>, Vec<Responding>) {
        let sections = &self.sections;
        let new = |group: Settings<'_>| Responding::new(group.response.unwrap_or(&sections.response));
        // Some responses share a table among their clones.
        let initial: Vec<Responding> = sections.groups().map(new).collect();
        let none = Responding::new(&ResponseParams::default());
        let mut responses = Vec::new();
        let mut shared: HashMap<(NodeId, u32), u32> = HashMap::new();
        let mut flows = Vec::with_capacity(self.plan.flows.len());
        let first_of_jobs = self.first_of_jobs() as usize;
        for flow in &self.plan.flows {
            let sl = u32::from(flow.sl);
            let shares = makes_later && responses.len() > first_of_jobs;
            let mut add = || {
                let responds = sections.adapter.control_map.as_ref().is_none_or(|map| map.contains(&sl));
                let mut response = if responds { initial[flow.group as usize].clone() } else { none.clone() };
                if let Responding::Ibta(timed) = &mut response {
                    timed.run_by(clock(seed, timed.timer_scope(), responses.len() as u64, (flow.source, sl)));
                }
                if let Responding::External(external) = &mut response {
                    external.watched_by(faults.clone(), responses.len() as u32);
                }
                responses.push(response);
                responses.len() as u32 - 1
            };
            let response = match *sections.adapter.port_control {
                PortControl::Qp if shares => first_of_jobs as u32,
                PortControl::Qp => add(),
                PortControl::Sl => *shared.entry((flow.source, sl)).or_insert_with(add),
            };
            let vl = |sl| sections.switch.vl(u32::from(sl)).expect("checked") as u8;
            let (vl, answers_vl) = (vl(flow.sl), vl(flow.answers_sl));
            let restart = sections.flows.get().and_then(|groups| groups.get(flow.group as usize));
            let restart = restart.is_some_and(|group| *group.restart == Restart::Message);
            let (source, destination) = (flow.source, flow.destination);
            flows.push(FlowSpec { source, destination, vl, answers_vl, response, restart });
        }
        (flows, responses)
    }

    /// The traffic sources. The start times include the random spread of their group.
    pub(crate) fn sources(&self, seed: u64) -> Vec<SourceSpec> {
        let mut sources = self.plan.sources.clone();
        for (number, source) in sources.iter_mut().enumerate() {
            let group = self.plan.flows[source.flows.start as usize].group;
            let spread = *self.sections.flows[group as usize].start_spread;
            if spread > Time::ZERO {
                let share = Stream::new(seed, number as u64, START_STREAM).unit();
                source.start = source.start.saturating_add(spread.scaled(share));
            }
        }
        sources
    }

    /// Number of the available cores that make one run faster; at least 1. Threads synchronize once per
    /// look-ahead and need enough work in between.
    pub fn useful_threads(&self, cores: usize) -> usize {
        let cores = if self.is_native() { cores } else { 1 };
        ((self.packets_ahead() / PACKETS_PER_THREAD) as usize).clamp(1, cores.max(1))
    }

    /// Number of the requested threads that one run uses; at least 1.
    pub fn allowed_threads(&self, asked: usize) -> usize {
        let asked = if self.is_native() { asked } else { 1 };
        ((self.packets_ahead() / LEAST_PER_THREAD) as usize).clamp(1, asked.max(1))
    }

    /// Number of groups of nodes that are simulated together, for a number of packets that cross cables
    /// between switches per look-ahead. A group should fit into a cache, but have enough work per look-ahead.
    fn groups(&self, packets_ahead: u64) -> usize {
        let ports: usize = self.network.topology.nodes().iter().map(|node| usize::from(node.degree)).sum();
        let turns = (packets_ahead / PACKETS_PER_TURN) as usize;
        let groups = (ports / PORTS_PER_GROUP).min(turns).min(GROUPS.1);
        if groups < GROUPS.0 { 1 } else { groups }
    }

    /// Number of packets that cross all cables between switches in the smallest delay of these cables, at
    /// full load.
    fn packets_ahead(&self) -> u64 {
        let (cables, delay, packet) = self.cables_between_switches();
        2 * cables * delay.0 / packet.0
    }

    /// The number of cables between switches, their smallest delay, and the transmission time of a packet.
    fn cables_between_switches(&self) -> (u64, Time, Time) {
        let is_switch = |port: PortId| self.network.topology.node(port.node).kind == NodeKind::Switch;
        let between = self.network.topology.cables().iter().filter(|cable| is_switch(cable.a) && is_switch(cable.b));
        let (count, delay) = between.fold((0, Time::MAX), |(n, least), cable| (n + 1, least.min(cable.delay)));
        let packet =
            self.network.topology.cables().first().map_or(Time(1), |c| c.rate.time_of(self.sections.packet.full()));
        if count == 0 { (0, Time::ZERO, Time(1)) } else { (count, delay, packet.max(Time(1))) }
    }

    fn watch(&self, from: Time) -> Watch {
        let group_of = self.plan.flows.iter().map(|flow| flow.group).collect();
        let vls = self.sections.vls();
        let groups = self.plan.groups.len();
        let mut watch = Watch::new(&self.network.topology, vls, self.capacity_bytes(), from, group_of, groups);
        watch.messages = self.sections.observe.messages.then(|| Box::new(Messages::new(from)));
        if self.sections.switch.flow_control.pfc().is_some() {
            watch.pauses = Some(Box::new(Pauses::new(from, Ports::new(&self.network.topology), vls)));
        }
        if self.sections.observe.frames.is_some() {
            watch = watch.with_early_stalls();
        }
        if *self.sections.observe.queues {
            watch = watch.with_queues(from, vls);
        }
        if *self.sections.observe.spans {
            watch = watch.with_spans_of_roles(*self.sections.observe.span_rows as usize);
        }
        watch
    }

    /// The seed of a replication.
    pub(crate) fn seed(&self, replication: u32) -> u64 {
        self.sections.run.seed.wrapping_add(u64::from(replication))
    }

    /// The model of one replication at time zero, for up to `threads` threads, with all traffic or only one job's
    /// traffic.
    pub(crate) fn simulator(
        &self,
        replication: u32,
        threads: usize,
        traffic: Traffic,
        faults: &Faults,
    ) -> Result<Model, FabricError> {
        let seed = self.seed(replication);
        let threads = if self.is_native() { threads } else { 1 };
        let spec = self.fabric_spec(seed, traffic, faults, true);
        let together: Vec<_> = spec.jobs.iter().flat_map(|job| job.together.iter().copied()).collect();
        let partition = match threads {
            0 | 1 => Partition::whole(&spec.topology),
            _ => Partition::balanced(&spec.topology, &spec.routes, &spec.flows, &together, threads),
        };
        // By the possible traffic: an incast fills few cables.
        let groups = match self.groups(self.packets_ahead()) {
            1 => Partition::whole(&spec.topology),
            most => {
                let (_, delay, packet) = self.cables_between_switches();
                let ahead = |links: f64| (links * delay.0 as f64 / packet.0 as f64) as u64;
                let of = |links: f64| self.groups(ahead(links)).min(most);
                Partition::balanced_by(&spec.topology, &spec.routes, &spec.flows, &together, of)
            }
        };
        ParallelFabric::new(spec, || self.watch(self.measured_from()), &partition, &groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::policy::{Notice, Response};

    /// Start times of the sources of ten flows.
    fn starts(seed: u64, keys: &str) -> Vec<Time> {
        let text = format!(
            r#"
            [run]
            duration = "1 ms"
            [topology.dumbbell]
            [[flows]]
            name = "f"
            from = ["A1..A10"]
            to = ["BC"]
            start = "100 us"
            stagger = "10 us"
            {keys}
            "#
        );
        let scenario = Scenario::parse(&text, "starts.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"));
        scenario.sources(seed).into_iter().map(|source| source.start).collect()
    }

    #[test]
    fn starts_are_spread_by_the_seed() {
        let exact = starts(1, "");
        let staggered: Vec<Time> = (0..10).map(|i| Time::from_us(100 + 10 * i)).collect();
        assert_eq!(exact, staggered);
        let one = starts(1, "start_spread = \"8 us\"");
        let later: Vec<Time> = one.iter().zip(&exact).map(|(&start, &first)| Time(start.0 - first.0)).collect();
        assert!(later.iter().all(|&time| time < Time::from_us(8)));
        assert!((0..10).all(|i| !later[..i].contains(&later[i])), "start times must differ: {later:?}");
        let mean = later.iter().map(|time| time.0).sum::<u64>() / 10;
        assert!(mean > Time::from_us(2).0 && mean < Time::from_us(6).0, "start times must cover the spread: {later:?}");
        assert_eq!(one, starts(1, "start_spread = \"8 us\""));
        assert_ne!(one, starts(2, "start_spread = \"8 us\""));
    }

    /// Times at which the timers of four flows on two hosts first expire.
    fn deadlines(seed: u64, keys: &str, adapter: &str) -> Vec<Time> {
        let text = format!(
            r#"
            [run]
            duration = "1 ms"
            [topology.dumbbell]
            [adapter]
            {adapter}
            [marking.queue_threshold]
            [response.ibta]
            ccti_timer = 1000
            {keys}
            [[flows]]
            name = "f"
            from = ["A1", "B1"]
            to = ["BC", "BV"]
            "#
        );
        let scenario = Scenario::parse(&text, "clocks.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let expiry = |mut response: Responding| {
            response.notice(Time::ZERO, &Notice::Becn);
            response.deadline().expect("the index is above its minimum")
        };
        scenario.flows(seed, &Faults::default(), false).1.into_iter().map(expiry).collect()
    }

    #[test]
    fn timers_have_phases_and_hosts_have_clocks() {
        let period = Time::from_ns(1_024_000);
        let shared = deadlines(1, "clock_error = 0.0", "");
        assert!(shared[0] == shared[1] && shared[2] == shared[3] && shared[0] != shared[2], "one per port: {shared:?}");
        assert_ne!(shared, deadlines(2, "clock_error = 0.0", ""));
        let random = deadlines(1, "clock_error = 0.0\ntimer_scope = \"flow\"", "");
        assert!(random.iter().all(|&time| time <= period));
        assert!((0..4).all(|i| !random[..i].contains(&random[i])), "{random:?}");
        assert_eq!(deadlines(1, "clock_error = 0.0\nphase = \"zero\"", ""), [period; 4]);
        let off = deadlines(1, "clock_error = 1000.0\nphase = \"zero\"", "");
        assert!(off[0] == off[1] && off[2] == off[3] && off[0] != off[2], "one error per host: {off:?}");
        assert!(off.iter().all(|&time| time >= period.scaled(0.999) && time <= period.scaled(1.001)));
        assert_eq!(deadlines(1, "", "port_control = \"sl\"").len(), 2);
    }
}
