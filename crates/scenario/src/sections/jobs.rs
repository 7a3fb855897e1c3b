//! `[[jobs]]`: message-passing programs.

use becalm_control::ResponseParams;
use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::collective::Collective;
use crate::sections::quantities::{Bytes, LinkRate};
use crate::sections::schedule::{Chakra, Goal};

becalm_schema::words! {
    /// The hosts of ranks.
    pub enum Placement {
        /// Host by host: as many ranks on each as there are ranks for a host, rounded up.
        Packed = "packed",
        /// The ranks in turn to the hosts.
        RoundRobin = "round_robin",
        /// As many on each host as with `"packed"`, but ranks are shuffled; from `run.seed` and the job's place in the list.
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
        /// A name among those of the rank, for `after` and `after_start` of later operations.
        pub name: Option<String> = None,
        /// Computes for this time.
        pub calc: Option<Time> = None,
        /// Sends a message of this size.
        pub send: Option<Bytes> = None,
        /// The rank that it is sent to.
        pub to: Option<u32> = None; ""; 0..1 << 20,
        /// Receives a message of this size.
        pub recv: Option<Bytes> = None,
        /// The rank that it comes from; any if left out.
        pub from: Option<u32> = None; ""; 0..1 << 20,
        /// Tag of the message: 0 of a send if left out, any of a receive.
        pub tag: Option<u32> = None,
        /// Lane: operations of one lane of a rank do not overlap.
        pub lane: u32 = 0; ""; 0..=255,
        /// Earlier operations of the rank whose ends it waits for.
        pub after: Vec<String> = Vec::new(),
        /// Earlier operations of the rank whose starts it waits for.
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
    /// A collective operation, repeated, a list of operations, or a file of them. Every pair of ranks on different hosts that
    /// exchanges messages has a flow of its own.
    pub located struct Job {
        /// Name of the job in results.
        pub name: String,
        /// Hosts of the ranks: names, ranges such as `"B1..B10"`, or `"*"` for all hosts.
        pub hosts: Vec<Located<String>>,
        /// Number of ranks; if left out, one per host, or as many as `ops` name or a file has.
        pub ranks: Option<u32> = None; ""; 1..=1 << 20,
        /// The hosts of ranks.
        pub placement: Placement = Placement::Packed,
        /// A collective operation of all ranks.
        pub collective: Option<Collective>,
        /// Number of times that the collective operation is done.
        pub repeat: u32 = 1; ""; 1..=1_000_000,
        /// Time that every rank computes before each collective operation.
        pub compute: Time = Time::ZERO,
        /// Rate at which a rank adds up the vectors of a reduction; in no time if left out.
        pub reduce_rate: Option<LinkRate>,
        /// Operations of the ranks, in place of a collective operation.
        pub ops: Option<Vec<Operation>>,
        /// A GOAL schedule, in place of a collective operation: the path of its file, from the scenario's folder, as text or as
        /// LogGOPSim's `txt2bin` compiles it.
        pub goal: Option<Goal>,
        /// A Chakra execution trace, in place of a collective operation: `"NAME"` for the files `NAME.0.et`, `NAME.1.et` and
        /// so on, from the scenario's folder, which may be compressed (`.et.gz`). The size of an all-gather is each rank's own
        /// part, as in ASTRA-sim and in traces of PyTorch; `{files = "NAME", all_gather = "whole"}` takes it as all that a
        /// rank has in the end.
        pub chakra: Option<Chakra>,
        /// Start of all ranks.
        pub start: Time = Time::ZERO,
        /// Largest message that is sent without asking. Larger ones wait for their receive (rendezvous): an empty message asks,
        /// another one answers. Any message if left out.
        pub eager: Option<Bytes>,
        /// Time that a rank works on each message that it sends or receives.
        pub overhead: Time = Time::ZERO,
        /// Rate at which it works on the bytes of messages, beyond that; in no time if left out.
        pub overhead_rate: Option<LinkRate>,
        /// Time of a message between ranks of one host, beyond that of its bytes.
        pub local_latency: Time = Time::ZERO,
        /// Rate of messages between two ranks of one host; in no time if left out.
        pub local_rate: Option<LinkRate>,
        /// Service level of its messages; `switch.sl_to_vl` gives the virtual lane.
        pub sl: u32 = 0; ""; 0..=15,
        /// Response to congestion, in place of `[response]`.
        pub response: Option<ResponseParams>,
        /// Whether the job is also run alone, if there is other traffic, to measure how much slower it is.
        pub alone: bool = true,
        /// Whether the table `ops` lists the start and end of every operation.
        pub record_ops: bool = false,
    }
}
