//! A host's adapter: flows take turns on its link, answers go first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use becalm_engine::{Time, mix};

use crate::config::{Injection, PacketConfig};
use crate::event::{Context, Event, Outlink};
use crate::flow::{Sender, Standing};
use crate::ids::{FlowId, NodeId, PacketId, PortId};
use crate::packet::{Kind, Packet};
use crate::seam::{Observer, Response};

/// The adapter of one host.
#[derive(Debug)]
pub(crate) struct Adapter {
    pub node: NodeId,
    pub link: Outlink,
    /// Units of credit by VL; not counted where the peer is a host.
    pub credit: Vec<u32>,
    stalled: Vec<bool>,
    busy_until: Time,
    /// The earliest pending [`Event::Wake`].
    wake_at: Time,
    /// ACKs and CNPs to send, in order.
    pub answers: VecDeque<PacketId>,
    /// Flows that may send.
    ready: Ready,
    /// Messages posted so far.
    posted: u64,
    /// Flows that may send later; an entry that no longer agrees with its flow's standing is void.
    paced: BinaryHeap<Reverse<(Time, u64, FlowId)>>,
    /// Scratch space of [`Adapter::send_next`].
    without_credit: Vec<(FlowId, u64)>,
    pub packets: u64,
    pub bytes: u64,
}

/// The flows of an adapter that may send, in the order in which they will.
#[derive(Debug)]
enum Ready {
    Turns(VecDeque<FlowId>),
    Posted(BinaryHeap<Reverse<(u64, FlowId)>>),
}

impl Ready {
    fn new(injection: Injection) -> Ready {
        match injection {
            Injection::RoundRobin => Ready::Turns(VecDeque::new()),
            Injection::Posted => Ready::Posted(BinaryHeap::new()),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Ready::Turns(flows) => flows.is_empty(),
            Ready::Posted(flows) => flows.is_empty(),
        }
    }

    /// Adds a flow whose next message is the `order`-th posted at the host.
    fn push(&mut self, id: FlowId, order: u64) {
        match self {
            Ready::Turns(flows) => flows.push_back(id),
            Ready::Posted(flows) => flows.push(Reverse((order, id))),
        }
    }

    /// Puts back what [`Ready::pop`] gave.
    fn push_front(&mut self, id: FlowId, order: u64) {
        match self {
            Ready::Turns(flows) => flows.push_front(id),
            Ready::Posted(flows) => flows.push(Reverse((order, id))),
        }
    }

    fn pop(&mut self) -> Option<(FlowId, u64)> {
        match self {
            Ready::Turns(flows) => flows.pop_front().map(|id| (id, 0)),
            Ready::Posted(flows) => flows.pop().map(|Reverse((order, id))| (id, order)),
        }
    }
}

/// What all adapters share.
pub(crate) struct Flows<'a, R> {
    pub senders: &'a mut [Sender<R>],
    pub packets: &'a PacketConfig,
    pub seed: u64,
}

