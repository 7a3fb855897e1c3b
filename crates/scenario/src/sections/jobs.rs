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
        /// Consecutive ranks share a host. Each host gets the mean number of ranks per host, rounded up,
        /// until none are left.
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

becalm_schema::table! {
    /// An operation of a rank: one of `calc`, `send` and `recv`.
    pub struct Operation {
        /// The rank, from 0.
        pub rank: u32; ""; 0..1 << 20,
        /// A name, unique within the rank. Later operations use it in `after` and `after_start`.
        pub name: Option<String> = None,
        /// Computes for this time.
        pub calc: Option<Time> = None,
        /// Sends a message of this size.
        pub send: Option<Bytes> = None,
        /// The rank that the message is sent to.
        pub to: Option<u32> = None; ""; 0..1 << 20,
        /// Receives a message of this size.
        pub recv: Option<Bytes> = None,
        /// The rank that the message comes from; any rank if left out.
        pub from: Option<u32> = None; ""; 0..1 << 20,
        /// Tag of the message. If left out, it is 0 for a send; a receive accepts any tag.
        pub tag: Option<u32> = None,
        /// Lane. Operations on the same lane of a rank do not overlap.
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
            "must have exactly one of calc, send and recv".to_string()
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
    /// The program is a repeated collective operation, a list of operations, or a file of operations. Every
    /// pair of ranks that exchange messages between different hosts has a separate flow.
    pub located struct Job {
        /// Name of the job in results.
        pub name: String,
        /// Hosts of the ranks: names, ranges such as `"B1..B10"`, or `"*"` for all hosts.
        pub hosts: Vec<Located<String>>,
        /// Number of ranks. If left out, it is the number in `ops` or in the file, or else one per host.
        pub ranks: Option<u32> = None; ""; 1..=1 << 20,
        /// Placement of ranks on hosts.
        pub placement: Placement = Placement::Packed,
        /// A collective operation on all ranks.
        pub collective: Option<Collective>,
        /// Number of repetitions of the collective operation.
        pub repeat: u32 = 1; ""; 1..=1_000_000,
        /// Computation time of every rank before each collective operation.
        pub compute: Time = Time::ZERO,
        /// Rate at which a rank adds the vectors of a reduction; no time passes if left out.
        pub reduce_rate: Option<LinkRate>,
        /// Operations of the ranks, instead of a collective operation.
        pub ops: Option<Vec<Operation>>,
        /// A GOAL schedule, instead of a collective operation: the path of its file, relative to the
        /// scenario's folder. The file is text or the output of LogGOPSim's `txt2bin`.
        pub goal: Option<Goal>,
        /// A Chakra execution trace, instead of a collective operation: `"NAME"` for the files `NAME.0.et`,
        /// `NAME.1.et` and so on, relative to the scenario's folder. The files may be compressed (`.et.gz`).
        /// The size of an all-gather is each rank's own part, as in ASTRA-sim and in traces of PyTorch. With
        /// `{files = "NAME", all_gather = "whole"}`, it is the entire vector that a rank holds at the end.
        pub chakra: Option<Chakra>,
        /// Start time of all ranks.
        pub start: Time = Time::ZERO,
        /// Size of the largest message that is sent eagerly. Larger messages use a rendezvous: the sender
        /// sends an empty request, and the data follow when the receive is posted and an empty reply has
        /// arrived. If left out, all messages are sent eagerly.
        pub eager: Option<Bytes>,
        /// Processing time of a rank for each message that it sends or receives.
        pub overhead: Time = Time::ZERO,
        /// Rate at which a rank also processes the bytes of messages; no time passes if left out.
        pub overhead_rate: Option<LinkRate>,
        /// Latency of a message between two ranks on the same host. The time for its bytes is added.
        pub local_latency: Time = Time::ZERO,
        /// Transfer rate of messages between two ranks on the same host; no time passes for their bytes if
        /// left out.
        pub local_rate: Option<LinkRate>,
        /// Service level of its messages. `switch.sl_to_vl` maps it to a virtual lane.
        pub sl: u32 = 0; ""; 0..=15,
        /// Response to congestion, instead of `[response]`.
        pub response: Option<ResponseParams>,
        /// Whether the job also runs without the other traffic, if there is any, to measure its slowdown.
        pub alone: bool = true,
        /// Whether the table `ops` lists the start and end of every operation.
        pub record_ops: bool = false,
    }
}
