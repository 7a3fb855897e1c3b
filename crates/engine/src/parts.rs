//! One model on several threads, in parts that run in parallel and exchange messages.
//!
//! A message takes effect in another part no sooner than the look-ahead after the event that caused it. All parts can
//! therefore handle their events in parallel, from the earliest event of all parts to just before that time plus the
//! look-ahead. They then exchange messages and agree on the next window. Windows depend only on the times of events, so
//! the result depends neither on the number of parts nor on the speed of their threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::run::{Agenda, Model, Simulator, Stop};
use crate::time::Time;

/// Number of events between two checks whether to stop: a few milliseconds.
const EVENTS_AT_ONCE: u64 = 10_000;
/// Number of times that a waiting thread checks for the others before it yields the core.
const SPINS: u32 = 5_000;

/// A model that can be one part of a larger one.
pub trait Part: Model {
    /// A message from one part to another.
    type Message: Send;

    /// Messages for another part since the last call; the caller empties the list.
    fn outbox(&mut self, part: usize) -> &mut Vec<Self::Message>;

    /// The time at which a message takes effect, no sooner than the look-ahead after the event that caused it.
    fn time(message: &Self::Message) -> Time;

    /// Receives a message.
    fn receive(&mut self, message: Self::Message, agenda: &mut Agenda<Self::Event>);

    /// Amount of work done, in any unit, for progress reports.
    fn work(&self) -> u64;

    /// Whether this part has work for which [`Parts::halt_at_close`] waits. A part that closes calls [`Agenda::halt`],
    /// and stays closed.
    fn is_open(&self) -> bool {
        true
    }
}

/// Combined progress of all parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Time that all parts have reached.
    pub time: Time,
    /// Number of events handled.
    pub events: u64,
    /// Sum of [`Part::work`].
    pub work: u64,
}

/// The parts of a model.
pub struct Parts<M: Part> {
    simulators: Vec<Simulator<M>>,
    lookahead: Time,
    /// Whether the run ends when all parts have closed.
    halts: bool,
}

/// State that the threads share during a run.
struct Shared<T> {
    meeting: Meeting,
    /// For each part, the time of its next event or of the earliest message that it has sent. One list for even windows
    /// and one for odd windows.
    next: [Vec<AtomicU64>; 2],
    events: Vec<AtomicU64>,
    work: Vec<AtomicU64>,
    /// Indexed by (receiver, sender).
    mail: Vec<Mutex<Vec<T>>>,
    /// For each part, its time and whether it is open (1) or closed (0); as for `next`. Only if the run ends when all
    /// parts have closed.
    states: Option<[Vec<(AtomicU64, AtomicU64)>; 2]>,
}

/// A barrier at which threads wait for each other. They spin, since a window lasts microseconds.
struct Meeting {
    threads: usize,
    here: AtomicUsize,
    held: AtomicU64,
    cancelled: AtomicBool,
}

impl Meeting {
    fn new(threads: usize) -> Meeting {
        Meeting { threads, here: AtomicUsize::new(0), held: AtomicU64::new(0), cancelled: AtomicBool::new(false) }
    }

    /// Waits until all threads have arrived or the meeting is cancelled; returns whether they have arrived.
    fn join(&self) -> bool {
        let held = self.held.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            self.held.store(held + 1, Ordering::Release);
            return !self.is_cancelled();
        }
        let mut spins = 0;
        while self.held.load(Ordering::Acquire) == held {
            if self.is_cancelled() {
                return false;
            }
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        true
    }

    /// Cancels the meeting, so that no thread waits any longer.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}

/// Cancels a meeting if the thread panics, so that no other thread waits for it.
struct CancelOnPanic<'a>(&'a Meeting);

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.cancel();
        }
    }
}

