//! After a signal there is an answer within half a second, whatever the analysis is doing.
//!
//! Searches look at the signal between two rounds. Some steps of an analysis do not, or take long to return what they
//! have. So a second thread waits with the analysis: if that has not ended shortly after the signal, the thread answers
//! *unknown* in its place and ends the program. Searches that have checkpoints to write first must not be ended this way.

use crate::interrupt;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an analysis may take to end by itself.
const GRACE: Duration = Duration::from_millis(250);
/// Time between two looks at the signal.
const LOOK: Duration = Duration::from_millis(25);

/// Does the work. If it takes too long after a signal, `late` reports what is known, and its exit code is that of the
/// program.
pub fn in_time<T>(work: impl FnOnce() -> T, late: impl FnOnce() -> u8 + Send) -> T {
    let done = Done { is_done: Mutex::new(false), changed: Condvar::new() };
    std::thread::scope(|scope| {
        scope.spawn(|| done.wait(late));
        // Also if the work panics: the other thread would be waited for.
        let _announcement = Announcement(&done);
        work()
    })
}

struct Done {
    is_done: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    fn wait(&self, late: impl FnOnce() -> u8) {
        let stop = interrupt::stop();
        let mut asked: Option<Instant> = None;
        let mut is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_done {
            if stop.load(Ordering::SeqCst) && asked.get_or_insert_with(Instant::now).elapsed() > GRACE {
                // The lock is kept: work that ends now waits here, and prints nothing besides this.
                interrupt::leave(late());
            }
            is_done = self.changed.wait_timeout(is_done, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

struct Announcement<'a>(&'a Done);

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        *self.0.is_done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}
