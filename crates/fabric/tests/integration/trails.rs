//! Telemetry: records of switches on a packet's path, returned in ACKs.

use std::sync::{Arc, Mutex};

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, Answer, Echo, FlowShape, Hop, Notice, Pace, Response, Unanswered};
use becalm_fabric::*;

use crate::doubles::*;

/// Telemetry bytes in a packet, and the size of a full packet with telemetry.
const TRAIL: u32 = 42;
const FULL: u64 = 2048 + 20 + TRAIL as u64;

/// Observations of a response: its shape, and each ACK's round trip, time at the receiver, and trail.
#[derive(Clone, Debug, Default)]
struct Log {
    shape: Option<FlowShape>,
    acks: Vec<(Time, Time, Vec<Hop>)>,
}

/// Requests trails if asked to, and records them.
#[derive(Clone, Debug)]
struct Tracer {
    trail: Option<u32>,
    window: u32,
    log: Arc<Mutex<Log>>,
}

impl Response for Tracer {
    fn start(&mut self, flow: &FlowShape) {
        self.log.lock().unwrap().shape = Some(*flow);
    }
    fn trail(&self) -> Option<u32> {
        self.trail
    }
    fn pace(&self) -> Pace {
        Pace { gap: 0.0, window: self.window }
    }
    fn notice(&mut self, _: Time, notice: &Notice) {
        if let Notice::Ack(Ack { rtt, held, trail, .. }) = *notice {
            self.log.lock().unwrap().acks.push((rtt, held, trail.to_vec()));
        }
    }
}

/// Sends one ACK per this many packets.
#[derive(Clone, Copy, Debug)]
struct Every(u32);

impl Echo for Every {
    fn answer(&mut self, _: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        Answer { ack: (packet.train.is_last() || unanswered.packets >= self.0).then_some(0), cnp: packet.marked }
    }
}

/// Observations of flows that send messages at time zero, with or without trails.
fn run(
    topology: Topology,
    flows: &[(&str, &str, Option<u32>)],
    (bytes, window): (u32, u32),
    (every, drain_rate): (u32, Option<Rate>),
) -> (Vec<Log>, Vec<FlowView>) {
    let logs: Vec<_> = flows.iter().map(|_| Arc::new(Mutex::new(Log::default()))).collect();
    let host = |name: &str| topology.find(name).expect("it is there");
    let flow = |(response, (from, to, _)): (u32, &(&str, &str, _))| FlowSpec {
        source: host(from),
        destination: host(to),
        vl: 0,
        answers_vl: 0,
        response,
        restart: false,
    };
    let batch = Traffic::Batch { count: 1, bytes: bytes.into(), sizes: Distribution::Fixed };
    let response =
        |(&(_, _, trail), log): (&(_, _, Option<u32>), &Arc<Mutex<Log>>)| Tracer { trail, window, log: log.clone() };
    let spec = FabricSpec {
        flows: (0..).zip(flows).map(flow).collect(),
        responses: flows.iter().zip(&logs).map(response).collect(),
        sources: (0..flows.len() as u32).map(|i| SourceSpec::always(FlowId(i), batch.clone())).collect(),
        adapters: vec![AdapterConfig { drain_rate, ..ADAPTER }; topology.host_count() as usize],
        markers: vec![Unmarked; topology.switch_count() as usize],
        routes: Routes::shortest(&topology),
        topology,
        switch: SwitchConfig { buffer: Room::UNLIMITED, arbiter: Arbiter::RoundRobin, ..SANTOS },
        packets: PACKETS,
        jobs: Vec::new(),
        changes: Vec::new(),
        faults: Vec::new(),
        echo: Every(every),
        seed: 1,
    };
    let mut run = simulate(spec, ());
    run.run_until_idle();
    run.model.check(&run.agenda).expect("the rules hold, and no trail is left");
    assert_eq!(run.model.packets_in_flight(), 0);
    let views = (0..flows.len() as u32).map(|i| run.model.flow(FlowId(i))).collect();
    (logs.iter().map(|log| log.lock().unwrap().clone()).collect(), views)
}

