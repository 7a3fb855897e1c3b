//! Trivial schemes for tests of the fabric.

use becalm_engine::{Simulator, Time};
use becalm_fabric::policy::{
    Answer, Arrival, Attention, Departure, Echo, Marker, Notice, Observer, Pace, Response, SwitchView, Unanswered,
};
use becalm_fabric::*;
use proptest::prelude::*;

/// Marks nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unmarked;

impl Marker for Unmarked {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}
    fn departing<V: SwitchView>(&mut self, _: &Departure, _: &V) -> bool {
        false
    }
    fn attention(&self) -> Attention {
        Attention::Nothing
    }
}

/// Acknowledges every packet.
#[derive(Clone, Copy, Debug)]
pub struct Acks;

impl Echo for Acks {
    fn answer(&mut self, _: Time, packet: &Packet, _: &Unanswered) -> Answer {
        Answer::ack(u32::from(packet.marked))
    }
}

/// A constant pace.
#[derive(Clone, Copy, Debug)]
pub struct Steady(pub Pace);

impl Response for Steady {
    fn pace(&self) -> Pace {
        self.0
    }
    fn notice(&mut self, _: Time, _: &Notice) {}
}

/// The switch of Santos 2002 and 2003, Table I.
pub const SANTOS: SwitchConfig = SwitchConfig {
    vls: 1,
    buffer: Room::Slots(4),
    forwarding_delay: Time::from_ns(40),
    switching: Switching::CutThrough,
    paths: PathSelection::Destination,
    arbiter: Arbiter::OldestFirst { max_bypass: 4, bypass: Bypass::Switch, counts_answers: true },
    queueing: Queueing::Voq,
    input_reads: InputReads::Many,
    vl_arbitration: VlArbitration::RoundRobin,
    service: Distribution::Fixed,
    flow_control: FlowControl::Credits,
};

/// Oldest-first arbiters with any bound on overtaking.
pub fn bounded_arbiters() -> impl Strategy<Value = Arbiter> {
    (0u32..6, any::<[bool; 2]>()).prop_map(|(max_bypass, [own, counts_answers])| Arbiter::OldestFirst {
        max_bypass,
        bypass: if own { Bypass::Output } else { Bypass::Switch },
        counts_answers,
    })
}

/// Configuration with this many cases per property, or PROPTEST_CASES.
pub fn cases(usual: u32) -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(usual),
    }
}

/// An adapter without caps.
pub const ADAPTER: AdapterConfig = AdapterConfig {
    injection: Injection::RoundRobin,
    answers: Answers::Turns,
    coalesces: true,
    injection_rate: None,
    message_overhead: Time::ZERO,
    drain_rate: None,
    queue: AdapterConfig::UNLIMITED,
    when_full: WhenFull::Block,
};

/// The packets of Santos 2002 and 2003, Table I.
pub const PACKETS: PacketConfig = PacketConfig {
    mtu: 2048,
    header: 20,
    ack: 20,
    cnp: 20,
    answers_vl: None,
    cnp_vl: None,
    train: 1,
    train_span: Time::MAX,
};

/// 1 GB/s.
pub fn gigabyte() -> Rate {
    Rate::from_bits_per_second(8e9)
}

/// A fabric without marks, with Santos' switches and packets and shortest routes.
pub fn plain(
    topology: Topology,
    flows: Vec<(FlowSpec, Steady)>,
    sources: Vec<SourceSpec>,
) -> FabricSpec<Steady, Unmarked, Acks> {
    let own = |(i, (flow, _)): (usize, &(FlowSpec, Steady))| FlowSpec { response: i as u32, ..*flow };
    FabricSpec {
        adapters: vec![ADAPTER; topology.host_count() as usize],
        responses: flows.iter().map(|(_, response)| *response).collect(),
        markers: vec![Unmarked; topology.switch_count() as usize],
        routes: Routes::shortest(&topology),
        topology,
        switch: SANTOS,
        packets: PACKETS,
        flows: flows.iter().enumerate().map(own).collect(),
        sources,
        jobs: Vec::new(),
        changes: Vec::new(),
        faults: Vec::new(),
        echo: Acks,
        seed: 1,
    }
}

/// Simulator of a fabric with complete routes.
pub fn simulate<R: Response, K: Marker, E: Echo + Clone, O: Observer>(
    spec: FabricSpec<R, K, E>,
    observer: O,
) -> Simulator<Fabric<R, K, E, O>> {
    Fabric::simulator(spec, observer).expect("the routes are complete")
}

/// A flow at line rate without a window.
pub fn free_flow(source: NodeId, destination: NodeId) -> (FlowSpec, Steady) {
    (FlowSpec { source, destination, vl: 0, answers_vl: 0, response: 0, restart: false }, Steady(Pace::FREE))
}

/// Traffic that always has a one-packet message to send.
pub fn greedy() -> Traffic {
    Traffic::Greedy { bytes: 2048, sizes: Distribution::Fixed }
}

/// A star: `n` hosts `h0`, `h1`, ... on one switch at 1 GB/s.
pub fn star(n: u32) -> Topology {
    let mut topology = Topology::default();
    let switch = topology.add_switch("s");
    for i in 0..n {
        let host = topology.add_host(format!("h{i}"));
        topology.connect(host, switch, gigabyte(), Time::ZERO);
    }
    topology
}
