//! `pthread_once` and C11's `call_once`: a thread that returns knows what the initialiser did.
//!
//! The initialiser's knowledge must be released before the C library lets another thread continue, so the C library is
//! given the runtime's initialiser. It takes no argument. What it must run is in two words of the thread, read before
//! calls can nest.

use crate::{schedule, sync};
use libc::c_int;
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;

interpose! {
    fn pthread_once(control: usize, initialise: usize; pc) -> c_int {
        let is_done = wait_for_others(control, pc);
        intend(control, initialise);
        let status = real(control, initialise_and_release as *const () as usize);
        finished(control, pc, is_done);
        sync::acquire_by_load(control);
        status
    }

    fn call_once(control: usize, initialise: usize; pc) {
        let is_done = wait_for_others(control, pc);
        intend(control, initialise);
        real(control, initialise_and_release as *const () as usize);
        finished(control, pc, is_done);
        sync::acquire_by_load(control);
    }
}

/// The initialiser has ended, in this thread, or in another one before the call (`was_done`).
fn finished(control: usize, pc: usize, was_done: bool) {
    if schedule::steer::is_on() && !was_done {
        schedule::before(pc, Act::Give, control);
    }
    schedule::wake(control);
}

/// With a schedule, no thread waits in the C library for an initialiser that another thread runs. The lowest bit of a
/// control says that one runs. If the initialiser ends by an exception, no thread is woken, so waiting threads look
/// from time to time. Returns whether an initialiser has ended; the next bit says that.
fn wait_for_others(control: usize, pc: usize) -> bool {
    const LOOK: u64 = 1_000_000;
    let Some(me) = schedule::mine() else {
        return false;
    };
    // SAFETY: the program's control, which the C library changes as an atomic.
    let state = || unsafe { (control as *const c_int).read_volatile() };
    schedule::before(pc, Act::Touch, control);
    while state() & 1 != 0 {
        schedule::wait(me, pc, (WaitsFor::Initialisation, control), schedule::time::later(LOOK));
    }
    let is_done = state() & 2 != 0;
    if is_done {
        schedule::only_looked();
    }
    is_done
}

// The control and the initialiser that the thread is about to run, if it is the first.
thread_words!(intended, "ravelin_once", 2);

fn intend(control: usize, initialise: usize) {
    let words = intended();
    // SAFETY: the thread's own two words.
    unsafe {
        words.write(control);
        words.add(1).write(initialise);
    }
}

extern "C" fn initialise_and_release() {
    let words = intended();
    // SAFETY: the thread's own two words, which it wrote just before the C library called this.
    let (control, initialise) = unsafe { (words.read(), words.add(1).read()) };
    // SAFETY: the program gave this address as one of a function without arguments.
    unsafe {
        let initialise: unsafe extern "C" fn() = std::mem::transmute(initialise);
        initialise();
    }
    sync::release(control);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{ordered, watched};
    use std::sync::atomic::{AtomicU32, Ordering};

    static TIMES: AtomicU32 = AtomicU32::new(0);

    extern "C" fn initialise() {
        TIMES.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn an_initialiser_runs_once_and_everybody_knows_what_it_did() {
        watched(|| {
            let control = Box::leak(Box::new(0_u64)) as *mut u64 as usize;
            // SAFETY: a control fits there, and the function takes no arguments.
            let once = || unsafe { assert_eq!(pthread_once(control, initialise as *const () as usize, 0), 0) };
            assert!(ordered(once, once));
            assert_eq!(TIMES.load(Ordering::Relaxed), 1);
        });
    }
}
