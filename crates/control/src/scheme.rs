//! Construction and properties of schemes, beyond what the fabric calls.
//!
//! Every choice of schemes, such as [`Marking`](crate::Marking), is also a scheme.

use becalm_engine::Time;
use becalm_fabric::Rate;
use becalm_fabric::policy::{Echo, Marker, Response, SwitchShape};
use becalm_schema::{Conflict, Field, FieldDoc, Table};
use serde_json::json;

use crate::cnps::CnpLimit;

/// A marking policy.
pub trait MarkingScheme: Marker + Sized {
    /// Parameters of the policy.
    type Params: Field;

    /// The marker of one switch.
    fn new(params: &Self::Params, shape: SwitchShape) -> Self;

    /// Whether the policy depends on the free space of an input buffer, so that it needs finite buffers.
    fn needs_finite_buffer(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// The setting that makes the policy read or delay credit, as a conflict with a fabric without credit; `None`
    /// without such a setting.
    fn needs_credit(params: &Self::Params) -> Option<Conflict> {
        let _ = params;
        None
    }

    /// Smallest number of bytes waiting for an output at which the switch starts to mark, on a link with this rate;
    /// `None` if marking depends on another quantity.
    fn marks_at(params: &Self::Params, shape: &SwitchShape, rate: Rate) -> Option<u64> {
        let _ = (params, shape, rate);
        None
    }

    /// Whether the policy marks a share of the packets that depends only on bytes that wait, so that it can be asked about
    /// each packet of a train when the train leaves.
    fn takes_trains(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// Conflicts of the parameters with the switches of a network.
    fn conflicts(params: &Self::Params, switches: &[SwitchShape]) -> Vec<Conflict> {
        let _ = (params, switches);
        Vec::new()
    }
}

/// Whether an echo sends congestion notification packets (CNPs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cnps {
    /// The echo sends none.
    None,
    /// The echo sends CNPs.
    Sent,
    /// The echo sends CNPs, which real adapters assign to a separate class.
    Apart,
}

/// A way to answer the packets that arrive.
pub trait EchoScheme: Echo + Sized {
    /// Parameters of the echo.
    type Params: Field;

    /// The echo of all destinations.
    fn new(params: &Self::Params) -> Self;

    /// Largest number of data packets that one ACK covers; `None` if data packets are not acknowledged. If it is a
    /// parameter, its name is `ack_every`.
    fn ack_every(params: &Self::Params) -> Option<u32> {
        let _ = params;
        Some(1)
    }

    /// Whether the echo sends congestion notification packets.
    fn cnps(params: &Self::Params) -> Cnps {
        let _ = params;
        Cnps::None
    }

    /// Whether the answers may wait for the last packet of a train.
    fn takes_trains(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// Minimum time between two CNPs; `None` without a limit, or if it is left out.
    fn cnp_interval(params: &Self::Params) -> Option<Time> {
        let _ = params;
        None
    }

    /// Sets the parameters of the limit on CNPs that are left out.
    fn adopt_limit(params: &mut Self::Params, limit: &CnpLimit) {
        let _ = (params, limit);
    }
}

/// The feedback that a response uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Marks in ACKs or in congestion notification packets.
    Marks,
    /// The round-trip times of packets and their ACKs.
    RoundTripTime,
    /// Marks in ACKs, together with the round-trip times of their packets.
    MarksAndDelay,
    /// Telemetry that switches record in packets.
    Telemetry,
}

/// The marking that a response is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkingFor {
    /// Any, because the response ignores marks.
    Any,
    /// None: the response uses other feedback.
    None,
    /// Any that marks; this one if there is a choice.
    Marks(&'static str),
    /// Only this one.
    Only(&'static str),
}

/// The marking and the echo that a response is meant for, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Companions {
    /// The marking.
    pub marking: MarkingFor,
    /// The echo.
    pub echo: &'static str,
}

impl Companions {
    /// The companions as JSON: `marking`, the name to choose; `also`, whether `no` other marking, those that `mark`, or
    /// `any` suits as well; and `echo`.
    pub fn to_json(self) -> serde_json::Value {
        let (marking, also) = match self.marking {
            MarkingFor::Any => ("none", "any"),
            MarkingFor::None => ("none", "no"),
            MarkingFor::Marks(name) => (name, "mark"),
            MarkingFor::Only(name) => (name, "no"),
        };
        json!({"marking": marking, "also": also, "echo": self.echo})
    }
}

/// A response to congestion.
pub trait ResponseScheme: Response + Sized {
    /// Parameters of the response. A window that never changes is called `window`.
    type Params: Field;

