//! The switch of IBTA congestion control: FECN, and credit starvation.
//!
//! # What it does
//! A port and virtual lane whose queue is over a threshold is in the congestion state if it has credit to send: then
//! it is the root of the congestion. Without credit it is a victim of congestion elsewhere, and in the congestion
//! state only if the victim mask says so. Packets that leave in the congestion state are marked (FECN) if they are
//! large enough, all of them or every so many.
//!
//! Marks do not reach devices without congestion control. Credit starvation slows these down: a packet is starved if it
//! came in by a port of the credit mask and leaves a queue over a threshold behind, be that a root's or a victim's.
//! Its credit is given back late. So a starved source gets credit for one packet in each delay.
//!
//! # Source
//! InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10; the marking as described in E. G. Gran
//! et al., "First Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010, section II-A. The paper
//! leaves credit starvation out: its parameters are the fields of a switch's settings, as OpenSM sets them.
//!
//! # Parameters
//! - `threshold`: `Threshold`, 0 to 15. 0 marks nothing. From 1 on, the threshold is crossed while more than
//!   (16 - threshold)/16 of the capacity of one input buffer waits for an output: 15/16 at 1, the least aggressive,
//!   1/16 at 15. The default is that of Gran 2010, Table I.
//! - `victim_mask`: `Victim_Mask`, the ports that are congested without credit too: `none`, `all`, or `host_ports`,
//!   those that lead to a host. A host that receives too slowly marks nothing itself; the switch before it can.
//! - `packet_size`: `Packet_Size`, in credits of 64 B, 0 to 255; smaller packets are not marked.
//! - `marking_rate`: `Marking_Rate`, 0 to 65535: packets that could be marked and are not, between two that are.
//! - `credit_mask`: `Credit_Mask`, the ports that starve what is at the other end: `none`, `all`, or `host_ports`.
//! - `cs_threshold`: `CS_Threshold`, 0 to 15, counted as `threshold` is. 0 starves nobody.
//! - `cs_return_delay`: `CS_ReturnDelay`, a pair [shift, multiplier] with a shift of at most 3 and a multiplier of at
//!   most 16383. Credit comes back (Tp >> shift) * multiplier after the credit before it or after the packet's last
//!   byte has left, whichever is later; Tp is the packet's time on the link that it came in by, at the rate at which
//!   the switch sends there.
//! - `overrides`: other values for some ports, as the switch port congestion settings give them: a list of tables with
//!   - `switches`: names of switches, ranges such as `"L1S0..L1S7"`, or `"*"`,
//!   - `ports`: a list of port numbers, or `hosts`, `switches` (by what is at the other end), `all`,
//!   - `threshold`, `packet_size`, `marking_rate` as above,
//!   - `victim`: whether the ports' bits in `Victim_Mask` are set,
//!   - `credit`: whether their bits in `Credit_Mask` are set,
//!   - `cs_threshold`, `cs_return_delay` as above: the settings of a port with `Control_Type` 1.
//!
//!   What is left out stays as it is. Of several for the same port the last one holds.
//!
//! # Departures from the source
//! - The specification leaves the meaning of a threshold to the maker of the switch; the mapping above is ours. An
//!   output may have more waiting than one input buffer holds, since all inputs feed it.
//! - The state is looked at whenever a packet joins the queue and whenever one leaves, and not held in between. A
//!   packet that leaves counts neither as waiting nor the credit it takes as left: a port is a root if it has credit
//!   for another packet of the largest size.
//! - `Marking_Rate` is a mean number of packets; here it is met by counting, without chance. The count is per port
//!   and virtual lane, begins with a mark, and goes on from one congestion to the next.
//! - `Packet_Size` holds for whole packets on the wire. ACKs and congestion notification packets are never marked,
//!   whatever it is, since no adapter would answer the mark.
//! - A port's own setting need not be whole: what it leaves out is that of the switch.
//! - Of credit starvation, the fields alone are published: the ports, how aggressively, a delay in the encoding of a
//!   table entry. Which queue is compared with the threshold and which credit is late is our choice: the port in the
//!   mask is the one that packets come in by, the queue that of the output that they leave by, and the verdict falls
//!   when the header leaves. Credit of one input and virtual lane is given back in order, so that of a packet that is
//!   not starved may wait behind that of one that is. To the switch itself the room is free as soon as the packet has
//!   left. Packets of all kinds starve, also those of flows that have no part in the congestion: a port cannot tell
//!   them apart.
//! - A port with `Control_Type` 1 would not mark. Here it marks and starves, each by its own threshold.

