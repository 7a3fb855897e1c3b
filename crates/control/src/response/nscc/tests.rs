//! The source's constants, and windows computed by hand.

use super::*;
use becalm_fabric::Rate;

/// A packet of 4150 bytes, 64 of them headers.
const PACKET: f64 = 4150.0;

/// A flow whose own base round trip is the network's.
fn flow(gigabits: f64, rtt: Time, params: Params) -> Nscc {
    let mut flow = Nscc::new(&params);
    let rate = Rate::from_bits_per_second(gigabits * 1e9);
    flow.start(&FlowShape { rate, mtu: 4086, header: 64, base_rtt: rtt, longest_rtt: rtt, hops: 4 });
    flow
}

/// 400 Gb/s and 8.337 us, with T at 0.75 of it, and a window of one bandwidth-delay product.
fn fast() -> Nscc {
    let target = Some(Time(6_252_840));
    let mut flow = flow(400.0, Time(8_337_120), Params { target, ..Params::default() });
    flow.window = 416_856.0;
    flow
}

/// An ACK that arrives at this time, for eight packets (33,200 B), with this delay.
fn ack(flow: &mut Nscc, at: Time, delay: Time, marked: u32) {
    let rtt = flow.base_rtt + delay;
    flow.notice(at, &Notice::Ack(Ack { covers: 8, marked, rtt, ..Ack::default() }));
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found}, not {expected}");
}

/// The constants of a flow: bandwidth-delay product, A, largest window, 5 S A, 4 S A T / 12 us, eta.
fn constants(flow: &Nscc) -> [f64; 6] {
    let Shape { rate, payload, network_rtt, target, scale, .. } = flow.shape;
    let share = target.as_secs() / REFERENCE_RTT;
    let product = rate * network_rtt.as_secs();
    [product, scale, flow.largest(), 5.0 * payload * scale, 4.0 * payload * scale * share, 0.15 * payload * scale]
}

#[test]
fn the_constants_of_two_networks_are_those_of_the_source() {
    // Six cables of 1 us at 100 Gb/s, and four at 400 Gb/s; packets are stored before they are sent on.
    let slow = flow(100.0, Time(14_022_720), Params { target: Some(Time(10_517_040)), ..Params::default() });
    let expected = [175_284.0, 1.169, 262_926.0, 23_874.0, 16_739.0, 716.0];
    constants(&slow).iter().zip(expected).for_each(|(&found, expected)| near(found, expected, 0.6));
    near(slow.shape.scale, 1.1686, 1e-4);
    let expected = [416_856.0, 2.779, 625_284.0, 56_776.0, 23_667.0, 1_703.0];
    constants(&fast()).iter().zip(expected).for_each(|(&found, expected)| near(found, expected, 0.6));
    near(fast().shape.scale, 2.7790, 1e-4);
}

#[test]
fn a_flow_begins_with_the_largest_window_and_targets_the_networks_round_trip() {
    let flow = flow(400.0, Time(8_337_120), Params::default());
    near(flow.window, 625_284.0, 0.1);
    assert_eq!(flow.pace(), Pace { gap: 0.0, window: 150 });
    assert_eq!(flow.shape.target, Time(8_337_120));
    let two = super::tests::flow(400.0, Time(8_337_120), Params { initial: Some(2.5), ..Params::default() });
    assert_eq!(two.pace().window, 2);
}

#[test]
fn the_networks_round_trip_and_the_flows_are_separate() {
    let mut flow = Nscc::new(&Params::default());
    let (rate, base_rtt, longest_rtt) = (Rate::from_bits_per_second(100e9), Time::from_us(6), Time::from_us(12));
    flow.start(&FlowShape { rate, mtu: 4086, header: 64, base_rtt, longest_rtt, hops: 2 });
    near(flow.shape.scale, 1.0, 1e-12);
    near(flow.window, 112_500.0, 1e-6);
    assert_eq!(flow.shape.target, Time::from_us(12));
    // A shorter round trip lowers the flow's, and with it the largest window.
    flow.notice(Time::from_us(5), &Notice::Ack(Ack { covers: 1, rtt: Time::from_us(4), ..Ack::default() }));
    assert_eq!(flow.base_rtt, Time::from_us(4));
    near(flow.window, 75_000.0, 1e-6);
}

