//! Sets of small numbers as bit arrays.

/// Number of words needed for `n` bits.
pub(crate) const fn words(n: usize) -> usize {
    n.div_ceil(64)
}

/// Adds a number to the set.
#[inline]
pub(crate) fn set(bits: &mut [u64], n: usize) {
    bits[n / 64] |= 1 << (n % 64);
}

/// Removes a number from the set.
#[inline]
pub(crate) fn clear(bits: &mut [u64], n: usize) {
    bits[n / 64] &= !(1 << (n % 64));
}

/// Whether the set has a number.
#[inline]
pub(crate) fn contains(bits: &[u64], n: usize) -> bool {
    bits[n / 64] >> (n % 64) & 1 == 1
}

/// Whether the set is empty.
#[inline]
pub(crate) fn is_empty(bits: &[u64]) -> bool {
    bits.iter().all(|&word| word == 0)
}

/// Removes and returns the smallest number in the set.
#[inline]
pub(crate) fn pop_first(bits: &mut [u64]) -> Option<usize> {
    let word = bits.iter().position(|&word| word != 0)?;
    let n = bits[word].trailing_zeros() as usize;
    bits[word] &= bits[word] - 1;
    Some(word * 64 + n)
}

/// The smallest number in the set above `last`, or else the smallest of all.
#[inline]
pub(crate) fn next_in_turn(bits: &[u64], last: usize) -> Option<usize> {
    let start = last + 1;
    let above = bits.get(start / 64).map_or(0, |word| word >> (start % 64));
    if above != 0 {
        return Some(start + above.trailing_zeros() as usize);
    }
    let later = (start / 64 + 1..bits.len()).find(|&word| bits[word] != 0);
    let word = later.or_else(|| bits.iter().position(|&word| word != 0))?;
    Some(word * 64 + bits[word].trailing_zeros() as usize)
}

/// The numbers in the set, in ascending order.
#[inline]
pub(crate) fn iter(bits: &[u64]) -> Members<'_> {
    let (first, rest) = bits.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
    Members { current: first, base: 0, rest }
}

/// See [`iter`].
pub(crate) struct Members<'a> {
    current: u64,
    base: usize,
    rest: &'a [u64],
}

impl Iterator for Members<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.current == 0 {
            let (first, rest) = self.rest.split_first()?;
            (self.current, self.rest) = (*first, rest);
            self.base += 64;
        }
        let n = self.base + self.current.trailing_zeros() as usize;
        self.current &= self.current - 1;
        Some(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_like_a_set() {
        let mut bits = vec![0; words(130)];
        for n in [129, 3, 64, 63, 3] {
            set(&mut bits, n);
        }
        assert_eq!(
            [0, 3, 63, 64, 128, 129, 200].map(|last| next_in_turn(&bits, last)),
            [3, 63, 64, 129, 129, 3, 3].map(Some)
        );
        clear(&mut bits, 63);
        assert_eq!(iter(&bits).collect::<Vec<_>>(), [3, 64, 129]);
        assert_eq!((0..192).filter(|&n| contains(&bits, n)).collect::<Vec<_>>(), [3, 64, 129]);
        assert_eq!([pop_first(&mut bits), pop_first(&mut bits), pop_first(&mut bits)], [Some(3), Some(64), Some(129)]);
        assert!(is_empty(&bits) && pop_first(&mut bits).is_none());
    }
}
