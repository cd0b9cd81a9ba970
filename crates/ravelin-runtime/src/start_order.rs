//! The order of threads that no schedule changes: by starting and joining threads, by semaphores and barriers, and by
//! signals of condition variables; in Rust programs also by channels, scopes, parking and everything else in the standard
//! library that is no lock. Unlike happens-before it has no order by locks, which depends on who comes first.
//!
//! A thread's time is divided into segments; a new one begins when other threads may learn what it did so far. A
//! thread's clock has the segments of other threads that are over. It lists only threads with edges in the graph of
//! [`crate::lock_order`], the only user, so it is empty in most programs and costs nothing there.

use crate::spin::Spin;
use crate::this_thread;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether any thread has an edge.
static NEEDED: AtomicBool = AtomicBool::new(false);
/// What was released at semaphores, barriers, condition variables and other objects.
static RELEASED: Spin<BTreeMap<usize, Arc<StartClock>>> = Spin::new(BTreeMap::new());
/// Objects beyond this number share one entry: that orders more threads, and hides circles of locks.
const MOST_OBJECTS: usize = 1 << 16;
const SHARED: usize = 0;

/// For each thread, the last of its segments that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartClock(Vec<(u64, u32)>);

impl StartClock {
    /// Whether a segment of a thread is over.
    pub fn is_after(&self, thread: u64, segment: u32) -> bool {
        self.0.binary_search_by_key(&thread, |known| known.0).is_ok_and(|at| self.0[at].1 >= segment)
    }

    fn learn(&mut self, thread: u64, segment: u32) {
        match self.0.binary_search_by_key(&thread, |known| known.0) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(segment),
            Err(at) => self.0.insert(at, (thread, segment)),
        }
    }

    fn join(&mut self, other: &StartClock) {
        other.0.iter().for_each(|&(thread, segment)| self.learn(thread, segment));
    }
}

/// One thread's time.
#[derive(Clone, Default)]
pub struct StartTime {
    segment: u32,
    clock: Arc<StartClock>,
    /// The thread has edges.
    counts: bool,
}

impl StartTime {
    /// A thread that begins with what its parent knew.
    pub fn begin(clock: Arc<StartClock>) -> StartTime {
        StartTime { segment: 0, clock, counts: false }
    }

    pub fn segment(&self) -> u32 {
        self.segment
    }

    pub fn clock(&self) -> Arc<StartClock> {
        self.clock.clone()
    }

    /// An edge of the thread was added in this segment.
    pub fn has_edges(&mut self) {
        self.counts = true;
        NEEDED.store(true, Ordering::Relaxed);
    }

    /// What others learn from the thread, whose number this is; it continues with its next segment.
    pub fn release(&mut self, number: u64) -> Arc<StartClock> {
        if !self.counts {
            return self.clock.clone();
        }
        let mut clock = StartClock::clone(&self.clock);
        clock.learn(number, self.segment);
        self.segment += 1;
        Arc::new(clock)
    }

    /// The thread learns what others released.
    pub fn acquire(&mut self, released: &StartClock) {
        if !released.0.is_empty() {
            Arc::make_mut(&mut self.clock).join(released);
        }
    }
}

/// The calling thread releases what it did at an object, from which others may learn it.
#[inline(always)]
pub fn release(object: usize) {
    if NEEDED.load(Ordering::Relaxed) {
        release_now(object);
    }
}

/// The calling thread learns what was released at an object.
#[inline(always)]
pub fn acquire(object: usize) {
    if NEEDED.load(Ordering::Relaxed) {
        acquire_now(object);
    }
}

#[cold]
fn release_now(object: usize) {
    let Some(mut inside) = this_thread::enter() else { return };
    let thread = inside.thread();
    let released = thread.starts.release(thread.number);
    if released.0.is_empty() {
        return;
    }
    let mut objects = RELEASED.lock();
    let has_room = objects.len() < MOST_OBJECTS || objects.contains_key(&object);
    let object = if has_room { object } else { SHARED };
    Arc::make_mut(objects.entry(object).or_default()).join(&released);
}

#[cold]
fn acquire_now(object: usize) {
    let Some(mut inside) = this_thread::enter() else { return };
    for object in [object, SHARED] {
        let released = RELEASED.lock().get(&object).cloned();
        if let Some(released) = released {
            inside.thread().starts.acquire(&released);
        }
    }
}

/// The object at this address does not exist any more. The calling thread is inside.
#[inline(always)]
pub fn forget(object: usize) {
    if NEEDED.load(Ordering::Relaxed) {
        RELEASED.lock().remove(&object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_knows_the_segments_that_are_over() {
        let mut clock = StartClock::default();
        clock.learn(3, 5);
        clock.learn(1, 2);
        clock.learn(3, 4);
        assert!(clock.is_after(3, 5) && !clock.is_after(3, 6) && clock.is_after(1, 0) && !clock.is_after(2, 0));
    }

    #[test]
    fn others_learn_what_was_done_before_the_release_only() {
        let mut parent = StartTime::default();
        parent.has_edges();
        let child = StartTime::begin(parent.release(1));
        assert!(child.clock().is_after(1, 0));
        assert!(!child.clock().is_after(1, parent.segment()));
    }

    #[test]
    fn a_thread_without_edges_is_not_listed_but_hands_on_what_it_knows() {
        let mut first = StartTime::default();
        first.has_edges();
        let mut second = StartTime::begin(first.release(1));
        assert_eq!(second.release(2), second.clock());
        let mut third = StartTime::default();
        third.acquire(&second.release(2));
        assert!(third.clock().is_after(1, 0) && !third.clock().is_after(2, 0));
    }
}
