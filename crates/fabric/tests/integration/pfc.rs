//! Priority-based flow control: exact headroom, obedient senders, named deadlocks.

use becalm_engine::{Simulator, Time};
use becalm_fabric::policy::Observer;
use becalm_fabric::*;

use crate::deadlock::{ring, ring_spec};
use crate::doubles::*;

/// Size of a full packet in bytes, and its transmission time in ns at 1 GB/s.
const PACKET: u64 = 2068;

fn pfc(pfc: Pfc) -> SwitchConfig {
    SwitchConfig { flow_control: FlowControl::Pfc(pfc), ..SANTOS }
}

/// A host that sends at 1 GB/s to a switch with an output too slow for any packet to leave.
fn dam(delay: Time) -> FabricSpec<Steady, Unmarked, Acks> {
    let mut topology = Topology::default();
    let (source, switch, sink) = (topology.add_host("source"), topology.add_switch("dam"), topology.add_host("sink"));
    topology.connect(source, switch, gigabyte(), delay);
    topology.connect(switch, sink, Rate::from_bits_per_second(1e6), Time::ZERO);
    let flows = vec![free_flow(source, sink)];
    plain(topology, flows, vec![SourceSpec::always(FlowId(0), greedy())])
}

/// The worst case for headroom: the pause arrives a nanosecond after another packet has begun.
///
/// XOFF is four packets. A header is counted 40 ns plus the cable's delay after its departure. The pause needs a packet
/// time (2068 ns), a frame time (84 ns), the response time (60 quanta, 3840 ns) and the cable's delay. With a cable
/// delay of 86.5 ns, the sender obeys 3 packet times and 1 ns after the start of the packet that crosses XOFF.
/// Therefore 4 packets arrive above XOFF.
fn worst(headroom: Option<u32>) -> Simulator<Fabric<Steady, Unmarked, Acks, ()>> {
    let mut spec = dam(Time(86_500));
    spec.switch = pfc(Pfc { headroom, response: Some(PauseResponse::Quanta(60)), ..Pfc::default() });
    let mut run = simulate(spec, ());
    run.run_until(Time::from_us(100));
    run
}

const INPUT: PortId = PortId { node: NodeId(1), port: 0 };

#[test]
fn headroom_is_enough_and_not_a_byte_too_large() {
    let run = worst(None);
    run.model.check(&run.agenda).expect("it does not overflow");
    let needed = 4 * PACKET as u32;
    assert_eq!(run.model.headroom(INPUT, 0), Some(Headroom { bytes: needed, most: needed }));
    let run = worst(Some(needed - 1));
    let Err(error) = run.model.check(&run.agenda) else { panic!("a byte less overflows") };
    assert_eq!(
        error.to_string(),
        "headroom of dam[0], VL 0, is too small: it is 8271 B, but at least 8272 B is needed; 8272 B is always enough"
    );
    assert_eq!(run.model.overflow(), Some(error));
}

/// Counts pauses, and checks that a sender starts no packet while paused.
#[derive(Default)]
struct Obedience {
    /// Time from the buffer's decision until the sender obeys.
    delay: Time,
    sender: Option<PortId>,
    paused: Option<Time>,
    resumed: Time,
    pauses: u32,
    broken: u32,
    hops: u32,
}

impl Observer for Obedience {
    fn paused(&mut self, now: Time, input: PortId, _: u8, paused: bool) {
        if input != INPUT {
            return;
        }
        match paused {
            true => self.paused = Some(now + self.delay),
            false => (self.paused, self.resumed) = (None, now + self.delay),
        }
        self.pauses += u32::from(paused);
    }
    fn hop(&mut self, now: Time, from: PortId, _: &Packet) {
        if self.sender == Some(from) {
            let held = self.paused.is_some_and(|since| now >= since) || (self.paused.is_none() && now < self.resumed);
            self.broken += u32::from(held && self.pauses > 0);
            self.hops += 1;
        }
    }
}

/// A fast link followed by a slow link at a switch.
fn funnel(slow: f64, delay: Time) -> FabricSpec<Steady, Unmarked, Acks> {
    let mut spec = dam(delay);
    let mut topology = Topology::default();
    let (source, switch, sink) = (topology.add_host("source"), topology.add_switch("s"), topology.add_host("sink"));
    topology.connect(source, switch, gigabyte(), delay);
    topology.connect(switch, sink, Rate::from_bits_per_second(slow), Time::ZERO);
    (spec.topology, spec.switch) = (topology, pfc(Pfc::default()));
    spec
}

