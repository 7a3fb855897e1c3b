//! The lossless network: links, switches, hosts, and the traffic between them.
//!
//! No packet is ever dropped. With credits, a sender needs credit for an entire packet before it begins, and a buffer
//! returns the credit after the packet's last byte has left. With PFC, a buffer pauses its sender before it can
//! overflow.
//!
//! # Modules
//!
//! Dependencies are one-way. A module uses only modules above it in this list.
//!
//! | module | contents |
//! |---|---|
//! | [`ids`], [`packet`], [`distribution`], [`error`] | identifiers, packets, distributions, errors |
//! | [`network`] | link rates, topologies and their generators, routes and paths |
//! | [`config`] | settings of switches and adapters, packet sizes |
//! | [`faults`] | links that go down, slow receivers, storms of pauses, hosts that stop |
//! | [`policy`] | the seams: traits that a congestion-control scheme implements, and the observer |
//! | `trail` | telemetry: what switches record along the paths of packets |
//! | `flow_control` | credit or pauses between a buffer and its sender |
//! | `event`, `message`, `context` | events, messages between threads, and the context for handling events |
//! | `switch` | input buffers, queues, arbitration, forwarding |
//! | [`host`] | sources, senders, pacers, adapters, receivers |
//! | [`sim`] | the model that the engine runs: its specification, construction, counters and guards |
//! | [`parallel`] | one fabric on several threads |
//!
//! # Life of a packet
//!
//! The engine handles events in the order of their times and keys. An event belongs to a host or a switch, and changes
//! only that node; to affect a neighbour, it schedules another event, later by at least the cable delay. A packet travels
//! inside an event, `Event::Arrive`, of 64 bytes with its time. Every other event is a one-word `Signal`. Policies only
//! answer calls: they move no packets and have no clock.
//!
//! | step | what happens | where |
//! |---|---|---|
//! | post | A flow's traffic posts a message (`Signal::Post`). The sender stores the request, and its pacer may send. | `host/posting.rs` |
//! | send | When its link is free, the adapter tries answers first, and then the next pacer with an expired gap, an open window and credit on its lane. | `host/adapter/sending.rs` |
//! | launch | The packet uses credit. `Context::launch` schedules its arrival at the other end of the cable. | `flow_control/credit.rs`, `context.rs` |
//! | arrive | The header has arrived, and the forwarding delay has passed. The routes determine the output. | `switch/forwarding.rs` |
//! | admit | The packet occupies space in the input buffer. If its output is free, no packet is ahead of it and there is credit, it cuts through. The marker is told, unless it ignores packets that do not wait. | `admit`, `pass` |
//! | wait | Otherwise, it joins the queue of its output, lane and input. Every event that may let a packet leave adds the output to a list. | `switch/queues.rs` |
//! | serve | The arbiter selects the first packet that can leave through a listed output, calls the marker, and starts to transmit. | `switch/arbitration.rs` |
//! | leave | When the last byte has left, the buffer space becomes credit for the sender. If no packet waits for it, no event is needed (a silent tail). | `send`, `tail` |
//! | deliver | At a host, the receiver counts the packet; with a drain rate, the packet first waits in the receive buffer. | `host/delivery.rs`, `host/receiver.rs` |
//! | answer | The echo decides whether to return an ACK or a CNP, and which marks it reports. The answer is a packet of its own. | `Echo::answer`, `queue_answer` |
//! | react | The ACK opens the window, and the response receives a `Notice` and changes its `Pace`. | `host/pacer.rs`, `Response::notice` |
//!
//! The code from `arrive` to `leave` is compiled into one function for each set of rules (`switch/rules.rs`): inlined
//! where every packet goes, out of line where few do. Observers change nothing. A packet to a node on another thread
//! travels as a message with the same time and key.
//!
//! # Example
//!
//! Three flows share the link between two switches.
//!
//! ```
//! use becalm_engine::Time;
//! use becalm_fabric::policy::{
//!     Answer, Arrival, Departure, Echo, Marker, Notice, Pace, Response, SwitchView, Unanswered,
//! };
//! use becalm_fabric::*;
//!
//! /// No congestion control: no marks, no answers, line rate.
//! #[derive(Clone, Debug)]
//! struct Free;
//! impl Marker for Free {
//!     fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}
//!     fn departing<V: SwitchView>(&mut self, _: &Departure, _: &V) -> bool {
//!         false
//!     }
//! }
//! impl Echo for Free {
//!     fn answer(&mut self, _: Time, _: &Packet, _: &Unanswered) -> Answer {
//!         Answer::SILENT
//!     }
//! }
//! impl Response for Free {
//!     fn pace(&self) -> Pace {
//!         Pace::FREE
//!     }
//!     fn notice(&mut self, _: Time, _: &Notice) {}
//! }
//!
//! let rate = Rate::from_bits_per_second(8e9);
//! let topology = Topology::dumbbell(&DumbbellSpec { remote: 2, local: 0, rate, delay: Time::ZERO });
//! let flow = |response, from: &str, to: &str| FlowSpec {
//!     source: topology.find(from).unwrap(),
//!     destination: topology.find(to).unwrap(),
//!     vl: 0,
//!     answers_vl: 0,
//!     response,
//!     restart: false,
//! };
//! let flows = vec![flow(0, "A1", "BC"), flow(1, "A2", "BC"), flow(2, "AV", "BV")];
//! let adapter = AdapterConfig {
//!     injection: Injection::RoundRobin,
//!     answers: Answers::Turns,
//!     coalesces: true,
//!     injection_rate: None,
//!     message_overhead: Time::ZERO,
//!     drain_rate: None,
//!     queue: AdapterConfig::UNLIMITED,
//!     when_full: WhenFull::Block,
//! };
//! let greedy = Traffic::Greedy { bytes: 2048, sizes: Distribution::Fixed };
//! let spec = FabricSpec {
//!     switch: SwitchConfig {
//!         vls: 1,
//!         buffer: Room::Slots(4),
//!         forwarding_delay: Time::from_ns(40),
//!         switching: Switching::CutThrough,
//!         arbiter: Arbiter::RoundRobin,
//!         paths: PathSelection::Destination,
//!         queueing: Queueing::Voq,
//!         input_reads: InputReads::Many,
//!         vl_arbitration: VlArbitration::RoundRobin,
//!         service: Distribution::Fixed,
//!         flow_control: FlowControl::Credits,
//!     },
//!     packets: PacketConfig { mtu: 2048, header: 20, ack: 20, cnp: 20, answers_vl: None, cnp_vl: None, train: 1, train_span: Time::MAX },
//!     adapters: vec![adapter; topology.host_count() as usize],
//!     responses: vec![Free; flows.len()],
//!     sources: (0..3).map(|i| SourceSpec::always(FlowId(i), greedy.clone())).collect(),
//!     flows,
//!     jobs: Vec::new(),
//!     changes: Vec::new(),
//!     faults: Vec::new(),
//!     markers: vec![Free; topology.switch_count() as usize],
//!     echo: Free,
//!     seed: 1,
//!     routes: Routes::shortest(&topology),
//!     topology,
//! };
//! let mut run = Fabric::simulator(spec, ())?;
//! run.run_until(Time::from_ms(1));
//! let bytes: Vec<u64> = (0..3).map(|i| run.model.flow(FlowId(i)).delivered_bytes).collect();
//! // 1 GB/s for 1 ms, shared by three flows.
//! assert!(bytes.iter().all(|&bytes| bytes.abs_diff(333_333) < 10_000), "{bytes:?}");
//! # Ok::<(), FabricError>(())
//! ```

