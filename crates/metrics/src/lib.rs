//! Observers of the fabric, and the tables of a run's results.
//!
//! Observers are called for every packet on every link. To be fast, they use flat arrays that are indexed by number,
//! without hashing.
//!
//! # Modules
//!
//! Imports are one-way. A module uses only modules above it in this list.
//!
//! | module | contents |
//! |---|---|
//! | [`schema`] | the declaration of every table: columns, kinds, units, meanings |
//! | [`table`] | a table of a schema |
//! | [`fairness`], [`sharing`] | Jain's index, max-min fair rates |
//! | [`ports`] | ports as indices of flat arrays |
//! | `quantiles`, `histogram` | compact histograms, tables of them |
//! | [`fingerprint`], [`latency`], [`occupancy`], [`queues`], [`spans`], [`pauses`], [`hosts`], [`tree`], [`messages`] | observers, one per question |
//! | [`recorder`] | a recording of single packets for traces, in a separate run |
//! | [`calls`] | calls of schemes and their answers, in such a run |
//! | [`completion`] | completion times and slowdowns of messages |
//! | [`watch`] | all of them as a run's only observer |
//! | [`series`] | rates over time in a sliding window, from counters read at fixed steps |
//! | [`paces`] | gaps and windows of responses, read at the same steps |
//! | [`snapshots`] | buffers and queues of every link at chosen times |
//! | [`frames`] | the same as one byte per link, at fixed steps |
//!
//! # Example
//!
//! Count the packets that hosts receive, and make a table of them.
//!
//! ```
//! use becalm_engine::Time;
//! use becalm_fabric::policy::Observer;
//! use becalm_fabric::{Packet, Train};
//! use becalm_metrics::{Data, Hosts, Table, jain, schema};
//!
//! let packet = |destination, marked| Packet { destination, size: 2068, train: Train::LAST, marked, ..Packet::default() };
//! // Two hosts, observed from 10 us.
//! let mut hosts = Hosts::new(Time::from_us(10), 2);
//! hosts.delivered(Time::from_us(5), &packet(0, false));
//! hosts.delivered(Time::from_us(15), &packet(0, true));
//! hosts.delivered(Time::from_us(25), &packet(1, false));
//! let received = hosts.received();
//! assert_eq!((received[0].bytes, received[0].fecn), (2068, 1));
//! assert_eq!(jain(&[received[0].bytes as f64, received[1].bytes as f64]), 1.0);
//!
//! let table = Table::new(&schema::HOSTS).with("host", vec!["H0".to_string(), "H1".to_string()]);
//! let table = table.with("sent_packets", vec![0_u64, 0]).with("sent_bytes", vec![0_u64, 0]);
//! let table = table.with("received_packets", vec![received[0].packets, received[1].packets]);
//! assert_eq!(table.column("received_packets"), Some(&Data::U64(vec![1, 1])));
//! ```

pub mod calls;
pub mod completion;
pub mod fairness;
pub mod fingerprint;
pub mod frames;
mod histogram;
pub mod hosts;
pub mod latency;
pub mod messages;
pub mod occupancy;
pub mod paces;
pub mod pauses;
pub mod ports;
mod quantiles;
pub mod queues;
pub mod recorder;
pub mod schema;
pub mod series;
pub mod sharing;
pub mod snapshots;
pub mod spans;
pub mod table;
pub mod tree;
pub mod watch;

pub use completion::Completion;
pub use fairness::jain;
pub use fingerprint::Fingerprint;
pub use frames::Frames;
pub use hosts::{Hosts, Received};
pub use latency::{Latency, Summary};
pub use messages::{MessageRecord, Messages};
pub use occupancy::Occupancy;
pub use paces::Paces;
pub use pauses::{Paused, Pauses};
pub use ports::Ports;
pub use queues::{Queue, Queues};
pub use series::Series;
pub use snapshots::Snapshot;
pub use spans::Spans;
pub use table::{Column, Data, Names, Table};
pub use tree::Tree;
pub use watch::Watch;
