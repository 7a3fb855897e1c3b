//! The roles of the outputs of switches and hosts in congestion trees.

use becalm_metrics::Watch;
use becalm_metrics::tree::Episode;

use super::counters::Counters;
use crate::resolve::Link;
use crate::scenario::Scenario;

/// Minimum share of the measured window for an output to count as a root or a branch.
const LEAST_SHARE: f64 = 0.01;
/// Minimum share of the measured window for a branch to have victims.
const LASTING_BRANCH: f64 = 0.05;

/// One output and virtual lane.
pub(super) struct Row<'a> {
    pub link: &'a Link,
    pub vl: u8,
    pub role: &'static str,
    /// Its periods in its role; `None` if it is calm.
    pub episode: Option<Episode>,
    /// Shares of the measured window as a root and as a branch.
    pub shares: [f64; 2],
}

impl Row<'_> {
    /// Whether it is a branch for long enough to cause losses.
    pub fn holds_up(&self) -> bool {
        self.is("branch") && self.shares[1] >= LASTING_BRANCH
    }

    /// Whether it has this role.
    pub fn is(&self, role: &str) -> bool {
        self.role == role
    }

    /// Length in seconds of its longest period in its role.
    pub fn longest(&self) -> f64 {
        self.episode.as_ref().map_or(0.0, |episode| episode.longest.as_secs())
    }
}

/// The roles of all outputs.
pub(crate) struct Outputs<'a> {
    /// Ordered by link, then by lane.
    pub(super) rows: Vec<Row<'a>>,
    /// Number of virtual lanes of a link.
    pub(super) lanes: usize,
    /// The time in which roles were recorded.
    pub(super) seconds: f64,
}

impl<'a> Outputs<'a> {
    /// The most frequent role of each output while it had a role.
    pub fn new(scenario: &'a Scenario, watch: &Watch, before: &Counters, after: &Counters) -> Outputs<'a> {
        let seconds = before.simulated_until(after).as_secs();
        let lanes =
            scenario.network.links.iter().flat_map(|link| (0..scenario.sections.vls()).map(move |vl| (link, vl)));
        let row = |(link, vl): (&'a Link, u8)| {
            let (root, branch) = watch.tree.episodes(link.from, vl, after.simulated);
            let shares = [root, branch].map(|episode| episode.total.as_secs() / seconds);
            let (role, episode) = match shares {
                [root, branch] if root.max(branch) < LEAST_SHARE => ("calm", None),
                [root_share, branch_share] if root_share >= branch_share => ("root", Some(root)),
                _ => ("branch", Some(branch)),
            };
            Row { link, vl, role, episode, shares }
        };
        Outputs { rows: lanes.map(row).collect(), lanes: usize::from(scenario.sections.vls()), seconds }
    }

    /// Largest share of the window for which any lane of a link was a branch.
    pub(super) fn branch_share(&self, link: usize) -> f64 {
        self.rows[link * self.lanes..][..self.lanes].iter().map(|row| row.shares[1]).fold(0.0, f64::max)
    }
}
