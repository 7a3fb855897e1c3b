//! Link-level flow control.

pub(crate) mod credit;