impl Adapter {
    pub fn new(node: NodeId, link: Outlink, capacity: u32, vls: u8, injection: Injection) -> Adapter {
        Adapter {
            node,
            link,
            credit: vec![capacity; usize::from(vls)],
            stalled: vec![false; usize::from(vls)],
            busy_until: Time::ZERO,
            wake_at: Time::MAX,
            answers: VecDeque::new(),
            ready: Ready::new(injection),
            posted: 0,
            paced: BinaryHeap::new(),
            without_credit: Vec::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// The number of the next message in the order of posting.
    pub fn next_order(&mut self) -> u64 {
        self.posted += 1;
        self.posted - 1
    }

    pub fn port(&self) -> PortId {
        PortId { node: self.node, port: 0 }
    }

    /// Looks again whether a flow may send, after anything that could have changed it.
    pub fn consider<R: Response>(&mut self, id: FlowId, now: Time, flows: &mut Flows<'_, R>) {
        let flow = &mut flows.senders[id.index()];
        if flow.standing == Standing::Ready {
            return;
        }
        if !flow.may_send() {
            flow.standing = Standing::Idle;
            return;
        }
        let due = flow.due();
        if due <= now {
            flow.standing = Standing::Ready;
            self.ready.push(id, flow.first_order().unwrap_or(self.posted));
        } else if flow.standing != Standing::Paced(due) {
            flow.standing = Standing::Paced(due);
            self.paced.push(Reverse((due, mix(flows.seed, u64::from(id.0)), id)));
        }
    }

    /// Sends if the link is free and there is something to send; otherwise arranges to be woken.
    pub fn drive<O: Observer, R: Response>(&mut self, flows: &mut Flows<'_, R>, cx: &mut Context<'_, O>) {
        self.collect_due(cx.now, flows);
        if cx.now >= self.busy_until {
            self.send_next(flows, cx);
        }
        let next = if !self.answers.is_empty() || !self.ready.is_empty() {
            self.busy_until
        } else if let Some(Reverse((due, ..))) = self.paced.peek() {
            self.busy_until.max(*due)
        } else {
            return;
        };
        if next > cx.now && next < self.wake_at {
            self.wake_at = next;
            cx.schedule(next, self.node, 0, 0, Event::Wake);
        }
    }

    /// Notes that a wake-up has happened.
    pub fn woken(&mut self, now: Time) {
        if self.wake_at == now {
            self.wake_at = Time::MAX;
        }
    }

    /// Moves flows whose time has come to the list of those that may send, and drops void entries on the way.
    fn collect_due<R: Response>(&mut self, now: Time, flows: &mut Flows<'_, R>) {
        while let Some(&Reverse((due, _, id))) = self.paced.peek() {
            let flow = &mut flows.senders[id.index()];
            let void = flow.standing != Standing::Paced(due);
            if due > now && !void {
                return;
            }
            self.paced.pop();
            if !void {
                flow.standing = Standing::Ready;
                self.ready.push(id, flow.first_order().unwrap_or(self.posted));
            }
        }
    }

    /// Sends an answer, or else a packet of the next flow that may send and has credit.
    fn send_next<O: Observer, R: Response>(&mut self, flows: &mut Flows<'_, R>, cx: &mut Context<'_, O>) {
        if let Some(&id) = self.answers.front() {
            let (vl, size) = (cx.slab[id].vl, cx.slab[id].size);
            if self.affords(vl, size, cx) {
                self.answers.pop_front();
                self.transmit(id, cx);
                return;
            }
        }
        let mut without_credit = std::mem::take(&mut self.without_credit);
        let (mut dry, all_vls) = (0u16, (1u16 << self.credit.len()) - 1);
        while dry != all_vls {
            let Some((id, order)) = self.ready.pop() else { break };
            if !self.is_still_ready(id, cx.now, flows) {
                continue;
            }
            let vl = flows.senders[id.index()].vl;
            if self.affords(vl, flows.packets.largest(), cx) {
                self.send_data(id, flows, cx);
                break;
            }
            dry |= 1 << vl;
            without_credit.push((id, order));
        }
        without_credit.drain(..).rev().for_each(|(id, order)| self.ready.push_front(id, order));
        self.without_credit = without_credit;
    }

    /// Since it was put on the list, a flow's window or pace may have changed.
    fn is_still_ready<R: Response>(&mut self, id: FlowId, now: Time, flows: &mut Flows<'_, R>) -> bool {
        let flow = &mut flows.senders[id.index()];
        if flow.may_send() && flow.due() <= now {
            return true;
        }
        flow.standing = Standing::Idle;
        self.consider(id, now, flows);
        false
    }

    fn send_data<O: Observer, R: Response>(&mut self, id: FlowId, flows: &mut Flows<'_, R>, cx: &mut Context<'_, O>) {
        let flow = &mut flows.senders[id.index()];
        let piece = flow.next_piece(cx.now, flows.packets.mtu);
        let size = piece.payload + flows.packets.header;
        let packet = Packet {
            posted: piece.posted,
            injected: cx.now,
            flow: id,
            destination: flow.destination,
            sequence: flow.packets,
            size,
            payload: piece.payload,
            tie: tie(flows.seed, id, Kind::Data, flow.packets),
            kind: Kind::Data,
            vl: flow.vl,
            last: piece.last,
            marked: false,
            echo: false,
            input: 0,
            output: 0,
            order: 0,
            next: PacketId::NONE,
        };
        flow.sent(cx.now, size, self.link.rate.time_of(size));
        flow.pace = flow.response.pace();
        flow.standing = Standing::Idle;
        let packet = cx.slab.insert(packet);
        self.transmit(packet, cx);
        self.consider(id, cx.now, flows);
    }

    /// Whether the switch has room; notes the beginning and the end of a wait.
    fn affords<O: Observer>(&mut self, vl: u8, size: u32, cx: &mut Context<'_, O>) -> bool {
        if !self.link.to_switch {
            return true;
        }
        let v = usize::from(vl);
        let affords = self.credit[v] >= cx.switch.buffer.need(size);
        if self.stalled[v] == affords {
            self.stalled[v] = !affords;
            cx.observer.stalled(cx.now, self.port(), vl, !affords);
        }
        affords
    }

    fn transmit<O: Observer>(&mut self, id: PacketId, cx: &mut Context<'_, O>) {
        let (vl, size) = (usize::from(cx.slab[id].vl), cx.slab[id].size);
        if self.link.to_switch {
            self.credit[vl] -= cx.switch.buffer.need(size);
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.busy_until = cx.launch(self.port(), &self.link, id);
    }
}

/// The hash that decides between packets that reach a switch at the same time.
pub(crate) fn tie(seed: u64, flow: FlowId, kind: Kind, sequence: u32) -> u32 {
    mix(mix(seed, u64::from(flow.0) << 2 | kind as u64), u64::from(sequence)) as u32
}
