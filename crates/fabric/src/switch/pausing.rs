//! Priority-based flow control of a switch: its input buffers pause their senders.

use crate::context::Context;
use crate::packet::Packet;
use crate::policy::Observer;
use crate::switch::state::State;

impl State {
    /// Counts a packet whose header has arrived, and pauses its sender if its buffer is now above XOFF.
    pub fn pause<O: Observer>(&mut self, input: u16, packet: &Packet, cx: &mut Context<'_, O>) {
        let at = self.at(input, packet.vl);
        if let Some(pauses) = &mut self.pauses
            && pauses.received(at, packet.size)
        {
            self.tell(input, packet.vl, true, cx);
        }
    }

    /// Stops counting a packet whose last byte has left, and resumes its sender if the buffer has drained to
    /// XON.
    pub fn release<O: Observer>(&mut self, input: u16, vl: u8, size: u32, cx: &mut Context<'_, O>) {
        let at = self.at(input, vl);
        if let Some(pauses) = &mut self.pauses
            && pauses.released(at, size)
        {
            self.tell(input, vl, false, cx);
        }
    }

    pub(super) fn tell<O: Observer>(&self, input: u16, vl: u8, stops: bool, cx: &mut Context<'_, O>) {
        cx.observer.paused(cx.now, self.port(input), vl, stops);
        cx.pause(&self.ports[self.at(input, vl)].input.credit_return, vl, stops);
    }
}
