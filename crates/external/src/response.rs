//! An external response in a run.

use std::fmt;
use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{FlowShape, Hop, Notice, Pace, Response, Sent};

use crate::abi;
use crate::fault::{self, Failure, Faults, Place};
use crate::linked::Linked;
use crate::native::{self, Context, State};
use crate::params::Params;
use crate::scheme::{Call, Functions, Properties, ResponseObject, Scheme};

/// An external response in a run. Without its code, it sends without limits.
pub struct RunningResponse {
    pace: abi::Pace,
    behind: Behind,
    properties: Properties,
    linked: Option<Arc<Linked>>,
    faults: Faults,
    number: u32,
    trail: Vec<abi::Hop>,
    expiries: Expiries,
}

/// The expiries of a timer in a span of simulated time.
#[derive(Clone, Copy, Debug, Default)]
struct Expiries {
    since: Time,
    count: u32,
}

impl Expiries {
    const SPAN: Time = Time::from_us(1);
    /// Far above any timer of a real scheme, and below what a run can bear.
    const MOST: u32 = 1000;

    /// Counts an expiry, and returns whether there are too many.
    fn count(&mut self, now: Time) -> bool {
        if now.0 - self.since.0 >= Expiries::SPAN.0 {
            *self = Expiries { since: now, count: 0 };
        }
        self.count += 1;
        self.count > Expiries::MOST
    }
}

enum Behind {
    Native { table: abi::Response, state: State, context: Context },
    Object(Option<Box<dyn ResponseObject>>),
    Nothing,
}

impl RunningResponse {
    /// The response of a flow before its start.
    pub fn new(params: &Params) -> RunningResponse {
        RunningResponse::of(params.linked().cloned(), Faults::default(), 0)
    }

    /// A response with this constant pace and a single timer.
    pub fn steered(pace: Pace, timer: Time) -> RunningResponse {
        let mut steered = RunningResponse::of(None, Faults::default(), 0);
        steered.pace = abi::Pace { gap: pace.gap, window: pace.window, timer: timer.0, failed: 0 };
        steered
    }

    /// The response of a flow with the default parameters of a scheme.
    pub fn plain(scheme: Arc<Scheme>, faults: Faults, number: u32) -> RunningResponse {
        let values = scheme.parameters.iter().map(|parameter| parameter.fallback).collect();
        RunningResponse::of(Some(Linked::new(scheme, values)), faults, number)
    }

    fn of(linked: Option<Arc<Linked>>, faults: Faults, number: u32) -> RunningResponse {
        let behind = match linked.as_ref().map(|linked| (&linked.scheme.functions, &linked.context)) {
            Some((Functions::Response(table), context)) => {
                let (state, context) = (State::new(table.state_bytes), context.clone());
                Behind::Native { table: *table, state, context }
            }
            Some((Functions::Objects(_), _)) => Behind::Object(None),
            _ => Behind::Nothing,
        };
        let properties = linked.as_ref().map(|linked| linked.scheme.properties()).unwrap_or_default();
        let (pace, trail, expiries) = (abi::Pace::FREE, Vec::new(), Expiries::default());
        RunningResponse { pace, behind, properties, linked, faults, number, trail, expiries }
    }

    /// Sets the object that records its failures, and its number in the run.
    pub fn watched_by(&mut self, faults: Faults, number: u32) {
        (self.faults, self.number) = (faults, number);
    }

    #[inline]
    fn handle(&mut self, now: Time, call: Call<'_>) {
        let before = self.pace.timer;
        let outcome = match &mut self.behind {
            Behind::Native { table, state, context } => {
                native::call(table, state, context, now.0, call, &mut self.pace);
                if self.pace.failed == 0 { Ok(()) } else { Err(fault::of_call(call.word())) }
            }
            Behind::Object(Some(object)) => object.call(now.0, call, &mut self.pace),
            Behind::Object(None) | Behind::Nothing => return,
        };
        let abi::Pace { gap, timer, window, .. } = self.pace;
        let timer_is_fine = timer == before || timer > now.0;
        if outcome.is_err() || !((0.0..f64::INFINITY).contains(&gap) && window > 0 && timer_is_fine) {
            self.fail(now, outcome.err());
        }
    }

    /// Records a failure, and continues without the scheme.
    #[cold]
    fn fail(&mut self, now: Time, raised: Option<String>) {
        let abi::Pace { gap, timer, window, .. } = self.pace;
        let problem = raised.unwrap_or_else(|| match () {
            () if window == 0 => "sets a window of 0; it must be at least 1".to_string(),
            () if (0.0..f64::INFINITY).contains(&gap) => {
                format!("sets its timer to {}, which is not in the future", Time(timer))
            }
            () => format!("sets a gap of {gap}; it must be a finite number, at least 0"),
        });
        let scheme = self.linked.as_ref().map_or_else(String::new, |linked| linked.scheme.origin.clone());
        self.faults.leave(Failure { scheme, place: Place::Response(self.number), at: now, problem });
        self.behind = Behind::Nothing;
        self.pace = abi::Pace { gap: 1e3, window: 1, ..abi::Pace::FREE };
    }

