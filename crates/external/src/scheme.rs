//! Schemes from outside, as they are provided to a scenario.

use std::fmt;
use std::sync::Arc;

use becalm_fabric::policy::{FlowShape, SwitchShape};

use crate::abi;
use crate::parameters::{Parameter, Value};

/// A seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seam {
    /// Responses.
    Response,
    /// Marking policies.
    Marking,
    /// Echoes.
    Echo,
}

impl Seam {
    /// Its name in scenarios and options.
    pub fn word(self) -> &'static str {
        match self {
            Seam::Response => "response",
            Seam::Marking => "marking",
            Seam::Echo => "echo",
        }
    }

    /// The seam with this number.
    pub fn numbered(number: u32) -> Option<Seam> {
        match number {
            abi::SEAM_RESPONSE => Some(Seam::Response),
            abi::SEAM_MARKING => Some(Seam::Marking),
            abi::SEAM_ECHO => Some(Seam::Echo),
            _ => None,
        }
    }
}

/// A scheme from outside.
#[derive(Debug)]
pub struct Scheme {
    /// Where it sits.
    pub seam: Seam,
    /// Its name in scenarios.
    pub name: String,
    /// A sentence about it.
    pub doc: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Where it comes from, as its user knows it: `mine.py:Mine`.
    pub origin: String,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// Its functions.
    pub functions: Functions,
}

/// What stands behind a scheme.
pub enum Functions {
    /// Functions of a response by the C interface.
    Response(abi::Response),
    /// Functions of a marking policy.
    Marking(abi::Marker),
    /// The function of an echo.
    Echo(abi::Echo),
    /// Objects of a language that keeps its own state: on one thread only.
    Objects(Box<dyn Objects>),
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Functions::Objects(_) => "Objects",
            _ => "Compiled",
        })
    }
}

/// A notice to a response, or a packet that it sends.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// An ACK.
    Ack(&'a abi::Ack),
    /// A CNP.
    Becn,
    /// The timer.
    Timer,
    /// A new flow.
    Restart,
    /// A packet that goes out.
    Sent(&'a abi::Sent),
}

/// Properties of objects that a compiled scheme has in its table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Properties {
    /// Of a response: bytes of telemetry in each packet; 0 for none.
    pub trail_bytes: u32,
    /// As in the table of the seam.
    pub flags: u32,
    /// Of a response: whether it handles packets that go out.
    pub sent: bool,
    /// Of a marker: the number of an attention.
    pub attention: u32,
    /// Of an echo: most packets that one ACK covers; 0 for no ACK.
    pub ack_every: u32,
}

/// Makes objects. Every error is a sentence for the user.
pub trait Objects: Send + Sync {
    /// What they want.
    fn properties(&self) -> Properties;
    /// A response for a flow, and its first pace.
    ///
    /// # Errors
    /// The reason, if it cannot be made.
    fn response(&self, values: &[Value], flow: &FlowShape) -> Result<(Box<dyn ResponseObject>, abi::Pace), String>;
    /// A marker for a switch.
    ///
    /// # Errors
    /// The reason, if it cannot be made.
    fn marker(&self, values: &[Value], shape: &SwitchShape) -> Result<Box<dyn MarkerObject>, String>;
    /// An echo for a host.
    ///
    /// # Errors
    /// The reason, if it cannot be made.
    fn echo(&self, values: &[Value]) -> Result<Box<dyn EchoObject>, String>;
}

/// A response that is an object.
pub trait ResponseObject: Send {
    /// Handles a call, and sets the pace.
    ///
    /// # Errors
    /// What went wrong.
    fn call(&mut self, now: u64, call: Call<'_>, pace: &mut abi::Pace) -> Result<(), String>;
}

/// A marker that is an object.
pub trait MarkerObject: Send {
    /// Sees a packet that has arrived, or that is stored.
    ///
    /// # Errors
    /// What went wrong.
    fn arrived(&mut self, packet: &abi::Packet, view: &abi::View, stored: bool) -> Result<(), String>;
    /// Whether a packet that departs is marked.
    ///
    /// # Errors
    /// What went wrong.
    fn departing(&mut self, packet: &abi::Packet, view: &abi::View) -> Result<bool, String>;
}

/// An echo that is an object.
pub trait EchoObject: Send {
    /// Answers a packet.
    ///
    /// # Errors
    /// What went wrong.
    fn answer(&mut self, packet: &abi::Received) -> Result<abi::Answer, String>;
}

impl Scheme {
    /// What it wants, however it is written.
    pub fn properties(&self) -> Properties {
        let default = Properties::default();
        match &self.functions {
            Functions::Objects(objects) => objects.properties(),
            Functions::Response(table) => {
                let &abi::Response { trail_bytes, flags, sent, .. } = table;
                Properties { trail_bytes, flags, sent: sent.is_some(), ..default }
            }
            Functions::Marking(table) => Properties { attention: table.attention, flags: table.flags, ..default },
            Functions::Echo(table) => Properties { ack_every: table.ack_every, ..default },
        }
    }

    /// Whether it may run on several threads.
    pub fn is_native(&self) -> bool {
        !matches!(self.functions, Functions::Objects(_))
    }
}

/// The schemes that are provided to a scenario.
#[derive(Clone, Debug, Default)]
pub struct Provided(pub Vec<Arc<Scheme>>);

impl Provided {
    /// The scheme of a seam with this name.
    pub fn find(&self, seam: Seam, name: &str) -> Option<Arc<Scheme>> {
        self.0.iter().find(|scheme| scheme.seam == seam && scheme.name == name).cloned()
    }

    /// The names of a seam's schemes.
    pub fn names(&self, seam: Seam) -> Vec<&str> {
        self.0.iter().filter(|scheme| scheme.seam == seam).map(|scheme| scheme.name.as_str()).collect()
    }
}
