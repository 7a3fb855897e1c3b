//! Traces: single packets, messages, waits, roles and gaps of one replication, as tables.

use becalm_control::{Echoing, Marking, Responding, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::Response;
use becalm_fabric::{Fabric, FlowId, Kind, PortId};
use becalm_metrics::recorder::{Period, Recorder, Recording, Selection};
use becalm_metrics::{Ports, Table};

use crate::assemble::Traffic;
use crate::run::{Progress, RunError};
use crate::scenario::Scenario;
use crate::sections::Settings;

/// What is traced: `None` stands for all.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// Numbers of flows, in the order of the table `flows`.
    pub flows: Option<Vec<u32>>,
    /// Numbers of links, in the order of the table `links`.
    pub links: Option<Vec<u32>>,
    /// Start.
    pub from: Time,
    /// End; the run ends there.
    pub until: Time,
    /// Most rows of each table.
    pub most: usize,
}

/// A trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// `packets`, `messages`, `waits`, `roles`, `gaps`; times in ps, links and flows by number.
    pub tables: Vec<Table>,
    /// The fingerprint of the run up to its end: that of [`Scenario::run`] where the trace has all of it.
    pub fingerprint: u64,
    /// End of the trace.
    pub end: Time,
}

/// The model of a traced run.
type Traced = Fabric<Responding, Marking, Echoing, Recorder>;

impl Scenario {
    /// Of each flow: bytes of a data packet besides its payload.
    fn headers(&self) -> Vec<u32> {
        let header = self.sections.packet.sizes().header;
        let trail = |group: Settings<'_>| Responding::new(group.response.unwrap_or(&self.sections.response)).trail();
        let of_groups: Vec<u32> = self.sections.groups().map(|group| header + trail(group).unwrap_or(0)).collect();
        self.plan.flows.iter().map(|flow| of_groups[flow.group as usize]).collect()
    }

