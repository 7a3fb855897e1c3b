//! Hosts: adapters, the two ends of flows, pacers, and the sources of traffic.
//!
//! [`traffic`] says what flows send, and `source` draws it. A `sender` cuts messages into packets, a `pacer` holds the
//! pace that spaces them, `paced` lists those that wait for their time, a `send_queue` the order in which they go,
//! `flows` all of these together. A `backlog` counts the packets that wait at a host, where its send queue has an end.
//! An `adapter` sends on the host's link and drains what arrives; a `receiver` counts it. With a drain rate it passes a
//! `receive_buffer`. `hosts` holds all of this for the whole fabric, `posting` and `delivery` are what happens at the
//! two ends of a flow, and `handling` distributes the events. `jobs` are the programs that run on hosts, and
//! `execution` is what their ranks do.

mod adapter;
mod backlog;
mod delivery;
mod execution;
mod flows;
mod handling;
mod hosts;
pub mod job;
mod jobs;
mod paced;
mod pacer;
mod posting;
mod receive_buffer;
mod receiver;
mod send_queue;
mod sender;
mod source;
pub mod traffic;

pub(crate) use adapter::Adapter;
pub(crate) use flows::Flows;
pub(crate) use hosts::Hosts;
pub(crate) use jobs::Jobs;
pub(crate) use pacer::{Pacer, PacerFlows};
pub(crate) use receiver::Receiver;
pub(crate) use send_queue::SendQueue;
pub(crate) use sender::Sender;
pub(crate) use source::Source;
