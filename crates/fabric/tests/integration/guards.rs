//! The model's guards hold on random fabrics.

use becalm_engine::{Stream, Time, Work, mix};
use becalm_fabric::policy::{
    Arrival, Attention, Departure, Joint, Marker, Notice, Observer, Pace, Response, SwitchView,
};
use becalm_fabric::*;
use proptest::prelude::*;

use crate::doubles::*;

/// Marks about half of all packets, holds some credit back, and checks that the switch's state is consistent.
#[derive(Clone)]
struct Inspector {
    shape: (u16, u8),
    random: Stream,
    /// Latest return time of credit, by input and lane; if empty, no credit is held back.
    returned: Vec<Time>,
}

impl Marker for Inspector {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        let present: u32 = (0..self.shape.0).map(|i| switch.present_from(i, arrival.output, arrival.vl)).sum();
        assert_eq!(present, switch.present(arrival.output, arrival.vl));
        assert!(present - switch.waiting(arrival.output, arrival.vl) <= 1);
        assert!(switch.present_from(arrival.input, arrival.output, arrival.vl) > 0);
    }
    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        assert!(switch.present_from(departure.input, departure.output, departure.vl) > 0);
        self.random.below(2) == 0
    }
    fn left(&mut self, now: Time, input: u16, _: u16, vl: u8) -> Time {
        let Some(latest) = self.returned.get_mut(usize::from(input) * usize::from(self.shape.1) + usize::from(vl))
        else {
            return now;
        };
        let held = if self.random.below(4) == 0 { Time(u64::from(self.random.below(9_000_000))) } else { Time::ZERO };
        *latest = now.max(*latest) + held;
        *latest
    }
    fn attention(&self) -> Attention {
        if self.returned.is_empty() { Attention::Packets } else { Attention::Tails }
    }
}

/// Responds with a random pace to each notice, and to trails if it requests them.
#[derive(Clone)]
struct Erratic(Stream, Pace, Option<u32>);

impl Response for Erratic {
    fn trail(&self) -> Option<u32> {
        self.2
    }
    fn pace(&self) -> Pace {
        self.1
    }
    fn notice(&mut self, _: Time, notice: &Notice) {
        let gap = if self.0.below(3) == 0 { self.0.unit() * 9.0 } else { 0.0 };
        let mut window = u64::from(self.0.below(5));
        if let Notice::Ack(ack) = notice {
            assert_eq!(ack.trail.is_empty(), self.2.is_none());
            assert!(ack.trail.windows(2).all(|hops| hops[0].at < hops[1].at));
            window += ack.trail.iter().fold(0, |sum, hop| mix(mix(sum, hop.at.0), mix(hop.sent, hop.waiting))) % 5;
        }
        self.1 = Pace { gap, window: 1 + window as u32 };
    }
}

/// Hash of all delivered packets, in order.
#[derive(Default, PartialEq, Debug)]
struct Trajectory(u64);

impl Observer for Trajectory {
    fn delivered(&mut self, now: Time, packet: &Packet) {
        self.0 = mix(self.0, mix(now.0, u64::from(packet.flow.0) << 33 | u64::from(packet.sequence) << 1));
    }
}

#[derive(Clone, Debug)]
struct Scene {
    switches: u32,
    hosts: u32,
    extra_cables: u32,
    config: SwitchConfig,
    adapter: AdapterConfig,
    /// Largest number of flows of a host and lane that share a response.
    sharing: u32,
    flows: u32,
    /// Number of nodes with faults.
    faults: u32,
    seed: u64,
}

/// Any path selection law; half of the cases use the forwarding table's.
fn laws() -> impl Strategy<Value = PathSelection> {
    prop_oneof![
        6 => Just(PathSelection::Destination),
        1 => any::<bool>().prop_map(|salted| PathSelection::Flow { salted }),
        1 => Just(PathSelection::Packet),
        1 => Just(PathSelection::RoundRobin),
        2 => prop_oneof![Just(PathSelection::ALL), 1u32..3].prop_map(|sample| PathSelection::LeastWaiting { sample }),
        1 => (0..9_000_000u64).prop_map(|gap| PathSelection::Flowlet { gap: Time(gap) }),
        1 => (0u32..7, 0usize..4).prop_map(|(bits, balancer)| PathSelection::Entropy {
            values: 1 << bits,
            balancer: [Balancer::Oblivious, Balancer::Bitmap, Balancer::Reps, Balancer::Mixed][balancer],
        }),
    ]
}

