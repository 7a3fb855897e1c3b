//! A scenario as the fabric wants it.

use becalm_control::{Echoing, Marking, Responding};
use becalm_engine::{Simulator, Time};
use becalm_fabric::Fabric;
use becalm_fabric::seam::SwitchShape;
use becalm_fabric::{FabricError, FabricSpec, FlowSpec};
use becalm_metrics::Watch;

use crate::plan::Flow;
use crate::scenario::Scenario;
use crate::sections::flows::Group;

/// The model of every run: schemes chosen at run time, everything observed.
pub(crate) type Model = Fabric<Responding, Marking, Echoing, Watch>;

impl Scenario {
    /// The fabric in its initial state.
    fn fabric_spec(&self, seed: u64) -> FabricSpec<Responding, Marking, Echoing> {
        let sections = &self.sections;
        let vls = sections.switch.vls as u8;
        let marker = |ports| Marking::new(&sections.marking, SwitchShape { ports, vls });
        let response = |group: &Group| Responding::new(group.response.as_ref().unwrap_or(&sections.response));
        // Some responses share a table among their clones.
        let responses: Vec<Responding> = sections.flows.iter().map(response).collect();
        let flow = |flow: &Flow| FlowSpec {
            source: flow.source,
            destination: flow.destination,
            vl: sections.flows[flow.group as usize].vl as u8,
            response: responses[flow.group as usize].clone(),
        };
        FabricSpec {
            topology: self.topology.clone(),
            switch: sections.switch.config(),
            packets: sections.packet.config(),
            injection: sections.adapter.injection(),
            flows: self.plan.flows.iter().map(flow).collect(),
            sources: self.plan.sources.clone(),
            markers: self.topology.switches().map(|switch| marker(self.topology.node(switch).degree)).collect(),
            echo: Echoing::new(&sections.echo),
            seed,
        }
    }

    fn watch(&self, from: Time) -> Watch {
        let group_of = self.plan.flows.iter().map(|flow| flow.group).collect();
        Watch::new(&self.topology, self.sections.switch.vls as u8, from, group_of, self.plan.groups.len())
    }

    /// A simulator at time zero for one replication.
    pub(crate) fn simulator(&self, replication: u32) -> Result<Simulator<Model>, FabricError> {
        let run = &self.sections.run;
        let seed = run.seed.wrapping_add(u64::from(replication));
        Fabric::simulator(self.fabric_spec(seed), self.watch(run.warmup))
    }
}
