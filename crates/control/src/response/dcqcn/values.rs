//! The parameters of DCQCN: presets, and keys that set other values.

use becalm_engine::Time;

use crate::cnps::CnpLimit;
use crate::response::window::Window;

becalm_schema::words! {
    /// Source of values for omitted keys.
    pub enum Preset {
        /// The values of the paper.
        Paper = "paper",
        /// The defaults of ConnectX adapters.
        ConnectX = "connectx",
    }
}

const SHORTEST: Time = Time::from_ns(100);
const LONGEST: Time = Time::from_ms(1000);

becalm_schema::table! {
    /// Congestion notification packets cut the rate; a timer and a byte counter raise it again.
    pub struct Params {
        /// Source of values for all omitted keys, and for those of `[echo.rocev2]`.
        pub preset: Preset = Preset::Paper,
        /// Weight of a CNP in alpha.
        pub g: Option<f64> = None; ""; 1e-6..=1.0,
        /// Alpha at the first CNP of a flow.
        pub initial_alpha: Option<f64> = None; ""; 0.0..=1.0,
        /// Time without a CNP after which alpha falls.
        pub alpha_timer: Option<Time> = None; ""; SHORTEST..=LONGEST,
        /// Minimum time between two cuts of the rate.
        pub cut_interval: Option<Time> = None; ""; Time::ZERO..=LONGEST,
        /// Whether alpha changes and cuts are made at the ends of periods that are counted from the first CNP. Alpha
        /// changes at the end of each period of `alpha_timer`, and rises if a CNP arrived in that period. Cuts happen
        /// at the ends of `cut_interval`s.
        pub periodic: Option<bool> = None,
        /// A cut multiplies the rate by 1 - alpha / `decrease_divisor`.
        pub decrease_divisor: Option<f64> = None; ""; 1.0..=1024.0,
        /// Rate to which the first CNP immediately sets the flow; if it is omitted, the first CNP sets no rate.
        pub rate_on_first_cnp: Option<f64> = None; "Mb/s"; 1e-3..=1e7,
        /// Minimum ratio of the rate after a cut to the rate before it.
        pub min_decrease_factor: Option<f64> = None; ""; 0.0..=1.0,
        /// Whether every cut sets the target to the rate before the cut.
        pub clamp_target: Option<bool> = None,
        /// Without `clamp_target`: whether the next cut sets the target after an increase by the timer, not only after
        /// an increase by the byte counter.
        pub clamp_after_timer: Option<bool> = None,
        /// Duration of a stage of the timer.
        pub increase_timer: Option<Time> = None; ""; SHORTEST..=LONGEST,
        /// Bytes sent in a stage of the byte counter; 0 to disable the counter, so only the timer's stages count.
        pub byte_counter: Option<u32> = None; "B"; 0..=4_000_000_000,
        /// Stages before the target grows.
        pub fast_recovery: Option<u32> = None; "stages"; 1..=1000,
        /// Growth of the target in a stage after fast recovery.
        pub additive_increase: Option<f64> = None; "Mb/s"; 1e-3..=1e6,
        /// Growth of the target in a stage once both stages are above `fast_recovery`.
        pub hyper_increase: Option<f64> = None; "Mb/s"; 1e-3..=1e6,
        /// Minimum rate of a flow.
        pub min_rate: Option<f64> = None; "Mb/s"; 1e-3..=1e6,
        /// Maximum rate of a flow; its link rate if omitted.
        pub max_rate: Option<f64> = None; "Mb/s"; 1e-3..=1e7,
        /// Largest number of unacknowledged packets.
        pub window: Window = Window::UNLIMITED; "packets",
    }
}

