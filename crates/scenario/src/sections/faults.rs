//! `[[faults]]`: what breaks during a run.

use becalm_engine::Time;
use becalm_schema::{Conflict, Located};

use crate::sections::quantities::LinkRate;

becalm_schema::table! {
    /// A cable carries nothing, in both directions. A packet on the cable arrives, and is counted. Packets for the
    /// cable wait, unless `[switch.paths]` chooses among ports: then the switches at both ends use other ports. Other
    /// switches do not know of the fault.
    ///
    /// If it is the cable of a NIC with several ports, ranks know at once. A message of a job that has not arrived
    /// completely is sent a second time, from its first byte, by the next port whose cables are up. The first attempt
    /// sends at most one more packet; its packets already on the way wait, or arrive without effect.
    pub located struct LinkDown {
        /// The cable, named by one of its directions, such as `"A->B"`. If several links join the same two nodes, add the port, as
        /// in `"A[0]->B"`.
        pub link: String,
    }
}

becalm_schema::table! {
    /// Hosts receive slowly. A host with this fault at any time has a receive buffer as large as a switch's input
    /// buffer.
    pub located struct SlowReceiver {
        /// Names of hosts, ranges such as `"H1..H8"`, or `"*"`.
        pub hosts: Vec<Located<String>>,
        /// Rate at which each host receives packets. A packet whose reception has begun continues at its rate.
        pub drain_rate: LinkRate,
    }
}

becalm_schema::table! {
    /// A host or switch sends pauses without end, whatever its buffer holds. Requires `[switch.flow_control.pfc]`.
    pub located struct PauseStorm {
        /// The link whose sender is paused, such as `"leaf0->H3"` for pauses from H3.
        pub link: String,
        /// Virtual lanes (priorities) that are paused; all if left out.
        pub vls: Option<Vec<u32>> = None,
    }
}

becalm_schema::table! {
    /// Hosts stop: they send nothing, not even answers, and receive nothing. Their sources go on posting. A host with this
    /// fault at any time has a receive buffer as large as a switch's input buffer; when it is full, it pauses the switch.
    pub located struct HostStop {
        /// Names of hosts, ranges such as `"H1..H8"`, or `"*"`.
        pub hosts: Vec<Located<String>>,
    }
}

becalm_schema::table! {
    /// Switches stop: all their cables are down, as with `link_down`. Packets in such a switch wait.
    pub located struct SwitchStop {
        /// Names of switches, or ranges such as `"leaf0..leaf3"`.
        pub switches: Vec<Located<String>>,
    }
}

becalm_schema::choice! {
    /// What breaks.
    pub enum Kind {
        /// A cable that carries nothing.
        LinkDown(LinkDown) = "link_down",
        /// Hosts that receive slowly.
        SlowReceiver(SlowReceiver) = "slow_receiver",
        /// Pauses without end.
        PauseStorm(PauseStorm) = "pause_storm",
        /// Hosts that neither send nor receive.
        HostStop(HostStop) = "host_stop",
        /// Switches whose cables carry nothing.
        SwitchStop(SwitchStop) = "switch_stop",
    }
}

becalm_schema::table! {
    /// Something that breaks during the run, and may recover. No packet is lost: what cannot move waits.
    pub located struct Fault {
        /// What breaks.
        pub kind: Kind,
        /// Start of the fault.
        pub at: Time; ""; Time(1)..,
        /// End of the fault; if left out, it lasts until the end of the run.
        pub until: Option<Time> = None,
    }
    check Fault::check;
}

impl Fault {
    fn check(&self) -> Result<(), Conflict> {
        let until = self.until.unwrap_or(Time::MAX);
        Conflict::unless(until > *self.at, "until", || format!("must be later than at = {}", *self.at))
    }
}
