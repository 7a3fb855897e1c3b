//! Traces computed by hand, presets, and limits.

use super::*;
use becalm_fabric::Rate;
use becalm_schema::read;
use proptest::prelude::*;

const CNP: Notice = Notice::Becn;
const CALM: Notice = Notice::ack(false);

/// Keys with convenient numbers at 8 Gb/s: steps of 1/16 and 1/8 of the link.
const BY_HAND: &str = r#"
    g = 0.25
    alpha_timer = "10 us"
    increase_timer = "20 us"
    byte_counter = 10000
    fast_recovery = 2
    additive_increase = 500
    hyper_increase = 1000
    min_rate = 500
"#;

fn flow(text: &str) -> Dcqcn {
    let mut flow = Dcqcn::new(&read(text, "f.toml").unwrap_or_else(|wrong| panic!("{wrong}")));
    let rate = Rate::from_bits_per_second(8e9);
    flow.start(&FlowShape {
        rate,
        mtu: 1000,
        header: 0,
        base_rtt: Time::from_us(4),
        longest_rtt: Time::from_us(4),
        hops: 2,
    });
    flow
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn send(flow: &mut Dcqcn, us: u64, bytes: u32) {
    flow.sent(&Sent { now: Time::from_us(us), bytes, in_flight: 1 });
}

fn is_at(flow: &Dcqcn, (rate, target, alpha): (f64, f64, f64), deadline: Option<u64>, what: &str) {
    let (r, t, a) = flow.state();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(near(r, rate) && near(t, target) && near(a, alpha), "{what}: {r} {t} {a}, not {rate} {target} {alpha}");
    assert_eq!(flow.deadline(), deadline.map(us), "{what}");
}

#[test]
fn twelve_events_by_hand() {
    let flow = &mut flow(BY_HAND);
    is_at(flow, (1.0, 1.0, 1.0), None, "at the link rate, no timer runs");
    flow.notice(us(5), &CNP);
    is_at(flow, (0.5, 1.0, 1.0), Some(25), "1: cut by alpha / 2 = 1/2");
    flow.notice(us(12), &CNP);
    is_at(flow, (0.25, 0.5, 1.0), Some(32), "2: the target is the previous rate; the timer restarts");
    flow.notice(us(32), &Notice::Timer);
    is_at(flow, (0.375, 0.5, 1.0), Some(52), "3: stage 1 of the timer, fast recovery: halfway to the target");
    flow.notice(us(52), &Notice::Timer);
    is_at(flow, (0.46875, 0.5625, 1.0), Some(72), "4: stage 2, additive: the target grows by 1/16");
    send(flow, 60, 10_000);
    is_at(flow, (0.546875, 0.625, 1.0), Some(72), "5: stage 1 of the byte counter, additive");
    flow.notice(us(72), &Notice::Timer);
    is_at(flow, (0.6171875, 0.6875, 1.0), Some(92), "6: stage 3 of the timer, additive: the counter is at 1");
    send(flow, 80, 9_999);
    send(flow, 81, 1);
    is_at(flow, (0.68359375, 0.75, 1.0), Some(92), "7: stage 2 of the counter, still additive: not above 2");
    send(flow, 82, 10_000);
    is_at(flow, (0.779296875, 0.875, 1.0), Some(92), "8: stage 3 of both, hyper: the target grows by 1/8");
    flow.notice(us(92), &Notice::Timer);
    is_at(flow, (0.8896484375, 1.0, 1.0), Some(112), "9: stage 4 and 3, hyper");
    flow.notice(us(100), &CNP);
    // Alpha has fallen 8 times since 12 us: 0.75^8 = 6561 / 65536; then it changes to 0.75 alpha + 0.25.
    let (alpha, rate) = (6561.0 / 65536.0, 0.8896484375);
    let (cut, next) = (rate * (1.0 - alpha / 2.0), 0.75 * alpha + 0.25);
    is_at(flow, (cut, rate, next), Some(120), "10: the rate is cut by the fallen alpha before alpha moves up");
    flow.notice(us(120), &Notice::Timer);
    is_at(flow, ((cut + rate) / 2.0, rate, next), Some(140), "11: fast recovery, stages count from 0 again");
    flow.notice(us(125), &CALM);
    is_at(flow, ((cut + rate) / 2.0, rate, next), Some(140), "12: an ACK without a mark changes nothing");
    assert!((flow.pace().gap - (2.0 / (cut + rate) - 1.0)).abs() < 1e-12);
}

#[test]
fn the_way_back_ends_at_the_rate_of_the_link() {
    let flow = &mut flow("additive_increase = 8000");
    flow.notice(us(10), &CNP);
    let mut timers = 0;
    while let Some(deadline) = flow.deadline() {
        flow.notice(deadline, &Notice::Timer);
        timers += 1;
    }
    // Half, a quarter, ... of the link rate are missing after each stage; 2^-20 is below a millionth.
    assert_eq!((flow.pace().gap, timers), (0.0, 19));
    send(flow, 5_000, 4_000_000);
    assert_eq!((flow.bytes, flow.deadline()), (0, None), "nothing is counted");
}

#[test]
fn a_rate_never_falls_below_the_least() {
    let flow = &mut flow(BY_HAND);
    for i in 0..20 {
        flow.notice(us(5 + i), &CNP);
    }
    assert_eq!(flow.pace().gap, 15.0, "500 Mb/s of 8 Gb/s");
}

#[test]
fn cuts_keep_their_distance_and_the_last_one_is_not_lost() {
    let flow = &mut flow(&format!("{BY_HAND}\ncut_interval = \"4 us\""));
    flow.notice(us(10), &CNP);
    is_at(flow, (0.5, 1.0, 1.0), Some(30), "the first cut");
    flow.notice(us(12), &CNP);
    flow.notice(us(13), &CNP);
    is_at(flow, (0.5, 1.0, 1.0), Some(14), "two CNPs wait together");
    flow.notice(us(14), &Notice::Timer);
    is_at(flow, (0.25, 0.5, 1.0), Some(34), "for one cut");
    flow.notice(us(18), &CNP);
    is_at(flow, (0.125, 0.25, 1.0), Some(38), "immediately after the interval");
}

#[test]
fn without_a_byte_counter_the_timer_counts_for_both() {
    let flow = &mut flow(&BY_HAND.replacen("byte_counter = 10000", "byte_counter = 0", 1));
    flow.notice(us(10), &CNP);
    send(flow, 11, 1_000_000);
    is_at(flow, (0.5, 1.0, 1.0), Some(30), "bytes do not raise the rate");
    flow.notice(us(11), &CNP);
    flow.notice(us(31), &Notice::Timer);
    is_at(flow, (0.375, 0.5, 1.0), Some(51), "fast recovery");
    flow.notice(us(51), &Notice::Timer);
    is_at(flow, (0.46875, 0.5625, 1.0), Some(71), "the second stage: additive");
    flow.notice(us(71), &Notice::Timer);
    is_at(flow, (0.578125, 0.6875, 1.0), Some(91), "the third stage: hyper");
}

#[test]
fn without_a_clamp_only_the_first_cut_after_an_increase_sets_the_target() {
    let flow = &mut flow(&format!("{BY_HAND}\nclamp_target = false"));
    flow.notice(us(10), &CNP);
    flow.notice(us(11), &CNP);
    is_at(flow, (0.25, 1.0, 1.0), Some(31), "the target of the first cut stays");
    flow.notice(us(31), &Notice::Timer);
    flow.notice(us(32), &CNP);
    is_at(flow, (0.625 * (1.0 - 0.75f64.powi(2) / 2.0), 0.625, 0.75f64.powi(3) + 0.25), Some(52), "raised in between");
}

/// The ratio of the rates after and before a cut if CNPs arrive at this interval, with g = 0.05 and this initial alpha.
fn steady_cut(nanoseconds: u64, alpha: f64) -> f64 {
    let text = format!(
        "preset = \"connectx\"\ninitial_alpha = {alpha}\ng = 0.05\nmin_decrease_factor = 0\nmin_rate = 0.001\nincrease_timer = \"1 s\""
    );
    let flow = &mut flow(&format!("{text}\nbyte_counter = 4000000000"));
    let (mut before, mut now) = (1.0, Time::ZERO);
    loop {
        while let Some(deadline) = flow.deadline().filter(|&deadline| deadline <= now) {
            let rate = flow.state().0;
            flow.notice(deadline, &Notice::Timer);
            if flow.state().0 < rate {
                before = flow.state().0 / rate;
            }
        }
        if now > us(80) {
            return before;
        }
        let rate = flow.state().0;
        flow.notice(now, &CNP);
        if flow.state().0 < rate {
            before = flow.state().0 / rate;
        }
        now += Time::from_ns(nanoseconds);
    }
}

#[test]
fn by_periods_alpha_counts_those_with_a_cnp() {
    // One period of four: alpha = 0.05 0.95^3 / (1 - 0.95^4) at the end of each interval.
    let seldom = steady_cut(4_000, 0.25);
    assert!((seldom - 0.8844).abs() < 1e-3, "{seldom}");
    let all = [1_000, 100].map(|nanoseconds| steady_cut(nanoseconds, 1.0));
    assert!(all.iter().all(|cut| (cut - 0.5).abs() < 1e-3), "{all:?}");
    let alike = Params { periodic: Some(false), ..read("preset = \"connectx\"", "f.toml").unwrap() };
    assert!(!alike.values().periodic);
}

#[test]
fn by_periods_the_first_cut_comes_an_interval_later() {
    let keys = "initial_alpha = 1\nperiodic = true\ncut_interval = \"4 us\"\nalpha_timer = \"1 s\"";
    let text = format!("{}\n{keys}", BY_HAND.replace("alpha_timer = \"10 us\"", ""));
    let flow = &mut flow(&text);
    flow.notice(us(10), &CNP);
    is_at(flow, (1.0, 1.0, 1.0), Some(14), "the first CNP cuts nothing yet");
    flow.notice(us(14), &Notice::Timer);
    is_at(flow, (0.5, 1.0, 1.0), Some(34), "at the end of the interval");
    flow.notice(us(21), &CNP);
    assert_eq!(flow.deadline(), Some(us(22)), "intervals are counted from the first CNP");
}

#[test]
fn by_periods_a_stage_that_ends_with_an_interval_raises_before_the_cut() {
    let keys = "initial_alpha = 1\nperiodic = true\ncut_interval = \"4 us\"\nalpha_timer = \"1 s\"";
    let flow = &mut flow(&format!("{}\n{keys}", BY_HAND.replace("alpha_timer = \"10 us\"", "")));
    flow.notice(us(10), &CNP);
    flow.notice(us(14), &Notice::Timer);
    flow.notice(us(31), &CNP);
    is_at(flow, (0.5, 1.0, 1.0), Some(34), "both the timer and the interval end at 34 us");
    flow.notice(us(34), &Notice::Timer);
    is_at(flow, (0.375, 0.75, 1.0), Some(54), "to 3/4, and cut to half of it; the timer restarts");
}

#[test]
fn keys_of_adapters_set_rates_divisors_and_clamps() {
    let first = &mut flow(&format!("{BY_HAND}\nrate_on_first_cnp = 4000\ninitial_alpha = 0.5"));
    first.notice(us(10), &CNP);
    assert_eq!(first.state().0, 0.5 * 0.75, "half of the link, cut by alpha / 2");
    let divided = &mut flow(&format!("{BY_HAND}\ndecrease_divisor = 4"));
    divided.notice(us(10), &CNP);
    assert_eq!(divided.state().0, 0.75);
    let capped = &mut flow(&format!("{BY_HAND}\nmax_rate = 4000"));
    assert_eq!(capped.pace().gap, 1.0, "half of 8 Gb/s");
    capped.notice(us(10), &CNP);
    while let Some(deadline) = capped.deadline() {
        capped.notice(deadline, &Notice::Timer);
    }
    assert_eq!(capped.state().0, 0.5);
    let clamps = |keys: &str| {
        let flow = &mut flow(&format!("{BY_HAND}\nclamp_target = false\n{keys}"));
        flow.notice(us(10), &CNP);
        flow.notice(us(30), &Notice::Timer);
        flow.notice(us(31), &CNP);
        flow.state().1
    };
    assert_eq!((clamps(""), clamps("clamp_after_timer = false")), (0.75, 1.0), "raised by the timer in between");
}

#[test]
fn one_cut_is_bounded() {
    let flow = &mut flow(&format!("{BY_HAND}\nmin_decrease_factor = 0.875"));
    flow.notice(us(10), &CNP);
    assert_eq!(flow.state().0, 0.875);
}

#[test]
fn presets_are_tables_of_values() {
    let values = |text: &str| read::<Params>(text, "f.toml").unwrap().values();
    assert_eq!(values(""), Preset::Paper.values());
    assert_eq!(values("preset = \"connectx\""), Preset::ConnectX.values());
    let own = values("preset = \"connectx\"\nincrease_timer = \"55 us\"\nadditive_increase = 20");
    let expected = Values { increase_timer: us(55), additive_increase: Some(20.0), ..Preset::ConnectX.values() };
    assert_eq!(own, expected);
    let steps = |text: &str| (flow(text).additive, flow(text).hyper, flow(text).min);
    assert_eq!(steps(""), (1e-3, 1e-2, 1.0 / 80.0), "of a link of 8 Gb/s");
    assert_eq!(steps("preset = \"connectx\""), (1.0 / 1600.0, 1.0 / 160.0, 1.0 / 8000.0));
}

#[test]
fn a_flow_that_begins_again_has_the_steps_of_its_link() {
    let flow = &mut flow(BY_HAND);
    flow.notice(us(5), &CNP);
    flow.notice(us(8), &Notice::Restart);
    is_at(flow, (1.0, 1.0, 1.0), None, "the initial state");
    assert_eq!((flow.additive, flow.hyper, flow.min), (1.0 / 16.0, 1.0 / 8.0, 1.0 / 16.0));
}

proptest! {
    #[test]
    fn it_does_not_matter_whether_the_timer_is_heard_in_time(
        steps in prop::collection::vec((0..40_000_u64, any::<bool>()), 1..100),
        interval in 0..20_u64,
        periodic: bool,
    ) {
        let text = format!("{BY_HAND}\ncut_interval = \"{interval} us\"\nperiodic = {periodic}");
        let (mut prompt, mut late, mut now) = (flow(&text), flow(&text), Time::ZERO);
        for (span, marked) in steps {
            now += Time::from_ns(span);
            while let Some(deadline) = prompt.deadline().filter(|deadline| *deadline <= now) {
                prompt.notice(deadline, &Notice::Timer);
            }
            prompt.notice(now, &Notice::ack(marked));
            late.notice(now, &Notice::ack(marked));
            prop_assert_eq!((prompt.state(), prompt.deadline()), (late.state(), late.deadline()));
            let (rate, target, alpha) = prompt.state();
            prop_assert!((1.0 / 16.0..=target).contains(&rate) && target <= 1.0 && (0.0..=1.0).contains(&alpha));
        }
    }
}
