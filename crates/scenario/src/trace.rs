//! Traces, which are tables of the individual packets, messages, waits, roles, gaps and scheme calls of one
//! replication.

mod calls;
mod spec;

use becalm_control::{Responding, ResponseScheme};
use becalm_engine::Time;
use becalm_external::Faults;
use becalm_fabric::policy::Response;
use becalm_fabric::{FlowId, Kind, PortId};
use becalm_metrics::calls::Heard;
use becalm_metrics::recorder::{Period, Recorder, Recording, Selection};
use becalm_metrics::schema::TableSchema;
use becalm_metrics::{Ports, Table, schema};

pub use self::spec::TraceSpec;
use self::spec::Traced;
use crate::assemble::Traffic;
use crate::run::{Progress, RunError};
use crate::scenario::Scenario;
use crate::sections::Settings;

/// A trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// `packets`, `messages`, `waits`, `roles`, `gaps`, `marker_calls`, `response_calls`. Times are in ps.
    /// Links, flows and switches are given by number.
    pub tables: Vec<Table>,
    /// The fingerprint of the run up to the end of the trace. It equals that of [`Scenario::run`] if the
    /// trace covers the entire run.
    pub fingerprint: u64,
    /// End of the trace.
    pub end: Time,
}

impl Scenario {
    /// Bytes of a data packet in addition to its payload, for each flow.
    fn headers(&self) -> Vec<u32> {
        let header = self.sections.packet.sizes().header;
        let trail = |group: Settings<'_>| Responding::new(group.response.unwrap_or(&self.sections.response)).trail();
        let of_groups: Vec<u32> = self.sections.groups().map(|group| header + trail(group).unwrap_or(0)).collect();
        self.plan.flows.iter().map(|flow| of_groups[flow.group as usize]).collect()
    }

    /// Runs one replication on one thread until the end of the trace, or until the trace is full. Numbers of
    /// flows, links or switches that do not exist are ignored.
    ///
    /// `progress` is called every few thousand events. If it returns `false`, the run ends.
    ///
    /// # Errors
    /// [`RunError::Fabric`] for a flow without a route, [`RunError::Interrupted`] if `progress` returned `false`.
    pub fn trace(
        &self,
        replication: u32,
        spec: &TraceSpec,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Trace, RunError> {
        let duration = spec.until.min(*self.sections.run.duration);
        let ports: Vec<PortId> = self.network.links.iter().map(|link| link.from).collect();
        let vls = self.sections.vls();
        let selection = self.selection(spec, duration);
        let recorder = Recorder::new(&self.network.topology, vls, self.capacity_bytes(), self.headers(), selection);
        if let Some(name) = self.unprovided() {
            return Err(RunError::Unprovided(name.to_string()));
        }
        let faults = Faults::default();
        let fabric = self.fabric_spec(self.seed(replication), Traffic::All, &faults, false);
        let heard = calls::Selected::of(&fabric, spec);
        let (mut responses, mut switches) = (heard.responses.iter(), heard.switches.iter());
        let fabric = fabric.with_seams(
            |response| Heard::new(response, *responses.next().expect("one for each response")),
            |marker| Heard::new(marker, *switches.next().expect("one for each switch")),
        );
        let mut simulator = Traced::simulator(fabric, recorder)?;
        let step = *self.sections.observe.step;
        let mut target = Time::ZERO;
        while target < duration
            && !simulator.model.observer.is_over(simulator.now())
            && calls::count(&simulator.model) <= spec.most
        {
            target = target.saturating_add(step).min(duration);
            while simulator.run(target, 1 << 16) == becalm_engine::Stop::Events {
                let (time, events) = (simulator.now(), simulator.events());
                let packet_hops = simulator.model.packet_hops();
                if faults.any() {
                    break;
                }
                if !progress(&Progress { time, duration, events, packet_hops }) {
                    return Err(RunError::Interrupted);
                }
            }
            faults.first().map_or(Ok(()), |failure| Err(self.explained(failure)))?;
            for flow in 0..self.plan.flows.len() as u32 {
                let gap = simulator.model.flow(FlowId(flow)).pace.gap;
                simulator.model.observer.gap(target, flow, gap);
            }
        }
        // Calls at the end time itself are included.
        let called = calls::Calls::of(&simulator.model, &heard, Time(target.0 + 1), spec.most);
        let recorder = simulator.model.observer;
        let fingerprint = recorder.fingerprint.value();
        let recording = recorder.finish(called.end, &ports);
        let mut tables = self.traced(&recording);
        tables.extend(called.tables(recording.end));
        Ok(Trace { tables, fingerprint, end: recording.end.min(target) })
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
        // Links are sorted by node and port.
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
            periods(&schema::TRACE_WAITS, &recording.waits, &ports),
            periods(&schema::TRACE_ROLES, &recording.roles, &ports),
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
    Table::new(&schema::TRACE_PACKETS)
        .with("time", column(&|hop| hop.time.0))
        .with("link", column(&|hop| ports.index(hop.port) as u64))
        .with("flow", column(&|hop| u64::from(hop.flow)))
        .with("kind", column(&|hop| kind(hop.kind)))
        .with("sequence", column(&|hop| u64::from(hop.sequence)))
        .with("vl", column(&|hop| u64::from(hop.vl)))
        .with("size", column(&|hop| u64::from(hop.size)))
        .with("payload", column(&|hop| u64::from(hop.payload)))
        .with("first", column(&|hop| u64::from(hop.first)))
        .with("last", column(&|hop| u64::from(hop.last)))
        .with("fecn", column(&|hop| u64::from(hop.marked)))
        .with("becn", column(&|hop| u64::from(hop.becn)))
        .with("posted", column(&|hop| hop.posted.0))
}

fn messages(recording: &Recording) -> Table {
    let column = |value: &dyn Fn(&becalm_metrics::recorder::Arrival) -> u64| {
        recording.messages.iter().map(value).collect::<Vec<_>>()
    };
    Table::new(&schema::TRACE_MESSAGES)
        .with("posted", column(&|message| message.delivery.posted.0))
        .with("arrived", column(&|message| message.time.0))
        .with("flow", column(&|message| u64::from(message.delivery.flow.0)))
        .with("number", column(&|message| message.delivery.number))
        .with("bytes", column(&|message| message.delivery.bytes))
}

fn periods(schema: &'static TableSchema, periods: &[Period], ports: &Ports) -> Table {
    let column = |value: &dyn Fn(&Period) -> u64| periods.iter().map(value).collect::<Vec<_>>();
    Table::new(schema)
        .with("begin", column(&|period| period.begin.0))
        .with("end", column(&|period| period.end.0))
        .with("link", column(&|period| ports.index(period.port) as u64))
        .with("vl", column(&|period| u64::from(period.vl)))
        .with("role", periods.iter().map(|period| period.role.name().to_string()).collect::<Vec<_>>())
}

fn gaps(recording: &Recording) -> Table {
    Table::new(&schema::TRACE_GAPS)
        .with("time", recording.gaps.iter().map(|gap| gap.time.0).collect::<Vec<_>>())
        .with("flow", recording.gaps.iter().map(|gap| u64::from(gap.flow)).collect::<Vec<_>>())
        .with("gap", recording.gaps.iter().map(|gap| gap.gap).collect::<Vec<_>>())
}