mod bits;
pub mod cdf;
pub mod config;
mod context;
pub mod distribution;
pub mod error;
mod event;
pub mod faults;
mod flow_control;
pub mod host;
pub mod ids;
mod message;
pub mod network;
pub mod packet;
pub mod parallel;
pub mod policy;
pub mod sim;
mod switch;
mod trail;
mod train;

pub use cdf::{Cdf, CdfError};
pub use config::{
    AdapterConfig, Answers, Arbiter, Balancer, Bypass, CREDIT_BYTES, Cbfc, FlowControl, Injection, InputReads,
    PacketConfig, PathSelection, PauseResponse, Pfc, Queueing, RateChange, Room, SharedPool, SwitchConfig, Switching,
    Unit, VlArbitration, Watchdog, WatchdogAction, WatchdogRule, WhenFull,
};
pub use distribution::Distribution;
pub use error::FabricError;
pub use event::Event;
pub use faults::{Fault, FaultKind, Toll};
pub use host::job::JobSpec;
pub use host::mix::Mix;
pub use host::traffic::{SourceSpec, Traffic};
pub use ids::{FlowId, NodeId, PortId, RankId, SourceId};
pub use message::Message;
pub use network::generators::{ClosSpec, DragonflySpec, DumbbellSpec, FatTreeSpec, Level, RailSpec, TorusSpec};
pub use network::latency::Unloaded;
pub use network::link::Rate;
pub use network::routing::{Detours, Heading, LaneChanges, Paths, PortClass, PortSet, Routes};
pub use network::topology::{Cable, Node, NodeKind, Topology};
pub use packet::{Kind, Packet};
pub use parallel::fabric::ParallelFabric;
pub use parallel::partition::Partition;
pub use sim::counters::{FlowView, PortCounters, PortStanding};
pub use sim::fabric::Fabric;
pub use sim::headrooms::needed_headrooms;
pub use sim::pausing::Headroom;
pub use sim::spec::{FabricSpec, FlowSpec};
pub use switch::StormReport;
pub use train::Train;
