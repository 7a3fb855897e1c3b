//! Each output of a store-and-forward switch with unlimited buffers is a first-come-first-served station. A single
//! station is M/M/1 or D/D/1. A chain of stations in a closed loop is a network that mean-value analysis solves.

use std::collections::VecDeque;

use becalm_engine::Time;
use becalm_fabric::policy::{Arrival, Departure, Marker, Observer, Pace, SwitchView};
use becalm_fabric::*;

use crate::doubles::*;

/// Size of a packet in bytes.
const BYTES: u32 = 2000;

/// A switch with first-come-first-served outputs, and service times with this distribution.
fn station(service: Distribution) -> SwitchConfig {
    SwitchConfig {
        buffer: Room::UNLIMITED,
        forwarding_delay: Time::ZERO,
        switching: Switching::StoreAndForward,
        arbiter: Arbiter::OldestFirst { max_bypass: u32::MAX, bypass: Bypass::Switch, counts_answers: true },
        service,
        ..SANTOS
    }
}

/// A link with almost no transmission time.
fn fast() -> Rate {
    Rate::from_bits_per_second(1e13)
}

/// Marks packets that find at least `least` others for the same output.
#[derive(Clone, Debug)]
struct Finds {
    least: u32,
    verdicts: VecDeque<bool>,
}

impl Marker for Finds {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        if arrival.kind == Kind::Data {
            self.verdicts.push_back(switch.present(arrival.output, arrival.vl) > self.least);
        }
    }
    fn departing<V: SwitchView>(&mut self, departure: &Departure, _: &V) -> bool {
        departure.kind == Kind::Data && self.verdicts.pop_front().expect("first come, first served")
    }
}

/// Numbers of delivered and of marked data packets, and the sum of their latencies.
#[derive(Default)]
struct Counts {
    packets: f64,
    marked: f64,
    seconds: f64,
}

impl Observer for Counts {
    fn delivered(&mut self, now: Time, packet: &Packet) {
        if packet.kind == Kind::Data {
            self.packets += 1.0;
            self.marked += f64::from(u8::from(packet.marked));
            self.seconds += (now - packet.posted).as_secs();
        }
    }
}

/// One station with a mean service time of 2 us. `traffic` arrives over a link of this rate for `ms` milliseconds.
fn alone(service: Distribution, traffic: Traffic, link: Rate, least: u32, ms: u64) -> Counts {
    let mut topology = Topology::default();
    let (source, switch, sink) = (topology.add_host("source"), topology.add_switch("s"), topology.add_host("sink"));
    topology.connect(switch, sink, gigabyte(), Time::ZERO);
    topology.connect(source, switch, link, Time::ZERO);
    let spec = plain(topology, vec![free_flow(source, sink)], vec![SourceSpec::always(FlowId(0), traffic)]);
    let spec = FabricSpec {
        topology: spec.topology,
        routes: spec.routes,
        switch: station(service),
        packets: PacketConfig { mtu: BYTES, header: 0, ack: 1, cnp: 1, ..PACKETS },
        adapters: spec.adapters,
        flows: spec.flows,
        responses: spec.responses,
        sources: spec.sources,
        jobs: spec.jobs,
        changes: spec.changes,
        faults: Vec::new(),
        markers: vec![Finds { least, verdicts: VecDeque::new() }],
        echo: spec.echo,
        seed: spec.seed,
    };
    let mut run = simulate(spec, Counts::default());
    run.run_until(Time::from_ms(ms));
    run.model.check(&run.agenda).expect("the guards hold");
    run.model.observer
}

