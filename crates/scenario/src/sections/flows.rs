//! `[[flows]]`: groups of flows and their traffic.

use std::ops::Bound;

use becalm_control::ResponseParams;
use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::packet::Packet;
use crate::sections::pattern::Pattern;
use crate::sections::quantities::Payload;
use crate::sections::sizes::Sizes;

becalm_schema::table! {
    /// The flow always has a message to send, from its start to its end.
    pub struct Greedy {
        /// Mean payload of a message, which counts as posted when its first packet leaves. If left out, every packet is
        /// a message, unless `sizes` is a measured distribution.
        pub message: Option<Payload> = None; ""; Payload(1)..,
        /// Distribution of payloads around the mean. Messages longer than `packet.mtu` are split into
        /// packets. A measured distribution has its own mean, and is scaled to `message` if that is set.
        pub sizes: Sizes = Sizes::FIXED,
    }
    check Greedy::check;
}

impl Greedy {
    fn check(&self) -> Result<(), Conflict> {
        let fine = self.message.is_some() || self.sizes.is_measured() || !self.sizes.varies();
        Conflict::unless(fine, "sizes", || "needs a mean: set message".to_string())
    }
}

becalm_schema::table! {
    /// The flow always has a packet to send while it is ON, and sends nothing while it is OFF, for exponentially
    /// distributed times. It starts in the ON state.
    pub struct OnOff {
        /// Mean ON time.
        pub mean_on: Time; ""; Time(1)..,
        /// Mean OFF time.
        pub mean_off: Time; ""; Time(1)..,
    }
}

becalm_schema::words! {
    /// Which bytes count towards a load.
    pub enum LoadCounts {
        /// All bytes on the wire, including headers.
        Wire = "wire",
        /// Only payload, without headers, as in studies of flow completion times.
        Payload = "payload",
    }
}

becalm_schema::words! {
    /// Unit that the response treats as a flow.
    pub enum Restart {
        /// All messages between a pair of hosts.
        Never = "never",
        /// Each message. Its response starts in the initial state and receives feedback only on this
        /// message's packets.
        Message = "message",
    }
}

becalm_schema::table! {
    /// Each source host posts messages at exponentially distributed intervals. With several destinations, each message
    /// goes to a random one.
    pub located struct Poisson {
        /// Offered load of each source host. If it exceeds 1 on the wire, the host's queue grows without
        /// limit.
        pub load: f64; "of its link's rate"; (Bound::Excluded(0.0), Bound::Included(10.0)),
        /// Whether headers count towards `load`.
        pub load_counts: LoadCounts = LoadCounts::Wire,
        /// Mean payload of a message. If left out, it is 2048 B, unless `sizes` is a measured distribution.
        pub message: Option<Payload> = None; ""; Payload(1)..,
        /// Distribution of payloads around the mean. Messages longer than `packet.mtu` are split into
        /// packets. A measured distribution has its own mean, and is scaled to `message` if that is set.
        pub sizes: Sizes = Sizes::FIXED,
        /// Whether a flow generates no message while the response delays its next packet; otherwise, messages wait.
        pub paced: bool = false,
        /// Later loads, in chronological order.
        pub changes: Vec<Located<Change>> = Vec::new(),
    }
    check Poisson::check;
}

becalm_schema::table! {
    /// A load that applies from a given time.
    pub located struct Change {
        /// Start of the load.
        pub at: Time,
        /// Offered load of each source host from this time on; 0 for none.
        pub load: f64; "of its link's rate"; 0.0..=10.0,
    }
}

impl Poisson {
    fn check(&self) -> Result<(), Conflict> {
        let rising = self.changes.windows(2).all(|pair| *pair[0].at < *pair[1].at);
        Conflict::unless(rising, "changes", || "must be in chronological order, each later than the one before".into())
    }

