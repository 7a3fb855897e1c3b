//! Warnings about traces whose communication moves nothing, because the traces of other ranks are missing.

use super::node::{Kind, short};
use super::trace::Trace;
use crate::operation::Action;
use crate::program::Program;

/// Largest number of process groups that are named in warnings.
const MOST_GROUPS: usize = 5;

/// Process groups of which some ranks have no trace.
#[derive(Default)]
pub(super) struct Silence {
    warnings: Vec<String>,
    /// Number of groups that are not named.
    others: usize,
}

impl Silence {
    /// Notes a group if some of its ranks have no trace. `found` ranks have one, and each has this number of
    /// collectives, the first of which is given in words.
    pub fn note(&mut self, group: Option<&str>, size: Option<usize>, found: usize, collectives: (usize, &str)) {
        let missing = size.map_or(found == 1, |size| size > found);
        if !missing {
            return;
        }
        if self.warnings.len() == MOST_GROUPS {
            self.others += 1;
            return;
        }
        let group =
            group.map_or("the process group without a name".into(), |name| format!("process group `{}`", short(name)));
        let verb = if found == 1 { "has a trace" } else { "have traces" };
        let ranks = match size {
            Some(size) => format!("{found} of {size} ranks of {group} {verb}"),
            None => format!("only {found} rank of {group} {verb}"),
        };
        let what = if found == 1 { "so its collectives move nothing" } else { "and its collectives run among these" };
        let (count, first) = collectives;
        self.warnings.push(format!("{ranks}, {what}: {count} (first: {first})"));
    }

    /// The warnings about groups or, without any, about a program that moves no bytes.
    pub fn warnings(self, name: &str, traces: &[Trace], program: &Program) -> Vec<String> {
        let mut all = self.warnings;
        if self.others > 0 {
            all.push(format!("traces of ranks are missing in {} other process groups", self.others));
        }
        if all.is_empty() && !moves_bytes(program) {
            all.extend(nothing(traces));
        }
        all.into_iter().map(|warning| format!("{name}: {warning}")).collect()
    }
}

/// Whether any message has a payload.
fn moves_bytes(program: &Program) -> bool {
    (0..program.len() as u32).any(|number| matches!(program.op(number).action, Action::Send { bytes: 1.., .. }))
}

/// A warning about traces that move no bytes; `None` if they have no nodes.
fn nothing(traces: &[Trace]) -> Option<String> {
    let nodes = || traces.iter().flat_map(|trace| &trace.nodes);
    let communicates = |kind| matches!(kind, Kind::Send | Kind::Recv | Kind::Collective);
    let communication = nodes().filter(|node| communicates(node.kind)).count();
    let computations = nodes().filter(|node| node.kind == Kind::Compute).count();
    match (communication, computations) {
        (0, 0) => None,
        (0, _) => Some(format!("moves no bytes: it has {computations} computations, but no communication with a size")),
        _ => Some(format!("moves no bytes, although it has communication: {communication} nodes")),
    }
}
