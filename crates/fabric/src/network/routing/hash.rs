//! The hashes that choose among equal ports.

use becalm_engine::mix;

use crate::ids::FlowId;
use crate::packet::Kind;

/// Domain of this hash; packet ties use other domains.
const PATHS: u64 = 0x7061_7468;

/// The hash of a flow's packets of one kind at a switch. ACKs and CNPs are hashed as separate flows. Without
/// a salt, `switch` is `None` and the hash is the same at all switches.
#[inline]
pub fn flow_hash(seed: u64, flow: FlowId, kind: Kind, switch: Option<u32>) -> u64 {
    let own = mix(mix(seed, PATHS), u64::from(flow.0) << 2 | kind as u64);
    mix(own, switch.map_or(0, |switch| u64::from(switch) + 1))
}

/// An index below `n`, selected by a hash.
#[inline]
pub fn pick(hash: u64, n: usize) -> usize {
    ((u128::from(hash) * n as u128) >> 64) as usize
}