#[test]
fn without_marks_the_window_grows_by_the_delay() {
    // The first ACK only starts the clock of quick adapt. The period of eta is not over.
    for (delay, expected) in [(Time(6_252_840), 4_522.0), (Time::from_us(1), 1_583.5)] {
        let mut flow = fast();
        flow.adjusted = Time::from_us(100);
        ack(&mut flow, Time::from_us(101), delay, 0);
        assert_eq!(flow.window, 416_856.0, "eight packets are not more than eight");
        flow.received += 1.0;
        flow.fulfill(Time::from_us(101));
        near(flow.window - 416_856.0, expected, 0.5);
    }
}

#[test]
fn eta_is_added_once_per_round_trip_of_the_network() {
    let mut flow = fast();
    let (target, late) = (flow.shape.target, Time::from_us(20));
    ack(&mut flow, late, target, 0);
    near(flow.window - 416_856.0, 4_522.0 + 1_703.0, 1.0);
    assert_eq!(flow.adjusted, late);
    let before = flow.window;
    ack(&mut flow, late + Time::from_us(8), target, 0);
    assert_eq!(flow.window, before, "neither more than 8 packets nor a round trip");
    ack(&mut flow, late + Time::from_us(8), target, 0);
    near(flow.window - before, 2.0 * 4_522.0 * 416_856.0 / before, 1.0);
}

#[test]
fn a_mark_shrinks_the_window_by_the_mean_delay_and_by_half_at_the_most() {
    for (multiple, factor) in [(2.0, 0.6), (4.0, 0.5), (1.0, 1.0)] {
        let mut flow = fast();
        let (at, target) = (Time::from_us(100), flow.shape.target);
        flow.adjusted = at;
        // The mean, with the ACK's own delay of twice the target, is this multiple of the target.
        flow.delay = (multiple - 0.0125 * 2.0) / (1.0 - 0.0125) * target.as_secs();
        ack(&mut flow, at, target * 2, 1);
        near(flow.window, factor * 416_856.0, 1.0);
    }
}

#[test]
fn a_window_shrinks_once_per_base_round_trip() {
    let mut flow = fast();
    flow.shape.network_rtt = Time::from_ms(1);
    let (at, rtt) = (Time::from_us(100), flow.base_rtt);
    let delay = flow.shape.target * 2;
    let mut window_at = |at: Time| {
        flow.delay = 1.0;
        ack(&mut flow, at, delay, 1);
        flow.window
    };
    assert_eq!(window_at(at), 0.5 * 416_856.0);
    assert_eq!(window_at(at + rtt), 0.5 * 416_856.0);
    assert_eq!(window_at(at + rtt + Time(1)), 0.25 * 416_856.0);
}

#[test]
fn a_mark_below_the_target_changes_nothing_and_a_long_delay_without_a_mark_counts_little() {
    let mut flow = fast();
    flow.adjusted = Time::from_us(100);
    (flow.delay, flow.fast) = (1.0, true);
    ack(&mut flow, Time::from_us(101), Time::from_us(2), 1);
    assert_eq!((flow.window, flow.increase, flow.fast), (416_856.0, 0.0, true));
    flow.delay = 0.0;
    ack(&mut flow, Time::from_us(102), Time::from_us(6), 0);
    near(flow.delay, 0.0125 * 6e-6, 1e-15);
    flow.delay = 0.0;
    ack(&mut flow, Time::from_us(102), Time::from_us(7), 0);
    near(flow.delay, 0.0125 * 0.25 * 8.337_12e-6, 1e-15);
    flow.delay = 0.0;
    ack(&mut flow, Time::from_us(102), Time::from_us(7), 1);
    near(flow.delay, 0.0125 * 7e-6, 1e-15);
}

