//! Feedback: round-trip times, counts of marks, time at the receiver, complete messages.

use std::sync::{Arc, Mutex};

use becalm_engine::{Simulator, Time};
use becalm_fabric::policy::{
    Ack, Answer, Arrival, Delivery, Departure, Echo, FlowShape, Marker, Notice, Observer, Pace, Response, Sent,
    SwitchView, Unanswered,
};
use becalm_fabric::*;

use crate::doubles::*;

/// Observations of a response.
#[derive(Clone, Debug, Default)]
struct Log {
    shape: Option<FlowShape>,
    sent: Vec<Sent>,
    acks: Vec<Ack<'static>>,
    cnps: usize,
}

/// A response that records its observations and has a constant window.
#[derive(Clone, Debug)]
struct Recorder {
    window: u32,
    log: Arc<Mutex<Log>>,
}

impl Response for Recorder {
    fn start(&mut self, flow: &FlowShape) {
        self.log.lock().unwrap().shape = Some(*flow);
    }
    fn pace(&self) -> Pace {
        Pace { gap: 0.0, window: self.window }
    }
    fn sent(&mut self, sent: &Sent) {
        self.log.lock().unwrap().sent.push(*sent);
    }
    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.log.lock().unwrap().acks.push(Ack { trail: &[], ..*ack }),
            Notice::Becn => self.log.lock().unwrap().cnps += 1,
            Notice::Timer | Notice::Restart => {}
        }
    }
}

/// Marks about every third packet.
#[derive(Clone, Copy, Debug)]
struct Thirds;

impl Marker for Thirds {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}
    fn departing<V: SwitchView>(&mut self, departure: &Departure, _: &V) -> bool {
        departure.kind == Kind::Data && departure.tie.is_multiple_of(3)
    }
}

/// Sends one ACK per `ack_every` packets. With `quiet`, a mark causes a CNP unless one was sent within this time.
#[derive(Clone, Copy, Debug)]
struct Both {
    ack_every: u32,
    quiet: Option<Time>,
}

impl Echo for Both {
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        let due = packet.train.is_last() || unanswered.packets >= self.ack_every;
        let rested = |quiet: Time| unanswered.notified.is_none_or(|last| now.since(last) >= quiet);
        Answer { ack: due.then_some(unanswered.marked), cnp: packet.marked && self.quiet.is_some_and(rested) }
    }
}

#[derive(Default)]
struct Messages(Vec<(Time, Delivery)>);

impl Observer for Messages {
    fn message(&mut self, now: Time, delivery: &Delivery) {
        self.0.push((now, *delivery));
    }
}

/// One flow from AV to BV of a dumbbell with these link rates in Gb/s and link delays of 100 ns.
struct Scene {
    rates: [f64; 3],
    switching: Switching,
    drain: Option<f64>,
    window: u32,
    echo: Both,
    message: (u32, u32),
}

const SCENE: Scene = Scene {
    rates: [8.0; 3],
    switching: Switching::CutThrough,
    drain: None,
    window: 1,
    echo: Both { ack_every: 1, quiet: None },
    message: (7, 2048),
};

impl Scene {
    fn run(&self) -> (Log, Vec<(Time, Delivery)>) {
        let rate = |gigabits: f64| Rate::from_bits_per_second(gigabits * 1e9);
        let mut topology = Topology::default();
        let [a, b] = ["A", "B"].map(|name| topology.add_switch(name));
        let [source, destination] = ["AV", "BV"].map(|name| topology.add_host(name));
        for ((from, to), gigabits) in [(source, a), (a, b), (b, destination)].into_iter().zip(self.rates) {
            topology.connect(from, to, rate(gigabits), Time::from_ns(100));
        }
        let log = Arc::new(Mutex::new(Log::default()));
        let (count, bytes) = self.message;
        let spec = FabricSpec {
            adapters: vec![AdapterConfig { drain_rate: self.drain.map(rate), ..ADAPTER }; 2],
            responses: vec![Recorder { window: self.window, log: log.clone() }],
            markers: vec![Thirds; 2],
            routes: Routes::shortest(&topology),
            topology,
            switch: SwitchConfig { switching: self.switching, ..SANTOS },
            packets: PACKETS,
            flows: vec![FlowSpec { source, destination, vl: 0, answers_vl: 0, response: 0, restart: false }],
            sources: vec![SourceSpec::always(
                FlowId(0),
                Traffic::Batch { count, bytes: bytes.into(), sizes: Distribution::Fixed },
            )],
            jobs: Vec::new(),
            changes: Vec::new(),
            faults: Vec::new(),
            echo: self.echo,
            seed: 1,
        };
        let mut run: Simulator<_> = simulate(spec, Messages::default());
        run.run_until(Time::from_ms(10));
        run.model.check(&run.agenda).expect("the rules hold");
        let log = log.lock().unwrap().clone();
        (log, run.model.observer.0)
    }
}

