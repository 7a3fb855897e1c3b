//! Estimates the memory of a run before it begins.
//!
//! The sizes of items cover a run and its tables. They are the growth of a process per item, and at least 12% more,
//! because a vector that grows may be twice as large as its items need. `tests/system/memory_draws.py` compares
//! estimates with peaks: each is between 1.10 and 2.5 times the peak.

mod packets;
mod records;

use becalm_fabric::{NodeKind, SourceSpec, Traffic};
use becalm_metrics::frames::BYTES_PER_LINK;
use becalm_metrics::tree::LEAST_PERIODS;
use becalm_schema::Located;

use crate::resolve::Job;
use crate::scenario::Scenario;
use crate::sections;
use crate::sections::distribution::Shape;
use crate::sections::observe::FrameStep;

/// Bytes of a process that runs the smallest scenario, without Python itself.
const BASE: u64 = 16 << 20;
/// Bytes of a port of a host or switch.
const PORT: u64 = 500;
/// Bytes of the pauses of a link and virtual lane with PFC, and of their row in a table.
const PAUSES: u64 = 300;
/// Bytes of the queue of a pair of ports and a virtual lane.
const QUEUE: u64 = 24;
/// Bytes of a flow, including its latencies and its row in a table.
const FLOW: u64 = 1300;
/// Bytes of a flow of a job that is made when it first carries a message, including its row in a table.
const LATER_FLOW: u64 = 1050;
/// Bytes of a message that has been posted but not yet sent.
const MESSAGE: u64 = 32;
/// Bytes of a value of a series and its row in a table.
const SAMPLE: u64 = 330;
/// Bytes of a snapshot's entry for one link and virtual lane, and its row in a table.
const SNAPSHOT: u64 = 420;
/// Bytes of a link and virtual lane whose queue is measured, and its row in a table.
const LENGTHS: u64 = 400;
/// Bytes of the record of a delivered message, and of the values derived from it.
const RECORD: u64 = 215;
/// Bytes of a delivered message's row in the table `messages`.
const ROW: u64 = 105;
/// Bytes of an operation of a job's program, and of its state in the run.
const OP: u64 = 80;
/// Bytes of an operation's recorded times and of its row in the table `ops`.
const SPAN: u64 = 280;
/// Bytes of a period of an output, and of its row in the table `spans`.
const PERIOD: u64 = 336;
/// Bytes of a packet that waits in a switch.
const PACKET: u64 = 90;
/// Bytes of a link and virtual lane in a frame, including those in the run, in the transfer to Python, and in the
/// table.
const CELL: u64 = 4 * BYTES_PER_LINK;
/// Bytes of a frame, without its links.
const FRAME: u64 = 500;

/// The memory of a run in bytes, by use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Ports and queues.
    pub network: u64,
    /// Flows.
    pub flows: u64,
    /// Messages of batches, which are all posted at the start, and of sources that offer more than the rate
    /// of their links.
    pub messages: u64,
    /// Records of delivered messages.
    pub records: u64,
    /// The table of messages.
    pub rows: u64,
    /// Programs of jobs, and the times of their operations.
    pub programs: u64,
    /// Series.
    pub series: u64,
    /// Snapshots.
    pub snapshots: u64,
    /// Frames.
    pub frames: u64,
    /// Periods in which outputs were roots or branches of a congestion tree.
    pub spans: u64,
    /// Packets that wait in switches.
    pub packets: u64,
}