impl<M> Parts<M>
where
    M: Part + Send,
    M::Event: Send,
{
    /// Combines parts at the same simulated time. Messages take effect at least `lookahead` later, which must be
    /// positive for several parts.
    pub fn new(simulators: Vec<Simulator<M>>, lookahead: Time) -> Parts<M> {
        assert!(!simulators.is_empty() && (simulators.len() == 1 || lookahead > Time::ZERO), "no look-ahead");
        Parts { simulators, lookahead, halts: false }
    }

    /// The parts.
    pub fn simulators(&self) -> &[Simulator<M>] {
        &self.simulators
    }

    /// The parts, to be changed between calls of [`Parts::run`].
    pub fn simulators_mut(&mut self) -> &mut [Simulator<M>] {
        &mut self.simulators
    }

    /// Returns the parts, consuming `self`.
    pub fn into_simulators(self) -> Vec<Simulator<M>> {
        self.simulators
    }

    /// The current time of all parts.
    pub fn now(&self) -> Time {
        self.simulators[0].now()
    }

    /// Whether [`Parts::run`] also ends, with [`Stop::Halt`], at the time at which the last part closes. All events up
    /// to and including that time have then happened, and no later ones.
    pub fn halt_at_close(&mut self, halts: bool) {
        self.halts = halts;
        if halts {
            self.simulators.iter_mut().for_each(|simulator| simulator.agenda.unite());
        }
    }

    /// A time that no event has passed so far, also after an interrupted run, which leaves the parts at different times.
    pub fn reached(&self) -> Time {
        self.simulators.iter().map(|simulator| simulator.agenda.reached()).max().unwrap_or(Time::ZERO)
    }

    /// Progress of all parts.
    pub fn work(&self) -> Work {
        let sum = |value: fn(&Simulator<M>) -> u64| self.simulators.iter().map(value).sum();
        Work { time: self.now(), events: sum(Simulator::events), work: sum(|simulator| simulator.model.work()) }
    }

    /// Handles all events up to and including `until`, on one thread per part.
    ///
    /// `watch` is called every few milliseconds on the calling thread; when it returns `false`, the run ends early and
    /// returns `None`. [`Stop::Idle`] means that no events are pending.
    pub fn run(&mut self, until: Time, watch: &mut dyn FnMut(&Work) -> bool) -> Option<Stop> {
        // A web page has no threads; the compiler then omits the code for them.
        if cfg!(target_family = "wasm") || self.simulators.len() == 1 {
            return self.run_alone(until, watch);
        }
        let n = self.simulators.len();
        let zeros = || (0..n).map(|_| AtomicU64::new(0)).collect();
        let shared = Shared {
            meeting: Meeting::new(n),
            next: [zeros(), zeros()],
            events: zeros(),
            work: zeros(),
            mail: (0..n * n).map(|_| Mutex::default()).collect(),
            states: self
                .halts
                .then(|| [zeros(), zeros()].map(|times: Vec<_>| times.into_iter().zip(zeros()).collect())),
        };
        let lookahead = self.lookahead;
        let (first, rest) = self.simulators.split_first_mut().expect("at least one part");
        std::thread::scope(|scope| {
            for (part, simulator) in (1..).zip(rest) {
                let shared = &shared;
                scope.spawn(move || shared.run(part, simulator, lookahead, until, &mut |_| true));
            }
            shared.run(0, first, lookahead, until, &mut |time| watch(&shared.progress(time)));
        });
        let stopped = shared.meeting.is_cancelled();
        for (part, simulator) in self.simulators.iter_mut().enumerate() {
            shared.deliver(part, simulator);
        }
        let halted = self.halts && self.simulators.iter().all(|simulator| !simulator.model.is_open());
        let idle = || self.simulators.iter().all(|simulator| simulator.agenda.pending().next().is_none());
        (!stopped).then(|| match halted {
            true => Stop::Halt,
            false if idle() => Stop::Idle,
            false => Stop::Time,
        })
    }

    fn run_alone(&mut self, until: Time, watch: &mut dyn FnMut(&Work) -> bool) -> Option<Stop> {
        loop {
            let simulator = &mut self.simulators[0];
            if self.halts && !simulator.model.is_open() {
                simulator.run_until(simulator.now());
                return Some(Stop::Halt);
            }
            let stop = simulator.run_to_halt(until, EVENTS_AT_ONCE);
            if !watch(&self.work()) {
                return None;
            }
            if !matches!(stop, Stop::Events | Stop::Halt) {
                return Some(stop);
            }
        }
    }
}

impl<T: Send> Shared<T> {
    /// Runs one part; `go_on` is called with the time every few milliseconds and decides whether to continue.
    fn run<M: Part<Message = T>>(
        &self,
        part: usize,
        simulator: &mut Simulator<M>,
        lookahead: Time,
        until: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) {
        let _guard = CancelOnPanic(&self.meeting);
        let mut posted = Time::MAX;
        for window in 0.. {
            let next = simulator.agenda.next_time().unwrap_or(Time::MAX).min(posted);
            let times = &self.next[window % 2];
            times[part].store(next.0, Ordering::Relaxed);
            self.tell_state(part, simulator, window);
            if !self.meeting.join() {
                return;
            }
            self.deliver(part, simulator);
            let start = times.iter().map(|time| time.load(Ordering::Relaxed)).min().map_or(Time::MAX, Time);
            let (limit, all_closed) = self.limit(simulator, window).unwrap_or((Time::MAX, false));
            if start > until || all_closed {
                simulator.run_until(until.min(limit));
                // When all parts have closed, the last events may have caused messages.
                self.post(part, simulator);
                return;
            }
            let end = simulator.agenda.stop_before(start.saturating_add(lookahead), start).min(until).min(limit);
            let run = if self.states.is_some() { Simulator::run_to_halt } else { Simulator::run };
            while run(simulator, end, EVENTS_AT_ONCE) == Stop::Events {
                self.report(part, simulator, go_on);
            }
            if window % 64 == 0 {
                self.report(part, simulator, go_on);
            }
            posted = self.post(part, simulator);
        }
    }

