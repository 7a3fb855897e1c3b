//! Whether there is a delay for traffic that goes by it.

use becalm_schema::{Choice, Mistakes, Node};

use super::Draft;
use crate::schemes::never_delays;
use crate::sections::flows::Traffic;

impl Draft {
    /// Sources that go by a delay that never comes.
    pub(super) fn check_paced(&self, root: &Node, mistakes: &mut Mistakes) {
        for (group, node) in self.groups(root) {
            let Traffic::Poisson(poisson) = &group.traffic else { continue };
            let Some(response) = group.response.as_ref().or(self.response.as_ref()) else { continue };
            if poisson.paced && never_delays(response) {
                let key = ["traffic", "poisson", "paced"].iter().try_fold(node, |node, key| node.get(key));
                let problem = format!("does nothing: response `{}` never delays a packet", response.name());
                mistakes.add(key.unwrap_or(node), problem, "");
            }
        }
    }
}
