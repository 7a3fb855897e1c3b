//! Values of IBTA congestion control that apply to some ports of some switches.

use std::collections::HashSet;

use becalm_fabric::policy::SwitchShape;
use becalm_schema::Conflict;
use becalm_schema::names::{Known, covers, expand};

use super::ports::Ports;
use crate::cct::CctEntry;

becalm_schema::table! {
    /// Other values for some ports.
    pub struct Override {
        /// Names of switches, ranges of names, or `"*"` for all switches.
        pub switches: Vec<String> = vec!["*".to_string()],
        /// Numbers of ports, or `"hosts"` or `"switches"` for the ports that lead to them, or `"all"`.
        pub ports: Ports = Ports::All,
        /// How early a queue counts as congested, as in `threshold` of the marking.
        pub threshold: Option<u32> = None; ""; 0..=15,
        /// Whether the ports count as congested even without credit to send.
        pub victim: Option<bool> = None,
        /// Size of the smallest packet that is marked.
        pub packet_size: Option<u32> = None; "credits of 64 B"; 0..=255,
        /// Eligible packets left unmarked between two marked ones.
        pub marking_rate: Option<u32> = None; "packets"; 0..=65_535,
        /// Whether the ports return credit late.
        pub credit: Option<bool> = None,
        /// How early a queue starves the ports, as in `cs_threshold` of the marking.
        pub cs_threshold: Option<u32> = None; ""; 0..=15,
        /// Delay of returned credit.
        pub cs_return_delay: Option<CctEntry> = None,
    }
    check Override::check;
}

impl Override {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(!self.switches.is_empty(), "switches", || "must name at least one switch".to_string())?;
        let numbers = [self.threshold, self.packet_size, self.marking_rate].iter().any(Option::is_some);
        let given = numbers || self.victim.is_some() || self.credit.is_some() || self.starves();
        Conflict::unless(given, "threshold", || "is missing: the table must set a value".to_string())?;
        Conflict::unless(self.credit != Some(false) || !self.starves(), "credit", || {
            "must be true where cs_threshold or cs_return_delay is set".to_string()
        })
    }

    /// Whether the table starves the ports.
    pub(super) fn starves(&self) -> bool {
        self.cs_threshold.is_some() || self.cs_return_delay.is_some()
    }

    /// Whether the table names the switch.
    fn names(&self, shape: &SwitchShape) -> bool {
        self.switches.iter().any(|text| text == "*" || covers(text, &shape.name))
    }

    /// Whether the table applies to a port.
    pub(super) fn holds(&self, port: u16, shape: &SwitchShape) -> bool {
        self.names(shape) && self.ports.has(port, shape)
    }
}

/// Conflicts of overrides with the network: names of switches and numbers of ports that do not exist. Keys are relative
/// to the table that contains `overrides`.
pub(super) fn conflicts(overrides: &[Override], switches: &[SwitchShape]) -> Vec<Conflict> {
    let names: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
    let known: HashSet<&str> = names.iter().copied().collect();
    let mut all = Vec::new();
    for (number, own) in overrides.iter().enumerate() {
        let key = |name: &str| format!("overrides[{number}].{name}");
        for (place, text) in own.switches.iter().enumerate().filter(|(_, text)| *text != "*") {
            let item = key(&format!("switches[{place}]"));
            match expand(text) {
                Ok(names_of) => {
                    let stranger = names_of.iter().find(|name| !known.contains(name.as_str()));
                    all.extend(stranger.map(|name| Known("switch", &names).conflict(item, name)));
                }
                Err(problem) => all.push(Conflict::new(item, problem)),
            }
        }
        let Ports::List(ports) = &own.ports else { continue };
        let lacks = |switch: &&SwitchShape| ports.iter().any(|&port| port >= u32::from(switch.ports));
        if let Some(switch) = switches.iter().filter(|switch| own.names(switch)).find(lacks) {
            let problem = format!(
                "names a port that switch `{}` does not have: it has {} ports, numbered from 0",
                switch.name, switch.ports
            );
            all.push(Conflict::new(key("ports"), problem));
        }
    }
    all
}