/// Credits, CBFC or PFC; PFC with any thresholds and sufficient headroom.
fn flow_controls() -> impl Strategy<Value = FlowControl> {
    let pool = (prop::option::of(0u64..40_000), 0.1f64..9.0, prop::option::of(0u32..5_000));
    let pool = pool.prop_map(|(bytes, alpha, offset)| SharedPool { bytes, alpha, offset });
    let time = || prop::option::of((1u64..9_000_000).prop_map(Time));
    let response = prop_oneof![
        time().prop_map(|time| time.map(PauseResponse::Time)),
        (0u32..900).prop_map(|quanta| Some(PauseResponse::Quanta(quanta))),
    ];
    let pfc = (prop::option::of(0u32..9_000), prop::option::of(pool), time(), response, prop::option::of(watchdogs()));
    let pfc = pfc.prop_map(|(xon, pool, delay, response, watchdog)| Pfc {
        xon,
        pool,
        headroom: None,
        delay,
        response,
        watchdog,
    });
    let cbfc = (9u32..20_000).prop_map(|spacing| FlowControl::Cbfc(Cbfc { spacing }));
    prop_oneof![2 => Just(FlowControl::Credits), 1 => cbfc, 2 => pfc.prop_map(FlowControl::Pfc)]
}

/// Watchdogs that find storms within microseconds.
fn watchdogs() -> impl Strategy<Value = Watchdog> {
    let rule = prop_oneof![Just(WatchdogRule::Mellanox), Just(WatchdogRule::Broadcom)];
    let action = prop_oneof![Just(WatchdogAction::Drop), Just(WatchdogAction::Forward), Just(WatchdogAction::Alert)];
    (rule, action, 1u64..5_000_000, 1u64..4, 1u64..4).prop_map(|(rule, action, poll, detection, restoration)| {
        Watchdog {
            rule,
            action,
            poll: Time(poll),
            detection: Time(poll * detection),
            restoration: Time(poll * restoration),
        }
    })
}

/// Units of credit that hold at least one packet.
fn units() -> impl Strategy<Value = Room> {
    (5u32..11, 0u32..128, 0u32..7000).prop_map(|(log, overhead, more)| {
        let unit = Unit::new(1 << log, overhead);
        Room::Units(unit.of(2112) + more / unit.bytes(), unit)
    })
}

fn scenes() -> impl Strategy<Value = Scene> {
    let room = prop_oneof![4 => (1u32..6).prop_map(Room::Slots), 4 => (2112u32..9000).prop_map(Room::Bytes), 2 => units(), 1 => Just(Room::UNLIMITED)];
    let arbiter = prop_oneof![bounded_arbiters(), Just(Arbiter::RoundRobin)];
    let switch = (room, arbiter, any::<[bool; 3]>(), 1u8..4, laws(), flow_controls()).prop_map(
        |(buffer, arbiter, [a, b, c], vls, paths, flow_control)| SwitchConfig {
            vls,
            buffer,
            forwarding_delay: Time::from_ns(40),
            switching: if a { Switching::CutThrough } else { Switching::StoreAndForward },
            paths,
            arbiter,
            queueing: if b { Queueing::Voq } else { Queueing::Fifo },
            input_reads: if c { InputReads::Many } else { InputReads::One },
            vl_arbitration: if a == b {
                VlArbitration::RoundRobin
            } else {
                VlArbitration::Tables { high: vec![(1, 20)], low: vec![(0, 64), (2, 5), (1, 1)], limit: 3 }
            },
            // Headroom calculations require constant times.
            service: match a || b || flow_control != FlowControl::Credits {
                true => Distribution::Fixed,
                false => Distribution::Exponential,
            },
            flow_control,
        },
    );
    let cap = || prop::option::of((1e9..20e9f64).prop_map(Rate::from_bits_per_second));
    let overhead = prop_oneof![Just(Time::ZERO), (0..5_000_000u64).prop_map(Time)];
    let queue = prop_oneof![Just(AdapterConfig::UNLIMITED), 1u32..20];
    let adapter = (any::<[bool; 3]>(), cap(), overhead, cap(), queue, any::<bool>()).prop_map(
        |([posted, first, coalesces], injection_rate, message_overhead, drain_rate, queue, drops)| AdapterConfig {
            injection: if posted { Injection::Posted } else { Injection::RoundRobin },
            answers: if first { Answers::First } else { Answers::Turns },
            coalesces,
            injection_rate,
            message_overhead,
            drain_rate,
            queue,
            when_full: if drops { WhenFull::Drop } else { WhenFull::Block },
        },
    );
    (1u32..5, 2u32..9, 0u32..4, switch, adapter, 1u32..4, 1u32..20, 0u32..4, any::<u64>()).prop_map(
        |(switches, hosts, extra_cables, config, adapter, sharing, flows, faults, seed)| Scene {
            switches,
            hosts,
            extra_cables,
            config,
            adapter,
            sharing,
            flows,
            faults,
            seed,
        },
    )
}

