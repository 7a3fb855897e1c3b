//! Construction of a fabric from its specification.

use becalm_engine::{Agenda, Key, Simulator, Time};

use crate::config::{AdapterConfig, PathSelection, Switching};
use crate::context::{Context, Place, Shared};
use crate::error::FabricError;
use crate::event::{Event, Signal};
use crate::faults::{FaultKind, Faults};
use crate::flow_control::credit::{CreditReturn, LinkCredit};
use crate::flow_control::gate::Gate;
use crate::host::{
    Adapter, Common, Ends, Flows, Hosts, Jobs, Later, Pacer, PacerFlows, RECORDED, SendQueue, Sender, Source, Store,
};
use crate::ids::{FlowId, NodeId, PortId, SourceId};
use crate::network::link::{Control, EgressLink, LOCAL, Rate};
use crate::network::routing::Paths;
use crate::network::topology::{Cable, NodeKind, Topology};
use crate::policy::{Echo, FlowShape, Marker, Observer, Response};
use crate::sim::fabric::Fabric;
use crate::sim::headrooms::Headrooms;
use crate::sim::shapes::Shapes;
use crate::sim::spec::{FabricSpec, FlowSpec};
use crate::switch::{State, Switch};
use crate::trail::Trails;

/// The nodes that one simulator handles, if several share a fabric.
pub(crate) struct Share<'a> {
    /// The part of each node.
    pub part_of: &'a [u16],
    /// The part that this simulator handles.
    pub part: u16,
    /// Number of parts.
    pub parts: usize,
}

