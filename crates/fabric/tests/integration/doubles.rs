//! The plainest schemes, to run the fabric without any.

use becalm_engine::{Simulator, Time};
use becalm_fabric::seam::{Answer, Arrival, Departure, Echo, Marker, Notice, Observer, Pace, Response, SwitchView};
use becalm_fabric::*;

/// Marks nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unmarked;

impl Marker for Unmarked {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}
    fn departing<V: SwitchView>(&mut self, _: &Departure, _: &V) -> bool {
        false
    }
}

/// Acknowledges every packet.
#[derive(Clone, Copy, Debug)]
pub struct Acks;

impl Echo for Acks {
    fn answer(&mut self, packet: &Packet) -> Answer {
        Answer::Ack { echo: packet.marked }
    }
}

/// A pace that never changes.
#[derive(Clone, Copy, Debug)]
pub struct Steady(pub Pace);

impl Response for Steady {
    fn pace(&self) -> Pace {
        self.0
    }
    fn notice(&mut self, _: Time, _: Notice) {}
}

/// Answers nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Echo for Silent {
    fn answer(&mut self, _: &Packet) -> Answer {
        Answer::Silent
    }
}

/// The switch of Santos 2002 and 2003, Table I.
pub const SANTOS: SwitchConfig = SwitchConfig {
    vls: 1,
    buffer: Room::Packets(4),
    forwarding_delay: Time::from_ns(40),
    switching: Switching::CutThrough,
    arbiter: Arbiter::OldestFirst { max_bypass: 4 },
    queueing: Queueing::Voq,
    input_reads: InputReads::Many,
};

/// The packets of Santos 2002 and 2003, Table I.
pub const PACKETS: PacketConfig = PacketConfig { mtu: 2048, header: 20, ack: 20, cnp: 20 };

/// 1 GB/s.
pub fn gigabyte() -> Rate {
    Rate::from_bits_per_second(8e9)
}

/// A simulator without marks, where every flow has the same pace.
pub fn unmarked<E: Echo + Clone, O: Observer>(
    topology: Topology,
    switch: SwitchConfig,
    flows: Vec<FlowSpec<Steady>>,
    sources: Vec<SourceSpec>,
    echo: E,
    seed: u64,
    observer: O,
) -> Simulator<Fabric<Steady, Unmarked, E, O>> {
    let markers = vec![Unmarked; topology.switch_count() as usize];
    let spec = FabricSpec { topology, switch, packets: PACKETS, flows, sources, markers, echo, seed };
    Fabric::simulator(spec, observer).expect("the routes are complete")
}