    /// The loads with their start and end times, from a given start time.
    pub fn loads(&self, start: Time) -> impl Iterator<Item = (f64, Time, Time)> + '_ {
        let begins = std::iter::once((*self.load, Time::ZERO)).chain(self.changes.iter().map(|c| (*c.load, *c.at)));
        let ends = self.changes.iter().map(|change| *change.at).chain(std::iter::once(Time::MAX));
        begins.zip(ends).map(move |((load, from), to)| (load, from.max(start), to)).filter(|(_, from, to)| from < to)
    }

    /// Mean payload of a message, in whole bytes.
    pub fn mean(&self) -> u64 {
        self.sizes.mean(*self.message, DEFAULT_MESSAGE)
    }

    /// Mean number of bytes per message that count as load.
    pub fn load_bytes(&self, packet: &Packet) -> f64 {
        let message = self.mean() as f64;
        match *self.load_counts {
            LoadCounts::Payload => message,
            LoadCounts::Wire => {
                message + self.sizes.mean_packets(self.mean(), packet.mtu.0) * f64::from(packet.header.0)
            }
        }
    }
}

becalm_schema::table! {
    /// Each source host posts a fixed number of messages, all at the start. With several destinations, each message
    /// goes to a random one.
    pub struct Batch {
        /// Number of messages of each source host.
        pub count: u32; ""; 1..,
        /// Mean payload of a message. If left out, it is 2048 B, unless `sizes` is a measured distribution.
        pub message: Option<Payload> = None; ""; Payload(1)..,
        /// Distribution of payloads around the mean. Messages longer than `packet.mtu` are split into
        /// packets. A measured distribution has its own mean, and is scaled to `message` if that is set.
        pub sizes: Sizes = Sizes::FIXED,
    }
}

/// Default mean payload of posted messages.
pub const DEFAULT_MESSAGE: Payload = Payload(2048);

becalm_schema::choice! {
    /// The traffic of a group of flows.
    pub enum Traffic {
        /// Always sends.
        Greedy(Greedy) = "greedy",
        /// Sends in bursts.
        OnOff(OnOff) = "on_off",
        /// Sends messages at random times.
        Poisson(Poisson) = "poisson",
        /// Sends a number of messages.
        Batch(Batch) = "batch",
    }
}

impl Traffic {
    /// Changes of the load over time.
    pub fn changes(&self) -> &[Located<Change>] {
        match self {
            Traffic::Poisson(p) => p.changes.items(),
            _ => &[],
        }
    }

    /// Number of packets of the longest message. `own` is the payload set for a connection.
    fn most_packets(&self, own: Option<Payload>, packet: &Packet) -> u64 {
        let bytes = match self {
            Traffic::Greedy(p) => p.sizes.largest(p.sizes.mean(own.or(p.message), packet.payload())),
            Traffic::OnOff(_) => packet.payload().0,
            Traffic::Poisson(p) => p.sizes.largest(p.sizes.mean(own.or(*p.message), DEFAULT_MESSAGE)),
            Traffic::Batch(p) => p.sizes.largest(p.sizes.mean(own.or(p.message), DEFAULT_MESSAGE)),
        };
        bytes.div_ceil(packet.payload().0)
    }
}

becalm_schema::table! {
    /// One flow of a group with a list of connections.
    pub located struct Connection {
        /// The sending host.
        pub from: String,
        /// The receiving host.
        pub to: String,
        /// Payload of the flow's messages (the mean, if payloads vary), instead of the group's.
        pub message: Option<Payload> = None; ""; Payload(1)..,
        /// Start time, instead of the group's.
        pub start: Option<Time>,
    }
}

