//! One flow, and the ways of its packets.

use becalm_fabric::NodeId;

use crate::sections::Sections;

/// One flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub source: NodeId,
    pub destination: NodeId,
    pub group: u32,
    /// Service level.
    pub sl: u8,
    /// Service level of its answers, unless all answers have one of their own.
    pub answers_sl: u8,
}

impl Sections {
    /// The ways of packets of some flows and of their answers, as source, destination and first virtual lane.
    pub(crate) fn ways(&self, flow: Flow) -> impl Iterator<Item = (NodeId, NodeId, u8)> + use<> {
        let vl = |sl: u32| self.switch.get().and_then(|switch| switch.vl(sl)).unwrap_or(0) as u8;
        let answers = self.packet.get().and_then(|packet| packet.answers_sl.set().copied());
        let Flow { source, destination, sl, answers_sl, .. } = flow;
        let answers = vl(answers.unwrap_or(u32::from(answers_sl)));
        let notices = self.cnp_vl().map(|vl| (destination, source, vl));
        [(source, destination, vl(u32::from(sl))), (destination, source, answers)].into_iter().chain(notices)
    }
}
