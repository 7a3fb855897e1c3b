//! An echo that returns marks in ACKs.
//!
//! # What it does
//! Every data packet is acknowledged separately, and the ACK carries the mark back to the source.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section IV:
//! "The destination returns the ECN value in the acknowledgment packet".
//!
//! # Parameters
//! None.
//!
//! # Departures from the source
//! None.

use crate::scheme::EchoScheme;
use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};

becalm_schema::table! {
    /// Every packet is acknowledged, and the ACK carries its mark back.
    pub struct Params {}
}

/// The echo.
#[derive(Clone, Debug)]
pub struct AckEcho;

impl EchoScheme for AckEcho {
    type Params = Params;

    fn new(_: &Params) -> AckEcho {
        AckEcho
    }

    fn takes_trains(_: &Params) -> bool {
        true
    }
}

impl Echo for AckEcho {
    fn answer(&mut self, _: Time, _: &Packet, unanswered: &Unanswered) -> Answer {
        Answer::ack(unanswered.marked)
    }
}
