//! Values that can be derived from a scenario without a run.

use becalm_control::{Responding, ResponseScheme};
use becalm_fabric::{NodeKind, Rate, Room};
use serde_json::json;

use crate::scenario::Scenario;

impl Scenario {
    /// The size of the network, and the times from which parameters of congestion control are derived:
    ///
    /// - `hosts`, `switches`: the numbers of hosts and switches,
    /// - `host_rate`: the sending rate of the slowest host in bytes per second, including its adapter's
    ///   injection cap,
    /// - `packet_bytes`, `packet_time`: the size of a full packet on the wire, and its transmission time at
    ///   that rate in seconds,
    /// - `buffer_bytes`, `buffer_packets`: the size of an input buffer in bytes, and the number of full packets that fit;
    ///   null without a limit,
    /// - `drain_capped`: whether any host receives at a lower rate than its link,
    /// - `cct`: the response's table of delays in packet times; null for a response without a table.
    pub fn summary(&self) -> serde_json::Value {
        let packet = self.sections.packet.sizes().largest();
        let rate = self.slowest_host();
        let buffer = (self.buffers.room != Room::UNLIMITED).then_some(self.buffers.bytes);
        let hosts = self.network.topology.nodes().iter().filter(|node| node.kind == NodeKind::Host).count();
        json!({
            "hosts": hosts,
            "switches": self.network.topology.nodes().len() - hosts,
            "host_rate": rate.bytes_per_second(),
            "packet_bytes": packet,
            "packet_time": rate.time_of(packet).as_secs(),
            "buffer_bytes": buffer,
            "buffer_packets": buffer.map(|_| self.buffered_packets()),
            "drain_capped": self.plan.adapters.iter().any(|adapter| adapter.drain_rate.is_some()),
            "cct": Responding::delays(&self.sections.response),
        })
    }

    fn slowest_host(&self) -> Rate {
        let rates = &self.network.rates;
        let link = self.network.topology.hosts().map(|host| rates[host.index()]);
        let capped = link.zip(&self.plan.adapters).map(|(link, adapter)| match adapter.injection_rate {
            Some(cap) if cap.bytes_per_second() < link.bytes_per_second() => cap,
            _ => link,
        });
        let slower = |a: &Rate, b: &Rate| a.bytes_per_second().total_cmp(&b.bytes_per_second());
        capped.min_by(slower).expect("flows need hosts")
    }
}
