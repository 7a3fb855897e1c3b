//! Who sends to whom: the groups of a scenario as single flows.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use becalm_engine::{Stream, Time};
use becalm_fabric::{AdapterConfig, NodeId, NodeKind, Rate, SourceSpec, Topology, Traffic};
use becalm_schema::{Mistakes, Node};

use crate::hosts::{expand_list, unknown};
use crate::sections::adapter::Adapter;
use crate::sections::flows::{self, Group, Poisson};
use crate::sections::packet::Packet;
use crate::sendings::{Sending, sendings};

/// The purpose of the random stream of a group's pattern; the fabric uses others.
const PATTERN_STREAM: u64 = 1 << 32;
/// Flows that a scenario may have.
pub(crate) const MOST_FLOWS: usize = 4_000_000;

/// One flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub source: NodeId,
    pub destination: NodeId,
    pub group: u32,
}

/// The traffic of a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub flows: Vec<Flow>,
    pub sources: Vec<SourceSpec>,
    /// The flows of each group.
    pub groups: Vec<Range<u32>>,
    /// One per host.
    pub adapters: Vec<AdapterConfig>,
}

impl Plan {
    /// Adds the flows of a group; mistakes are noted.
    pub fn add(
        &mut self,
        group: &Group,
        node: &Node,
        network: &Network<'_>,
        packet: &Packet,
        seed: u64,
        mistakes: &mut Mistakes,
    ) {
        let first = self.flows.len() as u32;
        let mut random = Stream::new(seed, self.groups.len() as u64, PATTERN_STREAM);
        let room = MOST_FLOWS - self.flows.len();
        let Some(sendings) = sendings(group, node, network, room, &mut random, mistakes) else {
            self.groups.push(first..first);
            return;
        };
        let number = self.groups.len() as u32;
        let mut starts = (0u64..).map(|i| group.start.saturating_add(Time(group.stagger.0.saturating_mul(i))));
        for Sending { source, destinations, message, start } in sendings {
            let begin = self.flows.len() as u32;
            self.flows.extend(destinations.iter().map(|&destination| Flow { source, destination, group: number }));
            let flows = begin..self.flows.len() as u32;
            let stop = group.stop.unwrap_or(Time::MAX);
            let traffic = match &group.traffic {
                flows::Traffic::Poisson(p) => {
                    let p = Poisson { message: message.unwrap_or(p.message), ..p.clone() };
                    let rate = network.rates[source.index()];
                    let start = start.or_else(|| starts.next()).unwrap_or(group.start);
                    self.sources.extend(poisson(&p, rate, packet, flows, start..stop));
                    continue;
                }
                flows::Traffic::Greedy(p) => {
                    Traffic::Greedy { bytes: message.or(p.message).unwrap_or(packet.mtu).0, sizes: p.sizes.0 }
                }
                flows::Traffic::OnOff(p) => Traffic::OnOff { mean_on: p.mean_on, mean_off: p.mean_off },
                flows::Traffic::Batch(p) => {
                    Traffic::Batch { count: p.count, bytes: message.unwrap_or(p.message).0, sizes: p.sizes.0 }
                }
            };
            // What sends whole messages picks a destination for each; what streams has one source per flow.
            if matches!(traffic, Traffic::Batch { .. }) || start.is_some() {
                let start = start.or_else(|| starts.next());
                self.sources.extend(start.map(|start| SourceSpec { flows, traffic, start, stop }));
            } else {
                let single = flows.zip(starts.by_ref());
                self.sources.extend(single.map(|(i, start)| SourceSpec { flows: i..i + 1, traffic, start, stop }));
            }
        }
        self.groups.push(first..self.flows.len() as u32);
    }

