//! A scenario that has been read, completed and checked.

use becalm_fabric::{Routes, Topology};
use becalm_schema::{Field, Mistakes, Node};

use crate::checks::Draft;
use crate::plan::Plan;
use crate::sections::Sections;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) sections: Sections,
    pub(crate) topology: Topology,
    pub(crate) routes: Routes,
    pub(crate) plan: Plan,
}

impl Scenario {
    /// Reads a TOML text; `file` is the name under which mistakes are reported.
    ///
    /// # Errors
    /// All mistakes of the text, those of single values and those of values that do not fit together.
    pub fn parse(text: &str, file: &str) -> Result<Scenario, Mistakes> {
        let mut mistakes = Mistakes::new(file);
        let scenario = Node::parse(text, &mut mistakes).and_then(|root| Scenario::read(&root, &mut mistakes));
        mistakes.settle(scenario)
    }

    /// Reads what [`Scenario::resolved`] wrote.
    ///
    /// # Errors
    /// Those of [`Scenario::parse`], without lines.
    pub fn from_json(json: &serde_json::Value, file: &str) -> Result<Scenario, Mistakes> {
        let mut mistakes = Mistakes::new(file);
        let scenario = Scenario::read(&Node::from_json(json), &mut mistakes);
        mistakes.settle(scenario)
    }

    fn read(root: &Node, mistakes: &mut Mistakes) -> Option<Scenario> {
        let sections = Sections::read(root, mistakes);
        root.entries()?;
        let (topology, routes, plan) = Draft::read(root).check(root, mistakes)?;
        Some(Scenario { sections: sections?, topology, routes, plan })
    }

    /// Every value of the scenario, defaults included; null for settings that are left out.
    pub fn resolved(&self) -> serde_json::Value {
        self.sections.to_json()
    }

    /// The values of the scenario.
    pub fn sections(&self) -> &Sections {
        &self.sections
    }

    /// The network.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Number of runs that it asks for.
    pub fn replications(&self) -> u32 {
        self.sections.run.replications
    }
}
