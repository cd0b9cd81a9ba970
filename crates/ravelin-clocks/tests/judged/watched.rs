//! A trace as the crate sees it: what a runtime does with threads, locations, locks and numbers, for one operation after
//! the other.

use crate::judged::traces::{Act, Ask, Does, Event, LOCATIONS, LOCKS, Random, SEMAPHORES, SyncOperation, THREADS};
use ravelin_clocks::history::History;
use ravelin_clocks::{
    AccessViolation, AtomicOrder, BufferedAccess, BufferedLocation, CommonView, EndClocks, Epoch, FenceLocation, Live,
    LocationAccess, LocationClocks, MessageAccess, Pruning, ReleaseClocks, ThreadClocks, Tid, WitnessMode,
};
use std::collections::BTreeSet;

/// What the runtime does besides.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Prunes the histories of some locations, once in so many operations; 0 for never.
    pub prune: usize,
    /// Gives the numbers of ended threads to new ones.
    pub reuse: bool,
    /// How far apart the numbers of threads are. From 2 on clocks soon do not fit into snapshots.
    pub stride: Tid,
    /// Keeps histories short where one thread accesses a location repeatedly.
    pub folds: bool,
    /// Only happens-before counts.
    pub synchronises: bool,
    /// The rules are those of x86-TSO.
    pub buffers: bool,
    /// Tells some threads what all know, once in so many operations, and some prunings; 0 for never.
    pub tells: usize,
}

pub struct Watched {
    mode: WitnessMode,
    habits: Habits,
    random: Random,
    threads: Vec<Option<ThreadClocks>>,
    locations: Vec<LocationClocks>,
    buffered: Vec<BufferedLocation>,
    hidden: FenceLocation,
    locks: Vec<ReleaseClocks>,
    semaphores: Vec<ReleaseClocks>,
    ended: Vec<Option<(Tid, Epoch, EndClocks)>>,
    /// Threads whose number another has got.
    reused: BTreeSet<usize>,
    next: Tid,
    /// The number and epoch of every event, as the graph counts them, and the epoch that does for races.
    pub moments: Vec<(Tid, Epoch, Epoch)>,
}

impl Watched {
    pub fn new(mode: WitnessMode, habits: Habits) -> Watched {
        let mut threads: Vec<Option<ThreadClocks>> = (0..THREADS).map(|_| None).collect();
        threads[0] = Some(new_thread(0, 2, habits));
        Watched {
            mode,
            habits,
            random: Random::new(7),
            threads,
            locations: (0..LOCATIONS).map(|_| LocationClocks::new(0)).collect(),
            buffered: vec![BufferedLocation::new(0); LOCATIONS],
            hidden: FenceLocation::default(),
            locks: vec![ReleaseClocks::default(); LOCKS],
            semaphores: vec![ReleaseClocks::default(); SEMAPHORES],
            ended: (0..THREADS).map(|_| None).collect(),
            reused: BTreeSet::new(),
            next: habits.stride,
            moments: vec![(0, 1, 1)],
        }
    }

    pub fn thread(&self, thread: usize) -> Option<&ThreadClocks> {
        self.threads[thread].as_ref()
    }

    /// How many sightings there are, of all locations.
    pub fn sightings(&self) -> usize {
        (0..LOCATIONS).map(|x| self.history(x).len()).sum()
    }

    /// Whether every write to a location is still remembered with its value.
    pub fn remembers_all(&self, x: usize) -> bool {
        self.history(x).remembers_all()
    }

    fn history(&self, x: usize) -> &History {
        if self.habits.buffers { self.buffered[x].history() } else { self.locations[x].history() }
    }

