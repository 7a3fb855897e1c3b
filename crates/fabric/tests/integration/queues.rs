//! An adapter's link is a queue with one server, with the waiting times of M/D/1 and M/M/1.

use becalm_engine::Time;
use becalm_fabric::policy::Observer;
use becalm_fabric::*;

use crate::doubles::*;

/// Sums the waiting times of data packets from posting to injection.
#[derive(Default)]
struct Waits {
    sum: f64,
    count: u32,
}

impl Observer for Waits {
    fn delivered(&mut self, _: Time, packet: &Packet) {
        if packet.kind == Kind::Data {
            self.sum += (packet.injected - packet.posted).as_secs();
            self.count += 1;
        }
    }
}

/// Mean wait at this load in units of the mean service time, and the number of packets.
fn mean_wait(load: f64, sizes: Distribution) -> (f64, f64) {
    const BYTES: u32 = 2000;
    let service = gigabyte().time_of(BYTES);
    let topology = star(2);
    let host = |name: &str| topology.find(name).expect("a host of the star");
    let flows = vec![free_flow(host("h0"), host("h1"))];
    let traffic =
        Traffic::Poisson { mean_interval: service.scaled(1.0 / load), bytes: BYTES.into(), sizes, paced: false };
    let sources = vec![SourceSpec::always(FlowId(0), traffic)];
    let mut spec = plain(topology, flows, sources);
    spec.switch.buffer = Room::Slots(1000);
    spec.packets = PacketConfig { mtu: 1 << 20, header: 0, ack: 20, cnp: 20, ..PACKETS };
    let mut run = simulate(spec, Waits::default());
    run.run_until(Time::from_ms(2000));
    run.model.check(&run.agenda).expect("the guards hold");
    let Waits { sum, count } = run.model.observer;
    (sum / f64::from(count) / service.as_secs(), f64::from(count))
}

/// Three standard errors of the mean of `n` successive waits in M/M/1 (Daley 1968); waits in M/D/1 vary less.
fn tolerance(load: f64, n: f64) -> f64 {
    let variance = load * (2.0 + 5.0 * load - 4.0 * load.powi(2) + load.powi(3)) / (1.0 - load).powi(4);
    3.0 * (variance / n).sqrt()
}

fn assert_wait(load: f64, sizes: Distribution, theory: f64) {
    let (wait, n) = mean_wait(load, sizes);
    assert!((wait - theory).abs() < tolerance(load, n), "load {load}: wait {wait}, theory {theory}, {n} packets");
}

#[test]
fn constant_sizes_wait_as_in_m_d_1() {
    for load in [0.3, 0.5, 0.8] {
        assert_wait(load, Distribution::Fixed, load / (2.0 * (1.0 - load)));
    }
}

#[test]
fn exponential_sizes_wait_as_in_m_m_1() {
    for load in [0.3, 0.5, 0.8] {
        assert_wait(load, Distribution::Exponential, load / (1.0 - load));
    }
}
