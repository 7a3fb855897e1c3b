//! `[flows.pattern]`: patterns of destinations among the hosts of a list.

use becalm_engine::Stream;

becalm_schema::table! {
    /// Of n hosts, numbered from 0, host i sends to host (i + `by`) mod n.
    pub struct Shift {
        /// Distance to the destination, as a number of positions in the list.
        pub by: u32; "hosts"; 1..,
    }
}

becalm_schema::table! {
    /// A shift by slightly less than half of the n hosts, namely by n/2 - 1 positions, with n/2 rounded up (Dally and
    /// Towles 2004, Table 3.1). Requires at least 3 hosts.
    pub struct Tornado {}
}

becalm_schema::table! {
    /// Of n hosts, numbered from 0, host i sends to the host whose number is i with its bits reversed. n must be a
    /// power of two and at least 4. A host sends nothing if reversing the bits does not change its number.
    pub struct BitReversal {}
}

becalm_schema::table! {
    /// Every host sends to one other host and receives from one other host, in a random permutation without fixed
    /// points. It depends on `run.seed` and on the group's position in the list, and is the same in all replications.
    pub struct Permutation {}
}

becalm_schema::table! {
    /// Every host sends to every other host, as when `to` equals `from`.
    pub struct AllToAll {}
}

becalm_schema::choice! {
    /// A pattern of destinations among the hosts of a list, counted from 0.
    pub enum Pattern {
        /// To the host a number of positions later in the list.
        Shift(Shift) = "shift",
        /// To the host almost halfway around the list.
        Tornado(Tornado) = "tornado",
        /// To the host with the bit-reversed number.
        BitReversal(BitReversal) = "bit_reversal",
        /// To one random host each, one-to-one.
        Permutation(Permutation) = "permutation",
        /// To all other hosts.
        AllToAll(AllToAll) = "all_to_all",
    }
}

impl Pattern {
    /// The destinations of each of `n` hosts, as positions in the list of hosts.
    ///
    /// # Errors
    /// The pattern is not possible with this number of hosts.
    pub(crate) fn destinations(&self, n: usize, random: &mut Stream) -> Result<Vec<Vec<usize>>, String> {
        if n < 2 {
            return Err(format!("needs at least 2 hosts, not {n}"));
        }
        match self {
            Pattern::Shift(p) => shift(n, p.by as usize),
            Pattern::Tornado(_) if n < 3 => Err(format!("needs at least 3 hosts, not {n}")),
            Pattern::Tornado(_) => shift(n, n.div_ceil(2) - 1),
            Pattern::BitReversal(_) => bit_reversal(n),
            Pattern::Permutation(_) => Ok(singly(derangement(n, random))),
            Pattern::AllToAll(_) => Ok((0..n).map(|i| (0..n).filter(|&to| to != i).collect()).collect()),
        }
    }
}

fn singly(destinations: impl IntoIterator<Item = usize>) -> Vec<Vec<usize>> {
    destinations.into_iter().map(|to| vec![to]).collect()
}

fn shift(n: usize, by: usize) -> Result<Vec<Vec<usize>>, String> {
    if by.is_multiple_of(n) {
        return Err(format!("shifts {n} hosts by {by}: each would send to itself"));
    }
    Ok(singly((0..n).map(|i| (i + by) % n)))
}

fn bit_reversal(n: usize) -> Result<Vec<Vec<usize>>, String> {
    if !n.is_power_of_two() || n < 4 {
        return Err(format!("needs a power-of-two number of hosts, at least 4, not {n}"));
    }
    let reversed = |i: usize| i.reverse_bits() >> (usize::BITS - n.trailing_zeros());
    Ok((0..n).map(|i| if reversed(i) == i { Vec::new() } else { vec![reversed(i)] }).collect())
}

/// A permutation without fixed points. Random permutations are generated until one has no fixed point, 2.7 on
/// average.
fn derangement(n: usize, random: &mut Stream) -> Vec<usize> {
    loop {
        let mut places: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            places.swap(i, random.below(i as u32 + 1) as usize);
        }
        if places.iter().enumerate().all(|(i, &to)| i != to) {
            return places;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: Pattern, n: usize) -> Result<Vec<Vec<usize>>, String> {
        pattern.destinations(n, &mut Stream::new(1, 0, 0))
    }

    #[test]
    fn shifts_go_round() {
        assert_eq!(of(Pattern::Shift(Shift { by: 2 }), 5), Ok(singly([2, 3, 4, 0, 1])));
        assert!(of(Pattern::Shift(Shift { by: 10 }), 5).is_err());
        assert_eq!(of(Pattern::Tornado(Tornado {}), 8), Ok(singly([3, 4, 5, 6, 7, 0, 1, 2])));
        assert_eq!(of(Pattern::Tornado(Tornado {}), 5), Ok(singly([2, 3, 4, 0, 1])));
        assert!(of(Pattern::Tornado(Tornado {}), 2).is_err());
    }

    #[test]
    fn bits_are_reversed() {
        let expected: [&[usize]; 8] = [&[], &[4], &[], &[6], &[1], &[], &[3], &[]];
        assert_eq!(of(Pattern::BitReversal(BitReversal {}), 8), Ok(expected.map(<[usize]>::to_vec).to_vec()));
        for n in [2, 6, 12] {
            assert!(of(Pattern::BitReversal(BitReversal {}), n).is_err(), "{n}");
        }
    }

    #[test]
    fn permutations_move_everybody_and_depend_on_the_seed() {
        let of = |seed| Pattern::Permutation(Permutation {}).destinations(20, &mut Stream::new(seed, 0, 0)).unwrap();
        for seed in 0..20 {
            let mut places = of(seed).concat();
            assert!(places.iter().enumerate().all(|(i, &to)| i != to), "{places:?}");
            places.sort_unstable();
            assert_eq!(places, (0..20).collect::<Vec<_>>());
        }
        assert_ne!(of(1), of(2));
        assert_eq!(of(1), of(1));
    }

    #[test]
    fn everybody_sends_to_everybody_else() {
        assert_eq!(of(Pattern::AllToAll(AllToAll {}), 3), Ok(vec![vec![1, 2], vec![0, 2], vec![0, 1]]));
        assert!(of(Pattern::AllToAll(AllToAll {}), 1).is_err());
    }
}
