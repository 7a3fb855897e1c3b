//! A fixed rate.
//!
//! # What it does
//! The flow keeps a manually set rate and window and ignores marks.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section
//! IV-B (Fig. 3 (d)): "the rate limit for each flow is set manually to the optimal value".
//!
//! # Parameters
//! - `rate`: share of the link's rate.
//! - `window`: limit in packets, or `"unlimited"`.
//!
//! # Departures from the source
//! None.

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response};

use super::window::Window;
use crate::scheme::{Companions, MarkingFor, ResponseScheme};

becalm_schema::table! {
    /// The flow keeps a manually set rate.
    pub struct Params {
        /// The rate.
        pub rate: f64; "of the link rate"; 1e-6..=1.0,
        /// Largest number of unacknowledged packets.
        pub window: Window = Window(1); "packets",
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Fixed {
    pace: Pace,
}

impl ResponseScheme for Fixed {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Any, echo: "ack" })
    }

    fn new(params: &Params) -> Fixed {
        Fixed { pace: Pace { gap: 1.0 / params.rate - 1.0, window: params.window.0 } }
    }
}

impl Response for Fixed {
    fn is_steady(&self) -> bool {
        true
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    fn notice(&mut self, _: Time, _: &Notice) {}
}
