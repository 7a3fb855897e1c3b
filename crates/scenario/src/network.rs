//! The network of a scenario as tables, which need no run.

use std::collections::BTreeMap;

use becalm_fabric::{FabricError, NodeId, NodeKind, Paths, PortId, Unloaded};
use becalm_metrics::{Ports, Table, schema};
use becalm_schema::{Errors, Located, Node, Place, Review};

use crate::fabric::ports_of_pair;
use crate::scenario::Scenario;

/// Largest number of steps between switches that are followed to count the pairs of hosts on each link.
const MOST_STEPS: u64 = 5_000_000;

impl Scenario {
    /// The adapters of nodes: host, name of the node, and owner in words, such as `GPU 1 of node N0`.
    pub fn owners(&self) -> impl Iterator<Item = (&str, &str, String)> {
        self.network.nodes.iter().flat_map(move |node| {
            node.gpus.iter().enumerate().flat_map(move |(place, gpu)| {
                gpu.adapters().map(move |host| (self.network.name(host), node.name.as_str(), node.owner(place)))
            })
        })
    }

    /// The tables `nodes`, `links`, `flows` and `paths`, as described in [`schema`]. The paths are from the first
    /// replication.
    pub fn network_tables(&self) -> Vec<Table> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        vec![self.nodes(), self.network_links(&paths), self.planned_flows(), self.planned_paths()]
    }

    fn nodes(&self) -> Table {
        let (nodes, levels) = (self.network.topology.nodes(), self.network.topology.levels());
        let kind = |kind| if kind == NodeKind::Host { "host" } else { "switch" };
        Table::new(&schema::NODES)
            .with("node", nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>())
            .with("kind", nodes.iter().map(|node| kind(node.kind).to_string()).collect::<Vec<_>>())
            .with("level", levels.into_iter().map(u64::from).collect::<Vec<_>>())
            .with("ports", nodes.iter().map(|node| u64::from(node.degree)).collect::<Vec<_>>())
    }

    fn network_links(&self, paths: &Paths<'_>) -> Table {
        let (links, levels, pairs) = (self.directions(), self.network.topology.levels(), self.pairs(paths));
        let others = f64::from(self.network.topology.host_count()) - 1.0;
        let crossing = |from: PortId| match &pairs {
            _ if levels[from.node.index()] == 0 => others,
            Some(pairs) => pairs.get(&from).copied().unwrap_or(0.0),
            None => f64::NAN,
        };
        let name = |node| self.network.name(node).to_string();
        let level = |node: NodeId| u64::from(levels[node.index()]);
        Table::new(&schema::NETWORK_LINKS)
            .with("link", self.network.links.iter().map(|link| link.name.clone()).collect::<Vec<_>>())
            .with("from", links.iter().map(|link| name(link.from.node)).collect::<Vec<_>>())
            .with("from_port", links.iter().map(|link| u64::from(link.from.port)).collect::<Vec<_>>())
            .with("to", links.iter().map(|link| name(link.to.node)).collect::<Vec<_>>())
            .with("to_port", links.iter().map(|link| u64::from(link.to.port)).collect::<Vec<_>>())
            .with("capacity", links.iter().map(|link| link.rate).collect::<Vec<_>>())
            .with("delay", links.iter().map(|link| link.delay.as_secs()).collect::<Vec<_>>())
            .with("from_level", links.iter().map(|link| level(link.from.node)).collect::<Vec<_>>())
            .with("to_level", links.iter().map(|link| level(link.to.node)).collect::<Vec<_>>())
            .with("pairs", links.iter().map(|link| crossing(link.from)).collect::<Vec<_>>())
    }

    fn planned_flows(&self) -> Table {
        let flows = &self.plan.flows;
        let name = |node| self.network.name(node).to_string();
        let group = |number: u32| self.sections.group(number);
        let spans = self.spans(*self.sections.run.seed);
        Table::new(&schema::PLANNED_FLOWS)
            .with("group", flows.iter().map(|flow| group(flow.group).name.to_string()).collect::<Vec<_>>())
            .with("source", flows.iter().map(|flow| name(flow.source)).collect::<Vec<_>>())
            .with("destination", flows.iter().map(|flow| name(flow.destination)).collect::<Vec<_>>())
            .with("sl", flows.iter().map(|flow| u64::from(flow.sl)).collect::<Vec<_>>())
            .with("start", (0..flows.len()).map(|flow| spans.of(flow).start.as_secs()).collect::<Vec<_>>())
            .with("stop", (0..flows.len()).map(|flow| spans.of(flow).end.as_secs()).collect::<Vec<_>>())
    }

    fn planned_paths(&self) -> Table {
        let paths = self.flow_paths(*self.sections.run.seed);
        let flows = (0..self.plan.flows.len()).flat_map(|flow| paths.of(flow).iter().map(move |_| flow as u64));
        let shares = (0..paths.links.len()).map(|place| paths.share(place));
        Table::new(&schema::PATHS)
            .with("flow", flows.collect::<Vec<_>>())
            .with("link", paths.links.iter().map(|&link| u64::from(link)).collect::<Vec<_>>())
            .with("share", shares.collect::<Vec<_>>())
    }

    /// The links that packets from one host to another can take, as row numbers of the table `links`. Each link has its
    /// share of the packets if equal ports are used evenly.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] and [`FabricError::RoutingLoop`].
    pub fn path(&self, source: NodeId, destination: NodeId) -> Result<Vec<(u32, f64)>, FabricError> {
        let topology = &self.network.topology;
        let (paths, ports) = (Paths::new(topology, &self.network.routes), Ports::new(topology));
        let ways = ports_of_pair(&paths, &self.network.routes, (source, destination))?;
        Ok(ways.into_iter().map(|(port, share)| (ports.index(port) as u32, share)).collect())
    }

    /// Properties of each flow on an empty fabric: the rate of the source's link in B/s, the round-trip time
    /// of a full packet and its ACK in s, and the bytes of a full packet.
    ///
    /// # Panics
    /// If a flow does not exist.
    pub fn unloaded(&self, flows: &[u32]) -> Vec<[f64; 3]> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let unloaded = Unloaded::new(&self.network.topology, &paths, &self.switch_config());
        let (full, ack) = (self.sections.packet.full(), self.sections.packet_config().ack);
        let of = |&flow: &u32| {
            let flow = &self.plan.flows[flow as usize];
            let (rtt, _) = unloaded.round_trip(flow.source, flow.destination, full, ack);
            let (rate, _) = unloaded.link(PortId { node: flow.source, port: 0 });
            [rate.bytes_per_second(), rtt.as_secs(), f64::from(full)]
        };
        flows.iter().map(of).collect()
    }

    /// The hosts in a list with the syntax of a scenario: names, ranges such as `H0..H7`, or `*` for all hosts.
    ///
    /// # Errors
    /// All invalid ranges and unknown hosts. `file` is the name of the scenario in messages.
    pub fn hosts(&self, patterns: &[String], file: &str) -> Result<Vec<NodeId>, Errors> {
        let list: Vec<Located<String>> = patterns.iter().cloned().map(Located::from).collect();
        let (mut errors, root) = (Errors::new(file), Node::from_json(&serde_json::json!({})));
        let hosts = {
            let mut review = Review::new(&root, &mut errors);
            self.network.resolve(&list, Place::default(), &mut review)
        };
        errors.settle(Some(hosts))
    }

    /// A cycle of links that may each wait for the next; empty if no deadlock is possible. Covers the paths
    /// of the flows, or of all pairs of hosts.
    pub fn cycle(&self, of_all: bool) -> Vec<String> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let all = if of_all { self.representatives(&paths) } else { Vec::new() };
        let all = all.into_iter().map(|ends| self.plan.levels.flow(ends, 0, 0));
        let ways = all.chain(self.plan.flows.iter().copied().filter(|_| !of_all));
        let found = paths.dependency_cycle_of_lanes(ways.flat_map(|flow| self.sections.ways(flow)));
        found.unwrap_or_default()
    }

    /// Pairs of hosts whose paths cover the paths of all pairs. Packets from all hosts of a switch take the same path
    /// after the switch, unless paths have levels of their own.
    fn representatives(&self, paths: &Paths<'_>) -> Vec<(NodeId, NodeId)> {
        let hosts: Vec<NodeId> = self.network.topology.hosts().collect();
        let leaf = |host: NodeId| paths.peers()[host.index()].first().map(|(port, _)| port.node);
        let mut first = BTreeMap::new();
        for &host in &hosts {
            let leaf = if self.plan.levels.is_empty() { leaf(host) } else { Some(host) };
            first.entry(leaf).or_insert(host);
        }
        let pairs = first.into_values().flat_map(|from| hosts.iter().map(move |&to| (from, to)));
        pairs.filter(|(from, to)| from != to).collect()
    }

    /// The number of pairs of hosts whose packets leave through each port of a switch; `None` if there are
    /// too many to follow.
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
                // The switches that packets have reached, with the number of pairs and of hops.
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
    use becalm_fabric::NodeId;
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
        // H1 and H2 are on A, H3 is on B.
        let known = scenario(
            r#"
            hosts = ["H1..H3"]
            switches = ["A", "B"]
            cables = [{ between = ["H1..H2", "A"] }, { between = ["H3", "B"] }, { between = ["A", "B"], rate = "2 GB/s" }]
            "#,
        );
        let tables = known.network_tables();
        let names = ["H1->A", "H2->A", "H3->B", "A->H1", "A->H2", "A->B", "B->H3", "B->A"];
        let Data::Text(found) = column(&tables, "links", "link") else { panic!("text") };
        let mut sorted = found.clone();
        sorted.sort();
        let mut expected = names.map(str::to_string).to_vec();
        expected.sort();
        assert_eq!(sorted, expected);
        let at = |name: &str| found.iter().position(|each| each == name).expect("a link");
        let Data::F64(pairs) = column(&tables, "links", "pairs") else { panic!("numbers") };
        assert_eq!(
            [pairs[at("A->B")], pairs[at("B->A")], pairs[at("A->H1")], pairs[at("H1->A")]],
            [2.0, 2.0, 3.0, 2.0]
        );
        let Data::F64(capacity) = column(&tables, "links", "capacity") else { panic!("numbers") };
        assert_eq!([capacity[at("A->B")], capacity[at("H1->A")]], [2e9, 1e9]);
        let Data::U64(links) = column(&tables, "paths", "link") else { panic!("numbers") };
        let path: Vec<&str> = links.iter().map(|&link| found[link as usize].as_str()).collect();
        assert_eq!(path, ["H1->A", "A->B", "B->H3", "H1->A", "A->H2"]);
        assert_eq!(column(&tables, "paths", "flow"), &Data::U64(vec![0, 0, 0, 1, 1]));
        assert!(known.cycle(false).is_empty() && known.cycle(true).is_empty());
        let path = known.path(known.flow_ends().next().unwrap().0, known.flow_ends().next().unwrap().1).unwrap();
        assert_eq!(
            path.iter().map(|(link, _)| found[*link as usize].as_str()).collect::<Vec<_>>(),
            ["H1->A", "A->B", "B->H3"]
        );
        let named =
            |patterns: &[&str]| known.hosts(&patterns.iter().map(|p| p.to_string()).collect::<Vec<_>>(), "s.toml");
        let names = |hosts: Vec<NodeId>| hosts.iter().map(|&h| known.network.name(h).to_string()).collect::<Vec<_>>();
        assert_eq!(names(named(&["H2..H3"]).unwrap()), ["H2", "H3"]);
        assert_eq!(names(named(&["*"]).unwrap()).len(), 3);
        assert!(named(&["H9"]).unwrap_err().to_string().contains("there is no host `H9`"));
    }
}
