//! Ties are decided by a hash, so no host is favoured for its number.

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
