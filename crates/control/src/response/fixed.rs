//! A fixed rate.
//!
//! # What it does
//! The flow keeps a manually set rate and window and ignores marks. By default, a gap follows each packet, so a packet
//! that waits delays all packets after it. With a schedule, packets after a late one leave as soon as the window
//! allows.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section IV-B
//! (Fig. 3 (d)): "the rate limit for each flow is set manually to the optimal value".
//!
//! # Parameters
//! - `rate`: the rate.
//! - `window`: limit in packets.
//! - `pacing`: see above.
//!
//! # Departures from the source
//! None.

use becalm_engine::Time;
use becalm_fabric::Rate;
use becalm_fabric::policy::{FlowShape, Notice, Pace, Response, Sent};

use super::window::Window;
use crate::scheme::{Companions, MarkingFor, ResponseScheme};

becalm_schema::words! {
    /// How packets are spaced.
    pub enum Pacing {
        /// A gap follows each packet.
        Gap = "gap",
        /// Packets have times in a schedule. A late packet does not delay the ones after it.
        Schedule = "schedule",
    }
}

becalm_schema::table! {
    /// The flow keeps a manually set rate.
    pub struct Params {
        /// The rate.
        pub rate: f64; "of the link rate"; 1e-6..=1.0,
        /// Largest number of unacknowledged packets.
        pub window: Window = Window(1); "packets",
        /// How packets are spaced.
        pub pacing: Pacing = Pacing::Gap,
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Fixed {
    pace: Pace,
    /// Rate of the source's link, and time of the next packet in the schedule; `None` without a schedule.
    schedule: Option<(Rate, Time)>,
    /// Packet times between two packets of the schedule.
    interval: f64,
}

impl ResponseScheme for Fixed {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Any, echo: "ack" })
    }

    fn new(params: &Params) -> Fixed {
        let interval = 1.0 / params.rate;
        let pace = Pace { gap: interval - 1.0, window: params.window.0 };
        let schedule = (params.pacing == Pacing::Schedule).then_some((Rate::from_bits_per_second(1.0), Time::ZERO));
        Fixed { pace, schedule, interval }
    }
}

impl Response for Fixed {
    fn start(&mut self, flow: &FlowShape) {
        if let Some((rate, _)) = &mut self.schedule {
            *rate = flow.rate;
        }
    }

    fn is_steady(&self) -> bool {
        self.schedule.is_none()
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        if let (Some((_, next)), Notice::Restart) = (&mut self.schedule, notice) {
            *next = Time::ZERO;
        }
    }

    fn sent(&mut self, sent: &Sent) {
        let Some((rate, next)) = &mut self.schedule else { return };
        let packet = rate.time_of(sent.bytes);
        let planned = if *next == Time::ZERO { sent.now } else { *next };
        *next = planned + packet.scaled(self.interval);
        let end = sent.now + packet;
        let rest = if *next > end { next.since(end) } else { Time::ZERO };
        self.pace.gap = rest.as_ps() as f64 / packet.as_ps().max(1) as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_delays_the_next_one_by_a_gap_but_not_by_a_schedule() {
        let ns = |time: u64| Time::from_ns(time);
        let shape = FlowShape {
            rate: Rate::from_bits_per_second(8e9),
            mtu: 1000,
            header: 0,
            base_rtt: Time::from_us(2),
            longest_rtt: Time::from_us(2),
            hops: 2,
        };
        let due = |pacing| {
            let mut fixed = Fixed::new(&Params { rate: 0.5, window: Window(1), pacing });
            fixed.start(&shape);
            // Packets of 1 us, which leave at 0, 5 and 6 us instead of 0, 2 and 4 us.
            [0, 5000, 6000].map(|now| {
                fixed.sent(&Sent { now: ns(now), bytes: 1000, in_flight: 1 });
                let end = ns(now) + ns(1000);
                end + ns(1000).scaled(fixed.pace().gap)
            })
        };
        assert_eq!(due(Pacing::Gap), [2000, 7000, 8000].map(ns));
        assert_eq!(due(Pacing::Schedule), [2000, 6000, 7000].map(ns), "the third packet was due at 4 us");
    }
}