impl Share<'_> {
    fn has(&self, node: NodeId) -> bool {
        self.part_of[node.index()] == self.part
    }

    /// The part of a node, [`LOCAL`] if this simulator handles it.
    fn part(&self, node: NodeId) -> u16 {
        if self.has(node) { LOCAL } else { self.part_of[node.index()] }
    }
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// Creates a simulator at time zero, with the first event of every source pending.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] or [`FabricError::RoutingLoop`] for the path of a flow or of its answers.
    ///
    /// # Panics
    /// If a flow, a source or the number of markers does not fit the topology. The scenario checks this
    /// beforehand.
    pub fn simulator(spec: FabricSpec<R, K, E>, observer: O) -> Result<Simulator<Self>, FabricError> {
        let part_of = vec![0; spec.topology.nodes().len()];
        let whole = Share { part_of: &part_of, part: 0, parts: 1 };
        let mut simulator = Simulator::new(Self::build(spec, observer, &whole)?);
        let Simulator { model, agenda, .. } = &mut simulator;
        model.begin(agenda, &whole);
        Ok(simulator)
    }

    /// Builds the fabric at time zero. Links to nodes of other simulators lead to their parts.
    pub(crate) fn build(mut spec: FabricSpec<R, K, E>, observer: O, share: &Share<'_>) -> Result<Self, FabricError> {
        let paths = Paths::new(&spec.topology, &spec.routes);
        paths.check(spec.flows.iter().map(|flow| (flow.source, flow.destination)))?;
        let markers = std::mem::take(&mut spec.markers);
        for at in 0..spec.changes.len() {
            spec.changes[at].rate = left_for_packets(&spec, spec.changes[at].from.node, spec.changes[at].rate);
        }
        let shapes = Shapes {
            topology: &spec.topology,
            paths: &paths,
            switch: &spec.switch,
            packets: &spec.packets,
            adapters: &spec.adapters,
        };
        let trails: Vec<Option<u32>> = spec.responses.iter().map(Response::trail).collect();
        let mut responses = std::mem::take(&mut spec.responses);
        let later = later(&spec, &mut responses);
        let (now, others) = (&spec.flows[..later.first], later.ends.len());
        let (pacers, lists) = pacers(&shapes, now, &mut responses, &trails);
        let moves = spec.faults.iter().any(|fault| fault.kind == FaultKind::LinkDown);
        let in_order = spec.switch.paths == PathSelection::Destination || spec.switch.paths.keeps_order() && !moves;
        let loses = spec.switch.flow_control.pfc().and_then(|pfc| pfc.watchdog).is_some_and(|dog| dog.loses());
        let common = Common {
            header: spec.packets.header,
            requests: spec.echo.hears_requests(),
            paths: spec.switch.paths,
            seed: spec.seed,
            is_lossy: loses && in_order,
        };
        let sender = |(i, flow): (u32, &FlowSpec)| {
            let trail = trails[flow.response as usize].unwrap_or(0);
            let mut sender = common.sender(FlowId(i), flow.response, ends(&spec.topology, flow), trail);
            sender.restart = flow.restart;
            sender.extras |= if trails[flow.response as usize].is_some() { RECORDED } else { 0 };
            sender
        };
        let senders: Vec<_> = (0u32..).zip(now).map(sender).collect();
        // The largest packets have the longest trail.
        spec.packets.header += trails.iter().flatten().max().unwrap_or(&0);
        let (mut adapters, mut switches) = nodes(&spec, markers, share);
        Headrooms::of(&spec).into_iter().for_each(|headrooms| headrooms.set(&mut adapters, &mut switches));
        if spec.packets.train > 1 {
            switches.iter_mut().for_each(|switch| switch.state.take_trains());
            adapters.iter_mut().for_each(|adapter| adapter.ready.take_trains());
        }
        if trails.iter().any(Option::is_some) {
            switches.iter_mut().for_each(|switch| switch.state.record());
        }
        let switches_watched = watched(&switches);
        list_early(&mut adapters, &spec.adapters, pacers.iter().map(|pacer| pacer.host).chain(later.sources()));
        for ends in spec.flows.iter().map(|flow| ends(&spec.topology, flow)) {
            adapters[ends.source as usize].data_vls |= 1 << ends.vl;
        }
        let sources = (0u64..).zip(spec.sources).map(|(i, source)| Source::new(source, spec.seed, i)).collect();
        let jobs = Jobs::new(spec.jobs, |host| share.part(host));
        let lanes = 2 * spec.topology.cables().len() * usize::from(spec.switch.vls);
        let pauses = spec.switch.flow_control.pauses();
        let receiver = |sender: &Sender| common.receiver(sender.header, pacers[sender.pacer as usize].host);
        Ok(Fabric {
            observer,
            hosts: Hosts {
                echoes: vec![spec.echo; adapters.len()],
                adapters,
                receivers: Store::new(senders.iter().map(receiver).collect(), others),
                sources,
                rtts: Vec::new(),
                flows: Flows {
                    own_pacers: (0..).zip(now).all(|(i, flow)| flow.response == i),
                    senders: Store::new(senders, others),
                    pacers: Store::new(pacers, others),
                    responses: Store::new(responses, others),
                    later,
                    common,
                    lists,
                    packets: spec.packets,
                    answers_vls: answers_vls(&spec.flows, spec.routes.lanes().is_some()),
                    seed: spec.seed,
                    first_of_jobs: jobs.first_flow(),
                },
                jobs,
            },
            switches,
            shared: Shared {
                places: places(&spec.topology),
                topology: spec.topology,
                routes: spec.routes,
                changes: spec.changes,
                faults: Faults::new(spec.faults),
                packets: 0,
                credit: vec![LinkCredit::new(spec.switch.buffer.capacity()); if pauses { 0 } else { lanes }],
                trails: Trails::default(),
                gates: gates(if pauses { lanes } else { 0 }, &switches_watched),
                unit: spec.switch.buffer.unit(),
                largest: spec.switch.buffer.need(spec.packets.largest()),
                config: spec.switch,
                hops: 0,
                together: 0,
                outboxes: vec![Vec::new(); share.parts],
            },
        })
    }

    /// Schedules the first events of the nodes that this simulator handles.
    pub(crate) fn begin(&mut self, agenda: &mut Agenda<Event>, share: &Share<'_>) {
        for (i, change) in (0u32..).zip(&self.shared.changes).filter(|(_, change)| share.has(change.from.node)) {
            let signal = Signal::Rate(i);
            let key = Key::new(change.from.node.0, signal.kind(), Signal::RATE, change.from.port);
            agenda.at(change.at, key, signal.into());
        }
        let peers = self.shared.topology.peers();
        let delay =
            |port: PortId| self.shared.topology.cables()[peers[port.node.index()][usize::from(port.port)].1].delay;
        for (number, time, port) in self.shared.faults.signals(|node| share.has(node), delay) {
            let signal = Signal::Fault(number);
            let rank = self.shared.faults.rank(number);
            agenda.at(time, Key::new(port.node.0, signal.kind(), rank, port.port), signal.into());
        }
        let seed = self.hosts.flows.seed;
        for state in self.switches.iter().map(|switch| &switch.state).filter(|state| share.has(state.node)) {
            if let Some(dog) = &state.watchdog {
                let key = Key::new(state.node.0, Signal::Poll.kind(), Signal::POLL, 0);
                agenda.at(dog.first_poll(seed, state.node.0), key, Signal::Poll.into());
            }
        }
        let hosts = &mut self.hosts;
        let mut cx = Context { now: Time::ZERO, agenda, shared: &mut self.shared, observer: &mut self.observer };
        for i in 0..hosts.sources.len() {
            if share.has(hosts.node_of_source(i)) {
                let first = hosts.sources[i].first_time();
                first.into_iter().for_each(|time| hosts.schedule_post(time, SourceId(i as u32), &mut cx));
            }
        }
        hosts.begin_jobs(&mut cx);
        // The responses of later flows are steady, and have no timers.
        for pacer in 0..hosts.flows.later.first.min(hosts.flows.pacers.len()) {
            if share.has(hosts.adapters[hosts.flows.pacers[pacer].host as usize].node) {
                hosts.arm_timer(pacer as u32, &mut cx);
            }
        }
    }
}

