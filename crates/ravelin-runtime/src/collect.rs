//! Keeps histories short: now and then, while nobody moves, everything no clock can tell apart is forgotten.
//!
//! A round costs time in proportion to all clocks and sightings there are, so the next one waits until at least as many
//! accesses were made. Between two rounds the histories grow by at most one sighting an access.

use crate::atomics::HIDDEN;
use crate::records;
use crate::this_thread::{self, Watched};
use crate::threads;
use ravelin_clocks::{Clock, Epoch, Snapshot, Tid};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

/// Accesses between two looks at the common counter.
const STRIDE: Epoch = 1 << 12;
/// Accesses between two rounds, at least.
const LEAST: u64 = 1 << 17;

static ACCESSES: AtomicU64 = AtomicU64::new(0);
static NEXT: AtomicU64 = AtomicU64::new(LEAST);

/// Does a round if it is time. The caller is inside and holds no lock.
#[inline(always)]
pub fn perhaps(thread: &Watched) {
    if thread.clocks.epoch & (STRIDE - 1) < 2 {
        look(thread);
    }
}

/// Accesses so far, roughly.
pub fn accesses() -> u64 {
    ACCESSES.load(Ordering::Relaxed)
}

#[cold]
fn look(thread: &Watched) {
    let made = ACCESSES.fetch_add(u64::from(STRIDE), Ordering::Relaxed);
    let next = NEXT.load(Ordering::Relaxed);
    if made >= next && NEXT.compare_exchange(next, u64::MAX, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        let mut kept = 0;
        this_thread::stop_others(thread, || kept = round());
        NEXT.store(accesses() + LEAST.max(kept), Ordering::Relaxed);
    }
}

/// One round; how much there is now.
fn round() -> u64 {
    let mut live = Live::default();
    threads::for_each_running(|thread| {
        // SAFETY: nobody else is inside, so the clocks stand still; states are never freed.
        let clocks = unsafe { &(*thread).clocks };
        live.thread(clocks);
    });
    threads::for_each_left(|released| released.visit(&mut |snapshot| live.snapshot(snapshot)));
    HIDDEN.lock().visit(&mut |snapshot| live.snapshot(snapshot));
    records::for_each(|record| {
        if let Some(released) = record.released() {
            released.visit(&mut |snapshot| live.snapshot(snapshot));
        }
        if let Some(location) = record.location_if_any() {
            live.location(location);
        }
    });
    live.sort();
    let mut kept = 0;
    records::for_each(|record| {
        if let Some(location) = record.location_if_any() {
            let history = location.history_mut();
            history.prune(|tid, from, to| live.between(tid, from, to));
            kept += history.len() as u64;
        }
    });
    kept
}

/// For every tid, the epochs that occur in clocks.
#[derive(Default)]
struct Live {
    epochs: Vec<Vec<Epoch>>,
    /// Arrays looked at already, by their address.
    seen: HashSet<usize, BuildHasherDefault<Address>>,
}

impl Live {
    fn put(&mut self, tid: Tid, epoch: Epoch) {
        let index = tid as usize;
        if self.epochs.len() <= index {
            self.epochs.resize_with(index + 1, Vec::new);
        }
        let epochs = &mut self.epochs[index];
        if epochs.last() != Some(&epoch) {
            epochs.push(epoch);
        }
    }

    fn array(&mut self, epochs: &[Epoch]) {
        for (tid, &epoch) in epochs.iter().enumerate() {
            if epoch > 0 {
                self.put(tid as Tid, epoch);
            }
        }
    }

    fn snapshot(&mut self, snapshot: &Snapshot) {
        if let Some((tid, epoch)) = snapshot.moment() {
            self.put(tid, epoch);
        }
        if self.seen.insert(snapshot.epochs().as_ptr() as usize) {
            self.array(snapshot.epochs());
        }
    }

    fn thread(&mut self, thread: &ravelin_clocks::Thread) {
        let mut clocks: Vec<*const Clock> = Vec::new();
        thread.visit(&mut |clock| clocks.push(clock), &mut |snapshot| {
            self.snapshot(snapshot);
        });
        for clock in clocks {
            // SAFETY: the clocks belong to `thread`, which is borrowed.
            self.array(unsafe { (*clock).epochs() });
        }
    }

    fn location(&mut self, location: &ravelin_clocks::Location) {
        let mut clocks: Vec<*const Clock> = Vec::new();
        location.visit(&mut |clock| clocks.push(clock), &mut |snapshot| {
            self.snapshot(snapshot);
        });
        for clock in clocks {
            // SAFETY: the clocks belong to `location`, which is borrowed.
            self.array(unsafe { (*clock).epochs() });
        }
    }

    fn sort(&mut self) {
        for epochs in &mut self.epochs {
            epochs.sort_unstable();
            epochs.dedup();
        }
    }

    /// Whether an epoch of `tid` from `from` to below `to` occurs.
    fn between(&self, tid: Tid, from: Epoch, to: Epoch) -> bool {
        let Some(epochs) = self.epochs.get(tid as usize) else {
            return false;
        };
        let first = epochs.partition_point(|&epoch| epoch < from);
        epochs.get(first).is_some_and(|&epoch| epoch < to)
    }
}

/// Hashes an address.
#[derive(Default)]
struct Address(u64);

impl Hasher for Address {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = (address as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
