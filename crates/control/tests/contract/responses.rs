//! What every response keeps to.

use std::fmt::Debug;

use becalm_control::ResponseScheme;
use becalm_engine::Time;
use becalm_fabric::policy::Notice;
use becalm_schema::Choice;
use proptest::prelude::*;

/// Slack for rates that went through a gap and back.
const SLACK: f64 = 1e-9;

/// What a response was told, and what it answered.
fn answers<R: ResponseScheme>(params: &R::Params, notices: &[Notice]) -> Vec<(f64, u32, Option<Time>)> {
    let mut response = R::new(params);
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

/// A notice, mostly an ACK.
pub fn notice() -> impl Strategy<Value = Notice> {
    prop_oneof![
        20 => Just(Notice::Ack { marked: false }),
        8 => Just(Notice::Ack { marked: true }),
        1 => Just(Notice::Becn),
        1 => Just(Notice::Timer),
        1 => Just(Notice::Restart),
    ]
}

/// The parameter `name` of a response, if it has one.
fn parameter(params: &impl Choice, name: &str) -> Option<f64> {
    params.to_json()[params.name()][name].as_f64()
}

/// Rates stay between `rmin` and `rmax` where a response has them, and windows let a packet go.
pub fn keeps_to_its_limits<R>(params: &R::Params, notices: &[Notice]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Choice + Debug>,
{
    let slowest = parameter(params, "rmin").unwrap_or(0.0);
    let fastest = parameter(params, "rmax").unwrap_or(1.0);
    for (gap, window, _) in answers::<R>(params, notices) {
        prop_assert!(gap.is_finite() && gap >= 0.0, "{params:?}: gap {gap}");
        prop_assert!(window >= 1);
        let rate = 1.0 / (1.0 + gap);
        prop_assert!(rate >= slowest * (1.0 - SLACK) && rate <= fastest * (1.0 + SLACK), "{params:?}: {rate}");
    }
    Ok(())
}

/// A window changes only if the response says that it moves it.
pub fn moves_its_window_as_it_says<R>(params: &R::Params, notices: &[Notice]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let first = R::new(params).pace().window;
    let moves = answers::<R>(params, notices).iter().any(|(_, window, _)| *window != first);
    prop_assert!(!moves || R::moves_window(params), "{params:?}");
    Ok(())
}

/// Marks slow a flow down, ACKs without marks speed it up.
pub fn slows_down_on_marks_and_speeds_up_without<R>(params: &R::Params, notices: &[Notice]) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let mut response = R::new(params);
    let mut memory = Memory::new(response.pace().window);
    for notice in notices {
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
    Ok(())
}

/// Feedback of one kind never moves a flow the other way.
pub fn never_goes_the_wrong_way<R>(params: &R::Params, marked: bool, n: usize) -> Result<(), TestCaseError>
where
    R: ResponseScheme<Params: Debug>,
{
    let mut response = R::new(params);
    for _ in 0..n {
        let before = response.pace();
        response.sent(before.window);
        response.notice(Time::ZERO, Notice::Ack { marked });
        let after = response.pace();
        let slower = after.gap >= before.gap - SLACK && after.window <= before.window;
        let faster = after.gap <= before.gap + SLACK && after.window >= before.window;
        prop_assert!(if marked { slower } else { faster }, "{params:?}");
    }
    Ok(())
}

/// The same notices get the same answers.
pub fn repeats_itself<R: ResponseScheme>(params: &R::Params, notices: &[Notice]) -> Result<(), TestCaseError> {
    prop_assert_eq!(answers::<R>(params, notices), answers::<R>(params, notices));
    Ok(())
}
