//! Link-level flow control: credit, or pauses (PFC).

pub(crate) mod credit;
pub(crate) mod gate;
pub(crate) mod pauses;