#[test]
fn a_poisson_source_and_redrawn_service_are_m_m_1() {
    for load in [0.3, 0.5, 0.8] {
        let mean_interval = gigabyte().time_of(BYTES).scaled(1.0 / load);
        let traffic =
            || Traffic::Poisson { mean_interval, bytes: BYTES.into(), sizes: Distribution::Fixed, paced: false };
        for least in [1u32, 2] {
            let counts = alone(Distribution::Exponential, traffic(), fast(), least, 400);
            // An arrival finds n packets with probability (1 - load) load^n. The numbers are correlated over about
            // 1 / (1 - sqrt(load))^2 successive arrivals.
            let (share, theory) = (counts.marked / counts.packets, load.powi(least as i32));
            let independent = counts.packets * (1.0 - load.sqrt()).powi(2) / 2.0;
            let tolerance = 3.0 * (theory * (1.0 - theory) / independent).sqrt();
            assert!(
                (share - theory).abs() < tolerance,
                "load {load}, {least}: {share}, theory {theory} +- {tolerance}"
            );
            let (response, theory) = (counts.seconds / counts.packets / 2e-6, 1.0 / (1.0 - load));
            assert!((response / theory - 1.0).abs() < 3.0 / independent.sqrt(), "load {load}: {response} of {theory}");
        }
    }
}

#[test]
fn even_arrivals_and_even_service_find_the_station_empty() {
    for load in [0.5, 0.99, 1.0] {
        let counts = alone(Distribution::Fixed, greedy_of(BYTES), Rate::from_bits_per_second(8e9 * load), 1, 20);
        assert_eq!(counts.marked, 0.0, "load {load}");
    }
    let counts = alone(Distribution::Fixed, greedy_of(BYTES), Rate::from_bits_per_second(8e9 * 1.01), 1, 200);
    assert!(counts.marked / counts.packets > 0.98, "{} of {}", counts.marked, counts.packets);
}

fn greedy_of(bytes: u32) -> Traffic {
    Traffic::Greedy { bytes: bytes.into(), sizes: Distribution::Fixed }
}

/// Packets per second in a loop of `stations` with mean service times of 2 us and `window` packets; returns a rate for
/// each of `batches` intervals.
fn loop_of(stations: u32, window: u32, batches: u64) -> Vec<f64> {
    let mut topology = Topology::default();
    let (source, sink) = (topology.add_host("source"), topology.add_host("sink"));
    let switches: Vec<_> = (0..stations).map(|i| topology.add_switch(format!("s{i}"))).collect();
    topology.connect(source, switches[0], fast(), Time::ZERO);
    switches.windows(2).for_each(|pair| topology.connect(pair[0], pair[1], gigabyte(), Time::ZERO));
    topology.connect(switches[switches.len() - 1], sink, gigabyte(), Time::ZERO);
    let flow = FlowSpec { source, destination: sink, vl: 0, answers_vl: 0, response: 0, restart: false };
    let sources = vec![SourceSpec::always(FlowId(0), greedy_of(BYTES))];
    let mut spec = plain(topology, vec![(flow, Steady(Pace { gap: 0.0, window }))], sources);
    spec.switch = station(Distribution::Exponential);
    spec.packets = PacketConfig { mtu: BYTES, header: 0, ack: 1, cnp: 1, ..PACKETS };
    let mut run = simulate(spec, ());
    let mut rates = Vec::new();
    let mut before = 0;
    for batch in 0..=batches {
        run.run_until(Time::from_ms(20 * (batch + 1)));
        let delivered = run.model.flow(FlowId(0)).delivered_packets;
        rates.push((delivered - before) as f64 / 20e-3);
        before = delivered;
    }
    rates.split_off(1)
}

#[test]
fn a_loop_of_like_stations_has_the_throughput_of_the_balanced_network() {
    for (stations, window) in [(1, 1), (3, 1), (3, 4), (3, 12), (5, 8)] {
        let rates = loop_of(stations, window, 20);
        let n = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / n;
        let error = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
        let theory = f64::from(window) / f64::from(window + stations - 1) / 2e-6;
        // The first link and the ACKs contribute up to 0.1%. The rest of the tolerance is three standard errors.
        let difference = (mean - theory).abs();
        assert!(difference < 3.0 * error + 0.002 * theory, "{stations} stations, window {window}: {mean} of {theory}");
    }
}