/// The adapters, and the switches with their markers, in order of rank.
///
/// # Panics
/// If the number of adapters or markers does not fit the topology.
fn nodes<R, K: Marker, E>(
    spec: &FabricSpec<R, K, E>,
    markers: Vec<K>,
    share: &Share<'_>,
) -> (Vec<Adapter>, Vec<Switch<K>>) {
    let topology = &spec.topology;
    assert_eq!(markers.len(), topology.switch_count() as usize, "one marker per switch");
    assert_eq!(spec.adapters.len(), topology.host_count() as usize, "one adapter per host");
    let mut links = egress_links(spec);
    for (link, back) in links.iter_mut().flatten() {
        link.part = share.part(link.peer().node);
        back.part = link.part;
    }
    let adapter =
        |(node, &config): (NodeId, &AdapterConfig)| Adapter::new(node, links[node.index()][0], spec.switch.vls, config);
    let mut adapters: Vec<Adapter> = topology.hosts().zip(&spec.adapters).map(adapter).collect();
    for fault in spec.faults.iter().filter(|fault| fault.kind.fills_hosts()) {
        let adapter = &mut adapters[topology.node(fault.port.node).rank as usize];
        (adapter.drains, adapter.receiving) = (true, Some(Box::default()));
    }
    let largest = spec.packets.largest();
    let switch = |(node, marker): (NodeId, K)| {
        let (rank, own) = (topology.node(node).rank, &links[node.index()]);
        let shown = (marker.attention(), marker.sees_passing());
        let mut state = State::new(node, rank, &spec.switch, own, largest, shown, spec.seed);
        if state.cbfc.is_some() {
            let to = |PortId { node, port }: PortId| links[node.index()][usize::from(port)].0;
            state.arrival_rates = own.iter().map(|(_, back)| to(back.sender).rate).collect();
        }
        state.changes_lanes = spec.routes.lanes().is_some();
        state.computed = spec.routes.computed(rank);
        Switch { state, marker }
    };
    let switches = topology.switches().zip(markers).map(switch).collect();
    (adapters, switches)
}

