//! The share of its links that a flow can use: limits by the credit of buffers and by constant windows.

use std::ops::Range;

use becalm_control::{EchoScheme, Echoing, Responding, ResponseParams, ResponseScheme};
use becalm_fabric::policy::Response;
use becalm_fabric::{NodeKind, Paths, PortId, Unloaded};
use becalm_schema::Choice;

use crate::check::probe;
use crate::resolve::{Link, credit_loop};
use crate::scenario::Scenario;
use crate::sections::quantities::Buffer;

/// Largest number of flows of a group whose windows are examined.
const MOST_FLOWS: usize = 1000;
/// Share of the measured window that a slow start may take without a warning.
const SLOW: f64 = 0.05;
/// A share from which a limit is not worth a warning.
const FULL: f64 = 0.99;

/// A limit that leaves a link partly idle.
struct Limit {
    /// The link or the flow.
    place: String,
    /// Bytes that may be on their way, and bytes that keep the link busy.
    has: f64,
    needs: f64,
}

impl Limit {
    fn share(&self) -> f64 {
        (self.has / self.needs).min(1.0)
    }
}

impl Scenario {
    /// Warnings about buffers and windows that leave links idle without any congestion.
    pub(crate) fn reach_warnings(&self) -> Vec<String> {
        let buffers = self.narrowest_buffer().map(|limit| {
            format!(
                "switch.buffer: space for {:.0} B is too little for {}, which has {:.0} B on the way before a credit \
                 returns: it reaches at most {:.0}% of its rate; \"auto\" is large enough",
                limit.has,
                limit.place,
                limit.needs,
                (100.0 * limit.share()).floor()
            )
        });
        let windows = self.narrowest_windows().into_iter().map(|(key, limit)| {
            format!(
                "{key}: {:.0} B are too few for {}, which has {:.0} B on the way before an ACK returns: it reaches at \
                 most {:.0}% of its slowest link",
                limit.has,
                limit.place,
                limit.needs,
                (100.0 * limit.share()).floor()
            )
        });
        buffers
            .into_iter()
            .chain(windows)
            .chain(self.small_windows())
            .chain(self.ceilings())
            .chain(self.slow_starts())
            .collect()
    }

