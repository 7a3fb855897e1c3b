//! An external echo in a run.

use std::fmt;
use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};

use crate::abi;
use crate::fault::{self, Failure, Faults, Place};
use crate::linked::Linked;
use crate::native::{self, Context};
use crate::params::Params;
use crate::scheme::{EchoObject, Functions};

/// An external echo in a run. Without its code, it acknowledges every packet.
pub struct RunningEcho {
    behind: Behind,
    linked: Option<Arc<Linked>>,
    faults: Faults,
}

enum Behind {
    Native { table: abi::Echo, context: Context },
    Object(Option<Box<dyn EchoObject>>),
    Nothing,
}

impl RunningEcho {
    /// The echo of a host.
    pub fn new(params: &Params) -> RunningEcho {
        let linked = params.linked().cloned();
        let behind = match linked.as_ref().map(|linked| (&linked.scheme.functions, &linked.context)) {
            Some((Functions::Echo(table), context)) => Behind::Native { table: *table, context: context.clone() },
            Some((Functions::Objects(_), _)) => Behind::Object(None),
            _ => Behind::Nothing,
        };
        RunningEcho { behind, linked, faults: Faults::default() }
    }

    /// Sets the object that records its failures.
    pub fn watched_by(&mut self, faults: Faults) {
        self.faults = faults;
    }

    fn ask(&mut self, packet: &abi::Received) -> Result<abi::Answer, String> {
        if let (Behind::Object(object @ None), Some(linked)) = (&mut self.behind, &self.linked)
            && let Functions::Objects(objects) = &linked.scheme.functions
        {
            *object = Some(objects.echo(&linked.values)?);
        }
        let answer = match &mut self.behind {
            Behind::Native { table, context } => native::answer(table, context, packet),
            Behind::Object(Some(object)) => object.answer(packet)?,
            _ => abi::Answer { ack: 1, marks: packet.marks, ..abi::Answer::default() },
        };
        if answer.failed != 0 {
            return Err(fault::of_call("answer"));
        }
        if answer.marks > packet.packets {
            let (marks, packets) = (answer.marks, packet.packets);
            return Err(format!("reports {marks} marks in an ACK; its number of packets is {packets}"));
        }
        Ok(answer)
    }
}

impl Echo for RunningEcho {
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        let raw = abi::Received {
            now: now.0,
            notified: unanswered.notified.map_or(abi::NEVER, |time| time.0),
            injected: packet.injected.0,
            size: packet.size,
            sequence: packet.sequence,
            packets: unanswered.packets,
            marks: unanswered.marked,
            flow: packet.flow.0,
            vl: u16::from(packet.vl),
            marked: u8::from(packet.marked),
            last: u8::from(packet.train.is_last()),
        };
        match self.ask(&raw) {
            Ok(answer) => Answer { ack: (answer.ack != 0).then_some(answer.marks), cnp: answer.cnp != 0 },
            Err(problem) => {
                let scheme = self.linked.as_ref().map_or_else(String::new, |linked| linked.scheme.origin.clone());
                self.faults.leave(Failure { scheme, place: Place::Flow(packet.flow.0), at: now, problem });
                self.behind = Behind::Nothing;
                Answer::ack(unanswered.marked)
            }
        }
    }
}

impl Clone for RunningEcho {
    /// Returns a copy. The copy of an echo that is an object starts from the beginning, because objects are
    /// not copied.
    fn clone(&self) -> RunningEcho {
        let behind = match &self.behind {
            Behind::Native { table, context } => Behind::Native { table: *table, context: context.clone() },
            Behind::Object(_) => Behind::Object(None),
            Behind::Nothing => Behind::Nothing,
        };
        RunningEcho { behind, linked: self.linked.clone(), faults: self.faults.clone() }
    }
}

impl fmt::Debug for RunningEcho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningEcho").field("linked", &self.linked).finish()
    }
}
