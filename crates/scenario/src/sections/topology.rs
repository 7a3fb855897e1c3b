//! `[topology]`: nodes and cables.

use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// Two switches and one link between them (Santos 2002 and 2003, Fig. 1).
    ///
    /// Hosts `A1`, `A2`, ... and `AV` are on switch `A`; `B1`, `B2`, ..., `BC` (the hot destination) and `BV` (the
    /// victim's destination) on switch `B`.
    pub struct Dumbbell {
        /// Hosts `A1`, `A2`, ... on switch `A`.
        pub remote: u32 = 10; "hosts"; 0..=60_000,
        /// Hosts `B1`, `B2`, ... on switch `B`.
        pub local: u32 = 10; "hosts"; 0..=60_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// A two-level folded Clos network: every leaf switch is joined to every spine switch.
    ///
    /// Hosts are `H0`, `H1`, ... leaf by leaf; switches are `leaf0`, ... and `spine0`, ...
    pub located struct Clos {
        /// Leaf switches.
        pub leaves: u32; ""; 1..=4096,
        /// Spine switches.
        pub spines: u32; ""; 1..=4096,
        /// Hosts on each leaf.
        pub hosts_per_leaf: u32; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries in place of the topology's own.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// An m-port n-tree (Lin, Chung and Huang 2004): a fat tree of n levels of switches with m ports each, where the
    /// top switches use all their ports downward. It joins 2 (m/2)^n hosts.
    ///
    /// Hosts are `H0`, `H1`, ...; the switches of level l are `L<l>S0`, `L<l>S1`, ..., level 1 next to the hosts. The
    /// destination's number selects the way up (d-mod-k).
    pub located struct Tree {
        /// Ports of every switch, an even number.
        pub ports: u32; ""; 2..=128,
        /// Levels of switches.
        pub levels: u32; ""; 1..=10,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries in place of the topology's own.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
    check even_ports;
}

fn even_ports(tree: &Tree) -> Result<(), Conflict> {
    Conflict::unless(tree.ports.is_multiple_of(2), "ports", || "must be even".to_string())
}

becalm_schema::table! {
    /// One level of a fat tree.
    pub struct Level {
        /// Nodes of the level below that each switch of this level is joined to.
        pub children: u32; ""; 1..=4096,
        /// Switches of this level that each node of the level below is joined to.
        pub parents: u32 = 1; ""; 1..=4096,
        /// Cables between a node and each of its parents.
        pub parallel: u32 = 1; ""; 1..=64,
        /// Rate of these cables, if it differs from the topology's.
        pub rate: Option<LinkRate> = None,
    }
}

becalm_schema::table! {
    /// A fat tree of any shape, oversubscribed or not: two- and three-level folded Clos networks and more.
    ///
    /// Named and routed like an m-port n-tree, which is a special case.
    pub located struct FatTree {
        /// The levels of switches, beginning with the one next to the hosts, where `parents` and `parallel` are 1.
        pub levels: Vec<Located<Level>>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries in place of the topology's own.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A dragonfly (Kim, Dally, Scott and Abts 2008): groups of switches, each joined to all others in its group; every
    /// pair of groups is joined by global links. The canonical one has a = 2p = 2h and a h + 1 groups.
    ///
    /// Hosts are `H0`, `H1`, ... switch by switch; switch r of group g is `G<g>R<r>`. Packets take minimal paths: to
    /// the switch with a link to the other group, over that link, and to the switch of the host. With some
    /// `switch.paths` they take detours. In the group of their destination they use a second virtual lane, so that
    /// buffers never wait for each other in a cycle: service levels begin on even lanes or, with detours, on multiples
    /// of 3.
    pub located struct Dragonfly {
        /// Switches of a group: a.
        pub switches_per_group: u32; ""; 1..=4096,
        /// Hosts on each switch: p.
        pub hosts_per_switch: u32; ""; 1..=4096,
        /// Global links of each switch: h.
        pub global_links: u32; ""; 1..=4096,
        /// Groups; if left out, as many as possible: a h + 1.
        pub groups: Option<u32>; ""; 1..=1_000_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Propagation delay of global links, if it differs from that of the others.
        pub global_delay: Option<Time>; ""; ..=Time::from_ms(1000),
        /// Whether packets change their virtual lane. Needs two lanes for each service level; with detours, three.
        pub change_vls: bool = true,
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// Forwarding entries in place of the topology's own.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A torus (k-ary n-cube, also with sides of different lengths): switches in a grid in which every row is a ring.
    /// Sides of 2 make a hypercube.
    ///
    /// Hosts are `H0`, `H1`, ... switch by switch; the switch at (x, y, z) is `S<x>_<y>_<z>`, and the last coordinate
    /// varies fastest. Packets take minimal paths, dimension by dimension. With some `switch.paths` they take detours.
    /// Packets that cross the cable that closes a ring (the dateline) use a second virtual lane along that ring, so
    /// that buffers never wait for each other in a cycle: service levels begin on even lanes or, with detours, on
    /// multiples of 4.
    pub located struct Torus {
        /// Switches along each dimension, at least 2.
        pub sides: Vec<u32>,
        /// Hosts on each switch.
        pub hosts_per_switch: u32 = 1; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether packets change their virtual lane. Needs two lanes for each service level; with detours, four.
        pub change_vls: bool = true,
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// Forwarding entries in place of the topology's own.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A cable, or one for each name of a range.
    pub located struct Cable {
        /// The two nodes at its ends; one of them may be a range, such as `["H1..H8", "S"]`.
        pub between: Vec<Located<String>>,
        /// Rate of the link in each direction, if it differs from the topology's.
        pub rate: Option<LinkRate>,
        /// Propagation delay in each direction, if it differs from the topology's.
        pub delay: Option<Time>; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// Any network, as lists of nodes and cables. Packets take shortest paths where no `routes` are given.
    pub located struct Edges {
        /// Names of hosts, or ranges of them such as `"H1..H8"`. Each host has one cable, to a switch.
        pub hosts: Vec<Located<String>>,
        /// Names of switches, or ranges of them.
        pub switches: Vec<Located<String>>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of links.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// The cables.
        pub cables: Vec<Located<Cable>>,
        /// Forwarding entries in place of the topology's own.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::choice! {
    /// Nodes and cables.
    pub enum TopologyChoice {
        /// The topology of Santos' papers.
        Dumbbell(Located<Dumbbell>) = "dumbbell",
        /// Leaves and spines.
        Clos(Located<Clos>) = "clos",
        /// An m-port n-tree.
        Tree(Located<Tree>) = "tree",
        /// A fat tree of any shape.
        FatTree(Located<FatTree>) = "fat_tree",
        /// A dragonfly.
        Dragonfly(Located<Dragonfly>) = "dragonfly",
        /// A torus.
        Torus(Located<Torus>) = "torus",
        /// Any network.
        Edges(Located<Edges>) = "edges",
    }
}

impl TopologyChoice {
    /// The given forwarding entries.
    pub fn routes(&self) -> &[Located<Route>] {
        match self {
            TopologyChoice::Dumbbell(_) => &[],
            TopologyChoice::Clos(p) => p.routes.items(),
            TopologyChoice::Tree(p) => p.routes.items(),
            TopologyChoice::FatTree(p) => p.routes.items(),
            TopologyChoice::Dragonfly(p) => p.routes.items(),
            TopologyChoice::Torus(p) => p.routes.items(),
            TopologyChoice::Edges(p) => p.routes.items(),
        }
    }
}
