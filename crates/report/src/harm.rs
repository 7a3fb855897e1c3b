//! Losses of victims to each bottleneck, which determine the order in which pages and sentences name roots.

use becalm_scenario::FlowPaths;

use crate::tables::Tables;

/// Smallest share of the window for which a link counts as a branch; `LEAST_ROOT` of `becalm.analysis.limits`.
const LEAST_BRANCH: f64 = 0.05;

/// A victim behind a bottleneck.
pub(crate) struct Waiting {
    /// Number of the flow.
    pub flow: usize,
    /// The link on the victim's path at which it waits: the one nearest to its destination.
    pub link: usize,
    /// Rate in B/s that the victim loses to this bottleneck.
    pub lost: f64,
}

/// Victims behind each of the bottlenecks, in their order.
///
/// A victim waits behind a bottleneck if it crosses the bottleneck itself, or a branch on the path of any flow that
/// crosses the bottleneck. If it waits behind several, its loss is divided equally among them. `bottlenecks` are links;
/// `branch` is the share of the window in which each link was a branch. All lists are empty without the table `flows`,
/// or if a path has links outside `branch`.
pub(crate) fn waiting(tables: &Tables, paths: &FlowPaths, bottlenecks: &[usize], branch: &[f64]) -> Vec<Vec<Waiting>> {
    let (roles, lost) = (tables.text("flows", "role"), tables.numbers("flows", "lost"));
    let hurt = |flow: usize| matches!(roles[flow].as_str(), "victim" | "both") && lost[flow] > 0.0;
    let victims: Vec<usize> = (0..roles.len().min(lost.len())).filter(|&flow| hurt(flow)).collect();
    if victims.is_empty() || paths.links.iter().any(|&link| link as usize >= branch.len()) {
        return bottlenecks.iter().map(|_| Vec::new()).collect();
    }
    let crossing = by_link(paths, branch.len(), 0..paths.starts.len() - 1);
    let crossed = by_link(paths, branch.len(), victims.iter().copied());
    let mut stamps = vec![usize::MAX; branch.len()];
    let behind = |(place, &root): (usize, &usize)| {
        let mut fresh = |link: usize| std::mem::replace(&mut stamps[link], place) != place;
        let mut links = vec![root];
        fresh(root);
        for &flow in &crossing[root] {
            let on_path = paths.of(flow).iter().map(|&link| link as usize);
            links.extend(on_path.filter(|&link| branch[link] >= LEAST_BRANCH && fresh(link)));
        }
        let mut found: Vec<usize> = links.iter().flat_map(|&link| crossed[link].iter().copied()).collect();
        found.sort_unstable();
        found.dedup();
        let last = |flow| paths.of(flow).iter().map(|&link| link as usize).rfind(|&link| stamps[link] == place);
        found.into_iter().filter_map(|flow| Some((flow, last(flow)?))).collect::<Vec<_>>()
    };
    let behind: Vec<Vec<(usize, usize)>> = bottlenecks.iter().enumerate().map(behind).collect();
    let mut several = vec![0u32; roles.len()];
    behind.iter().flatten().for_each(|&(flow, _)| several[flow] += 1);
    let part = |&(flow, link): &(usize, usize)| Waiting { flow, link, lost: lost[flow] / f64::from(several[flow]) };
    behind.iter().map(|found| found.iter().map(part).collect()).collect()
}

/// For each link, those of the given flows that cross it.
fn by_link(paths: &FlowPaths, links: usize, flows: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); links];
    for flow in flows {
        paths.of(flow).iter().for_each(|&link| found[link as usize].push(flow));
    }
    found
}
