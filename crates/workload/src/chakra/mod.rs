//! Chakra execution traces.
//!
//! Source of the format: MLCommons Chakra 1.0.0, `et_def.proto`. A trace has a file for each rank, `NAME.RANK.et`: protobuf
//! messages, each after its length as a varint. The first describes the trace, the others are nodes. Files may be
//! compressed by gzip.
//!
//! - `wire`: protobuf's wire format. `node`: nodes and the attributes that matter. `trace`: files. `lower`: from traces to a program.
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
mod trace;
mod wire;

use crate::mistakes::Mistakes;
use crate::program::Program;
pub use trace::Trace;

/// The program of traces, one for each rank, in the order of the ranks; `name` stands for all of them in messages.
///
/// # Errors
/// All mistakes, each with its file and node.
pub fn program(traces: &[Trace], name: &str) -> Result<Program, Mistakes> {
    lower::program(traces, name)
}
