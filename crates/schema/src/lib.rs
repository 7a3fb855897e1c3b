//! Typed tables read from TOML. One declaration defines parsing, ranges, defaults, documentation and JSON
//! Schema.
//!
//! The modules, starting with the basic ones:
//!
//! - [`node`]: a value with its key and line, and a document of these values. [`mod@parse`] creates it from
//!   TOML.
//! - [`errors`]: all errors in a document, with line numbers.
//! - [`field`]: types of values, such as numbers, words and lists. [`mod@quantity`]: numbers with a unit.
//! - [`table!`]: a struct whose fields have help, unit, range and default.
//! - [`choice!`]: a table with exactly one sub-table, whose name is the choice. [`words!`]: a choice of bare
//!   words.
//! - [`located`]: fields with their locations, for errors found after reading.
//! - [`names`]: ranges of numbered names.
//!
//! ```
//! becalm_schema::table! {
//!     /// A queue.
//!     pub struct Queue {
//!         /// Capacity of the queue.
//!         pub room: u32 = 4; "packets"; 1..=64,
//!         /// Minimum time that a packet spends in the queue.
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
pub use quantity::{SIZES, bytes, quantity, seconds};
pub use range::Ranged;
pub use review::Review;
#[doc(hidden)]
pub use serde_json;
pub use suggest::did_you_mean;
pub use table::{FieldDoc, Table};

/// Reads an entire TOML text as one table.
///
/// # Errors
/// All errors in the text, in the order of their lines. `file` is its name in messages.
pub fn read<T: Field>(text: &str, file: &str) -> Result<T, Errors> {
    let mut errors = Errors::new(file);
    let value = parse(text, &mut errors).and_then(|root| T::read(&root, &mut errors));
    errors.settle(value)
}

/// Reads a table from JSON written by [`Field::to_json`].
///
/// # Errors
/// All errors, with keys but without line numbers.
pub fn read_json<T: Field>(json: &serde_json::Value, file: &str) -> Result<T, Errors> {
    let mut errors = Errors::new(file);
    let value = T::read(&Node::from_json(json), &mut errors);
    errors.settle(value)
}

/// The text of a doc comment: the lines are joined, without the space after `///`.
#[doc(hidden)]
pub fn join_doc(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n").trim().to_string()
}
