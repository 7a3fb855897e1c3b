//! Rate control with a finite set of rates, as in hardware: a table of inter-packet delays.
//!
//! The rate of index `i` is rmax / (1 + i). A marked ACK leads to a slower index at once; a given number of consecutive
//! unmarked ACKs leads to a faster one. Santos 2003, end of section V: "a finite set of discrete rates and using lookup
//! tables".

use std::fmt;

use super::law::{Law, MOST_DELAYS, Rounding, Settings};

/// Tolerance for delays that are integers except for rounding errors.
const SLACK: f64 = 1e-9;

impl Rounding {
    /// The integer delay that replaces `delay`.
    pub(super) fn of(self, delay: f64) -> usize {
        match self {
            Rounding::Slower => delay_above(delay),
            Rounding::Nearest => delay.round().max(0.0) as usize,
        }
    }
}

/// The step at one inter-packet delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The index after a marked ACK; not below the step's index.
    pub slower: u16,
    /// Number of consecutive unmarked ACKs that lead to `faster`; at least 1.
    pub acks: u32,
    /// The index after those ACKs; not above the step's index.
    pub faster: u16,
}

/// A response function as a table, with one step for each inter-packet delay 0, 1, 2, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    steps: Vec<Step>,
}

/// The reason why a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The table has no steps, or more than [`Table::LARGEST`].
    Length(usize),
    /// The step at this index leads out of the table or in the wrong direction, or requires no ACKs.
    Step(usize),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Length(length) => write!(f, "has {length} steps, not 1 to {}", Table::LARGEST),
            TableError::Step(index) => write!(
                f,
                "step {index}: slower must be between {index} and the last index, acks at least 1, and faster \
                 between 0 and {index}"
            ),
        }
    }
}

impl std::error::Error for TableError {}

/// The position of a flow in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The flow's inter-packet delay, in units of a packet's transmission time at rmax.
    pub index: u16,
    /// Number of unmarked ACKs since the flow reached this index.
    pub acks: u32,
}

impl Table {
    /// Largest number of steps in a table.
    pub const LARGEST: usize = MOST_DELAYS;

    /// A table from its steps.
    ///
    /// If there are too few or too many steps, or a step leads out of the table or in the wrong direction.
    pub fn new(steps: Vec<Step>) -> Result<Table, TableError> {
        if steps.is_empty() || steps.len() > Table::LARGEST {
            return Err(TableError::Length(steps.len()));
        }
        let fits = |(index, step): (usize, &Step)| {
            let slower = index..steps.len();
            slower.contains(&usize::from(step.slower)) && usize::from(step.faster) <= index && step.acks >= 1
        };
        match steps.iter().enumerate().position(|(index, step)| !fits((index, step))) {
            Some(index) => Err(TableError::Step(index)),
            None => Ok(Table { steps }),
        }
    }

