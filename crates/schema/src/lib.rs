//! Typed tables read from TOML: one declaration serves parsing, ranges, defaults, documentation and JSON Schema.
//!
//! A tour, from the ground up:
//!
//! - [`node`]: a value that knows its key and its line, and a document of such values; [`mod@parse`] makes it from TOML.
//! - [`errors`]: all errors in a document, with lines.
//! - [`field`]: types of values: numbers, words, lists, and [`mod@quantity`]: numbers with a unit.
//! - [`table!`]: a struct whose fields have help, unit, range and default.
//! - [`choice!`]: a table with exactly one sub-table, whose name is the choice; [`words!`]: a choice of bare words.
//! - [`located`]: fields with their places, for errors found after reading.
//! - [`names`]: ranges of numbered names.
//!
//! ```
//! becalm_schema::table! {
//!     /// How a queue behaves.
//!     pub struct Queue {
//!         /// Packets that it holds.
//!         pub room: u32 = 4; "packets"; 1..=64,
//!         /// Least time that a packet spends in it.
//!         pub delay: becalm_engine::Time,
//!     }
//! }
//!
//! let queue: Queue = becalm_schema::read("delay = \"40 ns\"", "queue.toml").unwrap();
//! assert_eq!(queue.room, 4);
//!
//! let errors = becalm_schema::read::<Queue>("rom = 3\ndelay = 40", "queue.toml").unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "queue.toml:1: rom = 3: unknown key, did you mean `room`?; valid: room, delay\n\
//!      queue.toml:2: delay = 40: must be a time with its unit, such as \"40 ns\" or \"2 ms\""
//! );
//! ```

pub mod choice;
pub mod conflict;
pub mod errors;
pub mod field;
pub mod located;
pub mod names;
pub mod node;
pub mod parse;
pub mod quantity;
pub mod range;
mod review;
mod suggest;
pub mod table;
pub mod words;

pub use choice::{Choice, OptionDoc};
pub use conflict::Conflict;
pub use errors::{Error, Errors, Origin};
pub use field::Field;
pub use located::{Located, Place};
pub use node::{Node, Value};
pub use parse::parse;
pub use quantity::{bytes, quantity, seconds};
pub use range::Ranged;
pub use review::Review;
#[doc(hidden)]
pub use serde_json;
pub use suggest::did_you_mean;
pub use table::{FieldDoc, Table};

/// Reads a whole TOML text as one table.
///
/// # Errors
/// All errors of the text, in the order of their lines; `file` is its name in messages.
pub fn read<T: Field>(text: &str, file: &str) -> Result<T, Errors> {
    let mut errors = Errors::new(file);
    let value = parse(text, &mut errors).and_then(|root| T::read(&root, &mut errors));
    errors.settle(value)
}

/// Reads a table from JSON, as [`Field::to_json`] wrote it.
///
/// # Errors
/// All errors; they carry keys but no lines.
pub fn read_json<T: Field>(json: &serde_json::Value, file: &str) -> Result<T, Errors> {
    let mut errors = Errors::new(file);
    let value = T::read(&Node::from_json(json), &mut errors);
    errors.settle(value)
}

/// The text of a doc comment: its lines joined, the space after `///` removed.
#[doc(hidden)]
pub fn join_doc(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n").trim().to_string()
}
