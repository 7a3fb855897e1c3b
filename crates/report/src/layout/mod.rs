//! Positions of a fabric's nodes in a drawing.

mod shape;

use std::f64::consts::{PI, TAU};

use becalm_engine::order;
use becalm_fabric::{NodeKind, Topology};

use shape::{Shape, shape};

/// Number of passes that move switches above the nodes to which they are cabled.
const PASSES: usize = 4;

/// The form of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Rows by level: hosts at the bottom, switches above.
    Rows,
    /// Two switches with hosts on the left and on the right.
    Dumbbell,
    /// A grid for tori and meshes; a third dimension is drawn as adjacent planes.
    Grid,
    /// Groups of switches on a circle, each group also a circle: dragonflies.
    Groups,
    /// Switches on a circle, each with its hosts outside: fabrics without levels.
    Circle,
}

impl Form {
    /// Name of the form in a payload.
    pub fn name(self) -> &'static str {
        match self {
            Form::Rows => "rows",
            Form::Dumbbell => "dumbbell",
            Form::Grid => "grid",
            Form::Groups => "groups",
            Form::Circle => "circle",
        }
    }
}

/// Positions of all nodes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The form.
    pub form: Form,
    /// The distance of each node from the nearest host.
    pub levels: Vec<u32>,
    /// Horizontal positions, from 0 on the left to 1 on the right.
    pub x: Vec<f64>,
    /// Vertical positions, from 0 at the bottom to 1 at the top.
    pub y: Vec<f64>,
}

impl Layout {
    /// The layout of a topology.
    pub fn new(topology: &Topology) -> Layout {
        let levels = topology.levels();
        let near: Vec<Vec<usize>> = topology
            .peers()
            .iter()
            .map(|ports| {
                let mut near: Vec<usize> = ports.iter().map(|(peer, _)| peer.node.index()).collect();
                order::sort_and_dedup(&mut near, Ord::cmp);
                near
            })
            .collect();
        let switches: Vec<usize> =
            (0..levels.len()).filter(|&node| topology.nodes()[node].kind == NodeKind::Switch).collect();
        let (form, shape) = form(&switches, &levels, &near);
        let mut layout = Layout { form, x: vec![0.5; levels.len()], y: vec![0.5; levels.len()], levels };
        match (form, shape) {
            (Form::Rows, _) => layout.rows(&near),
            (Form::Dumbbell, _) => layout.dumbbell(&near),
            (_, Shape::Grid(sizes)) => layout.grid(&near, &switches, sizes),
            (_, Shape::Groups(size)) => layout.groups(&near, &switches, size),
            (_, Shape::Any) => layout.ring(&near, &in_reach(&near, &switches), (0.5, 0.5), 0.49, 0.7),
        }
        layout
    }

    fn level(&self, level: u32) -> Vec<usize> {
        (0..self.levels.len()).filter(|&node| self.levels[node] == level).collect()
    }

    fn hosts_of(&self, near: &[Vec<usize>], switch: usize) -> Vec<usize> {
        near[switch].iter().copied().filter(|&node| self.levels[node] == 0).collect()
    }

    /// Places hosts in the order of their switches, leaf switches above their hosts, and higher rows above the nodes to
    /// which they are cabled.
    fn rows(&mut self, near: &[Vec<usize>]) {
        let top = self.levels.iter().copied().max().unwrap_or(0);
        let mut rows: Vec<Vec<usize>> = (0..=top).map(|level| self.level(level)).collect();
        let mut place = vec![0.0; self.levels.len()];
        rows.iter().for_each(|row| spread(row, &mut place));
        // Switches keep the order of their numbers, as generators and users expect, unless another order has fewer
        // crossings.
        for _ in 0..PASSES {
            let mut moved = false;
            for row in rows.iter_mut().skip(2) {
                moved |= self.sort_over_lower(near, row, &mut place);
            }
            if !moved {
                break;
            }
        }
        let leaves = rows.get(1).cloned().unwrap_or_default();
        let count = (self.level(0).len() + leaves.len()).max(1) as f64;
        let mut at = 0.5;
        for leaf in leaves {
            let hosts = self.hosts_of(near, leaf);
            let first = at;
            for &host in &hosts {
                self.x[host] = at / count;
                at += 1.0;
            }
            self.x[leaf] = (first + at - 1.0).max(2.0 * first - 1.0) / 2.0 / count;
            at += 1.0;
        }
        for row in rows.iter().skip(2) {
            spread(row, &mut self.x);
        }
        for node in 0..self.levels.len() {
            self.y[node] = f64::from(self.levels[node]) / f64::from(top.max(1));
        }
    }

