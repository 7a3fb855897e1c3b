//! Code shared by triggered markers. It marks the packets that wait for an output when marking is triggered.

use becalm_engine::Time;
use becalm_fabric::policy::{Arrival, Attention, Departure, SwitchShape, SwitchView};

becalm_schema::words! {
    /// How waiting packets get their marks when marking is triggered.
    pub enum Method {
        /// The next departures are marked, as many as there were waiting packets (the paper's two counters).
        Counters = "counters",
        /// Exactly the waiting packets are marked, regardless of the order in which they leave.
        Scan = "scan",
    }
}

becalm_schema::words! {
    /// When to check whether an input buffer is full.
    pub enum Full {
        /// When a packet has to wait, after the forwarding decision.
        Forwarded = "forwarded",
        /// When the last byte of a packet has arrived, if the packet is still waiting.
        Stored = "stored",
    }
}

/// The rule that decides when an input buffer counts as full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fullness {
    pub full: Full,
    /// Free slots at which the buffer already counts as full.
    pub headroom: u32,
}

impl Fullness {
    /// Whether the input buffer of a packet is full at this check.
    pub(super) fn is_reached<V: SwitchView>(self, time: Full, arrival: &Arrival, switch: &V) -> bool {
        self.full == time && arrival.waits && switch.room(arrival.input, arrival.vl) <= self.headroom
    }

    /// Events that a marker with this rule needs to be notified of.
    pub(super) fn attention(self) -> Attention {
        match self.full {
            Full::Forwarded => Attention::Tails,
            Full::Stored => Attention::Storage,
        }
    }
}

/// Whether a packet leaves on a link that was blocked at most `after` ago. A link is blocked if it has packets to send
/// but no credit.
pub(super) fn is_spared<V: SwitchView>(departure: &Departure, after: Time, switch: &V) -> bool {
    let blocked = || switch.blocked_until(departure.output, departure.vl);
    after > Time::ZERO && blocked().is_some_and(|until| departure.now <= until + after)
}

/// For every port and virtual lane, the position in the order of arrival below which packets are marked.
#[derive(Clone, Debug)]
pub(super) struct Watermarks {
    vls: usize,
    below: Vec<u64>,
}

impl Watermarks {
    pub(super) fn new(shape: SwitchShape) -> Watermarks {
        let vls = usize::from(shape.vls);
        Watermarks { vls, below: vec![0; usize::from(shape.ports) * vls] }
    }

    /// Marks all packets that have arrived so far, up to number `order`.
    pub(super) fn raise(&mut self, port: u16, vl: u8, order: u64) {
        self.below[usize::from(port) * self.vls + usize::from(vl)] = order + 1;
    }

    pub(super) fn covers(&self, port: u16, vl: u8, order: u64) -> bool {
        order < self.below[usize::from(port) * self.vls + usize::from(vl)]
    }
}

/// Marks the packets that wait for an output.
#[derive(Clone, Debug)]
pub(super) struct Trigger {
    ports: u16,
    fullness: Fullness,
    spare_blocked: Time,
    marks: Marks,
}

#[derive(Clone, Debug)]
enum Marks {
    /// For every output and virtual lane, the number of next departures to mark: the paper's `cnt2`.
    Counters { vls: usize, left: Vec<u32> },
    /// For every output and virtual lane, the arrivals to mark.
    Scan(Watermarks),
}

impl Trigger {
    pub(super) fn new(method: Method, fullness: Fullness, spare_blocked: Time, shape: SwitchShape) -> Trigger {
        let (ports, vls) = (shape.ports, usize::from(shape.vls));
        let marks = match method {
            Method::Counters => Marks::Counters { vls, left: vec![0; usize::from(ports) * vls] },
            Method::Scan => Marks::Scan(Watermarks::new(shape)),
        };
        Trigger { ports, fullness, spare_blocked, marks }
    }

    /// If a packet fills its input buffer, marks the packets that wait for any output used by packets in the buffer.
    pub(super) fn on_full_input<V: SwitchView>(&mut self, time: Full, arrival: &Arrival, switch: &V) {
        if !self.fullness.is_reached(time, arrival, switch) {
            return;
        }
        for output in 0..self.ports {
            if switch.present_from(arrival.input, output, arrival.vl) > 0 {
                self.mark_waiting(output, arrival, switch);
            }
        }
    }

    /// Events that the marker needs to be notified of.
    pub(super) fn attention(&self) -> Attention {
        self.fullness.attention()
    }

    /// Marks the waiting packets if this packet has to wait and the packets for its output, including the one in
    /// transmission, exceed the threshold.
    pub(super) fn on_long_output<V: SwitchView>(&mut self, threshold: u32, arrival: &Arrival, switch: &V) {
        if arrival.waits && switch.present(arrival.output, arrival.vl) > threshold {
            self.mark_waiting(arrival.output, arrival, switch);
        }
    }

    fn mark_waiting<V: SwitchView>(&mut self, output: u16, arrival: &Arrival, switch: &V) {
        match &mut self.marks {
            Marks::Counters { vls, left } => {
                left[usize::from(output) * *vls + usize::from(arrival.vl)] = switch.waiting(output, arrival.vl);
            }
            Marks::Scan(watermarks) => watermarks.raise(output, arrival.vl, arrival.order),
        }
    }

