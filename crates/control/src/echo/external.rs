//! A user-defined echo, in Python, C or another language.
//!
//! # What it does
//! It runs the user's code: `becalm run scenario.toml --echo mine.py:Mine`.
//!
//! # Source
//! The user's code.
//!
//! # Parameters
//! - `name`: the name that the code declares.
//! - `parameters`: the keys that the code declares, each with its kind, range and default. A key named `ack_every` sets
//!   the largest number of packets that one ACK covers.
//! - `sha256`: checksum of the scheme's file, reported in results. A scheme whose file has changed is rejected.
//!
//! # Departures from the source
//! None. The run ends with a message after an exception, or if an ACK reports more marks than the number of packets
//! that it covers.

use becalm_engine::Time;
use becalm_external::parameters::Value;
use becalm_external::{Faults, RunningEcho};
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};

pub use becalm_external::Params;

use crate::scheme::EchoScheme;

/// The echo. Its state is boxed, since each entry of a list of schemes is as large as the largest scheme.
#[derive(Clone, Debug)]
pub struct External(Box<RunningEcho>);

impl External {
    /// Sets where the echo reports its failures.
    pub fn watched_by(&mut self, faults: Faults) {
        self.0.watched_by(faults);
    }
}

impl EchoScheme for External {
    type Params = Params;

    fn new(params: &Params) -> External {
        External(Box::new(RunningEcho::new(params)))
    }

    fn ack_every(params: &Params) -> Option<u32> {
        if let Some((_, Value::Integer(every))) = params.parameter("ack_every") {
            return Some(every.clamp(1, i64::from(u32::MAX)) as u32);
        }
        let declared = params.linked().map_or(1, |linked| linked.scheme.properties().ack_every);
        Some(declared).filter(|&every| every > 0)
    }
}

impl Echo for External {
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        self.0.answer(now, packet, unanswered)
    }
}
