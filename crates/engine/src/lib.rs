//! The engine: simulated time, the event queue, the run loop and random streams.
//!
//! It knows no networks. From the ground up:
//!
//! - [`time`]: integer picoseconds.
//! - [`random`]: independent streams, one per (seed, entity, purpose), and the hash behind them.
//! - [`queue`]: pending events in the order (time, [`Key`]).
//! - [`run`]: a [`Model`] handles events until a time, until nothing is left, or for so many events.
//! - [`parts`]: one model on several threads.
//!
//! The order of events never depends on when they were inserted, only on what they are. A result
//! therefore does not depend on how entities are laid out in memory or spread over threads.

pub mod key;
pub mod parts;
pub mod queue;
pub mod random;
pub mod run;
pub mod time;

pub use key::{Entry, Key};
pub use parts::{Part, Parts, Work};
pub use queue::Queue;
pub use random::{Stream, mix};
pub use run::{Agenda, Model, Simulator, Stop};
pub use time::Time;
