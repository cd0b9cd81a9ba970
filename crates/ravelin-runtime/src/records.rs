//! What is kept for words that are more than plain memory: the clocks of atomic locations, what locks hand on, and
//! accesses for which a cell has no room.
//!
//! Records live in one reserved array and are found by number; those of a word form a list that begins in the shadow. A
//! record is locked while it is used. It may be given back at any time by whoever frees the memory, so after locking
//! one it is looked at again whether it is still the one that was wanted.

use crate::mapping;
use crate::shadow;
use crate::spin::{Spin, pause};
use ravelin_clocks::race::list::Accesses;
use ravelin_clocks::{Location, Released};
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Accesses that are kept in the record itself.
const NEAR: usize = 2;
/// As many records as there is room for.
const MOST: usize = 1 << 26;

/// Locations alive, and at most so far.
pub static LOCATIONS: AtomicU64 = AtomicU64::new(0);
pub static MOST_LOCATIONS: AtomicU64 = AtomicU64::new(0);

/// A word's record.
#[repr(C)]
pub struct Record {
    /// The first accesses to the bytes of the record, as slots of a cell; 0 for none.
    accesses: [u64; NEAR],
    /// The clocks of an atomic location.
    location: Option<Location>,
    /// Accesses for which there is no room above.
    #[expect(clippy::box_collection, reason = "there is room for one word")]
    more_accesses: Option<Box<Vec<u64>>>,
    /// What a lock hands on.
    released: Option<Box<Released>>,
}

/// A record and what is needed to find and lock it. How a [`Location`] is laid out counts on what stands before it.
#[repr(C, align(64))]
pub struct Place {
    /// Odd while somebody uses the record; grows by two when what is kept in it changes for readers.
    turn: AtomicU32,
    next: AtomicU32,
    /// What the record is about, readable without the lock; 0 if it is free.
    address: AtomicUsize,
    record: UnsafeCell<Record>,
}

/// Cache lines are moved from core to core at every access to a contended location.
const _: () = assert!(size_of::<Place>() == 5 * 64);

static ARRAY: AtomicPtr<Place> = AtomicPtr::new(std::ptr::null_mut());
static USED: AtomicU32 = AtomicU32::new(1);
static FREE: Spin<Vec<u32>> = Spin::new(Vec::new());

/// Reserves the array; whether that was possible.
pub fn reserve() -> bool {
    let length = MOST * size_of::<Place>();
    let array = mapping::map(length);
    if array.is_null() {
        return false;
    }
    // Most programs have few locations and need only the beginning.
    let beginning = mapping::HUGE;
    // SAFETY: within what was mapped just now.
    unsafe { mapping::prefer_huge_pages(array as usize + beginning, length - beginning) };
    ARRAY.store(array.cast(), Ordering::Release);
    true
}

impl Record {
    fn new() -> Record {
        Record { accesses: [0; NEAR], location: None, more_accesses: None, released: None }
    }

    /// Whether it holds the clocks of an atomic location.
    pub fn is_atomic(&self) -> bool {
        self.location.is_some()
    }

    /// The clocks of the location; `initial` is its value if it is new.
    #[inline(always)]
    pub fn location(&mut self, initial: impl FnOnce() -> u64) -> &mut Location {
        self.location.get_or_insert_with(|| {
            let alive = LOCATIONS.fetch_add(1, Ordering::Relaxed) + 1;
            MOST_LOCATIONS.fetch_max(alive, Ordering::Relaxed);
            Location::new(initial())
        })
    }

    /// The clocks of the location, if it has any.
    pub fn location_if_any(&mut self) -> Option<&mut Location> {
        self.location.as_mut()
    }

    /// What a lock hands on.
    pub fn released(&mut self) -> &mut Option<Box<Released>> {
        &mut self.released
    }

    /// The object at this address is a new one. The accesses to its bytes stay: they are of the memory.
    pub fn begin_new_object(&mut self) {
        if self.location.take().is_some() {
            LOCATIONS.fetch_sub(1, Ordering::Relaxed);
        }
        self.released = None;
    }

    /// Nothing is kept any more.
    fn clear(&mut self) {
        self.begin_new_object();
        self.accesses = [0; NEAR];
        self.more_accesses = None;
    }
}

impl Accesses for Record {
    #[inline(always)]
    fn slots(&mut self) -> impl Iterator<Item = &mut u64> {
        let more = self.more_accesses.iter_mut().flat_map(|more| more.iter_mut());
        self.accesses.iter_mut().chain(more)
    }

    fn push(&mut self, access: u64) {
        self.more_accesses.get_or_insert_default().push(access);
    }
}

/// A locked record.
pub struct Locked {
    place: &'static Place,
    /// The turn to leave it with.
    turn: u32,
}

impl Locked {
    /// The record.
    #[inline(always)]
    pub fn record(&mut self) -> &mut Record {
        // SAFETY: the place is locked by us.
        unsafe { &mut *self.place.record.get() }
    }

    /// The next reader finds something new.
    #[inline(always)]
    pub fn wrote(&mut self) {
        self.turn = self.turn.wrapping_add(2);
    }

    /// Where the record is, and the turn it will have when it is unlocked.
    #[inline(always)]
    pub fn seen(&self) -> (&'static Place, u32) {
        (self.place, self.turn)
    }
}

