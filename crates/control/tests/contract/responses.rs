//! Properties of all responses.

use std::fmt::Debug;

use becalm_control::{Feedback, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Hop, Notice, Pace, Response, Sent};
use becalm_fabric::{NodeId, PortId, Rate};
use becalm_schema::Choice;
use proptest::prelude::*;

use crate::out_of_tree::response::rtt_target::{self, RttTarget};

/// Tolerance for rates converted to a gap and back.
const SLACK: f64 = 1e-9;
/// Size of a packet in bytes.
const SIZE: u32 = 2068;
/// Round-trip time on an empty fabric.
const BASE_RTT: Time = Time::from_us(5);
/// Round-trip time on a congested fabric, longer than any threshold.
const LONG_RTT: Time = Time::from_ms(50);
/// Largest number of timers between two notices.
const MOST_TIMERS: usize = 1000;

/// Feedback to a flow: the time since the previous feedback, and its kind.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    after: Time,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// An ACK for `covers` packets, with or without a mark, after a short or long round trip through an idle or busy
    /// switch.
    Ack {
        covers: u32,
        marked: bool,
        long: bool,
    },
    Becn,
    Restart,
}

/// A random step, in most cases an ACK.
pub fn step() -> impl Strategy<Value = Step> {
    let ack = |marked| (1..4_u32, any::<bool>()).prop_map(move |(covers, long)| Kind::Ack { covers, marked, long });
    let kind = prop_oneof![20 => ack(false), 8 => ack(true), 1 => Just(Kind::Becn), 1 => Just(Kind::Restart)];
    (0..40_000_u64, kind).prop_map(|(ns, kind)| Step { after: Time::from_ns(ns), kind })
}

/// Drives a response like the fabric: timers run when they are due, and packets are sent before each notice.
struct Flow<R> {
    response: R,
    /// Whether the response is notified of sent packets.
    hears_of_packets: bool,
    now: Time,
    sent: u32,
    acknowledged: u32,
    /// The record of the only switch on the path.
    trail: [Hop; 1],
}

impl<R: ResponseScheme> Flow<R> {
    fn new(params: &R::Params) -> Flow<R> {
        let mut response = R::new(params);
        let rate = Rate::from_bits_per_second(8e9);
        let (base_rtt, longest_rtt) = (BASE_RTT, BASE_RTT);
        response.start(&FlowShape { rate, mtu: 2048, header: 20, base_rtt, longest_rtt, hops: 3 });
        let output = PortId { node: NodeId(0), port: 0 };
        let trail = [Hop { output, at: Time::ZERO, sent: 0, waiting: 0, rate }];
        Flow { response, hears_of_packets: true, now: Time::ZERO, sent: 0, acknowledged: 0, trail }
    }

    /// Updates the switch's record for a busy output with a long queue, or for a nearly idle output.
    fn record(&mut self, busy: bool) {
        let [hop] = &mut self.trail;
        let now = self.now.max(hop.at + Time::from_ns(1));
        // A byte is sent in a nanosecond.
        let bytes = now.since(hop.at).0 / 1000;
        hop.sent += if busy { bytes } else { bytes / 10 };
        (hop.at, hop.waiting) = (now, if busy { 1 << 20 } else { 0 });
    }

    /// Advances time, and runs the timers that become due.
    fn wait(&mut self, time: Time) {
        let end = self.now + time;
        for _ in 0..MOST_TIMERS {
            let Some(due) = self.response.deadline().filter(|due| *due <= end) else { break };
            self.response.notice(due.max(self.now), &Notice::Timer);
        }
        self.now = end;
    }

    /// Sends the packets that an ACK will cover, or up to a window of packets.
    fn send(&mut self, packets: u32) {
        let window = self.response.pace().window;
        for i in 0..packets.max(window.min(8)) {
            self.sent += 1;
            let in_flight = if i + 1 == packets { window } else { self.sent - self.acknowledged };
            if self.hears_of_packets {
                self.response.sent(&Sent { now: self.now, bytes: SIZE, in_flight: in_flight.clamp(1, window) });
            }
        }
    }

    fn notice(&mut self, kind: Kind) {
        let notice = match kind {
            Kind::Becn => Notice::Becn,
            Kind::Restart => Notice::Restart,
            Kind::Ack { covers, marked, long } => {
                self.acknowledged += covers;
                self.record(long);
                let rtt = if long { LONG_RTT } else { BASE_RTT };
                let (sequence, next) = (self.acknowledged - 1, self.sent);
                let in_flight = self.sent - self.acknowledged;
                let (marked, held, trail) = (u32::from(marked), Time::ZERO, self.trail.as_slice());
                Notice::Ack(Ack { marked, covers, sequence, next, in_flight, rtt, held, trail })
            }
        };
        self.response.notice(self.now, &notice);
    }