    fn sort_over_lower(&self, near: &[Vec<usize>], row: &mut [usize], place: &mut [f64]) -> bool {
        let mean = |node: usize| {
            let lower: Vec<f64> =
                near[node].iter().filter(|&&n| self.levels[n] < self.levels[node]).map(|&n| place[n]).collect();
            if lower.is_empty() { place[node] } else { lower.iter().sum::<f64>() / lower.len() as f64 }
        };
        let mut keyed: Vec<(f64, usize)> = row.iter().map(|&node| (mean(node), node)).collect();
        // Sums may differ in the last digits.
        order::sort_by(&mut keyed, |a, b| ((a.0 * 1e9).round()).total_cmp(&(b.0 * 1e9).round()).then(a.1.cmp(&b.1)));
        let moved = keyed.iter().zip(row.iter()).any(|(a, &b)| a.1 != b);
        row.iter_mut().zip(keyed).for_each(|(to, (_, node))| *to = node);
        spread(row, place);
        moved
    }

    /// Places a column of hosts, its switch, the other switch and its column of hosts.
    fn dumbbell(&mut self, near: &[Vec<usize>]) {
        for (side, switch) in self.level(1).into_iter().enumerate() {
            let mirror = |x: f64| if side == 0 { x } else { 1.0 - x };
            (self.x[switch], self.y[switch]) = (mirror(0.36), 0.5);
            let hosts = self.hosts_of(near, switch);
            let count = hosts.len() as f64;
            for (i, host) in hosts.into_iter().enumerate() {
                (self.x[host], self.y[host]) = (mirror(0.08), 1.0 - (i as f64 + 0.5) / count);
            }
        }
    }

    /// Places switches on a circle around `middle`, with their hosts on a larger circle of this radius.
    fn ring(&mut self, near: &[Vec<usize>], switches: &[usize], middle: (f64, f64), radius: f64, inner: f64) {
        let hosts: Vec<Vec<usize>> = switches.iter().map(|&switch| self.hosts_of(near, switch)).collect();
        let count = hosts.iter().map(|hosts| hosts.len() + 1).sum::<usize>() as f64;
        let place = |at: f64, radius: f64| {
            let angle = TAU * at / count;
            (middle.0 + radius * angle.sin(), middle.1 + radius * angle.cos())
        };
        let mut at = 0.0;
        for (&switch, hosts) in switches.iter().zip(&hosts) {
            (self.x[switch], self.y[switch]) = place(at + hosts.len() as f64 / 2.0, inner * radius);
            for (i, &host) in hosts.iter().enumerate() {
                (self.x[host], self.y[host]) = place(at + i as f64 + 0.5, radius);
            }
            at += hosts.len() as f64 + 1.0;
        }
    }

    /// Places every group as a ring, and all rings on a circle.
    fn groups(&mut self, near: &[Vec<usize>], switches: &[usize], size: usize) {
        let count = switches.len() / size;
        let room = 0.36 * (PI / count as f64).sin();
        let radius = room.min(0.14);
        for (group, switches) in switches.chunks(size).enumerate() {
            let angle = TAU * group as f64 / count as f64;
            let middle = (0.5 + 0.35 * angle.sin(), 0.5 + 0.35 * angle.cos());
            self.ring(near, switches, middle, radius, 0.62);
        }
    }

