//! The return of credit by a switch.

use becalm_engine::Time;

use crate::context::Context;
use crate::policy::Observer;
use crate::switch::rules::Rules;
use crate::switch::state::State;

impl State {
    /// Returns credit for space that is free at `time`, which is now or later. With CBFC, the next CF_Update returns it.
    #[inline(always)]
    pub fn give_back<M: Rules, O: Observer>(
        &mut self,
        (input, vl): (u16, u8),
        units: u32,
        time: Time,
        cx: &mut Context<'_, O>,
    ) {
        let way = &self.ports[M::at(self, input, vl)].input.credit_return;
        let time = if M::batches(self) { self.next_update(input, time) } else { time };
        cx.return_credit(way, vl, units, time);
    }

    /// The end of the next CF_Update on the link back to the sender that fills an input.
    #[inline(never)]
    fn next_update(&self, input: u16, time: Time) -> Time {
        let left = self.output(input).link.rate;
        self.cbfc.map_or(time, |cbfc| cbfc.next_update(left, time))
    }
}
