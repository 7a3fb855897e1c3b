//! Credit that a marker holds back.

use becalm_engine::{Simulator, Time};
use becalm_fabric::policy::{Arrival, Departure, Marker, Observer, SwitchView};
use becalm_fabric::*;

use crate::doubles::*;

/// Returns credit at port 0 with this delay after the previous credit.
#[derive(Clone)]
struct Late {
    delay: Time,
    latest: Time,
}

impl Marker for Late {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}
    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        let &Departure { input, size, .. } = departure;
        assert_eq!(switch.packet_time(input, size), gigabyte().time_of(size));
        false
    }
    fn left(&mut self, now: Time, input: u16, _: u16, _: u8) -> Time {
        if input > 0 {
            return now;
        }
        self.latest = now.max(self.latest) + self.delay;
        self.latest
    }
}

/// Departure times of packets from h0 and h1.
#[derive(Default)]
struct Starts([Vec<Time>; 2]);

impl Observer for Starts {
    fn hop(&mut self, now: Time, _: PortId, packet: &Packet) {
        if packet.kind == Kind::Data && packet.injected == now {
            self.0[packet.flow.index()].push(now);
        }
    }
}

type Run = Simulator<Fabric<Steady, Late, Acks, Starts>>;

/// Transmission time of a data packet.
fn packet() -> Time {
    gigabyte().time_of(2068)
}

/// h0 sends to h2 and h1 to h3, endlessly or for this many packets; credit for h0 returns every `delay`.
fn run(delay: Time, packets: Option<u32>) -> Run {
    let topology = star(4);
    let host = |name: &str| topology.find(name).expect("a host of the star");
    let flows = vec![free_flow(host("h0"), host("h2")), free_flow(host("h1"), host("h3"))];
    let traffic = || match packets {
        Some(count) => Traffic::Batch { count, bytes: 2048, sizes: Distribution::Fixed },
        None => greedy(),
    };
    let sources = (0..2).map(|i| SourceSpec::always(FlowId(i), traffic())).collect();
    let plain = plain(topology, flows, sources);
    let spec = FabricSpec {
        markers: vec![Late { delay, latest: Time::ZERO }],
        topology: plain.topology,
        routes: plain.routes,
        switch: plain.switch,
        packets: plain.packets,
        adapters: plain.adapters,
        flows: plain.flows,
        responses: plain.responses,
        sources: plain.sources,
        jobs: plain.jobs,
        changes: plain.changes,
        faults: Vec::new(),
        echo: plain.echo,
        seed: plain.seed,
    };
    simulate(spec, Starts::default())
}

#[test]
fn a_source_sends_a_packet_whenever_credit_comes_and_others_go_on() {
    let delay = Time::from_us(10);
    let mut run = run(delay, None);
    run.run_until(Time::from_ms(1));
    run.model.check(&run.agenda).expect("credit under way is counted");
    let [late, free] = &run.model.observer.0;
    let gaps = |starts: &[Time]| starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    // The buffer holds four packets. Credit of the first begins to wait when that packet has left.
    assert_eq!(gaps(&late[..4]), [packet(); 3]);
    assert_eq!(late[4], Time::from_ns(40) + packet() + delay);
    assert!(gaps(&late[4..]).iter().all(|&gap| gap == delay) && late.len() > 100);
    assert!(gaps(free).iter().all(|&gap| gap == packet()));
}

#[test]
fn credit_that_is_held_back_is_no_deadlock_and_comes_in_the_end() {
    let mut run = run(Time::from_ms(1), Some(9));
    run.run_until(Time::from_us(900));
    assert!(run.model.deadlock(run.now()).is_none());
    assert_eq!(run.model.flow(FlowId(0)).delivered_packets, 4);
    run.run_until_idle();
    run.model.check(&run.agenda).expect("the guards hold");
    assert_eq!((run.model.flow(FlowId(0)).delivered_packets, run.model.packets_in_flight()), (9, 0));
}
