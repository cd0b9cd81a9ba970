//! Records of words that are more than plain memory: the clocks of atomic locations, what locks release, and accesses
//! for which a cell has no room.
//!
//! Records live in one reserved array and are found by number. Those of a word form a list that begins in the shadow. A
//! link of the list also says which byte its record is about, and the links are in an array of their own, so that only
//! the wanted record is touched: some programs have eight atomics in a word. A record is locked while it is used. The
//! thread that frees the memory may free the record at any time. After locking a record, a thread therefore checks
//! again that it is still the wanted one.

use crate::lock_order;
use crate::mapping;
use crate::schedule;
use crate::shadow;
use crate::spin::{Spin, pause};
use crate::start_order;
use ravelin_clocks::race::list::AccessList;
use ravelin_clocks::weak::WeakLocation;
use ravelin_clocks::{BufferedLocation, LocationClocks, ReleaseClocks};
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// How many accesses are kept in the record itself.
const NEAR: usize = 2;
/// How many records there is room for.
const MOST: usize = 1 << NUMBER_BITS;
/// The low bits of a link are the number of a record, 0 for none. The bits above are the byte that it is about.
const NUMBER_BITS: u32 = 26;

/// Live locations, and the most so far.
pub static LOCATIONS: AtomicU64 = AtomicU64::new(0);
pub static MOST_LOCATIONS: AtomicU64 = AtomicU64::new(0);

/// A word's record.
#[repr(C)]
pub struct WordRecord {
    /// The first accesses to the bytes of the record, as slots of a cell; 0 for none.
    accesses: [u64; NEAR],
    /// What few words have; there is room for a pointer.
    more: Option<Box<MoreOfWord>>,
    /// What a lock released.
    released: Option<Box<ReleaseClocks>>,
    /// The clocks of an atomic location.
    location: Option<LocationClocks>,
}

#[derive(Default)]
struct MoreOfWord {
    /// Accesses for which there is no room in the record.
    accesses: Vec<u64>,
    /// The values of an atomic location in a weak run.
    values: Option<KnownValues>,
    /// The clocks of an atomic location under x86-TSO.
    buffered: Option<BufferedLocation>,
}

/// What is known of the values of an atomic location in a weak run.
pub enum KnownValues {
    /// All accesses had this size.
    Messages { size: usize, location: WeakLocation },
    /// They had different sizes, or one that has no old values: memory has the only value.
    InMemory,
}

/// A record and what is needed to find and lock it. The layout of a [`Location`] depends on the fields before it.
#[repr(C, align(64))]
pub struct RecordSlot {
    /// Odd while a thread uses the record; grows by two when its content changes for readers.
    turn: AtomicU32,
    /// What the record is about, readable without the lock; 0 if it is free.
    address: AtomicUsize,
    record: UnsafeCell<WordRecord>,
}

/// Cache lines move from core to core at every access to a contended location.
const _: () = assert!(size_of::<RecordSlot>() == 5 * 64);

static ARRAY: AtomicPtr<RecordSlot> = AtomicPtr::new(std::ptr::null_mut());
/// For each record, the link to the next one of the same word.
static LINKS: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());
static USED: AtomicU32 = AtomicU32::new(1);
static FREE: Spin<Vec<u32>> = Spin::new(Vec::new());

/// Reserves the array, and returns whether that was possible.
pub fn reserve() -> bool {
    let length = MOST * size_of::<RecordSlot>();
    let array = mapping::map(length);
    let links = mapping::map(MOST * size_of::<AtomicU32>());
    if array.is_null() || links.is_null() {
        return false;
    }
    // Most programs have few locations and need only the beginning.
    let beginning = mapping::HUGE;
    // SAFETY: within what was mapped just now.
    unsafe { mapping::prefer_huge_pages(array as usize + beginning, length - beginning) };
    LINKS.store(links.cast(), Ordering::Release);
    ARRAY.store(array.cast(), Ordering::Release);
    true
}

impl WordRecord {
    fn new() -> WordRecord {
        WordRecord { accesses: [0; NEAR], more: None, released: None, location: None }
    }