#[test]
fn a_paused_sender_begins_no_packet() {
    let delay = Time::from_ns(500);
    let observer = Obedience {
        delay: Time::from_ns(500 + PACKET + 84 + 3840),
        sender: Some(PortId { node: NodeId(0), port: 0 }),
        ..Obedience::default()
    };
    let mut run = simulate(funnel(2e9, delay), observer);
    run.run_until(Time::from_ms(2));
    run.model.check(&run.agenda).expect("the guards hold");
    let Obedience { pauses, broken, hops, .. } = run.model.observer;
    assert!(pauses > 20 && hops > 200, "{pauses} pauses, {hops} packets");
    assert_eq!(broken, 0);
}

#[test]
fn a_slow_receiver_pauses_its_switch() {
    let mut spec = plain(star(2), Vec::new(), Vec::new());
    let hosts: Vec<_> = spec.topology.hosts().collect();
    let (flow, response) = free_flow(hosts[0], hosts[1]);
    (spec.flows, spec.responses) = (vec![flow], vec![response]);
    spec.sources = vec![SourceSpec::always(FlowId(0), greedy())];
    spec.switch = pfc(Pfc::default());
    spec.adapters[1].drain_rate = Some(Rate::from_bits_per_second(2e9));
    let mut run = simulate(spec, ());
    run.run_until(Time::from_ms(4));
    run.model.check(&run.agenda).expect("the guards hold");
    let used = |node, port| run.model.headroom(PortId { node, port }, 0).expect("with PFC").most;
    assert!(used(hosts[1], 0) > 0 && used(NodeId(0), 0) > 0, "both the receiver and the switch have paused");
    assert_eq!(run.model.headroom(PortId { node: hosts[0], port: 0 }, 0), None, "it takes in everything");
    let rate = run.model.flow(FlowId(0)).delivered_bytes as f64 / 4e-3;
    assert!((rate / 0.25e9 - 1.0).abs() < 0.02, "{rate}");
}

/// Number of pauses of the dam's buffer after this many packets.
fn pauses_of(packets: u32) -> u32 {
    let mut spec = dam(Time::ZERO);
    spec.switch = pfc(Pfc::default());
    let batch = Traffic::Batch { count: packets, bytes: 2048, sizes: Distribution::Fixed };
    spec.sources[0].traffic = batch;
    let mut run = simulate(spec, Obedience::default());
    run.run_until(Time::from_ms(1));
    run.model.observer.pauses
}

#[test]
fn nothing_is_paused_until_a_buffer_exceeds_xoff() {
    assert_eq!([1, 4, 5, 100].map(pauses_of), [0, 0, 1, 1]);
}

#[test]
fn a_ring_of_paused_switches_is_reported() {
    let mut spec = ring_spec(ring(), 2);
    spec.switch.flow_control = FlowControl::Pfc(Pfc::default());
    let mut run = simulate(spec, ());
    run.run_until(Time::from_ms(1));
    run.model.check(&run.agenda).expect("the guards hold");
    let found = run.model.deadlock(run.now());
    let Some(FabricError::Deadlock { cycle, .. }) = found else { panic!("{found:?}") };
    assert_eq!((cycle.len(), cycle.first()), (4, cycle.last()));
    for i in 0..3 {
        assert!(cycle.iter().any(|buffer| buffer.starts_with(&format!("s{i}["))), "{cycle:?}");
    }
}

#[test]
fn one_flow_in_the_ring_is_no_deadlock() {
    let (topology, routes) = ring();
    let host = |i: usize| topology.find(&format!("h{i}")).expect("a host of the ring");
    let flows = vec![free_flow(host(0), host(2))];
    let mut spec = plain(topology.clone(), flows, vec![SourceSpec::always(FlowId(0), greedy())]);
    (spec.routes, spec.switch) = (routes, pfc(Pfc::default()));
    let mut run = simulate(spec, ());
    run.run_until(Time::from_ms(1));
    assert_eq!(run.model.deadlock(run.now()), None);
}
