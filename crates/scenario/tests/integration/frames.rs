//! Frames and spans agree with snapshots and shares of roles, and do not affect the run.

use becalm_metrics::Data;
use becalm_metrics::frames::byte;
use becalm_metrics::tree::Role;
use becalm_scenario::{Results, Scenario};

use crate::scenes::{names, numbers, run, table};

const FAN_IN: &str = r#"
    [run]
    duration = "2 ms"
    warmup = "300 us"
    [topology.dumbbell]
    remote = 2
    local = 2
    [switch]
    vls = 2
    sl_to_vl = [0, 1]
    [marking.ibta]
    [[flows]]
    name = "hot"
    from = ["A1..A2", "B1..B2"]
    to = ["BC"]
    start = "100 us"
    [[flows]]
    name = "other"
    sl = 1
    from = ["AV"]
    to = ["BV"]
    traffic.poisson.load = 0.5
    [observe]
"#;

fn rows(results: &Results, column: &str) -> Vec<Vec<u8>> {
    match table(results, "frames").column(column).unwrap() {
        Data::Bytes(rows) => rows.clone(),
        _ => panic!("{column} holds no bytes"),
    }
}

#[test]
fn frames_are_snapshots_in_bytes() {
    let times = "snapshots = [\"400 us\", \"800 us\", \"1.2 ms\", \"1.6 ms\", \"2 ms\"]\nframes = \"400 us\"";
    let results = run(&format!("{FAN_IN}{times}"));
    let (occupancy, roles) = (numbers(&results, "snapshots", "occupancy"), names(&results, "snapshots", "role"));
    let (bytes, kinds) = (rows(&results, "occupancy"), rows(&results, "role"));
    let links = table(&results, "links").rows();
    assert_eq!((bytes.len(), bytes[0].len()), (5 * 2, links));
    let role = |name: &str| [Role::Calm, Role::Root, Role::Branch].into_iter().find(|role| role.name() == name);
    for (at, (&share, name)) in occupancy.iter().zip(&roles).enumerate() {
        // Snapshots are ordered by time, link and lane, and frames by time, lane and link.
        let (frame, link) = (at / (2 * links) * 2 + at % 2, at / 2 % links);
        assert_eq!((bytes[frame][link], Some(kinds[frame][link])), (byte(share), role(name).map(|role| role as u8)));
    }
    assert!(kinds.iter().flatten().any(|&kind| kind == Role::Root as u8));
}

#[test]
fn what_frames_count_adds_up_to_the_tables() {
    let results = run(&format!("{FAN_IN}frames = \"100 us\""));
    let whole = |column: &str, from: usize| {
        let rows = rows(&results, column);
        let frames: Vec<_> = rows.into_iter().step_by(2).skip(from).collect();
        let sum = |link: usize| frames.iter().map(|row| f64::from(row[link])).sum::<f64>();
        (0..frames[0].len()).map(|link| sum(link) / 255.0 / frames.len() as f64).collect::<Vec<_>>()
    };
    // Three frames end within the warm-up.
    for (column, measured) in [("busy", "utilization"), ("stalled", "stalled_share")] {
        let measured = numbers(&results, "links", measured);
        assert!(measured.iter().any(|&share| share > 0.3));
        for (mean, measured) in whole(column, 3).iter().zip(&measured) {
            assert!((mean - measured).abs() < 0.02, "{column}: {mean} and {measured}");
        }
    }
    assert!(whole("stalled", 0).iter().any(|&share| share > 0.0));
    assert!(whole("marked", 0).iter().any(|&share| share > 0.1));
    let (groups, rates) = (names(&results, "frames_groups", "group"), numbers(&results, "frames_groups", "rate"));
    let hot = groups.iter().zip(&rates).filter(|(group, _)| *group == "hot").skip(3).map(|(_, rate)| rate / 17.0);
    assert!((hot.sum::<f64>() / numbers(&results, "groups", "rate")[0] - 1.0).abs() < 1e-9);
}

