//! Responses outside becalm.

becalm_control::responses! {
    ReactionParams, Reaction;
    "rtt_target" => rtt_target::RttTarget,
}
