//! Formulas for the delays of a table, in microseconds, for packets with a given transmission time.

use becalm_engine::Time;
use becalm_schema::Conflict;

use super::entry::{CctEntry, MAX_ENTRIES};

/// Smallest number of entries of a table that a formula fills, from the specification.
const MIN_ENTRIES: u32 = 128;
/// 2068 B at 1 GB/s.
const PACKET_TIME: Time = Time::from_ns(2068);
const SHORTEST: Time = Time::from_ns(1);
const LONGEST: Time = Time::from_ms(1000);

becalm_schema::table! {
    /// Entry i is a delay of i^2 * numerator / divisor^2 microseconds. Gran 2010, section VII-B, uses 7 / 106^2; the
    /// switch manufacturer's default is 7 / 95^2.
    pub struct Quadratic {
        /// Number of entries.
        pub entries: u32 = MIN_ENTRIES; ""; MIN_ENTRIES..=MAX_ENTRIES,
        /// Delay at the index `divisor`.
        pub numerator: f64 = 7.0; "us"; 0.0..=1e9,
        /// Index at which the delay is `numerator`.
        pub divisor: f64 = 106.0; ""; 1e-3..=1e9,
        /// Transmission time of the packets for which the delays are specified.
        pub packet_time: Time = PACKET_TIME; ""; SHORTEST..=LONGEST,
    }
    check Quadratic::check;
}

becalm_schema::table! {
    /// Entry i is a delay of i / (entries - 1) * max. Pfister 2005, section VI, uses a maximum of 21 us for 32 hosts
    /// and 84 us for 128.
    pub struct Linear {
        /// Number of entries.
        pub entries: u32 = MIN_ENTRIES; ""; MIN_ENTRIES..=MAX_ENTRIES,
        /// Delay of the last entry.
        pub max: Time = Time::from_us(21),
        /// Transmission time of the packets for which the delays are specified.
        pub packet_time: Time = PACKET_TIME; ""; SHORTEST..=LONGEST,
    }
    check Linear::check;
}

becalm_schema::table! {
    /// Entry i is a delay of first * ratio^(i - 1). Entry 0 is no delay.
    pub struct Geometric {
        /// Number of entries.
        pub entries: u32 = MIN_ENTRIES; ""; MIN_ENTRIES..=MAX_ENTRIES,
        /// Delay of entry 1.
        pub first: Time = Time::from_ns(40),
        /// Ratio of an entry's delay to the previous entry's.
        pub ratio: f64 = 1.05; ""; 1.0..=1000.0,
        /// Transmission time of the packets for which the delays are specified.
        pub packet_time: Time = PACKET_TIME; ""; SHORTEST..=LONGEST,
    }
    check Geometric::check;
}

impl Quadratic {
    /// The delay at an index in microseconds.
    pub fn microseconds(&self, index: u32) -> f64 {
        let i = f64::from(index);
        i * i * self.numerator / (self.divisor * self.divisor)
    }

    /// The delay at an index in packet times.
    pub fn gap(&self, index: u32) -> f64 {
        self.microseconds(index) * 1e-6 / self.packet_time.as_secs()
    }

    fn check(&self) -> Result<(), Conflict> {
        fits(self.gap(self.entries - 1), "numerator")
    }
}

impl Linear {
    /// The delay at an index in packet times.
    pub fn gap(&self, index: u32) -> f64 {
        f64::from(index) / f64::from(self.entries - 1) * (self.max.as_secs() / self.packet_time.as_secs())
    }

    fn check(&self) -> Result<(), Conflict> {
        fits(self.gap(self.entries - 1), "max")
    }
}

impl Geometric {
    /// The delay at an index in packet times.
    pub fn gap(&self, index: u32) -> f64 {
        match index {
            0 => 0.0,
            _ => self.first.as_secs() / self.packet_time.as_secs() * libm::pow(self.ratio, f64::from(index - 1)),
        }
    }

