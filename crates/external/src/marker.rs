//! An external marking policy in a run.

use std::fmt;
use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};

use crate::abi;
use crate::fault::{self, Failure, Faults, Place};
use crate::linked::Linked;
use crate::native::{self, Context, SwitchState, Window};
use crate::params::Params;
use crate::scheme::{Functions, MarkerObject, Properties};

/// An external marking policy in a run. Without its code, it marks nothing.
pub struct RunningMarker {
    ports: u16,
    vls: u16,
    behind: Behind,
    properties: Properties,
    linked: Option<Arc<Linked>>,
    shape: SwitchShape,
    faults: Faults,
}

enum Behind {
    Native {
        table: abi::Marker,
        state: SwitchState,
        context: Context,
    },
    Object(Option<Box<dyn MarkerObject>>),
    /// It has raised an exception at its start.
    Broken(String),
    Nothing,
}

/// Whether a call has not failed.
#[inline]
fn checked(view: &abi::View, function: &str) -> Result<(), String> {
    if view.failed == 0 { Ok(()) } else { Err(fault::of_call(function)) }
}

fn number(kind: Kind) -> u8 {
    match kind {
        Kind::Data => 0,
        Kind::Ack => 1,
        Kind::Cnp => 2,
    }
}

impl RunningMarker {
    /// The marker of a switch. A compiled marker starts at once, an object with the first packet.
    pub fn new(params: &Params, shape: SwitchShape) -> RunningMarker {
        let linked = params.linked().cloned();
        let behind = match linked.as_ref().map(|linked| (&linked.scheme.functions, &linked.context)) {
            Some((Functions::Marking(table), context)) => {
                let (mut state, context) = (SwitchState::new(table, &shape), context.clone());
                native::begin(table, &mut state, &context, &shape);
                match fault::take_raised() {
                    Some(problem) => Behind::Broken(problem),
                    None => Behind::Native { table: *table, state, context },
                }
            }
            Some((Functions::Objects(_), _)) => Behind::Object(None),
            _ => Behind::Nothing,
        };
        let (ports, vls) = (shape.ports, u16::from(shape.vls));
        let properties = linked.as_ref().map(|linked| linked.scheme.properties()).unwrap_or_default();
        RunningMarker { ports, vls, behind, properties, linked, shape, faults: Faults::default() }
    }

    /// Sets the object that records its failures.
    pub fn watched_by(&mut self, faults: Faults) {
        self.faults = faults;
    }

    #[cold]
    fn fail(&mut self, at: Time, problem: String) {
        let scheme = self.linked.as_ref().map_or_else(String::new, |linked| linked.scheme.origin.clone());
        self.faults.leave(Failure { scheme, place: Place::Switch(self.shape.name.clone()), at, problem });
        self.behind = Behind::Nothing;
    }

    /// Creates the object if it does not exist yet.
    #[inline]
    fn awake(&mut self) -> Result<(), String> {
        match &self.behind {
            Behind::Object(None) => self.make(),
            Behind::Broken(problem) => Err(problem.clone()),
            _ => Ok(()),
        }
    }

    #[cold]
    fn make(&mut self) -> Result<(), String> {
        let (Behind::Object(object @ None), Some(linked)) = (&mut self.behind, &self.linked) else { return Ok(()) };
        if let Functions::Objects(objects) = &linked.scheme.functions {
            *object = Some(objects.marker(&linked.values, &self.shape)?);
        }
        Ok(())
    }

    fn come<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V, stored: bool) {
        if matches!(&self.behind, Behind::Native { table, .. } if native::is_deaf(table, stored)) {
            return;
        }
        let &Arrival { now, order, input, output, vl, size, kind, waits } = arrival;
        let (vl, kind, waits) = (u16::from(vl), number(kind), u8::from(waits));
        let packet = abi::Packet { now: now.0, order, size, input, output, vl, kind, waits, ..abi::Packet::default() };
        self.see(now, &packet, switch, |behind, packet, view| match behind {
            Behind::Native { table, state, context } => {
                native::arrived(table, state, context, packet, view, stored);
                checked(view, if stored { "stored" } else { "arrived" }).map(|()| false)
            }
            Behind::Object(Some(object)) => object.arrived(packet, view, stored).map(|()| false),
            _ => Ok(false),
        });
    }

    #[inline]
    fn see<V: SwitchView>(
        &mut self,
        now: Time,
        packet: &abi::Packet,
        switch: &V,
        ask: impl FnOnce(&mut Behind, &abi::Packet, &mut abi::View) -> Result<bool, String>,
    ) -> bool {
        let &mut RunningMarker { ports, vls, .. } = self;
        let window = Window::new(switch, ports, vls);
        let outcome = self.awake().and_then(|()| ask(&mut self.behind, packet, &mut window.view()));
        match (outcome, window.strayed()) {
            (Ok(mark), None) => mark,
            (Err(problem), _) => {
                self.fail(now, problem);
                false
            }
            (Ok(_), Some((port, vl))) => {
                let problem = format!(
                    "reads port {port}, lane {vl} of a switch with {ports} ports and {vls} lanes, numbered from 0"
                );
                self.fail(now, problem);
                false
            }
        }
    }
}

impl Marker for RunningMarker {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.come(arrival, switch, false);
    }

    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.come(arrival, switch, true);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        let &Departure { now, order, input, output, vl, size, kind, tie, switch: switch_rank } = departure;
        let (vl, kind) = (u16::from(vl), number(kind));
        let (waits, reserved) = (0, 0);
        let packet =
            abi::Packet { now: now.0, order, size, tie, switch_rank, input, output, vl, kind, waits, reserved };
        self.see(now, &packet, switch, |behind, packet, view| match behind {
            Behind::Native { table, state, context } => {
                let marks = native::departing(table, state, context, packet, view);
                checked(view, "departing").map(|()| marks)
            }
            Behind::Object(Some(object)) => object.departing(packet, view),
            _ => Ok(false),
        })
    }

    fn attention(&self) -> Attention {
        match self.properties.attention {
            0 => Attention::Nothing,
            1 => Attention::Queues,
            2 => Attention::Packets,
            3 => Attention::Tails,
            _ => Attention::Storage,
        }
    }

    fn sees_passing(&self) -> bool {
        self.properties.flags & abi::PASSING != 0
    }
}

impl Clone for RunningMarker {
    /// Returns a copy. The copy of a marker that is an object starts from the beginning, because objects are
    /// not copied.
    fn clone(&self) -> RunningMarker {
        let behind = match &self.behind {
            Behind::Native { table, state, context } => {
                Behind::Native { table: *table, state: state.clone(), context: context.clone() }
            }
            Behind::Object(_) => Behind::Object(None),
            Behind::Broken(problem) => Behind::Broken(problem.clone()),
            Behind::Nothing => Behind::Nothing,
        };
        let (linked, shape, faults) = (self.linked.clone(), self.shape.clone(), self.faults.clone());
        RunningMarker { behind, linked, shape, faults, ..*self }
    }
}

impl fmt::Debug for RunningMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningMarker").field("shape", &self.shape).field("linked", &self.linked).finish()
    }
}