    /// Runs a step; returns the pace before and after its notice.
    fn take(&mut self, step: &Step) -> (Pace, Pace) {
        self.wait(step.after);
        self.send(if let Kind::Ack { covers, .. } = step.kind { covers } else { 1 });
        let before = self.response.pace();
        self.notice(step.kind);
        (before, self.response.pace())
    }
}

/// Answers of a response to steps.
fn answers<R: ResponseScheme>(params: &R::Params, steps: &[Step]) -> Vec<(f64, u32, Option<Time>)> {
    answers_of(Flow::<R>::new(params), steps)
}

fn answers_of<R: ResponseScheme>(mut flow: Flow<R>, steps: &[Step]) -> Vec<(f64, u32, Option<Time>)> {
    let answer = |step| {
        let (_, pace) = flow.take(step);
        (pace.gap, pace.window, flow.response.deadline())
    };
    steps.iter().map(answer).collect()
}

/// Whether feedback of this kind requests a slowdown; `None` if the response does not use it.
fn asks_to_slow_down<R: ResponseScheme>(params: &R::Params, kind: Kind) -> Option<bool> {
    match (R::feedback(params), kind) {
        (_, Kind::Restart) => None,
        (Feedback::Marks, Kind::Ack { marked, .. }) => Some(marked),
        (Feedback::Marks, Kind::Becn) => Some(true),
        (Feedback::RoundTripTime, Kind::Ack { long, .. }) => Some(long),
        (Feedback::RoundTripTime, Kind::Becn) => None,
        // One sign without the other may ask for either.
        (Feedback::MarksAndDelay, Kind::Ack { marked, long, .. }) => (marked == long).then_some(marked),
        (Feedback::MarksAndDelay, Kind::Becn) => None,
        // The response uses a mean over a round trip, and one record may contradict it.
        (Feedback::Telemetry, _) => None,
    }
}

/// Earlier feedback that may still affect a response. A response that moves its window may use a window of feedback,
/// and may begin to collect it a window late.
struct Memory {
    /// Largest window so far.
    largest: u64,
    /// Number of notices since the feedback last changed.
    alike: u64,
    slower: Option<bool>,
}

impl Memory {
    fn new(window: u32) -> Memory {
        Memory { largest: u64::from(window), alike: 0, slower: None }
    }

    /// Whether a response with this window may still use feedback from before the last change.
    fn may_hold_older(&mut self, slower: Option<bool>, window: u32) -> bool {
        let first = self.slower.is_none();
        if slower.is_some() && slower != self.slower && !first {
            self.alike = 0;
        }
        self.slower = slower.or(self.slower);
        self.alike += 1;
        self.largest = self.largest.max(u64::from(window));
        self.alike <= 2 * self.largest
    }
}

/// Returns a response's parameter `name`, if it has one.
fn parameter(params: &impl Choice, name: &str) -> Option<f64> {
    params.to_json()[params.name()][name].as_f64()
}

/// Rates stay between `rmin` and `rmax` if a response has these parameters, and windows allow at least a packet.
pub fn keeps_to_its_limits<R>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Choice + Debug>,
{
    let slowest = parameter(params, "rmin").unwrap_or(0.0);
    let fastest = parameter(params, "rmax").unwrap_or(1.0);
    for (gap, window, _) in answers::<R>(params, steps) {
        prop_assert!(gap.is_finite() && gap >= 0.0, "{params:?}: gap {gap}");
        prop_assert!(window >= 1);
        let rate = 1.0 / (1.0 + gap);
        prop_assert!(rate >= slowest * (1.0 - SLACK) && rate <= fastest * (1.0 + SLACK), "{params:?}: {rate}");
    }
    Ok(())
}

/// After all due timers have run, the next deadline is in the future.
pub fn asks_for_timers_to_come<R>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let mut flow = Flow::<R>::new(params);
    for step in steps {
        flow.wait(step.after);
        prop_assert!(flow.response.deadline().is_none_or(|due| due > flow.now), "{params:?} at {}", flow.now);
        flow.take(&Step { after: Time::ZERO, ..*step });
    }
    Ok(())
}

/// The window changes only if the response declares that it moves it.
pub fn moves_its_window_as_it_says<R>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let first = R::new(params).pace().window;
    let moves = answers::<R>(params, steps).iter().any(|(_, window, _)| *window != first);
    prop_assert!(!moves || R::moves_window(params), "{params:?}");
    Ok(())
}

