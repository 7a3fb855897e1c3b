//! Response functions against their closed forms and their design conditions
//! (Santos 2003, section V-A).

use becalm_control::response::{Law, RateControl, Settings, aimd, fimd, increase_curve, lipd, recovery_time};
use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Response};

const RMIN: f64 = 1.0 / 256.0;

fn laws() -> Vec<(&'static str, Box<dyn Law>)> {
    vec![
        ("lipd", Box::new(lipd::Params::default())),
        ("fimd", Box::new(fimd::Params::default())),
        ("aimd", Box::new(aimd::Params::default())),
        ("lipd, half the link", Box::new(lipd::Params { rmax: 0.5, ..lipd::Params::default() })),
        ("fimd, m = 3", Box::new(fimd::Params { m: 3.0, ..fimd::Params::default() })),
        ("aimd, m = 1.5", Box::new(aimd::Params { m: 1.5, ..aimd::Params::default() })),
    ]
}

/// Rates from `from` to `to` in geometric steps.
fn rates(from: f64, to: f64) -> impl Iterator<Item = f64> {
    (0..=400).map(move |i| from * (to / from).powf(f64::from(i) / 400.0))
}

/// Rate above which a decrease is not limited by rmin.
fn lowest_free(law: &dyn Law) -> f64 {
    let Settings { rmin, rmax, .. } = law.settings();
    rates(rmin, rmax).find(|r| law.decrease(*r) >= rmin).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn an_increase_is_the_growth_until_the_next_ack() {
    for (name, law) in laws() {
        for r in rates(RMIN, law.settings().rmax * 0.99) {
            assert!(near(law.increase(r), law.grown(r, 1.0 / r)), "{name} at {r}");
        }
    }
}

#[test]
fn growth_does_not_depend_on_where_it_began() {
    for (name, law) in laws() {
        let rmax = law.settings().rmax;
        for r in rates(RMIN, rmax) {
            let time = law.growth_time(RMIN, r);
            assert!(near(law.grown(RMIN, time), r), "{name} at {r}");
            assert!(near(increase_curve(law.as_ref(), time), r), "{name} at {r}");
        }
        assert_eq!(increase_curve(law.as_ref(), 0.0), RMIN);
        assert_eq!(increase_curve(law.as_ref(), 1e9), rmax);
    }
}

#[test]
fn ack_by_ack_the_rate_stays_close_under_the_curve() {
    for (name, law) in laws() {
        let rmax = law.settings().rmax;
        let (mut rate, mut time) = (RMIN, 0.0);
        while rate < 0.9 * rmax {
            time += 1.0 / rate;
            rate = law.increase(rate).min(rmax);
            // Each increase is exact for the time of its step, so the steps follow the curve.
            assert!((rate / increase_curve(law.as_ref(), time) - 1.0).abs() < 1e-6, "{name} at {time}: {rate}");
        }
    }
}

#[test]
fn condition_1_an_increase_regains_no_more_than_a_decrease_took() {
    for (name, law) in laws() {
        for r in rates(lowest_free(law.as_ref()), law.settings().rmax) {
            assert!(law.increase(law.decrease(r)) <= r * (1.0 + 1e-12), "{name} at {r}");
        }
    }
}

#[test]
fn condition_2_a_slower_flow_recovers_no_later() {
    for (name, law) in laws() {
        let times: Vec<f64> = rates(RMIN * 1.01, law.settings().rmax).map(|r| recovery_time(law.as_ref(), r)).collect();
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)), "{name}");
    }
}

#[test]
fn condition_3_recovery_takes_one_packet_interval_at_rmin_except_with_aimd() {
    for (name, law) in laws() {
        let rmax = law.settings().rmax;
        let from = lowest_free(law.as_ref());
        let constant = rates(from, rmax).all(|r| near(recovery_time(law.as_ref(), r), 1.0 / RMIN));
        assert_eq!(constant, !name.starts_with("aimd"), "{name}");
    }
    let aimd = aimd::Params::default();
    assert!(near(recovery_time(&aimd, 1.0), 128.0 / RMIN));
}

#[test]
fn the_paper_s_times_from_slowest_to_fastest() {
    // 2048 B at 1 GB/s.
    let packet_time = 2.048e-6;
    let full = |law: &dyn Law| law.growth_time(RMIN, 1.0) * packet_time * 1e3;
    assert!((full(&fimd::Params::default()) - 4.2).abs() < 0.05);
    assert!((full(&lipd::Params::default()) - 133.7).abs() < 0.05);
    assert!((full(&aimd::Params::default()) - 133.7).abs() < 0.05);
}

/// Mean rate of a flow whose ACKs are marked while it exceeds `share`.
fn mean_rate<L: Law + Clone>(law: &L, share: f64) -> f64 {
    let mut flow = RateControl::new(law);
    let mut time = 0.0;
    let packets = 100_000_u32;
    for _ in 0..packets {
        flow.notice(Time::ZERO, &Notice::ack(flow.rate() > share));
        time += 1.0 + flow.pace().gap;
    }
    f64::from(packets) / time
}

#[test]
fn discrete_rates_share_a_link_nearly_as_continuous_ones_do() {
    let (lipd, fimd, aimd) = (lipd::Params::default(), fimd::Params::default(), aimd::Params::default());
    for flows in [5, 10, 20, 40] {
        let share = 1.0 / f64::from(flows);
        let ratios = [
            mean_rate(&lipd::Params { discrete: true, ..lipd.clone() }, share) / mean_rate(&lipd, share),
            mean_rate(&fimd::Params { discrete: true, ..fimd.clone() }, share) / mean_rate(&fimd, share),
            mean_rate(&aimd::Params { discrete: true, ..aimd.clone() }, share) / mean_rate(&aimd, share),
        ];
        assert!(ratios.iter().all(|ratio| (0.9..1.15).contains(ratio)), "{flows} flows: {ratios:?}");
    }
}

#[test]
fn a_pause_matters_only_to_a_flow_that_does_not_persist() {
    for discrete in [false, true] {
        for persistent in [false, true] {
            let params = lipd::Params { persistent, discrete, initial: Some(0.5), ..lipd::Params::default() };
            let mut flow = RateControl::new(&params);
            assert_eq!(flow.rate(), 0.5);
            flow.notice(Time::ZERO, &Notice::ack(true));
            let slow = flow.rate();
            assert!(near(slow, 1.0 / 3.0));
            flow.notice(Time::ZERO, &Notice::Restart);
            assert_eq!(flow.rate(), if persistent { slow } else { 0.5 });
        }
    }
}