#[test]
fn a_lone_flow_measures_the_base_rtt_to_the_picosecond() {
    let time = |gigabits: f64, bytes| Rate::from_bits_per_second(gigabits * 1e9).time_of(bytes);
    // Six links of 100 ns, four switches of 40 ns, a full packet of 2068 B there and an ACK of 20 B back.
    let wires = Time::from_ns(6 * 100 + 4 * 40);
    let cases = [
        (SCENE, wires + time(8.0, 2068) + time(8.0, 20)),
        // The slowest link determines the time of a packet, in both directions.
        (Scene { rates: [40.0, 8.0, 100.0], ..SCENE }, wires + time(8.0, 2068) + time(8.0, 20)),
        (Scene { switching: Switching::StoreAndForward, ..SCENE }, wires + time(8.0, 2068) * 3 + time(8.0, 20) * 3),
        (
            Scene { drain: Some(4.0), ..SCENE },
            wires + time(8.0, 2068) + time(8.0, 20) + time(4.0, 2068) + time(4.0, 20),
        ),
    ];
    for (scene, expected) in cases {
        let (log, _) = scene.run();
        let shape = log.shape.expect("a response is started once");
        assert_eq!((shape.base_rtt, shape.hops, shape.mtu, shape.header), (expected, 3, 2048, 20));
        assert_eq!(log.acks.iter().map(|ack| ack.rtt).collect::<Vec<_>>(), [expected; 7], "{:?}", scene.rates);
        let held = scene.drain.map_or(Time::ZERO, |gigabits| Time::from_ns(time(gigabits, 2068).0 / 1000));
        assert!(log.acks.iter().all(|ack| ack.held == held));
    }
}

#[test]
fn acks_that_cover_several_packets_count_the_same_marks() {
    let run = |ack_every| {
        Scene { window: 8, echo: Both { ack_every, ..SCENE.echo }, message: (1, 50 * 2048), ..SCENE }.run().0
    };
    let totals = |log: &Log| {
        let sum = |of: fn(&Ack) -> u32| log.acks.iter().map(of).sum::<u32>();
        (sum(|ack| ack.covers), sum(|ack| ack.marked))
    };
    let (single, several) = (run(1), run(4));
    assert_eq!((single.acks.len(), several.acks.len()), (50, 13));
    assert_eq!(totals(&several), totals(&single));
    assert!(totals(&single).0 == 50 && (10..25).contains(&totals(&single).1), "{:?}", totals(&single));
    let last = several.acks.last().unwrap();
    assert_eq!((last.sequence, last.next, last.covers), (49, 50, 2));
}

#[test]
fn a_packet_may_get_an_ack_and_a_cnp_and_the_echo_knows_its_last_cnp() {
    let cnps = |quiet| {
        Scene { window: 8, echo: Both { ack_every: 1, quiet: Some(quiet) }, message: (1, 30 * 2048), ..SCENE }.run().0
    };
    let (every, first) = (cnps(Time::ZERO), cnps(Time::from_ms(1)));
    let marked = every.acks.iter().filter(|ack| ack.marked > 0).count();
    assert!(marked > 3);
    assert_eq!((every.acks.len(), every.cnps), (30, marked));
    assert_eq!((first.acks.len(), first.cnps), (30, 1));
}

#[test]
fn a_response_learns_when_and_how_much_its_flow_sends() {
    let (log, _) = Scene { message: (3, 3000), ..SCENE }.run();
    let sizes: Vec<_> = log.sent.iter().map(|sent| (sent.bytes, sent.in_flight)).collect();
    assert_eq!(sizes, [(2068, 1), (972, 1)].repeat(3));
    assert!(log.sent.windows(2).all(|pair| pair[0].now < pair[1].now));
}

