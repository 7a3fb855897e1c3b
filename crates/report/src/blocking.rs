//! Who blocks whom: what victims lose, by the link at which they wait, the root behind it, and its contributors.

use std::collections::BTreeMap;

use becalm_engine::order;
use becalm_scenario::{FlowPaths, Scenario};
use serde_json::{Value, json};

use crate::harm::waiting;
use crate::ranking::Bottlenecks;
use crate::tables::Tables;

/// Largest number of names in a column; the last one stands for all others.
const MOST: usize = 12;
/// The link, root and contributors of a loss without a known root.
const NONE: i64 = -1;
/// All links of a column beyond [`MOST`].
const OTHERS: i64 = -2;

/// A loss in bytes: victim, link, root, contributors.
type Loss = (String, i64, i64, String, f64);

/// The bytes that victims lose, as rows `[victim, link, root, contributors, bytes]`; null without victims.
///
/// Victims and contributors are groups of flows, or hosts if all victims are on few hosts. Links are numbers, -1 for a loss
/// without a known root, and -2 for all links beyond the first eleven. A loss to a root is divided among its contributors
/// by the rates at which they cross it. All bytes together are the sum of `victims.lost` times the window.
pub(crate) fn blocking(scenario: &Scenario, tables: &Tables, paths: &FlowPaths) -> Value {
    let Some(Bottlenecks { links, branch, .. }) = Bottlenecks::new(scenario, tables) else { return Value::Null };
    let window = (*scenario.sections().run.duration).as_secs() - (*scenario.sections().run.warmup).as_secs();
    let [groups, sources, roles] = ["group", "source", "role"].map(|name| tables.text("flows", name));
    let [rates, lost] = ["rate", "lost"].map(|name| tables.numbers("flows", name));
    let behind = waiting(tables, paths, &links, &branch);
    let suffers = |flow: &usize| matches!(roles[*flow].as_str(), "victim" | "both") && lost[*flow] > 0.0;
    let victims: Vec<usize> = (0..roles.len()).filter(suffers).collect();
    let mut hosts: Vec<&str> = victims.iter().map(|&flow| sources[flow].as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let label = |flow: usize| if hosts.len() <= MOST { &sources[flow] } else { &groups[flow] };
    let mut open: BTreeMap<usize, f64> = victims.iter().map(|&flow| (flow, lost[flow])).collect();
    let mut losses: Vec<Loss> = Vec::new();
    for (&root, behind) in links.iter().zip(&behind) {
        if behind.is_empty() {
            continue;
        }
        let contributors = contributors(root, paths, groups, &rates);
        for victim in behind {
            open.entry(victim.flow).and_modify(|rest| *rest -= victim.lost);
            for (group, part) in &contributors {
                let bytes = victim.lost * part * window;
                losses.push((label(victim.flow).clone(), victim.link as i64, root as i64, (*group).to_string(), bytes));
            }
        }
    }
    for (&flow, &rest) in open.iter().filter(|(flow, rest)| **rest > 1e-9 * lost[**flow]) {
        losses.push((label(flow).clone(), NONE, NONE, String::new(), rest * window));
    }
    let rows = few(losses);
    if rows.is_empty() { Value::Null } else { json!(rows) }
}

/// Groups that cross a root, each with its part of the rate.
fn contributors<'a>(root: usize, paths: &FlowPaths, groups: &'a [String], rates: &[f64]) -> Vec<(&'a str, f64)> {
    let crosses = |flow: &usize| paths.of(*flow).iter().any(|&link| link as usize == root);
    let mut parts: BTreeMap<&str, f64> = BTreeMap::new();
    for flow in (0..groups.len()).filter(crosses) {
        *parts.entry(&groups[flow]).or_default() += rates[flow];
    }
    let whole: f64 = parts.values().sum();
    let mut parts: Vec<(&str, f64)> = parts.into_iter().map(|(group, rate)| (group, rate / whole)).collect();
    parts.retain(|&(_, part)| part > 0.0);
    parts.sort_unstable_by_key(|&(group, _)| group);
    parts
}

