//! Boolean matrices: figure 2 of the paper, extended as the static analysis extends it.
//!
//! A view is the set of locations whose newest write is known, kept twice: over all writes and over those that are no
//! RMWs. For waits and compare-exchanges it also holds, for each location, the values of the writes that may still be
//! read though they are not the newest, and those of them that another write can be put behind. A write takes its location
//! out of every other view. Everything is finite, so only standard witnesses are seen (theorem 2.2).

use crate::judged::traces::{Act, Ask, Does, Event, LOCATIONS, LOCKS, SEMAPHORES, SyncOperation, THREADS};
use ravelin_clocks::{AtomicOrder, CasKind};

#[derive(Clone, Debug)]
struct View {
    all: [bool; LOCATIONS],
    plain: [bool; LOCATIONS],
    /// Bit `v`: the value `v` may be read.
    readable: [u64; LOCATIONS],
    open: [u64; LOCATIONS],
}

const EVERYTHING: View =
    View { all: [true; LOCATIONS], plain: [true; LOCATIONS], readable: [0; LOCATIONS], open: [0; LOCATIONS] };

impl View {
    /// The less is stale, the more is known: of the values of one location, one set is within the other.
    fn join(&mut self, other: &View) {
        for x in 0..LOCATIONS {
            self.all[x] |= other.all[x];
            self.plain[x] |= other.plain[x];
            self.readable[x] &= other.readable[x];
            self.open[x] &= other.open[x];
        }
    }

    fn learn(&mut self, x: usize) {
        (self.all[x], self.plain[x], self.readable[x], self.open[x]) = (true, true, 0, 0);
    }

    /// Somebody has overwritten `value`.
    fn lose(&mut self, x: usize, update: bool, value: u64) {
        self.all[x] = false;
        self.readable[x] |= 1 << value;
        if !update {
            self.plain[x] = false;
            self.open[x] |= 1 << value;
        }
    }
}

#[derive(Clone, Debug)]
struct ThreadViews {
    rel: View,
    cur: View,
    acq: View,
    sc: View,
}

#[derive(Clone, Debug)]
struct PlaceViews {
    value: u64,
    message: View,
    write_sc: View,
    access_sc: View,
}

/// `cur` and `sc` of somebody.
type Passed = [View; 2];

pub struct Matrices {
    threads: Vec<ThreadViews>,
    places: Vec<PlaceViews>,
    hidden: View,
    locks: Vec<Passed>,
    semaphores: Vec<Passed>,
    ended: Vec<Passed>,
}

impl Matrices {
    pub fn new() -> Matrices {
        let thread = ThreadViews { rel: EVERYTHING, cur: EVERYTHING, acq: EVERYTHING, sc: EVERYTHING };
        let place = PlaceViews { value: 0, message: EVERYTHING, write_sc: EVERYTHING, access_sc: EVERYTHING };
        Matrices {
            threads: vec![thread; THREADS],
            places: vec![place; LOCATIONS],
            hidden: EVERYTHING,
            locks: vec![[EVERYTHING; 2]; LOCKS],
            semaphores: vec![[EVERYTHING; 2]; SEMAPHORES],
            ended: vec![[EVERYTHING; 2]; THREADS],
        }
    }

    /// Whether the access is a standard witness.
    pub fn check(&self, thread: usize, x: usize, ask: Ask) -> bool {
        let ThreadViews { cur, sc, .. } = &self.threads[thread];
        let reads = |values: u64| sc.all[x] && !cur.all[x] && cur.readable[x] & values != 0;
        let writes = |values: u64| sc.plain[x] && !cur.plain[x] && cur.open[x] & values != 0;
        match ask {
            Ask::Load => sc.all[x] && !cur.all[x],
            Ask::Store | Ask::Update => sc.plain[x] && !cur.plain[x],
            Ask::Wait(value) => reads(1 << value),
            Ask::CompareExchange(CasKind::Strong, expected) => reads(!(1 << expected)) || writes(1 << expected),
            Ask::CompareExchange(CasKind::Weak, expected) => reads(!0) || writes(1 << expected),
            Ask::CompareExchange(CasKind::Blocking, expected) => writes(1 << expected),
        }
    }

