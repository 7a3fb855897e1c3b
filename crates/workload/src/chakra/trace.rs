//! Files of traces.

use std::io::Read;

use super::node::{self, Node};
use crate::mistakes::Mistakes;

/// The first bytes of a file that gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes of a file when it is not compressed, at most.
const LARGEST: u64 = 4 << 30;

/// The trace of one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Its name in messages.
    pub(crate) file: String,
    pub(crate) nodes: Vec<Node>,
}

impl Trace {
    /// Reads the trace of a rank, compressed or not; `file` is its name in messages.
    ///
    /// # Errors
    /// All mistakes, each with its node; or the place where the file is no list of protobuf messages.
    pub fn read(bytes: &[u8], file: &str) -> Result<Trace, Mistakes> {
        let broken = |problem: String| Mistakes::one(file, None, problem);
        let mut plain = Vec::new();
        let bytes = if bytes.starts_with(&GZIP) {
            let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(LARGEST + 1);
            reader.read_to_end(&mut plain).map_err(|error| broken(format!("is not whole: {error}")))?;
            if plain.len() as u64 > LARGEST {
                return Err(broken(format!("has more than {LARGEST} bytes when it is not compressed")));
            }
            &plain
        } else {
            bytes
        };
        node::nodes(bytes, file).map(|nodes| Trace { file: file.to_string(), nodes })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
