//! The traffic that a scenario's sources offer in an interval, and the fair division of the links among them.

use std::collections::BTreeMap;
use std::ops::Range;

use becalm_engine::Time;
use becalm_fabric::{Distribution, SourceSpec, Traffic};
use becalm_metrics::sharing::max_min;

use crate::fabric::FlowPaths;
use crate::resolve::Flow;
use crate::scenario::Scenario;
use crate::sections::sizes::Sizes;

/// The offer of a source in an interval.
struct Offer {
    /// The times in which the source always has data.
    busy: Vec<Range<Time>>,
    /// Bytes of posted messages on the wire, with headers.
    posted: f64,
}

/// The offers of the flows of one group from one host.
#[derive(Default)]
struct Account {
    /// Rate of the host in bytes per second.
    rate: f64,
    busy: Vec<Range<Time>>,
    posted: f64,
}

/// The time in which each flow may send.
pub(crate) struct Spans {
    /// Those of the flows that belong to no job. They come first.
    pub others: Vec<Range<Time>>,
    /// The flows of each job, and the span of all of them. A job may have millions of flows.
    jobs: Vec<(Range<u32>, Range<Time>)>,
}

impl Spans {
    /// The span of a flow.
    pub fn of(&self, flow: usize) -> &Range<Time> {
        let of_job = || &self.jobs[self.jobs.partition_point(|(flows, _)| flows.end as usize <= flow)].1;
        self.others.get(flow).unwrap_or_else(of_job)
    }
}

impl Account {
    /// Offered bytes. A host that always has data for several flows still sends on a single link.
    fn bytes(mut self, during: &Range<Time>) -> f64 {
        self.busy.sort_unstable_by_key(|period| period.start);
        let (mut busy, mut until) = (0.0, Time::ZERO);
        for period in &self.busy {
            busy += period.end.since(period.start.max(until).min(period.end)).as_secs();
            until = until.max(period.end);
        }
        (self.posted + self.rate * busy).min(self.rate * length(during))
    }
}

impl Scenario {
    /// The load in bytes per second that each group of flows and each job offers in an interval of the first
    /// replication; NaN for a job, whose load depends on the network.
    ///
    /// ON and OFF periods are those of the run. Messages at random times count with their mean load, and a batch is
    /// offered at the rate of its host from its start on. The flows of a group do not exceed the rate of their host.
    pub fn offered(&self, during: Range<Time>) -> Vec<f64> {
        let mut accounts: BTreeMap<(u32, u32), Account> = BTreeMap::new();
        self.for_each_offer(&during, |source, offer| {
            let flow = &self.plan.flows[source.flows.start as usize];
            let account = accounts.entry((flow.group, flow.source.0)).or_default();
            account.rate = self.source_rate(flow);
            account.busy.extend(offer.busy);
            account.posted += offer.posted;
        });
        let mut bytes = vec![0.0; self.sections.flows.len()];
        for ((group, _), account) in accounts {
            bytes[group as usize] += account.bytes(&during);
        }
        let jobs = self.plan.groups.len() - bytes.len();
        let seconds = length(&during);
        bytes.into_iter().map(|bytes| bytes / seconds).chain(std::iter::repeat_n(f64::NAN, jobs)).collect()
    }