/// The losses with at most [`MOST`] names in each column, equal rows added up, largest first.
fn few(losses: Vec<Loss>) -> Vec<Loss> {
    let (victims, groups) = (top(&losses, |loss| loss.0.clone()), top(&losses, |loss| loss.3.clone()));
    let (links, roots) = (top(&losses, |loss| loss.1), top(&losses, |loss| loss.2));
    let name = |kept: &[String], name: String| if kept.contains(&name) { name } else { "others".to_string() };
    let link = |kept: &[i64], link: i64| if kept.contains(&link) { link } else { OTHERS };
    let mut sums: BTreeMap<(String, i64, i64, String), f64> = BTreeMap::new();
    for (victim, at, root, group, bytes) in losses {
        let key = (name(&victims, victim), link(&links, at), link(&roots, root), name(&groups, group));
        *sums.entry(key).or_default() += bytes;
    }
    let mut rows: Vec<Loss> = sums.into_iter().map(|((a, b, c, d), bytes)| (a, b, c, d, bytes)).collect();
    order::sort_by(&mut rows, |a, b| {
        b.4.total_cmp(&a.4).then_with(|| (&a.0, a.1, a.2, &a.3).cmp(&(&b.0, b.1, b.2, &b.3)))
    });
    rows
}

/// The names of a column with the largest sums; one fewer than [`MOST`] if there are more.
fn top<K: Ord + Clone>(losses: &[Loss], key: impl Fn(&Loss) -> K) -> Vec<K> {
    let mut sums: BTreeMap<K, f64> = BTreeMap::new();
    losses.iter().for_each(|loss| *sums.entry(key(loss)).or_default() += loss.4);
    let mut found: Vec<(K, f64)> = sums.into_iter().collect();
    order::sort_by(&mut found, |a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found.truncate(if found.len() > MOST { MOST - 1 } else { MOST });
    found.into_iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(text: &str) -> (f64, Vec<Value>) {
        let scenario = Scenario::parse(text, "f.toml").unwrap_or_else(|errors| panic!("{errors}"));
        let tables: Tables = scenario.run(0, 1, &mut |_| true).unwrap().tables.into();
        let made = blocking(&scenario, &tables, &scenario.flow_paths(1));
        (tables.numbers("victims", "lost").iter().sum(), made.as_array().cloned().unwrap_or_default())
    }

    #[test]
    fn the_bytes_are_those_that_victims_lose() {
        let text = "[run]\nduration = \"3 ms\"\nwarmup = \"1 ms\"\n[topology.dumbbell]\n[[flows]]\nname = \"hot\"\n\
                    from = [\"A1\", \"A2\", \"B1\"]\nto = [\"BC\"]\n[[flows]]\nname = \"cold\"\nfrom = [\"AV\"]\n\
                    to = [\"BV\"]\n";
        let (rate, rows) = lost(text);
        let bytes: f64 = rows.iter().map(|row| row[4].as_f64().unwrap()).sum();
        assert!(rate > 0.0 && (bytes / (rate * 2e-3) - 1.0).abs() < 1e-9, "{bytes} and {rate}");
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!((&rows[0][0], &rows[0][3]), (&json!("AV"), &json!("hot")));
        assert_ne!(rows[0][1], rows[0][2], "the victim waits at a branch, not at the root");
    }

    #[test]
    fn a_run_without_victims_blocks_nobody() {
        let text = "[run]\nduration = \"1 ms\"\n[topology.dumbbell]\n[[flows]]\nname = \"a\"\nfrom = [\"B1\"]\n\
                    to = [\"BC\"]\n";
        assert_eq!(lost(text), (0.0, Vec::new()));
    }

    #[test]
    fn a_column_has_few_names_and_loses_no_byte() {
        let losses: Vec<Loss> =
            (0..40).map(|i| (format!("h{i:02}"), i, i / 20, "g".to_string(), f64::from(i as u8))).collect();
        let rows = few(losses);
        let names: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.0.as_str()).collect();
        assert_eq!((names.len(), names.contains("others"), names.contains("h39")), (MOST, true, true));
        assert_eq!(rows.iter().map(|row| row.4).sum::<f64>(), 780.0);
    }
}
