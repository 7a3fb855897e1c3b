//! `[run]`: duration, measured window, seed and replications.

use becalm_engine::Time;

becalm_schema::words! {
    /// When a run ends.
    pub enum End {
        /// After `duration`.
        Duration = "duration",
        /// At the first step of `observe` at which all jobs have ended, but no later than after `duration`.
        Jobs = "jobs",
        /// When all messages have been delivered and acknowledged, but no later than after `duration`. The measured
        /// window then extends from the start of the first flow to the last acknowledgement.
        Delivered = "delivered",
    }
}

becalm_schema::words! {
    /// What a simulated packet stands for.
    pub enum Fidelity {
        /// One packet: exact.
        Packets = "packets",
        /// Up to 16 packets of one message, at least 32 times per message: faster where messages are long and buffers
        /// large, and approximate.
        Trains = "trains",
        /// Trains, and times in which every flow of the jobs keeps its rate are measured once and then left out: faster
        /// where messages have hundreds of trains.
        Steady = "steady",
    }
}

becalm_schema::table! {
    /// Duration of a run, measured window and seed.
    pub located struct Run {
        /// Simulated time.
        pub duration: Time; ""; Time(1)..=Time::from_ms(86_400_000),
        /// When the run ends.
        pub end: End = End::Duration,
        /// What a simulated packet stands for, and what is left out. All but `"packets"` need cut-through switching, one path for each flow, and schemes
        /// that read bytes and marks.
        pub fidelity: Fidelity = Fidelity::Packets,
        /// Start of the measured window. Summary tables do not cover the time before it.
        pub warmup: Time = Time::ZERO,
        /// Seed of all random numbers.
        pub seed: u64 = 1,
        /// Number of runs. Run `k`, counted from 0, uses the seed `seed + k`.
        pub replications: u32 = 1; ""; 1..=1_000_000,
    }
}