/// The values in effect, from keys and preset.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Weight of a CNP in alpha.
    pub g: f64,
    /// Alpha at the first CNP.
    pub initial_alpha: f64,
    /// Time without a CNP after which alpha falls.
    pub alpha_timer: Time,
    /// Minimum time between two cuts.
    pub cut_interval: Time,
    /// Whether alpha changes and cuts happen at the ends of periods.
    pub periodic: bool,
    /// Divisor of alpha: a cut multiplies the rate by 1 - alpha / `decrease_divisor`.
    pub decrease_divisor: f64,
    /// The rate in Mb/s that the first CNP sets.
    pub rate_on_first_cnp: Option<f64>,
    /// Minimum ratio of the rate after a cut to the rate before it.
    pub min_decrease_factor: f64,
    /// Whether every cut sets the target.
    pub clamp_target: bool,
    /// Whether a cut sets the target after an increase by the timer.
    pub clamp_after_timer: bool,
    /// Duration of a stage of the timer.
    pub increase_timer: Time,
    /// Bytes of a stage of the byte counter; 0 for no counter.
    pub byte_counter: u64,
    /// Stages before the target grows.
    pub fast_recovery: u32,
    /// Growth of the target in Mb/s; `None` for `additive_share`.
    pub additive_increase: Option<f64>,
    /// Growth of the target as a share of the link rate.
    pub additive_share: f64,
    /// Growth after that in Mb/s; `None` for ten times the additive one.
    pub hyper_increase: Option<f64>,
    /// Minimum rate in Mb/s.
    pub min_rate: f64,
    /// Maximum rate in Mb/s; `None` for the link rate.
    pub max_rate: Option<f64>,
}

impl Preset {
    /// The limit on CNPs at the destination.
    pub fn cnp_limit(self) -> CnpLimit {
        match self {
            Preset::Paper => CnpLimit::PAPER,
            Preset::ConnectX => CnpLimit::CONNECTX,
        }
    }

    /// The values of a preset.
    pub fn values(self) -> Values {
        let paper = Values {
            g: 1.0 / 256.0,
            initial_alpha: 1.0,
            alpha_timer: Time::from_us(55),
            cut_interval: Time::ZERO,
            periodic: false,
            decrease_divisor: 2.0,
            rate_on_first_cnp: None,
            min_decrease_factor: 0.5,
            clamp_target: true,
            clamp_after_timer: true,
            increase_timer: Time::from_us(55),
            byte_counter: 10_000_000,
            fast_recovery: 5,
            additive_increase: None,
            additive_share: 1e-3,
            hyper_increase: None,
            min_rate: 100.0,
            max_rate: None,
        };
        match self {
            Preset::Paper => paper,
            Preset::ConnectX => Values {
                g: 5.0 / 1024.0,
                initial_alpha: 1023.0 / 1024.0,
                alpha_timer: Time::from_us(1),
                cut_interval: Time::from_us(4),
                periodic: true,
                clamp_target: false,
                increase_timer: Time::from_us(300),
                byte_counter: 32_767,
                fast_recovery: 1,
                additive_increase: Some(5.0),
                hyper_increase: Some(50.0),
                min_rate: 1.0,
                ..paper
            },
        }
    }
}

impl Params {
    /// The values in effect.
    pub fn values(&self) -> Values {
        let preset = self.preset.values();
        Values {
            g: self.g.unwrap_or(preset.g),
            initial_alpha: self.initial_alpha.unwrap_or(preset.initial_alpha),
            alpha_timer: self.alpha_timer.unwrap_or(preset.alpha_timer),
            cut_interval: self.cut_interval.unwrap_or(preset.cut_interval),
            periodic: self.periodic.unwrap_or(preset.periodic),
            decrease_divisor: self.decrease_divisor.unwrap_or(preset.decrease_divisor),
            rate_on_first_cnp: self.rate_on_first_cnp.or(preset.rate_on_first_cnp),
            min_decrease_factor: self.min_decrease_factor.unwrap_or(preset.min_decrease_factor),
            clamp_target: self.clamp_target.unwrap_or(preset.clamp_target),
            clamp_after_timer: self.clamp_after_timer.unwrap_or(preset.clamp_after_timer),
            increase_timer: self.increase_timer.unwrap_or(preset.increase_timer),
            byte_counter: self.byte_counter.map_or(preset.byte_counter, u64::from),
            fast_recovery: self.fast_recovery.unwrap_or(preset.fast_recovery),
            additive_increase: self.additive_increase.or(preset.additive_increase),
            additive_share: preset.additive_share,
            hyper_increase: self.hyper_increase.or(preset.hyper_increase),
            min_rate: self.min_rate.unwrap_or(preset.min_rate),
            max_rate: self.max_rate.or(preset.max_rate),
        }
    }
}
