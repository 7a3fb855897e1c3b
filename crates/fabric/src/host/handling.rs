//! The events of hosts.

use crate::context::Context;
use crate::event::{Event, Signal, Word};
use crate::host::hosts::Hosts;
use crate::policy::{Echo, Observer, Response};

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles an event at a host, then sends what the host is able to send.
    #[inline(never)]
    pub fn handle<O: Observer>(&mut self, host: u32, event: &Event, cx: &mut Context<'_, O>) {
        match event {
            Event::Arrive(packet) if !self.adapters[host as usize].drains => self.deliver(host, packet, cx),
            Event::Arrive(packet) if self.adapters[host as usize].receiving.is_none() => {
                self.adapters[host as usize].receive(packet, cx);
            }
            Event::Arrive(packet) => self.take_in(host, packet, cx),
            &Event::Signal(word) => {
                if !self.handle_signal(host, word, cx) {
                    return;
                }
            }
        }
        self.adapters[host as usize].try_transmit(&mut self.flows, cx);
    }

    /// Handles a signal. Returns whether it was still valid.
    #[inline(always)]
    fn handle_signal<O: Observer>(&mut self, host: u32, word: Word, cx: &mut Context<'_, O>) -> bool {
        let adapter = &mut self.adapters[host as usize];
        match word.signal() {
            Signal::Drained(_) if adapter.receiving.is_some() => self.on_taken_in(host, cx),
            Signal::Drained(tie) => {
                let packet = adapter.drained(tie, cx);
                self.deliver_drained(host, &packet, cx);
            }
            Signal::Credit { vl } => {
                if !cx.called(&adapter.link, vl) {
                    return false;
                }
                adapter.unblock();
            }
            Signal::Wake => adapter.on_wake(cx.now),
            Signal::Post(source) => {
                adapter.unblock();
                self.post(source, cx);
            }
            Signal::Rank(rank) => self.on_rank(rank, cx),
            Signal::Left(flow) => self.on_left(flow, cx),
            Signal::Timer(pacer) => self.on_timer(pacer, cx),
            Signal::Notify(tie) => self.on_cnp_ready(host, tie),
            Signal::Rate(change) => adapter.link.rate = cx.shared.changes[change as usize].rate,
            Signal::Fault(number) => self.on_fault(host, number, cx),
            Signal::Tail { .. } | Signal::Free | Signal::Ready(_) | Signal::Stored { .. } => {
                unreachable!("{word:?} is not for a host")
            }
        }
        true
    }
}