    /// Whether it holds the clocks of an atomic location.
    pub fn is_atomic(&self) -> bool {
        self.location.is_some()
    }

    /// The clocks of the location; `initial` is its value if it is new.
    #[inline(always)]
    pub fn location(&mut self, initial: impl FnOnce() -> u64) -> &mut LocationClocks {
        self.location.get_or_insert_with(|| {
            let alive = LOCATIONS.fetch_add(1, Ordering::Relaxed) + 1;
            MOST_LOCATIONS.fetch_max(alive, Ordering::Relaxed);
            LocationClocks::new(initial())
        })
    }

    /// The clocks of the location, if it has any.
    pub fn location_if_any(&mut self) -> Option<&mut LocationClocks> {
        self.location.as_mut()
    }

    /// Its values in a weak run, if it is an atomic location that was accessed before.
    pub fn values(&mut self) -> Option<&mut KnownValues> {
        self.more.as_mut()?.values.as_mut()
    }

    /// The same; `new` makes them if there are none.
    pub fn values_or(&mut self, new: impl FnOnce() -> KnownValues) -> &mut KnownValues {
        self.more.get_or_insert_default().values.get_or_insert_with(new)
    }

    /// The clocks of the location under x86-TSO; `initial` is its value if it is new.
    pub fn buffered(&mut self, initial: impl FnOnce() -> u64) -> &mut BufferedLocation {
        self.more.get_or_insert_default().buffered.get_or_insert_with(|| BufferedLocation::new(initial()))
    }

    /// The same, if it has any.
    pub fn buffered_if_any(&mut self) -> Option<&mut BufferedLocation> {
        self.more.as_mut()?.buffered.as_mut()
    }

    /// From now on memory has the only value.
    pub fn leave_values_to_memory(&mut self) {
        let values = &mut self.more.get_or_insert_default().values;
        if let (Some(KnownValues::Messages { location, .. }), Some(clocks)) = (&*values, &mut self.location) {
            clocks.continue_newest(location);
        }
        *values = Some(KnownValues::InMemory);
    }

    /// What a lock released.
    pub fn released(&mut self) -> &mut Option<Box<ReleaseClocks>> {
        &mut self.released
    }

    /// A new object begins at this address. The accesses to its bytes stay, because they belong to the memory.
    pub fn begin_new_object(&mut self) {
        if self.location.take().is_some() {
            LOCATIONS.fetch_sub(1, Ordering::Relaxed);
        }
        self.released = None;
        if let Some(more) = &mut self.more {
            more.values = None;
            more.buffered = None;
        }
    }

    /// Whether it holds what a lock, or another object, released.
    fn is_released(&self) -> bool {
        self.released.is_some()
    }

    /// Empties the record.
    fn clear(&mut self) {
        self.begin_new_object();
        self.accesses = [0; NEAR];
        self.more = None;
    }
}

impl AccessList for WordRecord {
    #[inline(always)]
    fn slots(&mut self) -> impl Iterator<Item = &mut u64> {
        let more = self.more.iter_mut().flat_map(|more| more.accesses.iter_mut());
        self.accesses.iter_mut().chain(more)
    }

    fn push(&mut self, access: u64) {
        self.more.get_or_insert_default().accesses.push(access);
    }
}

/// A locked record.
pub struct LockedRecord {
    place: &'static RecordSlot,
    /// The turn to unlock it with.
    turn: u32,
}

impl LockedRecord {
    /// The record.
    #[inline(always)]
    pub fn record(&mut self) -> &mut WordRecord {
        // SAFETY: this thread has locked the place.
        unsafe { &mut *self.place.record.get() }
    }

    /// Lets the next reader see that something changed.
    #[inline(always)]
    pub fn wrote(&mut self) {
        self.turn = self.turn.wrapping_add(2);
    }

    /// Where the record is, and the turn it will have when it is unlocked.
    #[inline(always)]
    pub fn seen(&self) -> (&'static RecordSlot, u32) {
        (self.place, self.turn)
    }
}

impl Drop for LockedRecord {
    #[inline(always)]
    fn drop(&mut self) {
        self.place.turn.store(self.turn, Ordering::Release);
    }
}

