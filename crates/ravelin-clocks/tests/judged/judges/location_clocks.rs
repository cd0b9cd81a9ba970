//! Location clocks as in the paper: figure 4, each clock a map from locations to timestamps.
//!
//! A timestamp is the number of a write; the number of plain writes up to it, which is the clock of section 4.1, is counted
//! in the list of writes. The clocks that a thread has by happens-before are the three of section 4.2.

use super::{Judgement, Write, judge};
use crate::judged::traces::{Act, Ask, Does, Event, LOCATIONS, LOCKS, SEMAPHORES, SyncOperation, THREADS};
use ravelin_clocks::AtomicOrder;

/// `L(x)` for every location `x`.
#[derive(Clone, Debug)]
struct Clock([usize; LOCATIONS]);

const INITIAL: Clock = Clock([0; LOCATIONS]);

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(theirs);
        }
    }

    fn learn(&mut self, x: usize, timestamp: usize) {
        self.0[x] = self.0[x].max(timestamp);
    }
}

#[derive(Clone, Debug)]
struct ThreadClocks {
    release: Clock,
    current: Clock,
    acquire: Clock,
    sc: Clock,
}

#[derive(Clone, Debug)]
struct Place {
    writes: Vec<Write>,
    message: Clock,
    write_sc: Clock,
    access_sc: Clock,
}

/// What a lock, a semaphore, a parent or an ended thread passes on.
#[derive(Clone, Debug)]
struct Passed {
    current: Clock,
    sc: Clock,
}

pub struct LocationClocks {
    threads: Vec<ThreadClocks>,
    places: Vec<Place>,
    hidden: Clock,
    locks: Vec<Passed>,
    semaphores: Vec<Passed>,
    ended: Vec<Passed>,
}

impl LocationClocks {
    pub fn new() -> LocationClocks {
        let thread = ThreadClocks { release: INITIAL, current: INITIAL, acquire: INITIAL, sc: INITIAL };
        let place = Place {
            writes: vec![Write { value: 0, update: false }],
            message: INITIAL,
            write_sc: INITIAL,
            access_sc: INITIAL,
        };
        let passed = Passed { current: INITIAL, sc: INITIAL };
        LocationClocks {
            threads: vec![thread; THREADS],
            places: vec![place; LOCATIONS],
            hidden: INITIAL,
            locks: vec![passed.clone(); LOCKS],
            semaphores: vec![passed.clone(); SEMAPHORES],
            ended: vec![passed; THREADS],
        }
    }

    pub fn check(&self, thread: usize, x: usize, ask: Ask) -> Option<Judgement> {
        let clocks = &self.threads[thread];
        judge(&self.places[x].writes, clocks.current.0[x], clocks.sc.0[x], ask)
    }

    pub fn perform(&mut self, event: Event) {
        let Event { thread, act } = event;
        match act {
            Act::Access { x, does, .. } => {
                self.access(thread, x, does);
                if does.order() == Some(AtomicOrder::SeqCst) {
                    self.fence(thread, AtomicOrder::SeqCst);
                }
            }
            Act::Synchronise(SyncOperation::Fence { order }) => self.fence(thread, order),
            Act::Synchronise(SyncOperation::Spawn { child }) => {
                let passed = self.pass(thread);
                self.receive(child, &passed);
            }
            Act::Synchronise(SyncOperation::End) => self.ended[thread] = self.pass(thread),
            Act::Synchronise(SyncOperation::Join { child }) => self.receive(thread, &self.ended[child].clone()),
            Act::Synchronise(SyncOperation::Unlock { lock }) => self.locks[lock] = self.pass(thread),
            Act::Synchronise(SyncOperation::Lock { lock }) => self.receive(thread, &self.locks[lock].clone()),
            Act::Synchronise(SyncOperation::Post { semaphore }) => {
                let passed = self.pass(thread);
                self.semaphores[semaphore].current.join(&passed.current);
                self.semaphores[semaphore].sc.join(&passed.sc);
            }
            Act::Synchronise(SyncOperation::Take { semaphore, .. }) => {
                self.receive(thread, &self.semaphores[semaphore].clone())
            }
            Act::Synchronise(SyncOperation::Rename) => {}
        }
    }

    fn pass(&self, thread: usize) -> Passed {
        Passed { current: self.threads[thread].current.clone(), sc: self.threads[thread].sc.clone() }
    }

    fn receive(&mut self, thread: usize, passed: &Passed) {
        let clocks = &mut self.threads[thread];
        clocks.current.join(&passed.current);
        clocks.acquire.join(&passed.current);
        clocks.sc.join(&passed.sc);
    }

    fn access(&mut self, thread: usize, x: usize, does: Does) {
        let Some(order) = does.order() else { return };
        let (clocks, place) = (&mut self.threads[thread], &mut self.places[x]);
        let newest = place.writes.len() - 1;
        if matches!(does, Does::Read(_) | Does::Update(..)) {
            clocks.current.learn(x, newest);
            clocks.acquire.learn(x, newest);
            clocks.acquire.join(&place.message);
            if order.acquires() {
                clocks.current.join(&place.message);
            }
        }
        let Some(value) = does.writes() else {
            clocks.sc.join(&place.write_sc);
            place.access_sc.join(&clocks.sc);
            return;
        };
        let update = matches!(does, Does::Update(..));
        place.writes.push(Write { value, update });
        clocks.current.learn(x, newest + 1);
        clocks.acquire.learn(x, newest + 1);
        let mut message = if order.releases() { clocks.current.clone() } else { clocks.release.clone() };
        message.learn(x, newest + 1);
        if update {
            message.join(&place.message);
        }
        place.message = message;
        clocks.sc.join(&place.access_sc);
        clocks.sc.learn(x, newest + 1);
        place.write_sc = clocks.sc.clone();
        place.access_sc = clocks.sc.clone();
    }

    fn fence(&mut self, thread: usize, order: AtomicOrder) {
        let clocks = &mut self.threads[thread];
        if order.acquires() {
            clocks.current = clocks.acquire.clone();
        }
        if order == AtomicOrder::SeqCst {
            clocks.current.join(&self.hidden);
            clocks.acquire = clocks.current.clone();
            self.hidden = clocks.current.clone();
        }
        if order.releases() {
            clocks.release = clocks.current.clone();
        }
    }
}