    /// Places rows and columns on shallow arcs, so that wraparound cables are visible, and hosts below their switches.
    /// Planes of a third dimension are side by side.
    fn grid(&mut self, near: &[Vec<usize>], switches: &[usize], [width, height, depth]: [usize; 3]) {
        let across = (1..=depth).find(|across| across * across >= depth).unwrap_or(1);
        let down = depth.div_ceil(across);
        let inset = if depth > 1 { 0.9 } else { 1.0 };
        let (wide, high) = (inset / (across * width) as f64, inset / (down * height) as f64);
        let arc = |place: usize, size: usize| {
            let t = 2.0 * place as f64 / (size.max(2) - 1) as f64 - 1.0;
            0.3 * (0.5 - t * t)
        };
        for (at, &switch) in switches.iter().enumerate() {
            let (column, row, plane) = (at % width, at / width % height, at / width / height);
            let left = (plane % across) as f64 / across as f64;
            let bottom = (plane / across) as f64 / down as f64;
            let x = left + wide * (column as f64 + 0.5 + arc(row, height));
            let y = bottom + high * (row as f64 + 0.5 + arc(column, width));
            // Rows are counted from the top.
            (self.x[switch], self.y[switch]) = (x, 1.0 - y);
            let hosts = self.hosts_of(near, switch);
            let step = 0.6 * wide / hosts.len().max(1) as f64;
            for (i, &host) in hosts.iter().enumerate() {
                let shift = i as f64 - (hosts.len() as f64 - 1.0) / 2.0;
                (self.x[host], self.y[host]) = (x + shift * step, 1.0 - y - 0.24 * high);
            }
        }
        for node in 0..self.x.len() {
            (self.x[node], self.y[node]) = (self.x[node].clamp(0.0, 1.0), self.y[node].clamp(0.0, 1.0));
        }
    }
}

/// Switches in depth-first order, which places many neighbours side by side.
fn in_reach(near: &[Vec<usize>], switches: &[usize]) -> Vec<usize> {
    let mut seen = vec![true; near.len()];
    switches.iter().for_each(|&switch| seen[switch] = false);
    // The given order is kept if it is as good.
    let apart = |order: &[usize]| -> usize {
        let mut place = vec![usize::MAX; near.len()];
        order.iter().enumerate().for_each(|(at, &node)| place[node] = at);
        let distance = |a: usize, b: usize| a.abs_diff(b).min(order.len() - a.abs_diff(b));
        let cables = order.iter().flat_map(|&node| near[node].iter().map(move |&peer| (node, peer)));
        cables.filter(|&(_, peer)| place[peer] != usize::MAX).map(|(a, b)| distance(place[a], place[b])).sum()
    };
    let mut order = Vec::with_capacity(switches.len());
    for &first in switches {
        let mut ahead = vec![first];
        while let Some(node) = ahead.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                order.push(node);
                ahead.extend(near[node].iter().rev().copied().filter(|&peer| !seen[peer]));
            }
        }
    }
    if apart(&order) < apart(switches) { order } else { switches.to_vec() }
}

/// Spreads a row's nodes evenly from left to right.
fn spread(row: &[usize], x: &mut [f64]) {
    for (i, &node) in row.iter().enumerate() {
        x[node] = (i as f64 + 0.5) / row.len() as f64;
    }
}