    /// Warnings about windows of a few packets, which do not cover what delays ACKs: they wait for a packet of the
    /// opposite direction at each port, and for the packets that they cover.
    fn small_windows(&self) -> Vec<String> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let packet = f64::from(self.sections.packet.full());
        let every = self.sections.echo.get().and_then(Echoing::ack_every).unwrap_or(1);
        let mut found: Vec<(String, f64, Limit)> = Vec::new();
        for (number, flows) in self.plan.groups.iter().enumerate() {
            let response = self.sections.group(number as u32).response.unwrap_or(&self.sections.response);
            let Some(products) = Responding::largest_window(response) else { continue };
            let limits = sample(flows).map(|flow| {
                let mut limit = self.window_limit(&paths, flow, 1);
                let planned = &self.plan.flows[flow as usize];
                let ports = paths.path(planned.source, planned.destination).expect("the paths are checked");
                limit.has = packet * (products * limit.needs / packet).floor().max(1.0);
                limit.needs += packet * (ports.len() as f64 + f64::from(every) - 1.0);
                limit
            });
            let Some(limit) = limits.min_by(|a, b| a.share().total_cmp(&b.share())) else { continue };
            let name = Choice::name(response);
            if limit.share() < FULL && !found.iter().any(|(known, ..)| known == name) {
                found.push((name.to_owned(), products, limit));
            }
        }
        let text = |(name, products, limit): (String, f64, Limit)| {
            let packets = limit.has / packet;
            format!(
                "response.{name}: its window is at most {products} bandwidth-delay products, {packets:.0} packet{} for \
                 {}: if ACKs wait for packets of the opposite direction, it may reach as little as {:.0}% of its \
                 slowest link; smaller packets, or an echo that acknowledges every packet, raise this",
                if packets > 1.0 { "s" } else { "" },
                limit.place,
                (100.0 * limit.share()).floor()
            )
        };
        found.into_iter().map(text).collect()
    }

    /// Warnings about responses that leave a part of an idle path unused, by design.
    fn ceilings(&self) -> Vec<String> {
        let mut found = Vec::new();
        for group in self.sections.groups() {
            let response = group.response.unwrap_or(&self.sections.response);
            let Some((key, share)) = Responding::ceiling(response) else { continue };
            let name = Choice::name(response);
            let text = format!(
                "response.{name}.{key} = {share}: a flow reaches at most {:.0}% of an idle path",
                100.0 * share
            );
            if !found.contains(&text) {
                found.push(text);
            }
        }
        found
    }

    /// Warnings about windows that grow slowly, if flows have not filled their links when the measured window begins.
    fn slow_starts(&self) -> Vec<String> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let packet = f64::from(self.sections.packet.full());
        let (warmup, end) = (self.measured_from().as_secs(), self.sections.run.duration.as_secs());
        let mut found: Vec<(f64, String)> = Vec::new();
        for (number, flows) in self.plan.groups.iter().enumerate() {
            let response = self.sections.group(number as u32).response.unwrap_or(&self.sections.response);
            let (Some((initial, trips)), false) = (Responding::growth(response), flows.is_empty()) else { continue };
            let limits = sample(flows).map(|flow| (self.window_limit(&paths, flow, 1), flow));
            let Some((limit, flow)) = limits.max_by(|a, b| a.0.needs.total_cmp(&b.0.needs)) else { continue };
            let seconds = (limit.needs / packet - initial).max(0.0) * trips * self.round_trip(&paths, flow);
            // A job's messages are part of its time from the start.
            let is_job = number >= self.sections.flows.len();
            let late = if is_job { 0.0 } else { warmup + SLOW * (end - warmup) };
            if seconds > late {
                let name = Choice::name(response);
                let text = format!(
                    "response.{name}: its window starts at {initial} packets and grows by one in {trips} round trips, \
                     so {} fills its slowest link only after {:.0} us; run.warmup is {:.0} us",
                    limit.place,
                    1e6 * seconds,
                    1e6 * warmup
                );
                found.push((seconds, text));
            }
        }
        found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, text)| text).into_iter().collect()
    }

    /// Round-trip time of a full packet and its ACK on the flow's idle path, in seconds.
    fn round_trip(&self, paths: &Paths<'_>, flow: u32) -> f64 {
        let unloaded = Unloaded::new(&self.network.topology, paths, &self.switch_config());
        let (full, ack) = (self.sections.packet.full(), self.sections.packet_config().ack);
        let planned = &self.plan.flows[flow as usize];
        unloaded.round_trip(planned.source, planned.destination, full, ack).0.as_secs()
    }

    /// The share of its slowest link that each flow can use, by the buffers on its path and by its window, on an empty
    /// fabric.
    ///
    /// # Panics
    /// If a flow does not exist.
    pub fn reach(&self, flows: &[u32]) -> Vec<[f64; 2]> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let credit = self.credit_bytes();
        let of = |&flow: &u32| {
            let planned = &self.plan.flows[flow as usize];
            let ports = paths.path(planned.source, planned.destination).expect("the paths are checked");
            let slowest = ports.iter().map(|&port| self.rate(port)).fold(f64::INFINITY, f64::min);
            let carried =
                ports.iter().map(|&port| self.credit_limit(self.link_at(port), credit).share() * self.rate(port));
            let buffers = carried.fold(f64::INFINITY, f64::min) / slowest;
            let group = self.sections.group(planned.group);
            let window = constant_window(group.response.unwrap_or(&self.sections.response));
            let windows = window.map_or(1.0, |window| self.window_limit(&paths, flow, window).share());
            [buffers.min(1.0), windows]
        };
        flows.iter().map(of).collect()
    }

    /// The link whose buffer limits it most, if a buffer of a given size limits any.
    fn narrowest_buffer(&self) -> Option<Limit> {
        if matches!(*self.sections.switch.buffer, Buffer::Auto | Buffer::Unlimited) {
            return None;
        }
        let credit = self.credit_bytes();
        let limits = self.network.links.iter().map(|link| self.credit_limit(link, credit));
        limits.filter(|limit| limit.share() < FULL).min_by(|a, b| a.share().total_cmp(&b.share()))
    }

    /// Bytes of full packets that fit into a buffer; no limit with PFC, whose headroom takes what is on the way.
    fn credit_bytes(&self) -> f64 {
        if self.switch_config().flow_control.pfc().is_some() {
            return f64::INFINITY;
        }
        f64::from(self.buffered_packets()) * f64::from(self.sections.largest(&self.sections.packet))
    }

    /// The limit of a link by the credit of the buffer at its end.
    fn credit_limit(&self, link: &Link, credit: f64) -> Limit {
        let largest = self.sections.largest(&self.sections.packet);
        let is_switch = self.network.topology.node(link.to.node).kind == NodeKind::Switch;
        let has = if is_switch { credit } else { f64::INFINITY };
        let spacing = f64::from(self.sections.switch.flow_control.spacing());
        let time = credit_loop(link.delay, link.rate, &self.sections.switch, largest);
        Limit {
            place: format!("link {}", link.name),
            has,
            needs: link.rate.bytes_per_second() * time.as_secs() + spacing,
        }
    }

    /// For each constant window that limits a flow, its key and the flow that it limits most.
    fn narrowest_windows(&self) -> Vec<(String, Limit)> {
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let mut found: Vec<(String, Limit)> = Vec::new();
        for (number, flows) in self.plan.groups.iter().enumerate() {
            let response = self.sections.group(number as u32).response.unwrap_or(&self.sections.response);
            let Some(window) = constant_window(response) else { continue };
            let limits = sample(flows).map(|flow| self.window_limit(&paths, flow, window));
            let Some(limit) = limits.min_by(|a, b| a.share().total_cmp(&b.share())) else { continue };
            if limit.share() < FULL {
                keep_narrower(&mut found, format!("response.{}.window", Choice::name(response)), limit);
            }
        }
        found
    }

    /// The limit of a flow by a window of this number of packets.
    fn window_limit(&self, paths: &Paths<'_>, flow: u32, window: u32) -> Limit {
        let planned = &self.plan.flows[flow as usize];
        let ports = paths.path(planned.source, planned.destination).expect("the paths are checked");
        let slowest = ports.iter().map(|&port| self.rate(port)).fold(f64::INFINITY, f64::min);
        let (from, to) = (self.network.name(planned.source), self.network.name(planned.destination));
        let has = f64::from(window) * f64::from(self.sections.packet.full());
        Limit { place: format!("the flow from {from} to {to}"), has, needs: slowest * self.round_trip(paths, flow) }
    }

    fn link_at(&self, port: PortId) -> &Link {
        let at =
            self.network.links.binary_search_by_key(&(port.node, port.port), |link| (link.from.node, link.from.port));
        &self.network.links[at.expect("links are sorted by port")]
    }

    /// Bytes per second of the link at a port.
    fn rate(&self, port: PortId) -> f64 {
        self.link_at(port).rate.bytes_per_second()
    }
}

/// Some flows of a group, evenly spaced; all of a small group.
fn sample(flows: &Range<u32>) -> impl Iterator<Item = u32> + use<> {
    flows.clone().step_by(flows.len().div_ceil(MOST_FLOWS).max(1))
}

fn keep_narrower(found: &mut Vec<(String, Limit)>, key: String, limit: Limit) {
    match found.iter_mut().find(|(known, _)| *known == key) {
        Some((_, known)) if known.share() <= limit.share() => {}
        Some((_, known)) => *known = limit,
        None => found.push((key, limit)),
    }
}

/// The window in packets of a response that never changes it; `None` for a response without a limit.
pub(crate) fn constant_window(params: &ResponseParams) -> Option<u32> {
    if !Responding::can_be_tried(params) || Responding::moves_window(params) {
        return None;
    }
    let window = probe::response(params).pace().window;
    (window < u32::MAX).then_some(window)
}
