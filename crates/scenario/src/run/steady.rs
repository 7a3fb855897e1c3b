//! Stretches in which every flow keeps its rate: they are measured once, and the rest of them is left out
//! (`run.fidelity = "steady"`).
//!
//! Two windows of equal length are compared. If no message begins or ends, nothing is marked, no rank waits for a time,
//! no source changes its pace, and every flow sends and delivers in both as many packets, except for two trains, the flows
//! keep their rates until the first message ends. Their messages are shortened by what the flows would have sent until
//! shortly before. The fabric itself stays as it is: its queues, pauses and packets in flight are those of any moment of
//! the stretch. Sources that respond to marks may change their pace later, so from the first mark on, nothing is left out.

use becalm_engine::Time;
use becalm_fabric::policy::Pace;
use becalm_fabric::{FlowId, NodeId, PortCounters};
use becalm_metrics::Received;
use becalm_model::Model;

use crate::resolve::Link;
use crate::scenario::Scenario;
use crate::sections::run::Fidelity;

/// Number of trains that the fastest link carries in the first window.
const WINDOW: u64 = 64;

/// Number of trains of a flow in both windows together, at least: one more or less is chance. ACKs take some of the rate.
const LEAST_TRAINS: u64 = 112;

/// Number of trains of a message that are always simulated, at its end.
const LAST_TRAINS: u64 = 16;

/// What a flow, a link or a host has carried.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub packets: u64,
    /// On the wire.
    pub bytes: u64,
    /// Time of a link without credit.
    pub stalled: Time,
}

impl Count {
    fn plus(self, other: Count) -> Count {
        Count {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            stalled: self.stalled + other.stalled,
        }
    }

    fn since(self, before: Count) -> Count {
        Count {
            packets: self.packets - before.packets,
            bytes: self.bytes - before.bytes,
            stalled: self.stalled.since(before.stalled),
        }
    }

    fn scaled(self, factor: f64) -> Count {
        let scaled = |count: u64| (count as f64 * factor) as u64;
        Count { packets: scaled(self.packets), bytes: scaled(self.bytes), stalled: Time(scaled(self.stalled.0)) }
    }
}

/// What a flow has done so far.
struct FlowMark {
    sent: Count,
    delivered: u64,
    /// Messages posted and delivered, and marked packets delivered.
    events: u64,
    pace: Pace,
}

/// All counters at one time.
struct Mark {
    time: Time,
    flows: Vec<FlowMark>,
    links: Vec<Count>,
    hosts: Vec<Count>,
    /// Packets that switches have marked.
    marked: u64,
}

/// A flow that sends in a stretch.
struct Sending {
    flow: usize,
    /// What it sends in both windows.
    count: Count,
    /// Packets of its message that can be left out.
    rest: u64,
    /// Packets left out so far.
    left_out: u64,
}

/// A stretch with constant rates.
struct Stretch {
    /// The length of the two windows in which the rates were measured.
    measured: Time,
    flows: Vec<Sending>,
    /// By link and by host, in these windows.
    links: Vec<Count>,
    hosts: Vec<Count>,
    left_out: Time,
    rest: Time,
}

impl Stretch {
    /// What was left out, as a multiple of what was measured.
    fn factor(&self) -> f64 {
        self.left_out.0 as f64 / self.measured.0 as f64
    }
}

/// What two windows show.
enum Windows {
    /// All flows keep their rates.
    Steady(Stretch),
    /// All flows may keep their rates, but some have sent too few packets to tell.
    Short,
    Changing,
}

/// Searches for stretches with constant rates, and leaves them out.
pub(super) struct Steady {
    /// Largest number of packets of a train.
    train: u64,
    /// Payload of a full packet.
    mtu: u32,
    /// Whether sources respond to marks.
    responds: bool,
    /// The length of the first window.
    window: Time,
    /// The start of the first window and, later, of the second.
    marks: Vec<Mark>,
    /// Simulated time at which the current window ends.
    next: Time,
    stretch: Option<Stretch>,
    /// What was left out, without the links and hosts of the current stretch.
    flows: Vec<Count>,
    links: Vec<Count>,
    hosts: Vec<Count>,
}

