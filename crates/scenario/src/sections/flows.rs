//! `[[flows]]`: groups of flows and their traffic.

use std::ops::Bound;

use becalm_control::ResponseParams;
use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::packet::Packet;
use crate::sections::pattern::Pattern;
use crate::sections::quantities::Bytes;
use crate::sections::sizes::Sizes;

becalm_schema::table! {
    /// Always has a message to send, from start to stop.
    pub struct Greedy {
        /// Mean payload of a message; if left out, every packet is a message of its own, unless `sizes` are measured. A
        /// message counts as posted when its first packet leaves.
        pub message: Option<Bytes> = None; ""; Bytes(1)..,
        /// Distribution of payloads around that mean; messages longer than `packet.mtu` are split into packets. A
        /// measured distribution has its own mean, and is scaled to `message` if that is set.
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
    /// Always has a packet to send while ON, and is silent while OFF; both times are exponentially distributed. Begins
    /// with ON.
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
        /// All bytes on the wire, headers included.
        Wire = "wire",
        /// Only payload: headers are extra, as in studies of flow completion times.
        Payload = "payload",
    }
}

becalm_schema::words! {
    /// What counts as a flow for the response.
    pub enum Restart {
        /// All messages between a pair of hosts.
        Never = "never",
        /// Each message: its response begins in its initial state and gets feedback on the packets of this message alone.
        Message = "message",
    }
}

becalm_schema::table! {
    /// Messages at exponentially distributed intervals; with several destinations, each message goes to one of them at
    /// random.
    pub located struct Poisson {
        /// Offered load of each source host; if it exceeds 1 on the wire, the host's queue grows without limit.
        pub load: f64; "of its link's rate"; (Bound::Excluded(0.0), Bound::Included(10.0)),
        /// Which bytes count towards `load`.
        pub load_counts: LoadCounts = LoadCounts::Wire,
        /// Mean payload of a message; 2048 B if left out, unless `sizes` are measured.
        pub message: Option<Bytes> = None; ""; Bytes(1)..,
        /// Distribution of payloads around that mean; messages longer than `packet.mtu` are split into packets. A
        /// measured distribution has its own mean, and is scaled to `message` if that is set.
        pub sizes: Sizes = Sizes::FIXED,
        /// Whether a flow makes no message during the delay after its last packet, like an application that makes the
        /// next message only when the adapter accepts it: the delay lengthens the interval. Otherwise messages are
        /// posted and wait.
        pub paced: bool = false,
        /// Later loads, in order of time.
        pub changes: Vec<Located<Change>> = Vec::new(),
    }
    check Poisson::check;
}

becalm_schema::table! {
    /// A load that applies from a given time.
    pub located struct Change {
        /// Start of the load.
        pub at: Time,
        /// Offered load of each source host from that time; 0 for none.
        pub load: f64; "of its link's rate"; 0.0..=10.0,
    }
}

impl Poisson {
    fn check(&self) -> Result<(), Conflict> {
        let rising = self.changes.windows(2).all(|pair| *pair[0].at < *pair[1].at);
        Conflict::unless(rising, "changes", || {
            "must be in the order of their times, each later than the one before".into()
        })
    }

    /// The loads with their start and end times, beginning at a given start.
    pub fn loads(&self, start: Time) -> impl Iterator<Item = (f64, Time, Time)> + '_ {
        let begins = std::iter::once((*self.load, Time::ZERO)).chain(self.changes.iter().map(|c| (*c.load, *c.at)));
        let ends = self.changes.iter().map(|change| *change.at).chain(std::iter::once(Time::MAX));
        begins.zip(ends).map(move |((load, from), to)| (load, from.max(start), to)).filter(|(_, from, to)| from < to)
    }

    /// Mean payload of a message, in whole bytes.
    pub fn mean(&self) -> u32 {
        self.sizes.mean(*self.message, DEFAULT_MESSAGE)
    }

    /// Mean number of bytes of a message that count as load.
    pub fn load_bytes(&self, packet: &Packet) -> f64 {
        let message = f64::from(self.mean());
        match *self.load_counts {
            LoadCounts::Payload => message,
            LoadCounts::Wire => {
                message + self.sizes.mean_packets(self.mean(), packet.mtu.0) * f64::from(packet.header.0)
            }
        }
    }
}

