//! Faults of hosts: slow reception, storms of pauses, stops, and links that are down.

use becalm_engine::Time;

use crate::context::Context;
use crate::event::Signal;
use crate::faults::{FaultKind, Step};
use crate::host::adapter::{Adapter, Receiving};
use crate::host::flows::Flows;
use crate::host::hosts::Hosts;
use crate::host::ready::Listed;
use crate::network::link::Rate;
use crate::packet::{Kind, Packet};
use crate::policy::{Echo, Observer, Response};

/// How a host receives now.
enum Reception {
    Stopped,
    At(Rate),
    OnArrival,
}

impl Adapter {
    fn reception(&self, receiving: &Receiving) -> Reception {
        if receiving.stopped {
            return Reception::Stopped;
        }
        receiving.slow.or(self.config.drain_rate).map_or(Reception::OnArrival, Reception::At)
    }

    /// Removes the first packet from the receive buffer and returns it.
    fn take_out<O: Observer>(&mut self, cx: &mut Context<'_, O>) -> Option<Packet> {
        let mut packet = self.draining.pop_front()?;
        let arrived = self.receiving.as_mut()?.arrived.pop_front()?;
        if packet.kind == Kind::Data {
            cx.shared.trails.hold(cx.now.since(arrived), &mut packet);
        }
        self.empty(packet.vl, packet.size, cx);
        Some(packet)
    }

    /// Keeps the adapter from sending. A packet that has begun is sent completely.
    fn hold<O: Observer>(&mut self, cx: &mut Context<'_, O>) {
        if self.holds.0 == 0 {
            self.holds.1 = self.busy_until;
            self.busy_until = Time::MAX;
            self.stop_waiting(0, cx);
        }
        self.holds.0 += 1;
    }

    /// Lets the adapter send again, unless another fault holds it.
    fn release<R: Response>(&mut self, now: Time, flows: &mut Flows<R>) {
        self.holds.0 -= 1;
        if self.holds.0 > 0 {
            return;
        }
        self.busy_until = self.holds.1;
        // A pacer that was listed early may be due later than the end of the last transmission.
        if self.early < Time::MAX
            && self.early > self.busy_until.max(now)
            && let Some(Listed { pacer: id, .. }) = self.ready.first_outside(0)
        {
            self.unlist(id, flows);
            self.update_pacer(id, now, flows);
        }
        self.unblock();
    }

    /// Begins or ends a storm of pauses on some lanes.
    fn storm<O: Observer>(&mut self, lanes: u16, storms: bool, cx: &mut Context<'_, O>) {
        for vl in (0..cx.shared.config.vls).filter(|vl| lanes & 1 << vl != 0) {
            if self.pauses.as_mut().is_some_and(|pauses| pauses.storm(usize::from(vl), storms)) {
                self.tell(vl, storms, cx);
            }
        }
    }
}

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles a step of a fault.
    #[cold]
    #[inline(never)]
    pub fn on_fault<O: Observer>(&mut self, host: u32, number: u32, cx: &mut Context<'_, O>) {
        let (index, fault, step) = cx.shared.faults.of(number);
        let adapter = &mut self.adapters[host as usize];
        let begins = step == Step::Begin;
        if step == Step::Eve {
            let last = adapter.last_sent();
            let leaves = if last.tail > cx.now { (1, u64::from(last.size)) } else { (0, 0) };
            return cx.shared.faults.eve(index, (adapter.packets - leaves.0, adapter.bytes - leaves.1));
        }
        if step == Step::End && fault.kind.fills_hosts() {
            let toll = &mut cx.shared.faults.tolls[index];
            (toll.held, toll.held_bytes) = adapter.in_receive_buffer();
        }
        match (fault.kind, &mut adapter.receiving) {
            (FaultKind::Storm(lanes), _) => return adapter.storm(lanes, begins, cx),
            (FaultKind::Slow(rate), Some(receiving)) => receiving.slow = begins.then_some(rate),
            (FaultKind::Stop, Some(receiving)) => receiving.stopped = begins,
            _ => {}
        }
        match (fault.kind, begins) {
            (FaultKind::LinkDown, true) => {
                cx.shared.faults.begin(index, (adapter.packets, adapter.bytes));
                adapter.hold(cx);
            }
            (FaultKind::Stop, true) => adapter.hold(cx),
            (FaultKind::LinkDown | FaultKind::Stop, false) => adapter.release(cx.now, &mut self.flows),
            (FaultKind::Slow(_) | FaultKind::Storm(_), _) => {}
        }
        if fault.kind == FaultKind::LinkDown {
            cx.shared.faults.tolls[index].moved += self.detour_all(cx);
        }
        self.receive_next(host, cx);
    }

    /// Stores a packet whose last byte has arrived, and receives it when it is the first.
    #[inline(never)]
    pub fn take_in<O: Observer>(&mut self, host: u32, packet: &Packet, cx: &mut Context<'_, O>) {
        let adapter = &mut self.adapters[host as usize];
        if adapter.loses(packet, cx) {
            return;
        }
        adapter.fill(packet.vl, packet.size, cx);
        adapter.draining.push_back(*packet);
        if let Some(receiving) = &mut adapter.receiving {
            receiving.arrived.push_back(cx.now);
        }
        self.receive_next(host, cx);
    }

    /// Ends the reception of the first packet.
    #[inline(never)]
    pub fn on_taken_in<O: Observer>(&mut self, host: u32, cx: &mut Context<'_, O>) {
        let adapter = &mut self.adapters[host as usize];
        if let Some(receiving) = &mut adapter.receiving {
            receiving.is_busy = false;
        }
        if let Some(packet) = adapter.take_out(cx) {
            self.deliver_drained(host, &packet, cx);
        }
        self.receive_next(host, cx);
    }

    /// Begins the reception of the first packet. Packets without a rate are received at once.
    fn receive_next<O: Observer>(&mut self, host: u32, cx: &mut Context<'_, O>) {
        loop {
            let adapter = &mut self.adapters[host as usize];
            let Some(receiving) = &adapter.receiving else { return };
            let Some(&Packet { size, tie, .. }) = adapter.draining.front() else { return };
            if receiving.is_busy {
                return;
            }
            match adapter.reception(receiving) {
                Reception::Stopped => return,
                Reception::At(rate) => {
                    adapter.receiving.iter_mut().for_each(|receiving| receiving.is_busy = true);
                    let at = cx.now + rate.time_of(size);
                    return cx.schedule(at, adapter.node, 0, u64::from(tie), Signal::Drained(tie));
                }
                Reception::OnArrival => {
                    let Some(packet) = adapter.take_out(cx) else { return };
                    self.deliver_drained(host, &packet, cx);
                }
            }
        }
    }
}

impl Adapter {
    /// Number and bytes of the packets in the receive buffer.
    pub fn in_receive_buffer(&self) -> (u64, u64) {
        let bytes = self.draining.iter().map(|packet| u64::from(packet.size));
        (self.draining.len() as u64, bytes.sum())
    }
}
