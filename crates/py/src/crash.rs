//! Crashes in the functions of compiled schemes. They end the process, but not without a message.
#![allow(unsafe_code, reason = "handlers of signals")]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use becalm_external::tell_called;

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
];

static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// Names the scheme and the function if a call of a compiled scheme crashes. The first call has an effect.
pub fn watch() {
    BEFORE.get_or_init(|| SIGNALS.map(|(signal, _)| install(signal)));
}

fn install(signal: c_int) -> libc::sigaction {
    let mut before = MaybeUninit::zeroed();
    // SAFETY: all bytes of both structures are set, and the handler only calls functions that a handler may call.
    unsafe {
        let mut own: libc::sigaction = MaybeUninit::zeroed().assume_init();
        own.sa_sigaction = tell as extern "C" fn(c_int) as usize;
        own.sa_flags = libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut own.sa_mask);
        libc::sigaction(signal, &raw const own, before.as_mut_ptr());
        before.assume_init()
    }
}

/// Writes the message, and leaves the rest to the handler that was there before: the crash happens again at once.
extern "C" fn tell(signal: c_int) {
    let Some(number) = SIGNALS.iter().position(|(known, _)| *known == signal) else { return };
    if tell_called(write) {
        for part in [&b" ("[..], SIGNALS[number].1.as_bytes(), b")\n"] {
            write(part);
        }
    }
    // SAFETY: both structures come from `install`. Without the former handler, the default one ends the process.
    unsafe {
        match BEFORE.get() {
            Some(before) => libc::sigaction(signal, &raw const before[number], ptr::null_mut()),
            None => libc::signal(signal, libc::SIG_DFL) as c_int,
        };
    }
}

fn write(bytes: &[u8]) {
    // SAFETY: the bytes are valid. A failed write has no remedy here.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}
