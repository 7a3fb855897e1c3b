//! Faults in time: links that go down, receivers that become slow, storms of pauses, and hosts that stop.
//!
//! A fault has a begin and an end, and each is an event at its port. No fault loses a packet: what cannot move waits, or
//! takes another port if the switch's law has one.

use becalm_engine::Time;

use crate::event::Signal;
use crate::ids::{NodeId, PortId};
use crate::network::link::Rate;

/// A fault at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// The port at which the fault occurs. A host has only port 0.
    pub port: PortId,
    /// What happens.
    pub kind: FaultKind,
    /// Begin, later than 0.
    pub begin: Time,
    /// End; [`Time::MAX`] if there is none.
    pub end: Time,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// The port starts no packet on its link. Packets that have begun arrive. A cable that is cut has such a fault at both
    /// ends.
    LinkDown,
    /// The host receives packets at this rate.
    Slow(Rate),
    /// The host receives nothing and sends nothing.
    Stop,
    /// The port pauses the node at the other end of its link on these lanes, one bit each. Requires PFC.
    Storm(u16),
}

impl FaultKind {
    /// The number of the kind, whatever its values are: at most 3.
    pub fn number(self) -> u8 {
        match self {
            FaultKind::LinkDown => 0,
            FaultKind::Slow(_) => 1,
            FaultKind::Stop => 2,
            FaultKind::Storm(_) => 3,
        }
    }

    /// Whether packets must pass a receive buffer at the host.
    pub(crate) fn fills_hosts(self) -> bool {
        matches!(self, FaultKind::Slow(_) | FaultKind::Stop)
    }
}

/// What a fault has held up so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Toll {
    /// Packets whose last byte was still to arrive at the other end when the link went down. A real link would have lost
    /// them.
    pub on_wire: u64,
    /// Bytes of these packets.
    pub on_wire_bytes: u64,
    /// Packets that left the queue of the down link for another port, or of messages that were posted again by another
    /// port of a rank.
    pub moved: u64,
    /// Packets that waited at the end of the fault: in the switch for the down link, or in the host's receive buffer.
    pub held: u64,
    /// Bytes of these packets.
    pub held_bytes: u64,
}

/// A step of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The last time from which a packet can arrive completely before the link goes down.
    Eve,
    Begin,
    End,
}

/// All faults of a run, and their tolls.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub list: Vec<Fault>,
    pub tolls: Vec<Toll>,
}

impl Faults {
    pub fn new(list: Vec<Fault>) -> Faults {
        Faults { tolls: vec![Toll::default(); list.len()], list }
    }

    /// The fault and the step of a signal's number.
    pub fn of(&self, number: u32) -> (usize, Fault, Step) {
        let index = (number / 3) as usize;
        let step = [Step::Eve, Step::Begin, Step::End][(number % 3) as usize];
        (index, self.list[index], step)
    }

    /// The rank of a signal among those of the same time at a node, before its port. Faults end before others begin, and
    /// their order in the list has no meaning.
    pub fn rank(&self, number: u32) -> u64 {
        let (_, fault, step) = self.of(number);
        let step = match step {
            Step::End => 0,
            Step::Eve => 1,
            Step::Begin => 2,
        };
        Signal::FAULT + (step << 2 | u64::from(fault.kind.number()))
    }

    /// The number and time of each signal of the faults at some nodes. `delay` is that of the cable at a port.
    pub fn signals<'a>(
        &'a self,
        has: impl Fn(NodeId) -> bool + 'a,
        delay: impl Fn(PortId) -> Time + 'a,
    ) -> impl Iterator<Item = (u32, Time, PortId)> + 'a {
        let here = (0u32..).zip(&self.list).filter(move |(_, fault)| has(fault.port.node));
        here.flat_map(move |(index, fault)| {
            let eve = fault.begin.0.checked_sub(delay(fault.port).0).filter(|&eve| eve > 0).map(Time);
            let eve = eve.filter(|_| fault.kind == FaultKind::LinkDown);
            let end = Some(fault.end).filter(|&end| end < Time::MAX);
            let steps = [eve, Some(fault.begin), end].into_iter().zip(0u32..);
            steps.filter_map(move |(time, step)| Some((3 * index + step, time?, fault.port)))
        })
    }

    /// Whether a fault that never ends has begun. What it holds up never moves again.
    pub fn is_permanent(&self, now: Time) -> bool {
        self.list.iter().any(|fault| fault.begin <= now && fault.end == Time::MAX)
    }

    /// Whether the cable of a host is down.
    pub fn is_cut(&self, host: NodeId, now: Time) -> bool {
        let cuts = |fault: &Fault| fault.kind == FaultKind::LinkDown && fault.port.node == host;
        self.list.iter().any(|fault| cuts(fault) && fault.begin <= now && now < fault.end)
    }

    /// Whether any link goes down, so that a law that chooses among ports may change a flow's path.
    pub fn moves_paths(&self) -> bool {
        self.list.iter().any(|fault| fault.kind == FaultKind::LinkDown)
    }

    /// Records the number and bytes of packets that had left the port completely on the eve of the fault.
    pub fn eve(&mut self, index: usize, (packets, bytes): (u64, u64)) {
        let toll = &mut self.tolls[index];
        (toll.on_wire, toll.on_wire_bytes) = (packets, bytes);
    }

    /// Records the number and bytes of packets that have begun to leave the port when its link goes down.
    pub fn begin(&mut self, index: usize, (packets, bytes): (u64, u64)) {
        let toll = &mut self.tolls[index];
        (toll.on_wire, toll.on_wire_bytes) = (packets - toll.on_wire, bytes - toll.on_wire_bytes);
    }

    /// Takes over the tolls of another part's nodes.
    pub fn join(&mut self, other: &Faults, theirs: &dyn Fn(NodeId) -> bool) {
        for (index, _) in self.list.iter().enumerate().filter(|(_, fault)| theirs(fault.port.node)) {
            self.tolls[index] = other.tolls[index];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_an_eve_and_other_faults_have_none() {
        let port = PortId { node: NodeId(4), port: 1 };
        let fault = |kind, begin, end| Fault { port, kind, begin: Time(begin), end };
        let faults = Faults::new(vec![
            fault(FaultKind::LinkDown, 100, Time(300)),
            fault(FaultKind::LinkDown, 20, Time::MAX),
            fault(FaultKind::Stop, 50, Time(60)),
        ]);
        let signals: Vec<(u32, u64)> =
            faults.signals(|_| true, |_| Time(30)).map(|(number, time, _)| (number, time.0)).collect();
        assert_eq!(signals, [(0, 70), (1, 100), (2, 300), (4, 20), (7, 50), (8, 60)]);
        assert_eq!(faults.of(8), (2, faults.list[2], Step::End));
        let cut = |time| faults.is_cut(NodeId(4), Time(time));
        assert_eq!([19, 20, 99].map(cut), [false, true, true]);
        assert!(!faults.is_cut(NodeId(5), Time(100)));
        assert!(!faults.is_permanent(Time(19)) && faults.is_permanent(Time(20)));
        assert_eq!(faults.signals(|_| false, |_| Time(30)).count(), 0);
    }
}
