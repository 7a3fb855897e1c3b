//! Where packets go, as tables: what a scenario says without a run.

use std::collections::{BTreeMap, VecDeque};

use becalm_fabric::{NodeId, NodeKind, Paths, PortId};
use becalm_metrics::Table;

use crate::scenario::Scenario;

/// Most steps from switch to switch that are followed to count the pairs of hosts on each link.
const MOST_STEPS: u64 = 5_000_000;

impl Scenario {
    /// Routes and paths, as four tables. Links have the order of the table `links` of results, flows that of `flows`.
    ///
    /// - `links`, one row per link: `name`, `from`, `from_port`, `to`, `capacity` in B/s, `from_level` and `to_level` (0 for hosts, 1 for switches
    ///   with hosts, and so on), and `pairs`, the pairs of hosts whose path crosses it, each with its share where there are several equal ports; NaN where
    ///   there are too many to count.
    /// - `flows`, one row per flow: `group`, `source`, `destination`, `sl`.
    /// - `paths`, one row per flow and link that its packets can take, in the order of the path: `flow`, `link`.
    /// - `circle`: `link`, the names of links of which each may wait for the next; empty where no deadlock is possible.
    pub fn routing(&self) -> Vec<Table> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        vec![self.routed_links(&paths), self.known_flows(), self.routed_flows(&paths), self.circle(&paths)]
    }

    fn routed_links(&self, paths: &Paths<'_>) -> Table {
        let (links, levels, pairs) = (&self.network.links, self.levels(paths), self.pairs(paths));
        let crossing = |from: PortId| match &pairs {
            Some(pairs) => pairs.get(&from).copied().unwrap_or(0.0),
            None => f64::NAN,
        };
        Table::new("links")
            .with("name", "", links.iter().map(|link| link.name.clone()).collect::<Vec<_>>())
            .with(
                "from",
                "",
                links.iter().map(|link| self.network.name(link.from.node).to_string()).collect::<Vec<_>>(),
            )
            .with("from_port", "", links.iter().map(|link| u64::from(link.from.port)).collect::<Vec<_>>())
            .with("to", "", links.iter().map(|link| self.network.name(link.to.node).to_string()).collect::<Vec<_>>())
            .with("capacity", "B/s", links.iter().map(|link| link.rate.bytes_per_second()).collect::<Vec<_>>())
            .with("from_level", "", links.iter().map(|link| levels[link.from.node.index()]).collect::<Vec<_>>())
            .with("to_level", "", links.iter().map(|link| levels[link.to.node.index()]).collect::<Vec<_>>())
            .with("pairs", "", links.iter().map(|link| crossing(link.from)).collect::<Vec<_>>())
    }

    fn known_flows(&self) -> Table {
        let flows = &self.plan.flows;
        let name = |node| self.network.name(node).to_string();
        let group = |number: u32| self.sections.group(number);
        Table::new("flows")
            .with("group", "", flows.iter().map(|flow| group(flow.group).name.to_string()).collect::<Vec<_>>())
            .with("source", "", flows.iter().map(|flow| name(flow.source)).collect::<Vec<_>>())
            .with("destination", "", flows.iter().map(|flow| name(flow.destination)).collect::<Vec<_>>())
            .with("sl", "", flows.iter().map(|flow| u64::from(group(flow.group).sl)).collect::<Vec<_>>())
    }

    fn routed_flows(&self, paths: &Paths<'_>) -> Table {
        let places: BTreeMap<PortId, u64> =
            (0..).zip(&self.network.links).map(|(place, link)| (link.from, place)).collect();
        let (mut flows, mut links) = (Vec::new(), Vec::new());
        for flow in 0..self.plan.flows.len() as u32 {
            for port in self.ways(paths, flow, *self.sections.run.seed) {
                flows.push(u64::from(flow));
                links.push(places[&port]);
            }
        }
        Table::new("paths").with("flow", "", flows).with("link", "", links)
    }

    fn circle(&self, paths: &Paths<'_>) -> Table {
        let flows = self.plan.flows.iter().map(|flow| (flow.source, flow.destination));
        Table::new("circle").with("link", "", paths.dependency_cycle(flows).unwrap_or_default())
    }

    /// The distance of each node from the nearest host, in cables.
    fn levels(&self, paths: &Paths<'_>) -> Vec<u64> {
        let mut queue: VecDeque<NodeId> = self.network.topology.hosts().collect();
        let mut levels = vec![u64::MAX; self.network.topology.nodes().len()];
        queue.iter().for_each(|host| levels[host.index()] = 0);
        while let Some(node) = queue.pop_front() {
            for (peer, _) in &paths.peers()[node.index()] {
                if levels[peer.node.index()] == u64::MAX {
                    levels[peer.node.index()] = levels[node.index()] + 1;
                    queue.push_back(peer.node);
                }
            }
        }
        levels
    }

    /// The number of pairs of hosts that leave by each port of a switch; `None` where there are too many to follow.
    fn pairs(&self, paths: &Paths<'_>) -> Option<BTreeMap<PortId, f64>> {
        let (topology, routes) = (&self.network.topology, &self.network.routes);
        let mut leaves: BTreeMap<NodeId, u64> = BTreeMap::new();
        for host in topology.hosts() {
            *leaves.entry(paths.peers()[host.index()].first()?.0.node).or_default() += 1;
        }
        let mut pairs = BTreeMap::new();
        let mut steps = leaves.len() as u64 * u64::from(topology.host_count());
        for (&leaf, &sources) in &leaves {
            for host in topology.hosts() {
                // The switches that packets reach, with the share of the pairs and the hops so far.
                let mut reached = vec![(leaf, sources as f64, 0)];
                while let Some((at, share, hops)) = reached.pop() {
                    if topology.node(at).kind == NodeKind::Host {
                        continue;
                    }
                    let set = routes.ports(topology.node(at).rank, topology.node(host).rank);
                    steps += set.len() as u64;
                    if set.is_empty() || steps > MOST_STEPS || hops > topology.switch_count() {
                        return None;
                    }
                    let share = share / set.len() as f64;
                    for port in set.iter() {
                        *pairs.entry(PortId { node: at, port }).or_insert(0.0) += share;
                        reached.push((paths.peers()[at.index()][usize::from(port)].0.node, share, hops + 1));
                    }
                }
            }
        }
        Some(pairs)
    }
}

