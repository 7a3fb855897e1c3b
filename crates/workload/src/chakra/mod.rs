//! Chakra execution traces.
//!
//! Source of the format: MLCommons Chakra 1.0.0, `et_def.proto`. A trace has a file for each rank, `NAME.RANK.et`: protobuf
//! messages, each after its length as a varint. The first describes the trace, the others are nodes. Files may be
//! compressed by gzip.
//!
//! - `wire`: protobuf's wire format. `node`: nodes and the attributes that matter. `lower`: from traces to a program.
//!
//! What becomes of a node:
//!
//! | node | operation |
//! |---|---|
//! | computation, memory load or store | `calc` of `duration_micros`, on lane 0 of a rank's CPU or lane 1 of its GPU |
//! | send, receive | the same, on lane 2, with the attributes `comm_size`, `comm_dst` or `comm_src`, `comm_tag` |
//! | collective | its ring or pairwise schedule among the ranks of its group, on lane 2 |
//! | metadata | nothing |
//!
//! Nodes wait for their `data_deps` and `ctrl_deps`. The ranks of a group are those with collectives of its name
//! (`pg_name`), or all where there is no name; the n-th collective of a group is the same on all of its ranks.
//!
//! Departures from the feeder of Chakra: it follows `data_deps` alone, and takes an attribute of another type as 0.

mod lower;
mod node;
mod wire;

use std::io::Read;

use crate::mistakes::Mistakes;
use crate::program::Program;
use node::Node;

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

/// The program of traces, one for each rank, in the order of the ranks; `name` stands for all of them in messages.
///
/// # Errors
/// All mistakes, each with its file and node.
pub fn program(traces: &[Trace], name: &str) -> Result<Program, Mistakes> {
    lower::program(traces, name)
}
