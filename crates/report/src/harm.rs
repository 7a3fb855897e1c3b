//! Losses of victims to each bottleneck, which determine the order in which pages and sentences name roots.

use becalm_scenario::FlowPaths;

use crate::tables::Tables;

/// Smallest share of the window for which a link counts as a branch; `LEAST_ROOT` of `becalm.analysis.limits`.
const LEAST_BRANCH: f64 = 0.05;

/// Rates in B/s that victims lose to each of the bottlenecks, in their order.
///
/// A victim waits behind a bottleneck if it crosses the bottleneck itself, or a branch on the path of any flow that
/// crosses the bottleneck. If it waits behind several, its loss is divided equally among them. `bottlenecks` are links;
/// `branch` is the share of the window in which each link was a branch. All losses are zero without the table `flows`,
/// or if a path has links outside `branch`.
pub(crate) fn harm(tables: &Tables, paths: &FlowPaths, bottlenecks: &[usize], branch: &[f64]) -> Vec<f64> {
    let (roles, lost) = (tables.text("flows", "role"), tables.numbers("flows", "lost"));
    let hurt = |flow: usize| matches!(roles[flow].as_str(), "victim" | "both") && lost[flow] > 0.0;
    let victims: Vec<usize> = (0..roles.len().min(lost.len())).filter(|&flow| hurt(flow)).collect();
    if victims.is_empty() || paths.links.iter().any(|&link| link as usize >= branch.len()) {
        return vec![0.0; bottlenecks.len()];
    }
    let crossing = by_link(paths, branch.len(), 0..paths.starts.len() - 1);
    let waiting = by_link(paths, branch.len(), victims.iter().copied());
    let mut stamps = vec![usize::MAX; branch.len()];
    let behind = |(place, &root): (usize, &usize)| {
        let mut fresh = |link: usize| std::mem::replace(&mut stamps[link], place) != place;
        let mut links = vec![root];
        fresh(root);
        for &flow in &crossing[root] {
            let on_path = paths.of(flow).iter().map(|&link| link as usize);
            links.extend(on_path.filter(|&link| branch[link] >= LEAST_BRANCH && fresh(link)));
        }
        let mut found: Vec<usize> = links.iter().flat_map(|&link| waiting[link].iter().copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let behind: Vec<Vec<usize>> = bottlenecks.iter().enumerate().map(behind).collect();
    let mut several = vec![0u32; roles.len()];
    behind.iter().flatten().for_each(|&flow| several[flow] += 1);
    let sum = |flows: &Vec<usize>| flows.iter().map(|&flow| lost[flow] / f64::from(several[flow])).sum();
    behind.iter().map(sum).collect()
}

/// For each link, those of the given flows that cross it.
fn by_link(paths: &FlowPaths, links: usize, flows: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); links];
    for flow in flows {
        paths.of(flow).iter().for_each(|&link| found[link as usize].push(flow));
    }
    found
}
