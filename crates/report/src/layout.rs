//! Where the nodes of a fabric are drawn.

use becalm_fabric::{NodeKind, Topology};

/// Passes that move switches over those that they have cables to.
const PASSES: usize = 4;

/// The form of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Rows by level: hosts below, switches above.
    Rows,
    /// Two switches with hosts on the left and on the right.
    Dumbbell,
    /// Switches on a circle, each with its hosts outside: fabrics whose switches all have hosts.
    Circle,
}

impl Form {
    /// Its name in a payload.
    pub fn name(self) -> &'static str {
        match self {
            Form::Rows => "rows",
            Form::Dumbbell => "dumbbell",
            Form::Circle => "circle",
        }
    }
}

/// Places of all nodes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The form.
    pub form: Form,
    /// The distance of each node from the nearest host.
    pub levels: Vec<u32>,
    /// From 0 on the left to 1 on the right.
    pub x: Vec<f64>,
    /// From 0 at the bottom to 1 at the top.
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
                near.sort_unstable();
                near.dedup();
                near
            })
            .collect();
        let form = form(topology, &levels, &near);
        let mut layout = Layout { form, x: vec![0.5; levels.len()], y: vec![0.5; levels.len()], levels };
        match form {
            Form::Rows => layout.rows(&near),
            Form::Dumbbell => layout.dumbbell(&near),
            Form::Circle => layout.circle(&near),
        }
        layout
    }

    fn level(&self, level: u32) -> Vec<usize> {
        (0..self.levels.len()).filter(|&node| self.levels[node] == level).collect()
    }

    fn hosts_of(&self, near: &[Vec<usize>], switch: usize) -> Vec<usize> {
        near[switch].iter().copied().filter(|&node| self.levels[node] == 0).collect()
    }

    /// Hosts stand in the order of their switches, these over their hosts, and the rows above over what they have
    /// cables to.
    fn rows(&mut self, near: &[Vec<usize>]) {
        let top = self.levels.iter().copied().max().unwrap_or(0);
        let mut rows: Vec<Vec<usize>> = (0..=top).map(|level| self.level(level)).collect();
        let mut place = vec![0.0; self.levels.len()];
        rows.iter().for_each(|row| spread(row, &mut place));
        // Switches come as they are numbered, which is how generators make them and people count them, unless they
        // have fewer crossings in another order.
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
        // Sums differ in their last digits.
        keyed.sort_by(|a, b| ((a.0 * 1e9).round()).total_cmp(&(b.0 * 1e9).round()).then(a.1.cmp(&b.1)));
        let moved = keyed.iter().zip(row.iter()).any(|(a, &b)| a.1 != b);
        row.iter_mut().zip(keyed).for_each(|(to, (_, node))| *to = node);
        spread(row, place);
        moved
    }

    /// A column of hosts, its switch, the other switch and its column of hosts.
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

    /// Switches on a circle, with room for their hosts on a larger one.
    fn circle(&mut self, near: &[Vec<usize>]) {
        let switches: Vec<usize> = (0..self.levels.len()).filter(|&node| self.levels[node] > 0).collect();
        let count = (self.level(0).len() + switches.len()) as f64;
        let mut at = 0.0;
        let place = |at: f64, radius: f64| {
            let angle = std::f64::consts::TAU * at / count;
            (0.5 + radius * angle.sin(), 0.5 + radius * angle.cos())
        };
        for switch in switches {
            let hosts = self.hosts_of(near, switch);
            let middle = at + hosts.len() as f64 / 2.0;
            (self.x[switch], self.y[switch]) = place(middle, 0.34);
            for (i, &host) in hosts.iter().enumerate() {
                (self.x[host], self.y[host]) = place(at + i as f64 + 0.5, 0.49);
            }
            at += hosts.len() as f64 + 1.0;
        }
    }
}

/// Places of a row's nodes, evenly from left to right.
fn spread(row: &[usize], x: &mut [f64]) {
    for (i, &node) in row.iter().enumerate() {
        x[node] = (i as f64 + 0.5) / row.len() as f64;
    }
}

fn form(topology: &Topology, levels: &[u32], near: &[Vec<usize>]) -> Form {
    let switches: Vec<usize> =
        (0..levels.len()).filter(|&node| topology.nodes()[node].kind == NodeKind::Switch).collect();
    let all_have_hosts = switches.iter().all(|&node| levels[node] == 1);
    let joined = switches.iter().any(|&node| near[node].iter().any(|&peer| levels[peer] == levels[node]));
    match (all_have_hosts && joined, switches.len()) {
        (true, 2) => Form::Dumbbell,
        (true, _) => Form::Circle,
        (false, _) => Form::Rows,
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
        // Spines S4 and S5 belong to the leaves in the opposite order.
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
}
