//! Tests of binary feedback.

use super::*;

fn packet(in_flight: u32) -> Sent {
    Sent { now: Time::ZERO, bytes: 1, in_flight }
}

/// The windows of a source that always fills them, after each of these ACKs (`1` for a marked one).
fn windows(params: Params, acks: &str) -> Vec<u32> {
    let mut response = BinaryFeedback::new(&params);
    let window = |ack: char| {
        response.notice(Time::ZERO, &Notice::ack(ack == '1'));
        // The ACK releases one packet; a larger window releases more.
        (0..2).for_each(|_| response.sent(&packet(response.pace().window)));
        response.pace().window
    };
    acks.chars().filter(|ack| *ack != ' ').map(window).collect()
}

fn from(initial: f64) -> Params {
    Params { initial, ..Params::default() }
}

#[test]
fn decides_after_the_previous_window_and_the_current_one() {
    // Windows of 1, 2, 3: decisions after 1, 1 + 2, 2 + 3 ACKs.
    assert_eq!(windows(Params::default(), "0 000 00000 0"), [2, 2, 2, 3, 3, 3, 3, 3, 4, 4]);
}

#[test]
fn only_the_last_acks_count_and_half_of_them_decide() {
    // A window of 2 after a window of 1: the first ACK is ignored.
    assert_eq!(windows(Params::default(), "0 100"), [2, 2, 2, 3]);
    assert_eq!(windows(Params::default(), "0 101"), [2, 2, 2, 2], "2 x 0.875 = 1.75, rounded to 2");
    assert_eq!(windows(Params::default(), "0 010"), [2, 2, 2, 2]);
    let strict = Params { cutoff: 0.51, ..Params::default() };
    assert_eq!(windows(strict, "0 010"), [2, 2, 2, 3]);
}

#[test]
fn kept_bits_count_once_more() {
    // Windows of 8 and 7: 8 marked ACKs decide, and after 7 unmarked ones the window still falls.
    let acks = format!("{}{}", "1".repeat(8), "0".repeat(15 + 15));
    let kept = Params { keep_bits: true, ..from(8.0) };
    assert_eq!([7, 22, 37].map(|ack| windows(from(8.0), &acks)[ack]), [7, 8, 9]);
    assert_eq!([7, 22, 35].map(|ack| windows(kept.clone(), &acks)[ack]), [7, 6, 7], "8 of 15, then 0 of 13");
    let wrong = becalm_schema::read::<Params>("decide = \"every_ack\"\nkeep_bits = true", "f.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "f.toml:2: keep_bits = true: needs decide = \"two_windows\"");
}

