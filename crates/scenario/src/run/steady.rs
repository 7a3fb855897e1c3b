//! Stretches in which every flow keeps its rate: they are measured once, and the rest of them is left out
//! (`run.fidelity = "steady"`).
//!
//! Two windows of equal length are compared. If no message begins or ends, nothing is marked, no rank waits for a time,
//! and every flow sends and delivers in both as many packets, except for two trains, the flows keep their rates until the
//! first message ends. Their messages are shortened by what the flows would have sent until shortly before. The fabric
//! itself stays as it is: its queues, pauses and packets in flight are those of any moment of the stretch.

use becalm_engine::Time;
use becalm_fabric::{FlowId, NodeId, PortCounters};
use becalm_metrics::Received;
use becalm_model::Model;

use crate::resolve::Link;
use crate::scenario::Scenario;
use crate::sections::run::Fidelity;

/// Number of trains of a flow in both windows together, at least: the number of them at the edges of a window is random.
const LEAST_TRAINS: u64 = 128;

/// Number of trains of a message that are always simulated, at its end.
const LAST_TRAINS: u64 = 16;

/// What a flow has done so far.
#[derive(Clone, Copy, Default)]
struct FlowMark {
    sent: u64,
    /// On the wire.
    sent_bytes: u64,
    delivered: u64,
    marked: u64,
    /// Messages posted and delivered.
    messages: u64,
}

/// What a link has carried so far.
#[derive(Clone, Copy, Default)]
struct LinkMark {
    counters: PortCounters,
    stalled: Time,
}

/// All counters at one time.
struct Mark {
    time: Time,
    flows: Vec<FlowMark>,
    links: Vec<LinkMark>,
    hosts: Vec<Received>,
}

/// What was left out on a link or at a host.
#[derive(Clone, Copy, Default)]
struct Carried {
    packets: u64,
    bytes: u64,
    stalled: u64,
}

/// What was left out of a flow.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    pub packets: u64,
    /// On the wire.
    pub bytes: u64,
    pub payload: u64,
}

/// A flow that sends in a stretch.
struct Sending {
    flow: u32,
    /// Data packets in both windows.
    packets: u64,
    /// Bytes of each on the wire.
    size: u64,
    /// Packets left out so far.
    left_out: u64,
}

/// A stretch with constant rates.
struct Stretch {
    /// The length of the two windows in which the rates were measured.
    measured: Time,
    flows: Vec<Sending>,
    /// By link and by host, in these windows.
    links: Vec<Carried>,
    hosts: Vec<Carried>,
    left_out: Time,
    rest: Time,
}

