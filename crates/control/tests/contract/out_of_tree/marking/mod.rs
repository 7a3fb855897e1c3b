//! Marking policies outside becalm.

becalm_control::markers! {
    PolicyParams, Policies;
    "every_nth" => every_nth::EveryNth,
}
