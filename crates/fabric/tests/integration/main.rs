//! Tests of the fabric against theory and its own guards.

mod deadlock;
mod direct;
mod doubles;
mod dumbbell;
mod equal_ports;
mod feedback;
mod guards;
mod held_credit;
mod labels;
mod lanes;
mod pfc;
mod programs;
mod queues;
mod saturation;
mod stations;
mod ties;
mod trails;
