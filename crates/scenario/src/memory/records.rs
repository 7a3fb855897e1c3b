//! Estimates the number of messages that a run records.

use becalm_fabric::{SourceSpec, Traffic};

use crate::resolve::Job;
use crate::scenario::Scenario;

/// The messages that a source would deliver without any delay, and their bytes on the wire.
struct Wanted {
    messages: f64,
    wire: f64,
}

impl Scenario {
    /// Number of messages delivered in the measured window. It is limited only by the links of their sources
    /// and destinations.
    pub(super) fn recorded_messages(&self) -> u64 {
        if !*self.sections.observe.messages {
            return 0;
        }
        let (wanted, leaving) = self.leaving();
        let mut received = vec![0.0; self.network.topology.nodes().len()];
        let share = |bytes: f64, host: usize| (self.carried(host) / bytes).min(1.0);
        for ((source, wanted), leaving) in self.plan.sources.iter().zip(&wanted).zip(&leaving) {
            source.shares().for_each(|(flow, part)| received[self.receiver(flow)] += wanted.wire * leaving * part);
        }
        let arriving = |((source, wanted), leaving): ((&SourceSpec, &Wanted), &f64)| {
            let arriving = |(flow, part)| part * share(received[self.receiver(flow)], self.receiver(flow));
            wanted.messages * leaving * source.shares().map(arriving).sum::<f64>()
        };
        let of_sources: f64 = self.plan.sources.iter().zip(&wanted).zip(&leaving).map(arriving).sum();
        of_sources as u64 + self.job_messages()
    }

    /// The messages that each source would deliver, and the share of them that its host's link can carry.
    fn leaving(&self) -> (Vec<Wanted>, Vec<f64>) {
        let mut sent = vec![0.0; self.network.topology.nodes().len()];
        let wanted: Vec<Wanted> = self.plan.sources.iter().map(|source| self.wanted(source)).collect();
        for (source, wanted) in self.plan.sources.iter().zip(&wanted) {
            sent[self.sender(source)] += wanted.wire;
        }
        let share = |host: usize| (self.carried(host) / sent[host]).min(1.0);
        (wanted, self.plan.sources.iter().map(|source| share(self.sender(source))).collect())
    }

    /// Bytes on the wire that leave the source host, for each flow.
    pub(super) fn leaving_bytes(&self) -> Vec<f64> {
        let (wanted, leaving) = self.leaving();
        let mut of_flows = vec![0.0; self.plan.flows.len()];
        for ((source, wanted), leaving) in self.plan.sources.iter().zip(&wanted).zip(&leaving) {
            source.shares().for_each(|(flow, part)| of_flows[flow as usize] += wanted.wire * leaving * part);
        }
        of_flows
    }

    /// Number of messages between ranks of jobs on different hosts.
    fn job_messages(&self) -> u64 {
        let of_job = |job: &Job| job.crossing().map(|(_, sent)| sent.count).sum::<u64>();
        self.plan.jobs.iter().flatten().map(of_job).sum()
    }

    fn wanted(&self, source: &SourceSpec) -> Wanted {
        let run = &self.sections.run;
        let end = source.stop.min(*run.duration);
        let seconds = end.since(source.start.max(*run.warmup).min(end)).as_secs();
        let link = self.network.rates[self.sender(source)].bytes_per_second();
        let packet = &self.sections.packet;
        let wire = |bytes: u64| bytes as f64 + bytes.div_ceil(packet.payload().0) as f64 * f64::from(packet.header.0);
        let (messages, each) = match source.traffic {
            Traffic::Greedy { bytes, .. } => (seconds * link / wire(bytes), wire(bytes)),
            Traffic::OnOff { mean_on, mean_off } => {
                let on = mean_on.as_secs() / (mean_on.as_secs() + mean_off.as_secs());
                (seconds * on * link / wire(packet.payload().0), wire(packet.payload().0))
            }
            Traffic::Poisson { mean_interval, bytes, .. } => (seconds / mean_interval.as_secs(), wire(bytes)),
            Traffic::Batch { count, bytes, .. } => (f64::from(count), wire(bytes)),
        };
        Wanted { messages, wire: messages * each }
    }

    /// Bytes on the wire that a host's link carries during the run.
    fn carried(&self, host: usize) -> f64 {
        self.network.rates[host].bytes_per_second() * self.sections.run.duration.as_secs()
    }

    fn sender(&self, source: &SourceSpec) -> usize {
        self.plan.flows[source.flows.start as usize].source.index()
    }

    fn receiver(&self, flow: u32) -> usize {
        self.plan.flows[flow as usize].destination.index()
    }
}
