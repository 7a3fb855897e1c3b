//! `[topology]`: nodes and cables.

use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// Two switches and one link between them (Santos 2002 and 2003, Fig. 1).
    ///
    /// Hosts `A1`, `A2`, ... and `AV` are on switch `A`; `B1`, `B2`, ..., `BC` (the hot destination) and `BV` (the
    /// victim's destination) are on switch `B`.
    pub struct Dumbbell {
        /// Number of hosts `A1`, `A2`, ... on switch `A`.
        pub remote: u32 = 10; "hosts"; 0..=60_000,
        /// Number of hosts `B1`, `B2`, ... on switch `B`.
        pub local: u32 = 10; "hosts"; 0..=60_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// A two-level folded Clos network. Every leaf switch is connected to every spine switch.
    ///
    /// Hosts are `H0`, `H1`, ..., numbered leaf by leaf. Switches are `leaf0`, ... and `spine0`, ...
    pub located struct Clos {
        /// Number of leaf switches.
        pub leaves: u32; ""; 1..=4096,
        /// Number of spine switches.
        pub spines: u32; ""; 1..=4096,
        /// Number of hosts on each leaf.
        pub hosts_per_leaf: u32; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// An m-port n-tree (Lin, Chung and Huang 2004): a fat tree with n levels of switches, each with m ports. The top
    /// switches use all their ports downward. The tree connects 2 (m/2)^n hosts.
    ///
    /// Hosts are `H0`, `H1`, ... The switches of level l are `L<l>S0`, `L<l>S1`, ...; level 1 is next to the hosts. The
    /// destination's number determines the upward path (d-mod-k).
    pub located struct Tree {
        /// Number of ports of every switch; must be even.
        pub ports: u32; ""; 2..=128,
        /// Number of levels of switches.
        pub levels: u32; ""; 1..=10,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that replace the topology's defaults.
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
        /// Number of nodes of the level below that each switch of this level is connected to.
        pub children: u32; ""; 1..=4096,
        /// Number of switches of this level that each node of the level below is connected to.
        pub parents: u32 = 1; ""; 1..=4096,
        /// Number of cables between a node and each of its parents.
        pub parallel: u32 = 1; ""; 1..=64,
        /// Rate of these cables, if it differs from the topology's.
        pub rate: Option<LinkRate> = None,
    }
}

becalm_schema::table! {
    /// A fat tree of any shape, such as a folded Clos network with two or three levels. It may be
    /// oversubscribed.
    ///
    /// Names and routes follow the same rules as in an m-port n-tree, which is a special case.
    pub located struct FatTree {
        /// The levels of switches, starting with the level next to the hosts, where `parents` and `parallel`
        /// must be 1.
        pub levels: Vec<Located<Level>>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A dragonfly (Kim, Dally, Scott and Abts 2008), a network of groups of switches. Each switch is connected to all
    /// others in its group, and global links connect every pair of groups. In the notation of the key descriptions, the
    /// canonical dragonfly has a = 2p = 2h, and ah + 1 groups.
    ///
    /// Hosts are `H0`, `H1`, ..., numbered switch by switch. Switch r of group g is `G<g>R<r>`. Packets take minimal
    /// paths: to the switch with a link to the other group, over that link, and to the destination's switch. With some
    /// values of `switch.paths`, they take detours. In the destination's group, packets use a second virtual lane, so
    /// buffers never wait for each other in a cycle. The first lane of each service level must therefore be even or,
    /// with detours, a multiple of 3.
    pub located struct Dragonfly {
        /// Number of switches in each group (a).
        pub switches_per_group: u32; ""; 1..=4096,
        /// Number of hosts on each switch (p).
        pub hosts_per_switch: u32; ""; 1..=4096,
        /// Number of global links of each switch (h).
        pub global_links: u32; ""; 1..=4096,
        /// Number of groups; the maximum, ah + 1, if left out.
        pub groups: Option<u32>; ""; 1..=1_000_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Propagation delay of global links, if it differs from `delay`.
        pub global_delay: Option<Time>; ""; ..=Time::from_ms(1000),
        /// Whether packets change their virtual lane. This requires two lanes for each service level, or three with
        /// detours.
        pub change_vls: bool = true,
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A torus (k-ary n-cube), a grid of switches in which every row is a ring. The sides may differ in length. Sides
    /// of 2 form a hypercube.
    ///
    /// Hosts are `H0`, `H1`, ..., numbered switch by switch. The switch at (x, y, z) is `S<x>_<y>_<z>`, and the last
    /// coordinate varies fastest. Packets take minimal paths, dimension by dimension. With some values of
    /// `switch.paths`, they take detours. A packet that crosses the dateline (the cable that closes a ring) uses a
    /// second virtual lane along the entire ring, so buffers never wait for each other in a cycle. The first lane of
    /// each service level must therefore be even or, with detours, a multiple of 4.
    pub located struct Torus {
        /// Number of switches along each dimension, each at least 2.
        pub sides: Vec<u32>,
        /// Number of hosts on each switch.
        pub hosts_per_switch: u32 = 1; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether packets change their virtual lane. This requires two lanes for each service level, or four with
        /// detours.
        pub change_vls: bool = true,
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A cable, or one cable for each name in a range.
    pub located struct Cable {
        /// The two nodes at its ends. One of them may be a range, such as `["H1..H8", "S"]`.
        pub between: Vec<Located<String>>,
        /// Rate of the link in each direction, if it differs from the topology's.
        pub rate: Option<LinkRate>,
        /// Propagation delay in each direction, if it differs from the topology's.
        pub delay: Option<Time>; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// Any network, as lists of nodes and cables. Packets take shortest paths unless `routes` specifies
    /// others.
    pub located struct Edges {
        /// Names of hosts, or ranges such as `"H1..H8"`. Each host has one cable, to a switch.
        pub hosts: Vec<Located<String>>,
        /// Names of switches, or ranges.
        pub switches: Vec<Located<String>>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of links.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// The cables.
        pub cables: Vec<Located<Cable>>,
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

becalm_schema::choice! {
    /// Nodes and cables.
    pub enum TopologyChoice {
        /// The dumbbell of Santos's papers.
        Dumbbell(Located<Dumbbell>) = "dumbbell",
        /// A two-level folded Clos network.
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
    /// The forwarding entries in `routes`.
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
