//! The verdict on a run in one sentence: who suffers, and from what. Every command and page shows this sentence first.

use std::collections::BTreeSet;

use becalm_scenario::Scenario;
use becalm_scenario::sections::run::End;

use crate::ranking;
use crate::tables::Tables;
use crate::words::{counted, listed, number, seconds, share};

/// Smallest slowdown that a verdict mentions; 1 + `SLOWED` of `becalm.analysis.limits`.
const SLOWED: f64 = 1.1;
/// Largest number of jobs or hosts that a verdict names.
const MOST_NAMES: usize = 2;

/// The verdict on a replication. `stopped` is the time in s at which it was stopped before its end, if it was.
///
/// First come jobs that have not ended or are slowed, then victims of congestion, then the main root. A run without
/// them is calm. The verdict says nothing that its tables do not show: what congestion control gains or costs is known
/// only from two runs; see [`crate::difference`]. None if the tables `flows` and `tree` are missing.
pub fn verdict(scenario: &Scenario, tables: &Tables, stopped: Option<f64>) -> Option<String> {
    if ["flows", "tree"].iter().any(|name| tables.columns(name).is_empty()) {
        return None;
    }
    let control = if scenario.responds() { "With" } else { "Without" };
    let stopped = stopped.map(|at| format!(" and stopped at {}", seconds(at))).unwrap_or_default();
    // The shares of a window without any length.
    if tables.numbers("links", "utilization").first().is_some_and(|share| share.is_nan()) {
        return Some(format!(
            "{control} congestion control{stopped}, nothing was measured: the run ended as its measured window began."
        ));
    }
    let suffering: Vec<String> = [unfinished(scenario, tables, &stopped), slowed(tables), victims(scenario, tables)]
        .into_iter()
        .flatten()
        .collect();
    let root = Root::of(scenario, tables);
    let said = match (suffering.is_empty(), root) {
        (false, Some(root)) => format!("{}; the main root is {}", suffering.join("; "), root.described()),
        (false, None) => suffering.join("; "),
        (true, Some(root)) => {
            format!("no flow is a victim of {}, and it is used to {}", root.described(), share(root.used))
        }

        (true, None) => "no flow is a victim, and no link is a root of congestion".to_string(),
    };
    Some(format!("{control} congestion control{stopped}, {said}."))
}

/// The main root of congestion; see [`ranking::roles`].
struct Root {
    link: String,
    /// Offered traffic as a multiple of the link's rate; 0 if no flows oversubscribe it.
    offered: f64,
    flows: usize,
    used: f64,
}

impl Root {
    fn of(scenario: &Scenario, tables: &Tables) -> Option<Root> {
        // Without a root, the paths of all flows are not needed.
        if !tables.text("tree", "role").iter().any(|role| role == "root") {
            return None;
        }
        let paths = scenario.flow_paths(*scenario.sections().run.seed);
        let roles = ranking::roles(scenario, tables, &paths);
        if roles["roots"].as_u64().unwrap_or(0) == 0 {
            return None;
        }
        let link = roles["first"]["link"].as_u64()? as usize;
        let lanes = usize::from(scenario.sections().vls());
        let (from, to) = (tables.text("links", "from"), tables.text("links", "to"));
        let largest = |column: &str| {
            let rows = tables.numbers("tree", column);
            rows.get(link * lanes..(link + 1) * lanes).unwrap_or(&[]).iter().copied().fold(0.0, f64::max)
        };
        Some(Root {
            link: format!("{} -> {}", with_owner(scenario, from.get(link)?), with_owner(scenario, to.get(link)?)),
            offered: largest("offered"),
            flows: largest("contributors") as usize,
            used: tables.numbers("links", "utilization").get(link).copied().unwrap_or(0.0),
        })
    }

    fn described(&self) -> String {
        let Root { link, offered, flows, .. } = self;
        let [offer, share] = if *flows == 1 { ["offers", "uses"] } else { ["offer", "share"] };
        let flows = counted(*flows, "flow");
        // Jobs post messages only when others have arrived, so their offer never exceeds what is delivered.
        match *offered {
            over if over >= 1.0 => format!("{link}: {flows} {offer} {over:.2} times its rate"),
            _ => format!("{link}: {flows} {share} it"),
        }
    }
}