impl RecordSlot {
    /// Prefetches all cache lines that an access will need: with many locations each of them is a miss.
    #[inline(always)]
    fn fetch(&self, writes: bool) {
        let place = std::ptr::from_ref(self).cast::<i8>();
        for line in 1..if writes { 5 } else { 4 } {
            // SAFETY: within the place; and prefetching a cache line reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.add(line * 64)) };
        }
    }

    #[inline(always)]
    fn lock(&'static self) -> LockedRecord {
        let turn = self.turn.load(Ordering::Relaxed);
        if turn & 1 == 0 && self.try_lock(turn) {
            return LockedRecord { place: self, turn };
        }
        self.wait()
    }

    #[inline(always)]
    fn try_lock(&self, turn: u32) -> bool {
        self.turn.compare_exchange(turn, turn | 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&'static self) -> LockedRecord {
        let mut spins = 0;
        loop {
            let turn = self.turn.load(Ordering::Relaxed);
            if turn & 1 == 0 && self.try_lock(turn) {
                return LockedRecord { place: self, turn };
            }
            pause(&mut spins);
        }
    }

    /// Whether the record is unchanged since it was unlocked with this turn, and is not in use.
    #[inline(always)]
    pub fn is_at(&self, turn: u32) -> bool {
        self.turn.load(Ordering::Acquire) == turn
    }
}

#[inline(always)]
fn place(number: u32) -> &'static RecordSlot {
    // SAFETY: numbers in use are below `MOST`, and zeroed memory is a valid free place: its record is written before
    // it is used.
    unsafe { &*ARRAY.load(Ordering::Relaxed).add(number as usize) }
}

/// The record that a link leads to; `None` at the end of the list.
#[inline(always)]
fn linked(link: u32) -> Option<&'static RecordSlot> {
    match link & (MOST as u32 - 1) {
        0 => None,
        number => Some(place(number)),
    }
}

/// The link after one that leads to a record.
#[inline(always)]
fn next(link: u32) -> &'static AtomicU32 {
    // SAFETY: there is a link for each number, and any bits are atomics.
    unsafe { &*LINKS.load(Ordering::Relaxed).add((link & (MOST as u32 - 1)) as usize) }
}

/// The link to the record of an address.
#[inline(always)]
fn link_to(number: u32, address: usize) -> u32 {
    number | ((address & 7) as u32) << NUMBER_BITS
}

/// Whether a link leads to a record of the same byte of a word as this address.
#[inline(always)]
fn may_be_of(link: u32, address: usize) -> bool {
    link >> NUMBER_BITS == (address & 7) as u32
}

/// Locks the record of an address, which is created if there is none; `None` if memory has run out.
#[inline(always)]
pub fn lock(address: usize) -> Option<LockedRecord> {
    lock_for(address, false)
}

/// The same for an atomic access.
#[inline(always)]
pub fn lock_for(address: usize, writes: bool) -> Option<LockedRecord> {
    let head = shadow::record(address);
    let mut link = head.load(Ordering::Acquire);
    while let Some(place) = linked(link) {
        if may_be_of(link, address) {
            place.fetch(writes);
            if place.address.load(Ordering::Relaxed) == address {
                let locked = place.lock();
                if place.address.load(Ordering::Relaxed) == address {
                    return Some(locked);
                }
                drop(locked);
                link = head.load(Ordering::Acquire);
                continue;
            }
        }
        link = next(link).load(Ordering::Acquire);
    }
    lock_new(address)
}

#[cold]
fn lock_new(address: usize) -> Option<LockedRecord> {
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
    if schedule::is_wanted() {
        shadow::touch(address);
    }
    let new = place(number);
    let locked = new.lock();
    // SAFETY: the place is free and this thread has locked it. It holds either zeroed memory or an empty record without
    // anything to drop.
    unsafe { new.record.get().write(WordRecord::new()) };
    new.address.store(address, Ordering::Relaxed);
    let head = shadow::record(address);
    loop {
        let first = head.load(Ordering::Acquire);
        // Another thread may have created it meanwhile.
        let mut other = first;
        while let Some(place) = linked(other) {
            if may_be_of(other, address) && place.address.load(Ordering::Relaxed) == address {
                give_back(number, locked);
                return lock(address);
            }
            other = next(other).load(Ordering::Acquire);
        }
        let link = link_to(number, address);
        next(link).store(first, Ordering::Release);
        if head.compare_exchange(first, link, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(locked);
        }
    }
}

