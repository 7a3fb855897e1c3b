//! A scenario that has been read, completed and checked.

use becalm_fabric::Topology;
use becalm_schema::{Errors, Field, Node, Origin, Review, parse};

use crate::check;
use crate::resolve::{Network, Plan};
use crate::sections::Sections;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) sections: Sections,
    pub(crate) network: Network,
    pub(crate) plan: Plan,
}

impl Scenario {
    /// Reads a TOML text; `file` is the name under which errors are reported.
    ///
    /// # Errors
    /// All errors of the text, those of single values and those of values that do not fit together.
    pub fn parse(text: &str, file: &str) -> Result<Scenario, Errors> {
        Scenario::parse_changed(text, file, Vec::new())
    }

    /// Reads a TOML text in which options have set some keys; their errors are reported under the option.
    ///
    /// # Errors
    /// Those of [`Scenario::parse`].
    pub fn parse_changed(text: &str, file: &str, origins: Vec<Origin>) -> Result<Scenario, Errors> {
        let mut errors = Errors { origins, ..Errors::new(file) };
        let scenario = parse(text, &mut errors).and_then(|root| Scenario::read(&root, &mut errors));
        errors.settle(scenario)
    }

    /// Reads what [`Scenario::resolved`] wrote.
    ///
    /// # Errors
    /// Those of [`Scenario::parse`], without lines.
    pub fn from_json(json: &serde_json::Value, file: &str) -> Result<Scenario, Errors> {
        let mut errors = Errors::new(file);
        let scenario = Scenario::read(&Node::from_json(json), &mut errors);
        errors.settle(scenario)
    }

    /// Parses, resolves and checks. `None` after an error without which nothing can be resolved.
    fn read(root: &Node, errors: &mut Errors) -> Option<Scenario> {
        let sections = Sections::read(root, errors)?;
        let mut review = Review::new(root, errors);
        check::sections(&sections, &mut review);
        let network = Network::build(&sections, &mut review)?;
        check::network(&sections, &network, &mut review);
        let plan = Plan::new(&sections, &network, &mut review);
        check::plan(&sections, &network, &plan, &mut review);
        Some(Scenario { sections, network, plan })
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
        &self.network.topology
    }

    /// Number of runs that it asks for.
    pub fn replications(&self) -> u32 {
        *self.sections.run.replications
    }
}
