//! `[[jobs]]`: message-passing programs.

use becalm_control::ResponseParams;
use becalm_engine::Time;
use becalm_schema::{Conflict, Located, Place};

use crate::sections::collective::Collective;
use crate::sections::loads::AllToAllV;
use crate::sections::quantities::{LinkRate, Payload};
use crate::sections::schedule::{Chakra, Goal};
use crate::sections::step::Step;

becalm_schema::words! {
    /// Placement of ranks on hosts.
    pub enum Placement {
        /// Consecutive ranks share a host. Each host gets the mean number of ranks per host, rounded up,
        /// until all ranks are placed.
        Packed = "packed",
        /// Ranks are assigned to the hosts in round-robin order.
        RoundRobin = "round_robin",
        /// Each host gets as many ranks as with `"packed"`, but in random order. The order depends on
        /// `run.seed` and on the job's position in the list.
        Random = "random",
        /// `hosts` lists the host of each rank. The same host may appear several times.
        List = "list",
    }
}

becalm_schema::words! {
    /// The adapters that the messages between nodes take.
    pub enum Nics {
        /// Every rank sends by its own NIC to the NIC of the receiving rank. Of several ports, all messages to a rank take
        /// one.
        SameRail = "same_rail",
        /// As `"same_rail"`, but every message is divided equally among all ports.
        Stripe = "stripe",
        /// As `"same_rail"`, but a hash of the two ranks selects the port.
        Hash = "hash",
        /// A message to another rail crosses NVLink to the GPU on this rail, whose rank sends it on by its own NIC (PXN).
        Pxn = "pxn",
    }
}

becalm_schema::table! {
    /// An operation of a rank: one of `calc`, `send` and `recv`.
    pub struct Operation {
        /// Number of the rank, starting at 0.
        pub rank: u32; ""; 0..1 << 20,
        /// A name, unique within the rank. Later operations use it in `after` and `after_start`.
        pub name: Option<String> = None,
        /// Duration of a computation.
        pub calc: Option<Time> = None,
        /// Size of a message to send.
        pub send: Option<Payload> = None,
        /// Rank to which the message is sent.
        pub to: Option<u32> = None; ""; 0..1 << 20,
        /// Size of a message to receive.
        pub recv: Option<Payload> = None,
        /// Rank from which the message comes; any rank if left out.
        pub from: Option<u32> = None; ""; 0..1 << 20,
        /// Tag of the message. If left out, a send uses the tag 0, and a receive accepts any tag.
        pub tag: Option<u32> = None,
        /// Lane of the operation. Operations on one lane of a rank do not overlap.
        pub lane: u32 = 0; ""; 0..=255,
        /// Earlier operations of the rank that must end before this one starts.
        pub after: Vec<String> = Vec::new(),
        /// Earlier operations of the rank that must start before this one starts.
        pub after_start: Vec<String> = Vec::new(),
    }
    check Operation::check;
}

impl Operation {
    fn check(&self) -> Result<(), Conflict> {
        let actions = [self.calc.is_some(), self.send.is_some(), self.recv.is_some()];
        Conflict::unless(actions.iter().filter(|&&set| set).count() == 1, "rank", || {
            "must have exactly one of calc, send and recv".to_string()
        })?;
        Conflict::unless(self.send.is_none() || self.to.is_some(), "send", || "needs a rank: set to".to_string())?;
        Conflict::unless(self.send.is_some() || self.to.is_none(), "to", || "is only for a send".to_string())?;
        Conflict::unless(self.recv.is_some() || self.from.is_none(), "from", || "is only for a recv".to_string())?;
        Conflict::unless(self.calc.is_none() || self.tag.is_none(), "tag", || "is only for messages".to_string())
    }
}

/// The default of `pxn_chunk`.
const PXN_CHUNK: Payload = Payload(512 << 10);

impl Job {
    /// The place of the list of nodes, if it is not empty.
    pub fn on_nodes(&self) -> Option<Place> {
        self.nodes.given().filter(|_| !self.nodes.items().is_empty())
    }

    /// The place of the list of hosts, if it is not empty.
    pub fn on_hosts(&self) -> Option<Place> {
        self.hosts.given().filter(|_| !self.hosts.items().is_empty())
    }

    /// The place of `nics`, if it is not the default. A resolved scenario states defaults, too.
    pub fn other_nics(&self) -> Option<Place> {
        self.nics.given().filter(|_| self.nics.get() != Some(&Nics::SameRail))
    }