    /// Does an event; `number` is its site.
    pub fn perform(&mut self, event: Event, number: usize) -> Option<AccessViolation> {
        let Event { thread, act } = event;
        let violation = match act {
            Act::Access { x, ask, does } => self.access(thread, x, ask, does, number as u64),
            Act::Synchronise(SyncOperation::Spawn { child }) => {
                self.spawn(thread, child);
                None
            }
            Act::Synchronise(SyncOperation::End) => {
                self.mark(thread);
                if let Some(mut end) = self.threads[thread].take() {
                    let ended = end.release();
                    self.ended[thread] = Some((end.tid, end.epoch, ended));
                }
                None
            }
            _ => {
                self.order(thread, act);
                None
            }
        };
        if self.habits.prune > 0 && self.random.once_in(self.habits.prune) {
            self.prune();
        }
        if self.habits.tells > 0 && self.random.once_in(self.habits.tells) {
            let common = self.common();
            for thread in self.threads.iter_mut().flatten() {
                if !self.random.once_in(4) {
                    thread.know_all(&common);
                }
            }
        }
        violation
    }

    /// Remembers the moment of the event that comes.
    fn mark(&mut self, thread: usize) {
        self.moments.extend(self.threads[thread].as_ref().map(|thread| (thread.tid, thread.epoch, thread.since())));
    }

    fn access(&mut self, thread: usize, x: usize, ask: Ask, does: Does, site: u64) -> Option<AccessViolation> {
        if does != Does::Nothing {
            self.mark(thread);
        }
        let (mode, location) = (self.mode, &mut self.locations[x]);
        let seq_cst = does.order() == Some(AtomicOrder::SeqCst);
        let order = does.order().unwrap_or(AtomicOrder::SeqCst);
        let access = LocationAccess { place: x as u64, order, site, mode };
        let watched = self.threads[thread].as_mut()?;
        let mut violation = None;
        if self.habits.buffers {
            let made = buffered(&mut self.buffered[x], watched, access, ask, does);
            assert_eq!(made.is_event, does != Does::Nothing);
            violation = made.violation;
        }
        if self.habits.synchronises || self.habits.buffers {
            let access = match (ask, does.writes()) {
                _ if does == Does::Nothing => return violation,
                (Ask::Store, _) => MessageAccess::Store,
                (_, Some(_)) => MessageAccess::Update,
                (_, None) => MessageAccess::Load,
            };
            location.synchronise(watched, order, site, access);
            if seq_cst && self.habits.synchronises {
                // In step with a thread that makes a hidden fence.
                watched.advance();
            }
            return violation;
        }
        let violation = match (ask, does.writes()) {
            (Ask::Load, _) => location.load(watched, access),
            (Ask::Store, value) => location.store(watched, access, value?),
            (Ask::Update, value) => location.update(watched, access, value?),
            (Ask::Wait(value), _) => location.wait(watched, access, value, does != Does::Nothing),
            (Ask::CompareExchange(kind, expected), written) => {
                location.compare_exchange(watched, access, kind, expected, written)
            }
        };
        if seq_cst {
            self.mark(thread);
            self.threads[thread].as_mut()?.hidden_fence(&mut self.hidden);
        }
        violation
    }

    fn order(&mut self, thread: usize, act: Act) {
        if !matches!(act, Act::Synchronise(SyncOperation::Rename)) {
            self.mark(thread);
        }
        let Some(watched) = &mut self.threads[thread] else { return };
        match act {
            Act::Synchronise(SyncOperation::Fence { order }) if self.habits.synchronises || self.habits.buffers => {
                if order == AtomicOrder::SeqCst {
                    watched.drain();
                }
                watched.synchronising_fence(order);
            }
            Act::Synchronise(SyncOperation::Fence { order }) => watched.fence(order, &mut self.hidden),
            Act::Synchronise(SyncOperation::Join { child }) => {
                if let Some((_, _, ended)) = &self.ended[child] {
                    watched.acquire(ended);
                }
            }
            Act::Synchronise(SyncOperation::Lock { lock }) => watched.acquire(&self.locks[lock]),
            Act::Synchronise(SyncOperation::Unlock { lock }) => watched.release_into(&mut self.locks[lock]),
            Act::Synchronise(SyncOperation::Post { semaphore }) => {
                let posted = watched.release();
                self.semaphores[semaphore].join(&posted);
            }
            Act::Synchronise(SyncOperation::Take { semaphore, loads }) => {
                let posted = &self.semaphores[semaphore];
                if loads { watched.acquire_by_load(posted) } else { watched.acquire(posted) }
            }
            Act::Synchronise(SyncOperation::Rename) => {
                watched.rename(self.next, 1 + self.random.below(3) as Epoch);
                self.next += self.habits.stride;
            }
            Act::Access { .. }
            | Act::Synchronise(SyncOperation::Spawn { .. })
            | Act::Synchronise(SyncOperation::End) => {}
        }
    }

