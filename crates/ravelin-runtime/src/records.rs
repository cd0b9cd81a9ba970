//! What is kept for words that are more than plain memory: the clocks of atomic locations, what locks hand on, and
//! accesses for which a cell has no room.
//!
//! Records live in one reserved array and are found by number; those of a word form a list that begins in the shadow. A
//! record is locked while it is used. It may be given back at any time by whoever frees the memory, so after locking
//! one it is looked at again whether it is still the one that was wanted.

use crate::mapping;
use crate::shadow;
use crate::spin::{RawSpin, Spin};
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
    released: Option<Released>,
    /// Accesses to the bytes of the record, as slots of a cell.
    accesses: Vec<u64>,
}

struct Place {
    lock: RawSpin,
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
    pub fn released(&mut self) -> &mut Option<Released> {
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
pub struct Locked(&'static Place);

impl Locked {
    /// The record.
    #[inline(always)]
    pub fn record(&mut self) -> &mut Record {
        // SAFETY: the place is locked by us.
        unsafe { &mut *self.0.record.get() }
    }
}

impl Drop for Locked {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.lock.unlock();
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
            place.lock.lock();
            if place.address.load(Ordering::Relaxed) == address {
                return Some(Locked(place));
            }
            place.lock.unlock();
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
    new.lock.lock();
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
                give_back(number, new);
                return lock(address);
            }
            other = place.next.load(Ordering::Acquire);
        }
        new.next.store(first, Ordering::Release);
        if head.compare_exchange(first, number, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(Locked(new));
        }
    }
}

/// The place is locked; it is free and open afterwards.
fn give_back(number: u32, place: &'static Place) {
    place.address.store(0, Ordering::Relaxed);
    // SAFETY: the place is locked by us.
    let record = unsafe { &mut *place.record.get() };
    record.begin_anew();
    place.lock.unlock();
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
        place.lock.lock();
        let mut locked = Locked(place);
        if place.address.load(Ordering::Relaxed) & !7 == address & !7 {
            work(locked.record());
        }
        number = place.next.load(Ordering::Acquire);
    }
}

/// Does something with the record of exactly this address, if there is one, or with the first of its word.
pub fn find<R>(address: usize, mut work: impl FnMut(&mut Record) -> R) -> Option<R> {
    let mut result = None;
    for_each_in_word(address, |record| {
        if result.is_none() {
            result = Some(work(record));
        }
    });
    result
}

/// Forgets the records of a range.
pub fn forget(address: usize, length: usize) {
    let mut at = address & !7;
    let end = address.saturating_add(length);
    while at < end {
        let head = shadow::record(at);
        if head.load(Ordering::Relaxed) != 0 {
            let mut number = head.swap(0, Ordering::AcqRel);
            while number != 0 {
                let place = place(number);
                place.lock.lock();
                let next = place.next.load(Ordering::Acquire);
                give_back(number, place);
                number = next;
            }
        }
        at += 8;
    }
}

/// Calls `work` with every record in use, while nobody else is inside.
pub fn for_each(mut work: impl FnMut(&mut Record)) {
    let used = USED.load(Ordering::Relaxed).min(MOST as u32);
    for number in 1..used {
        let place = place(number);
        if place.address.load(Ordering::Relaxed) != 0 {
            place.lock.lock();
            work(Locked(place).record());
        }
    }
}
