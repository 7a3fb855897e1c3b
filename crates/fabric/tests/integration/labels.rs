//! Distributions do not depend on the numbering of ports, hosts, cables and flows.
//!
//! Each scene runs with several seeds and several numberings. The means over seeds for each flow, sender and receiver
//! must agree within their standard errors.

use becalm_engine::Time;
use becalm_fabric::policy::Observer;
use becalm_fabric::*;

use crate::doubles::*;

/// Number of hosts of the switch.
const HOSTS: u32 = 12;
/// Largest difference between two means in standard errors. With the 14,000 comparisons in this file, random
/// differences exceed it in one of seventy sets of seeds.
const MOST: f64 = 5.0;

/// Number of data packets and sum of latencies, by flow.
#[derive(Clone, Default)]
struct Latencies(Vec<(f64, f64)>);

impl Observer for Latencies {
    fn delivered(&mut self, now: Time, packet: &Packet) {
        if packet.kind == Kind::Data {
            let (packets, seconds) = &mut self.0[packet.flow.index()];
            *packets += 1.0;
            *seconds += (now - packet.posted).as_secs();
        }
    }
}

/// Maps the `i`-th of `n` numbers to an item.
type Order = fn(i: u32, n: u32) -> u32;

const ORDERS: [Order; 3] = [|i, _| i, |i, n| n - 1 - i, |i, n| (5 * i + 3) % n];

/// A flow of a scene.
#[derive(Clone)]
struct Pair {
    from: u32,
    to: u32,
    traffic: Traffic,
}

/// Uneven all-to-all traffic: two preferred receivers, and two halves with more internal traffic.
fn uneven(load: f64) -> Vec<Pair> {
    let weight = |from: u32, to: u32| match () {
        () if from == to => 0.0,
        () if to == 2 || to == 7 => 1.4,
        () if (from < HOSTS / 2) == (to < HOSTS / 2) => 1.1,
        () => 0.6,
    };
    let pair = |from: u32, to: u32| {
        let mean_interval = Time::from_ns(2068).scaled(f64::from(HOSTS - 1) / (load * weight(from, to)));
        Pair {
            from,
            to,
            traffic: Traffic::Poisson { mean_interval, bytes: 2048, sizes: Distribution::Fixed, paced: false },
        }
    };
    let pairs = (0..HOSTS).flat_map(|from| (0..HOSTS).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to).map(|(from, to)| pair(from, to)).collect()
}

/// Each host always sends to four others, so all packets begin and end at the same times.
fn in_step() -> Vec<Pair> {
    let pairs = (0..HOSTS).flat_map(|from| [1, 2, 5, 7].map(|step| (from, (from + step) % HOSTS)));
    pairs.map(|(from, to)| Pair { from, to, traffic: greedy() }).collect()
}

/// Each host sends three batches of messages, all posted at the same time.
fn batches() -> Vec<Pair> {
    let traffic = Traffic::Batch { count: 8, bytes: 2048, sizes: Distribution::Fixed };
    let pairs = (0..HOSTS).flat_map(|from| [1, 4, 6].map(|step| (from, (from + step) % HOSTS)));
    pairs.map(|(from, to)| Pair { from, to, traffic: traffic.clone() }).collect()
}

/// Packets and mean latency in seconds for each flow, sender and receiver in a run.
fn outcome(switch: &SwitchConfig, injection: Injection, pairs: &[Pair], order: Order, seed: u64) -> Vec<f64> {
    let mut topology = Topology::default();
    let center = topology.add_switch("s");
    let mut hosts = vec![NodeId(0); HOSTS as usize];
    for host in (0..HOSTS).map(|place| order(place, HOSTS)) {
        hosts[host as usize] = topology.add_host(format!("h{host}"));
        topology.connect(hosts[host as usize], center, gigabyte(), Time::ZERO);
    }
    let n = pairs.len() as u32;
    let listed: Vec<u32> = (0..n).map(|i| order(i, n)).collect();
    let flow = |&i: &u32| free_flow(hosts[pairs[i as usize].from as usize], hosts[pairs[i as usize].to as usize]);
    let sources = (0..n).map(|i| SourceSpec::always(FlowId(i), pairs[listed[i as usize] as usize].traffic.clone()));
    let mut spec = plain(topology, listed.iter().map(flow).collect(), sources.collect());
    (spec.switch, spec.seed) = (switch.clone(), seed);
    spec.adapters.iter_mut().for_each(|adapter| adapter.injection = injection);
    let mut run = simulate(spec, Latencies(vec![(0.0, 0.0); n as usize]));
    run.run_until(Time::from_ms(1));
    let mut sums = vec![(0.0, 0.0); (n + 2 * HOSTS) as usize];
    for (i, (packets, seconds)) in listed.iter().zip(&run.model.observer.0) {
        let Pair { from, to, .. } = pairs[*i as usize];
        for place in [*i, n + from, n + HOSTS + to] {
            sums[place as usize].0 += packets;
            sums[place as usize].1 += seconds;
        }
    }
    sums.into_iter().flat_map(|(packets, seconds)| [packets, seconds / f64::max(packets, 1.0)]).collect()
}

