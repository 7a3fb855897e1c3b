//! The schemes by name.
//!
//! A line of a list, `"name" => module::Type`, registers the scheme in `module.rs`: `module::Params` becomes the
//! table of its name, and `Type::new` makes the scheme from it.

use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{
    Answer, Arrival, Departure, Echo, Marker, Notice, Pace, Response, SwitchShape, SwitchView, Unanswered,
};
use becalm_schema::{Choice, FieldDoc, Table};
use serde_json::json;

use crate::response::{Law, RateLimited};
use crate::{echo, marking, response};

/// What there is to say about a scheme.
#[derive(Clone, Debug)]
pub struct SchemeDoc {
    /// The seam it sits on: `marking`, `echo` or `response`.
    pub seam: &'static str,
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: String,
    /// The doc comment of its file, Markdown: a title, then `# What it does`, `# Source`, `# Parameters`,
    /// `# Departures from the source`.
    pub page: String,
    /// Its parameters.
    pub parameters: Vec<FieldDoc>,
}

impl SchemeDoc {
    fn of<P: Table>(seam: &'static str, name: &'static str, source: &str) -> SchemeDoc {
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

/// Every scheme: `{"marking": [...], "echo": [...], "response": [...]}`, see [`SchemeDoc::to_json`].
pub fn catalogue() -> serde_json::Value {
    let list = |docs: Vec<SchemeDoc>| docs.iter().map(SchemeDoc::to_json).collect::<serde_json::Value>();
    json!({"marking": list(Marking::docs()), "echo": list(Echoing::docs()), "response": list(Responding::docs())})
}

macro_rules! schemes {
    // `$dollar` is a `$` for the inner macro.
    (
        $dollar:tt $seam:ident, $params:ident, $running:ident;
        $($name:literal => $module:ident::$scheme:ident,)+
    ) => {
        becalm_schema::choice! {
            #[doc = concat!("The choice of a ", stringify!($seam), " scheme, with its parameters.")]
            pub enum $params {
                $(#[doc = concat!("[`", stringify!($seam), "::", stringify!($module), "`]")]
                $scheme($seam::$module::Params) = $name),+
            }
        }

        // A tag of its own, since one that hides in the unused values of a field takes longer to read.
        #[doc = concat!("A running ", stringify!($seam), " scheme.")]
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub enum $running {
            $(#[doc = concat!("[`", stringify!($seam), "::", stringify!($module), "`]")]
            $scheme($seam::$module::$scheme)),+
        }

        impl $running {
            /// The names of all schemes of this seam.
            pub fn names() -> &'static [&'static str] {
                $params::NAMES
            }

            /// What there is to say about them, in the same order.
            pub fn docs() -> Vec<SchemeDoc> {
                vec![$(SchemeDoc::of::<$seam::$module::Params>(
                    stringify!($seam),
                    $name,
                    include_str!(concat!(stringify!($seam), "/", $name, ".rs")),
                )),+]
            }
        }

        macro_rules! $seam {
            (new $dollar params:expr $dollar (, $dollar argument:expr)*) => {
                match $dollar params {
                    $($params::$scheme(params) => {
                        $running::$scheme($seam::$module::$scheme::new(params $dollar (, $dollar argument)*))
                    })+
                }
            };
            ($dollar running:expr, $dollar inner:ident => $dollar call:expr) => {
                match $dollar running {
                    $($running::$scheme($dollar inner) => $dollar call),+
                }
            };
        }
    };
}

schemes! {
    $ marking, MarkingParams, Marking;
    "none" => none::NoMarks,
    "naive" => naive::Naive,
    "input_triggered" => input_triggered::InputTriggered,
    "input_output_triggered" => input_output_triggered::InputOutputTriggered,
    "ibta" => ibta::Ibta,
    "queue_threshold" => queue_threshold::QueueThreshold,
    "regeneration_cycle" => regeneration_cycle::RegenerationCycle,
    "queue_hysteresis" => queue_hysteresis::QueueHysteresis,
    "interval_average" => interval_average::IntervalAverage,
    "exponential_average" => exponential_average::ExponentialAverage,
}

schemes! {
    $ echo, EchoParams, Echoing;
    "ack" => ack::AckEcho,
    "ibta" => ibta::Ibta,
}

schemes! {
    $ response, ResponseParams, Responding;
    "none" => none::Unlimited,
    "fixed" => fixed::Fixed,
    "lipd" => lipd::Lipd,
    "fimd" => fimd::Fimd,
    "aimd" => aimd::Aimd,
    "ibta" => ibta::Ibta,
    "table" => table::Tabulated,
    "binary_feedback" => binary_feedback::BinaryFeedback,
}

impl Marking {
    /// A marker for one switch.
    pub fn new(params: &MarkingParams, shape: SwitchShape) -> Marking {
        marking!(new params, shape)
    }
}

impl Marker for Marking {
    #[inline]
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        marking!(self, scheme => scheme.arrived(arrival, switch))
    }

    #[inline]
    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        marking!(self, scheme => scheme.departing(departure, switch))
    }

    #[inline]
    fn left(&mut self, now: Time, input: u16, output: u16, vl: u8) -> Time {
        marking!(self, scheme => scheme.left(now, input, output, vl))
    }

    #[inline]
    fn is_congested(&self, output: u16, vl: u8) -> bool {
        marking!(self, scheme => scheme.is_congested(output, vl))
    }
}

impl Echoing {
    /// An echo for all destinations.
    pub fn new(params: &EchoParams) -> Echoing {
        echo!(new params)
    }
}

impl Echo for Echoing {
    #[inline]
    fn answer(&mut self, packet: &Packet, unanswered: Unanswered) -> Answer {
        echo!(self, scheme => scheme.answer(packet, unanswered))
    }
}

impl Responding {
    /// A response for one flow in its initial state. To make many with the same parameters, clone one.
    pub fn new(params: &ResponseParams) -> Responding {
        response!(new params)
    }
}

impl Response for Responding {
    #[inline]
    fn pace(&self) -> Pace {
        response!(self, scheme => scheme.pace())
    }

    #[inline]
    fn notice(&mut self, now: Time, notice: Notice) {
        response!(self, scheme => scheme.notice(now, notice))
    }

    #[inline]
    fn sent(&mut self, in_flight: u32) {
        response!(self, scheme => scheme.sent(in_flight))
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        response!(self, scheme => scheme.deadline())
    }
}

impl RateLimited for Responding {
    fn law(&self) -> Option<&dyn Law> {
        response!(self, scheme => scheme.law())
    }
}
