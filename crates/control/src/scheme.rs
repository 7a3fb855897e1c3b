//! Schemes beyond their seams: construction and properties.
//!
//! Every choice of schemes, such as [`Marking`](crate::Marking), is itself a scheme.

use becalm_fabric::Rate;
use becalm_fabric::policy::{Echo, Marker, Response, SwitchShape};
use becalm_schema::{Conflict, Field, FieldDoc, Table};
use serde_json::json;

/// A marking policy.
pub trait MarkingScheme: Marker + Sized {
    /// Its parameters.
    type Params: Field;

    /// The marker of one switch.
    fn new(params: &Self::Params, shape: SwitchShape) -> Self;

    /// Whether it depends on how full an input buffer is. Then it needs finite buffers.
    fn needs_finite_buffer(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// The setting for which it looks at credit or delays it, as a conflict with a fabric without credit; `None` if it
    /// does neither.
    fn needs_credit(params: &Self::Params) -> Option<Conflict> {
        let _ = params;
        None
    }

    /// Bytes that wait for an output of such a switch, on a link of this rate, when it begins to mark; `None` if another
    /// quantity decides.
    fn marks_at(params: &Self::Params, shape: &SwitchShape, rate: Rate) -> Option<u64> {
        let _ = (params, shape, rate);
        None
    }

    /// Conflicts of the parameters with the switches of a network.
    fn conflicts(params: &Self::Params, switches: &[SwitchShape]) -> Vec<Conflict> {
        let _ = (params, switches);
        Vec::new()
    }
}

/// The congestion notification packets (CNPs) of an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cnps {
    /// It sends none.
    None,
    /// It sends some.
    Sent,
    /// It sends some, and real adapters give them a class of their own.
    Apart,
}

/// A way to answer the packets that arrive.
pub trait EchoScheme: Echo + Sized {
    /// Its parameters.
    type Params: Field;

    /// The echo of all destinations.
    fn new(params: &Self::Params) -> Self;

    /// Most data packets that one ACK covers; `None` if no data packet is acknowledged. If it is a parameter, its name
    /// is `ack_every`.
    fn ack_every(params: &Self::Params) -> Option<u32> {
        let _ = params;
        Some(1)
    }

    /// Its congestion notification packets.
    fn cnps(params: &Self::Params) -> Cnps {
        let _ = params;
        Cnps::None
    }
}

/// The feedback that a response uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Marks, in ACKs or in congestion notification packets.
    Marks,
    /// The round-trip times of packets and their ACKs.
    RoundTripTime,
    /// What switches record of the path of packets.
    Telemetry,
}

/// A response to congestion.
pub trait ResponseScheme: Response + Sized {
    /// Its parameters. A window that never changes is called `window`.
    type Params: Field;

    /// The response of one flow in its initial state. To make many with the same parameters, clone one.
    fn new(params: &Self::Params) -> Self;

    /// The feedback that it uses.
    fn feedback(params: &Self::Params) -> Feedback {
        let _ = params;
        Feedback::Marks
    }

    /// Whether its window changes during a run. It may then fall to one packet.
    fn moves_window(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// Whether it reacts to the share of packets that are marked, so that each mark has to reach it.
    fn counts_marks(params: &Self::Params) -> bool {
        let _ = params;
        false
    }

    /// Whether a trial before the run finds out its properties. If not, checks that need one leave it alone.
    fn can_be_tried(params: &Self::Params) -> bool {
        let _ = params;
        true
    }

    /// The delays of the table that it walks, in packet times; `None` without such a table.
    fn delays(params: &Self::Params) -> Option<Vec<f64>> {
        let _ = params;
        None
    }
}

/// Description of a scheme.
#[derive(Clone, Debug)]
pub struct SchemeDoc {
    /// Its seam: `marking`, `echo` or `response`.
    pub seam: &'static str,
    /// Its name in a scenario.
    pub name: &'static str,
    /// Summary in one sentence.
    pub summary: String,
    /// The doc comment of its file, Markdown: a title, then `# What it does`, `# Source`, `# Parameters`,
    /// `# Departures from the source`.
    pub page: String,
    /// Its parameters.
    pub parameters: Vec<FieldDoc>,
}

impl SchemeDoc {
    /// Describes the scheme with the parameters `P` by the source text of its file.
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

    /// All of it as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let parameters: Vec<serde_json::Value> = self.parameters.iter().map(FieldDoc::to_json).collect();
        json!({"name": self.name, "summary": self.summary, "page": self.page, "parameters": parameters})
    }
}