/// Two switches with links of 1 GB/s and 100 ns, and a host at each.
fn line() -> Topology {
    let mut topology = Topology::default();
    let [a, b] = ["A", "B"].map(|name| topology.add_switch(name));
    let [source, destination] = ["AV", "BV"].map(|name| topology.add_host(name));
    for (from, to) in [(source, a), (a, b), (b, destination)] {
        topology.connect(from, to, gigabyte(), Time::from_ns(100));
    }
    topology
}

#[test]
fn a_lone_flow_gets_a_record_of_each_switch_to_the_picosecond() {
    let (logs, views) = run(line(), &[("AV", "BV", Some(TRAIL))], (3 * 2048, 1), (1, None));
    // Six links of 100 ns, four switches of 40 ns, a full packet and an ACK.
    let rtt = Time::from_ns(6 * 100 + 4 * 40 + FULL + 20);
    let shape = logs[0].shape.expect("started");
    assert_eq!((shape.base_rtt, shape.longest_rtt, shape.header), (rtt, rtt, 20 + TRAIL));
    for (i, (time, held, trail)) in (0..).zip(&logs[0].acks) {
        assert_eq!((*time, *held), (rtt, Time::ZERO));
        let records: Vec<_> = trail.iter().map(|hop| (hop.at, hop.sent, hop.waiting)).collect();
        let leaves = |switches: u64| rtt * i + Time::from_ns(140 * switches);
        assert_eq!(records, [(leaves(1), i * FULL, 0), (leaves(2), i * FULL, 0)]);
        assert!(trail[0].output != trail[1].output && trail.iter().all(|hop| hop.rate == gigabyte()));
    }
    assert_eq!(logs[0].acks.len(), 3);
    assert_eq!((views[0].delivered_bytes, views[0].posted_bytes), (3 * FULL, 3 * FULL));
    assert_eq!(views[0].delivered_payload, 3 * 2048);
}

#[test]
fn records_tell_what_waits_behind_a_packet_and_what_left_before_it() {
    let ask = Some(TRAIL);
    let flows = [("h0", "h3", ask), ("h1", "h3", ask), ("h2", "h3", ask)];
    let (logs, _) = run(star(4), &flows, (2048, 1), (1, None));
    let mut records: Vec<_> =
        logs.iter().map(|log| log.acks[0].2[0]).map(|hop| (hop.at, hop.sent, hop.waiting)).collect();
    records.sort();
    // All packets are ready at 40 ns. The first departs at once, and the third waits behind the second.
    let leaves = |packets: u64| Time::from_ns(40 + packets * FULL);
    assert_eq!(records, [(leaves(0), 0, 0), (leaves(1), FULL, FULL), (leaves(2), 2 * FULL, 0)]);
}

#[test]
fn flows_that_do_not_ask_pay_nothing_beside_one_that_does() {
    let flows = [("h0", "h2", Some(TRAIL)), ("h1", "h2", None)];
    let (logs, views) = run(star(3), &flows, (8 * 2048, 2), (1, None));
    assert_eq!((views[0].delivered_bytes, views[1].delivered_bytes), (8 * FULL, 8 * 2068));
    assert!(logs[0].acks.iter().all(|(_, _, trail)| trail.len() == 1));
    assert!(logs[1].acks.iter().all(|(_, _, trail)| trail.is_empty()));
    let headers = logs.iter().map(|log| log.shape.unwrap().header).collect::<Vec<_>>();
    assert_eq!(headers, [62, 20]);
}

#[test]
fn an_ack_for_several_packets_brings_the_records_of_the_last() {
    let (logs, _) = run(line(), &[("AV", "BV", Some(TRAIL))], (10 * 2048, 10), (4, None));
    let sent: Vec<_> = logs[0].acks.iter().map(|(_, _, trail)| trail[1].sent).collect();
    assert_eq!(sent, [3 * FULL, 7 * FULL, 9 * FULL]);
}

#[test]
fn the_time_at_the_receiver_does_not_suffer() {
    let drain = Rate::from_bits_per_second(4e9);
    let (logs, _) = run(line(), &[("AV", "BV", Some(TRAIL))], (2 * 2048, 1), (1, Some(drain)));
    let held = drain.time_of(FULL as u32);
    assert!(logs[0].acks.iter().all(|(_, time, trail)| *time == held && trail.len() == 2), "{:?}", logs[0].acks);
    assert_eq!(logs[0].acks[0].0, logs[0].shape.unwrap().base_rtt);
}