/// Chooses rows by level unless many cables join switches of the same level.
fn form(switches: &[usize], levels: &[u32], near: &[Vec<usize>]) -> (Form, Shape) {
    let number = |node: usize| switches.binary_search(&node).ok();
    let peers: Vec<Vec<usize>> =
        switches.iter().map(|&node| near[node].iter().filter_map(|&peer| number(peer)).collect()).collect();
    let cables: usize = peers.iter().map(Vec::len).sum();
    let level = |at: usize| levels[switches[at]];
    let same = |at: usize| peers[at].iter().filter(|&&peer| level(peer) == level(at)).count();
    let flat: usize = (0..switches.len()).map(same).sum();
    if cables == 0 || 3 * flat < cables {
        return (Form::Rows, Shape::Any);
    }
    let all_have_hosts = switches.iter().all(|&node| levels[node] == 1);
    if switches.len() == 2 && all_have_hosts {
        return (Form::Dumbbell, Shape::Any);
    }
    match shape(&peers) {
        Shape::Any => (Form::Circle, Shape::Any),
        found @ Shape::Grid(_) => (Form::Grid, found),
        found @ Shape::Groups(_) => (Form::Groups, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_engine::Time;
    use becalm_fabric::{FatTreeSpec, Rate};

    fn fabric(hosts: &[usize], cables: &[(usize, usize)]) -> Topology {
        let (mut topology, rate) = (Topology::default(), Rate::from_bits_per_second(8e9));
        let switches: Vec<_> = (0..hosts.len()).map(|i| topology.add_switch(format!("S{i}"))).collect();
        for (switch, &count) in hosts.iter().enumerate() {
            for i in 0..count {
                let host = topology.add_host(format!("H{switch}.{i}"));
                topology.connect(host, switches[switch], rate, Time::ZERO);
            }
        }
        for &(a, b) in cables {
            topology.connect(switches[a], switches[b], rate, Time::ZERO);
        }
        topology
    }

    #[test]
    fn a_fat_tree_has_rows_with_leaves_over_their_hosts() {
        let spec = FatTreeSpec::ports_tree(4, 3, Rate::from_bits_per_second(8e9), Time::ZERO);
        let topology = Topology::fat_tree(&spec);
        let layout = Layout::new(&topology);
        assert_eq!(layout.form, Form::Rows);
        let x = |name: &str| layout.x[topology.find(name).unwrap().index()];
        assert!((x("L1S0") - (x("H0") + x("H1")) / 2.0).abs() < 1e-12);
        assert!(x("H0") < x("H1") && x("H1") < x("H2") && x("H15") < 1.0 && x("H0") > 0.0);
        assert!(x("L3S0") < x("L3S1"));
    }

    #[test]
    fn spines_of_an_imported_fabric_stand_over_their_leaves() {
        // Spines S4 and S5 are cabled to the leaves in the opposite order.
        let topology = fabric(&[2, 2, 2, 2, 0, 0], &[(2, 4), (3, 4), (0, 5), (1, 5)]);
        let layout = Layout::new(&topology);
        assert!(layout.x[5] < layout.x[4]);
        assert_eq!(layout.y[4], 1.0);
    }

    #[test]
    fn forms_follow_from_the_cables() {
        assert_eq!(Layout::new(&fabric(&[3, 2], &[(0, 1)])).form, Form::Dumbbell);
        let ring = Layout::new(&fabric(&[1, 1, 1, 1], &[(0, 1), (1, 2), (2, 3), (3, 0)]));
        assert_eq!(ring.form, Form::Circle);
        assert!(ring.x.iter().chain(&ring.y).all(|&place| (0.0..=1.0).contains(&place)));
        assert_eq!(Layout::new(&fabric(&[4], &[])).form, Form::Rows);
    }

    fn inside(layout: &Layout) -> bool {
        layout.x.iter().chain(&layout.y).all(|place| (0.0..=1.0).contains(place))
    }

    #[test]
    fn a_torus_is_a_grid_with_hosts_below_their_switch() {
        let rows = (0..3).flat_map(|y| (0..4).map(move |x| (4 * y + x, 4 * y + (x + 1) % 4)));
        let columns = (0..12).map(|at| (at, (at + 4) % 12));
        let layout = Layout::new(&fabric(&[1; 12], &rows.chain(columns).collect::<Vec<_>>()));
        assert_eq!(layout.form, Form::Grid);
        assert!(inside(&layout));
        assert!(layout.x[0] < layout.x[1] && layout.x[1] < layout.x[2] && layout.y[0] > layout.y[4]);
        // The cable back is not on the line of the others.
        assert!((layout.y[1] - layout.y[0]).abs() > 0.05);
        let host = 12;
        assert!(layout.y[host] < layout.y[0] && (layout.x[host] - layout.x[0]).abs() < 1e-12);
    }

    #[test]
    fn groups_of_a_dragonfly_are_rings_apart() {
        let inside_groups = (0..3).flat_map(|g| [(0, 1), (1, 2), (0, 2)].map(|(a, b)| (3 * g + a, 3 * g + b)));
        let between = [(0, 3), (4, 6), (7, 1)];
        let layout = Layout::new(&fabric(&[2; 9], &inside_groups.chain(between).collect::<Vec<_>>()));
        assert_eq!(layout.form, Form::Groups);
        assert!(inside(&layout));
        let apart = |a: usize, b: usize| (layout.x[a] - layout.x[b]).hypot(layout.y[a] - layout.y[b]);
        for (a, b) in [(0, 1), (0, 2), (3, 4), (6, 8)] {
            assert!(apart(a, b) < 0.7 * apart(a, (b + 3) % 9));
        }
    }

    #[test]
    fn an_imported_fabric_without_levels_is_a_circle_of_neighbours() {
        // A ring whose switches are numbered out of order, and a switch without hosts.
        let layout = Layout::new(&fabric(&[1, 1, 1, 1, 0], &[(0, 3), (3, 1), (1, 4), (4, 2), (2, 0)]));
        assert_eq!(layout.form, Form::Circle);
        let apart = |a: usize, b: usize| (layout.x[a] - layout.x[b]).hypot(layout.y[a] - layout.y[b]);
        assert!(apart(0, 3) < apart(0, 1) && apart(0, 2) < apart(0, 4));
    }
}
