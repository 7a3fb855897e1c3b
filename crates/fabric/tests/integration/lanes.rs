//! Virtual lanes do not block each other.

use becalm_engine::{Simulator, Stream, Time};
use becalm_fabric::policy::Pace;
use becalm_fabric::*;
use proptest::prelude::*;

use crate::doubles::*;

/// A drain rate so slow that no buffer space is freed during a test.
const STUCK: f64 = 1e3;
/// Packets per flow on lane 1 in the test of stuck lanes.
const COUNT: u32 = 40;

#[derive(Clone, Debug)]
struct Scene {
    switches: u32,
    hosts: u32,
    config: SwitchConfig,
    seed: u64,
}

fn scenes(arbiter: impl Strategy<Value = Arbiter>) -> impl Strategy<Value = Scene> {
    let config = (3u32..9, arbiter, any::<[bool; 3]>()).prop_map(|(packets, arbiter, [a, b, c])| SwitchConfig {
        vls: 2,
        buffer: Room::Slots(packets),
        switching: if a { Switching::CutThrough } else { Switching::StoreAndForward },
        arbiter,
        queueing: if b { Queueing::Voq } else { Queueing::Fifo },
        input_reads: if c { InputReads::Many } else { InputReads::One },
        ..SANTOS
    });
    (1u32..5, 4u32..9, config, any::<u64>()).prop_map(|(switches, hosts, config, seed)| Scene {
        switches,
        hosts,
        config,
        seed,
    })
}

/// Host 0 receives at the given rate in bit/s, and all other hosts send to it on lane 0. `lane1` contains the flows on
/// lane 1, as pairs of host numbers.
fn build(
    scene: &Scene,
    drain: Option<f64>,
    lane1: &[(u32, u32)],
    traffic: Traffic,
) -> Simulator<Fabric<Steady, Unmarked, Acks, ()>> {
    let mut random = Stream::new(scene.seed, 0, 0);
    let mut topology = Topology::default();
    let switches: Vec<_> = (0..scene.switches).map(|i| topology.add_switch(format!("s{i}"))).collect();
    for i in 1..switches.len() {
        let parent = switches[random.below(i as u32) as usize];
        topology.connect(switches[i], parent, gigabyte(), Time::from_ns(5));
    }
    for i in 0..scene.hosts {
        let host = topology.add_host(format!("h{i}"));
        topology.connect(host, switches[random.below(scene.switches) as usize], gigabyte(), Time::from_ns(5));
    }
    let hosts: Vec<_> = topology.hosts().collect();
    let flow = |source: u32, destination: u32, vl| {
        let (source, destination) = (hosts[source as usize], hosts[destination as usize]);
        (FlowSpec { source, destination, vl, answers_vl: vl, response: 0, restart: false }, Steady(Pace::FREE))
    };
    let greedy = Traffic::Greedy { bytes: PACKETS.mtu.into(), sizes: Distribution::Fixed };
    let mut flows: Vec<_> = lane1.iter().map(|&(from, to)| flow(from, to, 1)).collect();
    let mut sources: Vec<_> = (0..flows.len() as u32).map(|i| SourceSpec::always(FlowId(i), traffic.clone())).collect();
    if drain.is_some() {
        for from in 1..scene.hosts {
            sources.push(SourceSpec::always(FlowId(flows.len() as u32), greedy.clone()));
            flows.push(flow(from, 0, 0));
        }
    }
    let mut spec = plain(topology, flows, sources);
    spec.switch = scene.config.clone();
    spec.adapters[0].drain_rate = drain.map(Rate::from_bits_per_second);
    simulate(spec, ())
}

/// Flows between any hosts except host 0.
fn pairs(scene: &Scene, count: u32) -> Vec<(u32, u32)> {
    let mut random = Stream::new(scene.seed, 1, 0);
    let others = scene.hosts - 1;
    let pair = |random: &mut Stream| {
        let from = random.below(others);
        (1 + from, 1 + (from + 1 + random.below(others - 1)) % others)
    };
    (0..count).map(|_| pair(&mut random)).collect()
}

proptest! {
    #![proptest_config(cases(100))]

    /// Lane 0 fills all its buffers and stops. Lane 1 finishes as early as without lane 0, plus the time for lane 0 to
    /// fill the buffers.
    #[test]
    fn a_lane_that_is_stuck_holds_up_no_other(
        scene in scenes(prop_oneof![
            bounded_arbiters(),
            Just(Arbiter::RoundRobin),
        ])
    ) {
        let flows = pairs(&scene, 4);
        let batch = Traffic::Batch { count: COUNT, bytes: PACKETS.mtu.into(), sizes: Distribution::Fixed };
        let mut alone = build(&scene, None, &flows, batch.clone());
        alone.run_until_idle();
        let mut both = build(&scene, Some(STUCK), &flows, batch);
        let packet = gigabyte().time_of(PACKETS.largest());
        let slots = u64::from(scene.switches + scene.hosts) * 2 * u64::from(scene.config.buffer.capacity());
        // A packet in one of the last slots may have crossed all links.
        both.run_until(alone.now() + packet * (slots * u64::from(scene.switches + 1)));
        for i in 0..flows.len() as u32 {
            prop_assert_eq!(both.model.flow(FlowId(i)).delivered_packets, u64::from(COUNT));
        }
        let lane0 = flows.len() as u32..both.model.flow_count() as u32;
        let sent: u64 = lane0.clone().map(|i| both.model.flow(FlowId(i)).sent_packets).sum();
        let delivered: u64 = lane0.map(|i| both.model.flow(FlowId(i)).delivered_packets).sum();
        prop_assert!(sent > 0 && delivered <= 1, "lane 0 is stuck");
        prop_assert!(sent <= slots + delivered, "every packet that was not taken in has a slot");
    }

    /// Lane 0 saturates the network behind a slow receiver. A flow on lane 1 still gets half of each link.
    #[test]
    fn a_saturated_lane_leaves_another_its_share(scene in scenes(Just(Arbiter::RoundRobin)), drain in 1e8..8e9f64) {
        let flows = pairs(&scene, 1);
        let mut run = build(&scene, Some(drain), &flows, Traffic::Greedy { bytes: PACKETS.mtu.into(), sizes: Distribution::Fixed });
        run.run_until(Time::from_ms(1));
        let before = run.model.flow(FlowId(0)).delivered_bytes;
        run.run_until(Time::from_ms(5));
        run.model.check(&run.agenda).expect("the guards hold");
        let share = (run.model.flow(FlowId(0)).delivered_bytes - before) as f64
            / (gigabyte().bytes_per_second() * Time::from_ms(4).as_secs());
        prop_assert!(share > 0.49, "{share}");
    }
}