/// Frees the record.
fn give_back(number: u32, mut locked: LockedRecord) {
    locked.place.address.store(0, Ordering::Relaxed);
    locked.record().clear();
    locked.wrote();
    drop(locked);
    FREE.lock().push(number);
}

/// Does something with the record of an address, which is created if there is none.
pub fn with<R>(address: usize, work: impl FnOnce(&mut WordRecord) -> R) -> Option<R> {
    lock(address).map(|mut locked| work(locked.record()))
}

/// Does something with each record of the word of an address, in turn. Passes the address that the record is about.
pub fn for_each_in_word(address: usize, mut work: impl FnMut(usize, &mut WordRecord)) {
    let mut link = shadow::record(address).load(Ordering::Acquire);
    while let Some(place) = linked(link) {
        let mut locked = place.lock();
        let about = place.address.load(Ordering::Relaxed);
        if about & !7 == address & !7 {
            work(about, locked.record());
            // The caller may begin a new object.
            locked.wrote();
        }
        link = next(link).load(Ordering::Acquire);
    }
}

/// Forgets the records of a range.
pub fn forget(address: usize, length: usize) {
    shadow::for_each_record(address, length, |head| {
        let mut link = head.swap(0, Ordering::AcqRel);
        while let Some(place) = linked(link) {
            let mut locked = place.lock();
            let next = next(link).load(Ordering::Acquire);
            let lock = locked.record().is_released().then(|| place.address.load(Ordering::Relaxed));
            give_back(link & (MOST as u32 - 1), locked);
            if let Some(lock) = lock {
                lock_order::forget(lock);
                start_order::forget(lock);
            }
            link = next;
        }
    });
}

