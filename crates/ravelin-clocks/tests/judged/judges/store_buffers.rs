//! x86-TSO by sets of facts, each set a map from locations to the newest write of which it has a fact.
//!
//! `loads`, `stores`: ghb-before the next load and the next store of a thread; `seen`: what it saw itself (coherence);
//! `sc`: before its next step under sequential consistency. A location has the same about its latest write (`latest`,
//! `written`) and about what comes before its next write (`next`, `touched`).

use super::{Judgement, Write, judge};
use crate::judged::traces::{Act, Ask, Does, Event, LOCATIONS, LOCKS, SEMAPHORES, SyncOperation, THREADS};
use ravelin_clocks::AtomicOrder;

#[derive(Clone, Debug, Default)]
struct Facts([usize; LOCATIONS]);

impl Facts {
    fn join(&mut self, other: &Facts) {
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(theirs);
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Buffered {
    loads: Facts,
    stores: Facts,
    seen: Facts,
    sc: Facts,
}

#[derive(Clone, Debug)]
struct Place {
    writes: Vec<Write>,
    writer: Option<usize>,
    latest: Facts,
    next: Facts,
    written: Facts,
    touched: Facts,
}

/// What a lock, a semaphore, a parent or an ended thread passes on.
#[derive(Clone, Debug, Default)]
struct Passed {
    stores: Facts,
    sc: Facts,
}

pub struct StoreBuffers {
    threads: Vec<Buffered>,
    places: Vec<Place>,
    locks: Vec<Passed>,
    semaphores: Vec<Passed>,
    ended: Vec<Passed>,
}

impl StoreBuffers {
    pub fn new() -> StoreBuffers {
        let place = Place {
            writes: vec![Write { value: 0, update: false }],
            writer: None,
            latest: Facts::default(),
            next: Facts::default(),
            written: Facts::default(),
            touched: Facts::default(),
        };
        StoreBuffers {
            threads: vec![Buffered::default(); THREADS],
            places: vec![place; LOCATIONS],
            locks: vec![Passed::default(); LOCKS],
            semaphores: vec![Passed::default(); SEMAPHORES],
            ended: vec![Passed::default(); THREADS],
        }
    }

    pub fn check(&self, thread: usize, x: usize, ask: Ask) -> Option<Judgement> {
        let Buffered { loads, stores, seen, sc } = &self.threads[thread];
        // A locked instruction is a fence first.
        let view = if matches!(ask, Ask::Load | Ask::Wait(_)) { loads } else { stores };
        judge(&self.places[x].writes, view.0[x].max(seen.0[x]), sc.0[x], ask)
    }

    pub fn perform(&mut self, event: Event) {
        let Event { thread, act } = event;
        match act {
            Act::Access { x, ask, does } => self.access(thread, x, ask, does),
            Act::Synchronise(SyncOperation::Fence { order }) => {
                if order == AtomicOrder::SeqCst {
                    self.fence(thread);
                }
            }
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
                self.semaphores[semaphore].stores.join(&passed.stores);
                self.semaphores[semaphore].sc.join(&passed.sc);
            }
            Act::Synchronise(SyncOperation::Take { semaphore, loads: false }) => {
                self.receive(thread, &self.semaphores[semaphore].clone());
            }
            Act::Synchronise(SyncOperation::Take { semaphore, loads: true }) => {
                let (thread, posted) = (&mut self.threads[thread], &self.semaphores[semaphore]);
                thread.loads.join(&posted.stores);
                thread.stores.join(&posted.stores);
                thread.sc.join(&posted.sc);
            }
            // Nothing that a program does, but the crate uses it as a fence.
            Act::Synchronise(SyncOperation::Rename) => self.fence(thread),
        }
    }

    fn pass(&mut self, thread: usize) -> Passed {
        self.fence(thread);
        Passed { stores: self.threads[thread].stores.clone(), sc: self.threads[thread].sc.clone() }
    }

    fn receive(&mut self, thread: usize, passed: &Passed) {
        self.threads[thread].stores.join(&passed.stores);
        self.threads[thread].sc.join(&passed.sc);
        self.fence(thread);
    }

    fn fence(&mut self, thread: usize) {
        let thread = &mut self.threads[thread];
        thread.loads = thread.stores.clone();
    }

    fn access(&mut self, thread: usize, x: usize, ask: Ask, does: Does) {
        let Some(order) = does.order() else { return };
        if matches!(ask, Ask::CompareExchange(..) | Ask::Update) {
            self.fence(thread);
        }
        let (buffered, place) = (&mut self.threads[thread], &mut self.places[x]);
        let Some(value) = does.writes() else {
            if place.writer.is_some_and(|writer| writer != thread) {
                buffered.loads.join(&place.latest);
            }
            buffered.stores.join(&buffered.loads);
            place.next.join(&buffered.loads);
            buffered.seen.0[x] = place.writes.len() - 1;
            buffered.sc.join(&place.written);
            place.touched.join(&buffered.sc);
            return;
        };
        let number = place.writes.len();
        let update = matches!(does, Does::Update(..));
        place.writes.push(Write { value, update });
        place.writer = Some(thread);
        place.next.join(&buffered.stores);
        place.next.0[x] = number;
        place.latest = place.next.clone();
        buffered.stores.join(&place.latest);
        buffered.seen.0[x] = number;
        buffered.sc.join(&place.touched);
        buffered.sc.0[x] = number;
        place.touched = buffered.sc.clone();
        place.written = buffered.sc.clone();
        if update || order == AtomicOrder::SeqCst {
            self.fence(thread);
        }
    }
}