#[test]
fn with_empty_queues_the_window_grows_fast_after_a_window_of_bytes() {
    let mut flow = fast();
    (flow.window, flow.adjusted) = (60_000.0, Time::from_us(100));
    let at = Time::from_us(101);
    ack(&mut flow, at, Time::ZERO, 0);
    assert_eq!((flow.window, flow.fast), (60_000.0, false));
    let gathered = flow.increase;
    assert!(gathered > 0.0);
    // 66,400 B exceed the window.
    ack(&mut flow, at, Time(999_999), 0);
    let grown = 60_000.0 + 0.25 * flow.shape.scale * 33_200.0;
    near(flow.window, grown + gathered / grown, 0.1);
    assert!(flow.fast && flow.increase == 0.0, "what was gathered before took effect");
    ack(&mut flow, at, EMPTY, 0);
    assert!(!flow.fast && flow.empty == 0.0 && flow.increase > 0.0);
}

#[test]
fn quick_adapt_sets_the_window_to_what_has_arrived() {
    let mut flow = fast();
    let (start, target) = (Time::from_us(100), flow.shape.target);
    let far = target * 4 + Time(1);
    ack(&mut flow, start, far, 1);
    let end = start + flow.base_rtt + target;
    assert_eq!((flow.period_ends, flow.achieved), (Some(end), 0.0), "the first ACK starts the clock");
    let halved = flow.window;
    // 33,200 B are less than an eighth of 625,284 B.
    ack(&mut flow, end, far, 0);
    assert!(flow.window >= halved, "the period is not over");
    flow.achieved = 0.0;
    let late = end + Time(1);
    let rtt = flow.base_rtt + far;
    flow.notice(late, &Notice::Ack(Ack { covers: 8, marked: 1, rtt, in_flight: 20, ..Ack::default() }));
    assert_eq!((flow.window, flow.to_ignore, flow.ignored), (33_200.0, 20.0 * PACKET, 0.0));
    assert_eq!((flow.increase, flow.received, flow.achieved), (0.0, 0.0, 0.0));
    assert_eq!(flow.period_ends, Some(late + flow.base_rtt + target));
    // Marks of the packets in flight are skipped. Other ACKs are not.
    ack(&mut flow, late, far, 1);
    ack(&mut flow, late, far, 1);
    assert_eq!((flow.window, flow.received, flow.ignored), (33_200.0, 0.0, 66_400.0));
    ack(&mut flow, late, target, 0);
    assert!(flow.increase > 0.0 && flow.received == 33_200.0 && flow.ignored > flow.to_ignore);
}

#[test]
fn quick_adapt_leaves_a_flow_alone_that_receives_enough_or_whose_delay_is_moderate() {
    for (achieved, delay, gate) in [(50_000.0, 5, 0.125), (0.0, 4, 0.125), (0.0, 5, 0.0)] {
        let target = Some(Time(6_252_840));
        let mut flow = flow(400.0, Time(8_337_120), Params { target, gate, ..Params::default() });
        flow.period_ends = Some(Time::from_us(50));
        flow.achieved = achieved;
        let delay = flow.shape.target * delay;
        ack(&mut flow, Time::from_us(100), delay, 0);
        near(flow.window, 625_284.0, 0.1);
        assert_eq!(flow.achieved, 0.0, "a new period begins");
    }
}

#[test]
fn a_window_has_at_least_one_packet_and_a_new_flow_begins_again() {
    let mut flow = fast();
    flow.window = 5_000.0;
    flow.delay = 1.0;
    flow.adjusted = Time::from_us(100);
    ack(&mut flow, Time::from_us(100), Time::from_us(20), 1);
    assert_eq!((flow.window, flow.pace().window), (PACKET, 1));
    flow.notice(Time::from_us(101), &Notice::Restart);
    near(flow.window, 625_284.0, 0.1);
    assert_eq!((flow.delay, flow.period_ends), (0.0, None));
}
