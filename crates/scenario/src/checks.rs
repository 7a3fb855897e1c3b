//! What no section can see alone: whether the parts of a scenario fit together.

mod acks;
mod paced;

use std::collections::{HashMap, HashSet};

use becalm_control::marking::ports::Ports;
use becalm_control::{EchoParams, MarkingParams, ResponseParams};
use becalm_engine::Time;
use becalm_fabric::{Node as Switched, NodeKind, Paths, Rate, Room, Routes, Topology};
use becalm_schema::{Choice, Field, Mistakes, Node};

use crate::hosts::{expand_list, unknown};
use crate::links::links;
use crate::plan::{Network, Plan};
use crate::schemes::{default_echo, default_marking, default_response, idles_without_marks, needs_limited_buffer};
use crate::sections::adapter::{Adapter, PortControl};
use crate::sections::changes::Change;
use crate::sections::flows::Group;
use crate::sections::observe::Observe;
use crate::sections::packet::Packet;
use crate::sections::run::Run;
use crate::sections::switch::{Switch, Switching, VlArbitration};
use crate::sections::topology::TopologyChoice;
use crate::shapes::switch_shapes;

/// Values that series may hold, so that a slip in a unit does not fill the memory.
const MOST_SAMPLES: u64 = 20_000_000;

/// Queues that the switches may have, so that a switch with very many ports does not fill the memory.
const MOST_QUEUES: u64 = 500_000_000;

/// The sections that could be read: a mistake in one does not keep others from being checked.
pub(crate) struct Draft {
    run: Option<Run>,
    topology: Option<TopologyChoice>,
    switch: Option<Switch>,
    adapter: Option<Adapter>,
    packet: Option<Packet>,
    marking: Option<MarkingParams>,
    echo: Option<EchoParams>,
    response: Option<ResponseParams>,
    flows: Vec<Option<Group>>,
    changes: Vec<Option<Change>>,
    observe: Option<Observe>,
}

/// A section without noting its mistakes; its default if it is not there.
fn section<T: Field>(root: &Node, name: &str, default: Option<T>) -> Option<T> {
    match root.get(name) {
        Some(node) => T::read(node, &mut Mistakes::default()),
        None => default,
    }
}

impl Draft {
    /// Reads what can be read.
    pub fn read(root: &Node) -> Draft {
        let items = |name: &str| root.get(name).and_then(Node::items).unwrap_or_default();
        Draft {
            run: section(root, "run", None),
            topology: section(root, "topology", None),
            switch: section(root, "switch", Some(Switch::default())),
            adapter: section(root, "adapter", Some(Adapter::default())),
            packet: section(root, "packet", Some(Packet::default())),
            marking: section(root, "marking", Some(default_marking())),
            echo: section(root, "echo", Some(default_echo())),
            response: section(root, "response", Some(default_response())),
            flows: items("flows").iter().map(|node| Group::read(node, &mut Mistakes::default())).collect(),
            changes: items("changes").iter().map(|node| Change::read(node, &mut Mistakes::default())).collect(),
            observe: section(root, "observe", Some(Observe::default())),
        }
    }

    /// Notes everything that does not fit, and works out who sends to whom.
    pub fn check(&self, root: &Node, mistakes: &mut Mistakes) -> Option<(Topology, Routes, Plan)> {
        self.check_run(root, mistakes);
        self.check_buffer(root, mistakes);
        self.check_unlimited(root, mistakes);
        self.check_storing(root, mistakes);
        self.check_groups(root, mistakes);
        self.check_lanes(root, mistakes);
        self.check_weights(root, mistakes);
        self.check_caps(root, mistakes);
        self.check_response(root, mistakes);
        self.check_windows(root, mistakes);
        self.check_acks(root, mistakes);
        self.check_paced(root, mistakes);
        self.check_port_control(root, mistakes);
        let section = root.get("topology")?;
        let (topology, routes) = self.topology.as_ref()?.build(section, mistakes)?;
        self.check_queues(root, &topology, mistakes);
        self.check_overrides(root, &topology, mistakes);
        self.check_changes(root, &topology, mistakes);
        let plan = self.plan(root, &topology, &routes, mistakes);
        self.check_observe(root, &topology, &plan, mistakes);
        Some((topology, routes, plan))
    }

