//! Whether windows and acknowledgements fit together.

use becalm_control::ResponseParams;
use becalm_schema::{Choice, Mistakes, Node};

use super::{Draft, blame};
use crate::schemes::{ack_every, least_window};
use crate::sections::flows::Group;

impl Draft {
    /// A window that nothing opens again.
    pub(super) fn check_windows(&self, root: &Node, mistakes: &mut Mistakes) {
        if self.echo.as_ref().is_none_or(|echo| ack_every(echo).is_some()) {
            return;
        }
        let why = "never opens again, since no data packet is acknowledged; window must be \"unlimited\"";
        let mut blame_window = |response: &Option<ResponseParams>, node: &Node| {
            let Some(params) = response.as_ref().filter(|params| least_window(params) < u32::MAX) else { return };
            let scheme = node.get(params.name()).unwrap_or(node);
            match scheme.get("window") {
                Some(window) => mistakes.add(window, why, ""),
                None if matches!(params, ResponseParams::BinaryFeedback(_)) => {
                    mistakes.add(scheme, "moves a window, but no data packet is acknowledged", "");
                }
                None => mistakes.add(scheme, format!("has by default a window that {why}"), ""),
            }
        };
        if self.flows.iter().flatten().any(|group| group.response.is_none()) {
            blame_window(&self.response, root.get("response").unwrap_or(root));
        }
        for (group, node) in self.groups(root) {
            blame_window(&group.response, node.get("response").unwrap_or(node));
        }
    }

    /// ACKs for several packets, where they would never be sent for several or the window closes before they are.
    pub(super) fn check_acks(&self, root: &Node, mistakes: &mut Mistakes) {
        let (Some(echo), Some(packet)) = (&self.echo, &self.packet) else { return };
        let Some(every) = ack_every(echo).filter(|&every| every > 1) else { return };
        let node = blame(root, &["echo.ibta.ack_every"]);
        let longest = |group: &Group| group.most_packets(packet);
        if self.flows.iter().all(|group| group.as_ref().is_some_and(|group| longest(group) == 1)) {
            mistakes.add(node, "does nothing: every message is one packet, and its end is acknowledged", "");
        }
        for group in self.flows.iter().flatten() {
            let Some(window) = group.response.as_ref().or(self.response.as_ref()).map(least_window) else { continue };
            if window < every.min(longest(group)) {
                let (name, problem) = (&group.name, "would close for ever");
                let problem = format!(
                    "must be at most {window}, the least window of `{name}`, which {problem} before an ACK is sent"
                );
                mistakes.add(node, problem, "");
            }
        }
    }
}