/// Mean and squared standard error of each value over several runs.
fn summary(runs: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let n = runs.len() as f64;
    let value = |i: usize| {
        let mean = runs.iter().map(|run| run[i]).sum::<f64>() / n;
        (mean, runs.iter().map(|run| (run[i] - mean).powi(2)).sum::<f64>() / (n * (n - 1.0)))
    };
    (0..runs[0].len()).map(value).collect()
}

/// Largest difference between two numberings in standard errors, and its description.
fn largest_difference(switch: &SwitchConfig, injection: Injection, pairs: &[Pair], seeds: u64) -> (f64, String) {
    let runs = |order: &Order| -> Vec<Vec<f64>> {
        (0..seeds).map(|seed| outcome(switch, injection, pairs, *order, seed)).collect()
    };
    let all: Vec<_> = ORDERS.iter().map(|order| summary(&runs(order))).collect();
    let mut largest = (0.0, String::new());
    for (k, other) in all.iter().enumerate().skip(1) {
        for (i, ((a, va), (b, vb))) in all[0].iter().zip(other).enumerate() {
            let off = (a - b).abs() / f64::max((va + vb).sqrt(), 1e-6 * a.abs() + 1e-15);
            if off > largest.0 {
                largest = (off, format!("value {i} of numbering {k}: {a:.4e} and {b:.4e}, {off:.1} standard errors"));
            }
        }
    }
    largest
}

/// Checks all queueing schemes and numbers of reads; the loads are for virtual output queues and for a single queue.
fn check(arbiter: Arbiter, [voq, fifo]: [f64; 2]) {
    let mut wrong = Vec::new();
    for (queueing, load) in [(Queueing::Voq, voq), (Queueing::Fifo, fifo)] {
        for input_reads in [InputReads::Many, InputReads::One] {
            let switch = SwitchConfig { arbiter, queueing, input_reads, ..SANTOS };
            let scenes = [
                ("uneven", uneven(load), Injection::RoundRobin, 16),
                ("in step", in_step(), Injection::RoundRobin, 96),
                ("batches", batches(), Injection::Posted, 16),
            ];
            for (name, pairs, injection, seeds) in scenes {
                let (off, what) = largest_difference(&switch, injection, &pairs, seeds);
                println!("{arbiter:?} {queueing:?} {input_reads:?} {name}: {what}");
                if off > MOST {
                    wrong.push(format!("{queueing:?} {input_reads:?} {name}: {what}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{arbiter:?}\n{}", wrong.join("\n"));
}

#[test]
fn oldest_first_with_a_bound_does_not_depend_on_numbers() {
    check(Arbiter::OldestFirst { max_bypass: 4, bypass: Bypass::Switch, counts_answers: true }, [0.55, 0.4]);
}

#[test]
fn oldest_first_with_a_bound_on_data_does_not_depend_on_numbers() {
    check(Arbiter::OldestFirst { max_bypass: 4, bypass: Bypass::Switch, counts_answers: false }, [0.55, 0.4]);
}

#[test]
fn oldest_first_does_not_depend_on_numbers() {
    check(Arbiter::OldestFirst { max_bypass: u32::MAX, bypass: Bypass::Switch, counts_answers: true }, [0.6, 0.4]);
}

#[test]
fn round_robin_does_not_depend_on_numbers() {
    check(Arbiter::RoundRobin, [0.6, 0.4]);
}
