//! A list of responses.

becalm_control::responses! {
    ReactionParams, Reaction;
    "halving" => halving::Halving,
}