becalm_schema::table! {
    /// A group of flows with the same settings.
    ///
    /// There is one flow from every host in `from` to every other host in `to`, or to the hosts that a `pattern`
    /// selects. For an incast, set `from = ["*"]` and one host in `to`.
    pub located struct Group {
        /// Name of the group in results.
        pub name: String,
        /// Sending hosts: names, ranges such as `"B1..B10"`, or `"*"` for all hosts.
        pub from: Option<Vec<Located<String>>>,
        /// Receiving hosts, in the same form. Set either this or `pattern`.
        pub to: Option<Vec<Located<String>>>,
        /// Relative share of each source's messages for each entry of `to`. Hosts of an entry, or all if left out, get
        /// equal shares. Requires `poisson` or `batch`.
        pub weights: Option<Vec<f64>>,
        /// Pattern of destinations among the hosts in `from`.
        pub pattern: Option<Pattern>,
        /// List of flows, instead of `from` with `to` or `pattern`. Settings of `traffic` then apply to each
        /// connection, not to each source.
        pub connections: Option<Vec<Located<Connection>>>,
        /// Start time of the first flow.
        pub start: Time = Time::ZERO,
        /// End time of all flows; the end of the run if left out.
        pub stop: Option<Time>,
        /// Interval between the starts of consecutive flows or, with `poisson` and `batch`, of consecutive sending
        /// hosts.
        pub stagger: Time = Time::ZERO,
        /// Upper limit of a random delay that is added to the start of each flow or, with `batch`, of each sending
        /// host.
        pub start_spread: Time = Time::ZERO,
        /// Service level. `switch.sl_to_vl` maps it to a virtual lane. 0 stands for the level of each flow's path if
        /// `adapter.path_sl` is set.
        pub sl: u32 = 0; ""; 0..=15,
        /// The traffic of the flows.
        pub traffic: Traffic = Traffic::Greedy(Greedy::default()),
        /// Response to congestion, instead of `[response]`.
        pub response: Option<ResponseParams>,
        /// Unit that the response treats as a flow.
        pub restart: Restart = Restart::Never,
    }
}

impl Group {
    /// Number of packets of the longest message; `None` if the traffic could not be read.
    pub fn most_packets(&self, packet: &Packet) -> Option<u64> {
        let traffic = self.traffic.complete()?;
        let connections = self.connections.set().into_iter().flatten();
        let own = connections.filter_map(|connection| connection.get()?.message.get().copied());
        let longest = own.map(|own| traffic.most_packets(own, packet)).max();
        longest.or_else(|| Some(traffic.most_packets(None, packet)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::distribution::Shape;

    fn poisson(message: u64, sizes: Sizes) -> Poisson {
        Poisson {
            load: 0.5.into(),
            load_counts: LoadCounts::Wire.into(),
            message: Some(Payload(message)).into(),
            sizes: sizes.into(),
            paced: false.into(),
            changes: Vec::new().into(),
        }
    }

    #[test]
    fn the_longest_message_is_counted_in_packets() {
        let packet = Packet::default();
        let most = |traffic: Traffic| traffic.most_packets(None, &packet);
        assert_eq!(most(Traffic::Greedy(Greedy::default())), 1);
        assert_eq!(most(Traffic::Greedy(Greedy { message: Some(Payload(4097)), sizes: Sizes::FIXED })), 3);
        let batch = |sizes| Traffic::Batch(Batch { count: 1, message: Some(Payload(4096)), sizes });
        assert_eq!(most(batch(Sizes::FIXED)), 2);
        assert_eq!(most(batch(Sizes(Shape::Uniform { spread: 0.5 }))), 3);
        let sizes = Sizes(Shape::Exponential);
        assert!(most(Traffic::Poisson(poisson(1, sizes))) > 1 << 20);
        assert_eq!(Traffic::Greedy(Greedy::default()).most_packets(Some(Payload(9000)), &packet), 5);
    }

    #[test]
    fn messages_take_their_headers_on_the_wire() {
        let packet = Packet::default();
        let exponential = Sizes(Shape::Exponential);
        assert_eq!(poisson(2048, Sizes::FIXED).load_bytes(&packet), 2068.0);
        assert_eq!(poisson(2049, Sizes::FIXED).load_bytes(&packet), 2089.0);
        assert_eq!(poisson(1, exponential.clone()).load_bytes(&packet), 21.0);
        // 1 / (1 - 1/e) packets
        assert!((poisson(2048, exponential).load_bytes(&packet) - 2048.0 - 20.0 * 1.5819767).abs() < 1e-5);
        let payload = Poisson { load_counts: LoadCounts::Payload.into(), ..poisson(2049, Sizes::FIXED) };
        assert_eq!(payload.load_bytes(&packet), 2049.0);
        // Half of the messages have a second packet.
        let uniform = Sizes(Shape::Uniform { spread: 0.5 });
        assert!((poisson(2048, uniform).load_bytes(&packet) - 2048.0 - 20.0 * 1.5).abs() < 1e-9);
    }
}
