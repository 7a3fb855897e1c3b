//! Tests of marking and starvation in IBTA congestion control.

use super::*;
use crate::marking::ports::Ports;
use crate::marking::trigger::fake::{SIZE, Switch, shape};
use becalm_fabric::Kind;
use becalm_schema::Field;

/// A port to another switch.
const OUTPUT: u16 = 2;
/// The port to a host.
const HOST: u16 = 3;

fn default() -> Params {
    Params::default()
}

/// A switch with `packets` waiting for `output`, and its marker.
fn queue(params: &Params, packets: u32, output: u16) -> (Switch, Ibta) {
    let (mut switch, mut marker) = (Switch::new(100), Ibta::new(params, shape()));
    for _ in 0..packets {
        switch.arrive(&mut marker, 0, output, 0);
    }
    (switch, marker)
}

/// Whether the marker marks a packet that leaves while the switch's queue waits.
fn marks(marker: &mut Ibta, switch: &Switch, output: u16, size: u32, kind: Kind) -> bool {
    let leaves = Departure { now: Time::ZERO, order: 0, input: 0, output, vl: 0, size, kind, tie: 0, switch: 0 };
    marker.departing(&leaves, switch)
}

/// Number of packets in a queue of `packets` that leave marked, if no more arrive.
fn marked(params: &Params, packets: u32, output: u16, credit: u32) -> usize {
    let (mut switch, mut marker) = queue(params, packets, output);
    switch.credit = credit;
    (0..u64::from(packets)).filter(|order| switch.depart(&mut marker, *order)).count()
}

#[test]
fn a_threshold_is_so_many_sixteenths_of_an_input_buffer() {
    let bytes = |level| threshold_bytes(level, 32_000);
    assert_eq!([0, 1, 8, 14, 15].map(bytes), [None, Some(30_000), Some(16_000), Some(4_000), Some(2_000)]);
}

#[test]
fn marks_while_more_is_left_behind_than_the_threshold_allows() {
    // With space for 16 packets, at threshold t, 16 - t may wait behind a packet that leaves unmarked.
    for threshold in 1..=15 {
        let params = Params { threshold, ..default() };
        let allowed = 16 - threshold;
        assert_eq!(marked(&params, allowed + 1, OUTPUT, 9), 0, "threshold {threshold}");
        assert_eq!(marked(&params, allowed + 4, OUTPUT, 9), 3, "threshold {threshold}");
    }
    assert_eq!(marked(&Params { threshold: 0, ..default() }, 90, OUTPUT, 9), 0);
}

#[test]
fn keeps_ports_and_virtual_lanes_apart() {
    let (mut switch, mut marker) = queue(&default(), 9, OUTPUT);
    assert!(marker.is_congested(OUTPUT, 0));
    let others = [switch.arrive(&mut marker, 0, OUTPUT, 1), switch.arrive(&mut marker, 0, HOST, 0)];
    assert!(others.into_iter().all(|order| !switch.depart(&mut marker, order)));
}

#[test]
fn a_port_without_credit_to_spare_is_a_victim_unless_the_mask_has_it() {
    let with = |victim_mask| Params { victim_mask, ..default() };
    for (mask, output, victim_marks) in [
        (Mask::None, OUTPUT, 0),
        (Mask::None, HOST, 0),
        (Mask::HostPorts, OUTPUT, 0),
        (Mask::HostPorts, HOST, 8),
        (Mask::All, OUTPUT, 8),
        (Mask::All, HOST, 8),
    ] {
        assert_eq!(marked(&with(mask), 10, output, 1), victim_marks, "{mask:?}, port {output}: a victim");
        assert_eq!(marked(&with(mask), 10, output, 2), 8, "{mask:?}, port {output}: a root");
    }
}

