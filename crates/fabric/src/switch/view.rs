//! A marker's view of a switch.

use becalm_engine::Time;

use crate::context::Shared;
use crate::network::link::Control;
use crate::policy::SwitchView;
use crate::switch::state::State;

/// The view of a switch that its marker receives.
pub(crate) struct View<'a> {
    pub state: &'a State,
    pub shared: &'a Shared,
    pub now: Time,
}

impl<'a> View<'a> {
    /// The view at the current time, `now`.
    pub fn new(state: &'a State, shared: &'a Shared, now: Time) -> View<'a> {
        View { state, shared, now }
    }
}

impl SwitchView for View<'_> {
    fn room(&self, input: u16, vl: u8) -> u32 {
        // With PFC, a buffer that uses headroom holds more than its nominal size.
        let taken = self.state.ports[self.state.at(input, vl)].input.taken_at(self.now);
        self.state.capacity.saturating_sub(taken) / self.state.largest
    }
    fn waiting(&self, output: u16, vl: u8) -> u32 {
        self.state.ports[self.state.at(output, vl)].lane.waiting
    }
    fn waiting_bytes(&self, output: u16, vl: u8) -> u64 {
        self.state.ports[self.state.at(output, vl)].lane.waiting_bytes
    }
    fn present(&self, output: u16, vl: u8) -> u32 {
        let sending = self.state.output(output).sending(self.now);
        self.waiting(output, vl) + u32::from(sending.is_some_and(|(_, lane)| lane == vl))
    }
    fn present_from(&self, input: u16, output: u16, vl: u8) -> u32 {
        let sending = self.state.output(output).sending(self.now);
        self.state.voqs[self.state.voq(output, vl, self.state.turns.place(input))].waiting
            + u32::from(sending == Some((input, vl)))
    }
    fn credit(&self, output: u16, vl: u8) -> u32 {
        let link = &self.state.output(output).link;
        let at = link.credit_index(vl);
        match link.control {
            Control::Credit => self.shared.credit[at].level(self.now) / self.state.largest,
            Control::Gate if !self.shared.gates[at].is_open(self.now) => 0,
            Control::Free | Control::Gate => u32::MAX,
        }
    }
    fn blocked_until(&self, output: u16, vl: u8) -> Option<Time> {
        let lane = &self.state.ports[self.state.at(output, vl)].lane;
        if lane.stalled { Some(self.now) } else { lane.blocked_until }
    }
    fn packet_time(&self, port: u16, size: u32) -> Time {
        self.state.output(port).link.rate.time_of(size)
    }
}
