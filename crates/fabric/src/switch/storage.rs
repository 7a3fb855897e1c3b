//! Arrival of the last byte of waiting packets, for markers that need it.

use becalm_engine::Time;

use crate::config::Switching;
use crate::context::Context;
use crate::event::Signal;
use crate::policy::{Arrival, Marker, Observer};
use crate::switch::forwarding::Switch;
use crate::switch::view::View;

impl<K: Marker> Switch<K> {
    /// Schedules the arrival of the last byte of a waiting packet.
    pub(super) fn watch<O: Observer>(&mut self, arrival: Arrival, tie: u64, cx: &mut Context<'_, O>) {
        let &Arrival { now, input, output, vl, size, .. } = &arrival;
        let state = &mut self.state;
        let left = match cx.shared.config.switching {
            // Before a faster link, the packet was held until the rest could arrive within its transmission
            // time on that link.
            Switching::CutThrough => {
                let departs = state.output(output).link.rate.time_of(size);
                let whole = state.arrival_rate(input).time_of(size).min(departs);
                Time(whole.0.saturating_sub(cx.shared.config.forwarding_delay.0))
            }
            Switching::StoreAndForward => Time::ZERO,
        };
        let (at, node) = (state.at(input, vl), state.node);
        state.storing[at].push_back(arrival);
        cx.schedule(now + left, node, input, tie, Signal::Stored { vl });
    }

    /// Handles the arrival of the last byte of a packet that had to wait.
    pub(super) fn stored<O: Observer>(&mut self, input: u16, vl: u8, cx: &mut Context<'_, O>) {
        let at = self.state.at(input, vl);
        let arrival = self.state.storing[at].pop_front().expect("one for every event");
        if self.state.still_waits(&arrival, &cx.shared.config) {
            let arrival = Arrival { now: cx.now, ..arrival };
            self.marker.stored(&arrival, &View::new(&self.state, cx.shared, cx.now));
        }
    }
}
