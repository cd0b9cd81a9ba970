//! Keeps histories short: from time to time, while all threads are stopped, entries that no clock can distinguish are
//! forgotten.
//!
//! A round takes time proportional to the number of locations and sightings. The next one therefore waits until a
//! multiple of that many sightings were added.

use crate::atomics::HIDDEN;
use crate::records;
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::threads;
use crate::weak;
use ravelin_clocks::{Live, Pruning};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often a thread looks at the common counters, in accesses.
const STRIDE: u32 = 1 << 10;
/// How many sightings may be added between two rounds: at least, for each location, and for each that is left.
const LEAST: u64 = 1 << 14;
const EACH_LOCATION: u64 = 8;
const EACH_SIGHTING: u64 = 1;

static ACCESSES: AtomicU64 = AtomicU64::new(0);
/// The sightings that were added since the last round, and how many may be.
static SIGHTINGS: Growth = Growth::new(LEAST);
static BUSY: AtomicBool = AtomicBool::new(false);
/// The clocks of the last round: the next one needs as much memory.
static LIVE: Spin<Option<Live>> = Spin::new(None);

/// How much something has grown since the last round.
struct Growth {
    now: AtomicU64,
    most: AtomicU64,
}

impl Growth {
    const fn new(most: u64) -> Growth {
        Growth { now: AtomicU64::new(0), most: AtomicU64::new(most) }
    }

    /// Counts; returns whether it is too much.
    fn add(&self, amount: u64) -> bool {
        self.now.fetch_add(amount, Ordering::Relaxed) + amount >= self.most.load(Ordering::Relaxed)
    }

    fn begin(&self, most: u64) {
        self.now.store(0, Ordering::Relaxed);
        self.most.store(most, Ordering::Relaxed);
    }
}

/// Counts an access, and starts a round if it is time. The caller is inside and holds no lock.
#[inline(always)]
pub fn count(thread: &mut WatchedThread) {
    thread.accesses += 1;
    if thread.accesses >= STRIDE {
        look(thread);
    }
}

/// Adds the thread's accesses to the common count, and returns it.
pub fn hand_in(thread: &mut WatchedThread) -> u64 {
    let made = u64::from(std::mem::take(&mut thread.accesses));
    ACCESSES.fetch_add(made, Ordering::Relaxed) + made
}

#[cold]
fn look(thread: &mut WatchedThread) {
    hand_in(thread);
    let is_time = SIGHTINGS.add(thread.clocks.take_sightings().into());
    if is_time && !BUSY.swap(true, Ordering::Relaxed) {
        this_thread::stop_others(thread, round);
        BUSY.store(false, Ordering::Relaxed);
    }
}

/// Does one round.
fn round() {
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
        if let Some(location) = record.buffered_if_any() {
            live.buffered(location);
        }
    });
    live.seal();
    let (mut locations, mut sightings) = (0, 0);
    let mut pruning = Pruning::default();
    records::for_each(|record| {
        if let Some(location) = record.location_if_any() {
            location.prune(live, &mut pruning);
            locations += 1;
            sightings += location.history().len() as u64;
        }
        if let Some(location) = record.buffered_if_any() {
            location.prune(live, &mut pruning);
            sightings += location.history().len() as u64;
        }
    });
    weak::forget();
    SIGHTINGS.begin(LEAST + EACH_LOCATION * locations + EACH_SIGHTING * sightings);
}