/// Calls `work` with every record in use, while no other thread is inside.
pub fn for_each(mut work: impl FnMut(&mut WordRecord)) {
    let used = USED.load(Ordering::Relaxed).min(MOST as u32);
    for number in 1..used {
        let place = place(number);
        if place.address.load(Ordering::Relaxed) != 0 {
            work(place.lock().record());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::tests::unused;
    use ravelin_clocks::ThreadClocks;

    fn number_of(address: usize) -> Option<u32> {
        let mut link = shadow::record(address).load(Ordering::Acquire);
        while linked(link).is_some_and(|place| place.address.load(Ordering::Relaxed) != address) {
            link = next(link).load(Ordering::Acquire);
        }
        (link != 0).then_some(link)
    }

    fn slots(record: &mut WordRecord) -> Vec<u64> {
        record.slots().map(|slot| *slot).filter(|slot| *slot != 0).collect()
    }

    #[test]
    fn an_address_has_one_record_until_it_is_forgotten() {
        let address = unused(8);
        assert_eq!(number_of(address), None);
        with(address, |record| record.push(7)).expect("a record");
        assert_eq!(with(address, slots), Some(vec![7]));
        forget(address, 8);
        assert_eq!(number_of(address), None);
        assert_eq!(with(address, slots), Some(vec![]));
    }

    #[test]
    fn the_bytes_of_a_word_have_records_of_their_own_in_one_list() {
        let word = unused(16);
        for (address, access) in [(word, 1), (word + 4, 2), (word + 8, 3)] {
            with(address, |record| record.push(access)).expect("a record");
        }
        let mut seen = Vec::new();
        for_each_in_word(word + 3, |about, record| seen.push((about, slots(record))));
        seen.sort();
        assert_eq!(seen, [(word, vec![1]), (word + 4, vec![2])]);
    }

    #[test]
    fn a_record_has_room_for_any_number_of_accesses() {
        let address = unused(8);
        with(address, |record| {
            let room = record.slots().count();
            assert_eq!(room, NEAR, "without memory of its own");
            (1..=5).for_each(|access| ravelin_clocks::race::list::add(record, access << 32));
            let mut kept = slots(record);
            kept.sort();
            assert_eq!(kept, (1..=5).map(|access| access << 32).collect::<Vec<u64>>());
        })
        .expect("a record");
    }

    #[test]
    fn a_new_object_has_no_clocks_and_the_accesses_of_its_memory() {
        let address = unused(8);
        with(address, |record| {
            record.push(9);
            record.location(|| 4);
            *record.released() = Some(Box::new(ThreadClocks::new(1, 1).release()));
            assert!(record.is_atomic());
            record.begin_new_object();
            assert!(!record.is_atomic() && record.location_if_any().is_none() && record.released().is_none());
            assert_eq!(slots(record), [9]);
        })
        .expect("a record");
    }

    #[test]
    fn a_location_is_made_once() {
        let address = unused(8);
        with(address, |record| {
            record.location(|| 4);
            record.location(|| panic!("it is there already"));
        })
        .expect("a record");
    }

    #[test]
    fn who_has_seen_a_record_notices_a_write_and_whoever_is_at_it() {
        let mut locked = lock(unused(8)).expect("a record");
        let (place, turn) = locked.seen();
        assert!(!place.is_at(turn), "somebody is at it");
        drop(locked);
        assert!(place.is_at(turn), "nothing has changed");
        locked = place.lock();
        drop(locked);
        assert!(place.is_at(turn), "whoever only reads changes nothing");
        locked = place.lock();
        locked.wrote();
        drop(locked);
        assert!(!place.is_at(turn));
    }

    #[test]
    fn a_record_that_was_given_back_and_used_again_is_not_taken_for_the_old_one() {
        let address = unused(8);
        let (place, turn) = lock(address).expect("a record").seen();
        forget(address, 8);
        assert!(!place.is_at(turn));
        assert_ne!(place.address.load(Ordering::Relaxed), address);
    }

    #[test]
    fn the_records_of_a_range_are_forgotten_and_no_others() {
        for length in [64, 4 << 20] {
            let address = unused(length + 16) + 8;
            let (within, outside) = ([0, 12, length - 1], [address - 1, address + length]);
            let inside = within.map(|offset| address + offset);
            for address in inside.into_iter().chain(outside) {
                lock(address).expect("a record");
            }
            forget(address, length);
            assert_eq!(inside.map(number_of), [None; 3], "of {length}");
            assert!(outside.iter().all(|address| number_of(*address).is_some()), "beside {length}");
        }
    }

    #[test]
    fn a_record_that_somebody_made_meanwhile_is_taken() {
        let address = unused(8);
        with(address, |record| record.push(7)).expect("a record");
        let number = number_of(address);
        assert_eq!(slots(lock_new(address).expect("a record").record()), [7]);
        assert_eq!(number_of(address), number);
        let mut seen = 0;
        for_each_in_word(address, |_, _| seen += 1);
        assert_eq!(seen, 1);
    }

    #[test]
    fn threads_that_make_a_record_at_once_share_it_and_hold_it_in_turn() {
        const TIMES: u64 = 300;
        let first = unused(8 * TIMES as usize);
        let start = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for thread in 1..=3_u64 {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    for time in 0..TIMES {
                        let address = first + 8 * time as usize;
                        with(address, |record| record.push(thread << 32)).expect("a record");
                    }
                });
            }
        });
        for time in 0..TIMES {
            let mut kept = with(first + 8 * time as usize, slots).expect("a record");
            kept.sort();
            assert_eq!(kept, [1 << 32, 2 << 32, 3 << 32], "{time}");
        }
    }

    #[test]
    fn a_record_that_is_forgotten_while_others_look_for_it_is_never_shared_with_another_address() {
        const TIMES: usize = 2_000;
        let addresses = [unused(8), unused(8)];
        std::thread::scope(|scope| {
            for address in addresses {
                scope.spawn(move || {
                    for time in 1..=TIMES as u64 {
                        let mark = (address as u64) << 16 | time;
                        with(address, |record| record.push(mark)).expect("a record");
                        let found = with(address, slots).expect("a record");
                        assert_eq!(found, [mark]);
                        forget(address, 8);
                    }
                });
            }
        });
    }
}
