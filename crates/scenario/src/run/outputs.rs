//! The outputs of switches and hosts as parts of congestion trees.

use becalm_metrics::Watch;
use becalm_metrics::tree::Episode;

use super::counters::Counters;
use crate::resolve::Link;
use crate::scenario::Scenario;

/// Share of the measured window at or above which an output counts as a root or a branch.
const LEAST_SHARE: f64 = 0.01;
/// Share of the measured window at or above which a branch has victims.
const LASTING_BRANCH: f64 = 0.05;

/// One output and virtual lane.
pub(super) struct Row<'a> {
    pub link: &'a Link,
    pub vl: u8,
    pub role: &'static str,
    /// Its periods in this role; none if it is calm.
    pub episode: Option<Episode>,
    /// Shares of the measured window: as root and as branch.
    pub shares: [f64; 2],
}

impl Row<'_> {
    /// Whether others wait behind it long enough for a loss: it is a branch for a long enough share of the window.
    pub fn holds_up(&self) -> bool {
        self.is("branch") && self.shares[1] >= LASTING_BRANCH
    }

    /// Whether this is its role.
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
    /// Virtual lanes of a link.
    pub(super) lanes: usize,
}

impl<'a> Outputs<'a> {
    /// The most frequent role of each output while it had one.
    pub fn new(scenario: &'a Scenario, watch: &Watch, before: &Counters, after: &Counters) -> Outputs<'a> {
        let seconds = after.time.since(before.time).as_secs();
        let lanes =
            scenario.network.links.iter().flat_map(|link| (0..scenario.sections.vls()).map(move |vl| (link, vl)));
        let row = |(link, vl): (&'a Link, u8)| {
            let (root, branch) = watch.tree.episodes(link.from, vl, after.time);
            let shares = [root, branch].map(|episode| episode.total.as_secs() / seconds);
            let (role, episode) = match shares {
                [root, branch] if root.max(branch) < LEAST_SHARE => ("calm", None),
                [root_share, branch_share] if root_share >= branch_share => ("root", Some(root)),
                _ => ("branch", Some(branch)),
            };
            Row { link, vl, role, episode, shares }
        };
        Outputs { rows: lanes.map(row).collect(), lanes: usize::from(scenario.sections.vls()) }
    }

    /// Largest share of the window for which a lane of a link was a branch.
    pub(super) fn branch_share(&self, link: usize) -> f64 {
        self.rows[link * self.lanes..][..self.lanes].iter().map(|row| row.shares[1]).fold(0.0, f64::max)
    }
}