    /// The groups that could be read, with their nodes.
    fn groups<'a>(&'a self, root: &'a Node) -> impl Iterator<Item = (&'a Group, &'a Node)> {
        let nodes = root.get("flows").and_then(Node::items).unwrap_or_default();
        self.flows.iter().zip(nodes).filter_map(|(group, node)| Some((group.as_ref()?, node)))
    }

    fn check_run(&self, root: &Node, mistakes: &mut Mistakes) {
        let Some(run) = &self.run else { return };
        if run.warmup >= run.duration {
            mistakes.add(blame(root, &["run.warmup", "run"]), format!("must be below duration = {}", run.duration), "");
        }
    }

    fn check_buffer(&self, root: &Node, mistakes: &mut Mistakes) {
        let (Some(switch), Some(packet)) = (&self.switch, &self.packet) else { return };
        let (room, largest) = (switch.buffer.0, packet.config().largest());
        if let Room::Bytes(bytes) = room
            && room.need(largest) > room.capacity()
        {
            let problem =
                format!("a buffer of {bytes} B has no room for a packet of {largest} B; nothing could be sent");
            mistakes.add(blame(root, &["switch.buffer", "packet.mtu", "packet"]), problem, "");
        }
    }

    /// What goes by the size of a buffer needs one that has a size.
    fn check_unlimited(&self, root: &Node, mistakes: &mut Mistakes) {
        let unlimited = self.switch.as_ref().is_some_and(|switch| switch.buffer.0 == Room::UNLIMITED);
        if let Some(marking) = self.marking.as_ref().filter(|marking| unlimited && needs_limited_buffer(marking)) {
            let key = format!("marking.{}", marking.name());
            let problem = "goes by how full a buffer is, but switch.buffer is unlimited";
            mistakes.add(blame(root, &[&key, "marking"]), problem, "");
        }
    }

    /// What must not be asked for where packets leave while they still come in.
    fn check_storing(&self, root: &Node, mistakes: &mut Mistakes) {
        let Some(switch) = self.switch.as_ref().filter(|switch| switch.switching == Switching::CutThrough) else {
            return;
        };
        let why = "needs switching = \"store_and_forward\": a packet that leaves while it comes in could run dry";
        if switch.service.varies() {
            mistakes.add(blame(root, &["switch.service"]), why, "");
        }
        if !self.changes.is_empty() {
            mistakes.add(blame(root, &["changes"]), why, "");
        }
    }

    /// A switch has a queue for each pair of ports and each virtual lane.
    fn check_queues(&self, root: &Node, topology: &Topology, mistakes: &mut Mistakes) {
        let vls = self.switch.as_ref().map_or(1, |switch| u64::from(switch.vls));
        let switches = topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
        let pairs: u64 = switches.map(|switch| u64::from(switch.degree).pow(2)).sum();
        if pairs * vls > MOST_QUEUES {
            let problem = format!(
                "its switches have {} queues, one for each pair of ports and virtual lane, more than {MOST_QUEUES}",
                pairs * vls
            );
            mistakes.add(blame(root, &["topology"]), problem, "");
        }
    }

    /// Changes of rates must name links, come before the end, and change something.
    fn check_changes(&self, root: &Node, topology: &Topology, mistakes: &mut Mistakes) {
        let nodes = root.get("changes").and_then(Node::items).unwrap_or_default();
        let links = links(topology);
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let mut changes: Vec<_> = self.changes.iter().zip(nodes).filter_map(|(c, n)| Some((c.as_ref()?, n))).collect();
        changes.sort_by_key(|(change, _)| change.at);
        let mut last: HashMap<&str, (Time, Rate)> =
            links.iter().map(|link| (link.name.as_str(), (Time::ZERO, link.rate))).collect();
        let all_read = self.changes.iter().all(Option::is_some);
        for (change, node) in changes {
            let at = |key| node.get(key).unwrap_or(node);
            let Some((time, rate)) = last.get_mut(change.link.as_str()) else {
                unknown("link", &change.link, &names, at("link"), mistakes);
                continue;
            };
            if *time == change.at && change.at > Time::ZERO {
                mistakes.add(at("at"), "is the time of another change of this link", "");
            }
            if all_read && *rate == change.rate.rate() {
                mistakes.add(at("rate"), "does nothing: the link has this rate already", "");
            }
            if let Some(run) = self.run.as_ref().filter(|run| change.at >= run.duration) {
                mistakes.add(at("at"), format!("must be before the run's end at {}", run.duration), "");
            }
            (*time, *rate) = (change.at, change.rate.rate());
        }
    }

    fn check_groups(&self, root: &Node, mistakes: &mut Mistakes) {
        if root.get("flows").and_then(Node::items).is_some_and(<[Node]>::is_empty) {
            mistakes.add(blame(root, &["flows"]), "must have at least one group", "");
        }
        let mut names = HashSet::new();
        for (group, node) in self.groups(root) {
            let at = |key| node.get(key).unwrap_or(node);
            if group.name.is_empty() {
                mistakes.add(at("name"), "must not be empty", "");
            }
            if !names.insert(&group.name) {
                mistakes.add(at("name"), "another group has this name already", "");
            }
            if let Some(stop) = group.stop
                && stop <= group.start
            {
                mistakes.add(at("stop"), format!("must be later than start = {}", group.start), "");
            }
            if let Some(switch) = &self.switch
                && switch.vl(group.sl).is_none_or(|vl| vl >= switch.vls)
            {
                let sl = group.sl;
                let problem = match switch.vl(sl) {
                    Some(vl) => format!("service level {sl} goes on VL {vl}, but switch.vls = {}", switch.vls),
                    None => format!("service level {sl} has no VL: switch.sl_to_vl ends before it"),
                };
                mistakes.add(at("sl"), problem, "");
            }
        }
    }

    /// Weighted arbitration must know every lane that is used, and only lanes that exist.
    fn check_weights(&self, root: &Node, mistakes: &mut Mistakes) {
        let Some(switch) = &self.switch else { return };
        let VlArbitration::Tables(tables) = &switch.vl_arbitration else { return };
        let node = blame(root, &["switch.vl_arbitration.tables"]);
        let weights = || tables.high.iter().chain(&tables.low);
        if let Some(entry) = weights().find(|entry| entry.vl >= switch.vls) {
            mistakes.add(node, format!("names VL {}, but switch.vls = {}", entry.vl, switch.vls), "");
        }
        let used = self.flows.iter().flatten().filter_map(|group| switch.vl(group.sl)).filter(|&vl| vl < switch.vls);
        let lacking = used.into_iter().find(|&vl| weights().all(|entry| entry.vl != vl || entry.weight == 0));
        if let Some(vl) = lacking {
            mistakes.add(node, format!("gives VL {vl} no weight, so that its packets would never be sent"), "");
        }
    }

    /// A virtual lane that nobody uses is a setting that does nothing.
    fn check_lanes(&self, root: &Node, mistakes: &mut Mistakes) {
        let (Some(switch), Some(node)) = (&self.switch, root.get("switch").and_then(|node| node.get("vls"))) else {
            return;
        };
        let used = self.flows.iter().flatten().filter_map(|group| Some(switch.vl(group.sl)? + 1)).max();
        // A group that could not be read may use any.
        if let Some(used) = used.filter(|_| self.flows.iter().all(Option::is_some))
            && used < switch.vls
        {
            mistakes.add(node, format!("does nothing beyond {used}: no flow uses a higher VL"), "");
        }
    }

    /// Caps that cap nothing.
    fn check_caps(&self, root: &Node, mistakes: &mut Mistakes) {
        let nodes = root.get("adapter").and_then(|node| node.get("caps")?.items()).unwrap_or_default();
        let caps = self.adapter.iter().flat_map(|adapter| &adapter.caps);
        for (caps, node) in caps.zip(nodes) {
            if caps.injection_rate.is_none() && caps.drain_rate.is_none() && !self.caps_all() {
                mistakes.add(node, "does nothing: neither injection_rate nor drain_rate is set", "");
            }
        }
    }

    /// Whether there are caps for all hosts, from which some may be exempted.
    fn caps_all(&self) -> bool {
        self.adapter.as_ref().is_some_and(|adapter| adapter.injection_rate.is_some() || adapter.drain_rate.is_some())
    }

    /// Flows that are slowed down together have one response.
    fn check_port_control(&self, root: &Node, mistakes: &mut Mistakes) {
        if self.adapter.as_ref().is_none_or(|adapter| adapter.port_control == PortControl::Qp) {
            return;
        }
        for (_, node) in self.groups(root) {
            if let Some(response) = node.get("response") {
                mistakes.add(response, "cannot be set for a group when adapter.port_control = \"sl\"", "");
            }
        }
    }

    fn check_response(&self, root: &Node, mistakes: &mut Mistakes) {
        let unmarked = self.marking.as_ref().is_some_and(|marking| *marking == default_marking());
        let idle = |response: &Option<ResponseParams>| unmarked && response.as_ref().is_some_and(idles_without_marks);
        let why = "does nothing, since no switch marks packets; choose a [marking]";
        if let Some(node) = root.get("response") {
            let unused = !self.flows.is_empty() && self.flows.iter().flatten().all(|group| group.response.is_some());
            if unused && self.flows.iter().all(Option::is_some) {
                mistakes.add(node, "does nothing: every group of flows has a response of its own", "");
            } else if idle(&self.response) {
                mistakes.add(node, why, "");
            }
        }
        for (group, node) in self.groups(root) {
            if idle(&group.response) {
                mistakes.add(node.get("response").unwrap_or(node), why, "");
            }
        }
    }

    fn plan(&self, root: &Node, topology: &Topology, routes: &Routes, mistakes: &mut Mistakes) -> Plan {
        let network = Network::new(topology);
        let paths = Paths::new(topology, routes);
        let default = Packet::default();
        let packet = self.packet.as_ref().unwrap_or(&default);
        let mut plan = Plan::default();
        if let Some(adapter) = &self.adapter {
            plan.set_adapters(adapter, root.get("adapter"), &network, mistakes);
        }
        for (group, node) in self.groups(root) {
            plan.add(group, node, &network, packet, self.run.as_ref().map_or(0, |run| run.seed), mistakes);
            let flows = plan.groups.last().cloned().unwrap_or_default();
            let pairs = plan.flows[flows.start as usize..flows.end as usize].iter();
            if let Err(error) = paths.check(pairs.map(|flow| (flow.source, flow.destination))) {
                let keys = ["to", "pattern", "connections"];
                mistakes.add(blame(node, &keys), error.to_string(), "");
            }
            self.check_starts(group, node, plan.last_start(), mistakes);
        }
        self.check_cycles(root, &paths, &plan, mistakes);
        plan
    }

    /// Overrides of the marking of ports must name switches and ports that exist, and leave a port that starves where
    /// credit starvation is asked for.
    fn check_overrides(&self, root: &Node, topology: &Topology, mistakes: &mut Mistakes) {
        let Some(MarkingParams::Ibta(params)) = &self.marking else { return };
        let Some(nodes) = root.get("marking").and_then(|node| node.get("ibta")?.get("overrides")?.items()) else {
            return;
        };
        let names: Vec<&str> = topology.switches().map(|id| topology.node(id).name.as_str()).collect();
        let before = mistakes.list.len();
        for (own, node) in params.overrides.iter().zip(nodes) {
            let listed = node.get("switches").map(|list| expand_list(list, mistakes)).unwrap_or_default();
            let known: HashSet<&str> = names.iter().copied().collect();
            if let Some((name, item)) = listed.iter().find(|(name, _)| name != "*" && !known.contains(name.as_str())) {
                unknown("switch", name, &names, item, mistakes);
            }
            let Ports::List(ports) = &own.ports else { continue };
            let all = listed.is_empty() || listed.iter().any(|(name, _)| name == "*");
            let wanted: HashSet<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
            let switches = topology.switches().map(|id| topology.node(id));
            let mut small = switches.filter(|switch| all || wanted.contains(switch.name.as_str()));
            let lacks = |switch: &&Switched| ports.iter().any(|&port| port >= u32::from(switch.degree));
            if let Some(switch) = small.find(lacks) {
                let problem = format!(
                    "names a port that switch `{}` does not have: it has {}, from 0",
                    switch.name, switch.degree
                );
                mistakes.add(node.get("ports").unwrap_or(node), problem, "");
            }
        }
        let all_exist = mistakes.list.len() == before;
        let starves = || switch_shapes(topology, 1, 0).iter().any(|shape| params.starves(shape));
        if all_exist && params.masks_credit() && !starves() {
            let problem =
                "starve nobody: no port is in the credit mask with a cs_threshold and a cs_return_delay above 0";
            mistakes.add(blame(root, &["marking.ibta.overrides"]), problem, "");
        }
    }

    /// Routes on which buffers may wait for each other in a circle. The topologies' own have none, but for lists of
    /// cables.
    fn check_cycles(&self, root: &Node, paths: &Paths<'_>, plan: &Plan, mistakes: &mut Mistakes) {
        let Some(choice) = &self.topology else { return };
        // Nothing ever waits for room.
        if self.switch.as_ref().is_some_and(|switch| switch.buffer.0 == Room::UNLIMITED) {
            return;
        }
        let (allowed, advice) = match choice {
            TopologyChoice::Edges(edges) => (
                edges.allow_cycles,
                "join the switches without a circle, give other routes, or set allow_cycles = true to run it all the same",
            ),
            _ => (choice.routes().is_empty(), "give other routes"),
        };
        if allowed {
            return;
        }
        let pairs = plan.flows.iter().map(|flow| (flow.source, flow.destination));
        let Some(cycle) = paths.dependency_cycle(pairs) else { return };
        let problem = format!(
            "its routes can deadlock: each of these links may wait for the next: {}; {advice}",
            cycle.join(", ")
        );
        let key = |name: &str| format!("topology.{}.{name}", choice.name());
        let keys =
            if choice.routes().is_empty() { [key("cables"), key("cables")] } else { [key("routes"), key("cables")] };
        mistakes.add(blame(root, &[&keys[0], &keys[1]]), problem, "");
    }

    /// A flow that starts after its end does nothing.
    fn check_starts(&self, group: &Group, node: &Node, last: Option<Time>, mistakes: &mut Mistakes) {
        let (Some(run), Some(last)) = (&self.run, last) else { return };
        let (end, what) = match group.stop {
            Some(stop) if stop < run.duration => (stop, "their stop"),
            _ => (run.duration, "the run's end"),
        };
        if group.stop.is_some_and(|stop| stop <= group.start) {
            return;
        }
        if let Some(i) = group.traffic.changes().iter().position(|change| change.at >= end) {
            let list = ["traffic", "poisson", "changes"].iter().try_fold(node, |node, key| node.get(key));
            let at = list.and_then(|list| list.items()?.get(i)?.get("at")).unwrap_or(node);
            return mistakes.add(at, format!("does nothing: it comes not before {what} at {end}"), "");
        }
        if last < end {
            return;
        }
        let key = if group.start >= end { "start" } else { "stagger" };
        let problem = format!("the last of these flows would start at {last}, not before {what} at {end}");
        let late =
            group.connections.iter().flatten().position(|connection| connection.start.is_some_and(|at| at >= end));
        let own = late.and_then(|i| node.get("connections")?.items()?.get(i)?.get("start"));
        mistakes.add(own.unwrap_or(blame(node, &[key])), problem, "");
    }

    fn check_observe(&self, root: &Node, topology: &Topology, plan: &Plan, mistakes: &mut Mistakes) {
        let Some(observe) = &self.observe else { return };
        if observe.window < observe.step {
            let node = blame(root, &["observe.window", "observe.step"]);
            mistakes.add(node, format!("window must be at least step = {}", observe.step), "");
        }
        let links = links(topology);
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let known: HashSet<&str> = names.iter().copied().collect();
        for node in root.get("observe").and_then(|node| node.get("links")?.items()).unwrap_or_default() {
            match node.text() {
                Some(name) if name != "*" && !known.contains(name) => unknown("link", name, &names, node, mistakes),
                _ => {}
            }
        }
        let Some(run) = &self.run else { return };
        let times = root.get("observe").and_then(|node| node.get("snapshots")?.items()).unwrap_or_default();
        for (time, node) in observe.snapshots.iter().zip(times) {
            if *time > run.duration {
                mistakes.add(node, format!("comes after the run's end at {}", run.duration), "");
            }
        }
        let followed = if observe.links.iter().any(|name| name == "*") { names.len() } else { observe.links.len() };
        let flows = if observe.flows { plan.flows.len() } else { 0 };
        let samples = run.duration.0 / observe.step.0.max(1) + 2;
        let paces = if observe.paces { plan.groups.len() } else { 0 };
        let values = samples.saturating_mul((followed + plan.groups.len() + flows + paces) as u64);
        if values > MOST_SAMPLES {
            let problem = format!(
                "series would have {values} values, more than {MOST_SAMPLES}; take a longer step or follow fewer links"
            );
            mistakes.add(blame(root, &["observe.step", "observe", "run.duration"]), problem, "");
        }
    }
}

/// The first of these keys that the file has; the file itself if it has none.
fn blame<'a>(root: &'a Node, keys: &[&str]) -> &'a Node {
    let find = |key: &&str| key.split('.').try_fold(root, |node, part| node.get(part));
    keys.iter().find_map(find).unwrap_or(root)
}
