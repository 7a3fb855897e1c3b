//! The number of operations of a collective, known before its program is built.

use becalm_engine::Time;

use super::{AllGather, AllReduce, AllToAll, Broadcast, Collective, ReduceScatter, Repetition};
use crate::error::LongCollective;
use crate::regular::Regular;

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
        let most = if self.phases(ranks, repetition).is_some() { Regular::MOST } else { LongCollective::MOST };
        self.fits_in(ranks, repetition, most)
    }

    /// Checks that a list of the program's operations is not too long.
    ///
    /// # Errors
    /// As for [`Collective::fits`].
    pub(crate) fn fits_list(&self, ranks: u32, repetition: &Repetition) -> Result<(), LongCollective> {
        self.fits_in(ranks, repetition, LongCollective::MOST)
    }

    fn fits_in(&self, ranks: u32, repetition: &Repetition, most: u64) -> Result<(), LongCollective> {
        let operations = self.operations(ranks, repetition);
        if operations <= most {
            return Ok(());
        }
        let fits = |ranks: u32| self.suits(ranks).is_ok() && self.operations(ranks, repetition) <= most;
        let (mut possible, mut beyond) = (1, ranks);
        while beyond - possible > 1 {
            let middle = possible.midpoint(beyond);
            let long = self.operations(middle, repetition) > most;
            (possible, beyond) = if long { (possible, middle) } else { (middle, beyond) };
        }
        let most_ranks = (1..=possible).rev().find(|&ranks| fits(ranks)).unwrap_or(0);
        let most_times = most / self.operations(ranks, &Repetition { times: 1, ..*repetition });
        Err(LongCollective { ranks, operations, most, most_ranks, most_times })
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
    use std::collections::BTreeMap;

    use super::super::Channels;
    use super::*;
    use crate::program::Program;

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

    /// The messages of a rank, each with its number of occurrences.
    fn counted(program: &Program, rank: u32) -> BTreeMap<(u32, u64), u64> {
        program.sent(rank).iter().fold(BTreeMap::new(), |mut sum, sent| {
            *sum.entry((sent.to, sent.bytes)).or_default() += sent.count;
            sum
        })
    }

    #[test]
    fn operations_made_when_needed_are_those_of_the_list() {
        let repetition = |times, compute, reduction_per_byte| Repetition { times, compute, reduction_per_byte };
        let us = Time::from_us(1);
        let repetitions = [repetition(1, Time::ZERO, 0.0), repetition(3, us, 10.0), repetition(2, Time::ZERO, 1e-9)];
        let sized = |bytes| {
            let rings = [Collective::AllReduce(AllReduce::Ring, bytes), Collective::AllGather(AllGather::Ring, bytes)];
            let exchanges = [AllToAll::Linear, AllToAll::Pairwise].map(|each| Collective::AllToAll(each, bytes));
            [rings, exchanges].concat().into_iter().chain([Collective::ReduceScatter(ReduceScatter::Ring, bytes)])
        };
        for (collective, repetition) in
            [0, 7, BYTES].into_iter().flat_map(sized).flat_map(|each| repetitions.map(|other| (each, other)))
        {
            for ranks in [2, 3, 4, 7] {
                let (made, list) = (collective.program(ranks, &repetition), collective.listed(ranks, &repetition));
                let (made, list, what) = (made.unwrap(), list.unwrap(), format!("{collective:?}, {ranks}"));
                // With parts of 0 and 1 bytes, only some of the additions take time.
                assert!(made.is_regular() || collective.bytes() == 7, "{what}");
                assert!(!list.is_regular() && made.len() == list.len(), "{what}");
                assert_eq!(made.channels(), list.channels(), "{what}");
                for rank in 0..ranks {
                    assert_eq!(counted(&made, rank), counted(&list, rank), "{what}");
                    assert_eq!(made.free(rank).collect::<Vec<_>>(), list.free(rank).collect::<Vec<_>>(), "{what}");
                }
                for number in 0..list.len() as u32 {
                    assert_eq!(made.op(number), list.op(number), "{what}, operation {number}");
                    let of = |program: &Program| (program.id(number), program.needs(number));
                    assert_eq!(of(&made), of(&list), "{what}, operation {number}");
                    let waiting = |program: &Program| program.waiting(number).collect::<Vec<_>>();
                    assert_eq!(waiting(&made), waiting(&list), "{what}, operation {number}");
                }
                list.check().unwrap();
            }
        }
    }

    #[test]
    fn long_collectives_name_their_number_and_what_is_possible() {
        let once = Repetition { times: 1, compute: Time::ZERO, reduction_per_byte: 0.0 };
        let long = |collective: Collective, ranks, repetition| collective.fits(ranks, &repetition).unwrap_err();
        let ring = Collective::AllReduce(AllReduce::Ring, BYTES);
        assert_eq!(
            ring.fits_list(2300, &once).unwrap_err().to_string(),
            "needs 21150800 operations with 2300 ranks, but at most 20000000 are possible; valid: at most 2236 ranks"
        );
        assert!(ring.fits_list(2236, &once).is_ok() && ring.fits_list(2237, &once).is_err());
        assert!(ring.fits(23_170, &once).is_ok() && ring.fits(23_171, &once).is_err());
        let often = Repetition { times: 100_000, ..once };
        assert!(long(ring, 100, often).to_string().ends_with("valid: at most 73 ranks or at most 54229 repetitions"));
        let powers = Collective::AllGather(AllGather::RecursiveDoubling, BYTES);
        assert_eq!(long(powers, 1 << 20, once).most_ranks, 1 << 19, "only powers of two");
        let never = Repetition { times: 20_000_000, ..once };
        let LongCollective { most_ranks, most_times, .. } = ring.fits_list(2300, &never).unwrap_err();
        assert_eq!((most_ranks, most_times), (0, 0));
    }
}