impl Drop for Locked {
    #[inline(always)]
    fn drop(&mut self) {
        self.place.turn.store(self.turn, Ordering::Release);
    }
}

impl Place {
    /// Asks for the cache lines that an access will need, at once: with many locations each of them is a miss.
    #[inline(always)]
    fn fetch(&self, writes: bool) {
        let place = std::ptr::from_ref(self).cast::<i8>();
        for line in 1..if writes { 5 } else { 3 } {
            // SAFETY: within the place; and to ask for a cache line reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.add(line * 64)) };
        }
    }

    #[inline(always)]
    fn lock(&'static self) -> Locked {
        let turn = self.turn.load(Ordering::Relaxed);
        if turn & 1 == 0 && self.try_lock(turn) {
            return Locked { place: self, turn };
        }
        self.wait()
    }

    #[inline(always)]
    fn try_lock(&self, turn: u32) -> bool {
        self.turn.compare_exchange(turn, turn | 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&'static self) -> Locked {
        let mut spins = 0;
        loop {
            let turn = self.turn.load(Ordering::Relaxed);
            if turn & 1 == 0 && self.try_lock(turn) {
                return Locked { place: self, turn };
            }
            pause(&mut spins);
        }
    }

    /// Whether nothing has changed since the record was left with this turn, and nobody is at it.
    #[inline(always)]
    pub fn is_at(&self, turn: u32) -> bool {
        self.turn.load(Ordering::Acquire) == turn
    }
}

#[inline(always)]
fn place(number: u32) -> &'static Place {
    // SAFETY: numbers in use are below `MOST`, and zeroed memory is a valid free place: its record is written before
    // it is used.
    unsafe { &*ARRAY.load(Ordering::Relaxed).add(number as usize) }
}

/// Locks the record of an address, made now if there is none; `None` without memory.
#[inline(always)]
pub fn lock(address: usize) -> Option<Locked> {
    lock_for(address, false)
}

/// The same for an atomic access.
#[inline(always)]
pub fn lock_for(address: usize, writes: bool) -> Option<Locked> {
    let head = shadow::record(address);
    let mut number = head.load(Ordering::Acquire);
    while number != 0 {
        let place = place(number);
        place.fetch(writes);
        if place.address.load(Ordering::Relaxed) == address {
            let locked = place.lock();
            if place.address.load(Ordering::Relaxed) == address {
                return Some(locked);
            }
            drop(locked);
            number = head.load(Ordering::Acquire);
            continue;
        }
        number = place.next.load(Ordering::Acquire);
    }
    lock_new(address)
}

#[cold]
fn lock_new(address: usize) -> Option<Locked> {
    let number = match FREE.lock().pop() {
        Some(number) => number,
        None => {
            let number = USED.fetch_add(1, Ordering::Relaxed);
            if number as usize >= MOST {
                USED.store(MOST as u32, Ordering::Relaxed);
                return None;
            }
            number
        }
    };
    let new = place(number);
    let locked = new.lock();
    // SAFETY: the place is free and locked by us; what it holds is either zeroed memory or an empty record without
    // anything to drop.
    unsafe { new.record.get().write(Record::new()) };
    new.address.store(address, Ordering::Relaxed);
    let head = shadow::record(address);
    loop {
        let first = head.load(Ordering::Acquire);
        // Somebody may have made it meanwhile.
        let mut other = first;
        while other != 0 {
            let place = place(other);
            if place.address.load(Ordering::Relaxed) == address {
                give_back(number, locked);
                return lock(address);
            }
            other = place.next.load(Ordering::Acquire);
        }
        new.next.store(first, Ordering::Release);
        if head.compare_exchange(first, number, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(locked);
        }
    }
}

/// The record is free afterwards.
fn give_back(number: u32, mut locked: Locked) {
    locked.place.address.store(0, Ordering::Relaxed);
    locked.record().clear();
    locked.wrote();
    drop(locked);
    FREE.lock().push(number);
}

/// Does something with the record of an address, made now if there is none.
pub fn with<R>(address: usize, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
    lock(address).map(|mut locked| work(locked.record()))
}

/// Does something with each record of the word of an address, in turn; and tells what it is about.
pub fn for_each_in_word(address: usize, mut work: impl FnMut(usize, &mut Record)) {
    let mut number = shadow::record(address).load(Ordering::Acquire);
    while number != 0 {
        let place = place(number);
        let mut locked = place.lock();
        let about = place.address.load(Ordering::Relaxed);
        if about & !7 == address & !7 {
            work(about, locked.record());
            // Whoever comes here may begin a new object.
            locked.wrote();
        }
        number = place.next.load(Ordering::Acquire);
    }
}

/// Forgets the records of a range.
pub fn forget(address: usize, length: usize) {
    shadow::for_each_record(address, length, |head| {
        let mut number = head.swap(0, Ordering::AcqRel);
        while number != 0 {
            let place = place(number);
            let locked = place.lock();
            let next = place.next.load(Ordering::Acquire);
            give_back(number, locked);
            number = next;
        }
    });
}

/// Calls `work` with every record in use, while nobody else is inside.
pub fn for_each(mut work: impl FnMut(&mut Record)) {
    let used = USED.load(Ordering::Relaxed).min(MOST as u32);
    for number in 1..used {
        let place = place(number);
        if place.address.load(Ordering::Relaxed) != 0 {
            work(place.lock().record());
        }
    }
}
