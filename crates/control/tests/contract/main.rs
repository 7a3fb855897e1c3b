//! Properties of all schemes, without naming schemes.
//!
//! The suite runs over the lists of this crate and over lists [`out_of_tree`]. The latter add schemes as described in
//! CONTRIBUTING, with one file and one line each.

mod markers;
mod out_of_tree;
mod responses;
mod variants;

use becalm_control::{EchoParams, Echoing, Marking, MarkingParams, Responding, ResponseParams, SchemeDoc};
use becalm_schema::{Choice, Field, read_json};
use out_of_tree::marking::{Policies, PolicyParams};
use out_of_tree::response::{Reaction, ReactionParams};
use proptest::prelude::*;
use serde_json::json;
use variants::{plain, variants};

fn docs() -> Vec<SchemeDoc> {
    [Marking::docs(), Policies::docs(), Echoing::docs(), Responding::docs(), Reaction::docs()].concat()
}

#[test]
fn every_scheme_is_documented() {
    for doc in docs() {
        let at = format!("{} {}", doc.seam, doc.name);
        for title in ["What it does", "Source", "Parameters", "Departures from the source"] {
            let section = doc.section(title).unwrap_or_else(|| panic!("{at}: no section `{title}`"));
            assert!(!section.is_empty(), "{at}: `{title}` is empty");
        }
        assert!(!doc.summary.is_empty(), "{at}: no summary");
        let parameters = doc.section("Parameters").unwrap();
        for field in &doc.parameters {
            assert!(!field.help.is_empty(), "{at}: {} has no help", field.name);
            assert!(parameters.contains(&format!("`{}`", field.name)), "{at}: {} is not explained", field.name);
        }
    }
}

/// All defaults are valid, and all valid tables survive a round trip through JSON.
fn tables_survive<P: Choice + PartialEq + std::fmt::Debug>(docs: &[SchemeDoc]) {
    assert_eq!(P::NAMES, docs.iter().map(|doc| doc.name).collect::<Vec<_>>());
    for params in variants::<P>(docs) {
        let json = params.to_json();
        assert_eq!(read_json::<P>(&json, "").unwrap_or_else(|wrong| panic!("{wrong}")), params);
    }
    for doc in docs {
        for field in doc.parameters.iter().filter(|field| !field.required) {
            let mut table = plain(doc);
            table.insert(field.name.to_string(), field.default.clone().unwrap());
            let wrong = read_json::<P>(&json!({doc.name: table}), "").err();
            assert_eq!(wrong, None, "{} {}: default of {}", doc.seam, doc.name, field.name);
        }
    }
}

#[test]
fn every_default_is_valid_and_every_table_survives_json() {
    tables_survive::<MarkingParams>(&Marking::docs());
    tables_survive::<PolicyParams>(&Policies::docs());
    tables_survive::<EchoParams>(&Echoing::docs());
    tables_survive::<ResponseParams>(&Responding::docs());
    tables_survive::<ReactionParams>(&Reaction::docs());
}

#[test]
fn the_first_of_a_list_is_the_default_and_does_nothing() {
    assert_eq!(MarkingParams::default().to_json(), json!({"none": {}}));
    assert_eq!(EchoParams::default().to_json(), json!({"ack": {}}));
    assert_eq!(ResponseParams::default().to_json(), json!({"none": {"window": "unlimited"}}));
}

#[test]
fn a_scheme_out_of_tree_is_chosen_by_its_name() {
    let policy = becalm_schema::read::<PolicyParams>("every_nth = {n = 3}", "f.toml").unwrap();
    assert_eq!(policy.name(), "every_nth");
    let wrong = becalm_schema::read::<PolicyParams>("every_nth = {n = 0}", "f.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "f.toml:1: every_nth.n = 0: must be between 1 and 1000 (packets)");
    let reaction = becalm_schema::read::<ReactionParams>("[rtt_target]", "f.toml").unwrap();
    assert_eq!(reaction.name(), "rtt_target");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn responses_keep_their_contract(steps in prop::collection::vec(responses::step(), 1..400)) {
        for params in variants(&Responding::docs()) {
            check_response::<Responding>(&params, &steps)?;
        }
        for params in variants(&Reaction::docs()) {
            check_response::<Reaction>(&params, &steps)?;
        }
    }

    #[test]
    fn responses_never_go_the_wrong_way_on_feedback_of_one_kind(congested in any::<bool>(), n in 1usize..400) {
        for params in variants(&Responding::docs()) {
            responses::never_goes_the_wrong_way::<Responding>(&params, congested, n)?;
        }
        for params in variants(&Reaction::docs()) {
            responses::never_goes_the_wrong_way::<Reaction>(&params, congested, n)?;
        }
    }

    #[test]
    fn markers_keep_their_contract(steps in prop::collection::vec(any::<u16>(), 1..200)) {
        for params in variants(&Marking::docs()) {
            markers::repeats_itself::<Marking>(&params, &steps)?;
            // Random marks are independent of waiting packets by design.
            if params.name() != "random" {
                markers::leaves_an_idle_switch_alone::<Marking>(&params, &steps)?;
            }
        }
        for params in variants(&Policies::docs()) {
            markers::repeats_itself::<Policies>(&params, &steps)?;
            markers::leaves_an_idle_switch_alone::<Policies>(&params, &steps)?;
        }
    }
}

#[test]
fn responses_are_slower_under_congestion_than_without() {
    variants(&Responding::docs()).iter().for_each(|params| responses::reacts::<Responding>(params).unwrap());
    variants(&Reaction::docs()).iter().for_each(|params| responses::reacts::<Reaction>(params).unwrap());
}

fn check_response<R>(params: &R::Params, steps: &[responses::Step]) -> Result<(), TestCaseError>
where
    R: becalm_control::ResponseScheme<Params: Choice + std::fmt::Debug>,
{
    responses::keeps_to_its_limits::<R>(params, steps)?;
    responses::asks_for_timers_to_come::<R>(params, steps)?;
    responses::moves_its_window_as_it_says::<R>(params, steps)?;
    responses::slows_down_on_congestion_and_speeds_up_without::<R>(params, steps)?;
    responses::needs_no_more_than_it_says::<R>(params, steps)?;
    responses::repeats_itself::<R>(params, steps)
}
