//! Warnings about probably unintended settings in a valid scenario.

use becalm_control::{Marking, MarkingParams, MarkingScheme};
use becalm_fabric::{NodeKind, Pfc, PortId, Rate, Room, SwitchConfig, needed_headrooms};

use crate::check::switch::lanes_in_use;
use crate::cnps;
use crate::resolve::Link;
use crate::scenario::Scenario;
use crate::unheard;

/// A switch, and the output queue length at which it starts to mark.
struct Marks {
    name: String,
    ports: u64,
    /// Bytes.
    at: u64,
}

impl Scenario {
    /// Settings that are valid but probably not intended: routes that can deadlock; unused lanes; implausible contents of
    /// files; schedules with interleaved messages; trains that switches mark; responses that never learn of congestion, or
    /// that are meant for other destinations; buffers, windows and targets that leave links idle; and, with PFC, headroom
    /// that can overflow, thresholds at which links run dry, and pauses before marks.
    pub fn warnings(&self) -> Vec<String> {
        let turns = self.takes_turns().into_iter().chain(self.marked_trains()).collect();
        let sections = &self.sections;
        let of_schemes = [unheard::warnings(sections), cnps::warnings(sections)].concat();
        [
            self.cycle_warnings(),
            self.lane_warnings(),
            self.file_warnings(),
            turns,
            of_schemes,
            self.reach_warnings(),
            self.pause_warnings(),
        ]
        .concat()
    }

    /// A warning about trains that switches mark; docs/performance.md has the errors that were measured.
    fn marked_trains(&self) -> Option<String> {
        let marks = *self.sections.marking != MarkingParams::default();
        (self.train() > 1 && marks).then(|| {
            "run.fidelity: with trains and marks, the last of many flows ends at another time; \
             `becalm run --check` measures the error on smaller jobs"
                .to_string()
        })
    }

    /// A warning about GOAL schedules without `adapter.injection`. By default, the messages of a host are interleaved,
    /// while LogGOPSim sends them one at a time.
    fn takes_turns(&self) -> Option<String> {
        let adapter = &self.sections.adapter;
        let unsaid = adapter.injection.given().is_none() && self.sections.jobs.iter().any(|job| job.goal.is_some());
        unsaid.then(|| {
            "jobs.goal: the messages that a host sends at the same time are interleaved packet by packet; LogGOPSim \
             sends them in the order of posting, as with adapter.injection = \"posted\". To keep them interleaved \
             without this warning, set adapter.injection = \"round_robin\""
                .to_owned()
        })
    }

    /// A warning about routes that can deadlock, which `allow_cycles` permits.
    fn cycle_warnings(&self) -> Vec<String> {
        let cycle = if self.buffers.room == Room::UNLIMITED { Vec::new() } else { self.cycle(false) };
        let warning = || {
            let links = cycle.join(", ").replace("->", " -> ");
            format!(
                "topology: its routes can deadlock: each of these links may wait for the next: {links}; a deadlock ends \
                 the run without results"
            )
        };
        if cycle.is_empty() { Vec::new() } else { vec![warning()] }
    }

    /// A warning about lanes that no flow uses.
    fn lane_warnings(&self) -> Vec<String> {
        let vls = *self.sections.switch.vls;
        let warning = |lanes| format!("switch.vls = {vls}: does nothing beyond {lanes}: no flow uses a higher VL");
        lanes_in_use(&self.sections).map(warning).into_iter().collect()
    }

    fn file_warnings(&self) -> Vec<String> {
        let schedules = self.sections.jobs.iter().filter_map(|job| {
            let goal = job.goal.as_ref().map(|goal| &goal.0);
            goal.or_else(|| job.chakra.as_ref().map(|chakra| &chakra.0))
        });
        schedules.flat_map(|schedule| schedule.warnings.clone()).collect()
    }

    fn pause_warnings(&self) -> Vec<String> {
        let switch = self.switch_config();
        let Some(pfc) = switch.flow_control.pfc() else { return Vec::new() };
        let worst = self.worst(&switch);
        let of_links =
            worst.map(|(link, needed)| [self.overflows(pfc, link, needed), self.runs_dry(pfc, link, needed)]);
        of_links.into_iter().flatten().chain([self.pauses_first(pfc), self.finds_none(pfc)]).flatten().collect()
    }

