//! Variants of a scenario for a page, with recordings or without congestion control.

use becalm_control::response::{Window, none};
use becalm_control::{EchoParams, MarkingParams, ResponseParams};
use becalm_schema::Located;

use crate::reach::constant_window;
use crate::scenario::Scenario;
use crate::sections::flows::Group;
use crate::sections::jobs::Job;
use crate::sections::observe::FrameStep;

impl Scenario {
    /// The scenario with frames and all spans, at its own interval if it has one, and without
    /// series of links, which a page does not show. This has no effect on the events of a run.
    pub fn recorded(mut self) -> Scenario {
        let mut observe = (*self.sections.observe).clone();
        observe.frames = observe.frames.or(Some(FrameStep::Auto)).into();
        observe.spans = true.into();
        observe.links = Vec::new().into();
        self.sections.observe = observe.into();
        self
    }

    /// Whether the scenario has congestion control, that is, differs from [`Scenario::without_control`].
    pub fn is_controlled(&self) -> bool {
        let sections = &self.sections;
        *sections.marking != MarkingParams::default() || *sections.echo != EchoParams::default() || self.responds()
    }

    /// Whether any source responds to congestion. A window alone is part of the transport.
    pub fn responds(&self) -> bool {
        let sections = &self.sections;
        let some = |response: &ResponseParams| !matches!(response, ResponseParams::Unlimited(_));
        some(&sections.response)
            || sections.flows.iter().any(|group| group.response.as_ref().is_some_and(some))
            || sections.jobs.iter().any(|job| job.response.as_ref().is_some_and(some))
    }

    /// The window that sources keep without congestion control.
    pub fn kept_window(&self) -> Window {
        constant_window(&self.sections.response).map_or(Window::UNLIMITED, Window)
    }

    /// The scenario without marks, and with sources that send at the rate of their links. The response's window stays,
    /// since it belongs to the transport.
    pub fn without_control(mut self) -> Scenario {
        let window = self.kept_window();
        let sections = &mut self.sections;
        sections.marking = MarkingParams::default().into();
        sections.echo = EchoParams::default().into();
        sections.response = ResponseParams::Unlimited(none::Params { window }).into();
        sections.flows = changed(&sections.flows, |group: &mut Group| group.response = None.into());
        sections.jobs = changed(&sections.jobs, |job: &mut Job| job.response = None.into());
        self
    }
}

/// The items, each with the change applied.
fn changed<T: Clone>(items: &Located<Vec<Located<T>>>, change: impl Fn(&mut T)) -> Located<Vec<Located<T>>> {
    let each = |item: &Located<T>| {
        let mut item = (**item).clone();
        change(&mut item);
        Located::from(item)
    };
    items.iter().map(each).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_engine::Time;

    const TEXT: &str = r#"
        [run]
        duration = "1 ms"
        [topology.dumbbell]
        remote = 4
        local = 4
        [marking.input_triggered]
        [response.lipd]
        [[flows]]
        name = "local"
        from = ["B1..B4"]
        to = ["BC"]
        response.aimd = {}
        [[flows]]
        name = "remote"
        from = ["A1..A4"]
        to = ["BC"]
    "#;

    fn scenario() -> Scenario {
        Scenario::parse(TEXT, "variants.toml").unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn recordings_change_no_result() {
        let (plain, recorded) = (scenario(), scenario().recorded());
        let run = |scenario: &Scenario| scenario.run(0, 1, &mut |_| true).unwrap();
        assert_eq!(run(&plain).fingerprint, run(&recorded).fingerprint);
        let results = run(&recorded);
        let frames = results.tables.iter().find(|table| table.name == "frames").expect("frames");
        assert!((50..=100).contains(&frames.rows()), "{} frames", frames.rows());
        let own = TEXT.replace("[run]", "[observe]\nframes = \"20 us\"\n[run]");
        let kept = Scenario::parse(&own, "own.toml").unwrap().recorded();
        assert_eq!(*kept.sections.observe.frames, Some(FrameStep::Every(Time::from_us(20))));
    }

    #[test]
    fn recordings_do_not_move_the_end_of_a_run_that_ends_with_its_jobs() {
        let text = r#"
            [run]
            duration = "4 ms"
            end = "jobs"
            [topology.clos]
            leaves = 2
            spines = 1
            hosts_per_leaf = 2
            [[jobs]]
            name = "ring"
            hosts = ["H0..H3"]
            collective.all_reduce = {algorithm = "ring", bytes = "64 KiB"}
            [[flows]]
            name = "beside"
            from = ["H0"]
            to = ["H3"]
        "#;
        let plain = Scenario::parse(text, "jobs.toml").unwrap_or_else(|errors| panic!("{errors}"));
        let run = |scenario: &Scenario| scenario.run(0, 1, &mut |_| true).unwrap();
        let (results, recorded) = (run(&plain), run(&plain.clone().recorded()));
        assert!(results.end < Time::from_ms(4) && results.end.0 % Time::from_us(100).0 != 0, "{}", results.end);
        assert_eq!((recorded.end, recorded.fingerprint), (results.end, results.fingerprint));
    }

    #[test]
    fn without_control_is_the_scenario_without_its_schemes() {
        let text =
            TEXT.replace("[marking.input_triggered]", "").replace("[response.lipd]", "[response.none]\nwindow = 1");
        let bare = Scenario::parse(&text.replace("response.aimd = {}", ""), "bare.toml").unwrap();
        let without = scenario().without_control();
        assert_eq!(without.resolved(), bare.resolved());
        assert!(scenario().is_controlled() && !bare.is_controlled());
        let fingerprint = |scenario: &Scenario| scenario.run(0, 1, &mut |_| true).unwrap().fingerprint;
        assert_eq!(fingerprint(&without), fingerprint(&bare));
        assert_ne!(fingerprint(&without), fingerprint(&scenario()));
    }
}
