//! Answers of destinations to packets.

crate::echoes! {
    EchoParams, Echoing;
    "ack" => ack::AckEcho,
    "ibta" => ibta::Ibta,
}