fn unfinished(scenario: &Scenario, tables: &Tables, stopped: &str) -> Option<String> {
    let (names, ends) = (tables.text("jobs", "job"), tables.numbers("jobs", "end"));
    let open: Vec<&str> =
        (0..names.len()).filter(|&job| !ends[job].is_finite()).map(|job| names[job].as_str()).collect();
    // A job that is meant to run until the end, beside measured flows, is not late.
    if open.is_empty() || !stopped.is_empty() || !matches!(*scenario.sections().run.end, End::Jobs) {
        return None;
    }
    let duration = seconds((*scenario.sections().run.duration).as_secs());
    Some(format!("{} not ended within {duration}", jobs(&open, "has", "have")))
}

fn slowed(tables: &Tables) -> Option<String> {
    let names = tables.text("jobs", "job");
    let [slowdown, time, alone] = ["slowdown", "time", "time_alone"].map(|name| tables.numbers("jobs", name));
    let mut late: Vec<usize> = (0..names.len()).filter(|&job| slowdown[job] >= SLOWED).collect();
    late.sort_by(|&a, &b| slowdown[b].total_cmp(&slowdown[a]));
    let &first = late.first()?;
    let chosen: Vec<&str> = late.iter().map(|&job| names[job].as_str()).collect();
    let most = if late.len() > 1 { "up to " } else { "" };
    let times = format!("{} instead of {}", seconds(time[first]), seconds(alone[first]));
    Some(format!("{} {most}{:.2} times as long as alone ({times})", jobs(&chosen, "takes", "take"), slowdown[first]))
}

/// Jobs as the subject of a sentence, with the verb for one or for several.
fn jobs(names: &[&str], one: &str, several: &str) -> String {
    match names {
        [name] => format!("job {name} {one}"),
        few if few.len() <= MOST_NAMES => format!("jobs {} {several}", listed(few)),
        many => format!("{} jobs {several}", many.len()),
    }
}

/// The name of a node of the network, with its owner if it is the adapter of a node with several.
fn with_owner(scenario: &Scenario, name: &str) -> String {
    let owner = scenario.owners().find_map(|(host, _, owner)| (host == name).then_some(owner));
    owner.map_or(name.to_string(), |owner| format!("{name} ({owner})"))
}

/// Hosts as the origin of flows, by nodes if all of them are adapters of nodes.
fn hosts(scenario: &Scenario, names: &[&str]) -> String {
    if let [host] = names {
        return format!("host {}", with_owner(scenario, host));
    }
    let owned = scenario.owners().filter(|(host, ..)| names.binary_search(host).is_ok());
    let (count, nodes) = owned.fold((0, BTreeSet::new()), |(count, mut nodes), (_, node, _)| {
        nodes.insert(node);
        (count + 1, nodes)
    });
    let hosts = format!("{} hosts", names.len());
    match nodes.first() {
        Some(node) if nodes.len() == 1 && count == names.len() => format!("{hosts} of node {node}"),
        Some(_) if count == names.len() => format!("{hosts} of {} nodes", nodes.len()),
        _ => hosts,
    }
}

