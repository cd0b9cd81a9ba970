//! What is kept for words that are more than plain memory: the clocks of atomic locations, what locks hand on, and
//! accesses for which a cell has no room.
//!
//! Records live in one reserved array and are found by number; those of a word form a list that begins in the shadow. A
//! record is locked while it is used. It may be given back at any time by whoever frees the memory, so after locking
//! one it is looked at again whether it is still the one that was wanted.

use crate::mapping;
use crate::shadow;
use crate::spin::{Spin, pause};
use ravelin_clocks::{Location, Released};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// As many records as there is room for.
const MOST: usize = 1 << 26;

/// Locations alive, and at most so far.
pub static LOCATIONS: AtomicU64 = AtomicU64::new(0);
pub static MOST_LOCATIONS: AtomicU64 = AtomicU64::new(0);

/// A word's record.
pub struct Record {
    address: usize,
    /// The clocks of an atomic location.
    location: Option<Location>,
    /// What a lock hands on.
    released: Option<Box<Released>>,
    /// Accesses to the bytes of the record, as slots of a cell.
    accesses: Vec<u64>,
}

pub struct Place {
    /// Odd while somebody uses the record; grows by two when what is kept in it changes for readers.
    turn: AtomicU32,
    next: AtomicU32,
    /// The record's address again, readable without the lock; 0 if it is free.
    address: AtomicUsize,
    record: UnsafeCell<Record>,
}

static ARRAY: AtomicPtr<Place> = AtomicPtr::new(std::ptr::null_mut());
static USED: AtomicU32 = AtomicU32::new(1);
static FREE: Spin<Vec<u32>> = Spin::new(Vec::new());

/// Reserves the array; whether that was possible.
pub fn reserve() -> bool {
    let array = mapping::map(MOST * size_of::<Place>()).cast::<Place>();
    ARRAY.store(array, Ordering::Release);
    !array.is_null()
}

impl Record {
    fn new(address: usize) -> Record {
        Record { address, location: None, released: None, accesses: Vec::new() }
    }

    /// The address it is about.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Whether it holds the clocks of an atomic location.
    pub fn is_atomic(&self) -> bool {
        self.location.is_some()
    }

    /// The clocks of the location; `initial` is its value if it is new.
    #[inline(always)]
    pub fn location(&mut self, initial: impl FnOnce() -> u64) -> &mut Location {
        let address = self.address as u64;
        self.location.get_or_insert_with(|| {
            let alive = LOCATIONS.fetch_add(1, Ordering::Relaxed) + 1;
            MOST_LOCATIONS.fetch_max(alive, Ordering::Relaxed);
            Location::new(address, initial())
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

    /// The accesses kept here.
    #[inline(always)]
    pub fn accesses(&mut self) -> &mut Vec<u64> {
        &mut self.accesses
    }

    /// The object at this address is a new one.
    pub fn begin_anew(&mut self) {
        if self.location.take().is_some() {
            LOCATIONS.fetch_sub(1, Ordering::Relaxed);
        }
        self.accesses = Vec::new();
        self.released = None;
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
    let head = shadow::record(address);
    let mut number = head.load(Ordering::Acquire);
    while number != 0 {
        let place = place(number);
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
    unsafe { new.record.get().write(Record::new(address)) };
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
    locked.record().begin_anew();
    locked.wrote();
    drop(locked);
    FREE.lock().push(number);
}

/// Does something with the record of an address, made now if there is none.
pub fn with<R>(address: usize, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
    lock(address).map(|mut locked| work(locked.record()))
}

/// Does something with each record of the word of an address, in turn.
pub fn for_each_in_word(address: usize, mut work: impl FnMut(&mut Record)) {
    let mut number = shadow::record(address).load(Ordering::Acquire);
    while number != 0 {
        let place = place(number);
        let mut locked = place.lock();
        if place.address.load(Ordering::Relaxed) & !7 == address & !7 {
            work(locked.record());
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
