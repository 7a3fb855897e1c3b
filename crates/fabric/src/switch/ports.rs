//! The state of a switch's ports.

use becalm_engine::{Stream, mix};

use crate::distribution::Distribution;
use crate::flow_control::credit::CreditReturn;
use crate::ids::NodeId;
use crate::network::link::EgressLink;
use crate::switch::pool::Fifo;

/// The purpose of the random stream of an output's transmission times.
const SERVICE_STREAM: u64 = 2;

/// An input buffer of one port and VL. It has a cache line of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Input {
    pub credit_return: CreditReturn,
    /// Units of credit that are taken.
    pub taken: u32,
    /// Packets in the buffer, those in transmission included.
    pub packets: u32,
    /// Packets in transmission.
    pub leaving: u32,
    /// With FIFO queueing: the packets that wait behind each other.
    pub fifo: Fifo,
}

/// The packets of one VL that go from one input to one output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Voq {
    /// Those that the arbiter may take, in order of arrival.
    pub offered: Fifo,
    /// All that wait, offered or not.
    pub waiting: u32,
}

/// An output port. It fills one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Output {
    pub link: EgressLink,
    /// Input and VL of the packet in transmission.
    pub sending: Option<(u16, u8)>,
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
}

const _: () = assert!(size_of::<Output>() == 64 && size_of::<Input>() == 64);

impl Input {
    pub fn new(credit_return: CreditReturn) -> Input {
        Input { credit_return, taken: 0, packets: 0, leaving: 0, fifo: Fifo::default() }
    }
}

impl Output {
    pub fn new(link: EgressLink) -> Output {
        Output { link, sending: None, packets: 0, bytes: 0, marked: 0 }
    }
}

/// The distribution of an output's transmission times, and its random stream, which depends on no other output.
pub(crate) fn service(distribution: Distribution, seed: u64, node: NodeId, port: u16) -> (Distribution, Stream) {
    (distribution, Stream::new(seed, mix(u64::from(node.0), u64::from(port)), SERVICE_STREAM))
}

/// One VL of an output port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    pub waiting: u32,
    pub waiting_bytes: u64,
    /// The input that was served last.
    pub last_input: u16,
    pub stalled: bool,
    pub congested: bool,
}
