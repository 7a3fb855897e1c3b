//! Chakra execution traces.
//!
//! Source of the format: MLCommons Chakra 1.0.0, `et_def.proto`. ASTRA-sim's generators write the same format as
//! version 0.0.4. A trace has one file for each rank, `NAME.RANK.et`. It consists of protobuf messages, each preceded
//! by its length as a varint. The first message describes the trace, and the others are nodes. Files may be compressed
//! with gzip. MLCommons' `jsonizer` writes the same messages as JSON objects, one after the other or in a list.
//!
//! - `wire` reads the wire format of protobuf, `node` the nodes and their relevant attributes, `json` the same nodes as
//!   JSON, and `trace` the files. `lower` converts traces to a program. `silence` warns of traces that move nothing.
//!
//! Conversion of nodes:
//!
//! | node | operation |
//! |---|---|
//! | computation, memory load or store | `calc` of `duration_micros`, on lane 0 of a rank's CPU or lane 1 of its GPU |
//! | send, receive | the same, on lane 2, with the attributes `comm_size`, `comm_dst` or `comm_src`, `comm_tag` |
//! | collective | its ring or pairwise schedule among the ranks of its group, on lane 2 |
//! | communication on the CPU without type and size: a call of the library, in traces of PyTorch | `calc` of `duration_micros` |
//! | metadata | nothing |
//!
//! `comm_size` is the size of one rank's vector. For an all-gather, it is the size of the rank's part of the final
//! vector, as in ASTRA-sim's `Ring` and MLCommons' converter of PyTorch traces, or of the entire final vector
//! ([`Gathered`]).
//!
//! Nodes wait for their `data_deps`, and for their `ctrl_deps` that exist. If a rank's control dependencies form a
//! cycle, all of them are ignored. A group consists of all ranks with collectives that name the group (`pg_name`), or
//! of all ranks without a name. The n-th collective of a group is the same on all of its ranks.
//!
//! Unlike becalm, Chakra's feeder follows only `data_deps`, and reads an attribute of an unexpected type as 0. becalm
//! reads every type of whole number.

mod json;
mod lower;
mod node;
mod silence;
mod trace;
mod wire;

use crate::Reading;
use crate::mistakes::Mistakes;
pub use node::Gathered;
pub use trace::Trace;

/// The program from the traces of all ranks, in the order of the ranks. `name` is their common name in messages.
///
/// # Errors
/// All mistakes, each with its file and node.
pub fn program(traces: &[Trace], name: &str, gathered: Gathered) -> Result<Reading, Mistakes> {
    lower::program(traces, name, gathered)
}
