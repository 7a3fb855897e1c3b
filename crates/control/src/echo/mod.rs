//! Destinations' answers to packets.

crate::echoes! {
    EchoParams, Echoing;
    "ack" => ack::AckEcho,
    "ibta" => ibta::Ibta,
    "rocev2" => rocev2::RoceV2,
    "uet" => uet::Uet,
    "external" => external::External,
}
