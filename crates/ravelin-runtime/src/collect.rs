//! Keeps histories short: from time to time, while all threads are stopped, entries that no clock can distinguish are
//! forgotten.
//!
//! A round takes time proportional to the number of locations and sightings. The next one therefore waits until a
//! multiple of that many sightings were added. More often, and in much less time, threads are told what all of them know:
//! then each keeps the histories short that it adds to.

use crate::atomics::HIDDEN;
use crate::records;
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::threads;
use crate::weak;
use ravelin_clocks::{CommonView, Live, Pruning};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// How often a thread looks at the common counters, in accesses.
const STRIDE: u32 = 1 << 10;
/// How many sightings may be added between two rounds: at least, for each location, and for each that is left.
const LEAST: u64 = 1 << 14;
const EACH_LOCATION: u64 = 8;
const EACH_SIGHTING: u64 = 1;
/// How many sightings are added before threads are told again what all know: at least, and at most. It is more if that
/// does not help.
const TELLING: (i64, i64) = (1 << 12, 1 << 20);

static ACCESSES: AtomicU64 = AtomicU64::new(0);
/// The sightings that were added since the last round, and how many may be.
static SIGHTINGS: Growth = Growth::new(LEAST as i64);
/// The sightings that were added since threads were told what all know, and how many may be.
static UNTOLD: Growth = Growth::new(TELLING.0);
/// How many of them the threads have forgotten since.
static FORGOTTEN: AtomicI64 = AtomicI64::new(0);
static BUSY: AtomicBool = AtomicBool::new(false);
/// The clocks of the last round: the next one needs as much memory.
static LIVE: Spin<Option<Live>> = Spin::new(None);

/// What all threads knew when they were told.
static COMMON: Spin<CommonView> = Spin::new(CommonView::new());

/// How much something has grown since the last round.
struct Growth {
    now: AtomicI64,
    most: AtomicI64,
}

impl Growth {
    const fn new(most: i64) -> Growth {
        Growth { now: AtomicI64::new(0), most: AtomicI64::new(most) }
    }

    /// Counts; returns whether it is too much.
    fn add(&self, amount: i64) -> bool {
        self.now.fetch_add(amount, Ordering::Relaxed) + amount >= self.most.load(Ordering::Relaxed)
    }

    fn begin(&self, most: i64) {
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
    let (added, forgotten) = thread.clocks.take_sightings();
    let (added, forgotten) = (i64::from(added), i64::from(forgotten));
    FORGOTTEN.fetch_add(forgotten, Ordering::Relaxed);
    let (is_time, is_untold) = (SIGHTINGS.add(added - forgotten), UNTOLD.add(added));
    if (is_time || is_untold) && !BUSY.swap(true, Ordering::Relaxed) {
        this_thread::stop_others(thread, || {
            tell();
            if is_time {
                round();
            }
        });
        BUSY.store(false, Ordering::Relaxed);
    }
}

/// Tells all threads what all of them know.
fn tell() {
    let added = UNTOLD.now.load(Ordering::Relaxed);
    let helps = FORGOTTEN.swap(0, Ordering::Relaxed) * 4 >= added;
    UNTOLD.begin(if helps { TELLING.0 } else { (added * 2).clamp(TELLING.0, TELLING.1) });
    let mut common = COMMON.lock();
    threads::common(&mut common);
    threads::for_each_running(|thread| {
        // SAFETY: no other thread is inside, so none uses its clocks; states are never freed.
        unsafe { (*thread).clocks.know_all(&common) };
    });
}

/// Does one round.
fn round() {
    let mut live = LIVE.lock();
    let live = live.get_or_insert_default();
    live.clear();
    live.know_all(&COMMON.lock());
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
    SIGHTINGS.begin((LEAST + EACH_LOCATION * locations + EACH_SIGHTING * sightings) as i64);
}
