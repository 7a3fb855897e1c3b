//! Properties of all marking policies.

use std::fmt::Debug;

use becalm_control::MarkingScheme;
use becalm_engine::Time;
use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Departure, SwitchShape, SwitchView};
use proptest::prelude::*;

/// Size of a data packet in bytes.
const SIZE: u32 = 2068;

/// The same packets always get the same verdicts.
pub fn repeats_itself<M>(params: &M::Params, steps: &[u16]) -> Result<(), TestCaseError>
where
    M: MarkingScheme<Params: Debug>,
{
    prop_assert_eq!(verdicts::<M>(params, steps), verdicts::<M>(params, steps));
    Ok(())
}

/// An otherwise empty switch does not mark packets.
pub fn leaves_an_idle_switch_alone<M>(params: &M::Params, steps: &[u16]) -> Result<(), TestCaseError>
where
    M: MarkingScheme<Params: Debug>,
{
    let mut marker = M::new(params, shape());
    for (order, step) in steps.iter().enumerate() {
        let (arrival, departure) = packet(order as u64, *step, false);
        let switch = Switch { packets: vec![departure] };
        marker.arrived(&arrival, &switch);
        prop_assert!(!marker.departing(&departure, &switch), "{params:?}");
        marker.left(departure.now, departure.input, departure.output, departure.vl);
    }
    Ok(())
}

fn shape() -> SwitchShape {
    let host_ports = vec![true, true, false, false];
    SwitchShape { name: "S".to_string(), ports: 4, vls: 2, capacity_bytes: Switch::ROOM * SIZE, host_ports }
}

/// A switch with these packets.
struct Switch {
    packets: Vec<Departure>,
}

impl Switch {
    const ROOM: u32 = 4;

    fn count(&self, which: impl Fn(&Departure) -> bool) -> u32 {
        self.packets.iter().filter(|packet| which(packet)).count() as u32
    }

    /// Packets in an input buffer.
    fn occupancy(&self, input: u16, vl: u8) -> u32 {
        self.count(|packet| (packet.input, packet.vl) == (input, vl))
    }
}

impl SwitchView for Switch {
    fn room(&self, input: u16, vl: u8) -> u32 {
        Switch::ROOM - self.occupancy(input, vl)
    }
    fn waiting(&self, output: u16, vl: u8) -> u32 {
        self.count(|packet| (packet.output, packet.vl) == (output, vl))
    }
    fn waiting_bytes(&self, output: u16, vl: u8) -> u64 {
        self.packets.iter().filter(|p| (p.output, p.vl) == (output, vl)).map(|p| u64::from(p.size)).sum()
    }
    fn present(&self, output: u16, vl: u8) -> u32 {
        self.waiting(output, vl)
    }
    fn present_from(&self, input: u16, output: u16, vl: u8) -> u32 {
        self.count(|packet| (packet.input, packet.output, packet.vl) == (input, output, vl))
    }
    fn credit(&self, output: u16, _: u8) -> u32 {
        if output.is_multiple_of(2) { u32::MAX } else { 0 }
    }
    fn blocked_until(&self, output: u16, _: u8) -> Option<Time> {
        (output == 1).then_some(Time::from_us(3))
    }
    fn packet_time(&self, _: u16, size: u32) -> Time {
        Time::from_ns(u64::from(size))
    }
}

/// Returns a packet with ports, lane and kind from the bits of `step`.
fn packet(order: u64, step: u16, waits: bool) -> (Arrival, Departure) {
    let now = Time::from_us(order);
    let (input, output, vl) = (step & 3, (step >> 2) & 3, ((step >> 4) & 1) as u8);
    let (size, kind) = if step & 32 == 0 { (SIZE, Kind::Data) } else { (20, Kind::Ack) };
    let arrival = Arrival { now, order, input, output, vl, size, kind, waits };
    (arrival, Departure { now, order, input, output, vl, size, kind, tie: u32::from(step), switch: 0 })
}

/// Verdicts of a marker on packets that arrive and depart according to the steps.
fn verdicts<M: MarkingScheme<Params: Debug>>(params: &M::Params, steps: &[u16]) -> Vec<bool> {
    let mut marker = M::new(params, shape());
    let mut switch = Switch { packets: Vec::new() };
    let mut all = Vec::new();
    let mut returned = [[Time::ZERO; 2]; 4];
    for (order, step) in steps.iter().enumerate() {
        let (arrival, departure) = packet(order as u64, *step, step & 64 == 0);
        if switch.occupancy(arrival.input, arrival.vl) < Switch::ROOM {
            switch.packets.push(departure);
            marker.arrived(&arrival, &switch);
        }
        if step & 128 != 0 && !switch.packets.is_empty() {
            let place = usize::from(step >> 8) % switch.packets.len();
            let leaves = switch.packets[place];
            all.push(marker.departing(&leaves, &switch));
            let returns_at = marker.left(arrival.now, leaves.input, leaves.output, leaves.vl);
            let latest = &mut returned[usize::from(leaves.input)][usize::from(leaves.vl)];
            assert!(returns_at >= arrival.now && returns_at >= *latest, "{params:?}: credit goes back in order");
            *latest = returns_at;
            switch.packets.remove(place);
        }
    }
    all
}