/// The indices of the gates that watchdogs poll.
fn watched<K>(switches: &[Switch<K>]) -> Vec<usize> {
    let states = switches.iter().map(|switch| &switch.state).filter(|state| state.watchdog.is_some());
    let of_state = |state: &State| {
        let links: Vec<EgressLink> = (0..state.degree).map(|output| state.output(output).link).collect();
        let vls = state.vls;
        links.into_iter().filter(EgressLink::gated).flat_map(move |link| (0..vls).map(move |vl| link.credit_index(vl)))
    };
    states.flat_map(of_state).collect()
}

/// Open gates, some of which are watched.
fn gates(count: usize, watched: &[usize]) -> Vec<Gate> {
    let mut gates = vec![Gate::new(); count];
    watched.iter().for_each(|&at| gates[at].watch());
    gates
}

/// The lane of each flow's answers; empty if all answers use the lane on which the data packet arrived.
fn answers_vls(flows: &[FlowSpec], changes_lanes: bool) -> Vec<u8> {
    let differ = changes_lanes || flows.iter().any(|flow| flow.answers_vl != flow.vl);
    if differ { flows.iter().map(|flow| flow.answers_vl).collect() } else { Vec::new() }
}

/// Lets adapters with a single pacer list it early. `hosts` are the ranks of the pacers' hosts.
fn list_early(adapters: &mut [Adapter], configs: &[AdapterConfig], hosts: impl Iterator<Item = u32>) {
    let mut count = vec![0u32; adapters.len()];
    hosts.for_each(|host| count[host as usize] += 1);
    for ((adapter, config), pacers) in adapters.iter_mut().zip(configs).zip(count) {
        adapter.lists_early = pacers == 1 && config.injection_rate.is_none();
    }
}

fn places(topology: &Topology) -> Vec<Place> {
    let place = |node: &crate::Node| match node.kind {
        NodeKind::Host => Place::Host(node.rank),
        NodeKind::Switch => Place::Switch(node.rank),
    };
    topology.nodes().iter().map(place).collect()
}

/// The ends of a flow.
fn ends(topology: &Topology, flow: &FlowSpec) -> Ends {
    let rank = |node| topology.node(node).rank;
    Ends { source: rank(flow.source), destination: rank(flow.destination), vl: flow.vl }
}

/// The flows of jobs, if their ends are made later. Takes their response, which is the last.
///
/// # Panics
/// If the response is not steady, or not the last.
fn later<R: Response, K, E>(spec: &FabricSpec<R, K, E>, responses: &mut Vec<R>) -> Later<R> {
    let all = spec.flows.len();
    let Some(first) = spec.jobs.first().and_then(|job| job.steady).map(|steady| steady as usize) else {
        return Later { first: all, ends: Vec::new(), response: None };
    };
    assert_eq!(responses.len(), first + 1, "the response of all later flows is the last");
    let response = responses.pop().filter(Response::is_steady).expect("the response is steady");
    let ends = spec.flows[first..].iter().map(|flow| ends(&spec.topology, flow)).collect();
    Later { first, ends, response: Some(response) }
}

