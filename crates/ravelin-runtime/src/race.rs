//! Data races: compares the accesses of the program with the earlier ones that [`ravelin_clocks::race`] remembers.
//!
//! The cell of a word is in the shadow. Atomic accesses are kept in the record of their location, which is locked at
//! each of them anyway. Accesses for which a cell has no room are kept in the record of the word.

use crate::blocks;
use crate::options;
use crate::records::{self, WordRecord};
use crate::report;
use crate::schedule;
use crate::shadow;
use crate::spin;
use crate::this_thread::{self, WatchedThread};
use crate::trace;
use ravelin_clocks::race::cell::{self, Lists, ShadowCell};
use ravelin_clocks::race::list;
use ravelin_clocks::race::slot::{ATOMIC, BYTES, FREE, WRITE, span};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there was a non-atomic access.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether non-atomic accesses are watched. A Rust program may be built without.
pub fn are_watched() -> bool {
    options::races() && SEEN.load(Ordering::Relaxed)
}

/// A non-atomic access of `size` bytes within one word.
#[inline(always)]
pub fn access(address: usize, size: usize, flags: u64, pc: usize) {
    let thread = this_thread::active();
    if thread.is_null() {
        return;
    }
    if !options::races() {
        return without_races(address, size, flags);
    }
    let cell = shadow::cell(address);
    // SAFETY: the calling thread's own state.
    let mine = unsafe { (*thread).stamp } | span(address & 7, size) | flags;
    if !cell::is_known(cell, mine) {
        new_access(cell, address, size, mine, pc);
    }
}

/// A non-atomic access of at most 16 bytes at any address.
#[inline(always)]
pub fn access_any<const SIZE: usize>(address: usize, flags: u64, pc: usize) {
    if (address & 7) + SIZE <= 8 {
        return access(address, SIZE, flags, pc);
    }
    let thread = this_thread::active();
    if thread.is_null() {
        return;
    }
    if options::races() {
        // SAFETY: the calling thread's own state.
        let stamp = unsafe { (*thread).stamp } | flags;
        let is_known = |at: usize, size: usize| cell::is_known(shadow::cell(at), stamp | span(at & 7, size));
        let (middle, end) = ((address | 7) + 1, address.wrapping_add(SIZE));
        let is_short = end.wrapping_sub(middle) <= 8;
        if is_short && is_known(address, middle - address) && is_known(middle, end - middle) {
            return;
        }
    }
    access_range(address, SIZE, flags, pc);
}

/// A non-atomic access of any size at any address. The thread enters the runtime once, and the trace gets one entry.
#[inline(never)]
pub fn access_range(address: usize, length: usize, flags: u64, pc: usize) {
    /// What fits into the shape of an access in the trace.
    const SHORT: usize = 16;
    if !options::races() {
        return without_races(address, length, flags);
    }
    let thread = this_thread::active();
    if thread.is_null() {
        return;
    }
    let end = address.saturating_add(length);
    // SAFETY: the calling thread's own state.
    let stamp = unsafe { (*thread).stamp } | flags;
    let is_known = |at: usize, size: usize| cell::is_known(shadow::cell(at), stamp | span(at & 7, size));
    let mut at = address;
    while at < end {
        let size = (8 - (at & 7)).min(end - at);
        if !is_known(at, size) {
            break;
        }
        at += size;
    }
    if at >= end {
        return;
    }
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    if thread.ignored[(flags & WRITE) as usize] > 0 {
        return;
    }
    let writes = flags & WRITE != 0;
    if length <= SHORT {
        thread.trace.access(pc, address, trace::shape(writes, false, length), thread.calls());
    } else {
        thread.trace.access_range(pc, address, length, writes, thread.calls());
    }
    if writes {
        thread.spin.disturbed(address, thread.stack);
    }
    for_each_word(at, end, |at, size| {
        if !is_known(at, size) {
            let part = WordPart { address: at, size, whole: length };
            compare(thread, shadow::cell(at), part, stamp | span(at & 7, size), pc);
        }
    });
}

/// What is left of an access if races do not count: a write ends a waiting loop, and begins a new object where an
/// atomic was.
#[inline(always)]
fn without_races(address: usize, length: usize, flags: u64) {
    if flags & WRITE != 0 {
        written_without_races(address, length);
    }
}

#[inline(never)]
fn written_without_races(address: usize, length: usize) {
    let thread = this_thread::active();
    // SAFETY: the calling thread's own state.
    let Some(thread) = (unsafe { thread.as_mut() }) else {
        return;
    };
    thread.spin.disturbed(address, thread.stack);
    let mut has_records = false;
    shadow::for_each_record(address, length, |_| has_records = true);
    if has_records && let Some(_inside) = this_thread::enter() {
        begin_new_objects(address, length);
    }
}

