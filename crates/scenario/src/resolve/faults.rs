//! The faults of a scenario, at the ports of its network.

use becalm_engine::{Time, order};
use becalm_fabric::{AdapterConfig, Fault, FaultKind, NodeId, PortId, Rate};
use becalm_schema::{Choice, Located, Place, Review};

use super::links::Link;
use super::network::Network;
use crate::names::{expand_list, unknown};
use crate::sections::Sections;
use crate::sections::faults::{self, Kind};

/// A fault at one port: a part of one of the scenario's faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortFault {
    /// Index of the fault in the scenario.
    pub number: usize,
    pub fault: Fault,
    place: Place,
}

/// The faults of all ports in the order of the scenario. Errors are recorded.
pub(crate) fn resolve(
    sections: &Sections,
    network: &Network,
    adapters: &[AdapterConfig],
    review: &mut Review<'_>,
) -> Vec<PortFault> {
    let mut all: Vec<PortFault> = Vec::new();
    for (number, section) in sections.faults.items().iter().enumerate() {
        let Some((read, kind)) = section.complete().and_then(|read| Some((read, read.kind.get()?))) else { continue };
        duration(sections, read, review);
        let (begin, end) = (*read.at, read.until.unwrap_or(Time::MAX));
        for (port, kind, place) in parts(kind, read.kind.place(), sections, network, adapters, review) {
            let fault = Fault { port, kind, begin, end };
            all.push(PortFault { number, fault, place });
        }
    }
    overlaps(&all, network, review);
    all
}

fn duration(sections: &Sections, fault: &faults::Fault, review: &mut Review<'_>) {
    let duration = sections.run.get().and_then(|run| run.duration.get());
    if let Some(duration) = duration.filter(|&&duration| *fault.at >= duration) {
        review.add(fault.at.place(), format!("must be before the run's end at {duration}"));
    }
}

/// The ports of a fault, each with what happens there.
fn parts(
    kind: &Kind,
    place: Place,
    sections: &Sections,
    network: &Network,
    adapters: &[AdapterConfig],
    review: &mut Review<'_>,
) -> Vec<(PortId, FaultKind, Place)> {
    let at_host = |host: NodeId| PortId { node: host, port: 0 };
    match kind {
        Kind::LinkDown(down) => {
            let link = find(&down.link, network, review);
            let ends = link.into_iter().flat_map(|link| [link.from, link.to]);
            ends.map(|port| (port, FaultKind::LinkDown, down.link.place())).collect()
        }
        Kind::SlowReceiver(slow) => {
            let (hosts, rate) = (network.hosts(&slow.hosts, review), slow.drain_rate.rate());
            let is_slower = |host: &NodeId| rate.bits_per_second() < receives(*host, network, adapters);
            if !hosts.is_empty() && !hosts.iter().any(is_slower) {
                review.add(slow.drain_rate.place(), "does nothing: no host receives faster without the fault");
            }
            let kind = FaultKind::Slow(rate);
            hosts.into_iter().map(|host| (at_host(host), kind, slow.hosts.place())).collect()
        }
        Kind::HostStop(stop) => {
            let hosts = network.hosts(&stop.hosts, review).into_iter();
            hosts.map(|host| (at_host(host), FaultKind::Stop, stop.hosts.place())).collect()
        }
        Kind::SwitchStop(stop) => {
            let ports = ports_of(&stop.switches, network, review);
            ports.into_iter().map(|(port, place)| (port, FaultKind::LinkDown, place)).collect()
        }
        Kind::PauseStorm(storm) => {
            let Some(switch) = sections.switch.get() else { return Vec::new() };
            if switch.flow_control.get().is_some_and(|control| control.pfc().is_none()) {
                review.add(place, "needs [switch.flow_control.pfc]: with credits, there are no pauses");
            }
            let lanes = lanes(storm, sections, review);
            let link = find(&storm.link, network, review);
            link.into_iter().map(|link| (link.to, FaultKind::Storm(lanes), storm.link.place())).collect()
        }
    }
}

/// The ports at both ends of all cables of some switches, each with the switch's place in the scenario.
fn ports_of(
    switches: &Located<Vec<Located<String>>>,
    network: &Network,
    review: &mut Review<'_>,
) -> Vec<(PortId, Place)> {
    let known: Vec<&str> = network.topology.switches().map(|switch| network.name(switch)).collect();
    if switches.items().is_empty() {
        review.add(switches.place(), "must name at least one switch");
    }
    let mut ports: Vec<(PortId, Place)> = Vec::new();
    for (name, place) in expand_list(switches.items(), review) {
        if !known.contains(&name.as_str()) {
            unknown("switch", &name, &known, place, review);
            break;
        }
        let own = network.links.iter().filter(|link| network.name(link.from.node) == name);
        ports.extend(own.flat_map(|link| [link.from, link.to]).map(|port| (port, place)));
    }
    // Two of the switches may share a cable.
    order::sort_by_key(&mut ports, |(port, _)| *port);
    ports.dedup_by_key(|(port, _)| *port);
    ports
}

/// The lanes that a storm pauses, as bits.
fn lanes(storm: &faults::PauseStorm, sections: &Sections, review: &mut Review<'_>) -> u16 {
    let all = sections.switch.get().and_then(|switch| switch.vls.get()).map_or(0, |_| sections.vls());
    let Some(named) = storm.vls.set() else { return (1u32 << all).wrapping_sub(1) as u16 };
    if let Some(wrong) = named.iter().find(|&&vl| vl >= u32::from(all)) {
        review.add(storm.vls.place(), format!("names VL {wrong}, but the switches have VL 0 to {}", all.max(1) - 1));
    } else if named.is_empty() {
        review.add(storm.vls.place(), "must name at least one virtual lane");
    }
    named.iter().filter(|&&vl| vl < 16).fold(0, |lanes, vl| lanes | 1 << vl)
}

/// The rate in bits per second at which a host receives without a fault.
fn receives(host: NodeId, network: &Network, adapters: &[AdapterConfig]) -> f64 {
    let link = network.rates[host.index()].bits_per_second();
    let cap = adapters.get(network.topology.node(host).rank as usize).and_then(|adapter| adapter.drain_rate);
    cap.map_or(link, Rate::bits_per_second).min(link)
}

fn find<'a>(name: &Located<String>, network: &'a Network, review: &mut Review<'_>) -> Option<&'a Link> {
    let text = name.get()?;
    let link = network.links.iter().find(|link| link.name == *text);
    if link.is_none() {
        unknown("link", text, &network.link_names(), name.place(), review);
    }
    link
}

/// Reports faults of the same kind at the same port and at the same time.
fn overlaps(all: &[PortFault], network: &Network, review: &mut Review<'_>) {
    let key = |each: &PortFault| {
        let Fault { port, kind, begin, .. } = each.fault;
        ((port.node.0, port.port, kind.number()), begin)
    };
    let mut sorted: Vec<&PortFault> = all.iter().collect();
    order::sort_by_key(&mut sorted, |each| key(each));
    let mut blamed = None;
    for pair in sorted.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        if key(first).0 == key(second).0 && second.fault.begin <= first.fault.end && blamed != Some(second.number) {
            let name = network.name(second.fault.port.node);
            let problem = format!("{name} already has a fault of this kind at {}", second.fault.begin);
            review.add(second.place, problem);
            blamed = Some(second.number);
        }
    }
}

impl PortFault {
    /// The name of its kind, as in scenarios.
    pub fn kind(&self, sections: &Sections) -> &'static str {
        sections.faults[self.number].kind.name()
    }
}