    /// Tells the others this part's time and whether it is open, if the run ends when all parts have closed.
    fn tell_state<M: Part>(&self, part: usize, simulator: &Simulator<M>, window: usize) {
        let Some(states) = &self.states else { return };
        let (time, open) = &states[window % 2][part];
        time.store(simulator.now().0, Ordering::Relaxed);
        open.store(u64::from(simulator.model.is_open()), Ordering::Relaxed);
    }

    /// The time that a part may reach, and whether all parts have closed; `None` if the run does not wait for that.
    ///
    /// The last part closes after the time of every open part. A closed part therefore waits for the open ones, so that
    /// none passes the end of the run.
    fn limit<M: Part>(&self, simulator: &Simulator<M>, window: usize) -> Option<(Time, bool)> {
        let states = &self.states.as_ref()?[window % 2];
        let latest = |is: u64| {
            let those = states.iter().filter(|(_, open)| open.load(Ordering::Relaxed) == is);
            those.map(|(time, _)| Time(time.load(Ordering::Relaxed))).max()
        };
        Some(match (latest(1), latest(0)) {
            (None, Some(end)) => (end, true),
            (Some(open), _) if !simulator.model.is_open() => (open.max(simulator.now()), false),
            _ => (Time::MAX, false),
        })
    }

    fn report<M: Part>(&self, part: usize, simulator: &Simulator<M>, go_on: &mut dyn FnMut(Time) -> bool) {
        self.events[part].store(simulator.events(), Ordering::Relaxed);
        self.work[part].store(simulator.model.work(), Ordering::Relaxed);
        if !go_on(simulator.now()) {
            self.meeting.cancel();
        }
    }

    /// Delivers messages from other parts to this one.
    fn deliver<M: Part<Message = T>>(&self, part: usize, simulator: &mut Simulator<M>) {
        let n = self.events.len();
        for mail in &self.mail[part * n..(part + 1) * n] {
            let mut mail = mail.lock().expect("no thread panics while holding mail");
            for message in mail.drain(..) {
                simulator.model.receive(message, &mut simulator.agenda);
            }
        }
    }

    /// Sends this part's messages to the others; returns the earliest time among them.
    fn post<M: Part<Message = T>>(&self, part: usize, simulator: &mut Simulator<M>) -> Time {
        let n = self.events.len();
        let mut earliest = Time::MAX;
        for other in (0..n).filter(|&other| other != part) {
            let outbox = simulator.model.outbox(other);
            if !outbox.is_empty() {
                earliest = outbox.iter().map(M::time).min().expect("not empty").min(earliest);
                self.mail[other * n + part].lock().expect("no thread panics while holding mail").append(outbox);
            }
        }
        earliest
    }

