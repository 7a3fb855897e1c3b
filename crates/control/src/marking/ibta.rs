//! The marking of IBTA congestion control: FECN and credit starvation.
//!
//! # What it does
//! A port and virtual lane with a queue above a threshold is a root of congestion if it has credit to send, and is then
//! in the congestion state. Without credit, it is a victim of congestion elsewhere, and is in the congestion state only
//! if it is in the victim mask. Packets that leave during the congestion state and are large enough are marked (FECN),
//! either all of them or one in every few.
//!
//! Credit starvation slows down devices that do not react to marks. A packet is starved if it entered through a port in
//! the credit mask and the queue that remains at its output exceeds a threshold. The switch returns the credit of
//! starved packets late, so the sender gets credit for at most one packet per delay.
//!
//! # Source
//! InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10; the marking as described in E. G. Gran et
//! al., "First Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010, section II-A. Credit starvation
//! is not in the paper: its keys are the fields of a switch's settings in OpenSM.
//!
//! # Parameters
//! - `threshold`: `Threshold`. With 0, no packet is marked. With 1 to 15, a queue is over its threshold while more than
//!   (16 - threshold)/16 of the capacity of one input buffer waits for an output: 15/16 at 1, the least aggressive
//!   value, and 1/16 at 15. The default is from Gran 2010, Table I.
//! - `victim_mask`: `Victim_Mask`, the ports that can be congested even without credit; `host_ports` are those that
//!   lead to a host. A slow receiver marks no packets itself, but its switch can.
//! - `packet_size`: `Packet_Size`. Smaller packets are not marked.
//! - `marking_rate`: `Marking_Rate`, the number of eligible packets left unmarked between two marked ones.
//! - `spacing`: whether `marking_rate` is exact (`counted`) or a mean (`drawn`).
//! - `credit_mask`: `Credit_Mask`, the ports that starve their neighbours.
//! - `cs_threshold`: `CS_Threshold`, on the scale of `threshold`. 0 disables starvation.
//! - `cs_return_delay`: `CS_ReturnDelay`. Credit is returned (Tp >> shift) * multiplier after the previous credit or
//!   after the packet's last byte has left, whichever is later. Tp is the packet's transmission time at the rate at
//!   which the switch sends on the packet's incoming link.
//! - `overrides`: other values for some ports, as in IBTA's switch port congestion settings:
//!   - `switches`: names of switches, ranges such as `"L1S0..L1S7"`, or `"*"`,
//!   - `ports`: a list of port numbers, or `hosts` or `switches` (the ports that lead to them), or `all`,
//!   - `victim`, `credit`: whether the ports' bits in `Victim_Mask` and `Credit_Mask` are set,
//!   - the others as above; `cs_threshold` and `cs_return_delay` are those of a port with `Control_Type` 1.
//!
//!   Omitted settings keep their values. If several tables change the same setting of a port, the last one applies.
//!
//! # Departures from the source
//! - The specification leaves the meaning of a threshold to the switch manufacturer; the mapping above is ours.
//! - The state is evaluated whenever a packet joins or leaves the queue, without hysteresis. A departing packet does
//!   not count as waiting, and a port is a root only if it has credit for another packet of the largest size.
//! - In the specification, `Marking_Rate` is a mean. Each port and virtual lane has its own count, which begins with a
//!   mark.
//! - `Packet_Size` covers the entire packet on the wire. ACKs and congestion notification packets are never marked,
//!   since no adapter would answer the mark.
//! - Only the configuration fields of credit starvation are published; the rest is our choice. The mask applies to the
//!   packet's input port and the threshold to its output queue, when the header leaves. Credit is returned in order per
//!   input and virtual lane. The switch itself counts the buffer space as free as soon as the packet has left. Packets
//!   of all kinds are starved, because a port cannot tell which flows contribute.
//! - In the specification, a port with `Control_Type` 1 does not mark. Here it marks and starves, with separate
//!   thresholds.