    fn check(&self) -> Result<(), Conflict> {
        fits(self.gap(self.entries - 1), "ratio")
    }
}

/// Checks that an entry can express the longest delay; otherwise, reports a conflict at `key`.
fn fits(longest: f64, key: &'static str) -> Result<(), Conflict> {
    Conflict::unless(CctEntry::nearest(longest).is_some(), key, || {
        format!(
            "makes the delay of the last entry {longest:.0} packet times; the maximum is {}",
            CctEntry::MAX_MULTIPLIER
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::CctParams;
    use super::*;
    use becalm_schema::read;

    #[test]
    fn the_published_quadratic_tables() {
        let (gran, maker) = (Quadratic::default(), Quadratic { divisor: 95.0, ..Quadratic::default() });
        assert_eq!(gran.microseconds(0), 0.0);
        assert_eq!(gran.microseconds(106), 7.0);
        assert!((gran.microseconds(127) - 10.05).abs() < 0.005);
        assert!((maker.microseconds(127) - 12.51).abs() < 0.005);
    }

    #[test]
    fn a_table_rounds_the_wanted_delays_to_eighths_of_a_packet_time() {
        for params in [
            CctParams::default(),
            CctParams::Linear(Linear::default()),
            CctParams::Geometric(Geometric::default()),
            CctParams::Linear(Linear { entries: 16_384, ..Linear::default() }),
        ] {
            let entries = params.entries();
            assert_eq!(entries.len(), params.len() as usize);
            assert_eq!(entries[0].gap(), 0.0);
            for (index, entry) in (0..).zip(&entries) {
                assert!((entry.gap() - params.wanted(index).unwrap()).abs() <= 1.0 / 16.0, "{params:?}[{index}]");
            }
            assert!(entries.windows(2).all(|pair| pair[0].gap() <= pair[1].gap()), "{params:?}");
        }
    }

    #[test]
    fn the_first_delays_of_a_quadratic_table_are_too_short_for_an_entry() {
        let entries = CctParams::default().entries();
        assert_eq!(entries.iter().position(|entry| entry.gap() > 0.0), Some(15));
        assert_eq!(entries[127].gap(), 4.875);
    }

    #[test]
    fn a_linear_table_ends_at_its_maximum_and_a_geometric_one_grows_by_its_ratio() {
        let linear = Linear { max: Time::from_us(84), ..Linear::default() };
        assert!((linear.gap(127) * 2.068 - 84.0).abs() < 1e-9);
        assert!((linear.gap(64) / linear.gap(1) - 64.0).abs() < 1e-9);
        let geometric = Geometric { ratio: 2.0, entries: 128, ..Geometric::default() };
        assert!((geometric.gap(1) * 2.068 - 0.04).abs() < 1e-12);
        assert!((geometric.gap(9) / geometric.gap(1) - 256.0).abs() < 1e-9);
    }

    #[test]
    fn a_delay_beyond_every_entry_is_a_mistake() {
        for (text, problem) in [
            ("[quadratic]\nnumerator = 1e6", "f.toml:2: quadratic.numerator = 1000000.0: makes the delay"),
            ("[linear]\nmax = \"1 s\"", "f.toml:2: linear.max = \"1 s\": makes the delay"),
            ("[geometric]\nratio = 2", "f.toml:2: geometric.ratio = 2: makes the delay"),
            ("[linear]\nentries = 127", "f.toml:2: linear.entries = 127: must be between 128 and 16384"),
            ("[linear]\nentries = 0", "f.toml:2: linear.entries = 0: must be between 128 and 16384"),
            ("[linear]\npacket_time = \"0 s\"", "f.toml:2: linear.packet_time = \"0 s\": must be between 1 ns and 1 s"),
        ] {
            let wrong = read::<CctParams>(text, "f.toml").unwrap_err().to_string();
            assert!(wrong.starts_with(problem), "{wrong}");
        }
    }
}
