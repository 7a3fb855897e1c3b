//! Runs responses without a fabric, to check the rules for every response.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_external::{Faults, RunningResponse, Scheme};
use becalm_fabric::Rate;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Response, Sent};

type Step = (String, u64, u32, u32, u64);
/// The paces of a flow: gap, window and timer.
pub type Paces = Vec<(f64, u32, Option<u64>)>;

/// Maximum number of timers before a step. Further timers are skipped, because a response may set one every
/// picosecond.
const MOST_TIMERS: usize = 1000;
/// Size of a packet in bytes.
const SIZE: u32 = 2068;

struct Flow {
    response: RunningResponse,
    paces: Paces,
    sent: u32,
    acknowledged: u32,
}

impl Flow {
    fn note(&mut self) {
        let pace = self.response.pace();
        self.paces.push((pace.gap, pace.window, self.response.deadline().map(|time| time.0)));
    }

    fn step(&mut self, (kind, now, marked, covers, rtt): &Step) {
        for _ in 0..MOST_TIMERS {
            let Some(due) = self.response.deadline().filter(|due| due.0 < *now) else { break };
            self.response.notice(due, &Notice::Timer);
        }
        let now = Time(*now);
        match kind.as_str() {
            "ack" => {
                self.acknowledged += covers;
                self.sent = self.sent.max(self.acknowledged);
                let (sequence, next) = (self.acknowledged - 1, self.sent);
                let (marked, covers, rtt) = (*marked, *covers, Time(*rtt));
                let in_flight = self.sent - self.acknowledged;
                let ack = Ack { marked, covers, sequence, next, in_flight, rtt, held: Time::ZERO, trail: &[] };
                self.response.notice(now, &Notice::Ack(ack));
            }
            "becn" => self.response.notice(now, &Notice::Becn),
            "restart" => {
                self.response.notice(now, &Notice::Restart);
                (self.sent, self.acknowledged) = (0, 0);
            }
            "sent" => {
                self.sent += 1;
                let in_flight = self.sent.saturating_sub(self.acknowledged).max(1);
                self.response.sent(&Sent { now, bytes: SIZE, in_flight });
            }
            _ => {}
        }
        self.note();
    }
}

/// See `drive` in Python.
pub fn drive(scheme: &Arc<Scheme>, flows: &[Vec<Step>]) -> (Vec<Paces>, Option<String>) {
    let faults = Faults::default();
    let shape = FlowShape {
        rate: Rate::from_bits_per_second(8e9),
        mtu: 2048,
        header: 20,
        base_rtt: Time::from_us(5),
        longest_rtt: Time::from_us(5),
        hops: 3,
    };
    let begin = |number: u32| {
        let mut response = RunningResponse::plain(scheme.clone(), faults.clone(), number);
        response.start(&shape);
        let mut flow = Flow { response, paces: Vec::new(), sent: 0, acknowledged: 0 };
        flow.note();
        flow
    };
    let mut running: Vec<Flow> = (0..flows.len() as u32).map(begin).collect();
    for turn in 0..flows.iter().map(Vec::len).max().unwrap_or(0) {
        for (flow, steps) in running.iter_mut().zip(flows) {
            if let Some(step) = steps.get(turn) {
                flow.step(step);
            }
        }
    }
    let failure = faults.first().map(|failure| failure.to_string());
    (running.into_iter().map(|flow| flow.paces).collect(), failure)
}
