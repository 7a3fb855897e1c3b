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
            None => cx.return_credit(&self.credit_return, vl, units, cx.now),
            Some(true) => self.tell(vl, false, cx),
            Some(false) => {}
        }
    }

    pub(super) fn tell<O: Observer>(&self, vl: u8, stops: bool, cx: &mut Context<'_, O>) {
        cx.observer.paused(cx.now, self.port(), vl, stops);
        cx.pause(&self.credit_return, vl, stops);
    }
}
