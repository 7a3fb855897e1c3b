//! The events of hosts.

use crate::context::Context;
use crate::event::Event;
use crate::host::hosts::Hosts;
use crate::policy::{Echo, Observer, Response};

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles an event at a host, then sends what the host can send.
    #[inline(never)]
    pub fn handle<O: Observer>(&mut self, host: u32, event: &Event, cx: &mut Context<'_, O>) {
        let adapter = &mut self.adapters[host as usize];
        match *event {
            Event::Arrive(ref packet) => {
                if adapter.receive(packet, cx) {
                    self.deliver(host, packet, cx);
                }
            }
            Event::Drained(tie) => {
                let packet = adapter.drained(tie, cx);
                self.deliver(host, &packet, cx);
            }
            Event::Credit { vl } => {
                if !cx.called(&adapter.link, vl) {
                    return;
                }
                adapter.unblock();
            }
            Event::Wake => adapter.on_wake(cx.now),
            Event::Post(source) => {
                adapter.unblock();
                self.post(source, cx);
            }
            Event::Rank(rank) => self.on_rank(rank, cx),
            Event::Left(flow) => self.on_left(flow, cx),
            Event::Timer(pacer) => self.on_timer(pacer, cx),
            Event::Rate(change) => adapter.link.rate = cx.shared.changes[change as usize].rate,
            Event::Tail { .. } | Event::Free | Event::Ready(_) | Event::Stored { .. } => {
                unreachable!("{event:?} is not for a host")
            }
        }
        self.adapters[host as usize].try_transmit(&mut self.flows, cx);
    }
}
