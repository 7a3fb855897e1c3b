//! Windows and shares computed by hand.

use super::*;
use becalm_fabric::Rate;
use becalm_schema::read;

fn flow(text: &str) -> Dctcp {
    let mut flow = Dctcp::new(&read(text, "f.toml").unwrap_or_else(|wrong| panic!("{wrong}")));
    let rate = Rate::from_bits_per_second(10e9);
    flow.start(&FlowShape {
        rate,
        mtu: 1460,
        header: 40,
        base_rtt: Time::from_us(30),
        longest_rtt: Time::from_us(30),
        hops: 2,
    });
    flow
}

/// Handles an ACK up to a packet, with the number of the next packet to send.
fn ack(flow: &mut Dctcp, sequence: u32, next: u32, covers: u32, marked: u32) {
    let ack = Ack { sequence, next, covers, marked, ..Ack::default() };
    flow.notice(Time::ZERO, &Notice::Ack(ack));
}

fn is_at(flow: &Dctcp, window: f64, alpha: f64, what: &str) {
    let (w, a) = flow.state();
    assert!((w - window).abs() < 1e-12 && (a - alpha).abs() < 1e-12, "{what}: {w} {a}, not {window} {alpha}");
    assert_eq!(flow.pace(), Pace { gap: 0.0, window: window as u32 }, "{what}");
}

#[test]
fn a_flow_begins_with_the_bandwidth_delay_product() {
    // 10 Gb/s for 30 us are 25 packets of 1500 B.
    is_at(&flow(""), 25.0, 1.0, "by default");
    is_at(&flow("initial = 2.5"), 2.5, 1.0, "as set");
    is_at(&flow("largest = 10"), 10.0, 1.0, "at most the largest");
}

#[test]
fn three_windows_by_hand() {
    let flow = &mut flow("initial = 4\ng = 0.5\ninitial_alpha = 0");
    // The first ACK ends an empty count: F = 0 of 1.
    ack(flow, 0, 4, 1, 0);
    is_at(flow, 4.25, 0.0, "an ACK without a mark adds 1 / 4");
    ack(flow, 1, 5, 1, 1);
    is_at(flow, 4.25, 0.0, "the first cut is alpha / 2 = 0; packets up to 4 were in flight");
    ack(flow, 3, 7, 2, 2);
    is_at(flow, 4.25, 0.0, "no further cut for these");
    ack(flow, 4, 8, 1, 0);
    let (window, alpha) = (4.25, 0.5 * 0.75);
    is_at(
        flow,
        window,
        alpha,
        "packet 4 ends the count: 3 of 4 were marked; it was in flight at the cut, and adds nothing",
    );
    ack(flow, 5, 9, 1, 1);
    let cut = window * (1.0 - alpha / 2.0);
    is_at(flow, cut, alpha, "packet 5 was sent after the last cut, up to 8 in flight");
    ack(flow, 6, 9, 1, 1);
    ack(flow, 7, 10, 1, 1);
    is_at(flow, cut, alpha, "one cut in a window");
    ack(flow, 8, 11, 1, 1);
    is_at(flow, cut, 0.5 * alpha + 0.5, "packet 8 ends the count: all 4 were marked, and no cut before packet 9");
    ack(flow, 9, 12, 1, 1);
    is_at(flow, cut * (1.0 - (0.5 * alpha + 0.5) / 2.0), 0.5 * alpha + 0.5, "the next cut");
}

#[test]
fn acks_for_several_packets_count_their_marks() {
    let shares = |covers: u32| {
        let mut flow = flow("initial = 8\ninitial_alpha = 1");
        ack(&mut flow, 0, 8, 1, 0);
        // A quarter of the packets in every ACK are marked.
        (1..=8 / covers).for_each(|i| ack(&mut flow, i * covers, 8 + i * covers, covers, covers / 4));
        flow.state().1
    };
    assert_eq!(shares(4), shares(8));
}

#[test]
fn slow_start_ends_with_the_first_mark() {
    let flow = &mut flow("initial = 1\nslow_start = true\nlargest = 100\ninitial_alpha = 0");
    ack(flow, 0, 1, 1, 0);
    ack(flow, 2, 3, 2, 0);
    is_at(flow, 4.0, 0.0, "every packet adds one");
    ack(flow, 3, 7, 1, 1);
    let (_, alpha) = flow.state();
    let window = 4.0 * (1.0 - alpha / 2.0);
    ack(flow, 6, 7, 1, 0);
    is_at(flow, window, alpha, "none while packets from the cut are still in flight");
    ack(flow, 7, 8, 1, 0);
    let (_, alpha) = flow.state();
    is_at(flow, window + 1.0 / window, alpha, "then one per window");
}

#[test]
fn a_window_never_falls_below_one_packet() {
    let flow = &mut flow("initial = 1.5\ninitial_alpha = 1\ng = 1");
    (0..9).for_each(|i| ack(flow, i, i + 1, 1, 1));
    is_at(flow, 1.0, 1.0, "all marked");
    flow.notice(Time::ZERO, &Notice::Restart);
    is_at(flow, 1.5, 1.0, "a new flow starts like the first");
}

#[test]
fn a_cnp_counts_as_a_marked_packet() {
    let flow = &mut flow("initial = 8\ninitial_alpha = 0.5\ng = 0.5");
    ack(flow, 0, 8, 1, 0);
    let (window, alpha) = flow.state();
    // Packet 0 was not in flight at an earlier cut; packets up to 7 are in flight now.
    flow.notice(Time::ZERO, &Notice::Becn);
    is_at(flow, window * (1.0 - alpha / 2.0), alpha, "it cuts");
    flow.notice(Time::ZERO, &Notice::Becn);
    is_at(flow, window * (1.0 - alpha / 2.0), alpha, "once per window");
}

#[test]
fn refuses_an_initial_window_above_the_largest() {
    let wrong = read::<Params>("initial = 20\nlargest = 10", "f.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "f.toml:1: initial = 20: must be at most largest = 10");
}
