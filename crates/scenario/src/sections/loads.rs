//! `[jobs.all_to_all_v]`: an all-to-all with different sizes, such as the dispatch of tokens to experts.

use becalm_engine::{Stream, order};
use becalm_schema::Conflict;

use crate::sections::quantities::Payload;

becalm_schema::table! {
    /// Tokens that every rank sends to the experts of a mixture-of-experts layer.
    pub struct Experts {
        /// Number of experts. They are distributed over the ranks in consecutive blocks of equal size.
        pub count: u32; ""; 1..=1 << 20,
        /// Number of tokens of each rank.
        pub tokens: u32; ""; 1..=1 << 24,
        /// Number of experts to which each token goes.
        pub top: u32 = 1; ""; 1..=1 << 10,
        /// Size of a token.
        pub token: Payload,
        /// Exponent `s` of the experts' popularity: the share of the `k`-th most popular is proportional to `1/k^s`.
        /// `run.seed` decides which are popular.
        pub zipf: f64 = 0.0; ""; 0.0..=10.0,
        /// Whether the messages go from the experts to the tokens' ranks, as results do.
        pub back: bool = false,
    }
}

becalm_schema::table! {
    /// An all-to-all in which every rank sends a message of its own size to every other rank, all at once: either a `table`
    /// of sizes, or the tokens of `experts`.
    pub struct AllToAllV {
        /// Bytes that each rank (row) sends to each rank (column).
        pub table: Vec<Vec<Payload>> = Vec::new(),
        /// Tokens that ranks send to experts.
        pub experts: Option<Experts> = None,
    }
    check AllToAllV::check;
}

impl AllToAllV {
    fn check(&self) -> Result<(), Conflict> {
        let rows = self.table.len();
        Conflict::unless(self.experts.is_some() != (rows > 0), "table", || {
            "must be set, or experts; not both".to_string()
        })?;
        let wrong = self.table.iter().position(|row| row.len() != rows);
        Conflict::unless(wrong.is_none(), "table", || {
            let row = wrong.unwrap_or(0);
            format!("must be square: row {row} has {} of {rows} columns", self.table[row].len())
        })
    }

    /// Number of ranks of the table; `None` with experts, which suit any divisor of their number.
    pub(crate) fn ranks(&self) -> Option<u32> {
        (!self.table.is_empty()).then_some(self.table.len() as u32)
    }

    /// The bytes from each rank to each rank, row by row.
    ///
    /// # Errors
    /// The reason why this number of ranks is not possible.
    pub(crate) fn sizes(&self, ranks: u32, random: &mut Stream) -> Result<Vec<u64>, String> {
        let Some(experts) = &self.experts else {
            if self.table.len() as u32 != ranks {
                return Err(format!("has {} rows for {ranks} ranks", self.table.len()));
            }
            return Ok(self.table.iter().flatten().map(|bytes| bytes.0).collect());
        };
        if experts.count % ranks != 0 {
            return Err(format!("must have a multiple of {ranks} experts, the number of ranks, not {}", experts.count));
        }
        let to: Vec<u64> =
            experts.tokens_to(ranks, random).into_iter().map(|tokens| tokens * experts.token.0).collect();
        let p = ranks as usize;
        let size = |i: usize| if experts.back { to[i / p] } else { to[i % p] };
        Ok((0..p * p).map(size).collect())
    }
}

impl Experts {
    /// The tokens from any rank to the experts of each rank: whole numbers with the right sum, nearest to the shares.
    pub(crate) fn tokens_to(&self, ranks: u32, random: &mut Stream) -> Vec<u64> {
        let mut popularity: Vec<f64> = (1..=self.count).map(|k| libm::pow(f64::from(k), -self.zipf)).collect();
        for i in (1..popularity.len()).rev() {
            popularity.swap(i, random.below(i as u32 + 1) as usize);
        }
        let sum: f64 = popularity.iter().sum();
        let wanted = u64::from(self.tokens) * u64::from(self.top);
        let of_ranks = popularity.chunks((self.count / ranks) as usize);
        let exact: Vec<f64> = of_ranks.map(|part| part.iter().sum::<f64>() / sum * wanted as f64).collect();
        let mut tokens: Vec<u64> = exact.iter().map(|exact| exact.floor() as u64).collect();
        let mut by_rest: Vec<usize> = (0..tokens.len()).collect();
        let rest = |rank: usize| exact[rank] - exact[rank].floor();
        order::sort_by(&mut by_rest, |&a, &b| rest(b).total_cmp(&rest(a)));
        let missing = wanted.saturating_sub(tokens.iter().sum());
        by_rest.into_iter().take(missing as usize).for_each(|rank| tokens[rank] += 1);
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_follow_the_popularity_of_experts() {
        let experts = |zipf| Experts { count: 256, tokens: 4096, top: 8, token: Payload(7392), zipf, back: false };
        let mut random = Stream::new(1, 0, 0);
        assert_eq!(experts(0.0).tokens_to(64, &mut random), [512; 64]);
        let skewed = experts(1.0).tokens_to(256, &mut random);
        assert_eq!(skewed.iter().sum::<u64>(), 4096 * 8);
        // The most popular expert has 1 of the harmonic number H(256) = 6.124 parts.
        assert_eq!(*skewed.iter().max().unwrap(), (4096.0f64 * 8.0 / 6.124_345).round() as u64);
    }

    #[test]
    fn results_go_back_the_same_way() {
        let experts = Experts { count: 8, tokens: 100, top: 2, token: Payload(10), zipf: 1.0, back: false };
        let sizes = |back| {
            let law = AllToAllV { table: Vec::new(), experts: Some(Experts { back, ..experts.clone() }) };
            law.sizes(4, &mut Stream::new(1, 0, 0)).unwrap()
        };
        let (there, back) = (sizes(false), sizes(true));
        assert!((0..16).all(|i| there[i] == back[i % 4 * 4 + i / 4]));
    }
}