#[test]
fn ports_have_values_of_their_own() {
    let base = Override { switches: vec!["S0..S3".into()], ..Override::default() };
    let with = |list: &[Override]| Params { overrides: list.to_vec(), ..default() };
    let off = |ports| Override { ports, threshold: Some(0), ..base.clone() };
    for (overrides, at_switch, at_host) in [
        (vec![off(Ports::All)], 0, 0),
        (vec![off(Ports::Hosts)], 8, 0),
        (vec![off(Ports::Switches)], 0, 8),
        (vec![off(Ports::List(vec![0, 3]))], 8, 0),
        (vec![off(Ports::All), Override { threshold: Some(14), ports: Ports::Hosts, ..base.clone() }], 0, 7),
        (vec![Override { switches: vec!["S2".into()], ..off(Ports::All) }], 8, 8),
        (vec![Override { marking_rate: Some(1), ports: Ports::Hosts, ..base.clone() }], 8, 4),
        (vec![Override { packet_size: Some(255), ..base.clone() }], 0, 0),
    ] {
        let params = with(&overrides);
        assert_eq!(
            (marked(&params, 10, OUTPUT, 9), marked(&params, 10, HOST, 9)),
            (at_switch, at_host),
            "{overrides:?}"
        );
    }
    let victim = with(&[Override { ports: Ports::Hosts, victim: Some(true), ..base.clone() }]);
    assert_eq!((marked(&victim, 10, OUTPUT, 1), marked(&victim, 10, HOST, 1)), (0, 8));
}

#[test]
fn overrides_are_read_and_must_do_something() {
    let read = |text: &str| becalm_schema::read::<Params>(text, "f").map_err(|errors| errors.to_string());
    let params = read("overrides = [{ports = [1, 2], threshold = 3}, {ports = \"hosts\", victim = true}]").unwrap();
    assert_eq!(params.overrides[0].ports, Ports::List(vec![1, 2]));
    assert_eq!(becalm_schema::read_json::<Params>(&params.to_json(), "f").unwrap(), params);
    for wrong in [
        "{}",
        "{switches = [], threshold = 1}",
        "{ports = []}",
        "{ports = \"host\", victim = true}",
        "{threshold = 16}",
        "{victims = true}",
    ] {
        assert!(read(&format!("overrides = [{wrong}]")).is_err(), "{wrong}");
    }
}

/// Whether a switch with a long queue delays the credit of a packet that entered through an input.
fn starves(params: &Params, input: u16) -> bool {
    let (mut switch, mut marker) = (Switch::new(100), Ibta::new(params, shape()));
    let orders: Vec<u64> = (0..17).map(|_| switch.arrive(&mut marker, input, OUTPUT, 0)).collect();
    switch.depart(&mut marker, orders[0]);
    marker.left(Time::ZERO, input, OUTPUT, 0) > Time::ZERO
}

#[test]
fn inputs_in_the_credit_mask_starve_whatever_marks() {
    let delay = CctEntry::new(0, 3).unwrap();
    let base = Params { cs_threshold: 1, cs_return_delay: delay, ..default() };
    let own = |other: Override| vec![Override { switches: vec!["S1".into()], ports: Ports::Hosts, ..other }];
    let (on, off) = (Override { credit: Some(true), ..Override::default() }, Override::default());
    for (credit_mask, other, at_switch, at_host) in [
        (Mask::None, on.clone(), false, true),
        (Mask::HostPorts, off.clone(), false, true),
        (Mask::All, off.clone(), true, true),
        (Mask::All, Override { credit: Some(false), ..off.clone() }, true, false),
        (Mask::All, Override { cs_threshold: Some(0), ..off.clone() }, true, false),
        (Mask::All, Override { cs_return_delay: Some(CctEntry::default()), ..off.clone() }, true, false),
    ] {
        for threshold in [0, 15] {
            let params = Params { credit_mask, threshold, overrides: own(other.clone()), ..base.clone() };
            assert_eq!((starves(&params, OUTPUT), starves(&params, HOST)), (at_switch, at_host), "{params:?}");
        }
    }
    assert_eq!(marked(&Params { credit_mask: Mask::All, ..base.clone() }, 10, OUTPUT, 9), 8, "marks as without");
}

