//! Message-passing programs, that is, the computations, sends and receives of ranks, and their order.
//!
//! # Modules
//!
//! A module imports only modules above it in this list.
//!
//! | module | contents |
//! |---|---|
//! | [`error`] | errors of programs |
//! | [`mistakes`] | mistakes in files |
//! | [`operation`] | operations of ranks |
//! | `regular` | programs whose operations follow from their numbers |
//! | [`program`] | the graph of all operations |
//! | [`builder`] | the construction of programs, and the check for cycles |
//! | `rendezvous` | large messages as requests, replies and data |
//! | [`ways`] | messages over several ports, and through other ranks |
//! | [`matching`] | the matching of messages and receives |
//! | [`rank`] | the execution of one rank |
//! | [`loggops`] | the time of a program without a network, and the check that it ends |
//! | [`collectives`] | collective operations as programs |
//! | [`training`] | training steps as programs |
//! | [`goal`] | GOAL schedules |
//! | [`chakra`] | Chakra execution traces |
//!
//! # Example
//!
//! A rank sends to another rank, which computes after the message has arrived.
//!
//! ```
//! use becalm_engine::Time;
//! use becalm_workload::{Builder, LogGops, When};
//!
//! let mut builder = Builder::new(2);
//! builder.send(0, 1, 1024, 7);
//! let received = builder.recv(1, 0, 1024, 7);
//! let work = builder.calc(1, Time::from_us(10));
//! builder.after(work, received, When::Done);
//! let program = builder.build()?;
//! program.check()?;
//! let ends = LogGops::LOGGOPSIM.ends(&program)?;
//! // The send's overhead o, and then o + L + o + 1023 G and the computation.
//! assert_eq!(ends, [Time::from_ns(1500), Time::from_ns(1500 + 2500 + 1500 + 1023 * 6 + 10_000)]);
//! # Ok::<(), becalm_workload::ProgramError>(())
//! ```

pub mod builder;
pub mod chakra;
pub mod collectives;
pub mod error;
pub mod goal;
pub mod loggops;
pub mod matching;
pub mod mistakes;
pub mod operation;
pub mod program;
pub mod rank;
mod regular;
mod rendezvous;
pub mod training;
pub mod ways;

pub use builder::Builder;
pub use collectives::{Collective, Repetition};
pub use error::{LongCollective, ProgramError, Stuck};
pub use loggops::LogGops;
pub use matching::Arrival;
pub use mistakes::{Mistake, Mistakes};
pub use operation::{Action, Channel, LARGEST_MESSAGE, Op, OpId, Part, When};
pub use program::{Messages, Program, Reading};
pub use rank::{Rank, Span, Surroundings, Turn};
pub use training::{ExpertBytes, Schedule, Training};
pub use ways::{Way, Ways};
