//! No response.
//!
//! # What it does
//! The flow sends at the link rate, unless a window limits it, and ignores marks.
//!
//! # Source
//! The runs without congestion control in J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for
//! InfiniBand", INFOCOM 2003, section III (Fig. 2), and section IV-B (Fig. 3 (b) and (c), window of one packet).
//!
//! # Parameters
//! - `window`: limit in packets, or `"unlimited"`.
//!
//! # Departures from the source
//! None.

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response};

use super::window::Window;
use crate::scheme::{Companions, ResponseScheme};

becalm_schema::table! {
    /// The flow sends at the link rate.
    pub struct Params {
        /// Largest number of unacknowledged packets.
        pub window: Window = Window::UNLIMITED; "packets",
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Unlimited {
    window: Window,
}

impl ResponseScheme for Unlimited {
    type Params = Params;

    fn companions() -> Option<Companions> {
        None
    }

    fn new(params: &Params) -> Unlimited {
        Unlimited { window: params.window }
    }
}

impl Response for Unlimited {
    fn is_steady(&self) -> bool {
        true
    }

    fn pace(&self) -> Pace {
        Pace { gap: 0.0, window: self.window.0 }
    }

    fn notice(&mut self, _: Time, _: &Notice) {}
}