/// Feedback about congestion slows a flow down; feedback without congestion speeds it up.
pub fn slows_down_on_congestion_and_speeds_up_without<R>(
    params: &R::Params,
    steps: &[Step],
) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let mut flow = Flow::<R>::new(params);
    let mut memory = Memory::new(flow.response.pace().window);
    for step in steps {
        let (before, after) = flow.take(step);
        let slower = asks_to_slow_down::<R>(params, step.kind);
        let older = memory.may_hold_older(slower, after.window);
        match slower {
            Some(true) => {
                prop_assert!(after.gap >= before.gap - SLACK, "{params:?}");
                prop_assert!(after.window <= before.window || older, "{params:?}");
            }
            Some(false) => {
                prop_assert!(after.gap <= before.gap + SLACK, "{params:?}");
                prop_assert!(after.window >= before.window || older, "{params:?}");
            }
            None => {}
        }
    }
    Ok(())
}

/// Uniform feedback never moves a flow in the opposite direction.
pub fn never_goes_the_wrong_way<R>(params: &R::Params, congested: bool, n: usize) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let mut flow = Flow::<R>::new(params);
    for i in 0..n {
        let after = Time::from_ns(i as u64 % 7 * 1000);
        let kind = Kind::Ack { covers: 1, marked: congested, long: congested };
        let (before, after) = flow.take(&Step { after, kind });
        let slower = after.gap >= before.gap - SLACK && after.window <= before.window;
        let faster = after.gap <= before.gap + SLACK && after.window >= before.window;
        prop_assert!(if congested { slower } else { faster }, "{params:?}");
    }
    Ok(())
}

/// After long congestion, a flow is at least as slow as an uncongested flow.
pub fn reacts<R>(params: &R::Params) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let after = |congested: bool| {
        let mut flow = Flow::<R>::new(params);
        let kind = Kind::Ack { covers: 1, marked: congested, long: congested };
        for _ in 0..500 {
            flow.take(&Step { after: Time::from_ns(10), kind });
        }
        flow.response.pace()
    };
    let (slow, fast) = (after(true), after(false));
    prop_assert!(slow.gap >= fast.gap - SLACK && slow.window <= fast.window, "{params:?}");
    Ok(())
}

/// The same feedback yields the same answers.
pub fn repeats_itself<R: ResponseScheme>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError> {
    prop_assert_eq!(answers::<R>(params, steps), answers::<R>(params, steps));
    Ok(())
}

/// A response that does not follow sending returns the same answers without notices of sent packets. A steady response
/// keeps its pace and requests no timers.
pub fn needs_no_more_than_it_says<R>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let flow = Flow::<R>::new(params);
    let (Pace { gap, window }, is_steady) = (flow.response.pace(), flow.response.is_steady());
    let all = answers_of(flow, steps);
    if is_steady {
        prop_assert!(all.iter().all(|answer| *answer == (gap, window, None)), "{params:?} is not steady");
    }
    let deaf = Flow { hears_of_packets: false, ..Flow::<R>::new(params) };
    if is_steady || !deaf.response.follows_sending() {
        prop_assert_eq!(&answers_of(deaf, steps), &all, "{:?} follows sending", params);
    }
    Ok(())
}

/// A response that does not declare its requirements.
#[derive(Clone, Debug)]
struct Denier<const STEADY: bool>(RttTarget);

impl<const STEADY: bool> ResponseScheme for Denier<STEADY> {
    type Params = rtt_target::Params;

    fn new(params: &rtt_target::Params) -> Self {
        Denier(RttTarget::new(params))
    }
}

impl<const STEADY: bool> Response for Denier<STEADY> {
    fn is_steady(&self) -> bool {
        STEADY
    }

    fn follows_sending(&self) -> bool {
        false
    }

    fn start(&mut self, flow: &FlowShape) {
        self.0.start(flow);
    }

    fn pace(&self) -> Pace {
        self.0.pace()
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        self.0.notice(now, notice);
    }

    fn sent(&mut self, sent: &Sent) {
        self.0.sent(sent);
    }
}

#[test]
fn a_response_that_denies_what_it_needs_is_found() {
    let params = rtt_target::Params::default();
    let ack = |long| Step { after: Time::from_us(20), kind: Kind::Ack { covers: 1, marked: false, long } };
    let steps: Vec<Step> = [true, true, true, false, false, false].map(ack).into();
    let found = |check: Result<(), TestCaseError>| check.map_err(|error| error.to_string()).unwrap_err();
    assert!(found(needs_no_more_than_it_says::<Denier<true>>(&params, &steps)).contains("is not steady"));
    assert!(found(needs_no_more_than_it_says::<Denier<false>>(&params, &steps)).contains("follows sending"));
    needs_no_more_than_it_says::<RttTarget>(&params, &steps).expect("it says that it follows sending");
}
