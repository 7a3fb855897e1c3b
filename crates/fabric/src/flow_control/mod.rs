//! Link-level flow control: credits or pauses (PFC).

pub(crate) mod credit;
pub(crate) mod gate;
pub(crate) mod pauses;
