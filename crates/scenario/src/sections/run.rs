//! `[run]`: how long, from which seed, how often.

use becalm_engine::Time;

becalm_schema::table! {
    /// How long a run lasts, what it measures, and its seed.
    pub located struct Run {
        /// Simulated time.
        pub duration: Time; ""; Time(1)..=Time::from_ms(86_400_000),
        /// Start of the measured window: what happens before does not count in summary tables.
        pub warmup: Time = Time::ZERO,
        /// Seed of everything random.
        pub seed: u64 = 1,
        /// Number of runs; run `k`, counted from 0, uses `seed + k`.
        pub replications: u32 = 1; ""; 1..=1_000_000,
    }
}
