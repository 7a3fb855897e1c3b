//! A scenario that has been read, resolved and checked.

use becalm_external::Provided;
use becalm_fabric::Topology;
use becalm_schema::{Errors, Field, Node, Origin, Review, parse};

use crate::check;
use crate::cnps;
use crate::link::{self, link};
use crate::resolve::{Buffers, Network, Plan};
use crate::sections::Sections;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) sections: Sections,
    pub(crate) network: Network,
    pub(crate) buffers: Buffers,
    pub(crate) plan: Plan,
}

impl Scenario {
    /// Whether all of its schemes may run on several threads.
    pub fn is_native(&self) -> bool {
        link::is_native(&self.sections)
    }

    /// The name of a scheme whose code was not provided, if any.
    pub fn unprovided(&self) -> Option<&str> {
        link::unprovided(&self.sections)
    }

    /// Reads a TOML text. `file` is the text's name in error messages.
    ///
    /// # Errors
    /// All invalid values in the text, and all values that do not fit together.
    pub fn parse(text: &str, file: &str) -> Result<Scenario, Errors> {
        Scenario::parse_changed(text, file, Vec::new(), None)
    }

    /// Reads a TOML text in which options have set some keys. Errors in these keys are attributed to the option. The
    /// files that the text names may need this number of bytes of `memory`.
    ///
    /// # Errors
    /// Those of [`Scenario::parse`].
    pub fn parse_changed(
        text: &str,
        file: &str,
        origins: Vec<Origin>,
        memory: Option<u64>,
    ) -> Result<Scenario, Errors> {
        Scenario::parse_with(text, file, origins, memory, Some(&Provided::default()))
    }

    /// Reads a TOML text that may name external schemes. `provided` is their code. If it is `None`, the
    /// scenario can be inspected but not run.
    ///
    /// # Errors
    /// Those of [`Scenario::parse_changed`], named schemes without provided code, and errors in their
    /// parameters.
    pub fn parse_with(
        text: &str,
        file: &str,
        origins: Vec<Origin>,
        memory: Option<u64>,
        provided: Option<&Provided>,
    ) -> Result<Scenario, Errors> {
        let mut errors = Errors { origins, memory, ..Errors::new(file) };
        let scenario = parse(text, &mut errors).and_then(|root| Scenario::read(&root, provided, &mut errors));
        errors.settle(scenario)
    }

    /// Reads the output of [`Scenario::resolved`].
    ///
    /// # Errors
    /// Those of [`Scenario::parse`], without line numbers.
    pub fn from_json(json: &serde_json::Value, file: &str) -> Result<Scenario, Errors> {
        let mut errors = Errors::new(file);
        let scenario = Scenario::read(&Node::from_json(json), Some(&Provided::default()), &mut errors);
        errors.settle(scenario)
    }

    /// Parses, resolves and checks a scenario; `None` if an error leaves nothing to resolve.
    fn read(root: &Node, provided: Option<&Provided>, errors: &mut Errors) -> Option<Scenario> {
        let mut sections = Sections::read(root, errors)?;
        let mut review = Review::new(root, errors);
        if let Some(provided) = provided {
            link(&mut sections, provided, &mut review);
        }
        check::sections(&sections, &mut review);
        let network = Network::build(&sections, &mut review)?;
        let buffers = Buffers::new(&sections, &network).unwrap_or_default();
        check::network(&sections, &network, buffers, &mut review);
        let plan = Plan::new(&sections, &network, &mut review);
        check::plan(&sections, &network, &plan, &mut review);
        cnps::settle(&mut sections);
        Some(Scenario { sections, network, buffers, plan })
    }

    /// Every value of the scenario, including defaults; null for omitted settings.
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

    /// The groups of flows, including jobs: name, first flow, and the flow after the last.
    pub fn flow_groups(&self) -> Vec<(String, u32, u32)> {
        let groups = self.sections.groups().zip(&self.plan.groups);
        groups.map(|(group, flows)| (group.name.to_string(), flows.start, flows.end)).collect()
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.plan.flows.len()
    }

    /// Number of runs that the scenario requests.
    pub fn replications(&self) -> u32 {
        *self.sections.run.replications
    }
}
