//! What every scheme keeps to, whichever it is: no scheme is named here.

use becalm_control::{EchoParams, Echoing, Marking, MarkingParams, Responding, ResponseParams, SchemeDoc};
use becalm_engine::Time;
use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Departure, Marker, Notice, Response, SwitchShape, SwitchView};
use becalm_schema::{Choice, Field, FieldDoc, read_json};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Bytes of a data packet.
const SIZE: u32 = 2068;
/// Slack for rates that went through a gap and back.
const SLACK: f64 = 1e-9;

fn docs() -> Vec<SchemeDoc> {
    [Marking::docs(), Echoing::docs(), Responding::docs()].concat()
}

/// Values to try for a parameter: its default, its bounds, its words, its examples.
fn candidates(field: &FieldDoc) -> Vec<Value> {
    let schema = &field.schema;
    let bounds = ["minimum", "maximum"].map(|bound| schema[bound].clone());
    let words = schema["oneOf"].as_array().into_iter().flatten().map(|option| option["const"].clone());
    let truths = match schema["type"] == "boolean" {
        true => vec![json!(false), json!(true)],
        false => Vec::new(),
    };
    let examples = schema["examples"].as_array().into_iter().flatten().cloned();
    let all = field.default.clone().into_iter().chain(bounds).chain(words).chain(truths).chain(examples);
    all.filter(|value| !value.is_null()).collect()
}

/// The table of a scheme with nothing but what is required.
fn plain(doc: &SchemeDoc) -> serde_json::Map<String, Value> {
    let required = doc.parameters.iter().filter(|field| field.required);
    required.map(|field| (field.name.to_string(), candidates(field)[0].clone())).collect()
}

/// The table of a scheme with the last value to try of every parameter, for what does something only together.
fn all_set(doc: &SchemeDoc) -> serde_json::Map<String, Value> {
    let last = |field: &FieldDoc| Some((field.name.to_string(), candidates(field).pop()?));
    doc.parameters.iter().filter_map(last).collect()
}

/// Every scheme of a seam: plain, with each parameter set to each value to try, and with all of them set, as far as
/// that is valid.
fn variants<P: Field>(docs: &[SchemeDoc]) -> Vec<P> {
    let mut all = Vec::new();
    for doc in docs {
        let plain = plain(doc);
        let table = json!({doc.name: plain});
        all.push(read_json::<P>(&table, doc.name).unwrap_or_else(|wrong| panic!("{wrong}")));
        for field in &doc.parameters {
            for value in candidates(field) {
                let mut table = plain.clone();
                table.insert(field.name.to_string(), value);
                all.extend(read_json::<P>(&json!({doc.name: table}), doc.name));
            }
        }
        all.extend(read_json::<P>(&json!({doc.name: all_set(doc)}), doc.name));
    }
    all
}

fn markers() -> Vec<MarkingParams> {
    variants(&Marking::docs())
}

fn responses() -> Vec<ResponseParams> {
    variants(&Responding::docs())
}

#[test]
fn every_scheme_is_documented() {
    for doc in docs() {
        let at = format!("{} {}", doc.seam, doc.name);
        for title in ["What it does", "Source", "Parameters", "Departures from the source"] {
            let section = doc.section(title).unwrap_or_else(|| panic!("{at}: no section `{title}`"));
            assert!(!section.is_empty(), "{at}: `{title}` is empty");
        }
        assert!(!doc.summary.is_empty(), "{at}: no summary");
        let parameters = doc.section("Parameters").unwrap();
        for field in &doc.parameters {
            assert!(!field.help.is_empty(), "{at}: {} has no help", field.name);
            assert!(parameters.contains(&format!("`{}`", field.name)), "{at}: {} is not explained", field.name);
        }
    }
}

#[test]
fn every_default_is_valid_and_every_table_survives_json() {
    fn check<P: Field + PartialEq + std::fmt::Debug>(all: Vec<P>) {
        for params in all {
            let json = params.to_json();
            assert_eq!(read_json::<P>(&json, "").unwrap_or_else(|wrong| panic!("{wrong}")), params);
        }
    }
    check::<MarkingParams>(markers());
    check::<EchoParams>(variants(&Echoing::docs()));
    check::<ResponseParams>(responses());
    for doc in docs() {
        for field in doc.parameters.iter().filter(|field| !field.required) {
            let mut table = plain(&doc);
            table.insert(field.name.to_string(), field.default.clone().unwrap());
            let table = json!({doc.name: table});
            let wrong = match doc.seam {
                "marking" => read_json::<MarkingParams>(&table, "").err(),
                "echo" => read_json::<EchoParams>(&table, "").err(),
                _ => read_json::<ResponseParams>(&table, "").err(),
            };
            assert_eq!(wrong, None, "{} {}: default of {}", doc.seam, doc.name, field.name);
        }
    }
}