    fn records(&mut self, trail: &[Hop]) {
        let record = |hop: &Hop| abi::Hop {
            at: hop.at.0,
            sent: hop.sent,
            waiting: hop.waiting,
            rate: hop.rate.bytes_per_second(),
            node: hop.output.node.0,
            port: u32::from(hop.output.port),
        };
        self.trail.clear();
        self.trail.extend(trail.iter().map(record));
    }
}

impl Response for RunningResponse {
    fn start(&mut self, flow: &FlowShape) {
        let raw = abi::Flow {
            rate: flow.rate.bytes_per_second(),
            base_rtt: flow.base_rtt.0,
            longest_rtt: flow.longest_rtt.0,
            mtu: flow.mtu,
            header: flow.header,
            hops: flow.hops,
            reserved: 0,
        };
        self.pace = abi::Pace::FREE;
        let mut raised = None;
        match (&mut self.behind, &self.linked) {
            (Behind::Native { table, state, context }, _) => {
                state.clear();
                native::start(table, state, context, &raw, &mut self.pace);
                if self.pace.failed != 0 {
                    raised = Some(fault::of_call("start"));
                }
            }
            (Behind::Object(object), Some(linked)) => {
                let Functions::Objects(objects) = &linked.scheme.functions else { return };
                match objects.response(&linked.values, flow) {
                    Ok((made, pace)) => (*object, self.pace) = (Some(made), pace),
                    Err(problem) => raised = Some(problem),
                }
            }
            _ => return,
        }
        let abi::Pace { gap, window, .. } = self.pace;
        if raised.is_some() || !((0.0..f64::INFINITY).contains(&gap) && window > 0) {
            self.fail(Time::ZERO, raised);
        }
    }

    fn follows_sending(&self) -> bool {
        self.properties.sent
    }

    fn trail(&self) -> Option<u32> {
        Some(self.properties.trail_bytes).filter(|&bytes| bytes > 0)
    }

    #[inline]
    fn pace(&self) -> Pace {
        Pace { gap: self.pace.gap, window: self.pace.window }
    }

    #[inline]
    fn notice(&mut self, now: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => {
                if !ack.trail.is_empty() {
                    self.records(ack.trail);
                }
                let raw = abi::Ack {
                    rtt: ack.rtt.0,
                    held: ack.held.0,
                    marked: ack.marked,
                    covers: ack.covers,
                    sequence: ack.sequence,
                    next: ack.next,
                    trail: self.trail.as_ptr(),
                    hops: ack.trail.len() as u64,
                };
                self.handle(now, Call::Ack(&raw));
            }
            Notice::Becn => self.handle(now, Call::Becn),
            // The timer may have been set to a later time.
            Notice::Timer if self.pace.timer > now.0 => {}
            Notice::Timer => {
                self.pace.timer = abi::NEVER;
                if self.expiries.count(now) {
                    let most = Expiries::MOST;
                    return self.fail(now, Some(format!("its timer expires more than {most} times within 1 us")));
                }
                self.handle(now, Call::Timer);
            }
            Notice::Restart => self.handle(now, Call::Restart),
        }
    }

    #[inline]
    fn sent(&mut self, sent: &Sent) {
        if self.properties.sent {
            let raw = abi::Sent { now: sent.now.0, bytes: sent.bytes, in_flight: sent.in_flight };
            self.handle(sent.now, Call::Sent(&raw));
        }
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        (self.pace.timer != abi::NEVER).then_some(Time(self.pace.timer))
    }
}

impl Clone for RunningResponse {
    /// Returns a copy. The copy of a started response that is an object starts from the beginning, because
    /// objects are not copied.
    fn clone(&self) -> RunningResponse {
        let behind = match &self.behind {
            Behind::Native { table, state, context } => {
                Behind::Native { table: *table, state: state.clone(), context: context.clone() }
            }
            Behind::Object(_) => Behind::Object(None),
            Behind::Nothing => Behind::Nothing,
        };
        let (linked, faults, trail) = (self.linked.clone(), self.faults.clone(), Vec::new());
        RunningResponse { behind, linked, faults, trail, ..*self }
    }
}

impl fmt::Debug for RunningResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningResponse").field("pace", &self.pace).field("linked", &self.linked).finish()
    }
}
