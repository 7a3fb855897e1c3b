//! The size of input buffers, once the network is known.

use becalm_engine::Time;
use becalm_fabric::{CREDIT_BYTES, Rate, Room};

use super::links::Link;
use super::network::Network;
use crate::sections::Sections;
use crate::sections::flow_control::FlowControl;
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
        let (switch, packet) = (sections.switch.get()?, sections.packet.complete()?);
        let largest = sections.largest(packet);
        Some(match *switch.buffer.get()? {
            Buffer::Unlimited => Buffers::default(),
            Buffer::Bytes(bytes) => Buffers { room: Room::Bytes(bytes), bytes },
            Buffer::Slots(slots) => Buffers { room: Room::Slots(slots), bytes: slots.saturating_mul(largest) },
            Buffer::Packets(packets) => {
                let credited = matches!(switch.flow_control.get()?, FlowControl::Credits(_));
                let each = if credited { largest.next_multiple_of(CREDIT_BYTES) } else { largest };
                Buffers { room: Room::Bytes(packets.saturating_mul(each)), bytes: packets.saturating_mul(largest) }
            }
            Buffer::Auto => {
                let bytes = automatic(sections, network, switch, largest);
                Buffers { room: Room::Bytes(bytes), bytes }
            }
        })
    }
}

/// A buffer that keeps every link busy, in whole credits.
fn automatic(sections: &Sections, network: &Network, switch: &Switch, largest: u32) -> u32 {
    let fastest = |link: &Link| {
        let later = sections.changes.items().iter().filter_map(|change| change.get());
        let later = later.filter(|change| change.link.get().is_some_and(|name| *name == link.name));
        let rates = later.filter_map(|change| Some(change.rate.get()?.rate()));
        rates.chain([link.rate]).max_by(|a, b| a.bytes_per_second().total_cmp(&b.bytes_per_second()))
    };
    let needed = network.links.iter().filter_map(|link| Some(loop_bytes(link, fastest(link)?, switch, largest)));
    let most = needed.fold(0.0, f64::max);
    let least = LEAST_PACKETS * largest.next_multiple_of(CREDIT_BYTES);
    let bytes = (LOOPS * most).min(f64::from(u32::MAX - CREDIT_BYTES)) as u32;
    bytes.max(least).next_multiple_of(CREDIT_BYTES)
}

/// The bytes that a link sends in its credit loop.
fn loop_bytes(link: &Link, rate: Rate, switch: &Switch, size: u32) -> f64 {
    rate.bytes_per_second() * credit_loop(link.delay, rate, switch, size).as_secs()
}

/// The time from the start of a packet on an idle link until its credit is back, if the packet leaves the next switch at
/// once and at the same rate.
pub(crate) fn credit_loop(delay: Time, rate: Rate, switch: &Switch, size: u32) -> Time {
    let packet = rate.time_of(size);
    let stored = switch.switching.get() == Some(&Switching::StoreAndForward);
    let forwarding = switch.forwarding_delay.get().copied().unwrap_or(Time::ZERO);
    delay + delay + forwarding + if stored { packet + packet } else { packet }
}
