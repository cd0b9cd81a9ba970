//! Scopes of threads in a steered run.
//!
//! The standard library counts the threads of a scope in compiled code, and the last one wakes the thread that waits for
//! the others. Seen as accesses, the threads of a scope would conflict with each other when they end. So the thread that
//! waits joins them instead, as it would join threads without a scope.

use crate::schedule;
use crate::spin::Spin;
use crate::this_thread;

/// Bytes of the structure that the threads of a scope share.
pub const LENGTH: usize = 24;

/// Threads of scopes that have not ended, with the address of the structure.
static THREADS: Spin<Vec<(usize, u64)>> = Spin::new(Vec::new());
/// The structure of the scope of the thread that is about to be started, by the place of the thread that does so.
static STARTING: Spin<Vec<(usize, usize)>> = Spin::new(Vec::new());

/// The calling thread is about to start a thread of this scope.
pub fn starts(scope: usize) {
    // The first one is about to be started before the steps are given.
    if let Some(me) = schedule::mine() {
        let _inside = this_thread::enter_unwatched();
        let mut starting = STARTING.lock();
        starting.retain(|(thread, _)| *thread != me);
        starting.push((me, scope));
    }
}

/// The calling thread has started a thread with this number.
pub fn started(number: u64) {
    let Some(me) = schedule::mine() else { return };
    let _inside = this_thread::enter_unwatched();
    let mut starting = STARTING.lock();
    if let Some(at) = starting.iter().position(|(thread, _)| *thread == me) {
        let (_, scope) = starting.swap_remove(at);
        THREADS.lock().push((scope, number));
    }
}

/// The calling thread looks how many threads of a scope are left, at this address: it waits for all.
pub fn ends(me: usize, address: usize) {
    loop {
        let next = {
            let _inside = this_thread::enter_unwatched();
            let mut threads = THREADS.lock();
            let own = threads.iter().position(|(scope, _)| (*scope..*scope + LENGTH).contains(&address));
            own.map(|at| threads.remove(at).1)
        };
        let Some(number) = next else { return };
        schedule::await_end(me, 0, number, None);
    }
}
