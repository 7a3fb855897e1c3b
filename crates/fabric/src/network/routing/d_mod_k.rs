//! Routes of fat trees, computed on demand. A table for 65,536 hosts would need 670 MB.

use crate::network::generators::FatTreeSpec;
use crate::network::routing::port_set::PortSet;

/// Selects up-ports by the digits of the destination's number (Zahavi 2012, D-Mod-K), and down-ports by the
/// tree.
///
/// A switch's ports are the cables to its children, child by child, followed by those to its parents, parent
/// by parent.
#[derive(Clone, Debug)]
pub(crate) struct TreeRoutes {
    hosts: u32,
    rules: Vec<Rule>,
    /// Indexed by rank.
    switches: Vec<Place>,
}

/// The routes of one switch of a fat tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchRoutes {
    first_host: u32,
    rule: Rule,
}

impl SwitchRoutes {
    /// The port by which the switch sends to a host.
    #[inline(always)]
    pub fn port(&self, host: u32) -> u16 {
        let rule = &self.rule;
        let below = host.wrapping_sub(self.first_host);
        let port = if below < rule.subtree {
            rule.child.quotient(below) * rule.parallel.value + rule.parallel.remainder(host)
        } else {
            rule.first_up + rule.up.remainder(rule.spread.quotient(host))
        };
        port as u16
    }
}

/// The position of a switch.
#[derive(Clone, Copy, Debug)]
struct Place {
    first_host: u32,
    level: u32,
}

/// The rule by which the switches of a level choose a port.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Number of hosts below a switch, and below each of its children.
    subtree: u32,
    child: Divisor,
    /// Number of cables to each child.
    parallel: Divisor,
    /// Product of the digits' bases used up to this level.
    spread: Divisor,
    /// Number of cables to parents, and the first port of these.
    up: Divisor,
    first_up: u32,
}

impl TreeRoutes {
    /// The routes of a fat tree whose switches are ranked level by level.
    pub fn new(spec: &FatTreeSpec) -> TreeRoutes {
        let (mut rules, mut switches) = (Vec::new(), Vec::new());
        let (mut subtree, mut spread, mut places) = (1, 1u64, 1);
        for (l, level) in spec.levels.iter().enumerate() {
            let child = subtree;
            subtree *= level.children;
            places *= u64::from(level.parents);
            spread = spread.saturating_mul(u64::from(level.parents) * u64::from(level.parallel));
            let up = spec.levels.get(l + 1).map_or(1, |up| up.parents * up.parallel);
            rules.push(Rule {
                subtree,
                child: Divisor::new(child),
                parallel: Divisor::new(level.parallel),
                spread: Divisor::new(u32::try_from(spread).unwrap_or(u32::MAX)),
                up: Divisor::new(up),
                first_up: level.children * level.parallel,
            });
            let place = |i: u64| Place { first_host: (i / places) as u32 * subtree, level: l as u32 };
            switches.extend((0..spec.switches(l)).map(place));
        }
        TreeRoutes { hosts: subtree, rules, switches }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.switches.len() as u32
    }

    /// The rank of a host's leaf switch. Leaf switches are ranked first.
    pub fn leaf(&self, host: u32) -> u32 {
        host / self.rules[0].subtree
    }

    /// The port by which a switch sends to a host.
    pub fn port(&self, switch: u32, host: u32) -> u16 {
        self.of(switch).port(host)
    }

    /// The routes of one switch.
    pub fn of(&self, switch: u32) -> SwitchRoutes {
        let Place { first_host, level } = self.switches[switch as usize];
        SwitchRoutes { first_host, rule: self.rules[level as usize] }
    }

    /// All ports by which a switch may send to a host: any cable upwards, or any cable to the host's child.
    pub fn ports(&self, switch: u32, host: u32) -> PortSet<'_> {
        let place = self.switches[switch as usize];
        let rule = &self.rules[place.level as usize];
        let below = host.wrapping_sub(place.first_host);
        if below < rule.subtree {
            let (child, parallel) = (rule.child.quotient(below), rule.parallel.value);
            PortSet::range(child + 1, (child * parallel) as u16, parallel as u16)
        } else {
            PortSet::range(0, rule.first_up as u16, rule.up.value as u16)
        }
    }

    /// Whether any switch has several ports towards any host.
    pub fn has_equal_ports(&self) -> bool {
        let below_top = self.rules.len() - 1;
        self.rules.iter().enumerate().any(|(l, rule)| rule.parallel.value > 1 || (l < below_top && rule.up.value > 1))
    }
}

/// A divisor that is used many times. Multiplication by its inverse needs a fifth of the time.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    value: u32,
    inverse: u64,
}

impl Divisor {
    fn new(value: u32) -> Divisor {
        Divisor { value, inverse: u64::MAX / u64::from(value) }
    }

    /// `n` divided by the number, rounded down. This is exact for all 32-bit numbers: `inverse` is too small
    /// by less than `value` parts in 2^64, so `n + 1` of them are too small by less than one quotient.
    #[inline]
    fn quotient(self, n: u32) -> u32 {
        (((u128::from(n) + 1) * u128::from(self.inverse)) >> 64) as u32
    }

    #[inline]
    fn remainder(self, n: u32) -> u32 {
        n - self.quotient(n) * self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::generators::Level;
    use crate::network::link::Rate;
    use crate::network::routing::Routes;
    use crate::network::topology::Topology;
    use becalm_engine::Time;

    #[test]
    fn division_is_exact() {
        let edges = |n: u32| [n.wrapping_sub(1), n, n.wrapping_add(1)];
        let numbers: Vec<u32> = (0..32).flat_map(|bit| edges(1 << bit)).chain([3, 12, 100, 999_999_937]).collect();
        for &value in numbers.iter().filter(|&&value| value > 0) {
            let divisor = Divisor::new(value);
            for &n in &numbers {
                for n in edges(n).into_iter().chain(edges(n / value * value)) {
                    assert_eq!((divisor.quotient(n), divisor.remainder(n)), (n / value, n % value), "{n} by {value}");
                }
            }
        }
    }

    #[test]
    fn entries_that_are_set_leave_the_others_as_they_were() {
        let rate = Rate::from_bits_per_second(8e9);
        let level = |children, parents, parallel| Level { children, parents, parallel, rate };
        let levels = vec![level(3, 1, 1), level(3, 2, 2), level(2, 3, 1)];
        let spec = FatTreeSpec { levels, delay: Time::ZERO };
        let (topology, computed) = (Topology::fat_tree(&spec), Routes::d_mod_k(&spec));
        let mut stored = computed.clone();
        stored.set(4, 7, 1);
        let entries = |routes: &Routes| -> Vec<_> {
            let switches = 0..topology.switch_count();
            switches
                .flat_map(|s| (0..topology.host_count()).map(move |h| (s, h)))
                .map(|(s, h)| routes.port(s, h))
                .collect()
        };
        let (before, mut after) = (entries(&computed), entries(&stored));
        let at = 4 * topology.host_count() as usize + 7;
        assert_eq!(after[at], Some(1));
        after[at] = before[at];
        assert_eq!(before, after);
    }
}
