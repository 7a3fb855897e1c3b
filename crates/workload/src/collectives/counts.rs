//! The number of operations of a collective, known before its program is built.

use becalm_engine::Time;

use super::{AllGather, AllReduce, AllToAll, Broadcast, Collective, ReduceScatter, Repetition};
use crate::error::LongCollective;

const MOST: u64 = LongCollective::MOST;

/// The messages of a schedule, and those whose data the receiver adds to its own.
struct Messages {
    all: u64,
    reduced: u64,
}

impl Messages {
    fn plain(all: u64) -> Messages {
        Messages { all, reduced: 0 }
    }

    fn reduced(reduced: u64) -> Messages {
        Messages { all: reduced, reduced }
    }

    fn and(self, other: Messages) -> Messages {
        Messages { all: self.all + other.all, reduced: self.reduced + other.reduced }
    }
}

impl Collective {
    /// Checks that the program is not too long.
    ///
    /// # Errors
    /// The number of its operations, and the numbers of ranks and repetitions that are possible.
    pub fn fits(&self, ranks: u32, repetition: &Repetition) -> Result<(), LongCollective> {
        let operations = self.operations(ranks, repetition);
        if operations <= MOST {
            return Ok(());
        }
        let fits = |ranks: u32| self.suits(ranks).is_ok() && self.operations(ranks, repetition) <= MOST;
        let (mut possible, mut beyond) = (1, ranks);
        while beyond - possible > 1 {
            let middle = possible.midpoint(beyond);
            let long = self.operations(middle, repetition) > MOST;
            (possible, beyond) = if long { (possible, middle) } else { (middle, beyond) };
        }
        let most_ranks = (1..=possible).rev().find(|&ranks| fits(ranks)).unwrap_or(0);
        let most_times = MOST / self.operations(ranks, &Repetition { times: 1, ..*repetition });
        Err(LongCollective { ranks, operations, most: MOST, most_ranks, most_times })
    }

    /// Number of operations of the program.
    fn operations(&self, ranks: u32, repetition: &Repetition) -> u64 {
        let Messages { all, reduced } = self.messages(ranks.into());
        let adds = repetition.reduction_per_byte > 0.0 && self.bytes() > 0;
        let computes = if repetition.compute > Time::ZERO { u64::from(ranks) } else { 0 };
        // A message is sent and received.
        let once = 2 * all + if adds { reduced } else { 0 } + computes;
        once.saturating_mul(repetition.times.into())
    }