use becalm_engine::Time;
use becalm_fabric::policy::{Arrival, Departure, Marker, SwitchShape, SwitchView};
use becalm_schema::{Conflict, names::covers};

use super::congestion::{CREDIT, Congestion, Rules};
use super::ports::{Mask, Ports};
use super::starvation::{Rule, Starvation};
use crate::cct::CctEntry;

becalm_schema::table! {
    /// Packets that leave a port with a long queue and with credit to send are marked (FECN).
    pub struct Params {
        /// How early a queue counts as congested: 0 for never, 15 for the earliest.
        pub threshold: u32 = 15; ""; 0..=15,
        /// Ports that count as congested without credit to send, too.
        pub victim_mask: Mask = Mask::None,
        /// Size of the smallest packet that is marked.
        pub packet_size: u32 = 0; "credits of 64 B"; 0..=255,
        /// Packets that could be marked and are not, between two that are.
        pub marking_rate: u32 = 0; "packets"; 0..=65_535,
        /// Ports that give credit back late to what is at the other end.
        pub credit_mask: Mask = Mask::None,
        /// How early a queue starves the ports in the mask that feed it: 0 for never, 15 for the earliest.
        pub cs_threshold: u32 = 0; ""; 0..=15,
        /// How late credit is given back, in packet times: multiplier / 2^shift.
        pub cs_return_delay: CctEntry = CctEntry::default(),
        /// Ports with other values.
        pub overrides: Vec<Override> = Vec::new(),
    }
    check Params::check;
}

becalm_schema::table! {
    /// Other values for some ports.
    pub struct Override {
        /// Names of switches, ranges of them, or `"*"` for all.
        pub switches: Vec<String> = vec!["*".to_string()],
        /// The ports: a list of numbers, or `"hosts"`, `"switches"` or `"all"`.
        pub ports: Ports = Ports::All,
        /// How early a queue counts as congested.
        pub threshold: Option<u32> = None; ""; 0..=15,
        /// Whether the ports count as congested without credit to send, too.
        pub victim: Option<bool> = None,
        /// Size of the smallest packet that is marked.
        pub packet_size: Option<u32> = None; "credits of 64 B"; 0..=255,
        /// Packets that could be marked and are not, between two that are.
        pub marking_rate: Option<u32> = None; "packets"; 0..=65_535,
        /// Whether the ports give credit back late.
        pub credit: Option<bool> = None,
        /// How early a queue starves the ports.
        pub cs_threshold: Option<u32> = None; ""; 0..=15,
        /// How late credit is given back.
        pub cs_return_delay: Option<CctEntry> = None,
    }
    check Override::check;
}

impl Override {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(!self.switches.is_empty(), "switches", || "must name at least one switch".to_string())?;
        let numbers = [self.threshold, self.packet_size, self.marking_rate].iter().any(Option::is_some);
        let given = numbers || self.victim.is_some() || self.credit.is_some() || self.starves();
        Conflict::unless(given, "threshold", || "is missing, or another value: nothing is overridden".to_string())?;
        Conflict::unless(self.credit != Some(false) || !self.starves(), "credit", || {
            "must be true where cs_threshold or cs_return_delay is set".to_string()
        })
    }

    /// Whether it says how the ports starve.
    fn starves(&self) -> bool {
        self.cs_threshold.is_some() || self.cs_return_delay.is_some()
    }

    /// Whether it holds for a port.
    fn holds(&self, port: u16, shape: &SwitchShape) -> bool {
        let named = self.switches.iter().any(|text| text == "*" || covers(text, &shape.name));
        named && self.ports.has(port, shape)
    }
}

impl Params {
    /// Whether ports are in the credit mask, wherever they are.
    pub fn masks_credit(&self) -> bool {
        self.credit_mask != Mask::None || self.overrides.iter().any(|other| other.credit == Some(true))
    }

    /// Whether a port of such a switch starves what sends to it.
    pub fn starves(&self, shape: &SwitchShape) -> bool {
        (0..shape.ports).any(|port| self.rules(port, shape).1.starves())
    }

