//! Estimates the work of a run before it begins.

use becalm_control::{EchoScheme, Echoing};
use becalm_engine::Time;
use becalm_fabric::{NodeId, Traffic};

use crate::scenario::Scenario;

impl Scenario {
    /// Estimated number of packet-hops of one replication, including ACKs. The estimate is the offered traffic, limited
    /// by the links of sources and destinations. Congestion within the network lowers the number. Additional runs of
    /// jobs without other traffic are not included.
    pub fn work_estimate(&self) -> f64 {
        let mut bytes = vec![0.0; self.plan.flows.len()];
        self.offer(&mut bytes);
        self.send(&mut bytes);
        let flow = |number: usize| &self.plan.flows[number];
        self.cap(&mut bytes, |number| flow(number).source);
        self.cap(&mut bytes, |number| flow(number).destination);
        let (paths, mtu) = (self.flow_paths(*self.sections.run.seed), f64::from(self.sections.packet.mtu.0));
        let acks = Echoing::ack_every(&self.sections.echo).map_or(0.0, |every| 1.0 / f64::from(every));
        let hops = |number: usize| paths.of(number).len() as f64;
        bytes.iter().enumerate().map(|(number, bytes)| bytes / mtu * hops(number) * (1.0 + acks)).sum()
    }

    /// Adds the bytes that sources offer to the bytes of their flows.
    fn offer(&self, bytes: &mut [f64]) {
        for source in &self.plan.sources {
            let first = source.flows.start as usize;
            let end = source.stop.min(*self.sections.run.duration);
            let seconds = end.0.saturating_sub(source.start.0) as f64 * 1e-12;
            let rate = self.network.rates[self.plan.flows[first].source.index()].bytes_per_second();
            let offered = match &source.traffic {
                Traffic::Greedy { .. } => rate * seconds,
                Traffic::OnOff { mean_on, mean_off } => {
                    rate * seconds * mean_on.as_secs() / (*mean_on).saturating_add(*mean_off).as_secs()
                }
                Traffic::Poisson { mean_interval, bytes, .. } => *bytes as f64 * seconds / mean_interval.as_secs(),
                Traffic::Batch { count, bytes, .. } => f64::from(*count) * *bytes as f64,
            };
            source.shares().for_each(|(flow, share)| bytes[flow as usize] += offered * share);
        }
    }

    /// Adds the bytes that the ranks of jobs send to the bytes of their flows.
    fn send(&self, bytes: &mut [f64]) {
        for (job, flows) in self.plan.jobs.iter().zip(&self.plan.groups[self.sections.flows.len()..]) {
            let job = job.as_ref().expect("checked");
            // Ranks on the same host have no flow between them.
            for (place, sent) in job.crossing() {
                bytes[flows.start as usize + place] += (sent.bytes * sent.count) as f64;
            }
        }
    }

    /// Limits the flows of every host to what its link carries during the run.
    fn cap(&self, bytes: &mut [f64], host: impl Fn(usize) -> NodeId) {
        let mut sums = vec![0.0; self.network.topology.nodes().len()];
        (0..bytes.len()).for_each(|number| sums[host(number).index()] += bytes[number]);
        let duration: Time = *self.sections.run.duration;
        for (number, bytes) in bytes.iter_mut().enumerate() {
            let node = host(number).index();
            let most = self.network.rates[node].bytes_per_second() * duration.as_secs();
            if sums[node] > most {
                *bytes *= most / sums[node];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimated packet-hops, divided by those of a run.
    fn ratio(name: &str) -> f64 {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
        let text = std::fs::read_to_string(format!("{folder}/{name}.toml")).unwrap();
        let scenario = Scenario::parse(&text, name).unwrap_or_else(|errors| panic!("{errors}"));
        let results = scenario.run(0, 1, &mut |_| true).unwrap();
        scenario.work_estimate() / results.packet_hops as f64
    }

    #[test]
    fn an_estimate_is_near_the_work_of_a_run() {
        for name in ["uniform_load", "on_off", "storage_incast", "two_jobs", "websearch", "input_triggered_lipd"] {
            let ratio = ratio(name);
            assert!((0.5..=2.0).contains(&ratio), "{name}: {ratio}");
        }
    }
}