/// A non-atomic write to an atomic begins a new object there.
fn begin_new_objects(address: usize, length: usize) {
    for_each_word(address, address.saturating_add(length), |at, size| {
        records::for_each_in_word(at, |about, record| {
            if record.is_atomic() && (at..at + size).contains(&about) {
                record.begin_new_object();
            }
        });
    });
}

/// Calls `work` with the beginning and the length of each part within one word.
#[inline(always)]
fn for_each_word(address: usize, end: usize, mut work: impl FnMut(usize, usize)) {
    let mut at = address;
    while at < end {
        let size = (8 - (at & 7)).min(end - at);
        work(at, size);
        at += size;
    }
}

/// The part of an access within one word.
#[derive(Clone, Copy)]
struct WordPart {
    address: usize,
    size: usize,
    /// The length of the whole access.
    whole: usize,
}

/// Memory is freed: reports races with accesses that do not happen before, and remembers nothing.
pub fn check_free(thread: &mut WatchedThread, address: usize, length: usize, pc: usize) {
    if !options::freed_memory() {
        return;
    }
    let mine = thread.stamp | BYTES | WRITE | FREE;
    for at in (address & !7..address + length).step_by(8) {
        if let Some(slot) = cell::would_race(shadow::cell(at), &thread.clocks, mine, &WordRecords(at)) {
            let whole = blocks::containing(address).map_or(length, |block| block.size);
            report::race(thread, at, (8, whole), mine, slot, pc);
            return;
        }
    }
}

/// The first `marked` bytes of a block of `size` bytes, about which nothing else is known any more, were freed.
pub fn remember_free(thread: &mut WatchedThread, address: usize, size: usize, marked: usize, pc: usize) {
    if !options::freed_memory() || thread.ignored[WRITE as usize] > 0 {
        return;
    }
    thread.trace.access_range(pc, address, size, true, thread.calls());
    let mine = thread.stamp | BYTES | WRITE | FREE;
    for at in (address & !7..address + marked).step_by(8) {
        if schedule::is_wanted() {
            shadow::touch(at);
        }
        cell::begin(shadow::cell(at), mine);
    }
}

#[inline(never)]
fn new_access(cell: &'static ShadowCell, address: usize, size: usize, mine: u64, pc: usize) {
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    if thread.ignored[(mine & WRITE) as usize] > 0 {
        return;
    }
    thread.trace.access(pc, address, trace::shape(mine & WRITE != 0, false, size), thread.calls());
    if mine & WRITE != 0 {
        thread.spin.disturbed(address, thread.stack);
    }
    compare(thread, cell, WordPart { address, size, whole: size }, mine, pc);
}

/// Compares an access with the remembered ones, and remembers it.
#[inline(always)]
fn compare(thread: &mut WatchedThread, cell: &ShadowCell, part: WordPart, mine: u64, pc: usize) {
    let WordPart { address, size, whole } = part;
    if cell::is_empty(cell) {
        shadow::before_first_write(address);
        SEEN.store(true, Ordering::Relaxed);
    }
    let outcome = cell::access(cell, &thread.clocks, mine, &WordRecords(address & !7));
    if let Some(slot) = outcome.raced {
        report::race(thread, address, (size, whole), mine, slot, pc);
    } else if outcome.met_atomics && mine & WRITE != 0 {
        begin_new_objects(address, size);
    }
}

/// Compares an atomic access with the non-atomic ones, and makes sure that later non-atomic accesses look into the
/// location's record. Returns the access it races with. The location's record is not locked.
#[inline(always)]
pub fn check_atomic(thread: &WatchedThread, address: usize, mine: u64) -> Option<u64> {
    if !options::races() {
        return None;
    }
    cell::check_atomic(shadow::cell(address), &thread.clocks, mine, &WordRecords(address & !7))
}

/// The slot of an atomic access at the current time.
#[inline(always)]
pub fn atomic_slot(thread: &WatchedThread, address: usize, size: usize, flags: u64) -> u64 {
    thread.stamp | span(address & 7, size) | flags | ATOMIC
}

/// Keeps an atomic access in its location's record.
#[inline(always)]
pub fn note_atomic(thread: &WatchedThread, record: &mut WordRecord, mine: u64) {
    if options::races() {
        list::note_atomic(record, &thread.clocks, mine);
    }
}