use becalm_engine::Time;
use becalm_fabric::Rate;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};
use becalm_schema::Conflict;

use super::congestion::{CREDIT, Congestion, Rules, Spacing};
use super::overrides::{self, Override};
use super::ports::Mask;
use super::starvation::{Rule, Starvation};
use crate::cct::CctEntry;
use crate::scheme::MarkingScheme;

becalm_schema::table! {
    /// Packets that leave a port with a long queue and with credit to send are marked (FECN).
    pub struct Params {
        /// How early a queue counts as congested, from 1 (latest) to 15 (earliest); 0 for never.
        pub threshold: u32 = 15; ""; 0..=15,
        /// Ports that count as congested even without credit to send.
        pub victim_mask: Mask = Mask::None,
        /// Size of the smallest packet that is marked.
        pub packet_size: u32 = 0; "credits of 64 B"; 0..=255,
        /// Eligible packets left unmarked between two marked ones.
        pub marking_rate: u32 = 0; "packets"; 0..=65_535,
        /// Whether packets are marked at regular intervals, by counting, or at random.
        pub spacing: Spacing = Spacing::Counted,
        /// Ports that return credit to their neighbours late.
        pub credit_mask: Mask = Mask::None,
        /// How early a queue starves the masked ports that feed it, from 1 (latest) to 15 (earliest); 0 for never.
        pub cs_threshold: u32 = 0; ""; 0..=15,
        /// Delay of returned credit in packet times, multiplier / 2^shift.
        pub cs_return_delay: CctEntry = CctEntry::default(),
        /// Other values for some ports.
        pub overrides: Vec<Override> = Vec::new(),
    }
    check Params::check;
}

impl Params {
    /// Whether the credit mask may contain a port of any switch.
    fn masks_credit(&self) -> bool {
        self.credit_mask != Mask::None || self.overrides.iter().any(|other| other.credit == Some(true))
    }

    /// Whether any port of the switch starves its neighbour.
    fn starves(&self, shape: &SwitchShape) -> bool {
        (0..shape.ports).any(|port| self.rules(port, shape).1.starves())
    }

    /// Checks that settings of credit starvation have an effect, as far as possible without knowing the ports.
    fn check(&self) -> Result<(), Conflict> {
        let others = || self.overrides.iter();
        if !self.masks_credit() {
            let why = || "does nothing: no port is in the credit mask".to_string();
            Conflict::unless(self.cs_threshold == 0, "cs_threshold", why)?;
            Conflict::unless(self.cs_return_delay.multiplier() == 0, "cs_return_delay", why)?;
            return Conflict::unless(
                others().all(|other| other.credit.is_none() && !other.starves()),
                "overrides",
                || "has settings that do nothing: no port is in the credit mask".to_string(),
            );
        }
        let mask = if self.credit_mask == Mask::None { "overrides" } else { "credit_mask" };
        let late = |delay: CctEntry| delay.multiplier() > 0;
        let threshold = self.cs_threshold > 0 || others().filter_map(|other| other.cs_threshold).any(|level| level > 0);
        let delay = late(self.cs_return_delay) || others().filter_map(|other| other.cs_return_delay).any(late);
        Conflict::unless(threshold, mask, || "does nothing: needs a cs_threshold above 0".to_string())?;
        Conflict::unless(delay, mask, || "does nothing: needs a cs_return_delay above 0".to_string())
    }

