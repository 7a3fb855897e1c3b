//! One model on several threads, in parts that run in parallel and exchange messages.
//!
//! A message takes effect in another part no sooner than the look-ahead after the event that caused it. All parts can
//! therefore handle their events in parallel, from the earliest event of all parts to just before that time plus the
//! look-ahead. They then exchange messages and agree on the next window. Windows depend only on the times of events, so
//! the result depends neither on the number of parts nor on the speed of their threads, nor on whether one thread
//! handles all parts in turn, as it does where that is faster (`choice`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Scope;

use crate::choice::{Choice, Clock, Mode, Pace, Rules};
use crate::meeting::{CancelOnPanic, Meeting};
use crate::run::{Agenda, Model, Simulator, Stop};
use crate::time::Time;

/// Number of events between two checks whether to stop: a few milliseconds.
const EVENTS_AT_ONCE: u64 = 10_000;
/// Number of windows between two reports of progress.
const REPORT: u64 = 64;

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
    choice: Choice,
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
    /// Whether the parts pause, so that all can be handled by one thread: for even windows and for odd ones.
    pauses: [AtomicBool; 2],
    door: Door,
}

/// A thread's part. The thread that handles it has the lock.
type Seat<'a, M> = Mutex<&'a mut Simulator<M>>;

/// A stretch of a run, with one thread or one per part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// Number of windows that have passed.
    windows: u64,
    /// Whether the run is over or cancelled.
    is_over: bool,
}

impl Stretch {
    fn over(windows: u64) -> Stretch {
        Stretch { windows, is_over: true }
    }

    fn paused(windows: u64) -> Stretch {
        Stretch { windows, is_over: false }
    }
}

/// Where the threads of parts wait while one thread handles all parts.
#[derive(Default)]
struct Door {
    /// Number of stretches in which each thread handles its own part; `u64::MAX` if the run is over.
    stretches: Mutex<u64>,
    opened: Condvar,
}

impl Door {
    /// Lets all threads through for a stretch, or for good.
    fn open(&self, next: impl FnOnce(u64) -> u64) {
        let mut stretches = self.stretches.lock().unwrap_or_else(PoisonError::into_inner);
        *stretches = next(*stretches);
        self.opened.notify_all();
    }

    /// Waits for the stretch after `seen`; returns its number, unless the run is over.
    fn wait(&self, seen: u64) -> Option<u64> {
        let closed = |stretches: &mut u64| *stretches == seen;
        let stretches = self.stretches.lock().unwrap_or_else(PoisonError::into_inner);
        let stretches = *self.opened.wait_while(stretches, closed).unwrap_or_else(PoisonError::into_inner);
        (stretches != u64::MAX).then_some(stretches)
    }
}

/// Ends the threads of parts, also if the leading thread panics.
struct EndOnDrop<'a>(&'a Door);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.open(|_| u64::MAX);
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
        let choice = Choice::new(simulators.len(), Rules::default());
        Parts { simulators, lookahead, halts: false, choice }
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

    /// Handles all events up to and including `until`, on one thread per part or, where that is faster, on one.
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
            pauses: Default::default(),
            door: Door::default(),
        };
        let span = Span { lookahead: self.lookahead, until };
        let seats: Vec<Seat<'_, M>> = self.simulators.iter_mut().map(Mutex::new).collect();
        std::thread::scope(|scope| shared.lead(scope, (&seats, &mut self.choice), span, watch));
        drop(seats);
        let stopped = shared.meeting.is_cancelled();
        for (part, simulator) in self.simulators.iter_mut().enumerate() {
            shared.deliver(part, simulator);
        }
        let halted = self.halts && self.simulators.iter().all(|simulator| !simulator.model.is_open());
        if stopped || halted {
            return halted.then_some(Stop::Halt).filter(|_| !stopped);
        }
        let idle = self.simulators.iter().all(|simulator| simulator.agenda.pending().next().is_none());
        if until != Time::MAX {
            // The last window need not have reached the end, where the clocks of all parts are as after a single part.
            self.simulators.iter_mut().for_each(|simulator| {
                simulator.run_until(until);
            });
        }
        Some(if idle { Stop::Idle } else { Stop::Time })
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

/// The look-ahead, and the last time of a run.
#[derive(Clone, Copy)]
struct Span {
    lookahead: Time,
    until: Time,
}

/// Locks a part, whose thread has finished its stretch or soon does.
fn sit<'a, 's, M: Model>(seat: &'a Seat<'s, M>) -> std::sync::MutexGuard<'a, &'s mut Simulator<M>> {
    seat.lock().expect("no thread panics while it handles a part")
}