/// A random tree of switches with random hosts and a few extra cables, with which shortest paths may form cyclic waits.
fn topology(scene: &Scene, random: &mut Stream) -> Topology {
    let mut topology = Topology::default();
    let rates = [1e9, 8e9, 13e9, 40e9];
    let rate = |random: &mut Stream| Rate::from_bits_per_second(rates[random.below(4) as usize]);
    let switches: Vec<_> = (0..scene.switches).map(|i| topology.add_switch(format!("s{i}"))).collect();
    for i in 1..switches.len() {
        let parent = random.below(i as u32) as usize;
        topology.connect(switches[i], switches[parent], rate(random), Time(u64::from(random.below(50_000))));
    }
    for _ in 0..scene.extra_cables {
        let (a, b) = (random.below(scene.switches), random.below(scene.switches));
        if a != b {
            topology.connect(switches[a as usize], switches[b as usize], rate(random), Time::from_ns(5));
        }
    }
    for i in 0..scene.hosts {
        let host = topology.add_host(format!("h{i}"));
        let switch = switches[random.below(scene.switches) as usize];
        topology.connect(host, switch, rate(random), Time(u64::from(random.below(50_000))));
    }
    topology
}

fn traffic(random: &mut Stream) -> Traffic {
    let bytes = random.below(9000);
    match random.below(4) {
        0 => Traffic::Greedy { bytes: u64::from(bytes) + 1, sizes: Distribution::Uniform { spread: 1.0 } },
        1 => Traffic::OnOff { mean_on: Time::from_us(30), mean_off: Time::from_us(10) },
        2 => Traffic::Poisson {
            mean_interval: Time::from_us(7),
            bytes: bytes.into(),
            sizes: Distribution::Exponential,
            paced: bytes.is_multiple_of(2),
        },
        _ => Traffic::Batch { count: 20, bytes: bytes.into(), sizes: Distribution::Erlang { shape: 2 } },
    }
}

/// Rate changes of some links.
fn changes(topology: &Topology, random: &mut Stream) -> Vec<RateChange> {
    let change = |_| RateChange {
        at: Time::from_us(u64::from(random.below(300))),
        from: topology.cables()[random.below(topology.cables().len() as u32) as usize].a,
        rate: Rate::from_bits_per_second(2e9),
    };
    (0..3).map(change).collect()
}

/// Two faults one after the other at some nodes, and others at the same time if they are of different kinds.
fn faults(scene: &Scene, topology: &Topology) -> Vec<Fault> {
    let mut random = Stream::new(scene.seed, 2, 2);
    let mut faults: Vec<Fault> = Vec::new();
    for _ in 0..scene.faults {
        let cable = topology.cables()[random.below(topology.cables().len() as u32) as usize];
        let node = topology.node(cable.a.node).kind;
        let (kind, ports) = match (random.below(4), node, &scene.config.flow_control) {
            (0, NodeKind::Host, _) => (FaultKind::Slow(Rate::from_bits_per_second(4e8)), vec![cable.a]),
            (1, NodeKind::Host, _) => (FaultKind::Stop, vec![cable.a]),
            (2, _, FlowControl::Pfc(_)) => (FaultKind::Storm(random.below(8) as u16), vec![cable.a]),
            _ => (FaultKind::LinkDown, vec![cable.a, cable.b]),
        };
        let mut time = || u64::from(random.below(90_000_000)) + 1;
        let (first, second, third, fourth) = (time(), time(), time(), time());
        let [begin, end] = [Time(first), Time(first + second)];
        let later = [end + Time(third), end + Time(third + fourth)];
        for (port, [begin, end]) in ports.iter().flat_map(|port| [(*port, [begin, end]), (*port, later)]) {
            let same = |fault: &Fault| {
                fault.port == port && std::mem::discriminant(&fault.kind) == std::mem::discriminant(&kind)
            };
            if faults.iter().filter(|fault| same(fault)).all(|fault| fault.end < begin || end < fault.begin) {
                faults.push(Fault { port, kind, begin, end });
            }
        }
    }
    faults
}

impl Scene {
    /// The same scene without a watchdog, which may lose packets, and polls as long as the run lasts.
    fn unwatched(mut self) -> Scene {
        if let FlowControl::Pfc(pfc) = &mut self.config.flow_control {
            pfc.watchdog = None;
        }
        self
    }
}

type Run = becalm_engine::Simulator<Fabric<Erratic, Inspector, Acks, Trajectory>>;