#[test]
fn a_message_that_has_arrived_whole_is_observed_once() {
    let (_, messages) = Scene { message: (3, 5000), window: 4, ..SCENE }.run();
    let shapes: Vec<_> =
        messages.iter().map(|(_, delivery)| (delivery.number, delivery.posted, delivery.bytes)).collect();
    assert_eq!(shapes, [(0, Time::ZERO, 5000), (1, Time::ZERO, 5000), (2, Time::ZERO, 5000)]);
    assert!(messages.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn draws_are_uniform_and_differ_between_packets_and_switches() {
    let departure = |tie: u32, switch| Departure {
        now: Time::ZERO,
        order: 0,
        input: 0,
        output: 1,
        vl: 0,
        size: 2068,
        kind: Kind::Data,
        tie: tie.wrapping_mul(0x9e37_79b9),
        switch,
    };
    let n = 100_000;
    for switch in 0..3 {
        let draws: Vec<f64> = (0..n).map(|tie| departure(tie, switch).draw()).collect();
        for limit in [0.01, 0.25, 0.5, 0.9] {
            let below = draws.iter().filter(|&&draw| draw < limit).count() as f64;
            let sigma = (f64::from(n) * limit * (1.0 - limit)).sqrt();
            assert!((below - f64::from(n) * limit).abs() < 4.0 * sigma, "{below} of {n} draws below {limit}");
        }
        let next: Vec<f64> = (0..n).map(|tie| departure(tie, switch + 1).draw()).collect();
        let covariance = draws.iter().zip(&next).map(|(a, b)| (a - 0.5) * (b - 0.5)).sum::<f64>() / f64::from(n);
        assert!((covariance * 12.0).abs() < 4.0 / f64::from(n).sqrt(), "switches draw alike: {covariance}");
    }
}

/// A window that falls from 16 packets to one with the first ACK.
#[derive(Clone, Debug)]
struct Falling(u32);

impl Response for Falling {
    fn pace(&self) -> Pace {
        Pace { gap: 0.0, window: self.0 }
    }
    fn notice(&mut self, _: Time, notice: &Notice) {
        if let Notice::Ack(_) = notice {
            self.0 = 1;
        }
    }
}

/// Acknowledges the first packet, every 50th, and those that request it; counts the requests.
#[derive(Clone, Debug)]
struct OnRequest {
    hears: bool,
    requests: Arc<Mutex<Vec<u32>>>,
}

impl Echo for OnRequest {
    fn answer(&mut self, _: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        if packet.requests_ack() {
            self.requests.lock().unwrap().push(packet.sequence);
        }
        let due = packet.train.is_last() || packet.sequence == 0 || packet.requests_ack() || unanswered.packets >= 50;
        Answer { ack: due.then_some(0), cnp: false }
    }
    fn hears_requests(&self) -> bool {
        self.hears
    }
}

/// The requests of a flow of 40 packets whose window falls, and the number of messages delivered.
fn requests(hears: bool, window: u32) -> (Vec<u32>, usize) {
    let rate = Rate::from_bits_per_second(8e9);
    let mut topology = Topology::default();
    let switch = topology.add_switch("A");
    let [source, destination] = ["AV", "BV"].map(|name| topology.add_host(name));
    for host in [source, destination] {
        topology.connect(host, switch, rate, Time::from_us(2));
    }
    let requests = Arc::new(Mutex::new(Vec::new()));
    let spec = FabricSpec {
        adapters: vec![ADAPTER; 2],
        responses: vec![Falling(window)],
        markers: vec![Thirds],
        routes: Routes::shortest(&topology),
        topology,
        switch: SANTOS,
        packets: PACKETS,
        flows: vec![FlowSpec { source, destination, vl: 0, answers_vl: 0, response: 0, restart: false }],
        sources: vec![SourceSpec::always(
            FlowId(0),
            Traffic::Batch { count: 1, bytes: 40 * 2048, sizes: Distribution::Fixed },
        )],
        jobs: Vec::new(),
        changes: Vec::new(),
        faults: Vec::new(),
        echo: OnRequest { hears, requests: requests.clone() },
        seed: 1,
    };
    let mut run: Simulator<_> = simulate(spec, Messages::default());
    run.run_until(Time::from_ms(10));
    run.model.check(&run.agenda).expect("the rules hold");
    let requests = requests.lock().unwrap().clone();
    (requests, run.model.observer.0.len())
}

#[test]
fn a_packet_that_fills_its_window_requests_an_ack() {
    let (asked, delivered) = requests(true, 3);
    // The first ACK comes after the third packet, which filled the window. Then every packet fills it.
    assert_eq!((asked, delivered), ((2..40).collect(), 1));
    assert_eq!(requests(false, 3), (Vec::new(), 0), "without requests, no ACK opens the window again");
}

#[test]
fn a_window_that_falls_below_the_packets_in_flight_lets_one_more_request_an_ack() {
    // The first ACK arrives after 8 us, when about four packets of 2 us are sent and none of them fills the window.
    let (asked, delivered) = requests(true, 16);
    assert!((3..8).contains(&asked[0]) && asked[1..] == (asked[0] + 1..40).collect::<Vec<_>>(), "{asked:?}");
    assert_eq!(delivered, 1);
}