impl MemoryEstimate {
    /// The parts by name.
    pub fn parts(&self) -> [(&'static str, u64); 11] {
        let MemoryEstimate {
            network,
            flows,
            messages,
            records,
            rows,
            programs,
            series,
            snapshots,
            frames,
            spans,
            packets,
        } = *self;
        [
            ("network", network),
            ("flows", flows),
            ("messages", messages),
            ("records", records),
            ("rows", rows),
            ("programs", programs),
            ("series", series),
            ("snapshots", snapshots),
            ("frames", frames),
            ("spans", spans),
            ("packets", packets),
        ]
    }

    /// Total bytes.
    pub fn total(&self) -> u64 {
        self.parts().into_iter().fold(BASE, |sum, (_, bytes)| sum.saturating_add(bytes))
    }
}

impl Scenario {
    /// The memory of one replication.
    pub fn memory_estimate(&self) -> MemoryEstimate {
        let observe = &self.sections.observe;
        let vls = u64::from(self.sections.vls());
        let links = self.network.links.len() as u64;
        let pfc = self.sections.switch.flow_control.pfc().is_some();
        let samples = self.sections.run.duration.0 / observe.step.0.max(1) + 2;
        let paces = if *observe.paces { self.plan.groups.len() } else { 0 };
        let width = self.series_width() + paces;
        let times = |count: u64, each: u64| count.saturating_mul(each);
        let recorded = self.recorded_messages();
        let listed = if recorded > u64::from(*observe.message_rows) { 0 } else { recorded };
        MemoryEstimate {
            network: times(links, PORT)
                .saturating_add(times(self.queues(), QUEUE))
                .saturating_add(if *observe.queues { times(links * vls, LENGTHS) } else { 0 })
                .saturating_add(if pfc { times(links * vls, PAUSES) } else { 0 }),
            flows: self.memory_of_flows(),
            messages: self
                .plan
                .sources
                .iter()
                .fold(0, |sum, source| sum.saturating_add(times(posted(source).max(self.left(source)), MESSAGE))),
            records: times(recorded, RECORD),
            rows: times(listed, ROW),
            programs: self.programs(),
            series: times(times(samples, width as u64), SAMPLE),
            snapshots: times(times(observe.snapshots.len() as u64, times(links, vls)), SNAPSHOT),
            frames: times(
                match *observe.frames {
                    None => 0,
                    Some(FrameStep::Every(step)) => self.sections.run.duration.0 / step.0,
                    Some(FrameStep::Auto) => FrameStep::MOST,
                },
                times(links, vls) * CELL + FRAME,
            ),
            spans: if *observe.spans { times(self.periods(links * vls), PERIOD) } else { 0 },
            packets: times(self.waiting_packets(), PACKET),
        }
    }

    fn memory_of_flows(&self) -> u64 {
        let (all, first) = (self.plan.flows.len() as u64, u64::from(self.first_of_jobs()));
        let later = if self.flows_can_be_made_later() { all - first } else { 0 };
        (all - later).saturating_mul(FLOW).saturating_add(later.saturating_mul(LATER_FLOW))
    }

    /// Number of periods of this number of lanes, limited by `span_rows` and by the duration.
    fn periods(&self, lanes: u64) -> u64 {
        let each = (u64::from(*self.sections.observe.span_rows) / lanes.max(1)).max(LEAST_PERIODS as u64);
        let packet = self.sections.packet.sizes().largest();
        let fastest = self.network.links.iter().map(|link| link.rate.time_of(packet).0).min().unwrap_or(1);
        lanes * each.min(self.sections.run.duration.0 / fastest.max(1))
    }

    fn programs(&self) -> u64 {
        let of_job = |(section, job): (&Located<sections::jobs::Job>, &Option<Job>)| {
            let Some(program) = job.as_ref().map(|job| &job.program) else { return 0 };
            // A regular program makes its operations when they are needed.
            let each = if program.is_regular() { 0 } else { OP } + if *section.record_ops { SPAN } else { 0 };
            (program.len() as u64).saturating_mul(each)
        };
        self.sections.jobs.iter().zip(&self.plan.jobs).map(of_job).sum()
    }

    /// Number of messages that a source has posted but its host's link cannot send before the end.
    fn left(&self, source: &SourceSpec) -> u64 {
        let Traffic::Poisson { mean_interval, bytes, paced: false, .. } = &source.traffic else { return 0 };
        let packet = &self.sections.packet;
        let wire = *bytes as f64 + bytes.div_ceil(packet.payload().0) as f64 * f64::from(packet.header.0);
        let host = self.plan.flows[source.flows.start as usize].source;
        let service = wire / self.network.rates[host.index()].bytes_per_second();
        let seconds = source.stop.min(*self.sections.run.duration).0.saturating_sub(source.start.0) as f64 * 1e-12;
        (seconds * (1.0 / mean_interval.as_secs() - 1.0 / service)).max(0.0) as u64
    }

