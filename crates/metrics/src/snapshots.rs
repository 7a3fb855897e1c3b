//! Buffers and queues of every link at chosen times.

use becalm_engine::Time;

use crate::schema;
use crate::table::Table;
use crate::tree::Role;

/// One link and virtual lane at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time of the snapshot.
    pub time: Time,
    /// Index of the link.
    pub link: usize,
    /// The virtual lane.
    pub vl: u8,
    /// Occupied share of the input buffer at the link's receiving end.
    pub occupancy: f64,
    /// Bytes waiting at the link's sending end.
    pub waiting: u64,
    /// Role of the link's output in a congestion tree.
    pub role: Role,
}

/// The table `snapshots`. `ends` names both nodes of every link, with the sending port.
pub fn table(snapshots: &[Snapshot], ends: &[(String, u64, String)]) -> Table {
    let text = |value: fn(&(String, u64, String)) -> &String| {
        snapshots.iter().map(|s| value(&ends[s.link]).clone()).collect::<Vec<_>>()
    };
    Table::new(&schema::SNAPSHOTS)
        .with("time", snapshots.iter().map(|s| s.time.as_secs()).collect::<Vec<_>>())
        .with("from", text(|(from, ..)| from))
        .with("from_port", snapshots.iter().map(|s| ends[s.link].1).collect::<Vec<_>>())
        .with("to", text(|(.., to)| to))
        .with("vl", snapshots.iter().map(|s| u64::from(s.vl)).collect::<Vec<_>>())
        .with("occupancy", snapshots.iter().map(|s| s.occupancy).collect::<Vec<_>>())
        .with("waiting", snapshots.iter().map(|s| s.waiting).collect::<Vec<_>>())
        .with("role", snapshots.iter().map(|s| s.role.name().to_string()).collect::<Vec<_>>())
}
