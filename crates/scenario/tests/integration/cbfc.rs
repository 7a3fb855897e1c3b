//! Credit-based flow control of Ultra Ethernet in scenarios: the bound for the full rate, its messages' load, and agreement
//! with credits.

use becalm_metrics::Data;
use becalm_scenario::Scenario;

use crate::bad::complaint;

/// The rates in B/s of the flows of a scenario.
fn rates(text: &str) -> Vec<f64> {
    let scenario = Scenario::parse(text, "c.toml").unwrap_or_else(|errors| panic!("{errors}"));
    let results = scenario.run(0, 1, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let flows = results.tables.iter().find(|table| table.name == "flows").expect("there are flows");
    match &flows.columns.iter().find(|column| column.name == "rate").expect("there is a rate").data {
        Data::F64(rates) => rates.clone(),
        _ => panic!("rates are numbers"),
    }
}

/// Bytes of a packet, 32 units of credit.
const PACKET: u32 = 4096;
/// Rate of all links, 400 Gb/s, in B/s.
const LINK: f64 = 50e9;

/// Two hosts at two switches. `switch` is the rest of `[switch]`.
fn line(delay_ps: u32, switch: &str, flows: &[(&str, &str)]) -> String {
    let flow =
        |(from, to): &(&str, &str)| format!("[[flows]]\nname = \"{from}\"\nfrom = [\"{from}\"]\nto = [\"{to}\"]\n");
    format!(
        "run = {{duration = \"1 ms\", warmup = \"100 us\"}}\npacket = {{mtu = \"4032 B\", header = \"64 B\"}}\n\
         [topology.edges]\nhosts = [\"A\", \"B\"]\nswitches = [\"S\", \"T\"]\nrate = \"400 Gb/s\"\ndelay = \"{delay_ps} ps\"\n\
         cables = [{{between = [\"A\", \"S\"]}}, {{between = [\"S\", \"T\"]}}, {{between = [\"T\", \"B\"]}}]\n\
         [switch]\nforwarding_delay = \"0 ns\"\n{switch}\n{}",
        flows.iter().map(flow).collect::<String>()
    )
}

/// The part of a link that CF_Updates leave.
fn left(spacing: u32) -> f64 {
    1.0 - 8.0 / f64::from(spacing)
}

#[test]
fn the_full_rate_needs_the_round_trip_a_spacing_and_a_packet() {
    for (spacing, round_trip) in [(800, 15 * PACKET - 800), (2000, 9 * PACKET - 2000), (6400, 20 * PACKET - 6400)] {
        // A byte takes 20 ps.
        let delay = round_trip * 20 / 2;
        let part = |buffer: u32| {
            let switch = format!("buffer = \"{buffer} B\"\nflow_control.cbfc.spacing = \"{spacing} B\"");
            rates(&line(delay, &switch, &[("A", "B")]))[0] / LINK / left(spacing)
        };
        let bound = round_trip + spacing + PACKET;
        assert!((part(bound) - 1.0).abs() < 5e-4, "{spacing}: {} at the bound", part(bound));
        assert!(part(bound - 128) < 0.99, "{spacing}: {} below the bound", part(bound - 128));
    }
}

#[test]
fn updates_take_their_share_of_the_opposite_direction() {
    for spacing in [800, 1600, 6400, 1 << 18] {
        let switch = format!("buffer = \"1 MiB\"\nflow_control.cbfc.spacing = \"{spacing} B\"");
        // ACKs take the same share of both.
        let both = |switch: &str| rates(&line(100_000, switch, &[("A", "B"), ("B", "A")]));
        for (rate, whole) in both(&switch).into_iter().zip(both("buffer = \"1 MiB\"")) {
            assert!((rate / whole - left(spacing)).abs() < 2e-4, "{spacing}: {rate} of {whole}");
        }
        // A single packet is slower by the same share on the two links from switches.
        let time = |control: &str| {
            let one = line(100_000, control, &[("A", "B")]) + "traffic.batch = {count = 1, message = \"4032 B\"}\n";
            let one = one.replace("100 us", "0 us") + "[observe]\nmessages = true\n";
            let scenario = Scenario::parse(&one, "c.toml").unwrap_or_else(|errors| panic!("{errors}"));
            let results = scenario.run(0, 1, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
            let messages = results.tables.iter().find(|table| table.name == "messages").expect("there are messages");
            match &messages.columns.iter().find(|column| column.name == "completion").expect("a time").data {
                Data::F64(times) => times[0],
                _ => panic!("times are numbers"),
            }
        };
        let later = time(&switch) - time("buffer = \"1 MiB\"");
        let last_link = f64::from(PACKET) / LINK * (1.0 / left(spacing) - 1.0);
        // Rates are rounded to a femtosecond per byte, and times to a picosecond.
        assert!((later - last_link).abs() < 5e-12, "{spacing}: {later}, not {last_link}");
    }
}

/// Eight senders and a victim on a dumbbell.
fn incast(switch: &str) -> String {
    format!(
        "run = {{duration = \"2 ms\", warmup = \"500 us\"}}\npacket = {{mtu = \"4032 B\", header = \"64 B\"}}\n\
         [topology.dumbbell]\nremote = 4\nlocal = 4\ndelay = \"100 ns\"\nrate = \"100 Gb/s\"\n[switch]\n{switch}\n\
         [[flows]]\nname = \"local\"\nfrom = [\"B1..B4\"]\nto = [\"BC\"]\n\
         [[flows]]\nname = \"remote\"\nfrom = [\"A1..A4\"]\nto = [\"BC\"]\n\
         [[flows]]\nname = \"victim\"\nfrom = [\"AV\"]\nto = [\"BV\"]\n"
    )
}

#[test]
fn whole_units_behave_as_credits() {
    // A spacing whose updates take .05% of a link, and whose wait costs four packets of buffer.
    let credits = rates(&incast("buffer = \"256 KiB\""));
    let cbfc = rates(&incast("buffer = \"272 KiB\"\nflow_control.cbfc.spacing = \"16 KiB\""));
    let (sum, other) = (credits.iter().sum::<f64>(), cbfc.iter().sum::<f64>());
    assert!((other / sum - 1.0).abs() < 1e-3, "{other} and {sum} B/s");
}

#[test]
fn mistakes_name_what_is_valid() {
    let messages = [
        ("buffer = \"unlimited\"\nflow_control.cbfc = {}", "must be finite with cbfc"),
        ("buffer = \"4 slots\"\nflow_control.cbfc = {}", "must be in bytes or packets with cbfc"),
        ("flow_control.cbfc.credit = \"96 B\"", "must be a power of two"),
        ("flow_control.cbfc.spacing = \"799 B\"", "800 B"),
        ("buffer = \"4095 B\"\nflow_control.cbfc = {}", "is too small for a packet of 4096 B"),
        ("buffer = \"4096 B\"\nflow_control.cbfc.overhead = \"1 B\"", "is too small for a packet of 4096 B"),
        ("buffer = \"129 MiB\"\nflow_control.cbfc = {}", "more than 1048575 units of 128 B"),
    ];
    for (switch, message) in messages {
        let found = complaint(&line(1000, switch, &[("A", "B")]));
        assert!(found.contains(message), "{switch}: {found}");
    }
}