    /// A new thread. It may have the number of one that is gone and whose end its creator knows.
    fn spawn(&mut self, thread: usize, child: usize) {
        self.mark(thread);
        let Some(creator) = &mut self.threads[thread] else { return };
        let released = creator.release();
        let known = |&old: &usize| {
            !self.reused.contains(&old) && self.ended[old].as_ref().is_some_and(|(_, _, ended)| ended.known_to(creator))
        };
        let old = (0..THREADS).filter(|_| self.habits.reuse).find(known);
        let (tid, epoch) = match old.and_then(|old| self.ended[old].as_ref()) {
            Some(&(tid, epoch, _)) => (tid, epoch),
            None => (self.next, 1),
        };
        if old.is_none() {
            self.next += self.habits.stride;
        }
        self.reused.extend(old);
        let mut new = new_thread(tid, epoch, self.habits);
        self.moments.push((tid, epoch, epoch));
        new.acquire(&released);
        self.threads[child] = Some(new);
    }

    fn common(&self) -> CommonView {
        let mut common = CommonView::new();
        self.threads.iter().flatten().for_each(|thread| common.thread(thread));
        common
    }

    /// Prunes some histories, with all clocks there are.
    fn prune(&mut self) {
        let mut live = Live::new();
        self.threads.iter().flatten().for_each(|thread| live.thread(thread));
        self.locations.iter().for_each(|location| live.location(location));
        self.buffered.iter().for_each(|location| live.buffered(location));
        live.hidden(&self.hidden);
        self.locks.iter().chain(&self.semaphores).for_each(|released| live.released(released));
        self.ended.iter().flatten().for_each(|(_, _, ended)| live.released(ended));
        if self.habits.tells > 0 && self.random.once_in(2) {
            live.know_all(&self.common());
        }
        live.seal();
        for location in &mut self.locations {
            if !self.random.once_in(4) {
                location.prune(&live, &mut Pruning::default());
            }
        }
        for location in &mut self.buffered {
            if !self.random.once_in(4) {
                location.prune(&live, &mut Pruning::default());
            }
        }
    }
}

/// An access under x86-TSO.
fn buffered(
    location: &mut BufferedLocation,
    thread: &mut ThreadClocks,
    access: LocationAccess,
    ask: Ask,
    does: Does,
) -> BufferedAccess {
    match (ask, does.writes()) {
        (Ask::Load, _) => location.load(thread, access),
        (Ask::Store, value) => location.store(thread, access, value.unwrap_or_default()),
        (Ask::Update, value) => location.update(thread, access, value.unwrap_or_default()),
        (Ask::Wait(value), _) => location.wait(thread, access, value, does != Does::Nothing),
        (Ask::CompareExchange(kind, expected), written) => {
            location.compare_exchange(thread, access, kind, expected, written)
        }
    }
}

fn new_thread(tid: Tid, epoch: Epoch, habits: Habits) -> ThreadClocks {
    let mut thread = ThreadClocks::new(tid, epoch);
    if !habits.folds {
        thread.keep_all_sightings();
    }
    if habits.buffers {
        thread.buffer_stores(habits.folds);
    }
    thread
}
