//! The receive buffer of an adapter with a drain rate.

use crate::context::Context;
use crate::event::Signal;
use crate::host::adapter::Adapter;
use crate::packet::{Kind, Packet};
use crate::policy::Observer;

impl Adapter {
    /// Stores a packet whose last byte has arrived, and schedules its draining.
    #[inline(never)]
    pub fn receive<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        let Some(rate) = self.config.drain_rate else { return };
        if self.loses(packet, cx) {
            return;
        }
        let mut packet = *packet;
        self.fill(packet.vl, packet.size, cx);
        self.drained_at = self.drained_at.max(cx.now) + rate.time_of(packet.size);
        if packet.kind == Kind::Data {
            cx.shared.trails.hold(self.drained_at.since(cx.now), &mut packet);
        }
        self.draining.push_back(packet);
        cx.schedule(self.drained_at, self.node, 0, u64::from(packet.tie), Signal::Drained(packet.tie));
    }

    /// Removes a drained packet from the buffer and returns it.
    pub fn drained<O: Observer>(&mut self, tie: u32, cx: &mut Context<'_, O>) -> Packet {
        // It is the first one, unless several are drained at the same time.
        let at = self.draining.iter().position(|packet| packet.tie == tie).expect("every packet is drained once");
        let packet = self.draining.remove(at).expect("found");
        self.empty(packet.vl, packet.size, cx);
        packet
    }

    /// Whether a packet is lost because the receive buffer has no room for it. Records it.
    #[inline(never)]
    pub fn loses<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) -> bool {
        let vl = usize::from(packet.vl);
        if !self.pauses.as_ref().is_some_and(|pauses| pauses.loses(vl, packet.size)) {
            return false;
        }
        self.lost.resize(self.taken.len(), (0, 0));
        self.lost[vl] = (self.lost[vl].0 + 1, self.lost[vl].1 + u64::from(packet.size));
        cx.lose(packet);
        true
    }

    /// Occupies space in the receive buffer. With PFC, pauses the sender if the buffer is now above XOFF.
    pub(super) fn fill<O: Observer>(&mut self, vl: u8, size: u32, cx: &mut Context<'_, O>) {
        self.taken[usize::from(vl)] += cx.shared.config.need(size);
        if let Some(pauses) = &mut self.pauses
            && pauses.received(usize::from(vl), size)
        {
            self.tell(vl, true, cx);
        }
    }

    /// Frees space. With PFC, resumes the sender if the buffer has drained to XON.
    pub(super) fn empty<O: Observer>(&mut self, vl: u8, size: u32, cx: &mut Context<'_, O>) {
        let units = cx.shared.config.need(size);
        self.taken[usize::from(vl)] -= units;
        match self.pauses.as_mut().map(|pauses| pauses.released(usize::from(vl), size)) {
            None => {
                let cbfc = cx.shared.config.flow_control.cbfc();
                let time = cbfc.map_or(cx.now, |cbfc| cbfc.next_update(self.link.rate, cx.now));
                cx.return_credit(&self.credit_return, vl, units, time);
            }
            Some(true) => self.tell(vl, false, cx),
            Some(false) => {}
        }
    }

    pub(super) fn tell<O: Observer>(&self, vl: u8, stops: bool, cx: &mut Context<'_, O>) {
        cx.observer.paused(cx.now, self.port(), vl, stops);
        cx.pause(&self.credit_return, vl, stops);
    }
}
