//! The objects that Python schemes get: flows, ACKs, packets and switches. Times are in picoseconds.
#![allow(unsafe_code, reason = "the view of a switch is a table of functions")]

use std::sync::Mutex;
use std::sync::PoisonError;

use becalm_external::abi;
use becalm_fabric::policy::{FlowShape, SwitchShape};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The shape of a flow: the argument of a response's `start`.
#[pyclass(frozen, get_all, module = "becalm._core")]
pub struct Flow {
    /// Rate of the source's link, in bytes per second.
    rate: f64,
    /// Round-trip time of a full packet and its ACK on an empty fabric, in ps.
    base_rtt: u64,
    /// The longest base RTT of all flows of the run, in ps.
    longest_rtt: u64,
    /// Payload of a full packet, in bytes.
    mtu: u32,
    /// Header of a data packet, in bytes.
    header: u32,
    /// Number of links between the source and the destination.
    hops: u32,
}

impl Flow {
    pub fn of(flow: &FlowShape) -> Flow {
        let &FlowShape { rate, mtu, header, base_rtt, longest_rtt, hops } = flow;
        let (base_rtt, longest_rtt) = (base_rtt.0, longest_rtt.0);
        Flow { rate: rate.bytes_per_second(), base_rtt, longest_rtt, mtu, header, hops }
    }
}

/// An ACK, as received by its flow's source.
#[pyclass(frozen, get_all, module = "becalm._core")]
pub struct Ack {
    /// Time since the header of the last packet that it covers left the source, in ps.
    rtt: u64,
    /// Part of `rtt` for which the receiver held the packet or its ACK, in ps.
    held: u64,
    /// Number of marked packets that it reports.
    marked: u32,
    /// Number of packets that it covers.
    covers: u32,
    /// Number of the last packet that it covers.
    sequence: u32,
    /// Number of the next packet that the flow sends.
    next: u32,
    /// Telemetry of the switches on the path, if the class requests it with `trail_bytes`.
    trail: Vec<Hop>,
}

impl Ack {
    pub fn of(ack: &abi::Ack) -> Ack {
        let &abi::Ack { rtt, held, marked, covers, sequence, next, .. } = ack;
        Ack { rtt, held, marked, covers, sequence, next, trail: hops(ack) }
    }
}

/// Telemetry: the state of an output, recorded by the switch when the header of a packet leaves.
#[pyclass(frozen, module = "becalm._core")]
#[derive(Clone)]
pub struct Hop(pub abi::Hop);

#[pymethods]
impl Hop {
    /// The time in ps.
    #[getter]
    fn at(&self) -> u64 {
        self.0.at
    }

    /// Bytes that the output has sent since the start of the run.
    #[getter]
    fn sent(&self) -> u64 {
        self.0.sent
    }

    /// Number of bytes that wait for the output.
    #[getter]
    fn waiting(&self) -> u64 {
        self.0.waiting
    }

    /// Rate of its link, in bytes per second.
    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate
    }

    /// Number of its switch.
    #[getter]
    fn node(&self) -> u32 {
        self.0.node
    }

    /// Its port.
    #[getter]
    fn port(&self) -> u32 {
        self.0.port
    }
}

/// A packet that a flow sends.
#[pyclass(frozen, get_all, module = "becalm._core")]
pub struct Sent {
    /// Size on the wire, in bytes.
    bytes: u32,
    /// Number of unacknowledged packets of the flow, including this one.
    in_flight: u32,
}

impl Sent {
    pub fn of(sent: &abi::Sent) -> Sent {
        Sent { bytes: sent.bytes, in_flight: sent.in_flight }
    }
}

/// The dimensions of a switch: the argument of a marker's `start`.
#[pyclass(frozen, get_all, module = "becalm._core")]
pub struct Shape {
    /// Its name.
    name: String,
    /// Number of ports. Inputs and outputs have the same numbers.
    ports: u16,
    /// Number of virtual lanes.
    vls: u8,
    /// Size of an input buffer, per port and virtual lane, in bytes.
    capacity: u32,
    /// For every port, whether a host is at the other end of its cable.
    host_ports: Vec<bool>,
}

impl Shape {
    pub fn of(shape: &SwitchShape) -> Shape {
        let SwitchShape { name, ports, vls, capacity_bytes, host_ports } = shape.clone();
        Shape { name, ports, vls, capacity: capacity_bytes, host_ports }
    }
}

/// A packet at a switch.
#[pyclass(frozen, module = "becalm._core")]
pub struct Packet(pub abi::Packet);

#[pymethods]
impl Packet {
    /// The time in ps.
    #[getter]
    fn now(&self) -> u64 {
        self.0.now
    }

    /// Its position in the switch's order of arrival.
    #[getter]
    fn order(&self) -> u64 {
        self.0.order
    }

    /// Size on the wire, in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.0.size
    }

    /// The input port.
    #[getter]
    fn input(&self) -> u16 {
        self.0.input
    }

    /// The output port.
    #[getter]
    fn output(&self) -> u16 {
        self.0.output
    }

    /// Its virtual lane.
    #[getter]
    fn vl(&self) -> u16 {
        self.0.vl
    }

    /// 0 for data, 1 for an ACK, 2 for a CNP.
    #[getter]
    fn kind(&self) -> u8 {
        self.0.kind
    }

    /// At an arrival: whether the packet has to wait.
    #[getter]
    fn waits(&self) -> bool {
        self.0.waits != 0
    }
}

