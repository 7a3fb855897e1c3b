//! Sizes and offsets of the types of the C interface, for the test that compares them with the header.

use std::mem::offset_of;

use crate::abi;

macro_rules! layout {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        /// Sizes of types, `becalm_flow.`, and offsets of their fields, `becalm_flow.rate`, in bytes.
        pub fn layout() -> Vec<(String, usize)> {
            let mut all = vec![
                ("becalm_value.".to_string(), size_of::<abi::Value>()),
                ("becalm_value.number".to_string(), 0),
                ("becalm_value.integer".to_string(), 0),
            ];
            $(
                let name = concat!("becalm_", stringify!($name)).to_lowercase();
                all.push((format!("{name}."), size_of::<abi::$name>()));
                $(all.push((format!("{name}.{}", stringify!($field)), offset_of!(abi::$name, $field)));)*
            )*
            all
        }
    };
}

layout! {
    Parameter { name, unit, doc, words, kind, word_count, fallback, least, most }
    Context { parameters, power, exponential, logarithm }
    Flow { rate, base_rtt, longest_rtt, mtu, header, hops, reserved }
    Hop { at, sent, waiting, rate, node, port }
    Ack { rtt, held, marked, covers, sequence, next, trail, hops }
    Sent { now, bytes, in_flight }
    Pace { gap, timer, window, failed }
    Response { state_bytes, trail_bytes, flags, start, ack, becn, timer, restart, sent }
    Switch { name, host_ports, capacity, ports, vls }
    Packet { now, order, size, tie, switch_rank, input, output, vl, kind, waits, reserved }
    Questions { room, waiting, waiting_bytes, present, present_from, credit, blocked_until, packet_time, draw }
    View { ask, switch_, ports, vls, failed }
    Marker { state_bytes, lane_bytes, attention, flags, start, arrived, stored, departing }
    Received { now, notified, injected, size, sequence, packets, marks, flow, vl, marked, last }
    Answer { ack, marks, cnp, failed }
    Echo { ack_every, reserved, answer }
    Scheme { abi, seam, name, doc, parameters, parameter_count, functions }
}