    /// The mean max-min fair rate of each flow in an interval of the first replication, in bytes per second. A flow
    /// demands what its source offers while its group is active; a flow of a job demands nothing.
    pub fn fair(&self, during: Range<Time>) -> Vec<f64> {
        let paths = self.flow_paths(*self.sections.run.seed);
        let within = |time: Time| time.clamp(during.start, during.end);
        let ends = |(start, stop): (Time, Option<Time>)| [within(start), within(stop.unwrap_or(Time::MAX))];
        let groups = self.sections.flows.iter().map(|group| (*group.start, *group.stop));
        let mut edges: Vec<Time> = groups.flat_map(ends).chain([during.start, during.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut rates = vec![0.0; self.plan.flows.len()];
        for edge in edges.windows(2) {
            let part = edge[0]..edge[1];
            let demands = self.demands(&part);
            for (rate, fair) in rates.iter_mut().zip(self.fair_for(&paths, &demands)) {
                *rate += fair * length(&part) / length(&during);
            }
        }
        rates
    }

    /// Max-min fair rates of all flows for these demands.
    pub(crate) fn fair_for(&self, paths: &FlowPaths, demands: &[f64]) -> Vec<f64> {
        let capacities: Vec<f64> = self.network.links.iter().map(|link| link.rate.bytes_per_second()).collect();
        max_min(|flow| paths.places(flow).map(|place| (paths.links[place], paths.share(place))), demands, &capacities)
    }

    /// The rate at which a flow's source can send, in bytes per second.
    pub(crate) fn source_rate(&self, flow: &Flow) -> f64 {
        let cap = self.plan.adapters[self.network.topology.node(flow.source).rank as usize].injection_rate;
        let link = self.network.rates[flow.source.index()].bytes_per_second();
        cap.map_or(link, |cap| link.min(cap.bytes_per_second()))
    }

    /// The time from the start of each flow's first source to the stop of its last. Without a stop, it is the end of
    /// the run; without a source, nothing.
    pub(crate) fn spans(&self, seed: u64) -> Spans {
        let end = *self.sections.run.duration;
        let jobs = self.sections.jobs.iter().zip(&self.plan.groups[self.sections.flows.len()..]);
        let jobs: Vec<_> = jobs.map(|(job, flows)| (flows.clone(), *job.start..end)).collect();
        let others = jobs.first().map_or(self.plan.flows.len(), |(flows, _)| flows.start as usize);
        let mut spans = vec![end..Time::ZERO; others];
        for source in self.sources(seed) {
            for span in &mut spans[source.flows.start as usize..source.flows.end as usize] {
                *span = span.start.min(source.start)..span.end.max(source.stop.min(end));
            }
        }
        spans.iter_mut().for_each(|span| span.end = span.end.max(span.start));
        Spans { others: spans, jobs }
    }

    /// The rate at which each flow could send in an interval if it had its host to itself.
    fn demands(&self, during: &Range<Time>) -> Vec<f64> {
        let mut demands = vec![0.0; self.plan.flows.len()];
        self.for_each_offer(during, |source, offer| {
            let rate = self.source_rate(&self.plan.flows[source.flows.start as usize]);
            let busy: f64 = offer.busy.iter().map(length).sum();
            let load = (rate * busy + offer.posted) / length(during);
            source.shares().for_each(|(flow, share)| demands[flow as usize] += load * share);
        });
        demands
    }

    /// Calls a function with every source and its offer in an interval.
    fn for_each_offer(&self, during: &Range<Time>, mut visit: impl FnMut(&SourceSpec, Offer)) {
        let seed = *self.sections.run.seed;
        // Most sources of a group have equal messages, and the mean number of packets may be a long sum.
        let mut known: Option<(u64, Distribution, f64)> = None;
        let mut wire = |bytes: u64, sizes: &Distribution| {
            if known.as_ref().is_none_or(|(size, law, _)| *size != bytes || law != sizes) {
                known = Some((bytes, sizes.clone(), self.wire_bytes(bytes, sizes)));
            }
            known.as_ref().map_or(0.0, |&(.., wire)| wire)
        };
        for (number, source) in (0..).zip(self.sources(seed)) {
            let rate = self.source_rate(&self.plan.flows[source.flows.start as usize]);
            let posted = match &source.traffic {
                Traffic::Poisson { mean_interval, bytes, sizes, .. } => {
                    let active = length(&common(during, &(source.start..source.stop)));
                    active / mean_interval.as_secs() * wire(*bytes, sizes)
                }
                Traffic::Batch { count, bytes, sizes } => {
                    let seconds = f64::from(*count) * wire(*bytes, sizes) / rate;
                    let end = source.start.saturating_add(Time::from_secs(seconds));
                    rate * length(&common(during, &(source.start..end)))
                }
                Traffic::Greedy { .. } | Traffic::OnOff { .. } => 0.0,
            };
            let periods = source.busy_periods(seed, number).take_while(|period| period.start < during.end);
            let busy = periods.map(|period| common(during, &period)).filter(|period| !period.is_empty()).collect();
            visit(&source, Offer { busy, posted });
        }
    }

    /// Mean bytes on the wire of messages with this mean payload.
    fn wire_bytes(&self, bytes: u64, sizes: &Distribution) -> f64 {
        let packet = &self.sections.packet;
        bytes as f64 + Sizes(sizes.clone()).mean_packets(bytes, packet.mtu.0) * f64::from(packet.header.0)
    }
}

/// The part of an interval that lies in another; empty if there is none.
fn common(during: &Range<Time>, period: &Range<Time>) -> Range<Time> {
    let start = period.start.clamp(during.start, during.end);
    start..period.end.clamp(start, during.end)
}

/// Length of an interval in seconds.
fn length(during: &Range<Time>) -> f64 {
    during.end.since(during.start).as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: f64 = 1e9;

    /// A dumbbell whose links carry 1 GB/s.
    fn scenario(flows: &str) -> Scenario {
        let text = format!("[run]\nduration = \"1 ms\"\n[topology.dumbbell]\nrate = \"1 GB/s\"\n{flows}");
        Scenario::parse(&text, "offered.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }

    fn group(keys: &str) -> String {
        format!("[[flows]]\nname = \"f\"\n{keys}\n")
    }

    fn offered(keys: &str, from: u64, to: u64) -> f64 {
        scenario(&group(keys)).offered(Time::from_us(from)..Time::from_us(to))[0] / HOST
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn streams_offer_their_link_while_they_are_active() {
        let one = "from = [\"A1\"]\nto = [\"BC\"]\nstart = \"200 us\"\nstop = \"600 us\"";
        close(offered(one, 0, 200), 0.0);
        close(offered(one, 200, 600), 1.0);
        close(offered(one, 100, 300), 0.5);
        close(offered(one, 0, 1000), 0.4);
        // Two flows of one host, and the same flows of two hosts, the second of which starts later.
        close(offered("from = [\"A1\"]\nto = [\"BC\", \"BV\"]", 0, 100), 1.0);
        close(offered("from = [\"A1\", \"A2\"]\nto = [\"BC\"]\nstagger = \"50 us\"", 0, 100), 1.5);
    }

    #[test]
    fn messages_offer_their_mean_load_or_their_volume() {
        let load = "from = [\"A1\"]\nto = [\"BC\", \"BV\"]\nweights = [1, 3]\ntraffic.poisson = { load = 0.5, ";
        let changes = "changes = [{ at = \"400 us\", load = 0.1 }] }";
        close(offered(&format!("{load}{changes}"), 0, 400), 0.5);
        close(offered(&format!("{load}{changes}"), 300, 500), 0.3);
        // One packet of 1000 B has a header of 20 B.
        close(offered(&format!("{load}load_counts = \"payload\", message = \"1000 B\" }}"), 0, 100), 0.51);
        // 98 messages of 1020 B on the wire last 99.96 us.
        let batch =
            "from = [\"A1\"]\nto = [\"BC\"]\nstart = \"100 us\"\ntraffic.batch = { count = 98, message = \"1000 B\" }";
        close(offered(batch, 0, 100), 0.0);
        close(offered(batch, 100, 300), 0.4998);
        close(offered(batch, 100, 150), 1.0);
    }

    #[test]
    fn on_off_periods_are_those_of_the_run() {
        let flows =
            group("from = [\"A1\"]\nto = [\"BC\"]\ntraffic.on_off = { mean_on = \"20 us\", mean_off = \"60 us\" }");
        let known = scenario(&flows);
        let sent = known.run(0, 1, &mut |_| true).unwrap();
        let flow = sent.tables.iter().find(|table| table.name == "flows").unwrap();
        let Some(becalm_metrics::Data::F64(offers)) = flow.column("offered") else { panic!("numbers") };
        let found = known.offered(Time::ZERO..Time::from_ms(1))[0];
        close(found / HOST, offers[0] / HOST);
        assert!((found / HOST - 0.25).abs() > 1e-3, "the draws are not their mean: {found}");
        let halves = [0, 500].map(|from| known.offered(Time::from_us(from)..Time::from_us(from + 500))[0]);
        close((halves[0] + halves[1]) / 2.0 / HOST, found / HOST);
        // Several flows of a host that are ON at the same time share its link.
        let both =
            "from = [\"A1\"]\nto = [\"BC\", \"BV\"]\ntraffic.on_off = { mean_on = \"1 s\", mean_off = \"1 us\" }";
        close(offered(both, 0, 1000), 1.0);
    }

    #[test]
    fn links_are_divided_fairly_while_groups_are_active() {
        let half = "[[flows]]\nname = \"half\"\nfrom = [\"A2\"]\nto = [\"BC\"]\nstop = \"500 us\"\ntraffic.poisson.load = 0.2\n";
        let known = scenario(&format!("{}{half}", group("from = [\"A1\"]\nto = [\"BC\"]")));
        let fair = known.fair(Time::ZERO..Time::from_ms(1));
        close(fair[0] / HOST, 0.9);
        close(fair[1] / HOST, 0.1);
        let spans = known.spans(1);
        assert_eq!(spans.others, [Time::ZERO..Time::from_ms(1), Time::ZERO..Time::from_us(500)]);
        // Each load is a source, and the last ends with a load of 0.
        let changes = "changes = [{ at = \"200 us\", load = 0.1 }, { at = \"400 us\", load = 0.0 }]";
        let loads = format!("start = \"100 us\"\ntraffic.poisson = {{ load = 0.5, {changes} }}");
        let spans = scenario(&group(&format!("from = [\"A1\"]\nto = [\"BC\"]\n{loads}"))).spans(1);
        assert_eq!(spans.others, [Time::from_us(100)..Time::from_us(400)]);
    }
}
