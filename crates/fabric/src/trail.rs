//! Telemetry: the trails of packets, which switches write and ACKs take back to the source.
//!
//! A packet holds the place of its trail where others hold the time that the receiver held them, so that no packet is
//! larger. A trail ends with the ACK that takes it over, or with the packet if no ACK does.

use becalm_engine::Time;

use crate::packet::{Packet, held_for};
use crate::policy::Hop;

/// What switches have recorded of a packet's path, and how long the receiver held the packet, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    hops: Vec<Hop>,
    held: u32,
}

/// The trails of the packets of one part; freed places are used again.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    places: Vec<Trail>,
    free: Vec<u32>,
}

impl Trail {
    /// The records, in the order of the switches.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// The time that the receiver held the packet and its ACK.
    pub fn held(&self) -> Time {
        Time::from_ns(u64::from(self.held))
    }
}

impl Trails {
    /// Trails that have not ended.
    pub fn in_use(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Begins the trail of a packet.
    pub fn begin(&mut self, packet: &mut Packet) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Trail::default());
            self.places.len() as u32 - 1
        });
        packet.set_trail(place);
    }

    /// Adds what a switch records to the trail of a packet that has one.
    pub fn record(&mut self, packet: &Packet, hop: Hop) {
        if let Some(place) = packet.trail() {
            self.places[place as usize].hops.push(hop);
        }
    }

    /// Adds time that the receiver has held a packet.
    #[inline]
    pub fn hold(&mut self, time: Time, packet: &mut Packet) {
        match packet.trail() {
            None => packet.hold(time),
            Some(place) => {
                let trail = &mut self.places[place as usize];
                trail.held = held_for(trail.held, time);
            }
        }
    }

    /// Ends the trail of a packet, if it has one, and returns it.
    #[inline]
    pub fn end(&mut self, packet: &Packet) -> Option<Trail> {
        let place = packet.trail()?;
        self.free.push(place);
        Some(std::mem::take(&mut self.places[place as usize]))
    }

    /// Takes back the memory of a trail that has just ended.
    pub fn reuse(&mut self, mut trail: Trail) {
        if let Some(place) = self.free.last() {
            trail.hops.clear();
            self.places[*place as usize] = Trail { held: 0, ..trail };
        }
    }

    /// Takes in the trail of a packet that comes from another part.
    pub fn take_in(&mut self, packet: &mut Packet, trail: Trail) {
        self.begin(packet);
        let place = packet.trail().expect("just begun");
        self.places[place as usize] = trail;
    }

    /// Takes over all trails of another part; returns the number by which their places move.
    pub fn join(&mut self, other: Trails) -> u32 {
        let first = self.places.len() as u32;
        self.places.extend(other.places);
        self.free.extend(other.free.into_iter().map(|place| place + first));
        first
    }
}
