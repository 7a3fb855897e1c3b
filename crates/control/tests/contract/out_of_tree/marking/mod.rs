//! A list of marking policies.

becalm_control::markers! {
    PolicyParams, Policies;
    "every_nth" => every_nth::EveryNth,
}