    /// The link whose buffer needs the most headroom, and its size in bytes.
    fn worst(&self, switch: &SwitchConfig) -> Option<(&Link, u32)> {
        let packets = self.sections.packet.sizes();
        let needed = needed_headrooms(&self.network.topology, switch, &packets, &self.rate_changes())?;
        let of_link = |link: &Link| needed[link.to.node.index()][usize::from(link.to.port)];
        let links = self.network.links.iter().filter(|link| self.fills(link.to));
        links.map(|link| (link, of_link(link))).max_by_key(|(_, needed)| *needed)
    }

    /// A warning if the given headroom can overflow.
    fn overflows(&self, pfc: &Pfc, link: &Link, needed: u32) -> Option<String> {
        let given = pfc.headroom.filter(|&given| given < needed)?;
        let name = &link.name;
        Some(format!(
            "switch.flow_control.pfc.headroom: {given} B is too little: the buffer of {name} may need {needed} B"
        ))
    }

    /// A warning if the run is too short for its watchdogs.
    fn finds_none(&self, pfc: &Pfc) -> Option<String> {
        let (detection, duration) = (pfc.watchdog?.detection, *self.sections.run.duration);
        (detection >= duration).then(|| {
            format!(
                "switch.flow_control.pfc.watchdog.detection: finds no storm in {duration}, as each must last {detection}"
            )
        })
    }

    /// A warning if a link can run dry, that is, if its buffer holds less at XON than can leave the buffer before the
    /// resumed sender's next packet arrives.
    fn runs_dry(&self, pfc: &Pfc, link: &Link, needed: u32) -> Option<String> {
        if pfc.pool.is_some() {
            return None;
        }
        let largest = self.sections.largest(&self.sections.packet);
        let xon = pfc.xon.unwrap_or(self.capacity_bytes().saturating_sub(2 * largest));
        let (leave, name) = (needed - largest + 1, &link.name);
        (xon < leave).then(|| {
            format!(
                "switch.flow_control.pfc: the buffer of {name} can run dry: XON is {xon} B, but {leave} B can leave \
                 before the resumed sender's next packet arrives"
            )
        })
    }

    /// A warning if a switch can pause an input before it marks packets from that input.
    ///
    /// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 4: an input
    /// can feed all n outputs, with less than the marking threshold in each queue. With shared memory, the
    /// queues of other lanes lower XOFF.
    fn pauses_first(&self, pfc: &Pfc) -> Option<String> {
        let vls = self.sections.vls();
        let (shapes, fastest) = (self.network.switch_shapes(vls, self.capacity_bytes()), self.fastest());
        let marks = shapes.iter().zip(self.network.topology.switches()).filter_map(|(shape, switch)| {
            let at = Marking::marks_at(&self.sections.marking, shape, fastest[switch.index()]);
            let at = at.filter(|&at| at < u64::MAX)?;
            Some(Marks { name: shape.name.clone(), ports: u64::from(shape.ports), at })
        });
        let Marks { name, ports, at } = marks.max_by_key(|marks| marks.ports)?;
        let below = |outputs: u64| self.threshold(pfc, ports, outputs);
        let what = format!("[marking]: a queue of {at} B is marked, but switch {name}");
        if at >= below(1) {
            return Some(format!("{what} already pauses an input that feeds only this queue at {} B", below(1)));
        }
        (at >= below(ports)).then(|| {
            format!(
                "{what} can pause before it marks: an input that feeds all {ports} outputs equally is paused at {} B \
                 per output",
                below(ports)
            )
        })
    }

    /// Bytes per output at which a switch pauses an input that feeds this number of outputs.
    fn threshold(&self, pfc: &Pfc, ports: u64, outputs: u64) -> u64 {
        let own = u64::from(self.capacity_bytes());
        let Some(pool) = pfc.pool else { return own / outputs };
        let vls = u64::from(self.sections.vls());
        let shared = pool.bytes.unwrap_or(own * ports * vls) as f64;
        // The lane of notification packets holds almost nothing.
        let busy = f64::from(*self.sections.switch.vls);
        (pool.alpha * shared / (outputs as f64 * (1.0 + busy * pool.alpha))) as u64
    }

    /// The rate of each node's fastest link, indexed by node.
    fn fastest(&self) -> Vec<Rate> {
        let mut rates = vec![Rate::from_bits_per_second(1.0); self.network.topology.nodes().len()];
        for link in &self.network.links {
            let rate = &mut rates[link.from.node.index()];
            if link.rate.bytes_per_second() > rate.bytes_per_second() {
                *rate = link.rate;
            }
        }
        rates
    }

    /// Whether the buffer of a port can fill up.
    fn fills(&self, port: PortId) -> bool {
        let node = self.network.topology.node(port.node);
        node.kind == NodeKind::Switch || self.plan.adapters[node.rank as usize].drain_rate.is_some()
    }
}
