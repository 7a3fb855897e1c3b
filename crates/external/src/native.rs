//! Calls through function pointers. Only this file and `read` contain code that the compiler cannot check.
//!
//! It is not possible to check that a library follows the interface. Its results are checked in `response`,
//! `marker` and `echo`.
#![allow(unsafe_code, reason = "calls through function pointers, and the views passed to them")]

use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::Arc;

use becalm_engine::{Time, mix};
use becalm_fabric::policy::{SwitchShape, SwitchView};

use crate::abi;
use crate::parameters::Value;
use crate::scheme::{Call, Scheme};

thread_local! {
    static CALLED: Cell<Option<(*const CString, &'static str)>> = const { Cell::new(None) };
}

/// Writes which code from outside this thread is running, as in `mine.so: crashed in its function `ack``, to a
/// function that takes bytes. It neither allocates nor locks, so it may be used in the handler of a signal.
///
/// Returns whether the thread is running such code.
pub fn tell_called(mut write: impl FnMut(&[u8])) -> bool {
    let Some((origin, function)) = CALLED.get() else { return false };
    // SAFETY: the text outlives the call.
    write(unsafe { &*origin }.to_bytes());
    match function {
        LOADING => write(b": crashed while it was loaded"),
        _ => [b": crashed in its function `", function.as_bytes(), b"`"].into_iter().for_each(write),
    }
    true
}

const LOADING: &str = "";

/// Loads a library. A crash in it can be told from one in becalm.
pub fn loading<T>(origin: &str, load: impl FnOnce() -> T) -> T {
    let origin = CString::new(origin.replace('\0', " ")).unwrap_or_default();
    CALLED.set(Some((&raw const origin, LOADING)));
    let loaded = load();
    CALLED.set(None);
    loaded
}

extern "C" fn power(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

extern "C" fn exponential(x: f64) -> f64 {
    libm::exp(x)
}

extern "C" fn logarithm(x: f64) -> f64 {
    libm::log(x)
}

/// The addresses of the functions of every [`abi::Context`]: power, exponential, logarithm.
pub fn addresses() -> [usize; 3] {
    [power as *const () as usize, exponential as *const () as usize, logarithm as *const () as usize]
}

/// The values of parameters, and the context that points to them.
struct Parameters {
    context: abi::Context,
    origin: CString,
    // The context points to these values.
    _values: Box<[abi::Value]>,
}

/// The context of every call, shared by all states of a scheme.
#[derive(Clone)]
pub(crate) struct Context(Arc<Parameters>);

impl Context {
    pub fn new(scheme: &Scheme, values: &[Value]) -> Context {
        let values: Box<[abi::Value]> = values.iter().map(|value| value.raw()).collect();
        let context = abi::Context { parameters: values.as_ptr(), power, exponential, logarithm };
        let origin = CString::new(scheme.origin.replace('\0', " ")).unwrap_or_default();
        Context(Arc::new(Parameters { context, origin, _values: values }))
    }

    /// Calls a function of the scheme. A crash in it can be told from one in becalm.
    #[inline]
    fn within<T>(&self, function: &'static str, call: impl FnOnce(*const abi::Context) -> T) -> T {
        CALLED.set(Some((&raw const self.0.origin, function)));
        let answer = call(&raw const self.0.context);
        CALLED.set(None);
        answer
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}

/// Plain bytes, initially zero, aligned to 16.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(Box<[u128]>);

impl State {
    /// A state of this number of bytes, rounded up to whole words.
    pub fn new(bytes: u64) -> State {
        State(vec![0; (bytes as usize).div_ceil(16)].into_boxed_slice())
    }

    fn get(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    /// Sets all bytes to zero.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
}

/// Starts a flow.
pub(crate) fn start(
    table: &abi::Response,
    state: &mut State,
    context: &Context,
    flow: &abi::Flow,
    pace: &mut abi::Pace,
) {
    if let Some(start) = table.start {
        // SAFETY: the pointers are valid for the call, and the state has the size that the table asks for.
        context.within("start", |context| unsafe { start(state.get(), context, flow, pace) });
    }
}

/// Calls a response.
#[inline]
pub(crate) fn call(
    table: &abi::Response,
    state: &mut State,
    context: &Context,
    now: u64,
    call: Call<'_>,
    pace: &mut abi::Pace,
) {
    let state = state.get();
    let tick = match call {
        Call::Ack(ack) => {
            if let Some(handle) = table.ack {
                // SAFETY: as in `start`.
                context.within("ack", |context| unsafe { handle(state, context, now, ack, pace) });
            }
            return;
        }
        Call::Sent(sent) => {
            if let Some(handle) = table.sent {
                // SAFETY: as in `start`.
                context.within("sent", |context| unsafe { handle(state, context, sent, pace) });
            }
            return;
        }
        Call::Becn => table.becn,
        Call::Timer => table.timer,
        Call::Restart => table.restart,
    };
    if let Some(handle) = tick {
        // SAFETY: as in `start`.
        context.within(call.word(), |context| unsafe { handle(state, context, now, pace) });
    }
}

/// The state of a switch and of its lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchState {
    whole: State,
    lanes: State,
}

impl SwitchState {
    pub fn new(table: &abi::Marker, shape: &SwitchShape) -> SwitchState {
        let lanes = u64::from(shape.ports) * u64::from(shape.vls);
        SwitchState { whole: State::new(table.state_bytes), lanes: State::new(table.lane_bytes * lanes) }
    }
}

/// Starts a marker.
pub(crate) fn begin(table: &abi::Marker, state: &mut SwitchState, context: &Context, shape: &SwitchShape) {
    let Some(start) = table.start else { return };
    let name = std::ffi::CString::new(shape.name.replace('\0', " ")).unwrap_or_default();
    let host_ports: Vec<u8> = shape.host_ports.iter().map(|is_host| u8::from(*is_host)).collect();
    let shape = abi::Switch {
        name: name.as_ptr(),
        host_ports: host_ports.as_ptr(),
        capacity: shape.capacity_bytes,
        ports: shape.ports,
        vls: u16::from(shape.vls),
    };
    // SAFETY: the pointers are valid for the call, and the states have the sizes that the table asks for.
    context.within("start", |context| unsafe { start(state.whole.get(), state.lanes.get(), context, &shape) });
}

/// Whether a marker ignores packets that have arrived, or that have been stored.
pub(crate) fn is_deaf(table: &abi::Marker, stored: bool) -> bool {
    if stored { table.stored.is_none() } else { table.arrived.is_none() }
}

/// Informs a marker of a packet that has arrived, or that has been stored.
pub(crate) fn arrived(
    table: &abi::Marker,
    state: &mut SwitchState,
    context: &Context,
    packet: &abi::Packet,
    view: &mut abi::View,
    stored: bool,
) {
    let (handle, name) = if stored { (table.stored, "stored") } else { (table.arrived, "arrived") };
    if let Some(handle) = handle {
        let (state, lanes) = (state.whole.get(), state.lanes.get());
        // SAFETY: as in `begin`; the view lives as long as the call.
        context.within(name, |context| unsafe { handle(state, lanes, context, packet, view) });
    }
}

/// Whether a departing packet is marked.
pub(crate) fn departing(
    table: &abi::Marker,
    state: &mut SwitchState,
    context: &Context,
    packet: &abi::Packet,
    view: &mut abi::View,
) -> bool {
    let Some(handle) = table.departing else { return false };
    let (state, lanes) = (state.whole.get(), state.lanes.get());
    // SAFETY: as in `arrived`.
    context.within("departing", |context| unsafe { handle(state, lanes, context, packet, view) }) != 0
}

/// Answers a packet.
pub(crate) fn answer(table: &abi::Echo, context: &Context, packet: &abi::Received) -> abi::Answer {
    let mut answer = abi::Answer::default();
    if let Some(handle) = table.answer {
        // SAFETY: the pointers are valid for the call.
        context.within("answer", |context| unsafe { handle(context, packet, &raw mut answer) });
    }
    answer
}

/// A switch as its marker may see it, limited to existing ports and lanes.
pub(crate) struct Window<'a, V> {
    switch: &'a V,
    ports: u16,
    vls: u16,
    /// The last requested port and lane that do not exist.
    strayed: Cell<Option<(u16, u16)>>,
}

impl<'a, V: SwitchView> Window<'a, V> {
    pub fn new(switch: &'a V, ports: u16, vls: u16) -> Window<'a, V> {
        Window { switch, ports, vls, strayed: Cell::new(None) }
    }

    /// The last requested port and lane that do not exist.
    pub fn strayed(&self) -> Option<(u16, u16)> {
        self.strayed.get()
    }

    fn ask<T>(&self, port: u16, vl: u16, nothing: T, ask: impl FnOnce(&V, u8) -> T) -> T {
        if port < self.ports && vl < self.vls {
            return ask(self.switch, vl as u8);
        }
        self.strayed.set(Some((port, vl)));
        nothing
    }

    const QUESTIONS: abi::Questions = abi::Questions {
        room: room::<V>,
        waiting: waiting::<V>,
        waiting_bytes: waiting_bytes::<V>,
        present: present::<V>,
        present_from: present_from::<V>,
        credit: credit::<V>,
        blocked_until: blocked_until::<V>,
        packet_time: packet_time::<V>,
        draw,
    };

    /// The view for the C interface. It must not outlive `self`.
    #[inline]
    pub fn view(&self) -> abi::View {
        let (ask, switch_) = (const { &Self::QUESTIONS }, ptr::from_ref(self).cast());
        abi::View { ask, switch_, ports: self.ports, vls: self.vls, failed: 0 }
    }
}

/// The window behind a pointer of a view.
///
/// # Safety
/// The pointer must come from [`Window::view`], and the window must be alive.
unsafe fn window<'a, V>(switch: *const c_void) -> &'a Window<'a, V> {
    // SAFETY: guaranteed by the caller.
    unsafe { &*switch.cast() }
}

unsafe extern "C" fn room<V: SwitchView>(switch: *const c_void, input: u16, vl: u16) -> u32 {
    // SAFETY: a marker gets the pointer together with the function.
    unsafe { window::<V>(switch) }.ask(input, vl, 0, |switch, vl| switch.room(input, vl))
}

unsafe extern "C" fn waiting<V: SwitchView>(switch: *const c_void, output: u16, vl: u16) -> u32 {
    // SAFETY: as above.
    unsafe { window::<V>(switch) }.ask(output, vl, 0, |switch, vl| switch.waiting(output, vl))
}

unsafe extern "C" fn waiting_bytes<V: SwitchView>(switch: *const c_void, output: u16, vl: u16) -> u64 {
    // SAFETY: as above.
    unsafe { window::<V>(switch) }.ask(output, vl, 0, |switch, vl| switch.waiting_bytes(output, vl))
}

unsafe extern "C" fn present<V: SwitchView>(switch: *const c_void, output: u16, vl: u16) -> u32 {
    // SAFETY: as above.
    unsafe { window::<V>(switch) }.ask(output, vl, 0, |switch, vl| switch.present(output, vl))
}

unsafe extern "C" fn present_from<V: SwitchView>(switch: *const c_void, input: u16, output: u16, vl: u16) -> u32 {
    // SAFETY: as above.
    let window = unsafe { window::<V>(switch) };
    window.ask(input.max(output), vl, 0, |switch, vl| switch.present_from(input, output, vl))
}

unsafe extern "C" fn credit<V: SwitchView>(switch: *const c_void, output: u16, vl: u16) -> u32 {
    // SAFETY: as above.
    unsafe { window::<V>(switch) }.ask(output, vl, 0, |switch, vl| switch.credit(output, vl))
}

unsafe extern "C" fn blocked_until<V: SwitchView>(switch: *const c_void, output: u16, vl: u16) -> u64 {
    let time = |switch: &V, vl| switch.blocked_until(output, vl).map_or(abi::NEVER, |time: Time| time.0);
    // SAFETY: as above.
    unsafe { window::<V>(switch) }.ask(output, vl, abi::NEVER, time)
}

unsafe extern "C" fn packet_time<V: SwitchView>(switch: *const c_void, port: u16, size: u32) -> u64 {
    // SAFETY: as above.
    unsafe { window::<V>(switch) }.ask(port, 0, 0, |switch, _| switch.packet_time(port, size).0)
}

/// [`becalm_fabric::policy::Departure::draw`].
unsafe extern "C" fn draw(packet: *const abi::Packet) -> f64 {
    // SAFETY: a marker gets a valid packet and passes it on.
    let packet = unsafe { &*packet };
    let bits = mix(u64::from(packet.tie), u64::from(packet.switch_rank)) >> 11;
    bits as f64 / (1u64 << 53) as f64
}
