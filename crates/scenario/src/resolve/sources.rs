//! The traffic sources of a group.

use std::ops::Range;

use becalm_engine::Time;
use becalm_fabric::{FlowId, Mix, Rate, SourceSpec, Traffic};

use super::sending::Sending;
use crate::sections::flows::{self, DEFAULT_MESSAGE, Group, Poisson};
use crate::sections::packet::Packet;

/// The sources of a group. Each has its flows and the rate of its host's link.
pub(super) fn sources(
    group: &Group,
    packet: &Packet,
    sendings: impl Iterator<Item = (Sending, Range<u32>, Rate)>,
) -> Vec<SourceSpec> {
    let mut starts = (0u64..).map(|i| group.start.saturating_add(Time(group.stagger.0.saturating_mul(i))));
    let stop = group.stop.unwrap_or(Time::MAX);
    let mut sources = Vec::new();
    // Most sources of a group have equal messages, and the mean number of packets may be a long sum.
    let mut known: Option<(u64, f64)> = None;
    for (Sending { message, start, mix, .. }, flows, rate) in sendings {
        let traffic = match &*group.traffic {
            flows::Traffic::Poisson(p) => {
                let p = Poisson { message: message.or(*p.message).into(), ..p.clone() };
                let start = start.or_else(|| starts.next()).unwrap_or(*group.start);
                let mean = p.mean();
                let same = known.filter(|(known, _)| *known == mean);
                let (_, bytes) = *known.insert(same.unwrap_or_else(|| (mean, p.load_bytes(packet))));
                sources.extend(poisson(&p, bytes, rate, (flows, mix), start..stop));
                continue;
            }
            flows::Traffic::Greedy(p) => Traffic::Greedy {
                bytes: p.sizes.mean(message.or(p.message), packet.payload()),
                sizes: p.sizes.0.clone(),
            },
            flows::Traffic::OnOff(p) => Traffic::OnOff { mean_on: p.mean_on, mean_off: p.mean_off },
            flows::Traffic::Batch(p) => {
                let bytes = p.sizes.mean(message.or(p.message), DEFAULT_MESSAGE);
                Traffic::Batch { count: p.count, bytes, sizes: p.sizes.0.clone() }
            }
        };
        // A source of messages selects a destination for each message. Streams have one source per flow.
        if matches!(traffic, Traffic::Batch { .. }) || start.is_some() {
            let start = start.or_else(|| starts.next());
            sources.extend(start.map(|start| SourceSpec { flows, mix, traffic, start, stop }));
        } else {
            let single = flows.zip(starts.by_ref());
            sources.extend(single.map(|(i, start)| SourceSpec {
                start,
                stop,
                ..SourceSpec::always(FlowId(i), traffic.clone())
            }));
        }
    }
    sources
}

/// One source for each of the successive loads. A Poisson process is memoryless, so it can be split in time.
fn poisson(
    p: &Poisson,
    load_bytes: f64,
    rate: Rate,
    (flows, mix): (Range<u32>, Mix),
    during: Range<Time>,
) -> impl Iterator<Item = SourceSpec> {
    let loads = p.loads(during.start).filter(move |(load, from, _)| *load > 0.0 && *from < during.end);
    loads.map(move |(load, start, end)| {
        let seconds = load_bytes / (rate.bytes_per_second() * load);
        let mean_interval = Time::from_secs(seconds).max(Time(1));
        let traffic = Traffic::Poisson { mean_interval, bytes: p.mean(), sizes: p.sizes.0.clone(), paced: *p.paced };
        SourceSpec { flows: flows.clone(), mix: mix.clone(), traffic, start, stop: end.min(during.end) }
    })
}
