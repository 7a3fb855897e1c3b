//! A response function as a table, as in hardware.
//!
//! # What it does
//! The rate is rmax/(1 + i) with an integer inter-packet delay i. For each delay, a table has a step with the delay
//! after a marked ACK and the delay after a number of consecutive unmarked ACKs.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, end of
//! section V-D: "choosing a finite set of discrete rates and using lookup tables to implement discrete versions of the
//! functions f_inc(r) and f_dec(r)"; and section VI-B.1 for the set of rates.
//!
//! # Parameters
//! - `steps`: the steps for delays 0, 1, ... A marked ACK leads to the delay `slower`, and `acks` consecutive unmarked
//!   ACKs lead to the delay `faster`. `slower` is neither below the step's own delay nor beyond the last step, `faster`
//!   is not above the step's own delay, and `acks` is at least 1. A marked ACK resets the count of unmarked ones.
//! - `rmax`: rate at delay 0.
//! - `initial`: rate of a new flow, between rmax divided by the number of steps and rmax, rounded down to the rate of a
//!   delay.
//! - `window`: limit in packets; 1 in the paper.
//! - `persistent`: whether the rate is kept across a pause of the flow (section VI-B.2).
//!
//! # Departures from the source
//! - The paper does not state how a table counts ACKs. Here each step has its own number of ACKs, after which the
//!   continuous functions reach the faster delay.
//! - A congestion notification packet counts as a marked ACK.
//! - Packets of all sizes count equally.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response};
use becalm_schema::field::refuse;
use becalm_schema::{Conflict, Errors, Field, Node, Value};
use serde_json::json;

use super::discrete::{Position, Step, Table, TableError};
use super::law::SLOWEST;
use super::window::Window;
use crate::scheme::ResponseScheme;

becalm_schema::table! {
    /// A table lists, for each inter-packet delay, the delay after a mark and the delay after a number of unmarked
    /// ACKs.
    pub struct Params {
        /// Steps [slower, acks, faster], starting with the step for delay 0.
        pub steps: Table,
        /// Rate at delay 0.
        pub rmax: f64 = 1.0; "of the link rate"; SLOWEST..=1.0,
        /// Rate of a new flow; `rmax` if it is omitted.
        pub initial: Option<f64> = None; "of the link rate"; SLOWEST..=1.0,
        /// Largest number of unacknowledged packets.
        pub window: Window = Window(1); "packets",
        /// Whether the rate is kept across a pause of the flow; otherwise the flow restarts at `initial`.
        pub persistent: bool = true,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let slowest = self.rmax / self.steps.steps().len() as f64;
        let initial = self.initial.unwrap_or(self.rmax);
        Conflict::unless((slowest * (1.0 - 1e-9)..=self.rmax).contains(&initial), "initial", || {
            format!("must be between {slowest}, the rate of the last step, and rmax = {}", self.rmax)
        })
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Tabulated {
    table: Arc<Table>,
    start: Position,
    position: Position,
    rmax: f64,
    window: Window,
    persistent: bool,
}

impl ResponseScheme for Tabulated {
    type Params = Params;

    fn new(params: &Params) -> Tabulated {
        let Params { ref steps, rmax, initial, window, persistent } = *params;
        let start = steps.position(rmax / initial.unwrap_or(rmax) - 1.0);
        Tabulated { table: Arc::new(steps.clone()), start, position: start, rmax, window, persistent }
    }
}

impl Response for Tabulated {
    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        let rate = self.rmax / (1.0 + f64::from(self.position.index));
        Pace { gap: (1.0 / rate - 1.0).max(0.0), window: self.window.0 }
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.table.acked(&mut self.position, ack.is_marked()),
            Notice::Becn => self.table.acked(&mut self.position, true),
            Notice::Restart if !self.persistent => self.position = self.start,
            Notice::Restart | Notice::Timer => {}
        }
    }
}