/// The records of the word at an address.
struct WordRecords(usize);

impl Lists for WordRecords {
    type List = WordRecord;

    fn for_each(&self, mut work: impl FnMut(&mut WordRecord, bool)) {
        records::for_each_in_word(self.0, |about, record| work(record, about == self.0));
    }

    fn spilt<R>(&self, work: impl FnOnce(&mut WordRecord) -> R) -> Option<R> {
        records::with(self.0, work)
    }

    fn marks(&self) {
        if schedule::is_wanted() {
            shadow::touch(self.0);
        }
    }

    fn pause(&self, spins: &mut u32) {
        spin::pause(spins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::findings;
    use crate::interpose::annotations;
    use crate::memory;
    use crate::shadow::tests::unused;
    use crate::sync;
    use crate::threads::{self, tests::beside, tests::watched};
    use ravelin_findings::{AccessKind, FindingRecord};
    use std::sync::atomic::AtomicUsize;

    const READ: u64 = 0;

    /// A place in the program that no other test uses.
    fn new_place() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0x4ace_0000);
        NEXT.fetch_add(16, Ordering::Relaxed)
    }

    /// The races of accesses at a place.
    fn races_at(place: usize) -> Vec<FindingRecord> {
        let is_here = |finding: &FindingRecord| finding.access.stack.first() == Some(&(place as u64));
        findings().findings.into_iter().filter(is_here).collect()
    }

    /// One thread makes an access, given by offset, size and flags. Then another thread, which does not know of it,
    /// makes another access. Returns whether they race.
    fn race(one: (usize, usize, u64), other: (usize, usize, u64)) -> bool {
        findings();
        let (address, place) = (unused(64), new_place());
        watched(|| {
            beside(|| access_range(address + one.0, one.1, one.2, 1));
            access_range(address + other.0, other.1, other.2, place);
        });
        !races_at(place).is_empty()
    }

    #[test]
    fn unordered_accesses_race_if_one_writes_and_they_share_a_byte() {
        for (one, other, expected) in [
            ((0, 4, WRITE), (0, 4, WRITE), true),
            ((0, 4, WRITE), (0, 4, READ), true),
            ((0, 4, READ), (0, 4, WRITE), true),
            ((0, 4, READ), (0, 4, READ), false),
            ((0, 4, WRITE), (3, 1, READ), true),
            ((0, 4, WRITE), (4, 4, WRITE), false),
            ((0, 1, WRITE), (1, 1, WRITE), false),
            ((20, 1, WRITE), (0, 32, READ), true),
            ((20, 1, WRITE), (0, 20, READ), false),
            ((20, 1, WRITE), (21, 20, READ), false),
            ((6, 4, WRITE), (9, 1, WRITE), true),
            ((6, 4, WRITE), (10, 1, WRITE), false),
            ((8, 0, WRITE), (8, 8, WRITE), false),
        ] {
            assert_eq!(race(one, other), expected, "{one:?} and then {other:?}");
        }
    }

    #[test]
    fn a_race_is_told_with_both_accesses() {
        findings();
        let (address, places) = (unused(8), [new_place(), new_place()]);
        let numbers = watched(|| {
            let (other, _) = beside(|| {
                let thread = this_thread::me();
                // SAFETY: the calling thread's own state.
                unsafe { (*thread).enter_function(77, 900) };
                access(address + 4, 2, READ, places[0]);
                threads::own_number()
            });
            access(address, 8, WRITE, places[1]);
            [other, threads::own_number()]
        });
        let [ref found] = races_at(places[1])[..] else { panic!("one race") };
        assert_eq!((found.access.kind, found.other.kind), (AccessKind::PlainWrite, AccessKind::PlainRead));
        assert_eq!((found.access.size, found.other.size), (8, 2));
        assert_eq!([found.other.thread, found.access.thread], numbers);
        assert_eq!(found.access.stack, [places[1] as u64]);
        assert_eq!(found.other.stack, [places[0] as u64, 77]);
        assert_eq!(found.address, address as u64);
    }

    #[test]
    fn of_the_accesses_of_one_epoch_the_one_that_touches_the_same_bytes_is_told() {
        findings();
        let (address, places) = (unused(16), [new_place(), new_place(), new_place()]);
        watched(|| {
            beside(|| {
                access(address, 4, WRITE, places[0]);
                access(address + 4, 4, WRITE, places[1]);
            });
            access(address + 2, 1, READ, places[2]);
        });
        let [ref found] = races_at(places[2])[..] else { panic!("one race") };
        assert_eq!(found.other.stack, [places[0] as u64]);
    }

