//! Schedules that LogGOPSim's compiler (`txt2bin`) has written.
//!
//! Source of the format: LogGOPSim, `Parser.hpp`. All numbers are little-endian, and nothing is aligned:
//!
//! | what | bytes |
//! |---|---|
//! | 4223, or 2342 if a simulation with `--save-mem` has damaged the schedule | 8 |
//! | number of ranks, the largest `cpu`, the largest `nic` | 4, 1, 1 |
//! | for each rank: begin and end of its part, relative to the number of ranks | 8, 8 |
//! | part of a rank: number of operations, number of operations without requirements, these operations | 4, 4, 4 each |
//! | for each operation: number of its requirements, type, peer, size, tag, `cpu`, `nic` | 4, 1, 4, 8, 4, 1, 1 |
//! | also: number of operations that wait for its end, the first of them; the same for its start | 4, 4, 4, 4 |
//! | the waiting operations | 4 each |

use becalm_engine::Time;

use crate::builder::Builder;
use crate::operation::{Action, LARGEST_MESSAGE, Op, OpId, Part, When};

const MAGIC: u64 = 4223;
const CORRUPTED: u64 = 2342;
/// Bytes of an operation.
const NODE: usize = 39;
/// Any peer, or any tag.
const ANY: u32 = u32::MAX;
/// Longest computation in nanoseconds, as in a text.
const LONGEST: u64 = 86_400_000_000_000;

/// Whether a file starts like a compiled schedule.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().map(|&first| u64::from_le_bytes(first));
    first.is_some_and(|first| [MAGIC, CORRUPTED].contains(&first))
}

/// The program of a compiled schedule.
///
/// # Errors
/// The position at which it is truncated, or the first wrong operation.
pub(super) fn read(bytes: &[u8]) -> Result<Builder, String> {
    if !bytes.starts_with(&MAGIC.to_le_bytes()) {
        return Err("was damaged by a simulation that ran with --save-mem: compile it again".to_string());
    }
    let file = Bytes(&bytes[8..]);
    let ranks = file.u32(0)?;
    if ranks == 0 || u64::from(ranks) * 16 > file.0.len() as u64 {
        return Err(format!("has {ranks} ranks in {} bytes", bytes.len()));
    }
    let mut builder = Builder::new(ranks);
    for rank in 0..ranks {
        let place = 6 + 16 * rank as usize;
        let part = file.between(file.u64(place)?, file.u64(place + 8)?).map_err(|why| format!("rank {rank}: {why}"))?;
        of_rank(&mut builder, rank, part).map_err(|why| format!("rank {rank}: {why}"))?;
    }
    Ok(builder)
}

/// Adds the operations of a rank.
fn of_rank(builder: &mut Builder, rank: u32, part: Bytes<'_>) -> Result<(), String> {
    let (nodes, roots) = (part.u32(0)? as usize, part.u32(4)? as usize);
    let first = 8 + 4 * roots;
    let waiting = first + NODE * nodes;
    part.at::<0>(waiting)?;
    let mut ids = Vec::with_capacity(nodes);
    for number in 0..nodes {
        let (action, lane) = operation(part, first + NODE * number, rank, builder.ranks())
            .map_err(|why| format!("operation {number} {why}"))?;
        ids.push(builder.add(rank, Op { action, lane, part: Part::Eager, port: 0 }));
    }
    for (number, &id) in ids.iter().enumerate() {
        let node = first + NODE * number;
        for (at, when) in [(node + 23, When::Done), (node + 31, When::Start)] {
            let (count, begin) = (part.u32(at)? as usize, part.u32(at + 4)? as usize);
            for place in 0..count {
                let other = part.u32(waiting + 4 * (begin.saturating_add(place)))? as usize;
                let other: &OpId = ids.get(other).ok_or_else(|| format!("there is no operation {other}"))?;
                builder.after(*other, id, when);
            }
        }
    }
    Ok(())
}

/// The action of an operation, and its lane.
fn operation(part: Bytes<'_>, node: usize, rank: u32, ranks: u32) -> Result<(Action, u16), String> {
    let (kind, peer) = (part.at::<1>(node + 4)?[0], part.u32(node + 5)?);
    let (size, tag) = (part.u64(node + 9)?, part.u32(node + 17)?);
    let [lane, nic] = *part.at::<2>(node + 21)?;
    if nic != 0 {
        return Err(format!("has nic {nic}: must be 0, because hosts have one adapter"));
    }
    let any = |number: u32| (number != ANY).then_some(number);
    let longest = if kind == 3 { LONGEST } else { LARGEST_MESSAGE };
    if size > longest {
        return Err(format!("has size {size}: must be at most {longest}"));
    }
    if kind != 3 && any(peer) == Some(rank) {
        return Err("sends to or receives from its own rank".to_string());
    }
    if kind != 3 && any(peer).is_some_and(|peer| peer >= ranks) {
        return Err(format!("names rank {peer}; the ranks are 0 to {}", ranks - 1));
    }
    let action = match kind {
        1 if peer == ANY || tag == ANY => return Err("is a send to any rank or with any tag".to_string()),
        1 => Action::Send { to: peer, bytes: size, tag },
        2 => Action::Recv { from: any(peer), bytes: size, tag: any(tag) },
        3 => Action::Calc { time: Time::from_ns(size) },
        _ => return Err(format!("has type {kind}; valid: 1 send, 2 receive, 3 computation")),
    };
    Ok((action, u16::from(lane)))
}

/// Bytes that are read by position.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn at<const N: usize>(&self, place: usize) -> Result<&'a [u8; N], String> {
        let rest = self.0.get(place..).and_then(|rest| rest.first_chunk());
        rest.ok_or_else(|| format!("ends after {} bytes, before byte {}", self.0.len(), place.saturating_add(N)))
    }

    fn u32(&self, place: usize) -> Result<u32, String> {
        self.at(place).map(|&bytes| u32::from_le_bytes(bytes))
    }

    fn u64(&self, place: usize) -> Result<u64, String> {
        self.at(place).map(|&bytes| u64::from_le_bytes(bytes))
    }

    fn between(&self, begin: u64, end: u64) -> Result<Bytes<'a>, String> {
        let part = self.0.get(begin as usize..end as usize);
        part.map(Bytes).ok_or_else(|| format!("its part, from byte {begin} to {end}, is outside the file"))
    }
}