impl Stretch {
    /// What this count, of the measured windows, is for all that was left out.
    fn scaled(&self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.left_out.0) / u128::from(self.measured.0)) as u64
    }

    fn carried(&self, of: &Carried) -> Carried {
        Carried { packets: self.scaled(of.packets), bytes: self.scaled(of.bytes), stalled: self.scaled(of.stalled) }
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
    mtu: u32,
    /// The length of the first window.
    window: Time,
    /// The start of the first window and, later, of the second.
    marks: Vec<Mark>,
    /// Simulated time at which the current window ends.
    next: Time,
    stretch: Option<Stretch>,
    flows: Vec<LeftOut>,
    links: Vec<Carried>,
    hosts: Vec<Carried>,
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
        let window = Time(fastest.unwrap_or(Time(1)).0 * train * LEAST_TRAINS / 2);
        let hosts = scenario.network.topology.nodes().len();
        Some(Steady {
            train,
            mtu: sections.packet_config().mtu,
            window,
            marks: Vec::new(),
            next: window,
            stretch: None,
            flows: vec![LeftOut::default(); scenario.plan.flows.len()],
            links: vec![Carried::default(); scenario.network.links.len()],
            hosts: vec![Carried::default(); hosts],
        })
    }

    /// Begins to measure again, as something has changed.
    pub fn restart(&mut self, now: Time) {
        self.end_stretch();
        self.marks.clear();
        self.next = now + self.window;
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
        let (left_out, measured) = (u128::from(stretch.left_out.0), u128::from(stretch.measured.0));
        for sending in &mut stretch.flows {
            let packets = (u128::from(sending.packets) * left_out / measured) as u64 - sending.left_out;
            sending.left_out += packets;
            let payload = packets * u64::from(self.mtu);
            model.leave_out(FlowId(sending.flow), payload as u32);
            let sum = &mut self.flows[sending.flow as usize];
            sum.packets += packets;
            sum.bytes += packets * sending.size;
            sum.payload += payload;
        }
        if stretch.rest == Time::ZERO {
            self.end_stretch();
            self.marks.clear();
            self.next = model.work().time;
        }
    }

    /// Adds the counts of the stretch to the sums.
    fn end_stretch(&mut self) {
        let Some(stretch) = self.stretch.take() else { return };
        let add = |sums: &mut [Carried], counts: &[Carried]| {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = plus(*sum, stretch.carried(count));
            }
        };
        add(&mut self.links, &stretch.links);
        add(&mut self.hosts, &stretch.hosts);
    }

    /// What was left out of a flow.
    pub fn of_flow(&self, flow: FlowId) -> LeftOut {
        self.flows[flow.index()]
    }

    /// Packets and bytes that were left out on a link, and the time for which it would have waited for credit.
    pub fn of_link(&self, link: usize) -> (PortCounters, Time) {
        let now = self.stretch.as_ref().map_or(Carried::default(), |stretch| stretch.carried(&stretch.links[link]));
        let Carried { packets, bytes, stalled } = plus(self.links[link], now);
        (PortCounters { packets, bytes, marked: 0 }, Time(stalled))
    }

    /// By rank of the host, packets and bytes that it would have received.
    pub fn of_hosts(&mut self) -> impl Iterator<Item = (u64, u64)> {
        self.end_stretch();
        self.hosts.iter().map(|host| (host.packets, host.bytes))
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
        let marked = |mark: &Mark| mark.links.iter().map(|link| link.counters.marked).sum::<u64>();
        if marked(first) < marked(last) || model.ranks_wait_for_time() || scenario.last_job() > Some(first.time) {
            return Windows::Changing;
        }
        let measured = last.time.since(first.time);
        let (mut flows, mut rest, mut is_short) = (Vec::new(), Time::MAX, false);
        for (flow, ((a, b), c)) in (0u32..).zip(first.flows.iter().zip(&second.flows).zip(&last.flows)) {
            if a.messages != c.messages || a.marked != c.marked {
                return Windows::Changing;
            }
            let message = model.rest_of_message(FlowId(flow));
            let packets = c.sent - a.sent;
            if message.is_none() && packets == 0 && a.delivered == c.delivered {
                continue;
            }
            let Some(message) = message.filter(|_| self.keeps_rate([a, b, c])) else { return Windows::Changing };
            is_short |= packets < LEAST_TRAINS * self.train;
            let left = u64::from(message / self.mtu).saturating_sub(LAST_TRAINS * self.train);
            rest = rest.min(Time((u128::from(left) * u128::from(measured.0) / u128::from(packets.max(1))) as u64));
            let size = (c.sent_bytes - a.sent_bytes) / packets.max(1);
            flows.push(Sending { flow, packets, size, left_out: 0 });
        }
        if is_short {
            return Windows::Short;
        }
        if flows.is_empty() || rest < measured {
            return Windows::Changing;
        }
        let links = first.links.iter().zip(&last.links).map(|(a, c)| Carried {
            packets: c.counters.packets - a.counters.packets,
            bytes: c.counters.bytes - a.counters.bytes,
            stalled: c.stalled.since(a.stalled).0,
        });
        let hosts = first.hosts.iter().zip(&last.hosts).map(|(a, c)| Carried {
            packets: c.packets - a.packets,
            bytes: c.bytes - a.bytes,
            stalled: 0,
        });
        let (links, hosts) = (links.collect(), hosts.collect());
        Windows::Steady(Stretch { measured, flows, links, hosts, left_out: Time::ZERO, rest })
    }

    /// Whether a flow sends and delivers as many packets in both windows. Each count may be wrong by a train, which a
    /// window's edge divides.
    fn keeps_rate(&self, [a, b, c]: [&FlowMark; 3]) -> bool {
        let sent = (b.sent - a.sent).abs_diff(c.sent - b.sent);
        let under_way = (c.sent - a.sent).abs_diff(c.delivered - a.delivered);
        sent <= 2 * self.train && under_way <= 2 * self.train
    }
}

fn plus(a: Carried, b: Carried) -> Carried {
    Carried { packets: a.packets + b.packets, bytes: a.bytes + b.bytes, stalled: a.stalled + b.stalled }
}

impl Mark {
    fn of(scenario: &Scenario, model: &Model) -> Mark {
        let time = model.work().time;
        let flow = |flow: u32| {
            let view = model.flow(FlowId(flow));
            FlowMark {
                sent: view.sent_packets,
                sent_bytes: view.sent_bytes,
                delivered: view.delivered_packets,
                marked: view.delivered_marked,
                messages: view.posted_messages + view.messages_delivered,
            }
        };
        let link = |link: &Link| LinkMark {
            counters: model.port(link.from),
            stalled: model.observer(link.from.node).stalls.time(link.from, time),
        };
        let hosts = (0..scenario.network.topology.nodes().len() as u32)
            .filter(|&node| scenario.network.topology.node(NodeId(node)).kind == becalm_fabric::NodeKind::Host);
        let received = |(rank, node): (usize, u32)| model.observer(NodeId(node)).hosts.received()[rank];
        Mark {
            time,
            flows: (0..scenario.plan.flows.len() as u32).map(flow).collect(),
            links: scenario.network.links.iter().map(link).collect(),
            hosts: hosts.enumerate().map(received).collect(),
        }
    }
}