impl Field for Table {
    fn expects() -> String {
        format!("a list of 1 to {} steps [slower, acks, faster]", Table::LARGEST)
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Table> {
        let Some(items) = node.items() else { return refuse(node, errors) };
        // Read all steps, so that every error is recorded.
        let steps: Vec<Option<Step>> = items.iter().map(|item| Step::read(item, errors)).collect();
        let steps: Vec<Step> = steps.into_iter().collect::<Option<_>>()?;
        let last = steps.len().saturating_sub(1);
        match Table::new(steps) {
            Ok(table) => return Some(table),
            Err(TableError::Length(length)) => {
                errors.add(node, format!("must be {}, not {length}", Table::expects()), "");
            }
            Err(TableError::Step(index)) => {
                let problem = format!(
                    "slower must be between {index} and {last}, acks at least 1, and faster between 0 and {index}"
                );
                errors.add(&items[index], problem, "");
            }
        }
        None
    }

    fn to_json(&self) -> serde_json::Value {
        self.steps().iter().map(Step::to_json).collect()
    }

    fn json_schema() -> serde_json::Value {
        json!({
            "type": "array",
            "items": Step::json_schema(),
            "minItems": 1,
            "maxItems": Table::LARGEST,
            "examples": [[[1, 1, 0], [1, 2, 0]]],
        })
    }
}

impl Field for Step {
    fn expects() -> String {
        "a triple [slower, acks, faster] of integers, 0 or more".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Step> {
        let triple = match node.items() {
            Some([slower, acks, faster]) => (&slower.value, &acks.value, &faster.value),
            _ => return refuse(node, errors),
        };
        let (&Value::Integer(slower), &Value::Integer(acks), &Value::Integer(faster)) = triple else {
            return refuse(node, errors);
        };
        match (u16::try_from(slower), u32::try_from(acks), u16::try_from(faster)) {
            (Ok(slower), Ok(acks), Ok(faster)) => Some(Step { slower, acks, faster }),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!([self.slower, self.acks, self.faster])
    }

    fn json_schema() -> serde_json::Value {
        let delay = json!({"type": "integer", "minimum": 0, "maximum": Table::LARGEST - 1});
        json!({
            "type": "array",
            "prefixItems": [delay, {"type": "integer", "minimum": 1, "maximum": u32::MAX}, delay],
            "minItems": 3,
            "maxItems": 3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::{Law, RateControl, aimd, fimd, lipd};
    use becalm_schema::{read, read_json};
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Params, Errors> {
        read::<Params>(text, "f.toml")
    }

    /// Whether a law's table behaves like the law with discrete rates.
    fn same<L: Law + Clone>(law: &L, notices: &[Notice]) -> bool {
        let settings = law.settings();
        let params = Params {
            steps: Table::derive(law),
            rmax: settings.rmax,
            initial: Some(settings.initial),
            window: settings.window,
            persistent: settings.persistent,
        };
        let (mut native, mut table) = (RateControl::new(law), Tabulated::new(&params));
        notices.iter().all(|notice| {
            native.notice(Time::ZERO, notice);
            table.notice(Time::ZERO, notice);
            native.pace() == table.pace()
        })
    }

    proptest! {
        #[test]
        fn a_law_s_table_does_what_the_law_does(marks in prop::collection::vec(0..12_u8, 1..2000)) {
            let notices: Vec<Notice> = marks
                .into_iter()
                .map(|mark| match mark {
                    0 => Notice::Restart,
                    1 => Notice::Becn,
                    _ => Notice::ack(mark == 2),
                })
                .collect();
            let lipd = lipd::Params { discrete: true, ..lipd::Params::default() };
            let brief = lipd::Params { persistent: false, initial: Some(0.3), rmax: 0.5, ..lipd.clone() };
            prop_assert!(same(&lipd, &notices) && same(&brief, &notices), "lipd");
            let (fimd, aimd) = (fimd::Params::default(), aimd::Params::default());
            prop_assert!(same(&fimd::Params { discrete: true, ..fimd }, &notices), "fimd");
            prop_assert!(same(&aimd::Params { discrete: true, ..aimd }, &notices), "aimd");
        }
    }

    #[test]
    fn steps_are_followed() {
        let params = parsed("steps = [[2, 1, 0], [2, 1, 0], [2, 3, 1]]").unwrap();
        assert_eq!(read_json::<Params>(&params.to_json(), "").unwrap(), params);
        let mut flow = Tabulated::new(&params);
        for (marked, gap) in [(true, 2.0), (false, 2.0), (false, 2.0), (false, 1.0), (false, 0.0), (false, 0.0)] {
            flow.notice(Time::ZERO, &Notice::ack(marked));
            assert_eq!(flow.pace(), Pace { gap, window: 1 });
        }
    }

    #[test]
    fn steps_that_lead_astray_are_reported_with_their_place() {
        for (text, message) in [
            ("steps = []", "f.toml:1: steps = []: must be a list of 1 to 256 steps [slower, acks, faster], not 0"),
            ("steps = [[1, 1, 0]]", "f.toml:1: steps[0] = [1, 1, 0]: slower must be between 0 and 0, acks at"),
            ("steps = [[0, 0, 0]]", "f.toml:1: steps[0] = [0, 0, 0]: slower must be between 0 and 0, acks at"),
            ("steps = [[1, 1, 0], [0, 1, 0]]", "f.toml:1: steps[1] = [0, 1, 0]: slower must be between 1 and 1"),
            ("steps = [[0, 1]]", "f.toml:1: steps[0] = [0, 1]: must be a triple [slower, acks, faster]"),
            ("steps = [[0, -1, 0]]", "f.toml:1: steps[0] = [0, -1, 0]: must be a triple [slower, acks, faster]"),
            ("steps = 3", "f.toml:1: steps = 3: must be a list of 1 to 256 steps"),
            ("steps = [[0, 1, 0]]\ninitial = 0.5", "f.toml:2: initial = 0.5: must be between 1, the rate of the last"),
        ] {
            let wrong = parsed(text).unwrap_err().to_string();
            assert!(wrong.starts_with(message), "{wrong}");
        }
    }
}