impl Steady {
    /// A search from the start of a run; `None` if the run does not leave out anything.
    pub fn new(scenario: &Scenario) -> Option<Steady> {
        let sections = &scenario.sections;
        if *sections.run.fidelity != Fidelity::Steady {
            return None;
        }
        let train = u64::from(scenario.train());
        let links = scenario.network.links.iter();
        let fastest = links.map(|link| link.rate.time_of(sections.packet.full())).min();
        let window = Time(fastest.unwrap_or(Time(1)).0 * train * WINDOW);
        let counts = |number: usize| vec![Count::default(); number];
        Some(Steady {
            train,
            mtu: sections.packet_config().mtu,
            responds: scenario.responds(),
            window,
            marks: Vec::new(),
            next: window,
            stretch: None,
            flows: counts(scenario.plan.flows.len()),
            links: counts(scenario.network.links.len()),
            hosts: counts(scenario.network.topology.hosts().count()),
        })
    }

    /// Begins to measure again, as something has changed.
    pub fn restart(&mut self, now: Time) {
        self.end_stretch(now + self.window);
    }

    /// Simulated time until the next call of [`Steady::measure`], including what can be left out before.
    pub fn until_measure(&self, now: Time) -> Time {
        self.stretch.as_ref().map_or(self.next.since(now), |stretch| stretch.rest)
    }

    /// The time that can be left out now.
    pub fn can_leave_out(&self) -> Time {
        self.stretch.as_ref().map_or(Time::ZERO, |stretch| stretch.rest)
    }

    /// Leaves out a time; at most [`Steady::can_leave_out`].
    pub fn leave_out(&mut self, time: Time, model: &mut Model) {
        let Some(stretch) = &mut self.stretch else { return };
        stretch.left_out += time;
        stretch.rest = stretch.rest.since(time);
        let factor = stretch.factor();
        for sending in &mut stretch.flows {
            let packets = sending.count.scaled(factor).packets - sending.left_out;
            sending.left_out += packets;
            model.leave_out(FlowId(sending.flow as u32), packets as u32 * self.mtu);
            let bytes = packets * (sending.count.bytes / sending.count.packets);
            self.flows[sending.flow] = self.flows[sending.flow].plus(Count { packets, bytes, stalled: Time::ZERO });
        }
        if stretch.rest == Time::ZERO {
            self.end_stretch(model.work().time);
        }
    }

