//! The division of a source's messages among its flows.

use becalm_engine::Stream;

/// The shares of a source's flows. By default, all flows have the same share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mix {
    /// Consecutive flows with equal shares.
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    flows: u32,
    share: f64,
}

impl Mix {
    /// Divides messages by weight among consecutive groups of flows. `parts` are their numbers of flows and their
    /// weights, at least one of which has flows and a positive weight. Groups without flows have no share.
    pub fn weighted(parts: impl Iterator<Item = (u32, f64)> + Clone) -> Mix {
        let parts = parts.filter(|&(flows, _)| flows > 0);
        let sum: f64 = parts.clone().map(|(_, weight)| weight).sum();
        Mix { parts: parts.map(|(flows, weight)| Part { flows, share: weight / sum }).collect() }
    }

    /// Picks one of `flows` flows at random.
    pub(crate) fn pick(&self, flows: u32, random: &mut Stream) -> u32 {
        if flows == 1 {
            return 0;
        }
        let Some((last, others)) = self.parts.split_last() else { return random.below(flows) };
        let (mut first, mut rest) = (0, random.unit());
        for part in others {
            if rest < part.share {
                return first + random.below(part.flows);
            }
            rest -= part.share;
            first += part.flows;
        }
        first + random.below(last.flows)
    }

    /// The share of each of `flows` flows.
    pub fn shares(&self, flows: u32) -> Vec<f64> {
        if self.parts.is_empty() {
            return vec![1.0 / f64::from(flows); flows as usize];
        }
        let each = |part: &Part| std::iter::repeat_n(part.share / f64::from(part.flows), part.flows as usize);
        self.parts.iter().flat_map(each).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_picked_by_their_shares() {
        let mix = Mix::weighted([(3, 1.0), (0, 7.0), (1, 2.0), (2, 1.0)].into_iter());
        let (mut random, mut picked) = (Stream::new(1, 0, 0), [0u32; 6]);
        (0..60_000).for_each(|_| picked[mix.pick(6, &mut random) as usize] += 1);
        for (picked, share) in picked.iter().zip(mix.shares(6)) {
            let (expected, found) = (share * 60_000.0, f64::from(*picked));
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} instead of {expected}");
        }
        assert_eq!(mix.shares(6)[3], 0.5);
    }

    #[test]
    fn flows_are_alike_by_default() {
        assert_eq!(Mix::default().shares(4), [0.25; 4]);
    }
}