becalm_schema::table! {
    /// A number of messages per source host, all posted at the start; with several destinations, each message goes to
    /// one of them at random.
    pub struct Batch {
        /// Messages of each source host.
        pub count: u32; ""; 1..,
        /// Mean payload of a message; 2048 B if left out, unless `sizes` are measured.
        pub message: Option<Bytes> = None; ""; Bytes(1)..,
        /// Distribution of payloads around that mean; messages longer than `packet.mtu` are split into packets. A
        /// measured distribution has its own mean, and is scaled to `message` if that is set.
        pub sizes: Sizes = Sizes::FIXED,
    }
}

/// Default mean payload of posted messages.
pub const DEFAULT_MESSAGE: Bytes = Bytes(2048);

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

    /// Packets of the longest message; `own` is the payload that a connection gives its messages.
    fn most_packets(&self, own: Option<Bytes>, packet: &Packet) -> u32 {
        let bytes = match self {
            Traffic::Greedy(p) => p.sizes.largest(p.sizes.mean(own.or(p.message), *packet.mtu)),
            Traffic::OnOff(_) => packet.mtu.0,
            Traffic::Poisson(p) => p.sizes.largest(p.sizes.mean(own.or(*p.message), DEFAULT_MESSAGE)),
            Traffic::Batch(p) => p.sizes.largest(p.sizes.mean(own.or(p.message), DEFAULT_MESSAGE)),
        };
        bytes.div_ceil(packet.mtu.0)
    }
}

becalm_schema::table! {
    /// One flow of a group with a list of connections.
    pub located struct Connection {
        /// The sending host.
        pub from: String,
        /// The receiving host.
        pub to: String,
        /// Payload of its messages (the mean, if they vary), in place of the group's.
        pub message: Option<Bytes> = None; ""; Bytes(1)..,
        /// Start time, in place of the group's.
        pub start: Option<Time>,
    }
}

becalm_schema::table! {
    /// A group of flows with the same settings.
    ///
    /// One flow from every host in `from` to every other host in `to`, or to the hosts that a `pattern` selects. An
    /// incast is `from = ["*"]` with one host in `to`. Or one flow for each of the `connections`.
    pub located struct Group {
        /// Name of the group in results.
        pub name: String,
        /// Sending hosts: names, ranges such as `"B1..B10"`, or `"*"` for all hosts.
        pub from: Option<Vec<Located<String>>>,
        /// Receiving hosts, in the same form. Either this or a pattern.
        pub to: Option<Vec<Located<String>>>,
        /// Pattern of destinations among the hosts in `from`.
        pub pattern: Option<Pattern>,
        /// List of flows, in place of `from` with `to` or `pattern`. Settings of `traffic` for a source host, such as
        /// its load or number of messages, apply to each connection.
        pub connections: Option<Vec<Located<Connection>>>,
        /// Start time of the first flow.
        pub start: Time = Time::ZERO,
        /// End time of all flows; the end of the run if left out.
        pub stop: Option<Time>,
        /// Each flow (with `poisson` and `batch`: each sending host) starts this much later than the previous one.
        pub stagger: Time = Time::ZERO,
        /// Each flow (with `batch`: each sending host) starts later by an additional time of up to this much, drawn
        /// from the seed. Runs with several seeds then show what depends on exact start times.
        pub start_spread: Time = Time::ZERO,
        /// Service level; `switch.sl_to_vl` gives its virtual lane.
        pub sl: u32 = 0; ""; 0..=15,
        /// The traffic of the flows.
        pub traffic: Traffic = Traffic::Greedy(Greedy::default()),
        /// Response to congestion, in place of `[response]`.
        pub response: Option<ResponseParams>,
        /// What counts as a flow for the response.
        pub restart: Restart = Restart::Never,
    }
}

impl Group {
    /// Packets of the longest message; `None` if the traffic could not be read.
    pub fn most_packets(&self, packet: &Packet) -> Option<u32> {
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

    fn poisson(message: u32, sizes: Sizes) -> Poisson {
        Poisson {
            load: 0.5.into(),
            load_counts: LoadCounts::Wire.into(),
            message: Some(Bytes(message)).into(),
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
        assert_eq!(most(Traffic::Greedy(Greedy { message: Some(Bytes(4097)), sizes: Sizes::FIXED })), 3);
        let batch = |sizes| Traffic::Batch(Batch { count: 1, message: Some(Bytes(4096)), sizes });
        assert_eq!(most(batch(Sizes::FIXED)), 2);
        assert_eq!(most(batch(Sizes(Shape::Uniform { spread: 0.5 }))), 3);
        let sizes = Sizes(Shape::Exponential);
        assert!(most(Traffic::Poisson(poisson(1, sizes))) > 1 << 20);
        assert_eq!(Traffic::Greedy(Greedy::default()).most_packets(Some(Bytes(9000)), &packet), 5);
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