#[test]
fn the_catalogue_lists_every_scheme() {
    let catalogue = becalm_control::catalogue();
    for doc in docs() {
        let found = catalogue[doc.seam].as_array().unwrap().iter().find(|entry| entry["name"] == doc.name);
        assert_eq!(found.unwrap()["parameters"].as_array().unwrap().len(), doc.parameters.len());
    }
    assert_eq!(MarkingParams::NAMES, Marking::names());
}

/// What a response was told, and what it answered.
fn answers(params: &ResponseParams, notices: &[Notice]) -> Vec<(f64, u32, Option<Time>)> {
    let mut response = Responding::new(params);
    let mut now = Time::ZERO;
    let mut all = Vec::new();
    for notice in notices {
        now += Time::from_us(2);
        response.sent(response.pace().window);
        response.notice(now, *notice);
        let pace = response.pace();
        all.push((pace.gap, pace.window, response.deadline()));
    }
    all
}

/// What a response may still have in mind. One that moves its window may do so by the feedback of a whole window, which
/// it may begin to collect a window late.
struct Memory {
    /// The largest window so far.
    largest: u64,
    /// Notices since the feedback last changed.
    alike: u64,
    marked: Option<bool>,
}

impl Memory {
    fn new(window: u32) -> Memory {
        Memory { largest: u64::from(window), alike: 0, marked: None }
    }

    /// Whether a response that now has this window may have decided by feedback from before the last change.
    fn may_hold_older(&mut self, notice: &Notice, window: u32) -> bool {
        let marked = match notice {
            Notice::Ack { marked } => Some(*marked),
            Notice::Becn => Some(true),
            Notice::Timer | Notice::Restart => None,
        };
        let first = self.marked.is_none();
        if marked.is_some() && marked != self.marked && !first {
            self.alike = 0;
        }
        self.marked = marked.or(self.marked);
        self.alike += 1;
        self.largest = self.largest.max(u64::from(window));
        self.alike <= 2 * self.largest
    }
}

fn notice() -> impl Strategy<Value = Notice> {
    prop_oneof![
        20 => Just(Notice::Ack { marked: false }),
        8 => Just(Notice::Ack { marked: true }),
        1 => Just(Notice::Becn),
        1 => Just(Notice::Timer),
        1 => Just(Notice::Restart),
    ]
}

/// The parameter `name` of a response, if it has one.
fn parameter(params: &ResponseParams, name: &str) -> Option<f64> {
    params.to_json()[params.name()][name].as_f64()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn responses_keep_to_their_limits(notices in prop::collection::vec(notice(), 1..400)) {
        for params in responses() {
            let answers = answers(&params, &notices);
            let slowest = parameter(&params, "rmin").unwrap_or(0.0);
            let fastest = parameter(&params, "rmax").unwrap_or(1.0);
            for (gap, window, _) in &answers {
                prop_assert!(gap.is_finite() && *gap >= 0.0, "{params:?}: gap {gap}");
                prop_assert!(*window >= 1);
                let rate = 1.0 / (1.0 + gap);
                prop_assert!(rate >= slowest * (1.0 - SLACK) && rate <= fastest * (1.0 + SLACK), "{params:?}: {rate}");
            }
        }
    }

    #[test]
    fn responses_slow_down_on_marks_and_speed_up_without(notices in prop::collection::vec(notice(), 1..400)) {
        for params in responses() {
            let mut response = Responding::new(&params);
            let mut memory = Memory::new(response.pace().window);
            for notice in &notices {
                let before = response.pace();
                response.sent(before.window);
                response.notice(Time::ZERO, *notice);
                let after = response.pace();
                let older = memory.may_hold_older(notice, after.window);
                match notice {
                    Notice::Ack { marked: true } | Notice::Becn => {
                        prop_assert!(after.gap >= before.gap - SLACK, "{params:?}");
                        prop_assert!(after.window <= before.window || older, "{params:?}");
                    }
                    Notice::Ack { marked: false } => {
                        prop_assert!(after.gap <= before.gap + SLACK, "{params:?}");
                        prop_assert!(after.window >= before.window || older, "{params:?}");
                    }
                    Notice::Timer | Notice::Restart => {}
                }
            }
        }
    }

    #[test]
    fn responses_never_go_the_wrong_way_on_feedback_of_one_kind(marked in any::<bool>(), n in 1usize..400) {
        for params in responses() {
            let mut response = Responding::new(&params);
            for _ in 0..n {
                let before = response.pace();
                response.sent(before.window);
                response.notice(Time::ZERO, Notice::Ack { marked });
                let after = response.pace();
                let slower = after.gap >= before.gap - SLACK && after.window <= before.window;
                let faster = after.gap <= before.gap + SLACK && after.window >= before.window;
                prop_assert!(if marked { slower } else { faster }, "{params:?}");
            }
        }
    }

    #[test]
    fn responses_repeat_themselves(notices in prop::collection::vec(notice(), 1..100)) {
        for params in responses() {
            prop_assert_eq!(answers(&params, &notices), answers(&params, &notices));
        }
    }

    #[test]
    fn markers_repeat_themselves_and_never_panic(steps in prop::collection::vec(any::<u16>(), 1..200)) {
        for params in markers() {
            prop_assert_eq!(verdicts(&params, &steps), verdicts(&params, &steps));
        }
    }

    #[test]
    fn markers_leave_the_packets_of_an_idle_switch_alone(steps in prop::collection::vec(any::<u16>(), 1..200)) {
        for params in markers() {
            let mut marker = Marking::new(&params, shape());
            for (order, step) in steps.iter().enumerate() {
                let (arrival, departure) = packet(order as u64, *step, false);
                let switch = Switch { packets: vec![departure] };
                marker.arrived(&arrival, &switch);
                prop_assert!(!marker.departing(&departure, &switch), "{params:?}");
                marker.left(departure.now, departure.input, departure.output, departure.vl);
            }
        }
    }
}