    /// The response of one flow in its initial state. To create many responses with the same parameters, clone one.
    fn new(params: &Self::Params) -> Self;

    /// The feedback that the response uses.
    fn feedback(params: &Self::Params) -> Feedback {
        let _ = params;
        Feedback::Marks
    }

    /// The marking and the echo that the response is meant for; `None` if that depends on its parameters.
    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Marks("input_triggered"), echo: "ack" })
    }

    /// Whether the window changes during a run. If so, it may fall to one packet.
    fn moves_window(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// The key that keeps a flow below the full rate of an idle path, and the share that it allows; `None` without such
    /// a key.
    fn ceiling(params: &Self::Params) -> Option<(&'static str, f64)> {
        let _ = params;
        None
    }

    /// The window at the start, and the number of round trips in which it grows by one packet, for a response that
    /// starts slowly.
    fn growth(params: &Self::Params) -> Option<(f64, f64)> {
        let _ = params;
        None
    }

    /// The largest window, in bandwidth-delay products of the idle path; `None` without such a limit.
    fn largest_window(params: &Self::Params) -> Option<f64> {
        let _ = params;
        None
    }

    /// Whether the response depends on the share of marked packets, and therefore needs every mark.
    fn counts_marks(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// The limit on CNPs at the destinations for which the response's values are meant; `None` if they are meant for
    /// any.
    fn cnp_limit(params: &Self::Params) -> Option<CnpLimit> {
        let _ = params;
        None
    }

    /// Whether a trial before the run can determine the properties of the response. If not, checks that need a trial
    /// are skipped.
    fn can_be_tried(params: &Self::Params) -> bool {
        let _ = params;
        true
    }

    /// The delays in the response's table, in packet times; `None` without a table.
    fn delays(params: &Self::Params) -> Option<Vec<f64>> {
        let _ = params;
        None
    }
}

/// Description of a scheme.
#[derive(Clone, Debug)]
pub struct SchemeDoc {
    /// Role of the scheme: `marking`, `echo` or `response`.
    pub seam: &'static str,
    /// Name of the scheme in a scenario.
    pub name: &'static str,
    /// Summary in one sentence.
    pub summary: String,
    /// The doc comment of the scheme's file, in Markdown: a title, then `# What it does`, `# Source`, `# Parameters`,
    /// `# Departures from the source`.
    pub page: String,
    /// Parameters of the scheme.
    pub parameters: Vec<FieldDoc>,
}

impl SchemeDoc {
    /// Describes the scheme with the parameters `P` from the source text of its file.
    pub fn of<P: Table>(seam: &'static str, name: &'static str, source: &str) -> SchemeDoc {
        let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
        let page = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
        SchemeDoc { seam, name, summary: P::doc(), page, parameters: P::fields() }
    }

    /// The text of one section of the page; `None` if it has no such section.
    pub fn section(&self, title: &str) -> Option<&str> {
        let (_, rest) = self.page.split_once(&format!("# {title}\n"))?;
        Some(rest.split("\n# ").next().unwrap_or(rest).trim())
    }

    /// The complete description as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let parameters: Vec<serde_json::Value> = self.parameters.iter().map(FieldDoc::to_json).collect();
        json!({"name": self.name, "summary": self.summary, "page": self.page, "parameters": parameters})
    }
}
