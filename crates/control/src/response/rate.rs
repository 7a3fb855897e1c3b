//! The response of a flow that follows a law.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response};
use becalm_schema::Field;

use super::discrete::{Position, Table};
use super::law::{Law, Settings};
use crate::scheme::ResponseScheme;

/// The response of a flow that follows a law.
#[derive(Clone, Debug)]
pub struct RateControl<L> {
    /// The law and its settings, shared with clones.
    law: Arc<(L, Settings)>,
    rate: Rate,
}

#[derive(Clone, Debug)]
enum Rate {
    Continuous(f64),
    Discrete { table: Arc<Table>, position: Position },
}

impl<L: Law + Clone> RateControl<L> {
    /// A response for one flow, at its initial rate. Discrete rates are derived here, so it is faster to clone the
    /// response than to create many.
    pub fn new(law: &L) -> RateControl<L> {
        let settings = law.settings();
        let rate = match settings.discrete {
            false => Rate::Continuous(settings.initial),
            true => {
                let table = Arc::new(Table::derive(law));
                Rate::Discrete { position: first(&table, &settings), table }
            }
        };
        RateControl { law: Arc::new((law.clone(), settings)), rate }
    }

    fn settings(&self) -> &Settings {
        &self.law.1
    }

    /// The rate, as a share of the link rate.
    pub fn rate(&self) -> f64 {
        match &self.rate {
            Rate::Continuous(rate) => *rate,
            Rate::Discrete { position, .. } => self.settings().rmax / (1.0 + f64::from(position.index)),
        }
    }

    fn acked(&mut self, marked: bool) {
        let (law, Settings { rmin, rmax, .. }) = &*self.law;
        match &mut self.rate {
            Rate::Continuous(rate) if marked => *rate = law.decrease(*rate).max(*rmin),
            Rate::Continuous(rate) => *rate = law.increase(*rate).min(*rmax),
            Rate::Discrete { table, position } => table.acked(position, marked),
        }
    }

    fn restart(&mut self) {
        let settings = *self.settings();
        match &mut self.rate {
            Rate::Continuous(rate) => *rate = settings.initial,
            Rate::Discrete { table, position } => *position = first(table, &settings),
        }
    }
}

/// The position of a new flow.
fn first(table: &Table, settings: &Settings) -> Position {
    table.position(settings.rounding.of(settings.rmax / settings.initial - 1.0) as f64)
}

impl<L: Law + Clone> Response for RateControl<L> {
    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        Pace { gap: (1.0 / self.rate() - 1.0).max(0.0), window: self.settings().window.0 }
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acked(ack.is_marked()),
            Notice::Becn => self.acked(true),
            Notice::Restart if !self.settings().persistent => self.restart(),
            Notice::Restart | Notice::Timer => {}
        }
    }
}

impl<L: Law + Clone + Field> ResponseScheme for RateControl<L> {
    type Params = L;

    fn new(params: &L) -> RateControl<L> {
        RateControl::new(params)
    }
}