    /// Whether a departing packet is marked.
    pub(super) fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        let chosen = match &mut self.marks {
            Marks::Counters { vls, left } => {
                let left = &mut left[usize::from(departure.output) * *vls + usize::from(departure.vl)];
                let marked = *left > 0;
                *left -= u32::from(marked);
                marked
            }
            Marks::Scan(watermarks) => watermarks.covers(departure.output, departure.vl, departure.order),
        };
        chosen && !is_spared(departure, self.spare_blocked, switch)
    }
}

/// A switch for tests: packets wait in buffers until the test lets them go.
#[cfg(test)]
pub(super) mod fake {
    use becalm_engine::Time;
    use becalm_fabric::Kind;
    use becalm_fabric::policy::{Arrival, Departure, Marker, SwitchShape, SwitchView};

    /// Bytes of every packet.
    pub const SIZE: u32 = 2068;

    /// A switch with four ports, of which the last leads to a host, two virtual lanes, and space for 16 packets in each
    /// buffer.
    pub fn shape() -> SwitchShape {
        let host_ports = vec![false, false, false, true];
        SwitchShape { name: "S1".to_string(), ports: 4, vls: 2, capacity_bytes: 16 * SIZE, host_ports }
    }

    pub struct Switch {
        /// Number of packets for which every output holds credit.
        pub credit: u32,
        /// The time of the next event.
        pub now: Time,
        /// When every output was last blocked.
        pub blocked_until: Option<Time>,
        room: u32,
        arrivals: u64,
        waiting: Vec<Departure>,
        sending: Vec<Departure>,
    }

    impl Switch {
        /// A switch with space for `room` packets in each input buffer.
        pub fn new(room: u32) -> Switch {
            Switch {
                credit: u32::MAX,
                now: Time::ZERO,
                blocked_until: None,
                room,
                arrivals: 0,
                waiting: Vec::new(),
                sending: Vec::new(),
            }
        }

        /// Lets a packet arrive and wait; returns its position in the order of arrival.
        pub fn arrive(&mut self, marker: &mut impl Marker, input: u16, output: u16, vl: u8) -> u64 {
            self.come(marker, input, output, vl, true)
        }

        /// Lets a packet arrive that may leave at once.
        pub fn arrive_cutting_through(&mut self, marker: &mut impl Marker, input: u16, output: u16, vl: u8) -> u64 {
            self.come(marker, input, output, vl, false)
        }

        fn come(&mut self, marker: &mut impl Marker, input: u16, output: u16, vl: u8, waits: bool) -> u64 {
            let (now, order, size, kind) = (self.now, self.arrivals, SIZE, Kind::Data);
            self.arrivals += 1;
            self.waiting.push(Departure { now, order, input, output, vl, size, kind, tie: 0, switch: 0 });
            marker.arrived(&Arrival { now, order, input, output, vl, size, kind, waits }, self);
            order
        }

        /// Lets the last byte of a waiting packet arrive.
        pub fn store(&mut self, marker: &mut impl Marker, order: u64) {
            let packet = self.waiting.iter().find(|packet| packet.order == order).expect("the packet waits");
            let &Departure { input, output, vl, size, kind, .. } = packet;
            let arrival = Arrival { now: self.now, order, input, output, vl, size, kind, waits: true };
            marker.stored(&arrival, self);
        }

        /// Lets a packet leave at once; returns whether it is marked.
        pub fn depart(&mut self, marker: &mut impl Marker, order: u64) -> bool {
            let marked = self.begin(marker, order);
            self.sending.pop();
            marked
        }

        /// Lets a packet begin to leave and stay in transmission; returns whether it is marked.
        pub fn begin(&mut self, marker: &mut impl Marker, order: u64) -> bool {
            let place = self.waiting.iter().position(|packet| packet.order == order).expect("the packet is there");
            let departure = self.waiting[place];
            let marked = marker.departing(&departure, self);
            self.sending.push(self.waiting.remove(place));
            marked
        }

        fn count(&self, which: impl Fn(&Departure) -> bool) -> u32 {
            self.waiting.iter().filter(|packet| which(packet)).count() as u32
        }
    }

    impl SwitchView for Switch {
        fn room(&self, input: u16, vl: u8) -> u32 {
            self.room - self.count(|packet| packet.input == input && packet.vl == vl)
        }
        fn waiting(&self, output: u16, vl: u8) -> u32 {
            self.count(|packet| packet.output == output && packet.vl == vl)
        }
        fn waiting_bytes(&self, output: u16, vl: u8) -> u64 {
            u64::from(self.waiting(output, vl)) * u64::from(SIZE)
        }
        fn present(&self, output: u16, vl: u8) -> u32 {
            let sending = self.sending.iter().filter(|packet| packet.output == output && packet.vl == vl);
            self.waiting(output, vl) + sending.count() as u32
        }
        fn present_from(&self, input: u16, output: u16, vl: u8) -> u32 {
            let goes = |packet: &Departure| packet.input == input && packet.output == output && packet.vl == vl;
            self.count(goes) + self.sending.iter().filter(|packet| goes(packet)).count() as u32
        }
        fn credit(&self, _: u16, _: u8) -> u32 {
            self.credit
        }
        fn blocked_until(&self, _: u16, _: u8) -> Option<Time> {
            self.blocked_until
        }
        fn packet_time(&self, _: u16, size: u32) -> Time {
            Time::from_ns(u64::from(size))
        }
    }
}
