//! After a signal or a limit there is an answer within half a second, whatever the program is doing.
//!
//! Analyses look at their budget themselves. Some steps do not, or take long to give back what they have: reading a text of many
//! megabytes, replaying a very long run. So a second thread waits with the work. If that has not ended shortly after a signal or the time
//! limit, or the process holds clearly more than the memory limit, the thread answers *unknown* in its place and ends the program. Searches
//! that have checkpoints to write, or files to remove, are not ended this way.
//!
//! What the process holds is what the system says (Linux: anonymous memory). That is more than what a search counts, so there is room
//! between the limit and where this thread acts, as much as the limit may be exceeded by.

use crate::interrupt;
use ravelin_explore::{Limit, Limits};
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an analysis may take to end by itself.
const GRACE: Duration = Duration::from_millis(250);
/// Between two looks at the signal, the clock and the memory, at most; near the memory limit, at least.
const LOOK: Duration = Duration::from_millis(25);
const SHORTEST_LOOK: Duration = Duration::from_millis(1);
/// Bytes that a process can fill in a second.
const FILLED: u64 = 2 << 30;
/// Work that exceeds its limit of memory by so many bytes, or by a twentieth, is not waited for: half of what is tolerated, since memory
/// grows between two looks, and the program's own code takes some too.
const ROOM: u64 = 8 << 20;

/// Does the work. If it goes on for too long after a signal or a limit, `late` says what is known, and its exit code is that of the program.
pub fn in_time<T>(limits: Limits, work: impl FnOnce() -> T, late: impl FnOnce(Limit) -> u8 + Send) -> T {
    let done = Completion { is_done: Mutex::new(false), changed: Condvar::new() };
    std::thread::scope(|scope| {
        scope.spawn(|| done.wait(limits, late));
        // Also if the work panics: the other thread would be waited for.
        let _announcement = Announcement(&done);
        work()
    })
}

struct Completion {
    is_done: Mutex<bool>,
    changed: Condvar,
}

impl Completion {
    fn wait(&self, limits: Limits, late: impl FnOnce(Limit) -> u8) {
        let mut patience = Patience { limits, start: Instant::now(), asked: None };
        let mut is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_done {
            if let Some(limit) = patience.lost() {
                // The lock is kept: work that ends now waits here, and says nothing beside this.
                interrupt::leave(late(limit));
            }
            is_done = self
                .changed
                .wait_timeout(is_done, patience.until_next_look())
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// For how long the work is waited for.
struct Patience {
    limits: Limits,
    start: Instant,
    /// When a signal was seen.
    asked: Option<Instant>,
}

impl Patience {
    /// Why the work is not waited for any longer, if it is not.
    fn lost(&mut self) -> Option<Limit> {
        if interrupt::stop().load(Ordering::SeqCst) && self.asked.get_or_insert_with(Instant::now).elapsed() > GRACE {
            return Some(Limit::Stopped);
        }
        if let Some(time) = self.limits.time.filter(|time| self.start.elapsed() > time.saturating_add(GRACE)) {
            return Some(Limit::Time(self.limits.given_time.unwrap_or(time)));
        }
        let most = self.limits.memory?;
        (held()? > with_room(most)).then_some(Limit::Memory(most))
    }

    /// As long as the memory limit cannot be exceeded by much before.
    fn until_next_look(&self) -> Duration {
        let Some((most, held)) = self.limits.memory.zip(held()) else { return LOOK };
        let left = with_room(most).saturating_sub(held);
        Duration::from_micros(left / (FILLED / 1_000_000)).clamp(SHORTEST_LOOK, LOOK)
    }
}

/// What a process may hold before it is not waited for.
fn with_room(most: u64) -> u64 {
    most.saturating_add((most / 20).max(ROOM))
}

/// The memory of this process that belongs to no file, where the system tells.
fn held() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}

struct Announcement<'a>(&'a Completion);

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        *self.0.is_done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience(limits: Limits, since: Duration) -> Patience {
        Patience { limits, start: Instant::now().checked_sub(since).expect("the clock began earlier"), asked: None }
    }

    #[test]
    fn work_within_its_limits_is_waited_for() {
        let limits = Limits { time: Some(Duration::from_secs(3600)), memory: Some(1 << 50), ..Limits::default() };
        assert_eq!(patience(limits, Duration::from_secs(1)).lost(), None);
        assert_eq!(patience(Limits::default(), Duration::from_secs(1)).lost(), None);
    }

    #[test]
    fn a_time_limit_is_named_as_it_was_given() {
        let time = Some(Duration::from_millis(1));
        let limits = Limits { time, given_time: Some(Duration::from_secs(7)), ..Limits::default() };
        assert_eq!(patience(limits, Duration::from_secs(2)).lost(), Some(Limit::Time(Duration::from_secs(7))));
    }

    #[test]
    fn what_the_process_holds_counts_where_the_system_tells() {
        let Some(before) = held() else {
            return ravelin_testing::skip("the system does not tell what a process holds");
        };
        let block = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(held().is_some_and(|now| now >= before + (48 << 20)), "{before} {:?} {}", held(), block.len());
        let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
        assert_eq!(patience(limits, Duration::ZERO).lost(), Some(Limit::Memory(1 << 20)));
    }
}