/// The pacers, one per response, with the host of its flows, and the lists of pacers with several flows. Also
/// calls [`Response::start`] with the shapes of flows.
fn pacers<R: Response>(
    shapes: &Shapes<'_>,
    flows: &[FlowSpec],
    responses: &mut [R],
    trails: &[Option<u32>],
) -> (Vec<Pacer>, Vec<SendQueue>) {
    let shape = |flow: &FlowSpec| shapes.of(flow.source, flow.destination, trails[flow.response as usize].unwrap_or(0));
    let of_flows: Vec<FlowShape> = flows.iter().map(shape).collect();
    let longest_rtt = of_flows.iter().map(|shape| shape.base_rtt).max().unwrap_or(Time::ZERO);
    let mut members: Vec<Vec<FlowId>> = vec![Vec::new(); responses.len()];
    for (i, flow) in flows.iter().enumerate() {
        members[flow.response as usize].push(FlowId(i as u32));
    }
    let mut lists = Vec::new();
    let pacer = |(i, response): (usize, &mut R)| {
        let members = &members[i];
        let host = members.first().map_or(0, |flow| shapes.topology.node(flows[flow.index()].source).rank);
        let longest = members.iter().map(|flow| of_flows[flow.index()]).max_by_key(|shape| shape.base_rtt);
        longest.iter().for_each(|&shape| response.start(&FlowShape { longest_rtt, ..shape }));
        let its_flows = match members[..] {
            [flow] => PacerFlows::One(flow),
            _ => {
                lists.push(SendQueue::new(shapes.adapters[host as usize].injection));
                PacerFlows::Several(lists.len() as u32 - 1)
            }
        };
        Pacer::new(host, its_flows, response)
    };
    let pacers = responses.iter_mut().enumerate().map(pacer).collect();
    (pacers, lists)
}

/// For each port of every node, its link and the path of credit or pauses back to the sender.
fn egress_links<R, K, E>(spec: &FabricSpec<R, K, E>) -> Vec<Vec<(EgressLink, CreditReturn)>> {
    let FabricSpec { topology, switch, packets, faults, .. } = spec;
    let (vls, pfc) = (u32::from(switch.vls), switch.flow_control.pfc());
    // Each direction of a cable has credit for each VL. The direction from the cable's first end comes first.
    let storms =
        |node: NodeId| faults.iter().any(|fault| fault.port.node == node && matches!(fault.kind, FaultKind::Storm(_)));
    let link = |from: NodeId, (peer, index): &(PortId, usize)| {
        let cable = &topology.cables()[*index];
        let first = 2 * *index as u32 * vls;
        let second = first + vls;
        let (first_credit, returned) = if *peer == cable.b { (first, second) } else { (second, first) };
        let to_switch = topology.node(peer.node).kind == NodeKind::Switch;
        let &Cable { rate, delay, .. } = cable;
        let returns = pfc.map_or(delay, |pfc| delay + pfc.delay_on(rate, packets.largest()));
        let link = EgressLink {
            arrivals: Key::new(peer.node.0, Signal::ARRIVE, 0, peer.port),
            control: match (fills(spec, peer.node), pfc) {
                (true, None) => Control::Credit,
                (fills, Some(_)) if fills || storms(peer.node) => Control::Gate,
                _ => Control::Free,
            },
            rate: left_for_packets(spec, from, rate),
            whole: !to_switch || switch.switching == Switching::StoreAndForward,
            delay: if to_switch { delay + switch.forwarding_delay } else { delay },
            first_credit,
            part: LOCAL,
        };
        (link, CreditReturn { sender: *peer, delay: returns, first_credit: returned, part: LOCAL })
    };
    let nodes = (0..).map(NodeId).zip(topology.peers());
    nodes.map(|(node, ports)| ports.iter().map(|to| link(node, to)).collect()).collect()
}

/// Whether a node has buffers that fill up.
fn fills<R, K, E>(spec: &FabricSpec<R, K, E>, id: NodeId) -> bool {
    let node = spec.topology.node(id);
    let held_up = || spec.faults.iter().any(|fault| fault.port.node == id && fault.kind.fills_hosts());
    node.kind == NodeKind::Switch || spec.adapters[node.rank as usize].drain_rate.is_some() || held_up()
}

/// The rate that a node's link of this rate has left for packets. With CBFC, the CF_Updates for the node's buffers take
/// their share.
fn left_for_packets<R, K, E>(spec: &FabricSpec<R, K, E>, from: NodeId, rate: Rate) -> Rate {
    let updates = spec.switch.flow_control.cbfc().filter(|_| fills(spec, from));
    updates.map_or(rate, |cbfc| cbfc.left_of(rate))
}