#[test]
fn spans_add_up_to_the_shares_of_roles() {
    let results = run(&format!("{FAN_IN}spans = true"));
    let keys = |name: &str| {
        let (from, ports, vl) =
            (names(&results, name, "from"), numbers(&results, name, "from_port"), numbers(&results, name, "vl"));
        from.into_iter().zip(ports).zip(vl).collect::<Vec<_>>()
    };
    let (spans, lanes, roles) = (keys("spans"), keys("tree"), names(&results, "spans", "role"));
    let (begin, end) = (numbers(&results, "spans", "begin"), numbers(&results, "spans", "end"));
    for role in ["root", "branch"] {
        let shares = numbers(&results, "tree", &format!("{role}_share"));
        assert!(shares.iter().any(|&share| share > 0.5));
        for (lane, share) in lanes.iter().zip(shares) {
            let own = (0..spans.len()).filter(|&i| spans[i] == *lane && roles[i] == role);
            let sum: f64 = own.map(|i| (end[i] - begin[i].max(300e-6)).max(0.0)).sum();
            assert!((sum / 1.7e-3 - share).abs() < 1e-9, "{lane:?} {role}: {sum} and {share}");
        }
    }
}

#[test]
fn watching_changes_nothing_with_any_number_of_threads() {
    let watched = |more: &str, threads| {
        let scenario = Scenario::parse(&format!("{FAN_IN}{more}"), "watched.toml").unwrap();
        scenario.run(0, threads, &mut |_| true).unwrap()
    };
    let (plain, one) = (watched("", 1), watched("frames = \"30 us\"\nspans = true", 1));
    assert_eq!(plain.fingerprint, one.fingerprint);
    for table in &plain.tables {
        let same = one.tables.iter().find(|other| other.name == table.name).unwrap();
        assert_eq!(format!("{table:?}"), format!("{same:?}"), "{}", table.name);
    }
    let two = watched("frames = \"30 us\"\nspans = true", 2);
    assert_eq!(format!("{:?}", two.tables), format!("{:?}", one.tables));
}

/// A run that ends long before its duration.
fn short(end: &str, kib: u32) -> Results {
    run(&format!(
        r#"
        [run]
        duration = "1 s"
        end = "{end}"
        [topology.clos]
        leaves = 2
        spines = 1
        hosts_per_leaf = 2
        [[jobs]]
        name = "both"
        hosts = ["H0", "H3"]
        collective.all_reduce = {{algorithm = "ring", bytes = "{kib} KiB"}}
        [observe]
        links = []
        frames = "auto"
        "#
    ))
}

fn check_equal_intervals(results: &Results) -> usize {
    let times = numbers(results, "frames", "time");
    assert!((50..=100).contains(&times.len()), "{} frames until {}", times.len(), results.end);
    assert_eq!(times.last(), Some(&results.end.as_secs()));
    for (number, time) in (1..).zip(&times[..times.len() - 1]) {
        assert!((time / (f64::from(number) * times[0]) - 1.0).abs() < 1e-9, "frame {number} at {time}");
    }
    times.len()
}

#[test]
fn enough_frames_cover_a_run_whenever_it_ends() {
    for end in ["jobs", "delivered"] {
        for kib in [256, 1024, 1500, 20_000] {
            check_equal_intervals(&short(end, kib));
        }
    }
    // The last frame may be the one that is merged next.
    let counts: Vec<usize> = (150..250).map(|kib| check_equal_intervals(&short("jobs", kib))).collect();
    assert!(counts.contains(&100) && counts.contains(&51), "{counts:?}");
    let whole = run(&format!("{FAN_IN}frames = \"auto\""));
    let times = numbers(&whole, "frames", "time");
    assert!((100..=200).contains(&times.len()) && times.last() == Some(&2e-3), "{} lanes of frames", times.len());
}

#[test]
fn merged_frames_add_up_to_the_tables() {
    let results = short("jobs", 1024);
    let (times, busy) = (numbers(&results, "frames", "time"), rows(&results, "busy"));
    let passed = |frame: usize| times[frame] - if frame > 0 { times[frame - 1] } else { 0.0 };
    let utilization = numbers(&results, "links", "utilization");
    assert!(utilization.iter().any(|&share| share > 0.5));
    for (link, measured) in utilization.iter().enumerate() {
        let sent = (0..times.len()).map(|frame| f64::from(busy[frame][link]) / 255.0 * passed(frame)).sum::<f64>();
        let mean = sent / results.end.as_secs();
        assert!((mean - measured).abs() < 0.01, "{mean} and {measured}");
    }
    let rates = numbers(&results, "frames_groups", "rate");
    let bytes = (0..times.len()).map(|frame| rates[frame] * passed(frame)).sum::<f64>();
    // 2 MiB in packets of 2048 B, each with a header of 20 B.
    assert!((bytes / (1024.0 * 2068.0) - 1.0).abs() < 1e-9, "{bytes} B");
}