    /// Gives every host its adapter; mistakes are noted.
    pub fn set_adapters(
        &mut self,
        adapter: &Adapter,
        node: Option<&Node>,
        network: &Network<'_>,
        mistakes: &mut Mistakes,
    ) {
        self.adapters = vec![adapter.config(); network.topology.host_count() as usize];
        let nodes = node.and_then(|node| node.get("caps")?.items()).unwrap_or_default();
        for (caps, node) in adapter.caps.iter().zip(nodes) {
            let Some(list) = node.get("hosts") else { continue };
            for host in network.resolve(list, mistakes) {
                let rank = network.topology.node(host).rank as usize;
                self.adapters[rank] = adapter.with_caps(&caps.injection_rate, &caps.drain_rate);
            }
        }
    }

    /// When the last source of the group that was added last starts; `None` if it has none.
    pub fn last_start(&self) -> Option<Time> {
        let flows = self.groups.last()?;
        let own = self.sources.iter().rev().take_while(|source| flows.contains(&source.flows.start));
        own.map(|source| source.start).max()
    }
}

/// A topology with its hosts by name.
pub(crate) struct Network<'a> {
    pub topology: &'a Topology,
    pub names: Vec<&'a str>,
    rates: Vec<Rate>,
    pub by_name: HashMap<&'a str, NodeId>,
}

impl<'a> Network<'a> {
    pub fn new(topology: &'a Topology) -> Network<'a> {
        let names: Vec<&str> = topology.hosts().map(|host| topology.node(host).name.as_str()).collect();
        let by_name = names.iter().copied().zip(topology.hosts()).collect();
        Network { topology, names, rates: host_rates(topology), by_name }
    }

    /// The hosts of a list, in its order.
    pub fn resolve(&self, list: &Node, mistakes: &mut Mistakes) -> Vec<NodeId> {
        if list.items().is_some_and(<[Node]>::is_empty) {
            mistakes.add(list, "must name at least one host", "");
        }
        let mut hosts = Vec::new();
        let mut seen = HashSet::new();
        let mut blamed: Option<&Node> = None;
        for (name, node) in expand_list(list, mistakes) {
            if name == "*" {
                hosts.extend(self.topology.hosts().filter(|host| seen.insert(*host)));
                continue;
            }
            match self.by_name.get(name.as_str()) {
                Some(&host) if seen.insert(host) => hosts.push(host),
                Some(_) => mistakes.add(node, format!("names host `{name}` twice"), ""),
                // A range that leads nowhere is one mistake, however long it is.
                None if blamed.is_some_and(|blamed| std::ptr::eq(blamed, node)) => {}
                None => {
                    unknown("host", &name, &self.names, node, mistakes);
                    blamed = Some(node);
                }
            }
        }
        hosts
    }
}

/// A source for each of the loads that hold one after the other: a Poisson process has no memory, so it may be cut.
fn poisson(
    p: &Poisson,
    rate: Rate,
    packet: &Packet,
    flows: Range<u32>,
    during: Range<Time>,
) -> impl Iterator<Item = SourceSpec> {
    let loads = p.loads(during.start).filter(move |(load, from, _)| *load > 0.0 && *from < during.end);
    loads.map(move |(load, start, end)| {
        let seconds = p.wire_bytes(packet) / (rate.bytes_per_second() * load);
        let mean_interval = Time::from_secs(seconds).max(Time(1));
        let traffic = Traffic::Poisson { mean_interval, bytes: p.message.0, sizes: p.sizes.0, paced: p.paced };
        SourceSpec { flows: flows.clone(), traffic, start, stop: end.min(during.end) }
    })
}

/// The rate of every host's link, by number of the node. What is given for a switch means nothing.
pub(crate) fn host_rates(topology: &Topology) -> Vec<Rate> {
    let mut rates = vec![Rate::from_bits_per_second(1.0); topology.nodes().len()];
    for cable in topology.cables() {
        for end in [cable.a.node, cable.b.node] {
            if topology.node(end).kind == NodeKind::Host {
                rates[end.index()] = cable.rate;
            }
        }
    }
    rates
}
