//! How a destination answers the packets that reach it.

crate::echoes! {
    EchoParams, Echoing;
    "ack" => ack::AckEcho,
    "ibta" => ibta::Ibta,
}