    /// The rules of one port for marking departures and for starving arrivals.
    fn rules(&self, port: u16, shape: &SwitchShape) -> (Rules, Rule) {
        let mut own = self.clone();
        let (mut victim, mut credit) = (self.victim_mask.has(port, shape), self.credit_mask.has(port, shape));
        for other in self.overrides.iter().filter(|other| other.holds(port, shape)) {
            own.threshold = other.threshold.unwrap_or(own.threshold);
            own.packet_size = other.packet_size.unwrap_or(own.packet_size);
            own.marking_rate = other.marking_rate.unwrap_or(own.marking_rate);
            own.cs_threshold = other.cs_threshold.unwrap_or(own.cs_threshold);
            own.cs_return_delay = other.cs_return_delay.unwrap_or(own.cs_return_delay);
            victim = other.victim.unwrap_or(victim);
            credit = other.credit.unwrap_or(credit);
        }
        let bytes = |level| threshold_bytes(level, shape.capacity_bytes).unwrap_or(u64::MAX);
        let threshold = bytes(own.threshold);
        let marking = Rules {
            enter: threshold,
            leave: threshold,
            victim,
            smallest: own.packet_size * CREDIT,
            marking_rate: own.marking_rate,
            spacing: own.spacing,
        };
        let starving = if credit { bytes(own.cs_threshold) } else { u64::MAX };
        (marking, Rule { threshold: starving, delay: own.cs_return_delay })
    }
}

/// Largest number of bytes that can wait for an output without crossing a threshold of 0 to 15, given the `capacity` of
/// an input buffer; `None` if the threshold is never crossed.
fn threshold_bytes(level: u32, capacity: u32) -> Option<u64> {
    let sixteenths = 16_u32.saturating_sub(level);
    (level > 0).then(|| u64::from(capacity) * u64::from(sixteenths) / 16)
}

/// The marker.
#[derive(Clone, Debug)]
pub struct Ibta {
    congestion: Congestion,
    /// `None` if no port starves its neighbour.
    starvation: Option<Box<Starvation>>,
}

impl MarkingScheme for Ibta {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> Ibta {
        let (marking, starving) = (0..shape.ports).map(|port| params.rules(port, &shape)).unzip();
        let starvation = Starvation::new(starving, shape.vls);
        Ibta { congestion: Congestion::new(marking, shape.vls), starvation }
    }

    fn needs_finite_buffer(_: &Params) -> bool {
        true
    }

    fn needs_credit(params: &Params) -> Option<Conflict> {
        let key = if params.masks_credit() { "credit_mask" } else { "victim_mask" };
        let everybody = params.victim_mask == Mask::All && params.overrides.iter().all(|own| own.victim != Some(false));
        let problem = "needs credit for starvation, and to tell roots from victims; \
                       with pfc, victim_mask must be \"all\" and no port may be in the credit mask";
        (params.masks_credit() || !everybody).then(|| Conflict::new(key, problem))
    }

    fn marks_at(params: &Params, shape: &SwitchShape, _: Rate) -> Option<u64> {
        (0..shape.ports).map(|port| params.rules(port, shape).0.enter).min()
    }

    fn conflicts(params: &Params, switches: &[SwitchShape]) -> Vec<Conflict> {
        let mut all = overrides::conflicts(&params.overrides, switches);
        if all.is_empty() && params.masks_credit() && !switches.iter().any(|shape| params.starves(shape)) {
            let problem = "do nothing: no port in the credit mask has cs_threshold and cs_return_delay above 0";
            all.push(Conflict::new("overrides", problem));
        }
        all
    }

    fn takes_trains(params: &Params) -> bool {
        let sizes = params.packet_size > 0 || params.overrides.iter().any(|own| own.packet_size.is_some());
        !sizes && !params.masks_credit()
    }
}

impl Marker for Ibta {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.congestion.arrived(arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        if let Some(starvation) = &mut self.starvation {
            starvation.departing(departure, switch);
        }
        self.congestion.departing(departure, switch)
    }

    fn left(&mut self, now: Time, input: u16, output: u16, vl: u8) -> Time {
        match &mut self.starvation {
            Some(starvation) => starvation.left(now, input, output, vl),
            None => now,
        }
    }

    fn attention(&self) -> Attention {
        if self.starvation.is_some() { Attention::Tails } else { Attention::Queues }
    }

    fn is_congested(&self, output: u16, vl: u8) -> bool {
        self.congestion.is_congested(output, vl)
    }
}

#[cfg(test)]
mod tests;
