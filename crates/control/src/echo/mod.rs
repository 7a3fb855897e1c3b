//! How a destination answers the packets that reach it.

pub mod ack;
pub mod ibta;