#[cfg(test)]
mod tests {
    use becalm_metrics::{Data, Table};

    use crate::Scenario;

    fn column<'a>(tables: &'a [Table], table: &str, column: &str) -> &'a Data {
        let table = tables.iter().find(|each| each.name == table).expect("a table of this name");
        &table.columns.iter().find(|each| each.name == column).expect("a column of this name").data
    }

    fn scenario(topology: &str) -> Scenario {
        let flows = "[[flows]]\nname = \"f\"\nfrom = [\"H1\"]\nto = [\"H3\", \"H2\"]";
        let text = format!("[run]\nduration = \"1 ms\"\n[topology.edges]\n{topology}\n{flows}");
        Scenario::parse(&text, "routing.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }

    #[test]
    fn follows_flows_and_counts_pairs_of_hosts() {
        // H1 and H2 on A, H3 on B.
        let tables = scenario(
            r#"
            hosts = ["H1..H3"]
            switches = ["A", "B"]
            cables = [{ between = ["H1..H2", "A"] }, { between = ["H3", "B"] }, { between = ["A", "B"], rate = "2 GB/s" }]
            "#,
        )
        .routing();
        let names = ["H1->A", "H2->A", "H3->B", "A->H1", "A->H2", "A->B", "B->H3", "B->A"];
        let Data::Text(found) = column(&tables, "links", "name") else { panic!("text") };
        let mut sorted = found.clone();
        sorted.sort();
        let mut expected = names.map(str::to_string).to_vec();
        expected.sort();
        assert_eq!(sorted, expected);
        let at = |name: &str| found.iter().position(|each| each == name).expect("a link");
        let Data::F64(pairs) = column(&tables, "links", "pairs") else { panic!("numbers") };
        assert_eq!([pairs[at("A->B")], pairs[at("B->A")], pairs[at("A->H1")]], [2.0, 2.0, 3.0]);
        let Data::F64(capacity) = column(&tables, "links", "capacity") else { panic!("numbers") };
        assert_eq!([capacity[at("A->B")], capacity[at("H1->A")]], [2e9, 1e9]);
        let Data::U64(links) = column(&tables, "paths", "link") else { panic!("numbers") };
        let path: Vec<&str> = links.iter().map(|&link| found[link as usize].as_str()).collect();
        assert_eq!(path, ["H1->A", "A->B", "B->H3", "H1->A", "A->H2"]);
        assert_eq!(column(&tables, "paths", "flow"), &Data::U64(vec![0, 0, 0, 1, 1]));
        assert_eq!(column(&tables, "circle", "link"), &Data::Text(vec![]));
    }
}
