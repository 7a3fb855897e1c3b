//! A barrier at which threads wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Number of times that a waiting thread checks for the others before it sleeps, about 100 us: parts of a window take
/// different times. A thread for which no core is free returns only after milliseconds.
const SPINS: u32 = 4_000;

/// A barrier. Threads that wait spin for a short time, since a window lasts microseconds, and then sleep, so that they
/// take no core from the thread that they wait for, or from other programs.
pub(crate) struct Meeting {
    threads: usize,
    here: AtomicUsize,
    held: AtomicU64,
    cancelled: AtomicBool,
    /// Number of threads that sleep or are about to.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Meeting {
    pub fn new(threads: usize) -> Meeting {
        Meeting {
            threads,
            here: AtomicUsize::new(0),
            held: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits until all threads have arrived or the meeting is cancelled; returns whether they have arrived.
    pub fn join(&self) -> bool {
        let held = self.held.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            // In one order with `asleep`: this thread sees the sleeper, or the sleeper sees this.
            self.held.store(held + 1, Ordering::SeqCst);
            self.wake();
            return !self.is_cancelled();
        }
        for _ in 0..SPINS {
            if self.is_over(held) {
                return self.held.load(Ordering::Acquire) != held;
            }
            std::hint::spin_loop();
        }
        self.sleep(held);
        self.held.load(Ordering::Acquire) != held
    }

    /// Whether the meeting after `held` others has been held or cancelled.
    fn is_over(&self, held: u64) -> bool {
        self.held.load(Ordering::SeqCst) != held || self.is_cancelled()
    }

    #[cold]
    fn sleep(&self, held: u64) {
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while !self.is_over(held) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // A thread that is about to sleep holds the lock until it does.
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    /// Cancels the meeting, so that no thread waits any longer.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// Cancels a meeting if the thread panics, so that no other thread waits for it.
pub(crate) struct CancelOnPanic<'a>(pub &'a Meeting);

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn threads_meet_also_after_a_long_wait() {
        let (meeting, counts) = (Meeting::new(3), [const { AtomicU64::new(0) }; 3]);
        std::thread::scope(|scope| {
            for (thread, count) in counts.iter().enumerate() {
                let (meeting, counts) = (&meeting, &counts);
                scope.spawn(move || {
                    for round in 1..200 {
                        count.store(round, Ordering::Relaxed);
                        if round % 50 == 0 && thread == 1 {
                            std::thread::sleep(Duration::from_millis(2));
                        }
                        assert!(meeting.join());
                        assert!(counts.iter().all(|other| other.load(Ordering::Relaxed) >= round), "all are here");
                        assert!(meeting.join());
                    }
                });
            }
        });
    }

    #[test]
    fn a_cancelled_meeting_wakes_those_who_sleep() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| meeting.join());
            while meeting.asleep.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            meeting.cancel();
            assert!(!waits.join().expect("no panic"));
        });
    }
}