/// A data packet that has arrived at its destination, and the unanswered packets before it.
#[pyclass(frozen, module = "becalm._core")]
pub struct Received(pub abi::Received);

#[pymethods]
impl Received {
    /// The time in ps.
    #[getter]
    fn now(&self) -> u64 {
        self.0.now
    }

    /// Time of the flow's last CNP in ps; -1 if there was none.
    #[getter]
    fn notified(&self) -> i64 {
        self.0.notified.cast_signed()
    }

    /// Time at which the packet's header left the source, in ps.
    #[getter]
    fn injected(&self) -> u64 {
        self.0.injected
    }

    /// Size on the wire, in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.0.size
    }

    /// The packet's number in its flow, from 0.
    #[getter]
    fn sequence(&self) -> u32 {
        self.0.sequence
    }

    /// Number of packets of the flow that no ACK covers yet, including this one.
    #[getter]
    fn packets(&self) -> u32 {
        self.0.packets
    }

    /// Number of marked packets among these.
    #[getter]
    fn marks(&self) -> u32 {
        self.0.marks
    }

    /// The number of its flow.
    #[getter]
    fn flow(&self) -> u32 {
        self.0.flow
    }

    /// Its virtual lane.
    #[getter]
    fn vl(&self) -> u16 {
        self.0.vl
    }

    /// Whether the packet is marked.
    #[getter]
    fn marked(&self) -> bool {
        self.0.marked != 0
    }

    /// Whether it is the last packet of its message.
    #[getter]
    fn last(&self) -> bool {
        self.0.last != 0
    }
}

/// A marker's view of its switch. It can be used only during the call that it is passed to.
#[pyclass(frozen, module = "becalm._core")]
pub struct Switch(Mutex<Option<Open>>);

#[derive(Clone, Copy)]
struct Open(abi::View);

// SAFETY: the view exists only during a call of Python, which holds the interpreter.
unsafe impl Send for Open {}

impl Switch {
    pub fn new() -> Switch {
        Switch(Mutex::new(None))
    }

    /// Opens the view for a call.
    pub fn open(&self, view: &abi::View) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Open(*view));
    }

    /// Closes the view.
    pub fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn view(&self) -> PyResult<abi::View> {
        let open = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || PyRuntimeError::new_err("a switch can be used only during the call that it is passed to");
        Ok(open.ok_or_else(closed)?.0)
    }
}

#[pymethods]
impl Switch {
    /// Number of ports.
    #[getter]
    fn ports(&self) -> PyResult<u16> {
        Ok(self.view()?.ports)
    }

    /// Number of virtual lanes.
    #[getter]
    fn vls(&self) -> PyResult<u16> {
        Ok(self.view()?.vls)
    }

    /// Return the number of packets of the largest size that fit into an input buffer.
    fn room(&self, input: u16, vl: u16) -> PyResult<u32> {
        let view = self.view()?;
        // SAFETY: the view is open, so its switch is alive. The same holds in all methods.
        Ok(unsafe { ((*view.ask).room)(view.switch_, input, vl) })
    }

    /// Return the number of packets that wait for an output.
    fn waiting(&self, output: u16, vl: u16) -> PyResult<u32> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).waiting)(view.switch_, output, vl) })
    }

    /// Return the number of bytes that wait for an output.
    fn waiting_bytes(&self, output: u16, vl: u16) -> PyResult<u64> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).waiting_bytes)(view.switch_, output, vl) })
    }

    /// Return the number of packets for an output that have arrived and not left.
    fn present(&self, output: u16, vl: u16) -> PyResult<u32> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).present)(view.switch_, output, vl) })
    }

    /// Return the number of packets for an output in one input buffer.
    fn present_from(&self, input: u16, output: u16, vl: u16) -> PyResult<u32> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).present_from)(view.switch_, input, output, vl) })
    }

    /// Return the number of packets of the largest size for which an output has credit.
    fn credit(&self, output: u16, vl: u16) -> PyResult<u32> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).credit)(view.switch_, output, vl) })
    }

    /// Return the last time at which an output had a packet but no credit for it, in ps; -1 if there was
    /// none.
    fn blocked_until(&self, output: u16, vl: u16) -> PyResult<i64> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).blocked_until)(view.switch_, output, vl) }.cast_signed())
    }

    /// Return the transmission time of a packet of `size` bytes on the link of a port, in ps.
    fn packet_time(&self, port: u16, size: u32) -> PyResult<u64> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).packet_time)(view.switch_, port, size) })
    }

    /// Return a random number in [0, 1) for a departing packet, derived from the scenario's seed.
    fn draw(&self, packet: &Packet) -> PyResult<f64> {
        let view = self.view()?;
        Ok(unsafe { ((*view.ask).draw)(&raw const packet.0) })
    }
}

/// Telemetry as Python objects.
fn hops(ack: &abi::Ack) -> Vec<Hop> {
    if ack.hops == 0 {
        return Vec::new();
    }
    // SAFETY: the core passes a list that is valid during the call.
    let hops = unsafe { std::slice::from_raw_parts(ack.trail, ack.hops as usize) };
    hops.iter().map(|hop| Hop(*hop)).collect()
}