    /// The place of `pxn_chunk`, if it is not the default.
    pub fn other_chunk(&self) -> Option<Place> {
        self.pxn_chunk.given().filter(|_| self.pxn_chunk.get().is_none_or(|size| size.0 != PXN_CHUNK.0))
    }
}

becalm_schema::table! {
    /// A program of message-passing ranks, such as an MPI application or a training step.
    ///
    /// Set one program: `collective`, `all_to_all_v`, `step`, `ops`, `goal` or `chakra`. Every pair of ranks on
    /// different hosts that exchange messages has a separate flow.
    pub located struct Job {
        /// Name of the job in results.
        pub name: String,
        /// Hosts of the ranks: names, ranges such as `"B1..B10"`, or `"*"` for all hosts.
        pub hosts: Vec<Located<String>> = Vec::new(),
        /// Nodes of the ranks, instead of hosts: names, ranges, or `"*"` for all nodes. Each GPU has one rank, unless `ranks`
        /// is set.
        pub nodes: Vec<Located<String>> = Vec::new(),
        /// The adapters that messages between nodes take. Those within a node take NVLink.
        pub nics: Nics = Nics::SameRail,
        /// Size of the largest piece that PXN forwards before the next arrives.
        pub pxn_chunk: Payload = PXN_CHUNK,
        /// Number of ranks. If left out, it is the number of ranks in `ops` or in the file. With a collective
        /// operation, there is then one rank per host or GPU.
        pub ranks: Option<u32> = None; ""; 1..=1 << 20,
        /// Placement of ranks on hosts.
        pub placement: Placement = Placement::Packed,
        /// A collective operation on all ranks.
        pub collective: Option<Collective>,
        /// An all-to-all with different sizes.
        pub all_to_all_v: Option<AllToAllV>,
        /// A step of training.
        pub step: Option<Step>,
        /// Groups of ranks, such as `[[0, 1], [2, 3]]`: each group executes the collective operation or all-to-all by itself,
        /// in the order in which it lists its ranks. Other ranks do nothing. If left out, all ranks are one group.
        pub groups: Vec<Vec<u32>> = Vec::new(),
        /// Number of repetitions of the collective operation, all-to-all or step.
        pub repeat: u32 = 1; ""; 1..=1_000_000,
        /// Computation time of every rank before each collective operation.
        pub compute: Time = Time::ZERO,
        /// Rate at which a rank adds the vectors of a reduction; unlimited if left out.
        pub reduce_rate: Option<LinkRate>,
        /// Operations of the ranks.
        pub ops: Option<Vec<Operation>>,
        /// File with a GOAL schedule, relative to the scenario's folder: text, or the output of LogGOPSim's `txt2bin`.
        pub goal: Option<Goal>,
        /// A Chakra execution trace. `"NAME"` refers to the files `NAME.0.et`, `NAME.1.et` and so on, relative to the
        /// scenario's folder. The files may be compressed (`.et.gz`), or JSON as MLCommons' jsonizer writes it
        /// (`NAME.0.json`). The size of an all-gather in the trace is that of each rank's part, as in ASTRA-sim and
        /// PyTorch, or with `all_gather = "whole"` that of the entire vector.
        pub chakra: Option<Chakra>,
        /// Start time of all ranks.
        pub start: Time = Time::ZERO,
        /// Size of the largest message that is sent eagerly; unlimited if left out. For a larger message (rendezvous),
        /// an empty request and reply are exchanged first.
        pub eager: Option<Payload>,
        /// Processing time of a rank for each message that it sends or receives.
        pub overhead: Time = Time::ZERO,
        /// Rate at which a rank processes messages, in addition to `overhead`; unlimited if left out.
        pub overhead_rate: Option<LinkRate>,
        /// Latency of a message between ranks on one host, in addition to its transfer time.
        pub local_latency: Time = Time::ZERO,
        /// Transfer rate of messages between ranks on one host, or on a node without NVLink; unlimited if left out.
        pub local_rate: Option<LinkRate>,
        /// Service level of the job's messages. `switch.sl_to_vl` maps it to a virtual lane. 0 stands for the level of
        /// each message's path if `adapter.path_sl` is set.
        pub sl: u32 = 0; ""; 0..=15,
        /// Response to congestion, instead of `[response]`.
        pub response: Option<ResponseParams>,
        /// Whether to run the job again without other traffic, to measure its slowdown.
        pub alone: bool = true,
        /// Whether the table `ops` lists the start and end of every operation.
        pub record_ops: bool = false,
    }
}
