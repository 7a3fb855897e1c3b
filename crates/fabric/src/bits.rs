//! Sets of small numbers as words of bits.

/// Words that hold `n` bits.
pub(crate) const fn words(n: usize) -> usize {
    n.div_ceil(64)
}

/// Puts a number into the set.
#[inline]
pub(crate) fn set(bits: &mut [u64], n: usize) {
    bits[n / 64] |= 1 << (n % 64);
}

/// Takes a number out of the set.
#[inline]
pub(crate) fn clear(bits: &mut [u64], n: usize) {
    bits[n / 64] &= !(1 << (n % 64));
}

/// Whether the set is empty.
#[inline]
pub(crate) fn is_empty(bits: &[u64]) -> bool {
    bits.iter().all(|&word| word == 0)
}

/// Takes the smallest number out of the set.
#[inline]
pub(crate) fn pop_first(bits: &mut [u64]) -> Option<usize> {
    let word = bits.iter().position(|&word| word != 0)?;
    let n = bits[word].trailing_zeros() as usize;
    bits[word] &= bits[word] - 1;
    Some(word * 64 + n)
}

/// The numbers of the set, ascending.
pub(crate) fn iter(bits: &[u64]) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        std::iter::successors((bits != 0).then_some(bits), |rest| {
            let rest = rest & (rest - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |rest| word * 64 + rest.trailing_zeros() as usize)
    })
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
        clear(&mut bits, 63);
        assert_eq!(iter(&bits).collect::<Vec<_>>(), [3, 64, 129]);
        assert_eq!([pop_first(&mut bits), pop_first(&mut bits), pop_first(&mut bits)], [Some(3), Some(64), Some(129)]);
        assert!(is_empty(&bits) && pop_first(&mut bits).is_none());
    }
}
