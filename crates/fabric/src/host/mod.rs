//! Hosts: adapters, the two ends of flows, pacers, and the sources of traffic.
//!
//! [`traffic`] describes what flows send, [`mix`] divides it among flows, and `source` generates it. A `sender` segments
//! messages into packets, and `entropy` selects their paths. A `pacer` applies the pace, `paced` lists pacers that may
//! send only later, and a `send_queue` determines the sending order. `flows` combines these. A `backlog` counts the
//! packets in a host's send queue, if its size is limited. An `adapter` sends on the host's link and accepts arriving
//! packets. With a drain rate, packets pass through a `receive_buffer`. `faults` slow or stop a host. A `receiver` counts
//! the packets of a flow. `hosts` holds all of this for the entire fabric. A `store` holds an item for each flow, and those
//! of `later` flows are made when they are needed. `posting` and `delivery` implement the two ends of a flow, `trains`
//! those of trains, and `train_length` their lengths; `handling` dispatches events. `jobs` are the programs that run on
//! hosts, `execution` runs their ranks, and `detours` are their messages' ways while a cable is down.

mod adapter;
mod answers;
mod backlog;
mod delivery;
mod detours;
mod entropy;
mod execution;
mod faults;
mod flows;
mod handling;
mod hosts;
pub mod job;
mod jobs;
mod later;
pub mod mix;
mod paced;
mod pacer;
mod posting;
mod ready;
mod receive_buffer;
mod receiver;
mod send_queue;
mod sender;
mod source;
mod store;
pub mod traffic;
mod train_length;
mod trains;

pub(crate) use adapter::Adapter;
pub(crate) use flows::Flows;
pub(crate) use hosts::Hosts;
pub(crate) use jobs::Jobs;
pub(crate) use later::{Common, Ends, Later};
pub(crate) use pacer::{Pacer, PacerFlows};
pub(crate) use receiver::Receiver;
pub(crate) use send_queue::SendQueue;
pub(crate) use sender::{RECORDED, Sender};
pub(crate) use source::Source;
pub(crate) use store::Store;
