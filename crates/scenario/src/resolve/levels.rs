//! The service levels of paths between hosts.

use std::collections::{HashMap, HashSet};

use becalm_fabric::NodeId;
use becalm_schema::{Located, Review};

use super::flow::Flow;
use super::network::Network;
use crate::sections::adapter::{Adapter, PathLevel};

/// The service levels of paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// The entries of the scenario: a level and the destinations.
    entries: Vec<(u32, HashSet<NodeId>)>,
    /// The entries of each source, which have different destinations.
    of: HashMap<NodeId, Vec<usize>>,
}

impl Levels {
    /// The levels that a scenario lists. Paths that are listed twice are recorded as errors.
    pub fn new(adapter: &Adapter, network: &Network, review: &mut Review<'_>) -> Levels {
        let mut levels = Levels::default();
        for entry in adapter.path_sl.items() {
            if let Some(read) = entry.get() {
                levels.add(entry, read, network, review);
            }
        }
        levels
    }

    fn add(&mut self, entry: &Located<PathLevel>, read: &PathLevel, network: &Network, review: &mut Review<'_>) {
        let (from, to) = (network.hosts(&read.from, review), network.hosts(&read.to, review));
        let number = self.entries.len();
        self.entries.push((read.sl.get().copied().unwrap_or(0), to.iter().copied().collect()));
        for source in from {
            let of = self.of.entry(source).or_default();
            let other = |&other: &usize| to.iter().any(|to| *to != source && self.entries[other].1.contains(to));
            if let Some(&other) = of.iter().find(|&other_entry| other(other_entry)) {
                let twice = to.iter().find(|to| **to != source && self.entries[other].1.contains(to));
                let (source, to) = (network.name(source), twice.map_or("", |to| network.name(*to)));
                let level = self.entries[other].0;
                let problem = format!("lists the path from `{source}` to `{to}`, which already has level {level}");
                return review.add(entry.place(), problem);
            }
            of.push(number);
        }
    }

    /// The level of the path between two hosts.
    pub fn of(&self, source: NodeId, destination: NodeId) -> u32 {
        let entries = self.of.get(&source).into_iter().flatten().map(|&number| &self.entries[number]);
        entries.into_iter().find(|(_, to)| to.contains(&destination)).map_or(0, |&(level, _)| level)
    }

    /// Whether no path has a level of its own.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A flow between two hosts of a group with this level, where 0 stands for the path's.
    pub fn flow(&self, (source, destination): (NodeId, NodeId), group: u32, sl: u32) -> Flow {
        let level = |from, to| if sl > 0 { sl as u8 } else { self.of(from, to) as u8 };
        let (sl, answers_sl) = (level(source, destination), level(destination, source));
        Flow { source, destination, group, sl, answers_sl }
    }
}