fn shape() -> SwitchShape {
    let host_ports = vec![true, true, false, false];
    SwitchShape { name: "S".to_string(), ports: 4, vls: 2, capacity_bytes: Switch::ROOM * SIZE, host_ports }
}

/// A switch that holds these packets.
struct Switch {
    packets: Vec<Departure>,
}

impl Switch {
    const ROOM: u32 = 4;

    fn count(&self, which: impl Fn(&Departure) -> bool) -> u32 {
        self.packets.iter().filter(|packet| which(packet)).count() as u32
    }
}

impl SwitchView for Switch {
    fn is_full(&self, input: u16, vl: u8) -> bool {
        self.count(|packet| (packet.input, packet.vl) == (input, vl)) >= Switch::ROOM
    }
    fn waiting(&self, output: u16, vl: u8) -> u32 {
        self.count(|packet| (packet.output, packet.vl) == (output, vl))
    }
    fn waiting_bytes(&self, output: u16, vl: u8) -> u64 {
        self.packets.iter().filter(|p| (p.output, p.vl) == (output, vl)).map(|p| u64::from(p.size)).sum()
    }
    fn present(&self, output: u16, vl: u8) -> u32 {
        self.waiting(output, vl)
    }
    fn present_from(&self, input: u16, output: u16, vl: u8) -> u32 {
        self.count(|packet| (packet.input, packet.output, packet.vl) == (input, output, vl))
    }
    fn credit(&self, output: u16, _: u8) -> u32 {
        if output.is_multiple_of(2) { u32::MAX } else { 0 }
    }
    fn packet_time(&self, _: u16, size: u32) -> Time {
        Time::from_ns(u64::from(size))
    }
}

/// A packet whose ports, lane and kind the bits of `step` choose.
fn packet(order: u64, step: u16, waits: bool) -> (Arrival, Departure) {
    let now = Time::from_us(order);
    let (input, output, vl) = (step & 3, (step >> 2) & 3, ((step >> 4) & 1) as u8);
    let (size, kind) = if step & 32 == 0 { (SIZE, Kind::Data) } else { (20, Kind::Ack) };
    let arrival = Arrival { now, order, input, output, vl, size, kind, waits };
    (arrival, Departure { now, order, input, output, vl, size, kind })
}

/// What a marker says to packets that come and go as the steps tell.
fn verdicts(params: &MarkingParams, steps: &[u16]) -> Vec<bool> {
    let mut marker = Marking::new(params, shape());
    let mut switch = Switch { packets: Vec::new() };
    let mut all = Vec::new();
    let mut returned = [[Time::ZERO; 2]; 4];
    for (order, step) in steps.iter().enumerate() {
        let (arrival, departure) = packet(order as u64, *step, step & 64 == 0);
        if !switch.is_full(arrival.input, arrival.vl) {
            switch.packets.push(departure);
            marker.arrived(&arrival, &switch);
        }
        if step & 128 != 0 && !switch.packets.is_empty() {
            let place = usize::from(step >> 8) % switch.packets.len();
            let leaves = switch.packets[place];
            all.push(marker.departing(&leaves, &switch));
            let returns_at = marker.left(arrival.now, leaves.input, leaves.output, leaves.vl);
            let latest = &mut returned[usize::from(leaves.input)][usize::from(leaves.vl)];
            assert!(returns_at >= arrival.now && returns_at >= *latest, "{params:?}: credit goes back in order");
            *latest = returns_at;
            switch.packets.remove(place);
        }
    }
    all
}
