//! Tests of whole scenarios, from text to tables.

mod adapters;
mod bad;
mod catalogue;
mod congestion;
mod convergence;
mod equal_ports;
mod frames;
mod golden;
mod jobs;
mod labels;
mod messages;
mod observing;
mod paths;
mod random;
mod reading;
mod ready;
mod resolved;
mod rocev2;
mod running;
mod saturation;
mod scenes;
mod send_queues;
mod starvation;
mod stations;
mod telemetry;
mod traffic;