    /// Adds the counts of the stretch to the sums, and measures again from a time.
    fn end_stretch(&mut self, next: Time) {
        if let Some(stretch) = self.stretch.take() {
            let factor = stretch.factor();
            let add = |sums: &mut [Count], counts: &[Count]| {
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.plus(count.scaled(factor)));
            };
            add(&mut self.links, &stretch.links);
            add(&mut self.hosts, &stretch.hosts);
        }
        self.marks.clear();
        self.next = next;
    }

    /// What was left out of a flow, and its payload in bytes.
    pub fn of_flow(&self, flow: FlowId) -> (Count, u64) {
        let count = self.flows[flow.index()];
        (count, count.packets * u64::from(self.mtu))
    }

    /// What was left out on a link.
    pub fn of_link(&self, link: usize) -> Count {
        let now = |stretch: &Stretch| stretch.links[link].scaled(stretch.factor());
        self.links[link].plus(self.stretch.as_ref().map_or(Count::default(), now))
    }

    /// By rank of the host, what it would have received.
    pub fn into_hosts(mut self) -> Vec<Count> {
        self.end_stretch(Time::MAX);
        self.hosts
    }

    /// Handles the end of a window.
    pub fn measure(&mut self, scenario: &Scenario, model: &Model) {
        let mark = Mark::of(scenario, model);
        let [first, second] = &self.marks[..] else {
            self.next = mark.time + self.window;
            self.marks.push(mark);
            return;
        };
        match self.compare(scenario, model, [first, second, &mark]) {
            Windows::Steady(stretch) => self.stretch = Some(stretch),
            Windows::Short => {
                self.next = mark.time + mark.time.since(first.time);
                self.marks[1] = mark;
            }
            Windows::Changing => {
                self.next = mark.time + self.window;
                self.marks = vec![mark];
            }
        }
    }

    /// Compares the windows between three marks.
    fn compare(&self, scenario: &Scenario, model: &Model, [first, second, last]: [&Mark; 3]) -> Windows {
        let marks = if self.responds { last.marked } else { last.marked - first.marked };
        if marks > 0 || model.ranks_wait_for_time() || scenario.last_job() > Some(first.time) {
            return Windows::Changing;
        }
        let marks = first.flows.iter().zip(&second.flows).zip(&last.flows).map(|((a, b), c)| [a, b, c]);
        let mut flows = Vec::new();
        for (flow, marks) in marks.enumerate() {
            let Ok(sending) = self.sending(model, flow, marks) else { return Windows::Changing };
            flows.extend(sending);
        }
        if flows.iter().any(|sending| sending.count.packets < LEAST_TRAINS * self.train) {
            return Windows::Short;
        }
        let measured = last.time.since(first.time);
        let time = |sending: &Sending| measured.scaled(sending.rest as f64 / sending.count.packets as f64);
        let Some(rest) = flows.iter().map(time).min().filter(|rest| *rest >= measured) else {
            return Windows::Changing;
        };
        let since = |first: &[Count], last: &[Count]| last.iter().zip(first).map(|(c, a)| c.since(*a)).collect();
        let (links, hosts) = (since(&first.links, &last.links), since(&first.hosts, &last.hosts));
        Windows::Steady(Stretch { measured, flows, links, hosts, left_out: Time::ZERO, rest })
    }

    /// What a flow sends, if it sends anything; an error if it does not keep its rate.
    fn sending(&self, model: &Model, flow: usize, [a, b, c]: [&FlowMark; 3]) -> Result<Option<Sending>, ()> {
        let (count, delivered) = (c.sent.since(a.sent), c.delivered - a.delivered);
        let message = model.rest_of_message(FlowId(flow as u32));
        if message.is_none() && a.events == c.events && count.packets == 0 && delivered == 0 {
            return Ok(None);
        }
        // A window's edge may divide a train, so each count may be wrong by one.
        let alike = |one: u64, other: u64| one.abs_diff(other) <= 2 * self.train;
        let halves = (b.sent.packets - a.sent.packets, c.sent.packets - b.sent.packets);
        let same = a.events == c.events && a.pace == c.pace;
        match message {
            Some(bytes) if same && alike(halves.0, halves.1) && alike(count.packets, delivered) => {
                let rest = u64::from(bytes / self.mtu).saturating_sub(LAST_TRAINS * self.train);
                Ok(Some(Sending { flow, count, rest, left_out: 0 }))
            }
            _ => Err(()),
        }
    }
}

impl Mark {
    fn of(scenario: &Scenario, model: &Model) -> Mark {
        let time = model.work().time;
        let flow = |flow: u32| {
            let view = model.flow(FlowId(flow));
            FlowMark {
                sent: Count { packets: view.sent_packets, bytes: view.sent_bytes, stalled: Time::ZERO },
                delivered: view.delivered_packets,
                events: view.posted_messages + view.messages_delivered + view.delivered_marked,
                pace: view.pace,
            }
        };
        let mut marked = 0;
        let mut link = |link: &Link| {
            let PortCounters { packets, bytes, marked: marks } = model.port(link.from);
            marked += marks;
            Count { packets, bytes, stalled: model.observer(link.from.node).stalls.time(link.from, time) }
        };
        let host = |(rank, node): (usize, NodeId)| {
            let Received { packets, bytes, .. } = model.observer(node).hosts.received()[rank];
            Count { packets, bytes, stalled: Time::ZERO }
        };
        let links = scenario.network.links.iter().map(&mut link).collect();
        Mark {
            time,
            flows: (0..scenario.plan.flows.len() as u32).map(flow).collect(),
            links,
            hosts: scenario.network.topology.hosts().enumerate().map(host).collect(),
            marked,
        }
    }
}
