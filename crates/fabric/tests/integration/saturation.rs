//! Saturation of an N x N switch under uniform traffic: head-of-line blocking with one FIFO per input (Karol,
//! Hluchyj and Morgan 1987, Table I), none with virtual output queues.

use becalm_engine::Time;
use becalm_fabric::*;

use crate::doubles::*;

/// Throughput per output if each input always has packets for uniformly random outputs.
fn saturation(n: u32, queueing: Queueing) -> f64 {
    let topology = star(2 * n);
    let host = |i: u32| topology.find(&format!("h{i}")).expect("a host of the star");
    let pairs = (0..n).flat_map(|from| (n..2 * n).map(move |to| (from, to)));
    let flows: Vec<_> = pairs.map(|(from, to)| free_flow(host(from), host(to))).collect();
    let batch = Traffic::Batch { count: 25_000, bytes: 2048, sizes: Distribution::Fixed };
    let sources = (0..n)
        .map(|i| SourceSpec { flows: i * n..(i + 1) * n, ..SourceSpec::always(FlowId(0), batch.clone()) })
        .collect();
    let mut spec = plain(topology, flows, sources);
    spec.adapters.iter_mut().for_each(|adapter| adapter.injection = Injection::Posted);
    spec.switch = SwitchConfig {
        buffer: Room::Slots(64),
        arbiter: Arbiter::RoundRobin,
        queueing,
        input_reads: InputReads::One,
        ..SANTOS
    };
    let mut run = simulate(spec, ());
    let (warm_up, end) = (Time::from_ms(1), Time::from_ms(40));
    let delivered =
        |fabric: &Fabric<_, _, _, ()>| -> u64 { (0..n * n).map(|i| fabric.flow(FlowId(i)).delivered_bytes).sum() };
    run.run_until(warm_up);
    let before = delivered(&run.model);
    run.run_until(end);
    let bytes = delivered(&run.model) - before;
    bytes as f64 / (gigabyte().bytes_per_second() * (end - warm_up).as_secs() * f64::from(n))
}

#[test]
fn fifo_inputs_saturate_by_head_of_line_blocking() {
    for (n, theory) in [(2, 0.75), (4, 0.6553), (8, 0.6184)] {
        let measured = saturation(n, Queueing::Fifo);
        assert!((measured - theory).abs() < 0.01, "{n} x {n}: {measured}, theory {theory}");
    }
}

#[test]
fn virtual_output_queues_do_not() {
    for n in [2, 4, 8] {
        let measured = saturation(n, Queueing::Voq);
        assert!(measured > 0.95, "{n} x {n}: {measured}");
    }
}
