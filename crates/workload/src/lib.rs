//! Message-passing programs: what ranks compute, send and receive, and in which order.
//!
//! # Rooms
//!
//! Imports run one way: a room uses only rooms above it in this list.
//!
//! | room | contents |
//! |---|---|
//! | [`error`] | errors of programs |
//! | [`mistakes`] | mistakes of files |
//! | [`program`] | operations and their graph |
//! | [`builder`] | the construction of programs, and the check for cycles |
//! | `rendezvous` | large messages as requests, clearances and data |
//! | [`matching`] | which message goes to which receive |
//! | [`rank`] | the execution of one rank, by whatever surrounds it |
//! | [`loggops`] | the time of a program without a network, and whether it ends |
//! | [`collectives`] | collective operations as programs |
//! | [`goal`] | schedules in files of GOAL text |
//! | [`chakra`] | execution traces in files of Chakra |
//!
//! # Example
//!
//! A rank sends to another, which computes when the message has come.
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
pub mod program;
pub mod rank;
mod rendezvous;

pub use builder::Builder;
pub use collectives::{Collective, Repetition};
pub use error::{ProgramError, Stuck};
pub use loggops::LogGops;
pub use matching::Arrival;
pub use mistakes::{Mistake, Mistakes};
pub use program::{Action, Op, OpId, Part, Program, Reading, When};
pub use rank::{Rank, Span, Surroundings, Turn};
