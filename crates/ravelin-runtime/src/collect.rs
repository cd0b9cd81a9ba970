//! Keeps histories short: from time to time, while all threads are stopped, entries that no clock can distinguish are
//! forgotten.
//!
//! A round takes time proportional to the number of clocks and sightings. The next one therefore waits until a multiple
//! of that many accesses were made, or until the recorded versions of clocks have grown as much. Between two rounds the
//! histories grow by at most one sighting per access.

use crate::atomics::HIDDEN;
use crate::records;
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::threads;
use ravelin_clocks::{Live, Pruning};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a thread looks at the common counter, in accesses.
const STRIDE: u32 = 1 << 10;
/// The least number of accesses between two rounds.
const LEAST: u64 = 1 << 14;
/// How many more accesses each location that was visited and each remaining sighting adds to that.
const EACH_LOCATION: u64 = 24;
const EACH_SIGHTING: u64 = 1;

/// How many components may be recorded between two rounds, at least and for each location.
const LEAST_RECORDED: u64 = 1 << 20;
const RECORDED_EACH: u64 = 32;

static ACCESSES: AtomicU64 = AtomicU64::new(0);
/// Components that were recorded since the last round, and how many may be.
static RECORDED: AtomicU64 = AtomicU64::new(0);
static MOST_RECORDED: AtomicU64 = AtomicU64::new(LEAST_RECORDED);
static NEXT: AtomicU64 = AtomicU64::new(LEAST);
/// The clocks of the last round: the next one needs as much memory.
static LIVE: Spin<Option<Live>> = Spin::new(None);

/// Counts an access, and starts a round if it is time. The caller is inside and holds no lock.
#[inline(always)]
pub fn count(thread: &mut WatchedThread) {
    thread.accesses += 1;
    if thread.accesses >= STRIDE {
        look(thread);
    }
}

/// Accesses so far, except for some of each running thread.
pub fn accesses() -> u64 {
    ACCESSES.load(Ordering::Relaxed)
}

/// Adds the thread's accesses to the common count.
pub fn hand_in(thread: &mut WatchedThread) -> u64 {
    let made = u64::from(std::mem::take(&mut thread.accesses));
    ACCESSES.fetch_add(made, Ordering::Relaxed) + made
}

#[cold]
fn look(thread: &mut WatchedThread) {
    let made = hand_in(thread);
    let size = thread.clocks.recorded();
    let new = u64::from(size.saturating_sub(std::mem::replace(&mut thread.recorded, size)));
    let recorded = RECORDED.fetch_add(new, Ordering::Relaxed) + new;
    let next = NEXT.load(Ordering::Relaxed);
    let is_time = made >= next || recorded >= MOST_RECORDED.load(Ordering::Relaxed) && next != u64::MAX;
    if is_time && NEXT.compare_exchange(next, u64::MAX, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        let mut pause = 0;
        this_thread::stop_others(thread, || pause = round());
        NEXT.store(accesses() + LEAST.max(pause), Ordering::Relaxed);
    }
}

/// Does one round, and returns how many accesses may be made until the next.
fn round() -> u64 {
    let mut live = LIVE.lock();
    let live = live.get_or_insert_default();
    live.clear();
    threads::for_each_running(|thread| {
        // SAFETY: no other thread is inside, so the clocks do not change; states are never freed.
        live.thread(unsafe { &(*thread).clocks });
    });
    threads::for_each_left(|released| live.released(released));
    live.hidden(&HIDDEN.lock());
    records::for_each(|record| {
        if let Some(released) = record.released() {
            live.released(released);
        }
        if let Some(location) = record.location_if_any() {
            live.location(location);
        }
    });
    live.seal(threads::book());
    let (mut pause, mut locations) = (0, 0);
    let mut pruning = Pruning::default();
    records::for_each(|record| {
        if let Some(location) = record.location_if_any() {
            location.prune(live, &mut pruning);
            locations += 1;
            pause += EACH_LOCATION + EACH_SIGHTING * location.history().len() as u64;
        }
    });
    RECORDED.store(0, Ordering::Relaxed);
    MOST_RECORDED.store(LEAST_RECORDED + RECORDED_EACH * locations, Ordering::Relaxed);
    pause
}