    /// What is said of credit starvation must have an effect, as far as that follows without knowing the ports.
    fn check(&self) -> Result<(), Conflict> {
        let others = || self.overrides.iter();
        if !self.masks_credit() {
            let why = || "does nothing: no port is in the credit mask".to_string();
            Conflict::unless(self.cs_threshold == 0, "cs_threshold", why)?;
            Conflict::unless(self.cs_return_delay.multiplier() == 0, "cs_return_delay", why)?;
            return Conflict::unless(
                others().all(|other| other.credit.is_none() && !other.starves()),
                "overrides",
                || "sets what does nothing: no port is in the credit mask".to_string(),
            );
        }
        let mask = if self.credit_mask == Mask::None { "overrides" } else { "credit_mask" };
        let late = |delay: CctEntry| delay.multiplier() > 0;
        let threshold = self.cs_threshold > 0 || others().filter_map(|other| other.cs_threshold).any(|level| level > 0);
        let delay = late(self.cs_return_delay) || others().filter_map(|other| other.cs_return_delay).any(late);
        Conflict::unless(threshold, mask, || "starves nobody: needs a cs_threshold above 0".to_string())?;
        Conflict::unless(delay, mask, || "starves nobody: needs a cs_return_delay above 0".to_string())
    }

    /// The rules of one port: of marking what leaves by it, and of starving what comes in.
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
        };
        let starving = if credit { bytes(own.cs_threshold) } else { u64::MAX };
        (marking, Rule { threshold: starving, delay: own.cs_return_delay })
    }
}

/// Bytes that may wait for an output before it is over a threshold of 0 to 15, if an input buffer holds `capacity`;
/// `None` if it never is.
fn threshold_bytes(level: u32, capacity: u32) -> Option<u64> {
    let sixteenths = 16_u32.saturating_sub(level);
    (level > 0).then(|| u64::from(capacity) * u64::from(sixteenths) / 16)
}

/// The marker.
#[derive(Clone, Debug)]
pub struct Ibta {
    congestion: Congestion,
    /// Where there is any.
    starvation: Option<Box<Starvation>>,
}

