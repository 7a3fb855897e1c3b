//! The flows of the same two ranks over different ports, and the messages that change their port.

use becalm_workload::Action;

use super::{Jobs, Queues, VOID};
use crate::host::sender::cut::Dropped;
use crate::ids::FlowId;

impl Jobs {
    /// The other flows between the same two ranks, starting with that of the next port.
    pub fn others(&self, flow: FlowId) -> impl Iterator<Item = FlowId> + use<> {
        let spec = self.spec_of(flow);
        let (place, pair) = ((flow.0 - spec.first_flow.0) as usize, |at: usize| {
            let (from, to, _) = spec.channels[at];
            (from, to)
        });
        let same = |&at: &usize| pair(at) == pair(place);
        let first = (0..place).rev().take_while(same).last().unwrap_or(place) as u32 + spec.first_flow.0;
        let end = (place..spec.channels.len()).take_while(same).last().unwrap_or(place) as u32 + spec.first_flow.0 + 1;
        (flow.0 + 1..end).chain(first..flow.0).map(FlowId)
    }

    /// The flow by whose port a message was first to go.
    pub fn own_flow(&self, flow: FlowId, send: u32) -> FlowId {
        let spec = self.spec_of(flow);
        let port = spec.program.op(send).port;
        let port_of = |flow: FlowId| spec.channels[(flow.0 - spec.first_flow.0) as usize].2;
        std::iter::once(flow).chain(self.others(flow)).find(|&flow| port_of(flow) == port).unwrap_or(flow)
    }

    /// Whether `flow` carries an earlier message that a receive could take for this one: it has the same tag, and was first
    /// to go by the port of the flow `own`, too.
    pub fn carries_same(&self, flow: FlowId, own: FlowId, send: u32) -> bool {
        let program = &self.spec_of(flow).program;
        let name = |send: u32| match (program.op(send).action, program.op(send).part) {
            (Action::Send { tag, .. }, part) => Some((tag, part)),
            _ => None,
        };
        let queues = self.channels.get((flow.0 - self.first_flow()) as usize);
        let mut sends = queues.iter().flat_map(|queues| &queues.announced).filter(|&&send| send != VOID);
        sends.any(|&other| name(other) == name(send) && self.own_flow(flow, other) == own)
    }

    /// The flows with messages that have not arrived.
    pub fn underway(&self) -> Vec<FlowId> {
        let flows = 0..self.channels.len();
        let has = |place: &usize| self.channels.get(*place).is_some_and(|queues| !queues.announced.is_empty());
        flows.filter(has).map(|place| FlowId(self.first_flow() + place as u32)).collect()
    }

    /// Takes the messages of a flow that have not arrived, each with whether it has left its sender. What still arrives of
    /// them does not count; the last ones have been dropped at the sender.
    pub fn take_messages(&mut self, flow: FlowId, dropped: Dropped) -> Vec<(u32, bool)> {
        let Queues { announced, leaving } = self.queues(flow);
        let underway = announced.iter().filter(|&&send| send != VOID);
        let taken: Vec<(u32, bool)> = underway.map(|&send| (send, !leaving.contains(&send))).collect();
        // At the time of its arrival, the end of a message's departure may still be to come.
        leaving.iter_mut().filter(|send| announced.contains(send)).for_each(|send| *send = VOID);
        leaving.truncate(leaving.len() - dropped.messages);
        announced.truncate(announced.len() - dropped.messages);
        announced.iter_mut().for_each(|send| *send = VOID);
        taken
    }

    /// Records that a message is posted again. If it has left by another port, its end does not count twice.
    pub fn post_again(&mut self, flow: FlowId, send: u32, left: bool) {
        self.queues(flow).leaving.push_back(if left { VOID } else { send });
    }
}