#[test]
fn a_long_history_dominates_the_decisions() {
    // 8 marked ACKs, then none. With a history of 30 decisions, half of all ACKs so far must be unmarked.
    let acks = format!("{}{}", "1".repeat(8), "0".repeat(200));
    let long = Params { keep_bits: true, history: 30, ..from(8.0) };
    let twice = Params { keep_bits: true, history: 2, ..from(8.0) };
    let grows = |params: Params| windows(params, &acks).windows(2).position(|pair| pair[1] > pair[0]).unwrap();
    let after = [from(8.0), twice, long].map(grows);
    assert!(after[0] < after[1] && after[1] <= after[2], "{after:?}");
    let wrong = becalm_schema::read::<Params>("history = 2", "f.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "f.toml:1: history = 2: needs keep_bits = true");
}

#[test]
fn without_the_check_a_window_that_is_not_filled_grows() {
    let grown = |check_source| {
        let mut response = BinaryFeedback::new(&Params { check_source, ..Params::default() });
        for _ in 0..200 {
            response.sent(&packet(1));
            response.notice(Time::ZERO, &Notice::ack(false));
        }
        response.pace().window
    };
    assert_eq!(grown(true), 2, "one increase, which the source never fills");
    assert!(grown(false) > 10);
}

#[test]
fn single_precision_is_that_of_a_float() {
    let params = Params { arithmetic: Arithmetic::Single, ..Params::default() };
    assert_eq!(params.allowed(14.1), f64::from(14.1_f32));
    assert_ne!(params.allowed(14.1), Params::default().allowed(14.1));
}

/// The windows of a source that always fills them and whose packets return in order. Whether a packet is marked depends
/// on the number of changes so far, the number of packets sent between the last change and the packet itself, and the
/// window.
fn windows_in_a_loop(params: &Params, packets: usize, marked: impl Fn(usize, u32, u32) -> bool) -> Vec<u32> {
    let mut response = BinaryFeedback::new(params);
    let (mut under_way, mut windows, mut sent) = (VecDeque::new(), vec![response.pace().window], 0);
    for _ in 0..packets {
        while under_way.len() < response.pace().window as usize {
            let window = response.pace().window;
            under_way.push_back(marked(windows.len() - 1, sent, window));
            sent += 1;
            response.sent(&packet(under_way.len() as u32));
            if response.pace().window != window {
                windows.push(response.pace().window);
                sent = 0;
            }
        }
        let marked = under_way.pop_front().expect("a window is at least one packet");
        response.notice(Time::ZERO, &Notice::ack(marked));
    }
    windows
}

#[test]
fn looks_at_exactly_the_first_packets_of_the_current_window() {
    let up_and_down = [20, 21, 18, 19, 17, 18, 16, 17];
    // After every other change, exactly the first window's worth of packets is marked; only these packets count.
    let all = Params { cutoff: 1.0, ..from(20.0) };
    let windows = windows_in_a_loop(&all, 300, |change, sent, window| change % 2 == 1 && sent < window);
    assert_eq!(windows[..8], up_and_down);
    // After every other change all packets are marked; after the rest, the packets beyond the first window, which do
    // not count.
    let any = Params { cutoff: 0.001, ..from(20.0) };
    let windows = windows_in_a_loop(&any, 300, |change, sent, window| change % 2 == 1 || sent >= window);
    assert_eq!(windows[..8], up_and_down);
}

#[test]
fn a_change_begins_after_the_packet_that_the_ack_lets_go() {
    let mut response = BinaryFeedback::new(&from(2.0));
    for _ in 0..2 {
        response.sent(&packet(2));
        response.notice(Time::ZERO, &Notice::ack(false));
    }
    assert_eq!(response.pace().window, 2);
    let mut silent = response.clone();
    response.sent(&packet(2));
    assert_eq!(response.pace().window, 3);
    silent.notice(Time::ZERO, &Notice::ack(false));
    assert_eq!(silent.pace().window, 3, "or after that ACK's packet, if none was ready to send");
}

#[test]
fn the_window_is_real_and_rounded_for_use() {
    // 8, then 7, 6.125, 5.359, 4.689: decisions after 8, 8 + 7, 7 + 6, 6 + 5 marked ACKs.
    let windows = windows(from(8.0), &"1".repeat(8 + 15 + 13 + 11));
    assert_eq!([7, 22, 35, 46].map(|ack| windows[ack]), [7, 6, 5, 5]);
}

#[test]
fn never_falls_below_one_packet() {
    assert!(windows(from(3.0), &"1".repeat(100)).ends_with(&[1; 50]));
    let additive = Params { decrease: Decrease::Additive(Additive { by: 5.0 }), ..from(3.0) };
    assert_eq!(windows(additive, "111 1111"), [3, 3, 1, 1, 1, 1, 1]);
}

#[test]
fn decides_at_every_ack_if_reported_to() {
    let params = Params { decide: Decide::EveryAck, ..from(4.0) };
    // 5, 6, 5.25, 4.59, 5.59
    assert_eq!(windows(params.clone(), "00110"), [5, 6, 5, 5, 6]);
    let mut response = BinaryFeedback::new(&params);
    response.notice(Time::ZERO, &Notice::ack(false));
    assert_eq!(response.pace().window, 5, "at once");
}

#[test]
fn integers_are_cut() {
    // The example of section 5.4 with a factor of 0.8: 10 and 6 fall to 8 and 4.
    let params = |initial| Params {
        arithmetic: Arithmetic::Integer,
        decrease: Decrease::Multiplicative(Multiplicative { factor: 0.8 }),
        ..from(initial)
    };
    assert_eq!(windows(params(10.0), &"1".repeat(10))[9], 8);
    assert_eq!(windows(params(6.0), &"1".repeat(6))[5], 4);
}

#[test]
fn grows_no_more_until_it_has_been_filled() {
    let mut response = BinaryFeedback::new(&from(4.0));
    let mut acks = |in_flight: u32, n: u32| {
        for _ in 0..n {
            response.notice(Time::ZERO, &Notice::ack(false));
            response.sent(&packet(in_flight));
        }
        response.pace().window
    };
    assert_eq!(acks(3, 4), 5, "there was no increase that could have been used");
    assert_eq!(acks(4, 9), 5, "4 + 5 ACKs, never 5 under way");
    assert_eq!(acks(4, 10), 5);
    assert_eq!(acks(5, 10), 6);
}

#[test]
fn keeps_to_the_largest_window() {
    let params = Params { largest: Window(3), ..from(2.0) };
    assert_eq!(windows(params, &"0".repeat(50))[49], 3);
    let wrong = becalm_schema::read::<Params>("largest = 3\ninitial = 4", "f.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "f.toml:2: initial = 4: must be at most largest = 3");
}
