//! A hash decides ties, so host numbers give no advantage.

use becalm_engine::Time;
use becalm_fabric::policy::Pace;
use becalm_fabric::*;

use crate::doubles::*;

/// Packets delivered by each of `n` hosts that start together and compete for one link.
fn delivered(n: u32, order: impl Fn(u32) -> u32) -> Vec<u64> {
    let topology = star(n + 1);
    let host = |i: u32| topology.find(&format!("h{i}")).expect("a host of the star");
    let response = Steady(Pace { gap: 0.0, window: 1 });
    let flow = |i: u32| (free_flow(host(order(i)), host(n)).0, response);
    let flows = (0..n).map(flow).collect();
    let sources = (0..n).map(|i| SourceSpec::always(FlowId(i), greedy())).collect();
    let mut run = simulate(plain(topology, flows, sources), ());
    run.run_until(Time::from_ms(20));
    (0..n).map(|i| run.model.flow(FlowId(i)).delivered_packets).collect()
}

/// Two packets reach an output exactly when it becomes free. Returns the host of the packet that leaves first.
fn first_at_the_instant(seed: u64) -> u32 {
    let topology = star(4);
    let host = |i: u32| topology.find(&format!("h{i}")).expect("a host of the star");
    let flows = (0..3).map(|i| free_flow(host(i), host(3))).collect();
    let once = Traffic::Batch { count: 1, bytes: 2048, sizes: Distribution::Fixed };
    // The packet of h0 keeps the output busy for 2068 ns.
    let start = |i: u32| if i == 0 { Time::ZERO } else { Time::from_ns(2068) };
    let source = |i: u32| SourceSpec { start: start(i), ..SourceSpec::always(FlowId(i), once.clone()) };
    let mut spec = plain(topology.clone(), flows, (0..3).map(source).collect());
    spec.seed = seed;
    let mut run = simulate(spec, ());
    run.run_until(Time::from_ns(3 * 2068 - 1));
    let delivered = [1, 2].map(|i| run.model.flow(FlowId(i)).delivered_packets);
    assert_eq!(delivered.iter().sum::<u64>(), 1, "one of the two");
    delivered[1] as u32 + 1
}

#[test]
fn the_seed_decides_who_takes_an_output_that_becomes_free() {
    let second = (0..64).filter(|&seed| first_at_the_instant(seed) == 2).count();
    assert!((20..=44).contains(&second), "{second} of 64");
}

#[test]
fn competing_hosts_get_the_same_share_under_any_numbering() {
    const N: u32 = 10;
    let expected = 20_000.0 / 2.068 / f64::from(N);
    for shares in [delivered(N, |i| i), delivered(N, |i| N - 1 - i), delivered(N, |i| (3 * i + 5) % N)] {
        for share in &shares {
            assert!((*share as f64 / expected - 1.0).abs() < 0.01, "{shares:?}, expected {expected}");
        }
    }
}