    fn progress(&self, time: Time) -> Work {
        let sum = |values: &[AtomicU64]| values.iter().map(|value| value.load(Ordering::Relaxed)).sum();
        Work { time, events: sum(&self.events), work: sum(&self.work) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::random::mix;
    use proptest::prelude::*;

    /// Cells that send each other tokens. A cell's reaction depends on everything that it has received.
    struct Cells {
        part: usize,
        part_of: Vec<usize>,
        states: Vec<u64>,
        outboxes: Vec<Vec<(Time, Key, u64)>>,
        /// Tokens that the part still waits for.
        missing: u64,
    }

    const LOOKAHEAD: Time = Time(50);

    impl Model for Cells {
        type Event = u64;

        fn handle(&mut self, now: Time, key: Key, &token: &u64, agenda: &mut Agenda<u64>) {
            let cell = key.target() as usize;
            if self.missing > 0 {
                self.missing -= 1;
                if self.missing == 0 {
                    agenda.halt();
                }
            }
            self.states[cell] = mix(self.states[cell], token ^ now.0);
            let state = self.states[cell];
            let copies = if state.is_multiple_of(16) { 2 } else { 1 };
            for copy in 0..copies {
                let token = mix(state, copy);
                let to = token as usize % self.part_of.len();
                // A cell may send itself a token sooner.
                let least = if to == cell { Time::ZERO } else { LOOKAHEAD };
                let time = now + least + Time(token >> 20 & 63);
                let key = Key::new(to as u32, 0, token, copy as u16);
                match self.part_of[to] {
                    here if here == self.part => agenda.at(time, key, token),
                    part => self.outboxes[part].push((time, key, token)),
                }
            }
        }
    }

    impl Part for Cells {
        type Message = (Time, Key, u64);
        fn outbox(&mut self, part: usize) -> &mut Vec<Self::Message> {
            &mut self.outboxes[part]
        }
        fn receive(&mut self, (time, key, token): Self::Message, agenda: &mut Agenda<u64>) {
            agenda.at(time, key, token);
        }
        fn time((time, ..): &Self::Message) -> Time {
            *time
        }
        fn work(&self) -> u64 {
            0
        }
        fn is_open(&self) -> bool {
            self.missing > 0
        }
    }

    /// Cells in groups; `reach` is a multiple of the look-ahead.
    fn cells(part_of: &[usize], parts: usize, (groups, reach): (u16, u64)) -> Parts<Cells> {
        let simulator = |part| {
            let states = vec![0; part_of.len()];
            let outboxes = (0..parts).map(|_| Vec::new()).collect();
            let mut simulator = Simulator::new(Cells { part, part_of: part_of.to_vec(), states, outboxes, missing: 0 });
            let group_of = (0..part_of.len() as u16).map(|cell| cell % groups).collect();
            simulator.agenda.split(group_of, LOOKAHEAD, LOOKAHEAD * reach);
            for cell in (0..part_of.len()).filter(|&cell| part_of[cell] == part) {
                simulator.agenda.at(Time(cell as u64 % 3), Key::new(cell as u32, 0, 0, 0), 1);
            }
            simulator
        };
        Parts::new((0..parts).map(simulator).collect(), LOOKAHEAD)
    }

    /// The cells' states after some time, run in two stages, and the number of events.
    fn states(part_of: &[usize], parts: usize, groups: (u16, u64)) -> (Vec<u64>, u64) {
        let mut run = cells(part_of, parts, groups);
        for until in [777, 4_000] {
            assert_eq!(run.run(Time(until), &mut |_| true), Some(Stop::Time));
            assert_eq!(run.now(), Time(until));
        }
        let state = |cell: usize| run.simulators()[part_of[cell]].model.states[cell];
        ((0..part_of.len()).map(state).collect(), run.work().events)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn parts_and_groups_do_what_the_whole_does(
            part_of in prop::collection::vec(0usize..4, 5..20),
            groups in (2u16..9, 0u64..100),
        ) {
            let whole = states(&vec![0; part_of.len()], 1, (1, 0));
            prop_assert_eq!(states(&vec![0; part_of.len()], 1, groups), whole.clone());
            prop_assert_eq!(states(&part_of, 4, (1, 0)), whole.clone());
            prop_assert_eq!(states(&part_of, 4, groups), whole);
        }
    }

    #[test]
    fn a_run_ends_when_its_last_part_closes() {
        let part_of: Vec<usize> = (0..12).map(|cell| cell % 4).collect();
        for missing in [[0, 300, 90, 200], [100, 0, 0, 0], [0; 4], [40, 40, 40, 40]] {
            let mut run = cells(&part_of, 4, (3, 2));
            run.halt_at_close(true);
            for (simulator, missing) in run.simulators_mut().iter_mut().zip(missing) {
                simulator.model.missing = missing;
            }
            assert_eq!(run.run(Time(400_000), &mut |_| true), Some(Stop::Halt));
            let end = run.now();
            assert!(run.simulators().iter().all(|part| part.now() == end));
            // All events up to this time have happened, and no later ones.
            let mut whole = cells(&vec![0; part_of.len()], 1, (1, 0));
            whole.run(end, &mut |_| true);
            let state = |run: &Parts<Cells>, cell: usize, part: usize| run.simulators()[part].model.states[cell];
            assert!((0..12).all(|cell| state(&run, cell, part_of[cell]) == state(&whole, cell, 0)), "{missing:?}");
            assert_eq!(run.work().events, whole.work().events);
            let later = Time(end.0 + 5_000);
            let handled: Vec<u64> = run.simulators().iter().map(Simulator::events).collect();
            run.halt_at_close(false);
            run.run(later, &mut |_| true);
            whole.run(later, &mut |_| true);
            assert_eq!(run.work().events, whole.work().events, "no message is lost");
            // A part that closes later than the others ends the run.
            assert!(handled.iter().zip(missing).all(|(handled, missing)| *handled >= missing));
            assert!(missing == [0; 4] || handled.iter().zip(missing).any(|(handled, missing)| handled - missing < 9));
        }
    }

    #[test]
    fn a_run_can_be_stopped() {
        let mut run = cells(&[0, 1], 2, (1, 0));
        assert_eq!(run.run(Time(u64::MAX / 2), &mut |_| false), None);
    }
}
