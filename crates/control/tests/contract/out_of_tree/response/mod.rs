//! A list of responses.

becalm_control::responses! {
    ReactionParams, Reaction;
    "rtt_target" => rtt_target::RttTarget,
}