    pub fn perform(&mut self, event: Event) {
        let Event { thread, act } = event;
        match act {
            Act::Access { x, does, .. } => {
                match does {
                    Does::Nothing => {}
                    Does::Read(order) => self.read(thread, x, order),
                    Does::Write(order, value) => self.write(thread, x, order, value, false),
                    Does::Update(order, value) => {
                        self.acquire(thread, x, order);
                        self.write(thread, x, order, value, true);
                    }
                }
                if does.order() == Some(AtomicOrder::SeqCst) {
                    self.fence(thread, AtomicOrder::SeqCst);
                }
            }
            Act::Synchronise(SyncOperation::Fence { order }) => self.fence(thread, order),
            Act::Synchronise(SyncOperation::Spawn { child }) => {
                let passed = self.pass(thread);
                self.receive(child, passed);
            }
            Act::Synchronise(SyncOperation::End) => self.ended[thread] = self.pass(thread),
            Act::Synchronise(SyncOperation::Join { child }) => self.receive(thread, self.ended[child].clone()),
            Act::Synchronise(SyncOperation::Unlock { lock }) => self.locks[lock] = self.pass(thread),
            Act::Synchronise(SyncOperation::Lock { lock }) => self.receive(thread, self.locks[lock].clone()),
            Act::Synchronise(SyncOperation::Post { semaphore }) => {
                let [cur, sc] = self.pass(thread);
                self.semaphores[semaphore][0].join(&cur);
                self.semaphores[semaphore][1].join(&sc);
            }
            Act::Synchronise(SyncOperation::Take { semaphore, .. }) => {
                self.receive(thread, self.semaphores[semaphore].clone())
            }
            Act::Synchronise(SyncOperation::Rename) => {}
        }
    }

    fn pass(&self, thread: usize) -> Passed {
        [self.threads[thread].cur.clone(), self.threads[thread].sc.clone()]
    }

    fn receive(&mut self, thread: usize, [cur, sc]: Passed) {
        let views = &mut self.threads[thread];
        views.cur.join(&cur);
        views.acq.join(&cur);
        views.sc.join(&sc);
    }

    fn acquire(&mut self, thread: usize, x: usize, order: AtomicOrder) {
        let (views, place) = (&mut self.threads[thread], &self.places[x]);
        views.acq.join(&place.message);
        if order.acquires() {
            views.cur.join(&place.message);
        }
        views.acq.learn(x);
        views.cur.learn(x);
    }

    fn read(&mut self, thread: usize, x: usize, order: AtomicOrder) {
        self.acquire(thread, x, order);
        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        views.sc.join(&place.write_sc);
        place.access_sc.join(&views.sc);
    }

    fn write(&mut self, thread: usize, x: usize, order: AtomicOrder, value: u64, update: bool) {
        let overwritten = self.places[x].value;
        self.threads[thread].sc.join(&self.places[x].access_sc);
        for views in &mut self.threads {
            for view in [&mut views.rel, &mut views.cur, &mut views.acq, &mut views.sc] {
                view.lose(x, update, overwritten);
            }
        }
        for place in &mut self.places {
            for view in [&mut place.message, &mut place.write_sc, &mut place.access_sc] {
                view.lose(x, update, overwritten);
            }
        }
        let passed = self.locks.iter_mut().chain(&mut self.semaphores).chain(&mut self.ended).flatten();
        passed.for_each(|view| view.lose(x, update, overwritten));
        self.hidden.lose(x, update, overwritten);

        let (views, place) = (&mut self.threads[thread], &mut self.places[x]);
        place.value = value;
        for view in [&mut views.cur, &mut views.acq, &mut views.sc] {
            view.learn(x);
        }
        let mut message = if order.releases() { views.cur.clone() } else { views.rel.clone() };
        message.learn(x);
        if update {
            message.join(&place.message);
        }
        place.message = message;
        place.write_sc = views.sc.clone();
        place.access_sc = views.sc.clone();
    }

    fn fence(&mut self, thread: usize, order: AtomicOrder) {
        let views = &mut self.threads[thread];
        if order.acquires() {
            views.cur = views.acq.clone();
        }
        if order == AtomicOrder::SeqCst {
            views.cur.join(&self.hidden);
            views.acq = views.cur.clone();
            self.hidden = views.cur.clone();
        }
        if order.releases() {
            views.rel = views.cur.clone();
        }
    }
}