fn victims(scenario: &Scenario, tables: &Tables) -> Option<String> {
    let roles = tables.text("flows", "role");
    let [lost, rate] = ["lost", "rate"].map(|name| tables.numbers("flows", name));
    let is_victim = |flow: &usize| matches!(roles[*flow].as_str(), "victim" | "both");
    let hurt: Vec<usize> = (0..roles.len()).filter(is_victim).collect();
    let missing: f64 = hurt.iter().map(|&flow| lost[flow]).filter(|lost| lost.is_finite()).sum();
    let due = missing + hurt.iter().map(|&flow| rate[flow]).sum::<f64>();
    let distinct = |column: &str| -> Vec<&str> {
        let names: BTreeSet<&str> = hurt.iter().map(|&flow| tables.text("flows", column)[flow].as_str()).collect();
        names.into_iter().collect()
    };
    let (groups, sources) = (distinct("group"), distinct("source"));
    if sources.is_empty() {
        return None;
    }
    let hosts = hosts(scenario, &sources);
    let of = if groups.len() <= MOST_NAMES { format!(" of {}", listed(&groups)) } else { String::new() };
    let loses = if hurt.len() == 1 { "is a victim and loses" } else { "are victims and lose" };
    let flows = counted(hurt.len(), "flow");
    Some(format!(
        "{flows}{of} from {hosts} {loses} {} of the offered traffic ({})",
        share(missing / due),
        number(missing, "B/s")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> String {
        let scenario = Scenario::parse(text, "f.toml").unwrap_or_else(|errors| panic!("{errors}"));
        let results = scenario.run(0, 1, &mut |_| true).unwrap();
        verdict(&scenario, &results.tables.into(), None).unwrap()
    }

    const DUMBBELL: &str = "[run]\nduration = \"3 ms\"\nwarmup = \"1 ms\"\n[topology.dumbbell]\n";

    #[test]
    fn the_calm_run_the_victim_and_the_root_without_victims_are_told_apart() {
        let flow = |name: &str, from: &str, to: &str| {
            format!("[[flows]]\nname = \"{name}\"\nfrom = {from}\nto = [\"{to}\"]\n")
        };
        let calm = judged(&format!("{DUMBBELL}{}", flow("a", "[\"B1\"]", "BC")));
        assert_eq!(calm, "Without congestion control, no flow is a victim, and no link is a root of congestion.");
        let hot = flow("hot", "[\"A1\", \"A2\", \"B1\"]", "BC");
        assert_eq!(
            judged(&format!("{DUMBBELL}{hot}")),
            "Without congestion control, no flow is a victim of B -> BC: 3 flows offer 3.00 times its rate, \
             and it is used to 100.0%."
        );
        assert_eq!(
            judged(&format!("{DUMBBELL}{hot}{}", flow("cold", "[\"AV\"]", "BV"))),
            "Without congestion control, 1 flow of cold from host AV is a victim and loses 50.0% of the offered traffic \
             (250 MB/s); the main root is B -> BC: 3 flows offer 3.00 times its rate."
        );
        let nodes = |gpus: u32, nics: &str| format!("[[nodes]]\nname = \"n0\"\ngpus = {gpus}\nnics = [[{nics}]]\n");
        assert_eq!(
            judged(&format!("{DUMBBELL}{hot}{}{}", flow("cold", "[\"AV\"]", "BV"), nodes(2, "\"AV\", \"BC\""))),
            "Without congestion control, 1 flow of cold from host AV (GPU 0 of node n0) is a victim and loses 50.0% of the \
             offered traffic (250 MB/s); the main root is B -> BC (GPU 1 of node n0): 3 flows offer 3.00 times its rate."
        );
    }

    #[test]
    fn a_run_that_ends_at_once_says_nothing_of_its_flows() {
        let text = "[run]\nduration = \"3 ms\"\nend = \"jobs\"\n[topology.dumbbell]\n\
                    [[nodes]]\nname = \"n\"\ngpus = 2\nnics = [[\"A1\", \"A2\"]]\n\
                    [[jobs]]\nname = \"j\"\nnodes = [\"*\"]\n\
                    all_to_all_v.table = [[\"9 kB\", \"9 kB\"], [\"9 kB\", \"9 kB\"]]\n";
        let flow = "[[flows]]\nname = \"f\"\nfrom = [\"A3\"]\nto = [\"A4\"]\n";
        let said = judged(&format!("{text}{flow}"));
        assert_eq!(
            said,
            "Without congestion control, nothing was measured: the run ended as its measured window began."
        );
    }

    #[test]
    fn hosts_of_nodes_are_counted_with_their_nodes() {
        let text = "[run]\nduration = \"1 us\"\n[topology.rail]\nnodes = 2\ngpus = 2\n[[flows]]\nname = \"f\"\n\
                    from = [\"N0G0\"]\nto = [\"N1G0\"]\n";
        let scenario = Scenario::parse(text, "f.toml").unwrap();
        let of = |names: &[&str]| hosts(&scenario, names);
        assert_eq!(of(&["N0G1"]), "host N0G1 (GPU 1 of node N0)");
        assert_eq!(of(&["N0G0", "N0V1"]), "2 hosts of node N0");
        assert_eq!(of(&["N0G0", "N1G0", "N1G1"]), "3 hosts of 2 nodes");
        assert_eq!(of(&["N0G0", "other"]), "2 hosts");
    }
}