    fn queues(&self) -> u64 {
        let switches = self.network.topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
        switches.map(|switch| u64::from(switch.degree).pow(2)).sum::<u64>() * u64::from(self.sections.vls())
    }
}

/// Number of queue entries of a batch's messages. Equal messages share one.
fn posted(source: &SourceSpec) -> u64 {
    match &source.traffic {
        Traffic::Batch { count, sizes, .. } if source.flows.len() > 1 || *sizes != Shape::Fixed => u64::from(*count),
        Traffic::Batch { .. } => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(to: &str, count: u64, more: &str) -> MemoryEstimate {
        let text = format!(
            "[run]\nduration = \"1 ms\"\n[topology.dumbbell]\n[[flows]]\nname = \"f\"\nfrom = [\"B1\"]\nto = {to}\n\
             traffic.batch.count = {count}\n[observe]\n{more}\n"
        );
        Scenario::parse(&text, "f.toml").unwrap().memory_estimate()
    }

    #[test]
    fn what_a_scenario_asks_for_is_counted() {
        let small = estimate("[\"BC\"]", 4_000_000_000, "links = []");
        assert_eq!((small.messages, small.flows), (MESSAGE, FLOW), "equal messages share one entry");
        // 24 cables connect 23 hosts and two switches. Switch A has 12 ports, switch B has 13.
        assert_eq!(small.network, 48 * PORT + (12 * 12 + 13 * 13) * QUEUE);
        assert_eq!(small.series, 12 * SAMPLE, "10 steps of 100 us, and both ends");
        let large = estimate("[\"BC\", \"A1\"]", 4_000_000_000, "links = []");
        assert_eq!(large.messages, 4_000_000_000 * MESSAGE);
        assert!(large.total() > 89 << 30 && small.total() < 20 << 20);
        let overload = "links = []\n[[flows]]\nname = \"g\"\nfrom = [\"A1\"]\nto = [\"A2\"]\ntraffic.poisson.load = 2";
        // In 1 ms, 2 MB are offered in packets of 2068 B, and 1 MB can be sent.
        assert_eq!(estimate("[\"BC\"]", 1, overload).messages, (1 + 483) * MESSAGE);
        let shot = estimate("[\"BC\"]", 1, "snapshots = [\"1 us\", \"2 us\"]");
        assert_eq!(shot.snapshots, 2 * 48 * SNAPSHOT);
        assert_eq!(estimate("[\"BC\"]", 1, "frames = \"100 us\"").frames, 10 * (48 * CELL + FRAME));
        assert_eq!(estimate("[\"BC\"]", 1, "frames = \"auto\"").frames, 100 * (48 * CELL + FRAME));
    }

    #[test]
    fn recorded_messages_and_programs_are_counted() {
        let records = |more: &str| {
            let found = estimate("[\"BC\"]", 3, more);
            (found.records / RECORD, found.rows / ROW)
        };
        assert_eq!(records("links = []"), (0, 0));
        assert_eq!(records("messages = true"), (3, 3));
        assert_eq!(records("messages = true\nmessage_rows = 2"), (3, 0));
        // Two hosts each offer twice the rate of a link to one host: 483 messages in 1 ms, in addition to the
        // batch.
        let overload = "messages = true\n[[flows]]\nname = \"g\"\nfrom = [\"A1\", \"A2\"]\nto = [\"A3\"]\ntraffic.poisson.load = 2";
        assert_eq!(records(overload).0, 3 + 483);
        // With weights, A3 is offered 1.5 of its link, and A2 half of its own.
        let weighted = "messages = true\n[[flows]]\nname = \"g\"\nfrom = [\"A1\", \"A4\"]\nto = [\"A2\", \"A3\"]\nweights = [1, 3]\ntraffic.poisson.load = 1";
        assert_eq!(records(weighted).0, 3 + 725);
        let job = |more: &str| {
            let barrier = format!("collective.barrier = {{}}\nrepeat = 10\n{more}");
            estimate("[\"BC\"]", 1, &format!("[[jobs]]\nname = \"j\"\nhosts = [\"A1\", \"A2\"]\n{barrier}")).programs
        };
        assert_eq!((job(""), job("record_ops = true")), (40 * OP, 40 * (OP + SPAN)));
    }
}
