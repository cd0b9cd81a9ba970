//! The detector as the runtime drives it, on a memory of some words.

use super::steps::{LENGTH, LOCKS, Memory, Step, THREADS};
use ravelin_clocks::race::cell::{self, Lists, ShadowCell};
use ravelin_clocks::race::{list, slot};
use ravelin_clocks::{FenceLocation, LocationAccess, LocationClocks, ReleaseClocks, ThreadClocks, WitnessMode};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub struct Detector {
    threads: Vec<ThreadClocks>,
    locks: Vec<ReleaseClocks>,
    locations: BTreeMap<usize, LocationClocks>,
    cells: [ShadowCell; LENGTH / 8],
    /// By the address of a location; those of words also hold what had to leave the cell.
    lists: RefCell<BTreeMap<usize, Vec<u64>>>,
    /// Whether threads lock cells also where they are alone.
    always_locks: bool,
    /// Whether they look into the lists also where nothing can be there.
    always_looks: bool,
    /// Whether they replace their own reads without the lock.
    renews: bool,
}

/// The other access of a race.
#[derive(Debug, PartialEq, Eq)]
pub struct Reported {
    pub thread: usize,
    pub stamp: u64,
    /// Those that both touch.
    pub bytes: Vec<usize>,
}

struct Word<'a> {
    base: usize,
    always_looks: bool,
    renews: bool,
    lists: &'a RefCell<BTreeMap<usize, Vec<u64>>>,
}

impl Lists for Word<'_> {
    type List = Vec<u64>;

    fn for_each(&self, mut work: impl FnMut(&mut Vec<u64>, bool)) {
        let mut lists = self.lists.borrow_mut();
        lists.range_mut(self.base..self.base + 8).for_each(|(&at, list)| work(list, at == self.base));
    }

    fn always_look(&self) -> bool {
        self.always_looks
    }

    fn renews(&self) -> bool {
        self.renews
    }

    fn spilt<R>(&self, work: impl FnOnce(&mut Vec<u64>) -> R) -> Option<R> {
        Some(work(self.lists.borrow_mut().entry(self.base).or_default()))
    }
}

impl Detector {
    pub fn new() -> Detector {
        Detector {
            threads: (0..THREADS + 2).map(|tid| ThreadClocks::new(tid as u16, 1)).collect(),
            locks: vec![ReleaseClocks::default(); LOCKS],
            locations: BTreeMap::new(),
            cells: Default::default(),
            lists: RefCell::default(),
            always_locks: false,
            always_looks: false,
            renews: true,
        }
    }

    pub fn that_always_locks() -> Detector {
        Detector { always_locks: true, ..Detector::new() }
    }

    pub fn that_always_looks() -> Detector {
        Detector { always_locks: true, always_looks: true, ..Detector::new() }
    }

    pub fn that_never_renews() -> Detector {
        Detector { renews: false, ..Detector::new() }
    }

    /// How accesses of a thread are remembered now.
    pub fn stamp(&self, thread: usize) -> u64 {
        slot::stamp(self.threads[thread].tid, self.threads[thread].since())
    }

    /// An access within one word; the access it races with, if that is noticed.
    pub fn access(&mut self, memory: Memory) -> Option<Reported> {
        let Memory { thread, at, size, write, atomic, .. } = memory;
        let Detector { always_looks, renews, .. } = *self;
        let word = Word { base: at / 8 * 8, always_looks, renews, lists: &self.lists };
        let cell = &self.cells[at / 8];
        let flags = if write { slot::WRITE } else { 0 } | if atomic { slot::ATOMIC } else { 0 };
        let mine = self.stamp(thread) | slot::span(at % 8, size) | flags;
        let thread = &self.threads[thread];
        let raced = if atomic {
            let raced = cell::check_atomic(cell, thread, mine, &word);
            list::note_atomic(self.lists.borrow_mut().entry(at).or_default(), thread, mine);
            raced
        } else if cell::is_known(cell, mine) {
            None
        } else if self.always_locks {
            cell::access_locked(cell, thread, mine, &word).raced
        } else {
            cell::access(cell, thread, mine, &word).raced
        };
        raced.map(|other| Reported {
            thread: slot::tid(other).into(),
            stamp: slot::stamp(slot::tid(other), slot::epoch(other)),
            bytes: (0..8)
                .filter(|byte| slot::bytes(other & mine) & 1 << byte != 0)
                .map(|byte| at / 8 * 8 + byte)
                .collect(),
        })
    }

    pub fn synchronise(&mut self, step: Step) {
        match step {
            Step::Release { thread, lock } => self.threads[thread].release_into(&mut self.locks[lock]),
            Step::Acquire { thread, lock } => self.threads[thread].acquire(&self.locks[lock]),
            Step::Fence { thread, order } => self.threads[thread].fence(order, &mut FenceLocation::new()),
            Step::Access(Memory { thread, at, write, order, .. }) => {
                let location = self.locations.entry(at).or_insert_with(|| LocationClocks::new(0));
                let access = LocationAccess { place: at as u64, order, site: 0, mode: WitnessMode::Predict };
                if write {
                    location.store(&mut self.threads[thread], access, 1);
                } else {
                    location.load(&mut self.threads[thread], access);
                }
            }
        }
    }

    /// The accesses that are remembered, by word.
    fn slots(&self) -> Vec<(usize, u64)> {
        let in_cells = self.cells.iter().enumerate().flat_map(|(word, cell)| {
            cell.iter().map(move |slot| (word, slot.load(std::sync::atomic::Ordering::Relaxed)))
        });
        let lists = self.lists.borrow();
        let in_lists = lists.iter().flat_map(|(at, list)| list.iter().map(move |&slot| (at / 8, slot)));
        // Markers are no accesses.
        let is_access = |slot: u64| slot != 0 && slot & 0xff & !(slot::WRITE | slot::ATOMIC) == 0;
        in_cells.chain(in_lists).filter(|(_, slot)| is_access(*slot)).collect()
    }

    /// How many accesses are remembered.
    pub fn kept(&self) -> usize {
        self.slots().len()
    }

    /// Whether some cell says that there is more elsewhere.
    pub fn is_marked(&self) -> bool {
        let flags = slot::WRITE | slot::ATOMIC;
        self.cells.iter().flatten().any(|slot| slot.load(std::sync::atomic::Ordering::Relaxed) & 0xff & !flags != 0)
    }

    /// That there is one slot at most for a byte, a thread and a kind of access; else all there are. Atomic accesses of
    /// different sizes are different locations.
    pub fn keeps_each_once(&self) -> Result<(), Vec<(usize, u64)>> {
        let slots = self.slots();
        let mut seen = BTreeSet::new();
        let plain = slots.iter().filter(|(_, slot)| slot & slot::ATOMIC == 0);
        let each = plain.flat_map(|&(word, slot)| {
            (0..8).filter(move |byte| slot::bytes(slot) & 1 << byte != 0).map(move |byte| (word, byte, slot))
        });
        for (word, byte, slot) in each {
            if !seen.insert((word, byte, slot::tid(slot), slot & slot::WRITE)) {
                return Err(slots);
            }
        }
        Ok(())
    }
}