impl<T: Send> Shared<T> {
    /// Runs all parts to the end of a span, alternately alone and together with the threads of the other parts.
    fn lead<'scope, 'env, 'all: 'env, M>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        (seats, choice): (&'env [Seat<'all, M>], &mut Choice),
        span: Span,
        watch: &mut dyn FnMut(&Work) -> bool,
    ) where
        M: Part<Message = T> + Send,
        M::Event: Send,
    {
        let _end = EndOnDrop(&self.door);
        let mut go_on = |time| watch(&self.progress(time));
        let mut threads = 1;
        seats.iter().enumerate().for_each(|(part, seat)| self.count(part, &sit(seat)));
        loop {
            let (mut clock, before) = (Clock::new(choice.left()), self.progress(Time::ZERO).events);
            let stretch = match choice.mode() {
                Mode::Alone => self.run_alone(seats, span, &mut go_on, &mut clock),
                Mode::Together => {
                    for (part, seat) in seats.iter().enumerate().skip(threads) {
                        scope.spawn(move || self.attend(part, seat, span));
                    }
                    threads = seats.len();
                    self.door.open(|stretches| stretches + 1);
                    let stretch = self.run(0, &mut sit(&seats[0]), span, &mut go_on, Some(&mut clock));
                    if !self.meeting.is_cancelled() {
                        // The threads write what they share anew only after all have left the stretch.
                        seats.iter().for_each(|seat| drop(sit(seat)));
                    }
                    stretch
                }
            };
            let events = self.progress(Time::ZERO).events - before;
            choice.note(Pace { events, windows: stretch.windows, time: clock.elapsed() });
            if stretch.is_over {
                return;
            }
        }
    }

    /// Runs one part whenever the leading thread lets the others take part.
    fn attend<M: Part<Message = T>>(&self, part: usize, seat: &Seat<'_, M>, span: Span) {
        let mut seen = 0;
        while let Some(stretch) = self.door.wait(seen) {
            seen = stretch;
            self.run(part, &mut sit(seat), span, &mut |_| true, None);
        }
    }

    /// Runs one part, while the threads of the others run theirs, until the end of the span or until the time is up on
    /// the clock, which only the leading thread has. `go_on` is called with the time every few milliseconds and decides whether to continue.
    fn run<M: Part<Message = T>>(
        &self,
        part: usize,
        simulator: &mut Simulator<M>,
        span: Span,
        go_on: &mut dyn FnMut(Time) -> bool,
        mut clock: Option<&mut Clock>,
    ) -> Stretch {
        let _guard = CancelOnPanic(&self.meeting);
        let mut posted = Time::MAX;
        for window in 0.. {
            let place = (window % 2) as usize;
            let next = simulator.agenda.next_time().unwrap_or(Time::MAX).min(posted);
            self.next[place][part].store(next.0, Ordering::Relaxed);
            self.tell_state(part, simulator, place);
            if let Some(clock) = &mut clock {
                self.pauses[place].store(clock.is_up(window), Ordering::Relaxed);
            }
            if !self.meeting.join() {
                return Stretch::over(window);
            }
            self.deliver(part, simulator);
            if self.pauses[place].load(Ordering::Relaxed) {
                self.count(part, simulator);
                return Stretch::paused(window);
            }
            let Some(end) = self.end(simulator, place, span) else {
                // When all parts have closed, the last events may have caused messages.
                self.post(part, simulator);
                self.count(part, simulator);
                return Stretch::over(window);
            };
            self.handle(part, simulator, end, go_on);
            if window % REPORT == 0 {
                self.report(part, simulator, go_on);
            }
            posted = self.earliest(part, simulator);
            self.post(part, simulator);
        }
        unreachable!("there are fewer windows")
    }

    /// Runs all parts in turn on one thread, until the end of the span or until the time is up.
    fn run_alone<M: Part<Message = T>>(
        &self,
        seats: &[Seat<'_, M>],
        span: Span,
        go_on: &mut dyn FnMut(Time) -> bool,
        clock: &mut Clock,
    ) -> Stretch {
        let mut parts: Vec<_> = seats.iter().map(sit).collect();
        for window in 0.. {
            for (part, simulator) in parts.iter_mut().enumerate() {
                self.deliver(part, simulator);
                let next = simulator.agenda.next_time().unwrap_or(Time::MAX);
                self.next[0][part].store(next.0, Ordering::Relaxed);
                self.tell_state(part, simulator, 0);
            }
            if self.meeting.is_cancelled() {
                return Stretch::over(window);
            }
            if clock.is_up(window) {
                parts.iter().enumerate().for_each(|(part, simulator)| self.count(part, simulator));
                return Stretch::paused(window);
            }
            // All parts know the same times, so the span ends for all of them or for none.
            let mut is_over = false;
            for (part, simulator) in parts.iter_mut().enumerate() {
                match self.end(simulator, 0, span) {
                    Some(end) => self.handle(part, simulator, end, go_on),
                    None => is_over = true,
                }
                self.post(part, simulator);
            }
            if is_over {
                parts.iter().enumerate().for_each(|(part, simulator)| self.count(part, simulator));
                return Stretch::over(window);
            }
            if window % REPORT == 0 {
                parts.iter().enumerate().for_each(|(part, simulator)| self.count(part, simulator));
                self.report(0, &parts[0], go_on);
            }
        }
        unreachable!("there are fewer windows")
    }

    /// The end of the current window, whose times are at this place. If the span is over, brings the part to its end and
    /// returns `None`.
    fn end<M: Part>(&self, simulator: &mut Simulator<M>, place: usize, span: Span) -> Option<Time> {
        let start = self.next[place].iter().map(|time| time.load(Ordering::Relaxed)).min().map_or(Time::MAX, Time);
        let (limit, all_closed) = self.limit(simulator, place).unwrap_or((Time::MAX, false));
        if start > span.until || all_closed {
            simulator.run_until(span.until.min(limit));
            return None;
        }
        let before = start.saturating_add(span.lookahead);
        Some(simulator.agenda.stop_before(before, start).min(span.until).min(limit))
    }

    /// Handles a part's events up to and including `end`.
    fn handle<M: Part>(
        &self,
        part: usize,
        simulator: &mut Simulator<M>,
        end: Time,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) {
        let run = if self.states.is_some() { Simulator::run_to_halt } else { Simulator::run };
        while run(simulator, end, EVENTS_AT_ONCE) == Stop::Events {
            self.report(part, simulator, go_on);
        }
    }

    /// Tells the others this part's time and whether it is open, if the run ends when all parts have closed.
    fn tell_state<M: Part>(&self, part: usize, simulator: &Simulator<M>, place: usize) {
        let Some(states) = &self.states else { return };
        let (time, open) = &states[place][part];
        time.store(simulator.now().0, Ordering::Relaxed);
        open.store(u64::from(simulator.model.is_open()), Ordering::Relaxed);
    }

    /// The time that a part may reach, and whether all parts have closed; `None` if the run does not wait for that.
    ///
    /// The last part closes after the time of every open part. A closed part therefore waits for the open ones, so that
    /// none passes the end of the run.
    fn limit<M: Part>(&self, simulator: &Simulator<M>, place: usize) -> Option<(Time, bool)> {
        let states = &self.states.as_ref()?[place];
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
        self.count(part, simulator);
        if !go_on(simulator.now()) {
            self.meeting.cancel();
        }
    }

    /// Makes a part's progress known.
    fn count<M: Part>(&self, part: usize, simulator: &Simulator<M>) {
        self.events[part].store(simulator.events(), Ordering::Relaxed);
        self.work[part].store(simulator.model.work(), Ordering::Relaxed);
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

    /// Sends this part's messages to the others.
    fn post<M: Part<Message = T>>(&self, part: usize, simulator: &mut Simulator<M>) {
        let n = self.events.len();
        for other in self.others(part) {
            let outbox = simulator.model.outbox(other);
            if outbox.is_empty() {
                continue;
            }
            let mut mail = self.mail[other * n + part].lock().expect("no thread panics while holding mail");
            // The other part has usually taken what it got before, so nothing is copied.
            if mail.is_empty() { std::mem::swap(&mut *mail, outbox) } else { mail.append(outbox) }
        }
    }

    /// The earliest time among a part's messages that are not sent.
    fn earliest<M: Part<Message = T>>(&self, part: usize, simulator: &mut Simulator<M>) -> Time {
        let times = |other| simulator.model.outbox(other).iter().map(M::time).min();
        self.others(part).filter_map(times).min().unwrap_or(Time::MAX)
    }

    fn others(&self, part: usize) -> impl Iterator<Item = usize> + use<T> {
        (0..self.events.len()).filter(move |&other| other != part)
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
    use std::time::Duration;

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

    /// Tries the other mode every few windows, however short they are.
    const RESTLESS: Rules = Rules { trial: Duration::ZERO, between: Duration::ZERO, least_events: 0, least_gain: 0.0 };

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
        let mut cells = Parts::new((0..parts).map(simulator).collect(), LOOKAHEAD);
        cells.choice = Choice::new(parts, RESTLESS);
        cells
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
    fn all_clocks_are_at_the_end_of_a_run_that_does_not_halt() {
        let part_of: Vec<usize> = (0..12).map(|cell| cell % 4).collect();
        let mut run = cells(&part_of, 4, (3, 2));
        run.halt_at_close(true);
        run.simulators_mut().iter_mut().for_each(|simulator| simulator.model.missing = 100_000);
        for until in [1_001, 1_777, 4_003] {
            assert_eq!(run.run(Time(until), &mut |_| true), Some(Stop::Time));
            assert!(run.simulators().iter().all(|part| part.now() == Time(until)), "{until}");
        }
    }

    #[test]
    fn a_run_can_be_stopped() {
        let mut run = cells(&[0, 1], 2, (1, 0));
        assert_eq!(run.run(Time(u64::MAX / 2), &mut |_| false), None);
    }
}