    /// Runs one replication on one thread up to the end of the trace, or until it is full. Numbers that do not exist are
    /// ignored.
    ///
    /// `progress` is called every few thousand events; when it answers `false`, the run ends.
    ///
    /// # Errors
    /// [`RunError::Fabric`] for a flow without a route, [`RunError::Interrupted`] when `progress` answered `false`.
    pub fn trace(
        &self,
        replication: u32,
        spec: &TraceSpec,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Trace, RunError> {
        let duration = spec.until.min(*self.sections.run.duration);
        let ports: Vec<PortId> = self.network.links.iter().map(|link| link.from).collect();
        let vls = *self.sections.switch.vls as u8;
        let selection = self.selection(spec, duration);
        let recorder = Recorder::new(&self.network.topology, vls, self.capacity_bytes(), self.headers(), selection);
        let seed = self.sections.run.seed.wrapping_add(u64::from(replication));
        let mut simulator = Traced::simulator(self.fabric_spec(seed, Traffic::All), recorder)?;
        let step = *self.sections.observe.step;
        let mut target = Time::ZERO;
        while target < duration && !simulator.model.observer.is_over(simulator.now()) {
            target = target.saturating_add(step).min(duration);
            while simulator.run(target, 1 << 16) == becalm_engine::Stop::Events {
                let (time, events) = (simulator.now(), simulator.events());
                let packet_hops = simulator.model.packet_hops();
                if !progress(&Progress { time, duration, events, packet_hops }) {
                    return Err(RunError::Interrupted);
                }
            }
            for flow in 0..self.plan.flows.len() as u32 {
                let gap = simulator.model.flow(FlowId(flow)).pace.gap;
                simulator.model.observer.gap(target, flow, gap);
            }
        }
        let recorder = simulator.model.observer;
        let fingerprint = recorder.fingerprint.value();
        // What happens at the end itself belongs to the run.
        let recording = recorder.finish(Time(target.0 + 1), &ports);
        Ok(Trace { tables: self.traced(&recording), fingerprint, end: recording.end.min(target) })
    }

    fn selection(&self, spec: &TraceSpec, until: Time) -> Selection {
        let chosen = |numbers: &Option<Vec<u32>>, count: usize| match numbers {
            None => vec![true; count],
            Some(numbers) => {
                let mut chosen = vec![false; count];
                numbers.iter().filter(|&&number| (number as usize) < count).for_each(|&n| chosen[n as usize] = true);
                chosen
            }
        };
        // Links are in the order of their ports: node by node and port by port.
        let ports = Ports::new(&self.network.topology);
        debug_assert!((0..).zip(&self.network.links).all(|(place, link)| ports.index(link.from) == place));
        Selection {
            flows: chosen(&spec.flows, self.plan.flows.len()),
            links: chosen(&spec.links, self.network.links.len()),
            from: spec.from,
            until: Time(until.0 + 1),
            most: spec.most,
        }
    }

    fn traced(&self, recording: &Recording) -> Vec<Table> {
        let ports = Ports::new(&self.network.topology);
        vec![
            packets(recording, &ports),
            messages(recording),
            periods("waits", &recording.waits, &ports),
            periods("roles", &recording.roles, &ports),
            gaps(recording),
        ]
    }
}

fn packets(recording: &Recording, ports: &Ports) -> Table {
    let hops = &recording.hops;
    let column = |value: &dyn Fn(&becalm_metrics::recorder::Hop) -> u64| hops.iter().map(value).collect::<Vec<_>>();
    let kind = |kind| match kind {
        Kind::Data => 0,
        Kind::Ack => 1,
        Kind::Cnp => 2,
    };
    Table::new("packets")
        .with("time", "ps", column(&|hop| hop.time.0))
        .with("link", "", column(&|hop| ports.index(hop.port) as u64))
        .with("flow", "", column(&|hop| u64::from(hop.flow)))
        .with("kind", "", column(&|hop| kind(hop.kind)))
        .with("sequence", "", column(&|hop| u64::from(hop.sequence)))
        .with("vl", "", column(&|hop| u64::from(hop.vl)))
        .with("size", "B", column(&|hop| u64::from(hop.size)))
        .with("payload", "B", column(&|hop| u64::from(hop.payload)))
        .with("first", "", column(&|hop| u64::from(hop.first)))
        .with("last", "", column(&|hop| u64::from(hop.last)))
        .with("fecn", "", column(&|hop| u64::from(hop.marked)))
        .with("becn", "", column(&|hop| u64::from(hop.becn)))
        .with("posted", "ps", column(&|hop| hop.posted.0))
}

fn messages(recording: &Recording) -> Table {
    let column = |value: &dyn Fn(&becalm_metrics::recorder::Arrival) -> u64| {
        recording.messages.iter().map(value).collect::<Vec<_>>()
    };
    Table::new("messages")
        .with("posted", "ps", column(&|message| message.delivery.posted.0))
        .with("arrived", "ps", column(&|message| message.time.0))
        .with("flow", "", column(&|message| u64::from(message.delivery.flow.0)))
        .with("number", "", column(&|message| message.delivery.number))
        .with("bytes", "B", column(&|message| message.delivery.bytes))
}

fn periods(name: &'static str, periods: &[Period], ports: &Ports) -> Table {
    let column = |value: &dyn Fn(&Period) -> u64| periods.iter().map(value).collect::<Vec<_>>();
    Table::new(name)
        .with("begin", "ps", column(&|period| period.begin.0))
        .with("end", "ps", column(&|period| period.end.0))
        .with("link", "", column(&|period| ports.index(period.port) as u64))
        .with("vl", "", column(&|period| u64::from(period.vl)))
        .with("role", "", periods.iter().map(|period| period.role.name().to_string()).collect::<Vec<_>>())
}

fn gaps(recording: &Recording) -> Table {
    Table::new("gaps")
        .with("time", "ps", recording.gaps.iter().map(|gap| gap.time.0).collect::<Vec<_>>())
        .with("flow", "", recording.gaps.iter().map(|gap| u64::from(gap.flow)).collect::<Vec<_>>())
        .with("gap", "packet times", recording.gaps.iter().map(|gap| gap.gap).collect::<Vec<_>>())
}
