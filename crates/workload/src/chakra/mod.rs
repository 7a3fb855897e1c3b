//! Chakra execution traces.
//!
//! Source of the format: MLCommons Chakra 1.0.0, `et_def.proto`; ASTRA-sim's generators write the same as version 0.0.4. A trace has a file for each rank, `NAME.RANK.et`: protobuf
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
//! | communication on the CPU without type and size: a call of the library, in traces of PyTorch | `calc` of `duration_micros` |
//! | metadata | nothing |
//!
//! `comm_size` is the vector of one rank; of an all-gather it is the rank's own part of what all have in the end, as in
//! ASTRA-sim's `Ring` and MLCommons' converter of PyTorch traces, or all of that ([`Gathered`]).
//!
//! Nodes wait for their `data_deps`, and for those of their `ctrl_deps` that are there; where these form a cycle, a rank has
//! none of them. The ranks of a group are those with collectives of its name
//! (`pg_name`), or all where there is no name; the n-th collective of a group is the same on all of its ranks.
//!
//! Departures from the feeder of Chakra: it follows `data_deps` alone, and takes an attribute of another type than the one
//! that it expects as 0; here every kind of whole number is read.

mod lower;
mod node;
mod trace;
mod wire;

use crate::Reading;
use crate::mistakes::Mistakes;
pub use node::Gathered;
pub use trace::Trace;

/// The program of traces, one for each rank, in the order of the ranks; `name` stands for all of them in messages.
///
/// # Errors
/// All mistakes, each with its file and node.
pub fn program(traces: &[Trace], name: &str, gathered: Gathered) -> Result<Reading, Mistakes> {
    lower::program(traces, name, gathered)
}
