//! The buffers of a fabric with PFC: their thresholds and headroom.

use becalm_engine::Time;

use crate::config::pfc::{Pfc, WatchdogAction, headroom};
use crate::config::{PacketConfig, RateChange, SwitchConfig, Switching};
use crate::faults::FaultKind;
use crate::flow_control::pauses::Pauses;
use crate::host::Adapter;
use crate::ids::{NodeId, PortId};
use crate::network::link::Rate;
use crate::network::topology::{Cable, NodeKind, Topology};
use crate::sim::spec::FabricSpec;
use crate::switch::{Dog, Switch};

/// Headroom by port, and the thresholds and lanes of all buffers.
pub(crate) struct Headrooms<'a> {
    pfc: &'a Pfc,
    /// Indexed by node and port.
    headrooms: Vec<Vec<u32>>,
    xoff: u32,
    xon: u32,
    /// The sizes of two packets of the largest size.
    offset: u32,
    vls: usize,
    /// The nodes with storms of pauses.
    storms: Vec<NodeId>,
}

impl<'a> Headrooms<'a> {
    /// The buffers of a fabric with PFC; `None` with credits.
    pub fn of<R, K, E>(spec: &'a FabricSpec<R, K, E>) -> Option<Headrooms<'a>> {
        let pfc = spec.switch.flow_control.pfc()?;
        let largest = spec.packets.largest();
        let (xoff, offset) = (spec.switch.capacity(largest), 2 * largest);
        let needed = needed_headrooms(&spec.topology, &spec.switch, &spec.packets, &spec.changes)?;
        // Other packets of a train leave in spite of a pause. They must not overflow a headroom that single packets fit in.
        let given = |needed: u32| pfc.headroom.map_or(needed, |own| own + spec.packets.longest() - largest);
        let headrooms = needed.into_iter().map(|ports| ports.into_iter().map(given).collect()).collect();
        let xon = pfc.xon.unwrap_or(xoff.saturating_sub(offset)).min(xoff);
        let storms = spec.faults.iter().filter(|fault| matches!(fault.kind, FaultKind::Storm(_)));
        let storms = storms.map(|fault| fault.port.node).collect();
        Some(Headrooms { pfc, headrooms, xoff, xon, offset, vls: usize::from(spec.switch.vls), storms })
    }

    /// Assigns buffers to switches and to hosts with a drain rate.
    pub fn set<K>(&self, adapters: &mut [Adapter], switches: &mut [Switch<K>]) {
        for state in switches.iter_mut().map(|switch| &mut switch.state) {
            let own = self.buffers(state.node);
            state.pauses = Some(Box::new(match &self.pfc.pool {
                Some(pool) => own.sharing(pool, self.offset),
                None => own,
            }));
            state.watchdog = self.pfc.watchdog.map(|config| Box::new(Dog::new(config, state.ports.len())));
        }
        let pauses = |adapter: &Adapter| adapter.drains || self.storms.contains(&adapter.node);
        for adapter in adapters.iter_mut().filter(|adapter| pauses(adapter)) {
            adapter.pauses = Some(Box::new(self.buffers(adapter.node)));
        }
    }

    /// The buffers of a node, without shared memory.
    fn buffers(&self, node: NodeId) -> Pauses {
        let ports = self.headrooms[node.index()].iter();
        let headrooms = ports.flat_map(|&headroom| std::iter::repeat_n(headroom, self.vls));
        let forwards = self.pfc.watchdog.is_some_and(|watchdog| watchdog.action == WatchdogAction::Forward);
        let mut pauses = Pauses::new(headrooms, self.xoff, self.xon);
        pauses.is_lossy = forwards;
        pauses
    }
}

/// The headroom that every input needs, by node and port; `None` with credits.
///
/// It depends on the highest rate of the input's link during the run.
pub fn needed_headrooms(
    topology: &Topology,
    switch: &SwitchConfig,
    packets: &PacketConfig,
    changes: &[RateChange],
) -> Option<Vec<Vec<u32>>> {
    let pfc = switch.flow_control.pfc()?;
    let fastest = |sender: PortId, cable: &Cable| {
        let changed = changes.iter().filter(|change| change.from == sender).map(|change| change.rate);
        changed.chain([cable.rate]).max_by(|a, b| a.bytes_per_second().total_cmp(&b.bytes_per_second()))
    };
    let of_port = |node: NodeId, &(sender, cable): &(PortId, usize)| {
        let cable = &topology.cables()[cable];
        let rate: Rate = fastest(sender, cable).expect("at least the cable's rate");
        let is_switch = topology.node(node).kind == NodeKind::Switch;
        let forwarding = if is_switch { switch.forwarding_delay } else { Time::ZERO };
        let whole = !is_switch || switch.switching == Switching::StoreAndForward;
        let blind = cable.delay + pfc.delay_on(cable.rate, packets.largest()) + cable.delay + forwarding;
        headroom(rate, blind, whole, (packets.smallest(), packets.longest()))
    };
    let peers = topology.peers();
    let of_node = |(node, ports)| -> Vec<u32> {
        let ports: &Vec<_> = ports;
        ports.iter().map(|port| of_port(NodeId(node), port)).collect()
    };
    Some((0u32..).zip(&peers).map(of_node).collect())
}
