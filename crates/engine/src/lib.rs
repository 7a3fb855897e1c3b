//! The engine: simulated time, the event queue, the run loop and random streams. It is independent of networks.
//!
//! The order of events depends only on their times and keys, never on the order in which they were scheduled. A result
//! therefore does not depend on how entities are laid out in memory or spread over threads.
//!
//! # Modules
//!
//! Imports are one-way: a module uses only modules above it in this list.
//!
//! | module | contents |
//! |---|---|
//! | [`time`] | time in integer picoseconds |
//! | [`random`] | independent random streams, one per (seed, entity, purpose), and the hash behind them |
//! | [`order`] | sorting outside the event loop |
//! | [`key`] | pending events and their rank: (time, [`Key`]) |
//! | [`ticket`] | tickets for pending events: a large event is stored separately while its ticket is sorted |
//! | [`queue`] | the queue of pending events |
//! | `windows`, `sorting`, `line`, `inboxes` | pending events in groups: an inbox for each group and window of time |
//! | [`run`] | the run loop: a [`Model`] handles events until a time, until none is left, or up to a number of events |
//! | `meeting`, `choice` | a barrier for threads, and the choice between one thread and several |
//! | [`parts`] | one model on several threads |
//!
//! # Example
//!
//! ```
//! use becalm_engine::{Agenda, Key, Model, Simulator, Stop, Time};
//!
//! /// Rings every 10 us, three times.
//! struct Bell {
//!     rings: Vec<Time>,
//! }
//!
//! impl Model for Bell {
//!     type Event = ();
//!
//!     fn handle(&mut self, now: Time, key: Key, (): &(), agenda: &mut Agenda<()>) {
//!         self.rings.push(now);
//!         if self.rings.len() < 3 {
//!             agenda.at(now + Time::from_us(10), key, ());
//!         }
//!     }
//! }
//!
//! let mut simulator = Simulator::new(Bell { rings: Vec::new() });
//! simulator.agenda.at(Time::from_us(5), Key::new(0, 0, 0, 0), ());
//! assert_eq!(simulator.run_until(Time::from_us(20)), Stop::Time);
//! assert_eq!(simulator.model.rings, [Time::from_us(5), Time::from_us(15)]);
//! assert_eq!(simulator.run_until_idle(), Stop::Idle);
//! assert_eq!(simulator.now(), Time::from_us(25));
//! ```

mod choice;
mod inboxes;
pub mod key;
mod line;
mod meeting;
pub mod order;
pub mod parts;
pub mod queue;
pub mod random;
pub mod run;
mod sorting;
pub mod ticket;
pub mod time;
mod windows;

pub use key::{Entry, Key};
pub use parts::{Part, Parts, Work};
pub use queue::Queue;
pub use random::{Stream, mix};
pub use run::{Agenda, Model, Simulator, Stop};
pub use ticket::Compact;
pub use time::Time;