    /// The table closest to a continuous law, with the delays from rmax down to rmin, at most [`Table::LARGEST`].
    pub fn derive(law: &(impl Law + ?Sized)) -> Table {
        let settings = law.settings();
        let slowest = (settings.rmax / settings.rmin + SLACK) as usize;
        let last = slowest.clamp(1, Table::LARGEST) - 1;
        Table { steps: (0..=last).map(|index| step(law, &settings, index, last)).collect() }
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The position of a flow that starts with this inter-packet delay, rounded up.
    pub fn position(&self, delay: f64) -> Position {
        Position { index: delay_above(delay).min(self.steps.len() - 1) as u16, acks: 0 }
    }

    /// Handles an ACK. A marked one resets the count of unmarked ones.
    pub fn acked(&self, position: &mut Position, marked: bool) {
        let step = self.steps[usize::from(position.index)];
        if marked {
            *position = Position { index: step.slower, acks: 0 };
            return;
        }
        position.acks += 1;
        if position.acks >= step.acks {
            *position = Position { index: step.faster, acks: 0 };
        }
    }
}

/// The step of one index: the number of unmarked ACKs after which the law has gained at least one index, and the law's
/// rate at that time.
fn step(law: &(impl Law + ?Sized), settings: &Settings, index: usize, last: usize) -> Step {
    let Settings { rmax, rounding, .. } = *settings;
    let start = rmax / (1.0 + index as f64);
    // A mark adds at least one delay.
    let slower = rounding.of(rmax / law.decrease(start) - 1.0).clamp((index + 1).min(last), last) as u16;
    if index == 0 {
        return Step { slower, acks: 1, faster: 0 };
    }
    let (acks, rate) = match rounding {
        Rounding::Slower => gained(law, start, rmax, rmax / index as f64),
        Rounding::Nearest => crossed(law, rmax, index as f64),
    };
    Step { slower, acks, faster: rounding.of(rmax / rate - 1.0).min(index - 1) as u16 }
}

/// The number of unmarked ACKs in which the law grows from `rate` to `goal`, and its rate after them.
fn gained(law: &(impl Law + ?Sized), mut rate: f64, rmax: f64, goal: f64) -> (u32, f64) {
    let mut acks = 0;
    while rate < goal * (1.0 - SLACK) {
        rate = law.increase(rate).min(rmax);
        acks += 1;
    }
    (acks, rate)
}

/// The number of ACKs closest to the time that the law needs from half a delay above `delay` to half a delay below it,
/// and the law's rate after these ACKs.
///
/// The steps of an unmarked increase thus add up to the law's time.
fn crossed(law: &(impl Law + ?Sized), rmax: f64, delay: f64) -> (u32, f64) {
    let [slow, fast] = [0.5, -0.5].map(|half| rmax / (1.0 + delay + half));
    let period = (1.0 + delay) / rmax;
    let acks = (law.growth_time(slow, fast) / period).round().max(1.0);
    let time = acks * period;
    (acks as u32, if time < law.growth_time(slow, rmax) { law.grown(slow, time) } else { rmax })
}

/// The shortest integer delay that is not shorter than `delay`.
fn delay_above(delay: f64) -> usize {
    (delay - SLACK * (1.0 + delay)).ceil().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::{aimd, fimd, lipd};

    fn laws() -> Vec<Box<dyn Law>> {
        let each = |rounding| -> [Box<dyn Law>; 3] {
            [
                Box::new(lipd::Params { rounding, ..lipd::Params::default() }),
                Box::new(fimd::Params { rounding, ..fimd::Params::default() }),
                Box::new(aimd::Params { rounding, ..aimd::Params::default() }),
            ]
        };
        [Rounding::Slower, Rounding::Nearest].into_iter().flat_map(each).collect()
    }

    #[test]
    fn holds_256_delays_and_is_valid() {
        for law in laws() {
            let table = Table::derive(law.as_ref());
            assert_eq!(table.steps().len(), 256);
            assert_eq!(Table::new(table.steps().to_vec()), Ok(table));
        }
    }

    #[test]
    fn lipd_steps_down_one_delay_and_fimd_doubles_the_period() {
        let lipd = Table::derive(&lipd::Params::default());
        let fimd = Table::derive(&fimd::Params::default());
        for index in 0..256_u16 {
            assert_eq!(lipd.steps()[usize::from(index)].slower, (index + 1).min(255));
            assert_eq!(fimd.steps()[usize::from(index)].slower, (2 * index + 1).min(255));
        }
        assert_eq!(fimd.steps()[255], Step { slower: 255, acks: 1, faster: 127 });
        assert_eq!(lipd.steps()[255], Step { slower: 255, acks: 1, faster: 254 });
    }

    #[test]
    fn climbs_from_the_slowest_to_the_fastest_in_the_time_of_the_law() {
        for law in laws() {
            let table = Table::derive(law.as_ref());
            let (mut position, mut time) = (table.position(255.0), 0.0);
            while position.index > 0 {
                time += 1.0 + f64::from(position.index);
                table.acked(&mut position, false);
            }
            let Settings { rmin, rmax, rounding, .. } = law.settings();
            // Each index waits for an integer number of ACKs, so the table is the slower of the two, unless it rounds.
            let (goal, near) = match rounding {
                Rounding::Slower => (rmax, 1.0..1.35),
                Rounding::Nearest => (rmax / 1.5, 0.9..1.1),
            };
            let ratio = time / law.growth_time(rmin, goal);
            assert!(near.contains(&ratio), "{rounding:?}: {ratio}");
        }
    }

    #[test]
    fn the_nearest_delay_is_kept_between_half_a_delay_on_either_side() {
        let law = aimd::Params { rounding: Rounding::Nearest, ..aimd::Params::default() };
        let table = Table::derive(&law);
        for index in [1_u16, 4, 30] {
            let delay = f64::from(index);
            let time = law.growth_time(1.0 / (delay + 1.5), 1.0 / (delay + 0.5));
            // Each ACK takes one packet time plus the delay.
            let waited = f64::from(table.steps()[usize::from(index)].acks) * (1.0 + delay);
            assert!((waited / time - 1.0).abs() < 0.1, "{index}: {waited} for {time}");
        }
        // A decrease by less than half a delay is still a decrease.
        let gentle = Table::derive(&aimd::Params { m: 1.01, ..law });
        assert_eq!(gentle.steps()[3].slower, 4);
        assert_eq!((Rounding::Nearest.of(2.4), Rounding::Nearest.of(2.6), Rounding::Slower.of(2.4)), (2, 3, 3));
    }

    #[test]
    fn a_mark_forgets_the_acks_before_it() {
        let table =
            Table::new(vec![Step { slower: 1, acks: 1, faster: 0 }, Step { slower: 1, acks: 2, faster: 0 }]).unwrap();
        let mut position = table.position(0.3);
        assert_eq!(position.index, 1);
        for marked in [false, true, false] {
            table.acked(&mut position, marked);
        }
        assert_eq!(position, Position { index: 1, acks: 1 });
        table.acked(&mut position, false);
        assert_eq!(position, Position { index: 0, acks: 0 });
    }

    #[test]
    fn refuses_tables_that_lead_astray() {
        let fine = Step { slower: 0, acks: 1, faster: 0 };
        assert_eq!(Table::new(vec![]), Err(TableError::Length(0)));
        assert_eq!(Table::new(vec![fine; 257]), Err(TableError::Length(257)));
        assert_eq!(Table::new(vec![Step { slower: 1, ..fine }]), Err(TableError::Step(0)));
        assert_eq!(Table::new(vec![Step { acks: 0, ..fine }]), Err(TableError::Step(0)));
        assert_eq!(Table::new(vec![fine, fine]), Err(TableError::Step(1)));
    }
}
