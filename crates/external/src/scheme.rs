//! External schemes that are provided to a scenario.

use std::fmt;
use std::sync::Arc;

use becalm_fabric::policy::{FlowShape, SwitchShape};

use crate::abi;
use crate::parameters::{Parameter, Value};

/// A seam: an interface of becalm that a scheme implements.
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

/// An external scheme.
#[derive(Debug)]
pub struct Scheme {
    /// Its seam.
    pub seam: Seam,
    /// Its name in scenarios.
    pub name: String,
    /// A one-sentence description.
    pub doc: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its origin, as the user named it: `mine.py:Mine`.
    pub origin: String,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// Its functions.
    pub functions: Functions,
}

/// The code of a scheme.
pub enum Functions {
    /// Functions of a response with the C interface.
    Response(abi::Response),
    /// Functions of a marking policy.
    Marking(abi::Marker),
    /// The function of an echo.
    Echo(abi::Echo),
    /// Objects of a language that manages their state. They run only on one thread.
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

/// An event of a response: a notice, or a packet that it sends.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// An ACK.
    Ack(&'a abi::Ack),
    /// A CNP.
    Becn,
    /// The timer has expired.
    Timer,
    /// A new flow begins.
    Restart,
    /// A packet is sent.
    Sent(&'a abi::Sent),
}

impl Call<'_> {
    /// The name of its function in the C interface.
    pub fn word(self) -> &'static str {
        match self {
            Call::Ack(_) => "ack",
            Call::Becn => "becn",
            Call::Timer => "timer",
            Call::Restart => "restart",
            Call::Sent(_) => "sent",
        }
    }
}

/// Properties of objects. A compiled scheme has the same properties in its table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Properties {
    /// Bytes of telemetry in each packet of a response; 0 for none.
    pub trail_bytes: u32,
    /// Flags as in the table of the seam.
    pub flags: u32,
    /// Whether a response handles the packets that it sends.
    pub sent: bool,
    /// Number of a marker's attention.
    pub attention: u32,
    /// Largest number of packets that one ACK of an echo covers; 0 for no ACKs.
    pub ack_every: u32,
}

/// Creates the objects of a scheme. Every error is a sentence for the user.
pub trait Objects: Send + Sync {
    /// Their properties.
    fn properties(&self) -> Properties;
    /// Creates a response for a flow. Returns it with its initial pace.
    ///
    /// # Errors
    /// The reason that it cannot be created.
    fn response(&self, values: &[Value], flow: &FlowShape) -> Result<(Box<dyn ResponseObject>, abi::Pace), String>;
    /// Creates a marker for a switch.
    ///
    /// # Errors
    /// The reason that it cannot be created.
    fn marker(&self, values: &[Value], shape: &SwitchShape) -> Result<Box<dyn MarkerObject>, String>;
    /// Creates an echo for a host.
    ///
    /// # Errors
    /// The reason that it cannot be created.
    fn echo(&self, values: &[Value]) -> Result<Box<dyn EchoObject>, String>;
}

/// A response that is an object.
pub trait ResponseObject: Send {
    /// Handles a call, and sets the pace.
    ///
    /// # Errors
    /// The problem.
    fn call(&mut self, now: u64, call: Call<'_>, pace: &mut abi::Pace) -> Result<(), String>;
}

/// A marker that is an object.
pub trait MarkerObject: Send {
    /// Handles a packet that has arrived, or that has been stored.
    ///
    /// # Errors
    /// The problem.
    fn arrived(&mut self, packet: &abi::Packet, view: &abi::View, stored: bool) -> Result<(), String>;
    /// Whether a departing packet is marked.
    ///
    /// # Errors
    /// The problem.
    fn departing(&mut self, packet: &abi::Packet, view: &abi::View) -> Result<bool, String>;
}

/// An echo that is an object.
pub trait EchoObject: Send {
    /// Answers a packet.
    ///
    /// # Errors
    /// The problem.
    fn answer(&mut self, packet: &abi::Received) -> Result<abi::Answer, String>;
}

impl Scheme {
    /// The properties of a scheme, for code in any language.
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

/// The schemes provided to a scenario.
#[derive(Clone, Debug, Default)]
pub struct Provided(pub Vec<Arc<Scheme>>);

impl Provided {
    /// The scheme with this seam and name.
    pub fn find(&self, seam: Seam, name: &str) -> Option<Arc<Scheme>> {
        self.0.iter().find(|scheme| scheme.seam == seam && scheme.name == name).cloned()
    }

    /// The names of a seam's schemes.
    pub fn names(&self, seam: Seam) -> Vec<&str> {
        self.0.iter().filter(|scheme| scheme.seam == seam).map(|scheme| scheme.name.as_str()).collect()
    }
}