fn build(scene: &Scene) -> Run {
    simulate(spec(scene), Trajectory::default())
}

fn spec(scene: &Scene) -> FabricSpec<Erratic, Inspector, Acks> {
    let mut random = Stream::new(scene.seed, 0, 0);
    let topology = topology(scene, &mut random);
    let hosts: Vec<_> = topology.hosts().collect();
    let n = hosts.len() as u32;
    let mut flows: Vec<FlowSpec> = Vec::new();
    let mut responses = Vec::new();
    let mut sources = Vec::new();
    for i in 0..scene.flows {
        let source = random.below(n);
        let destination = (source + 1 + random.below(n - 1)) % n;
        let vl = random.below(u32::from(scene.config.vls)) as u8;
        let mut flow = FlowSpec {
            restart: false,
            source: hosts[source as usize],
            destination: hosts[destination as usize],
            vl,
            answers_vl: vl,
            response: responses.len() as u32,
        };
        let like = flows.iter().find(|other| other.source == flow.source && other.vl == vl);
        match like {
            Some(other) if random.below(scene.sharing) > 0 => flow.response = other.response,
            _ => {
                let trail = (scene.seed.is_multiple_of(2) && i % 3 > 0).then_some(20 * (i % 3));
                responses.push(Erratic(Stream::new(scene.seed, u64::from(i), 9), Pace::FREE, trail));
            }
        }
        flows.push(flow);
        let (start, stop) = (Time::from_us(u64::from(random.below(50))), Time::from_us(300));
        sources.push(SourceSpec { start, stop, ..SourceSpec::always(FlowId(i), traffic(&mut random)) });
    }
    let markers = topology.switches().map(|switch| {
        let (degree, vls) = (topology.node(switch).degree, scene.config.vls);
        let buffers = if switch.0 % 2 == 0 { usize::from(degree) * usize::from(vls) } else { 0 };
        Inspector {
            shape: (degree, vls),
            random: Stream::new(scene.seed, u64::from(switch.0), 8),
            returned: vec![Time::ZERO; buffers],
        }
    });
    let changes = match scene.config.switching {
        Switching::CutThrough => Vec::new(),
        Switching::StoreAndForward => changes(&topology, &mut random),
    };
    FabricSpec {
        jobs: Vec::new(),
        changes,
        faults: faults(scene, &topology),
        adapters: vec![scene.adapter; hosts.len()],
        markers: markers.collect(),
        routes: match scene.config.paths {
            PathSelection::Destination => Routes::shortest(&topology),
            _ => Routes::all_shortest(&topology),
        },
        topology,
        switch: scene.config.clone(),
        packets: PACKETS,
        flows,
        responses,
        sources,
        echo: Acks,
        seed: scene.seed,
    }
}

/// A sum of hashes of all hops and deliveries.
#[derive(Default, PartialEq, Debug)]
struct Sum(u64);

impl Observer for Sum {
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        let place = u64::from(from.node.0) << 16 | u64::from(from.port);
        let what = u64::from(packet.flow.0) << 34 | u64::from(packet.sequence) << 2 | packet.kind as u64;
        self.0 = self.0.wrapping_add(mix(mix(now.0, place), what << 1 | u64::from(packet.marked)));
    }
    fn delivered(&mut self, now: Time, packet: &Packet) {
        self.hop(now, PortId { node: NodeId(u32::MAX), port: 0 }, packet);
    }
}