#[test]
fn starvation_must_have_an_effect() {
    let read = |text: &str| becalm_schema::read::<Params>(text, "f.toml").map_err(|errors| errors.to_string());
    let mask = "credit_mask = \"host_ports\"";
    let right = format!("threshold = 0\n{mask}\ncs_threshold = 8\ncs_return_delay = [2, 40]");
    assert_eq!(read(&right).unwrap().cs_return_delay.gap(), 10.0);
    let own = "overrides = [{ports = [1], credit = true, cs_threshold = 3, cs_return_delay = [0, 9]}]";
    assert!(read(own).is_ok() && read(&format!("{right}\noverrides = [{{credit = false}}]")).is_ok());
    let idle = "does nothing: no port is in the credit mask";
    let nobody = "does nothing: needs a";
    for (text, problem) in [
        ("cs_threshold = 3", format!("cs_threshold = 3: {idle}")),
        ("cs_return_delay = [0, 1]", format!("cs_return_delay = [0, 1]: {idle}")),
        ("overrides = [{credit = false}]", "no port is in the credit mask".to_string()),
        ("overrides = [{cs_threshold = 3}]", "no port is in the credit mask".to_string()),
        ("overrides = [{credit = true}]", format!("{nobody} cs_threshold above 0")),
        (&format!("{mask}\ncs_return_delay = [0, 1]"), format!("{nobody} cs_threshold above 0")),
        (&format!("{mask}\ncs_threshold = 1"), format!("{nobody} cs_return_delay above 0")),
        ("overrides = [{credit = false, cs_threshold = 3}]", "credit = false: must be true where".to_string()),
        ("cs_return_delay = [4, 1]", "a pair [shift, multiplier] of integers".to_string()),
    ] {
        let wrong = read(text).unwrap_err();
        assert!(wrong.contains(&problem), "{text}: {wrong}");
    }
}

#[test]
fn an_arrival_takes_no_credit() {
    let (mut switch, mut marker) = (Switch::new(100), Ibta::new(&default(), shape()));
    for (credit, congested) in [(0, false), (1, true)] {
        switch.credit = credit;
        switch.arrive(&mut marker, 0, OUTPUT, 0);
        switch.arrive(&mut marker, 0, OUTPUT, 0);
        assert_eq!(marker.is_congested(OUTPUT, 0), congested);
    }
}

#[test]
fn passes_over_small_packets_and_all_that_is_not_data() {
    let (switch, mut marker) = queue(&Params { packet_size: 8, ..default() }, 10, OUTPUT);
    assert!(!marks(&mut marker, &switch, OUTPUT, 511, Kind::Data));
    assert!(marks(&mut marker, &switch, OUTPUT, 512, Kind::Data));
    for kind in [Kind::Ack, Kind::Cnp] {
        assert!(!marks(&mut marker, &switch, OUTPUT, SIZE, kind));
    }
}

#[test]
fn the_marking_rate_counts_only_packets_that_could_be_marked() {
    for marking_rate in [0, 1, 2, 7] {
        let (switch, mut marker) = queue(&Params { packet_size: 8, marking_rate, ..default() }, 10, OUTPUT);
        let mut verdicts = Vec::new();
        for _ in 0..=marking_rate * 3 + 2 {
            assert!(!marks(&mut marker, &switch, OUTPUT, 64, Kind::Data));
            verdicts.push(marks(&mut marker, &switch, OUTPUT, SIZE, Kind::Data));
        }
        let expected: Vec<bool> = (0..verdicts.len()).map(|i| i % (marking_rate as usize + 1) == 0).collect();
        assert_eq!(verdicts, expected, "marking rate {marking_rate}");
    }
}

#[test]
fn a_drawn_marking_rate_is_met_in_the_mean_and_marks_no_other_packets() {
    let params = Params { marking_rate: 3, spacing: Spacing::Drawn, packet_size: 8, ..default() };
    let (switch, mut marker) = queue(&params, 10, OUTPUT);
    let mut leaves = |order: u64, size| {
        let (kind, tie) = (Kind::Data, becalm_engine::mix(7, order) as u32);
        let departure =
            Departure { now: Time::ZERO, order, input: 0, output: OUTPUT, vl: 0, size, kind, tie, switch: 3 };
        marker.departing(&departure, &switch)
    };
    let verdicts: Vec<bool> = (0..40_000).map(|order| leaves(order, SIZE)).collect();
    let share = verdicts.iter().filter(|marked| **marked).count() as f64 / 40_000.0;
    assert!((share - 0.25).abs() < 0.01, "{share}");
    let pairs = verdicts.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / 40_000.0;
    assert!((pairs - 0.0625).abs() < 0.006, "marks are independent: {pairs}");
    assert!((0..1000).all(|order| !leaves(order, 64)), "too small");
}