impl Ibta {
    /// A marker for one switch.
    pub fn new(params: &Params, shape: SwitchShape) -> Ibta {
        let (marking, starving) = (0..shape.ports).map(|port| params.rules(port, &shape)).unzip();
        let starvation = Starvation::new(starving, shape.vls);
        Ibta { congestion: Congestion::new(marking, shape.vls), starvation }
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

    fn is_congested(&self, output: u16, vl: u8) -> bool {
        self.congestion.is_congested(output, vl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::trigger::fake::{SIZE, Switch, shape};
    use becalm_fabric::Kind;
    use becalm_schema::Field;

    /// A port to another switch.
    const OUTPUT: u16 = 2;
    /// The port to a host.
    const HOST: u16 = 3;

    fn default() -> Params {
        Params::default()
    }

    /// A switch with `packets` that wait for `output`, and its marker.
    fn queue(params: &Params, packets: u32, output: u16) -> (Switch, Ibta) {
        let (mut switch, mut marker) = (Switch::new(100), Ibta::new(params, shape()));
        for _ in 0..packets {
            switch.arrive(&mut marker, 0, output, 0);
        }
        (switch, marker)
    }

    /// Whether the marker marks a packet that leaves while the queue of the switch waits.
    fn marks(marker: &mut Ibta, switch: &Switch, output: u16, size: u32, kind: Kind) -> bool {
        let leaves = Departure { now: Time::ZERO, order: 0, input: 0, output, vl: 0, size, kind };
        marker.departing(&leaves, switch)
    }

    /// How many packets leave a queue of `packets` marked, if nothing else comes.
    fn marked(params: &Params, packets: u32, output: u16, credit: u32) -> usize {
        let (mut switch, mut marker) = queue(params, packets, output);
        switch.credit = credit;
        (0..u64::from(packets)).filter(|order| switch.depart(&mut marker, *order)).count()
    }

    #[test]
    fn a_threshold_is_so_many_sixteenths_of_an_input_buffer() {
        let bytes = |level| threshold_bytes(level, 32_000);
        assert_eq!([0, 1, 8, 14, 15].map(bytes), [None, Some(30_000), Some(16_000), Some(4_000), Some(2_000)]);
    }

    #[test]
    fn marks_while_more_is_left_behind_than_the_threshold_allows() {
        // Room for 16 packets: at threshold t, 16 - t may wait behind one that leaves unmarked.
        for threshold in 1..=15 {
            let params = Params { threshold, ..default() };
            let allowed = 16 - threshold;
            assert_eq!(marked(&params, allowed + 1, OUTPUT, 9), 0, "threshold {threshold}");
            assert_eq!(marked(&params, allowed + 4, OUTPUT, 9), 3, "threshold {threshold}");
        }
        assert_eq!(marked(&Params { threshold: 0, ..default() }, 90, OUTPUT, 9), 0);
    }

    #[test]
    fn keeps_ports_and_virtual_lanes_apart() {
        let (mut switch, mut marker) = queue(&default(), 9, OUTPUT);
        assert!(marker.is_congested(OUTPUT, 0));
        let others = [switch.arrive(&mut marker, 0, OUTPUT, 1), switch.arrive(&mut marker, 0, HOST, 0)];
        assert!(others.into_iter().all(|order| !switch.depart(&mut marker, order)));
    }

    #[test]
    fn a_port_without_credit_to_spare_is_a_victim_unless_the_mask_has_it() {
        let with = |victim_mask| Params { victim_mask, ..default() };
        for (mask, output, victim_marks) in [
            (Mask::None, OUTPUT, 0),
            (Mask::None, HOST, 0),
            (Mask::HostPorts, OUTPUT, 0),
            (Mask::HostPorts, HOST, 8),
            (Mask::All, OUTPUT, 8),
            (Mask::All, HOST, 8),
        ] {
            assert_eq!(marked(&with(mask), 10, output, 1), victim_marks, "{mask:?}, port {output}: a victim");
            assert_eq!(marked(&with(mask), 10, output, 2), 8, "{mask:?}, port {output}: a root");
        }
    }

    #[test]
    fn ports_have_values_of_their_own() {
        let base = Override { switches: vec!["S0..S3".into()], ..Override::default() };
        let with = |list: &[Override]| Params { overrides: list.to_vec(), ..default() };
        let off = |ports| Override { ports, threshold: Some(0), ..base.clone() };
        for (overrides, at_switch, at_host) in [
            (vec![off(Ports::All)], 0, 0),
            (vec![off(Ports::Hosts)], 8, 0),
            (vec![off(Ports::Switches)], 0, 8),
            (vec![off(Ports::List(vec![0, 3]))], 8, 0),
            (vec![off(Ports::All), Override { threshold: Some(14), ports: Ports::Hosts, ..base.clone() }], 0, 7),
            (vec![Override { switches: vec!["S2".into()], ..off(Ports::All) }], 8, 8),
            (vec![Override { marking_rate: Some(1), ports: Ports::Hosts, ..base.clone() }], 8, 4),
            (vec![Override { packet_size: Some(255), ..base.clone() }], 0, 0),
        ] {
            let params = with(&overrides);
            assert_eq!(
                (marked(&params, 10, OUTPUT, 9), marked(&params, 10, HOST, 9)),
                (at_switch, at_host),
                "{overrides:?}"
            );
        }
        let victim = with(&[Override { ports: Ports::Hosts, victim: Some(true), ..base.clone() }]);
        assert_eq!((marked(&victim, 10, OUTPUT, 1), marked(&victim, 10, HOST, 1)), (0, 8));
    }

    #[test]
    fn overrides_are_read_and_must_do_something() {
        let read = |text: &str| becalm_schema::read::<Params>(text, "f").map_err(|mistakes| mistakes.to_string());
        let params = read("overrides = [{ports = [1, 2], threshold = 3}, {ports = \"hosts\", victim = true}]").unwrap();
        assert_eq!(params.overrides[0].ports, Ports::List(vec![1, 2]));
        assert_eq!(becalm_schema::read_json::<Params>(&params.to_json(), "f").unwrap(), params);
        for wrong in [
            "{}",
            "{switches = [], threshold = 1}",
            "{ports = []}",
            "{ports = \"host\", victim = true}",
            "{threshold = 16}",
            "{victims = true}",
        ] {
            assert!(read(&format!("overrides = [{wrong}]")).is_err(), "{wrong}");
        }
    }

    /// Whether a switch with a long queue gives back late what came in by an input.
    fn starves(params: &Params, input: u16) -> bool {
        let (mut switch, mut marker) = (Switch::new(100), Ibta::new(params, shape()));
        let orders: Vec<u64> = (0..17).map(|_| switch.arrive(&mut marker, input, OUTPUT, 0)).collect();
        switch.depart(&mut marker, orders[0]);
        marker.left(Time::ZERO, input, OUTPUT, 0) > Time::ZERO
    }

    #[test]
    fn inputs_in_the_credit_mask_starve_whatever_marks() {
        let delay = CctEntry::new(0, 3).unwrap();
        let base = Params { cs_threshold: 1, cs_return_delay: delay, ..default() };
        let own = |other: Override| vec![Override { switches: vec!["S1".into()], ports: Ports::Hosts, ..other }];
        let (on, off) = (Override { credit: Some(true), ..Override::default() }, Override::default());
        for (credit_mask, other, at_switch, at_host) in [
            (Mask::None, on.clone(), false, true),
            (Mask::HostPorts, off.clone(), false, true),
            (Mask::All, off.clone(), true, true),
            (Mask::All, Override { credit: Some(false), ..off.clone() }, true, false),
            (Mask::All, Override { cs_threshold: Some(0), ..off.clone() }, true, false),
            (Mask::All, Override { cs_return_delay: Some(CctEntry::default()), ..off.clone() }, true, false),
        ] {
            for threshold in [0, 15] {
                let params = Params { credit_mask, threshold, overrides: own(other.clone()), ..base.clone() };
                assert_eq!((starves(&params, OUTPUT), starves(&params, HOST)), (at_switch, at_host), "{params:?}");
            }
        }
        assert_eq!(marked(&Params { credit_mask: Mask::All, ..base.clone() }, 10, OUTPUT, 9), 8, "marks as without");
    }

    #[test]
    fn starvation_must_have_an_effect() {
        let read = |text: &str| becalm_schema::read::<Params>(text, "f.toml").map_err(|mistakes| mistakes.to_string());
        let mask = "credit_mask = \"host_ports\"";
        let right = format!("threshold = 0\n{mask}\ncs_threshold = 8\ncs_return_delay = [2, 40]");
        assert_eq!(read(&right).unwrap().cs_return_delay.gap(), 10.0);
        let own = "overrides = [{ports = [1], credit = true, cs_threshold = 3, cs_return_delay = [0, 9]}]";
        assert!(read(own).is_ok() && read(&format!("{right}\noverrides = [{{credit = false}}]")).is_ok());
        let idle = "does nothing: no port is in the credit mask";
        let nobody = "starves nobody: needs a";
        for (text, problem) in [
            ("cs_threshold = 3", format!("cs_threshold = 3: {idle}")),
            ("cs_return_delay = [0, 1]", format!("cs_return_delay = [0, 1]: {idle}")),
            ("overrides = [{credit = false}]", "no port is in the credit mask".to_string()),
            ("overrides = [{cs_threshold = 3}]", "no port is in the credit mask".to_string()),
            ("overrides = [{credit = true}]", format!("{nobody} cs_threshold above 0")),
            (&format!("{mask}\ncs_return_delay = [0, 1]"), format!("{nobody} cs_threshold above 0")),
            (&format!("{mask}\ncs_threshold = 1"), format!("{nobody} cs_return_delay above 0")),
            ("overrides = [{credit = false, cs_threshold = 3}]", "credit = false: must be true where".to_string()),
            ("cs_return_delay = [4, 1]", "a pair [shift, multiplier] of integers".to_string()),
        ] {
            let wrong = read(text).unwrap_err();
            assert!(wrong.contains(&problem), "{text}: {wrong}");
        }
    }

    #[test]
    fn an_arrival_takes_no_credit() {
        let (mut switch, mut marker) = (Switch::new(100), Ibta::new(&default(), shape()));
        for (credit, congested) in [(0, false), (1, true)] {
            switch.credit = credit;
            switch.arrive(&mut marker, 0, OUTPUT, 0);
            switch.arrive(&mut marker, 0, OUTPUT, 0);
            assert_eq!(marker.is_congested(OUTPUT, 0), congested);
        }
    }

    #[test]
    fn passes_over_small_packets_and_all_that_is_not_data() {
        let (switch, mut marker) = queue(&Params { packet_size: 8, ..default() }, 10, OUTPUT);
        assert!(!marks(&mut marker, &switch, OUTPUT, 511, Kind::Data));
        assert!(marks(&mut marker, &switch, OUTPUT, 512, Kind::Data));
        for kind in [Kind::Ack, Kind::Cnp] {
            assert!(!marks(&mut marker, &switch, OUTPUT, SIZE, kind));
        }
    }

    #[test]
    fn the_marking_rate_counts_only_packets_that_could_be_marked() {
        for marking_rate in [0, 1, 2, 7] {
            let (switch, mut marker) = queue(&Params { packet_size: 8, marking_rate, ..default() }, 10, OUTPUT);
            let mut verdicts = Vec::new();
            for _ in 0..=marking_rate * 3 + 2 {
                assert!(!marks(&mut marker, &switch, OUTPUT, 64, Kind::Data));
                verdicts.push(marks(&mut marker, &switch, OUTPUT, SIZE, Kind::Data));
            }
            let expected: Vec<bool> = (0..verdicts.len()).map(|i| i % (marking_rate as usize + 1) == 0).collect();
            assert_eq!(verdicts, expected, "marking rate {marking_rate}");
        }
    }
}
