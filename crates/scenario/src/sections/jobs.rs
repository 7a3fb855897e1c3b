//! `[[jobs]]`: message-passing programs.

use becalm_control::ResponseParams;
use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::collective::Collective;
use crate::sections::quantities::{Bytes, LinkRate};
use crate::sections::schedule::{Chakra, Goal};

becalm_schema::words! {
    /// Placement of ranks on hosts.
    pub enum Placement {
        /// Host by host: each host gets the number of ranks per host, rounded up.
        Packed = "packed",
        /// Ranks are dealt to the hosts in turn.
        RoundRobin = "round_robin",
        /// As many on each host as with `"packed"`, but in an order shuffled by `run.seed` and the job's place in the
        /// list.
        Random = "random",
        /// `hosts` names the host of each rank; a host may be named several times.
        List = "list",
    }
}

becalm_schema::table! {
    /// An operation of a rank: one of `calc`, `send` and `recv`.
    pub struct Operation {
        /// The rank, from 0.
        pub rank: u32; ""; 0..1 << 20,
        /// A name, unique within the rank, for `after` and `after_start` of later operations.
        pub name: Option<String> = None,
        /// Computes for this time.
        pub calc: Option<Time> = None,
        /// Sends a message of this size.
        pub send: Option<Bytes> = None,
        /// The rank to which it is sent.
        pub to: Option<u32> = None; ""; 0..1 << 20,
        /// Receives a message of this size.
        pub recv: Option<Bytes> = None,
        /// The rank from which it comes; any if left out.
        pub from: Option<u32> = None; ""; 0..1 << 20,
        /// Tag of the message; if left out, 0 for a send and any for a receive.
        pub tag: Option<u32> = None,
        /// Lane: operations on the same lane of a rank do not overlap.
        pub lane: u32 = 0; ""; 0..=255,
        /// Earlier operations of the rank that must end before it starts.
        pub after: Vec<String> = Vec::new(),
        /// Earlier operations of the rank that must start before it starts.
        pub after_start: Vec<String> = Vec::new(),
    }
    check Operation::check;
}

impl Operation {
    fn check(&self) -> Result<(), Conflict> {
        let actions = [self.calc.is_some(), self.send.is_some(), self.recv.is_some()];
        Conflict::unless(actions.iter().filter(|&&set| set).count() == 1, "rank", || {
            "needs exactly one of calc, send and recv".to_string()
        })?;
        Conflict::unless(self.send.is_none() || self.to.is_some(), "send", || "needs a rank: set to".to_string())?;
        Conflict::unless(self.send.is_some() || self.to.is_none(), "to", || "is only for a send".to_string())?;
        Conflict::unless(self.recv.is_some() || self.from.is_none(), "from", || "is only for a recv".to_string())?;
        Conflict::unless(self.calc.is_none() || self.tag.is_none(), "tag", || "is only for messages".to_string())
    }
}

becalm_schema::table! {
    /// A program of message-passing ranks, such as an application with MPI or a training step.
    ///
    /// A repeated collective operation, a list of operations, or a file of operations. Every pair of ranks on different
    /// hosts that exchanges messages has a flow of its own.
    pub located struct Job {
        /// Name of the job in results.
        pub name: String,
        /// Hosts of the ranks: names, ranges such as `"B1..B10"`, or `"*"` for all hosts.
        pub hosts: Vec<Located<String>>,
        /// Number of ranks; if left out, as many as `ops` name or a file has, or else one per host.
        pub ranks: Option<u32> = None; ""; 1..=1 << 20,
        /// Placement of ranks on hosts.
        pub placement: Placement = Placement::Packed,
        /// A collective operation of all ranks.
        pub collective: Option<Collective>,
        /// Number of times that the collective operation is performed.
        pub repeat: u32 = 1; ""; 1..=1_000_000,
        /// Time for which every rank computes before each collective operation.
        pub compute: Time = Time::ZERO,
        /// Rate at which a rank adds up the vectors of a reduction; if left out, this takes no time.
        pub reduce_rate: Option<LinkRate>,
        /// Operations of the ranks, in place of a collective operation.
        pub ops: Option<Vec<Operation>>,
        /// A GOAL schedule, in place of a collective operation: the path of its file, relative to the scenario's
        /// folder; the file is text or the output of LogGOPSim's `txt2bin`.
        pub goal: Option<Goal>,
        /// A Chakra execution trace, in place of a collective operation: `"NAME"` for the files `NAME.0.et`,
        /// `NAME.1.et` and so on, relative to the scenario's folder; they may be compressed (`.et.gz`). The size of an
        /// all-gather is each rank's own part, as in ASTRA-sim and in traces of PyTorch; with
        /// `{files = "NAME", all_gather = "whole"}` it is everything that a rank has at the end.
        pub chakra: Option<Chakra>,
        /// Start of all ranks.
        pub start: Time = Time::ZERO,
        /// Largest message that is sent without asking. Larger ones wait for their receive (rendezvous): one empty
        /// message asks, another answers. If left out, no message asks.
        pub eager: Option<Bytes>,
        /// Time for which a rank works on each message that it sends or receives.
        pub overhead: Time = Time::ZERO,
        /// Rate at which it also works on the bytes of messages; if left out, this takes no time.
        pub overhead_rate: Option<LinkRate>,
        /// Time of a message between ranks on the same host, in addition to that of its bytes.
        pub local_latency: Time = Time::ZERO,
        /// Rate of messages between two ranks on the same host; if left out, their bytes take no time.
        pub local_rate: Option<LinkRate>,
        /// Service level of its messages; `switch.sl_to_vl` gives the virtual lane.
        pub sl: u32 = 0; ""; 0..=15,
        /// Response to congestion, in place of `[response]`.
        pub response: Option<ResponseParams>,
        /// Whether the job is also run alone, if there is other traffic, to measure its slowdown.
        pub alone: bool = true,
        /// Whether the table `ops` lists the start and end of every operation.
        pub record_ops: bool = false,
    }
}
