//! The size of input buffers, once the network is known.

use becalm_engine::Time;
use becalm_fabric::{CREDIT_BYTES, Rate, RateChange, Room, needed_headrooms};

use super::network::Network;
use crate::sections::Sections;
use crate::sections::flow_control::MOST_UNITS;
use crate::sections::packet::Packet;
use crate::sections::quantities::Buffer;
use crate::sections::switch::{Switch, Switching};

/// Size of an automatic buffer, in products of rate and credit loop. Opposite traffic and its answers delay credits.
const LOOPS: f64 = 2.0;
/// Smallest automatic buffer, in full packets.
const LEAST_PACKETS: u32 = 4;

/// The size of each input buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    /// In the units in which the fabric counts.
    pub room: Room,
    /// In bytes, to which thresholds refer.
    pub bytes: u32,
}

impl Default for Buffers {
    fn default() -> Buffers {
        Buffers { room: Room::UNLIMITED, bytes: u32::MAX }
    }
}

impl Buffers {
    /// The buffers of a network; `None` if their size could not be read.
    pub fn new(sections: &Sections, network: &Network) -> Option<Buffers> {
        let (switch, packet) = (sections.switch.complete()?, sections.packet.complete()?);
        let largest = sections.largest(packet);
        Some(match *switch.buffer {
            Buffer::Unlimited => Buffers::default(),
            Buffer::Bytes(bytes) => Buffers { room: switch.flow_control.room(bytes), bytes },
            Buffer::Slots(slots) => Buffers { room: Room::Slots(slots), bytes: slots.saturating_mul(largest) },
            Buffer::Packets(packets) => {
                let bytes = packets.saturating_mul(switch.flow_control.space_for(largest));
                Buffers { room: switch.flow_control.room(bytes), bytes }
            }
            Buffer::Auto => {
                let bytes = automatic(sections, network, switch, packet);
                Buffers { room: switch.flow_control.room(bytes), bytes }
            }
        })
    }
}

/// A buffer that keeps every link busy, in whole credits.
fn automatic(sections: &Sections, network: &Network, switch: &Switch, packet: &Packet) -> u32 {
    let largest = sections.largest(packet);
    let changes = network.rate_changes(sections);
    let loops = network.links.iter().map(|link| {
        let later = changes.iter().filter(|change| change.from == link.from).map(|change| change.rate);
        let bytes = |rate: Rate| rate.bytes_per_second() * credit_loop(link.delay, rate, switch, largest).as_secs();
        LOOPS * later.chain([link.rate]).map(bytes).fold(0.0, f64::max)
    });
    let control = &*switch.flow_control;
    let unit = control.cbfc().map_or(CREDIT_BYTES, |cbfc| cbfc.credit.0);
    let limit = if control.cbfc().is_some() { MOST_UNITS.saturating_mul(unit) } else { u32::MAX - CREDIT_BYTES };
    let most = (loops.fold(0.0, f64::max) + f64::from(control.spacing())).min(f64::from(limit)) as u32;
    let each =
        if control.cbfc().is_some() { control.space_for(largest) } else { largest.next_multiple_of(CREDIT_BYTES) };
    let pauses = above_xon(network, switch, packet, &changes).map_or(0, |above| above.saturating_add(2 * largest));
    most.max(LEAST_PACKETS * each).max(pauses).min(limit).next_multiple_of(unit)
}

/// The bytes that may leave a paused buffer before packets of the resumed sender arrive, at most; none with credits. By
/// default, XON is two packets below the size of the buffer.
fn above_xon(network: &Network, switch: &Switch, packet: &Packet, changes: &[RateChange]) -> Option<u32> {
    let needed = needed_headrooms(&network.topology, &switch.config(Room::UNLIMITED), &packet.sizes(), changes)?;
    needed.into_iter().flatten().max()
}

/// The time from the start of a packet on an idle link until its credit is back, if the packet leaves the next switch at
/// once and at the same rate.
pub(crate) fn credit_loop(delay: Time, rate: Rate, switch: &Switch, size: u32) -> Time {
    let packet = rate.time_of(size);
    let stored = *switch.switching == Switching::StoreAndForward;
    delay + delay + *switch.forwarding_delay + if stored { packet + packet } else { packet }
}
