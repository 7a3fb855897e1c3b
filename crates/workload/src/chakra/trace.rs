//! Files of traces.

use std::borrow::Cow;
use std::io::Read;

use super::json;
use super::node::{self, Node};
use crate::mistakes::Mistakes;

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Largest ratio of uncompressed to compressed length. Real traces have 5 to 30.
const RATIO: u64 = 200;
/// Uncompressed length in bytes that is accepted at any ratio.
const SMALL: u64 = 1 << 20;

/// The trace of one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Name of the file in messages.
    pub(crate) file: String,
    pub(crate) nodes: Vec<Node>,
}

impl Trace {
    /// Reads the trace of a rank, compressed or not; as JSON if `file`, its name in messages, ends with `.json` or
    /// `.json.gz`. `most` is the maximum memory in bytes for the trace and the derived program.
    ///
    /// # Errors
    /// All mistakes, each with its node, or the position at which the file is not a list of protobuf messages or JSON
    /// objects.
    pub fn read(bytes: &[u8], file: &str, most: u64) -> Result<Trace, Mistakes> {
        let plain = plain(bytes, most).map_err(|problem| Mistakes::one(file, None, problem))?;
        let left = most.saturating_sub(plain.len() as u64);
        let nodes = match file.trim_end_matches(".gz").ends_with(".json") {
            true => json::nodes(&plain, file, left)?,
            false => node::nodes(&plain, file, left)?,
        };
        Ok(Trace { file: file.to_string(), nodes })
    }

    /// Approximate memory of the trace and the derived program, in bytes.
    pub fn size(&self) -> u64 {
        self.nodes.iter().map(Node::size).sum()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the trace has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// The uncompressed bytes of a file.
fn plain(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, String> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes.into());
    }
    let mut plain = Vec::new();
    let largest = (RATIO * bytes.len() as u64).max(SMALL);
    let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(largest.min(most) + 1);
    reader.read_to_end(&mut plain).map_err(|error| format!("is damaged or incomplete: {error}"))?;
    match plain.len() as u64 {
        long if long > most => Err(format!("needs more than {most} bytes of memory when decompressed")),
        long if long > largest => Err(format!("is more than {RATIO} times larger when decompressed, unlike any trace")),
        _ => Ok(plain.into()),
    }
}