impl Joint for Sum {
    fn join(&mut self, other: Sum, _: &dyn Fn(NodeId) -> bool) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// A random partition that only cuts cables with a delay.
fn cut(topology: &Topology, routes: &Routes, flows: &[FlowSpec], random: &mut Stream) -> Partition {
    let fine = Partition::balanced(topology, routes, flows, &[], topology.nodes().len());
    let parts = 1 + random.below(4);
    let part_of: Vec<u16> = (0..fine.parts).map(|_| random.below(parts) as u16).collect();
    let of_node = fine.of_node.iter().map(|&clump| part_of[usize::from(clump)]).collect();
    Partition::new(topology, of_node, parts as usize)
}

/// Outcome of a partitioned run: the sum of all hops, the work, and all flows.
fn outcome(scene: &Scene, whole: bool) -> (Sum, Work, Vec<String>) {
    let spec = spec(scene);
    let mut random = Stream::new(scene.seed, 1, 1);
    let [partition, groups] = [(); 2].map(|()| match whole {
        true => Partition::whole(&spec.topology),
        false => cut(&spec.topology, &spec.routes, &spec.flows, &mut random),
    });
    let mut run = ParallelFabric::new(spec, Sum::default, &partition, &groups).expect("the routes are complete");
    let mut flows = Vec::new();
    for until in [40, 41, 250] {
        run.run(Time::from_us(until), &mut |_| true);
        flows.extend((0..scene.flows).map(|i| format!("{:?}", run.flow(FlowId(i)))));
    }
    let work = run.work();
    let mut joined = run.join();
    joined.model.check(&joined.agenda).expect("the guards hold");
    joined.run_until(Time::from_us(350));
    joined.model.check(&joined.agenda).expect("the guards hold when the run goes on alone");
    (joined.model.observer, work, flows)
}

/// Runs to the end with occasional checks of the guards; returns whether it ended in a deadlock.
fn run_checked(run: &mut Run, cuts: u64) -> bool {
    for i in 1..=cuts {
        run.run_until(Time::from_us(300 * i / cuts));
        run.model.check(&run.agenda).expect("the guards hold");
    }
    run.run_until_idle();
    run.model.check(&run.agenda).expect("the guards hold");
    run.model.deadlock(run.now()).is_some()
}

proptest! {
    #![proptest_config(cases(400))]

    /// All sent packets arrive, unless the run ends in a deadlock, which is reported.
    #[test]
    fn nothing_is_lost_and_the_run_repeats(scene in scenes()) {
        let scene = scene.unwatched();
        let mut run = build(&scene);
        let deadlock = run_checked(&mut run, 7);
        prop_assert_eq!(run.model.packets_in_flight() > 0, deadlock);
        for i in 0..scene.flows {
            let flow = run.model.flow(FlowId(i));
            prop_assert!(deadlock || flow.sent_packets == flow.delivered_packets);
            // ACKs of the last packets cannot be missing, because windows would stay closed.
            let merged = scene.adapter.coalesces && flow.acks < flow.sent_packets;
            prop_assert!(deadlock || merged || flow.acks == flow.sent_packets);
        }
        let mut again = build(&scene);
        run_checked(&mut again, 1);
        prop_assert_eq!(&run.model.observer, &again.model.observer);
        prop_assert_eq!(run.model.packet_hops(), again.model.packet_hops());
    }

    /// A tree of switches has no cyclic waits.
    #[test]
    fn trees_never_deadlock(scene in scenes()) {
        let mut run = build(&Scene { extra_cables: 0, ..scene.unwatched() });
        prop_assert!(!run_checked(&mut run, 3));
    }
}

proptest! {
    // Fewer cases, because with cable delays of picoseconds the threads synchronize at nearly every event.
    #![proptest_config(cases(60))]

    /// Results do not depend on the partition, its groups or the number of threads, nor on continuing in a single part.
    #[test]
    fn threads_change_nothing(scene in scenes()) {
        prop_assert_eq!(outcome(&scene, false), outcome(&scene, true));
    }
}

/// A pause may withdraw the oldest packet's credit after other packets have yielded to it.
#[test]
fn a_packet_that_yields_goes_on_when_the_oldest_is_paused() {
    let pfc = Pfc { xon: None, pool: None, headroom: None, delay: None, response: None, watchdog: None };
    let config = SwitchConfig {
        buffer: Room::Slots(2),
        switching: Switching::StoreAndForward,
        arbiter: Arbiter::OldestFirst { max_bypass: 0, bypass: Bypass::Switch, counts_answers: false },
        queueing: Queueing::Fifo,
        input_reads: InputReads::One,
        flow_control: FlowControl::Pfc(pfc),
        ..SANTOS
    };
    let adapter = AdapterConfig { injection: Injection::Posted, ..ADAPTER };
    let seed = 382837949746004779;
    let mut run = build(&Scene {
        switches: 4,
        hosts: 5,
        extra_cables: 3,
        config,
        adapter,
        sharing: 1,
        flows: 5,
        faults: 0,
        seed,
    });
    assert!(!run_checked(&mut run, 1));
    assert_eq!(run.model.packets_in_flight(), 0);
}

/// CF_Updates take a share of the link to a host, but not of the link from it.
#[test]
fn packets_arrive_at_the_rate_of_their_own_direction() {
    let config =
        SwitchConfig { buffer: Room::Slots(2), flow_control: FlowControl::Cbfc(Cbfc { spacing: 9 }), ..SANTOS };
    let seed = 2762685252628314958;
    let scene = Scene {
        switches: 1,
        hosts: 2,
        extra_cables: 0,
        config,
        adapter: ADAPTER,
        sharing: 1,
        flows: 3,
        faults: 0,
        seed,
    };
    assert!(!run_checked(&mut build(&scene), 3));
}