    #[test]
    fn a_race_is_told_once_for_each_pair_of_places_and_then_counted() {
        findings();
        let (address, place) = (unused(80), new_place());
        watched(|| {
            beside(|| (0..10).for_each(|word| access(address + 8 * word, 8, WRITE, 1)));
            (0..10).for_each(|word| access(address + 8 * word, 8, WRITE, place));
        });
        assert_eq!(races_at(place).iter().map(|race| race.count).collect::<Vec<_>>(), [10]);
    }

    #[test]
    fn accesses_that_a_join_or_a_lock_orders_do_not_race() {
        findings();
        let (address, lock, place) = (unused(8), unused(8), new_place());
        watched(|| {
            let ((), number) = beside(|| access(address, 8, WRITE, 1));
            threads::joined(number);
            access(address, 8, WRITE, place);
            beside(|| {
                access(address, 8, WRITE, place);
                sync::release(lock);
            });
            sync::acquire(lock);
            access(address, 8, WRITE, place);
        });
        assert!(races_at(place).is_empty());
    }

    #[test]
    fn more_readers_than_a_cell_has_room_for_are_all_remembered() {
        for forgotten in 0..8 {
            findings();
            let (address, lock, place) = (unused(8), unused(8), new_place());
            watched(|| {
                for reader in 0..8 {
                    beside(|| {
                        access(address, 8, READ, 1);
                        if reader != forgotten {
                            sync::release_join(lock);
                        }
                    });
                }
                sync::acquire(lock);
                access(address, 8, WRITE, place);
            });
            assert_eq!(races_at(place).len(), 1, "the write is after all readers but number {forgotten}");
        }
    }

    #[test]
    fn giving_back_memory_races_with_accesses_that_are_not_known() {
        findings();
        let (address, place) = (unused(64), new_place());
        watched(|| {
            memory::allocated(address, 64, 64, 1);
            beside(|| access(address + 48, 4, READ, 2));
            memory::freed(address, place);
        });
        let [ref found] = races_at(place)[..] else { panic!("one race") };
        assert_eq!((found.access.kind, found.address), (AccessKind::Free, address as u64 + 48));
    }

    #[test]
    fn accesses_race_with_giving_back_memory_until_it_is_handed_out_again() {
        findings();
        let (address, places) = (unused(64), [new_place(), new_place(), new_place()]);
        watched(|| {
            memory::allocated(address, 60, 64, 1);
            beside(|| {
                memory::freed(address, 2);
                access(address, 4, WRITE, places[0]);
            });
            access(address + 48, 4, READ, places[1]);
            memory::allocated(address, 64, 64, 1);
            access(address + 40, 4, WRITE, places[2]);
        });
        assert!(races_at(places[0]).is_empty(), "the thread that gave it back knows that");
        assert!(races_at(places[2]).is_empty());
        let [ref found] = races_at(places[1])[..] else { panic!("one race") };
        assert_eq!((found.other.kind, found.other.size), (AccessKind::Free, 60));
        assert_eq!(found.other.stack, [2]);
        assert!(matches!(found.place, ravelin_findings::MemoryKind::Heap { size: 60, .. }));
    }

    #[test]
    fn accesses_that_are_to_be_ignored_race_with_nothing() {
        findings();
        for (ignored, read_races, write_races) in [(0, false, true), (1, true, false)] {
            let (address, places) = (unused(16), [new_place(), new_place()]);
            watched(|| {
                beside(|| access_range(address, 16, WRITE, 1));
                this_thread::enter().expect("a watched thread").thread().ignored[ignored] = 1;
                access(address, 8, READ, places[0]);
                access(address + 8, 8, WRITE, places[1]);
            });
            assert_eq!(places.map(|place| !races_at(place).is_empty()), [read_races, write_races]);
        }
    }

    #[test]
    fn races_that_the_program_means_are_not_told() {
        findings();
        let (address, place) = (unused(16), new_place());
        watched(|| {
            annotations::tests::benign(address, 8);
            beside(|| access_range(address, 16, WRITE, 1));
            access(address, 8, WRITE, place);
            assert!(races_at(place).is_empty());
            access(address + 8, 8, WRITE, place);
            assert_eq!(races_at(place).len(), 1);
        });
    }

    #[test]
    fn a_thread_that_is_not_watched_leaves_nothing_in_cells() {
        let address = unused(8);
        access(address, 8, WRITE, 1);
        assert!(shadow::cell(address).iter().all(|slot| slot.load(Ordering::Relaxed) == 0));
    }
}
