//! Telemetry in the form of packet trails, which switches record and ACKs return to the source.
//!
//! To save space, a packet stores its trail's index in the field that otherwise holds the receiver's holding
//! time. A trail ends with the ACK that inherits it, or with the packet if no ACK does.

use becalm_engine::Time;

use crate::packet::{Packet, held_for};
use crate::policy::Hop;

/// The switches' records along a packet's path, and the time for which the receiver held the packet, in
/// nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    hops: Vec<Hop>,
    held: u32,
}

/// The trails of a part's packets. Freed indices are reused.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    places: Vec<Trail>,
    free: Vec<u32>,
}

impl Trail {
    /// The records, in path order.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// The time for which the receiver held the packet and its ACK.
    pub fn held(&self) -> Time {
        Time::from_ns(u64::from(self.held))
    }
}

impl Trails {
    /// Number of trails that have not ended.
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

    /// Adds a switch's record to a packet's trail, if it has one.
    pub fn record(&mut self, packet: &Packet, hop: Hop) {
        if let Some(place) = packet.trail() {
            self.places[place as usize].hops.push(hop);
        }
    }

    /// Adds time for which the receiver held a packet.
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

    /// Reclaims the memory of a trail that has just ended.
    pub fn reuse(&mut self, mut trail: Trail) {
        if let Some(place) = self.free.last() {
            trail.hops.clear();
            self.places[*place as usize] = Trail { held: 0, ..trail };
        }
    }

    /// Adopts the trail of a packet that arrives from another part.
    pub fn take_in(&mut self, packet: &mut Packet, trail: Trail) {
        self.begin(packet);
        let place = packet.trail().expect("just begun");
        self.places[place as usize] = trail;
    }

    /// Takes over all trails of another part; returns the offset to add to their indices.
    pub fn join(&mut self, other: Trails) -> u32 {
        let first = self.places.len() as u32;
        self.places.extend(other.places);
        self.free.extend(other.free.into_iter().map(|place| place + first));
        first
    }
}
