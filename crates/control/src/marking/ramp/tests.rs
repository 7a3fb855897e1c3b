//! Shares of marked packets at queues of a given length.

use super::*;
use becalm_engine::{Time, mix};
use becalm_schema::read;

/// Bytes of a packet.
const SIZE: u32 = 1058;

/// A switch with this many bytes behind the departing packet, and ports of 40 Gb/s.
struct Behind {
    bytes: u64,
    credit: u32,
}

impl SwitchView for Behind {
    fn room(&self, _: u16, _: u8) -> u32 {
        u32::MAX
    }
    fn waiting(&self, _: u16, _: u8) -> u32 {
        1 + (self.bytes / u64::from(SIZE)) as u32
    }
    fn waiting_bytes(&self, _: u16, _: u8) -> u64 {
        self.bytes + u64::from(SIZE)
    }
    fn present(&self, output: u16, vl: u8) -> u32 {
        self.waiting(output, vl)
    }
    fn present_from(&self, _: u16, output: u16, vl: u8) -> u32 {
        self.waiting(output, vl)
    }
    fn credit(&self, _: u16, _: u8) -> u32 {
        self.credit
    }
    fn blocked_until(&self, _: u16, _: u8) -> Option<Time> {
        None
    }
    fn packet_time(&self, _: u16, size: u32) -> Time {
        Time(u64::from(size) * 200)
    }
}

fn params(text: &str) -> Params {
    read(text, "f.toml").unwrap()
}

/// Whether packets with the numbers 0 to `packets` are marked.
fn verdicts(params: &Params, switch: &Behind, packets: u64, kind: Kind) -> Vec<bool> {
    let shape = SwitchShape { name: "S".into(), ports: 2, vls: 1, capacity_bytes: 0, host_ports: vec![true; 2] };
    let mut marker = Ramp::new(params, shape);
    let departing = |order: u64| {
        let tie = mix(7, order) as u32;
        let departure =
            Departure { now: Time::ZERO, order, input: 0, output: 1, vl: 0, size: SIZE, kind, tie, switch: 3 };
        marker.departing(&departure, switch)
    };
    (0..packets).map(departing).collect()
}

/// The share of 1e5 packets that are marked at a queue of this many bytes.
fn share(params: &Params, bytes: u64) -> f64 {
    let marked = verdicts(params, &Behind { bytes, credit: 9 }, 100_000, Kind::Data);
    marked.iter().filter(|marked| **marked).count() as f64 / 1e5
}

#[test]
fn the_share_of_marks_is_the_probability_at_five_queues() {
    // p(Q) = 0.2 (Q - 5 kB) / 195 kB, worked out by hand.
    let params = params("pmax = 0.2");
    for (bytes, p) in [(24_500, 0.02), (53_750, 0.05), (102_500, 0.1), (151_250, 0.15), (200_000, 0.2)] {
        let (share, sigma) = (share(&params, bytes), (p * (1.0 - p) / 1e5_f64).sqrt());
        assert!((share - p).abs() <= 3.0 * sigma, "{bytes} B: {share} of the packets, p = {p}, sigma = {sigma}");
    }
    assert_eq!([0, 5_000, 200_001].map(|bytes| self::share(&params, bytes)), [0.0, 0.0, 1.0]);
}

#[test]
fn equal_thresholds_are_a_step() {
    let step = params("kmin = 60\nkmax = 60");
    assert_eq!([0, 60_000, 60_001].map(|bytes| share(&step, bytes)), [0.0, 0.0, 1.0]);
    let always = params("kmin = 0\nkmax = 0");
    assert_eq!([0, 1].map(|bytes| share(&always, bytes)), [0.0, 1.0]);
}

#[test]
fn thresholds_grow_with_the_rate_of_the_port() {
    // At 40 Gb/s, thresholds of 100 kB per 25 Gb/s are 160 kB.
    let scaled = params("kmin = 100\nkmax = 100\nper = 25");
    assert_eq!([160_000, 160_001].map(|bytes| share(&scaled, bytes)), [0.0, 1.0]);
}

#[test]
fn answers_are_never_marked() {
    let full = Behind { bytes: 1_000_000, credit: 9 };
    for (kind, marked) in [(Kind::Data, true), (Kind::Ack, false), (Kind::Cnp, false)] {
        assert_eq!(verdicts(&params(""), &full, 100, kind), [marked; 100], "{kind:?}");
    }
}

#[test]
fn a_port_without_credit_marks_nothing_if_only_roots_mark() {
    for (text, credit, marked) in
        [("", 1, true), ("root_only = true", 1, false), ("root_only = true", 2, true), ("root_only = true", 0, false)]
    {
        let full = Behind { bytes: 1_000_000, credit };
        assert_eq!(verdicts(&params(text), &full, 1, Kind::Data), [marked], "{text} {credit}");
    }
}

#[test]
fn a_packet_may_be_judged_by_the_queue_that_it_finds() {
    use crate::marking::trigger::fake::{SIZE, Switch, shape};
    let packets = |n: u32| f64::from(n * SIZE) / 1000.0;
    let step = Params { kmin: packets(3), kmax: packets(3), ..Params::default() };
    let marked = |judged, leave: [u64; 6]| {
        let mut marker = Ramp::new(&Params { judged, ..step.clone() }, shape());
        let mut switch = Switch::new(16);
        (0..6).for_each(|i| assert_eq!(switch.arrive(&mut marker, (i % 2) as u16, 2, 0), i));
        leave.map(|order| switch.depart(&mut marker, order))
    };
    // They find 0, 1, ... 5 packets: more than three only the last two. They leave 5, 4, ... 0 behind.
    assert_eq!(marked(Judged::Arrival, [0, 1, 2, 3, 4, 5]), [false, false, false, false, true, true]);
    assert_eq!(marked(Judged::Arrival, [1, 5, 0, 2, 4, 3]), [false, true, false, false, true, false]);
    assert_eq!(marked(Judged::Departure, [0, 1, 2, 3, 4, 5]), [true, true, false, false, false, false]);
}

#[test]
fn refuses_a_kmin_above_kmax() {
    let wrong = read::<Params>("kmin = 300", "f.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "f.toml:1: kmin = 300: must be at most kmax = 200");
}

#[test]
fn a_train_keeps_the_judgement_on_its_arrival_until_its_last_packet() {
    let params = params("kmin = 5\nkmax = 5\njudged = \"arrival\"");
    let shape = SwitchShape { name: "S".into(), ports: 2, vls: 1, capacity_bytes: 0, host_ports: vec![true; 2] };
    let mut marker = Ramp::new(&params, shape);
    let (now, order, input, output, vl, kind) = (Time::ZERO, 9, 0, 1, 0, Kind::Data);
    let full = Behind { bytes: 50_000, credit: 1 };
    marker.arrived(&Arrival { now, order, input, output, vl, size: 3 * SIZE, kind, waits: true }, &full);
    let empty = Behind { bytes: 0, credit: 1 };
    let departing = |packets: u32| {
        let size = packets * SIZE;
        marker.departing(&Departure { now, order, input, output, vl, size, kind, tie: 1, switch: 3 }, &empty)
    };
    assert_eq!([1, 2, 3, 3].map(departing), [true, true, true, false]);
}