    fn messages(&self, p: u64) -> Messages {
        let (to_others, doublings) = (p * (p - 1), p * u64::from(p.next_power_of_two().ilog2()));
        // With doubling distances, ranks beyond the last power of two give away their data, and get the result back.
        let (power, extra) = (1 << p.ilog2(), p - (1 << p.ilog2()));
        let folded = power * u64::from(p.ilog2());
        let (give, take_back) = (|| Messages::reduced(extra), || Messages::plain(extra));
        match self {
            Collective::Barrier => Messages::plain(doublings),
            Collective::Broadcast(Broadcast::Binomial, _) => Messages::plain(p - 1),
            Collective::Broadcast(Broadcast::ScatterAllGather, _) => Messages::plain(p - 1 + to_others),
            Collective::Reduce(_) => Messages::reduced(p - 1),
            Collective::AllReduce(AllReduce::Ring, _) => Messages::reduced(to_others).and(Messages::plain(to_others)),
            Collective::AllReduce(AllReduce::RecursiveDoubling, _) => {
                give().and(Messages::reduced(folded)).and(take_back())
            }
            Collective::AllReduce(AllReduce::HalvingDoubling | AllReduce::NearHalvingDoubling, _) => {
                give().and(Messages::reduced(folded)).and(Messages::plain(folded)).and(take_back())
            }
            Collective::AllReduce(AllReduce::DoubleBinaryTree(pieces), _) => {
                let edges = 2 * u64::from(*pieces) * (p - 1);
                Messages::reduced(edges).and(Messages::plain(edges))
            }
            Collective::AllReduce(AllReduce::Rings(channels), _) => {
                let of_all = u64::from(channels.count) * to_others;
                Messages::reduced(of_all).and(Messages::plain(of_all))
            }
            Collective::AllReduce(AllReduce::NodeTrees(channels, pieces), _) => {
                let edges = u64::from(channels.count) * 2 * u64::from(*pieces) * (p - 1);
                Messages::reduced(edges).and(Messages::plain(edges))
            }
            Collective::AllReduce(AllReduce::Hierarchical(pieces, per_node), _) => {
                let (pieces, per_node) = (u64::from(*pieces), u64::from(*per_node));
                let half = pieces * p * ((per_node - 1) + (p / per_node).saturating_sub(1));
                Messages::reduced(half).and(Messages::plain(half))
            }
            Collective::AllGather(AllGather::Rings(channels), _) => {
                Messages::plain(u64::from(channels.count) * to_others)
            }
            Collective::ReduceScatter(ReduceScatter::Rings(channels), _) => {
                Messages::reduced(u64::from(channels.count) * to_others)
            }
            Collective::AllGather(AllGather::Bruck, _) | Collective::AllToAll(AllToAll::Bruck, _) => {
                Messages::plain(doublings)
            }
            Collective::AllGather(AllGather::RecursiveDoubling, _) => Messages::plain(folded),
            Collective::ReduceScatter(ReduceScatter::RecursiveHalving, _) => Messages::reduced(folded),
            Collective::ReduceScatter(ReduceScatter::Ring, _) => Messages::reduced(to_others),
            Collective::AllGather(AllGather::Ring, _)
            | Collective::AllToAll(AllToAll::Linear | AllToAll::Pairwise, _) => Messages::plain(to_others),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Channels;
    use super::*;

    const BYTES: u64 = 1 << 20;

    fn all() -> Vec<Collective> {
        let channels = Channels { count: 2, per_node: 4 };
        let reductions = [
            AllReduce::Ring,
            AllReduce::RecursiveDoubling,
            AllReduce::HalvingDoubling,
            AllReduce::DoubleBinaryTree(3),
            AllReduce::NearHalvingDoubling,
            AllReduce::Rings(channels),
            AllReduce::NodeTrees(channels, 3),
            AllReduce::Hierarchical(3, 4),
        ];
        let gathers = [AllGather::Ring, AllGather::RecursiveDoubling, AllGather::Bruck, AllGather::Rings(channels)];
        let scatters = [ReduceScatter::Ring, ReduceScatter::RecursiveHalving, ReduceScatter::Rings(channels)];
        let exchanges = [AllToAll::Linear, AllToAll::Pairwise, AllToAll::Bruck];
        let broadcasts = [Broadcast::Binomial, Broadcast::ScatterAllGather];
        [
            vec![Collective::Barrier, Collective::Reduce(BYTES)],
            broadcasts.map(|algorithm| Collective::Broadcast(algorithm, BYTES)).to_vec(),
            reductions.map(|algorithm| Collective::AllReduce(algorithm, BYTES)).to_vec(),
            gathers.map(|algorithm| Collective::AllGather(algorithm, BYTES)).to_vec(),
            scatters.map(|algorithm| Collective::ReduceScatter(algorithm, BYTES)).to_vec(),
            exchanges.map(|algorithm| Collective::AllToAll(algorithm, BYTES)).to_vec(),
        ]
        .concat()
    }

    #[test]
    fn counts_are_those_of_the_programs() {
        let repetitions = [(1, Time::ZERO, 0.0), (3, Time::from_us(1), 10.0)];
        let repetitions =
            repetitions.map(|(times, compute, reduction_per_byte)| Repetition { times, compute, reduction_per_byte });
        for collective in all() {
            for (ranks, repetition) in (2..35).flat_map(|ranks| repetitions.map(|repetition| (ranks, repetition))) {
                if collective.suits(ranks).is_ok() {
                    let program = collective.program(ranks, &repetition).unwrap();
                    let counted = collective.operations(ranks, &repetition);
                    assert_eq!(counted, program.len() as u64, "{collective:?}, {ranks} ranks");
                }
            }
        }
    }

    #[test]
    fn long_collectives_name_their_number_and_what_is_possible() {
        let once = Repetition { times: 1, compute: Time::ZERO, reduction_per_byte: 0.0 };
        let long = |collective: Collective, ranks, repetition| collective.fits(ranks, &repetition).unwrap_err();
        let ring = Collective::AllReduce(AllReduce::Ring, BYTES);
        assert_eq!(
            long(ring, 2300, once).to_string(),
            "needs 21150800 operations with 2300 ranks, but at most 20000000 are possible; valid: at most 2236 ranks"
        );
        assert!(ring.fits(2236, &once).is_ok() && ring.fits(2237, &once).is_err());
        let often = Repetition { times: 1000, ..once };
        assert!(long(ring, 100, often).to_string().ends_with("valid: at most 71 ranks or at most 505 repetitions"));
        let powers = Collective::AllGather(AllGather::RecursiveDoubling, BYTES);
        assert_eq!(long(powers, 1 << 20, once).most_ranks, 1 << 19, "only powers of two");
        let never = Repetition { times: 20_000_000, ..once };
        let LongCollective { most_ranks, most_times, .. } = long(ring, 2300, never);
        assert_eq!((most_ranks, most_times), (0, 0));
    }
}
