//! What every response keeps to.

use std::fmt::Debug;

use becalm_control::{Feedback, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Hop, Notice, Pace, Response, Sent};
use becalm_fabric::{NodeId, PortId, Rate};
use becalm_schema::Choice;
use proptest::prelude::*;

use crate::out_of_tree::response::rtt_target::{self, RttTarget};

/// Slack for rates that went through a gap and back.
const SLACK: f64 = 1e-9;
/// Bytes of a packet.
const SIZE: u32 = 2068;
/// Round-trip time on an empty fabric.
const BASE_RTT: Time = Time::from_us(5);
/// Round-trip time on a congested one: longer than any threshold.
const LONG_RTT: Time = Time::from_ms(50);
/// Most timers between two notices.
const MOST_TIMERS: usize = 1000;

/// Feedback that reaches a flow: so long after the feedback before it, and what it is.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    after: Time,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// An ACK for some packets, with or without a mark, of a short or a long round trip by an idle or a busy switch.
    Ack {
        covers: u32,
        marked: bool,
        long: bool,
    },
    Becn,
    Restart,
}

/// A step, mostly an ACK.
pub fn step() -> impl Strategy<Value = Step> {
    let ack = |marked| (1..4_u32, any::<bool>()).prop_map(move |(covers, long)| Kind::Ack { covers, marked, long });
    let kind = prop_oneof![20 => ack(false), 8 => ack(true), 1 => Just(Kind::Becn), 1 => Just(Kind::Restart)];
    (0..40_000_u64, kind).prop_map(|(ns, kind)| Step { after: Time::from_ns(ns), kind })
}

/// A response that is driven as the fabric drives it: its timers come when they are due, and packets go out before
/// each notice.
struct Flow<R> {
    response: R,
    /// Whether the response hears of packets that go out.
    hears_of_packets: bool,
    now: Time,
    sent: u32,
    acknowledged: u32,
    /// The record of the only switch on the way.
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

    /// What the switch records next: an output that is busy and has a long queue, or one that is nearly idle.
    fn record(&mut self, busy: bool) {
        let [hop] = &mut self.trail;
        let now = self.now.max(hop.at + Time::from_ns(1));
        // A byte takes a nanosecond.
        let bytes = now.since(hop.at).0 / 1000;
        hop.sent += if busy { bytes } else { bytes / 10 };
        (hop.at, hop.waiting) = (now, if busy { 1 << 20 } else { 0 });
    }

    /// Lets time pass, and the timers that come due with it.
    fn wait(&mut self, time: Time) {
        let end = self.now + time;
        for _ in 0..MOST_TIMERS {
            let Some(due) = self.response.deadline().filter(|due| *due <= end) else { break };
            self.response.notice(due.max(self.now), &Notice::Timer);
        }
        self.now = end;
    }

    /// Sends as many packets as an ACK is to cover, or as the window holds.
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
                let (marked, held, trail) = (u32::from(marked), Time::ZERO, self.trail.as_slice());
                Notice::Ack(Ack { marked, covers, sequence, next, rtt, held, trail })
            }
        };
        self.response.notice(self.now, &notice);
    }

    /// One step: the pace before and after its notice.
    fn take(&mut self, step: &Step) -> (Pace, Pace) {
        self.wait(step.after);
        self.send(if let Kind::Ack { covers, .. } = step.kind { covers } else { 1 });
        let before = self.response.pace();
        self.notice(step.kind);
        (before, self.response.pace())
    }
}

/// What a response answered to some steps.
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

/// Whether feedback of this kind asks a response to slow down; `None` if it says nothing to it.
fn asks_to_slow_down<R: ResponseScheme>(params: &R::Params, kind: Kind) -> Option<bool> {
    match (R::feedback(params), kind) {
        (_, Kind::Restart) => None,
        (Feedback::Marks, Kind::Ack { marked, .. }) => Some(marked),
        (Feedback::Marks, Kind::Becn) => Some(true),
        (Feedback::RoundTripTime, Kind::Ack { long, .. }) => Some(long),
        (Feedback::RoundTripTime, Kind::Becn) => None,
        // A mean over a round trip: one record may say the opposite.
        (Feedback::Telemetry, _) => None,
    }
}

/// What a response may still have in mind. One that moves its window may do so by the feedback of a whole window, which
/// it may begin to collect a window late.
struct Memory {
    /// The largest window so far.
    largest: u64,
    /// Notices since the feedback last changed.
    alike: u64,
    slower: Option<bool>,
}

impl Memory {
    fn new(window: u32) -> Memory {
        Memory { largest: u64::from(window), alike: 0, slower: None }
    }

    /// Whether a response that now has this window may have decided by feedback from before the last change.
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

/// The parameter `name` of a response, if it has one.
fn parameter(params: &impl Choice, name: &str) -> Option<f64> {
    params.to_json()[params.name()][name].as_f64()
}

/// Rates stay between `rmin` and `rmax` where a response has them, and windows let a packet go.
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

/// A timer lies in the future once the timers that are due have come.
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

/// A window changes only if the response says that it moves it.
pub fn moves_its_window_as_it_says<R>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let first = R::new(params).pace().window;
    let moves = answers::<R>(params, steps).iter().any(|(_, window, _)| *window != first);
    prop_assert!(!moves || R::moves_window(params), "{params:?}");
    Ok(())
}

/// Feedback of congestion slows a flow down, feedback of none speeds it up.
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

/// Feedback of one kind never moves a flow the other way.
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

/// A flow that is congested for long ends slower than one that is not, if the response ever changes its pace.
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

/// The same feedback gets the same answers.
pub fn repeats_itself<R: ResponseScheme>(params: &R::Params, steps: &[Step]) -> Result<(), TestCaseError> {
    prop_assert_eq!(answers::<R>(params, steps), answers::<R>(params, steps));
    Ok(())
}

/// A response that does not follow sending gives the same answers if it does not hear of packets. A steady one keeps its
/// pace, and wants no timer.
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

/// A response that denies what it needs.
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
