//! The accesses to a word: a cell of four slots, and lists elsewhere for what the cell has no room for.
//!
//! A new access is compared with the remembered ones that share a byte with it. It removes from each the bytes that it
//! makes superfluous ([`remainder`]). There is therefore at most one slot per byte, thread and kind of access, however
//! long the program runs. Accesses of one thread in one epoch to several bytes share a slot. When the cell is full, a
//! slot moves to a list, so nothing is ever dropped. The newest accesses stay in the cell, where they are found
//! quickly.
//!
//! Atomic accesses are not kept in the cell but in the list of their location. The first slot of the cell may be the
//! *marker*, which says which bytes have such lists, and of which bytes there are slots that had to leave the cell. Words
//! that many threads read are the usual reason for that, so a thread that reads such a word again and finds its last
//! read in the cell does not look into the list.
//!
//! A bit of the first slot is the cell's lock: an access takes it with one atomic instruction, changes as many slots as
//! it must, and gives it back with a plain store. So of two simultaneous accesses one sees the other.
//!
//! Most words belong to one thread for a long time. While the cell holds only accesses of the thread itself and the
//! first slot is empty, the thread changes the other slots without the lock. The first access of another thread takes
//! the first slot, so both are kept. If they happen at the same moment, neither may see the other; then the next access
//! of either to the word does.
//!
//! Words that several threads read, again and again and each in new epochs, are the next most frequent kind. A thread
//! whose last read is in the cell replaces it by the new one with a single atomic instruction, without the lock
//! ([`renew`]).

use super::list::{self, AccessList};
use super::slot::{ATOMIC, BYTES, EXCEPT_EPOCH, WRITE, alike, bytes, epoch, races, remainder, tid, without};
use crate::thread::ThreadClocks;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots in a cell.
pub const SLOTS: usize = 4;

/// The accesses remembered for eight bytes.
pub type ShadowCell = [AtomicU64; SLOTS];

/// Set in the marker. Its bytes are those of atomic accesses.
const MARKER: u64 = 4;
/// Set in the marker while slots that left the cell are in a list.
const SPILT: u64 = 16;
/// Set in the first slot while a thread works with the cell.
const LOCKED: u64 = 32;
/// From these bits of the marker on: the bytes that writes, and reads, in the list may have. A list is never known to
/// have less than that.
const SPILT_WRITES: u32 = 16;
const SPILT_READS: u32 = 24;
const SPILT_BYTES: u64 = 0xffff << SPILT_WRITES;

/// The lists of one word.
pub trait Lists {
    type List: AccessList;

    /// Calls `work` with each list, while no other thread uses it. The flag is true for the list that slots of the cell
    /// move to.
    fn for_each(&self, work: impl FnMut(&mut Self::List, bool));

    /// Calls `work` with the list that slots of the cell move to, which is created if needed. `None` if memory has run
    /// out.
    fn spilt<R>(&self, work: impl FnOnce(&mut Self::List) -> R) -> Option<R>;

    /// Whether every access looks into the lists, if there are any. What is found does not depend on that: tests compare
    /// both.
    fn always_look(&self) -> bool {
        false
    }

    /// Whether threads replace their own reads without the lock. Which accesses are found to race does not depend on that
    /// for the first race on each byte.
    fn renews(&self) -> bool {
        true
    }

    /// The cell gets its marker, or more bytes in it.
    fn marks(&self) {}

    /// Waits a little for another thread that works with the cell, and longer when called again.
    fn pause(&self, _spins: &mut u32) {
        std::hint::spin_loop();
    }
}

/// The result of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaceCheck {
    /// The access it races with.
    pub raced: Option<u64>,
    /// Some of its bytes are accessed atomically, too.
    pub met_atomics: bool,
}

/// Whether the cell already contains this access, made in the same epoch with these bytes. A write also covers a read.
#[inline(always)]
pub fn is_known(cell: &ShadowCell, mine: u64) -> bool {
    let counts = !(BYTES | WRITE) | mine;
    let said = |slot: usize| cell[slot].load(Ordering::Relaxed) & counts == mine;
    said(0) || said(1) || said(2) || said(3)
}

/// Whether the slot that is used first is empty, as in every cell that was never written.
#[inline(always)]
pub fn is_empty(cell: &ShadowCell) -> bool {
    cell[1].load(Ordering::Relaxed) == 0
}

/// The last write to a byte of the word: its thread and epoch as a slot has them, or 0 if there was none. `None` if it
/// is not in the cell, or if there are several that race.
pub fn last_write(cell: &ShadowCell, byte: usize) -> Option<u64> {
    let mut found = 0;
    for (index, slot) in cell.iter().enumerate() {
        let slot = slot.load(Ordering::Relaxed) & !if index == 0 { LOCKED } else { 0 };
        if index == 0 && slot & MARKER != 0 {
            if slot & 1 << (SPILT_WRITES as usize + byte) != 0 {
                return None;
            }
        } else if slot & WRITE != 0 && bytes(slot) & 1 << byte != 0 {
            if found != 0 {
                return None;
            }
            found = slot & !BYTES;
        }
    }
    Some(found)
}

/// `thread` makes the non-atomic access `mine` now.
#[inline(always)]
pub fn access(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> RaceCheck {
    let (first, others) = unlocked_slots(cell);
    if first == 0 && is_alone(others, mine) && access_alone(cell, others, mine) {
        return RaceCheck::default();
    }
    access_shared(cell, thread, mine, lists)
}

/// [`access`] to a word that is not the thread's own.
#[inline(never)]
fn access_shared(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> RaceCheck {
    if lists.renews() && access_unlocked(cell, thread, mine) {
        return RaceCheck::default();
    }
    access_locked(cell, thread, mine, lists)
}

/// Whether a word belongs to the thread of `mine` so far. `others` are the slots after the first, which is empty.
#[inline(always)]
fn is_alone([one, two, three]: [u64; SLOTS - 1], mine: u64) -> bool {
    let is_own = |slot: u64| slot == 0 || tid(slot) == tid(mine);
    one | two | three != 0 && is_own(one) & is_own(two) & is_own(three)
}

/// The access `mine` to a word that belongs to its thread so far. Returns false, and changes nothing, if there is no
/// room.
// Here and below, slots are in variables: an array would be written to the stack and read again at once, which takes
// longer than all the rest.
#[inline(always)]
fn access_alone(cell: &ShadowCell, [one, two, three]: [u64; SLOTS - 1], mine: u64) -> bool {
    // What a thread did before happens before what it does now.
    let rest = |slot: u64| if slot & WRITE <= mine & WRITE { without(slot, mine) } else { slot };
    let (one_left, two_left, three_left) = (rest(one), rest(two), rest(three));
    let (place, stored) = if alike(one, mine) {
        (1, one | mine)
    } else if alike(two, mine) {
        (2, two | mine)
    } else if alike(three, mine) {
        (3, three | mine)
    } else if one_left == 0 {
        (1, mine)
    } else if two_left == 0 {
        (2, mine)
    } else if three_left == 0 {
        (3, mine)
    } else {
        return false;
    };
    let leave = |index: usize, slot: u64, left: u64| {
        if left != slot && index != place {
            cell[index].store(left, Ordering::Relaxed);
        }
    };
    leave(1, one, one_left);
    leave(2, two, two_left);
    leave(3, three, three_left);
    cell[place].store(stored, Ordering::Relaxed);
    true
}

/// The access `mine` by a single atomic instruction, without the lock: the first access to the word, or a read that races
/// with nothing in the cell and replaces or extends an earlier read of its thread, or finds an empty slot. Returns false
/// if it is none of these, or if another thread works with the cell; then the access must be made with the lock, whatever
/// was stored here.
///
/// A thread that has the lock compares its access with the slots that it found, and may overwrite them. So the cell is
/// looked at again after the slot was replaced. If it was unlocked all the time, every later owner of the lock finds the
/// new slot. If it was locked and unlocked in between, the owner has stored its access, so some slot differs.
#[inline(always)]
fn access_unlocked(cell: &ShadowCell, thread: &ThreadClocks, mine: u64) -> bool {
    let (first, [one, two, three]) = unlocked_slots(cell);
    let (place, slot, stored) = if first | one | two | three == 0 {
        // Not the first slot: the word belongs to the thread now.
        (1, 0, mine)
    } else if mine & WRITE == 0
        && first & LOCKED == 0
        && let Some(read) = renewed([first, one, two, three], thread, mine)
            .or_else(|| read_unlocked([first, one, two, three], thread, mine))
    {
        read
    } else {
        return false;
    };
    if cell[place].compare_exchange(slot, stored, Ordering::SeqCst, Ordering::Relaxed).is_err() {
        return false;
    }
    let (first_now, [one_now, two_now, three_now]) = unlocked_slots(cell);
    let is_expected = |index: usize, before: u64, now: u64| now == if index == place { stored } else { before };
    is_expected(0, first, first_now)
        && is_expected(1, one, one_now)
        && is_expected(2, two, two_now)
        && is_expected(3, three, three_now)
}

/// [`read_unlocked`] for a read of the same bytes as one in an earlier epoch, which is the most frequent one.
#[inline(always)]
fn renewed([first, one, two, three]: [u64; SLOTS], thread: &ThreadClocks, mine: u64) -> Option<(usize, u64, u64)> {
    let is_same = |slot: u64| (slot ^ mine) & EXCEPT_EPOCH == 0;
    let (place, slot) = if is_same(one) {
        (1, one)
    } else if is_same(two) {
        (2, two)
    } else if is_same(three) {
        (3, three)
    } else if is_same(first) {
        (0, first)
    } else {
        return None;
    };
    // The same thread may have read other bytes in this epoch: then the two share a slot.
    let stays = |slot: u64| !alike(slot, mine) && !races(thread, slot, mine);
    let is_first_quiet = if first & MARKER != 0 { !looks(first, mine, mine) } else { stays(first) };
    (is_first_quiet && stays(one) && stays(two) && stays(three)).then_some((place, slot, mine))
}

/// Which slot the read `mine` changes, what it is and what it becomes, if nothing else has to be done. A read that is new
/// to the cell removes what it makes superfluous, which takes the lock: otherwise cells would fill with old reads.
#[inline(never)]
fn read_unlocked(
    [first, one, two, three]: [u64; SLOTS],
    thread: &ThreadClocks,
    mine: u64,
) -> Option<(usize, u64, u64)> {
    let is_marked = first & MARKER != 0;
    let head = if is_marked { 0 } else { first };
    if races(thread, head, mine) || races(thread, one, mine) || races(thread, two, mine) || races(thread, three, mine) {
        return None;
    }
    let is_own = |slot: u64| (slot ^ mine) & (EXCEPT_EPOCH & !BYTES) == 0;
    let own_reads = |slot: u64| if is_own(slot) { slot & BYTES } else { 0 };
    let all_own = own_reads(head) | own_reads(one) | own_reads(two) | own_reads(three);
    if is_marked && looks(first, mine, all_own) {
        return None;
    }
    // Slots of the thread's reads that share an epoch or bytes with this one: there must be one at most, of the same
    // bytes or of the same epoch.
    let concerned = |slot: u64| is_own(slot) && (alike(slot, mine) || slot & mine & BYTES != 0);
    let mut own = None;
    let mut consider = |index: usize, slot: u64| {
        let fits = !concerned(slot) || own.is_none() && (alike(slot, mine) || (slot ^ mine) & BYTES == 0);
        if concerned(slot) {
            own = Some((index, slot, if alike(slot, mine) { slot | mine } else { mine }));
        }
        fits
    };
    if !(consider(0, head) && consider(1, one) && consider(2, two) && consider(3, three)) {
        return None;
    }
    let superseded = |slot: u64| slot & WRITE == 0 && !is_own(slot) && remainder(thread, slot, mine) != slot;
    if superseded(head) || superseded(one) || superseded(two) || superseded(three) {
        return None;
    }
    // An empty first slot is taken first: that keeps a thread from taking the word for its own.
    let free = if first == 0 {
        Some(0)
    } else if one == 0 {
        Some(1)
    } else if two == 0 {
        Some(2)
    } else if three == 0 {
        Some(3)
    } else {
        None
    };
    own.or_else(|| free.map(|place| (place, 0, mine)))
}

/// The first slot and then the others, without the lock. In this order: a thread that empties the first slot has changed
/// the others before, and what it left there is seen.
#[inline(always)]
fn unlocked_slots(cell: &ShadowCell) -> (u64, [u64; SLOTS - 1]) {
    let first = cell[0].load(Ordering::Acquire);
    (first, [1, 2, 3].map(|index: usize| cell[index].load(Ordering::Relaxed)))
}

/// The same as [`access`], with the lock in any case.
#[inline(never)]
pub fn access_locked(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> RaceCheck {
    let mut cell = LockedCell::new(cell, lists);
    let mut outcome = RaceCheck::default();
    let marked = cell.marked();
    // Another thread may be working with the other slots without the lock.
    let unguarded = cell.slots[0] == 0;
    let (mut shared, mut free, mut others) = (None, None, false);
    // The bytes of the thread's own reads in the cell.
    let mut own_reads = 0;
    for index in (usize::from(marked != 0)..SLOTS).rev() {
        let mut slot = cell.slots[index];
        if slot & WRITE == 0 && tid(slot) == tid(mine) {
            own_reads |= slot & BYTES;
        }
        if alike(slot, mine) {
            shared = Some(index);
            continue;
        }
        while slot & mine & BYTES != 0 {
            let mut left = remainder(thread, slot, mine);
            let raced = outcome.raced.is_none() && races(thread, slot, mine);
            if raced {
                // The new one takes its place, so that the same pair is not found at every access.
                left = without(slot, mine);
            }
            match cell.replace(index, slot, left, unguarded) {
                Ok(()) => {
                    outcome.raced = outcome.raced.or(raced.then_some(slot));
                    slot = left;
                    break;
                }
                Err(now) => slot = now,
            }
        }
        if slot == 0 {
            free = if index > 0 { Some(index) } else { free };
        } else if tid(slot) != tid(mine) {
            others = true;
        }
    }
    // The first slot keeps a thread from taking the word for its own.
    if cell.slots[0] == 0 && (others || free.is_none()) {
        free = Some(0);
    }
    let place = match (shared, free) {
        (Some(0), Some(free)) if !others => {
            cell.set(free, cell.slots[0]);
            cell.slots[0] = 0;
            Some(free)
        }
        (Some(shared), _) => Some(shared),
        (None, free) => free,
    };
    if let Some(place) = place {
        cell.set(place, cell.slots[place] | mine);
    }
    let mut stored = place.is_some();
    if marked != 0 && (looks(marked, mine, own_reads) || marked & SPILT != 0 && lists.always_look()) {
        look_into_lists(&mut cell, thread, mine, lists, &mut outcome, &mut stored);
    }
    if !stored {
        insert(&mut cell, mine, lists);
    }
    outcome
}

/// Whether the access `mine` must look into the lists: for accesses it may race with, or for an earlier one of its own
/// that it makes superfluous. There is one slot at most per byte, thread and kind of access, so bytes of its own reads
/// in the cell are not in the list.
#[inline(always)]
fn looks(marked: u64, mine: u64, own_reads: u64) -> bool {
    let touched = u64::from(bytes(mine));
    let reads = if mine & WRITE == 0 { touched & !u64::from(bytes(own_reads)) } else { touched };
    marked & (mine & BYTES | touched << SPILT_WRITES | reads << SPILT_READS) != 0
}

/// Whether a slot that left the cell may race with `mine`.
#[inline(always)]
fn spilt_may_race(marked: u64, mine: u64) -> bool {
    let touched = u64::from(bytes(mine));
    let reads = if mine & WRITE == 0 { 0 } else { touched };
    marked & (touched << SPILT_WRITES | reads << SPILT_READS) != 0
}

/// What the marker says about a slot that is in the list.
#[inline(always)]
fn in_marker(slot: u64) -> u64 {
    SPILT | u64::from(bytes(slot)) << if slot & WRITE != 0 { SPILT_WRITES } else { SPILT_READS }
}

/// The part of [`access`] that concerns the lists. If the access is not stored yet, a slot of the cell moves to a list
/// that is there already.
#[inline(never)]
fn look_into_lists(
    cell: &mut LockedCell,
    thread: &ThreadClocks,
    mine: u64,
    lists: &impl Lists,
    outcome: &mut RaceCheck,
    stored: &mut bool,
) {
    outcome.met_atomics = cell.slots[0] & mine & BYTES != 0;
    lists.for_each(|list, is_spilt| {
        if !is_spilt {
            let raced = list::meet(list, thread, mine, 0, |_| ());
            outcome.raced = outcome.raced.or(raced);
            return;
        }
        let victim = (!*stored).then(|| victim(&cell.slots, mine));
        let (mut spilt, added) = (0, victim.map_or(0, |victim| cell.slots[victim]));
        let raced = list::meet(list, thread, mine, added, |slot| {
            if slot & ATOMIC == 0 {
                spilt |= in_marker(slot);
            }
        });
        outcome.raced = outcome.raced.or(raced);
        if let Some(victim) = victim {
            cell.set(victim, mine);
            *stored = true;
        }
        let rest = cell.slots[0] & !(SPILT | SPILT_BYTES) | spilt;
        cell.slots[0] = if rest & (SPILT | BYTES) == 0 { 0 } else { rest };
    });
}

/// Stores an access in a cell that had no room for it, unless memory has run out.
#[cold]
#[inline(never)]
fn insert(cell: &mut LockedCell, mine: u64, lists: &impl Lists) {
    loop {
        if let Some(free) = cell.slots.iter().position(|&slot| slot == 0) {
            return cell.set(free, mine);
        }
        let victim = victim(&cell.slots, mine);
        if !spill(cell, victim, lists) {
            return;
        }
    }
}

/// Forgets everything about a word but one access, which frees it. Threads that use it meanwhile are mistaken already.
pub fn begin(cell: &ShadowCell, mine: u64) {
    cell[1..].iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
    cell[0].store(mine, Ordering::Release);
}

/// `thread` is about to make the atomic access `mine`. Compares it with the non-atomic ones, and makes sure that later
/// non-atomic accesses look into the list of its location. Returns the access it races with. No list of the word is in
/// use.
#[inline(always)]
pub fn check_atomic(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    let first = cell[0].load(Ordering::Acquire);
    if first & (MARKER | LOCKED) != MARKER || !first & mine & BYTES != 0 {
        return mark_atomic(cell, thread, mine, lists);
    }
    // There is nothing to change, so the lock is not needed.
    let others = [1, 2, 3].map(|index: usize| cell[index].load(Ordering::Relaxed));
    if first & SPILT == 0 && others == [0; 3] { None } else { would_race_marked(cell, thread, mine, lists) }
}

/// [`would_race`] where it is needed less often.
#[inline(never)]
fn would_race_marked(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    would_race(cell, thread, mine, lists)
}

#[inline(never)]
fn mark_atomic(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    lists.marks();
    let mut locked = LockedCell::new(cell, lists);
    if locked.marked() == 0 && locked.slots[0] != 0 {
        // The first slot is needed.
        match locked.slots.iter().position(|&slot| slot == 0) {
            Some(free) => {
                locked.set(free, locked.slots[0]);
                locked.slots[0] = 0;
            }
            None => {
                spill(&mut locked, 0, lists);
            }
        }
    }
    if locked.slots[0] == 0 || locked.marked() != 0 {
        locked.slots[0] |= MARKER | mine & BYTES;
    }
    drop(locked);
    would_race(cell, thread, mine, lists)
}

/// The access that `mine` would race with if `thread` made it now; nothing is remembered. An atomic access is not
/// compared with atomic ones.
pub fn would_race(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    let first = cell[0].load(Ordering::Acquire) & !LOCKED;
    let marked = if first & MARKER != 0 { first } else { 0 };
    let others = (1..SLOTS).map(|index| cell[index].load(Ordering::Relaxed));
    let mut slots = (marked == 0).then_some(first).into_iter().chain(others);
    let mut raced = slots.find(|&slot| races(thread, slot, mine));
    let atomics = if mine & ATOMIC == 0 { mine & BYTES } else { 0 };
    if raced.is_none() && (marked & atomics != 0 || spilt_may_race(marked, mine)) {
        lists.for_each(|list, _| raced = raced.or_else(|| list::first_race(list, thread, mine)));
    }
    raced
}

/// A cell that only this thread changes. The first slot is written when this is dropped.
struct LockedCell<'a> {
    cell: &'a ShadowCell,
    slots: [u64; SLOTS],
}

impl<'a> LockedCell<'a> {
    #[inline(always)]
    fn new(cell: &'a ShadowCell, lists: &impl Lists) -> LockedCell<'a> {
        let mut first = cell[0].load(Ordering::Relaxed);
        let mut spins = 0;
        loop {
            if first & LOCKED != 0 {
                lists.pause(&mut spins);
                first = cell[0].load(Ordering::Relaxed);
                continue;
            }
            match cell[0].compare_exchange_weak(first, first | LOCKED, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
        let [one, two, three] = [1, 2, 3].map(|index: usize| cell[index].load(Ordering::SeqCst));
        LockedCell { cell, slots: [first, one, two, three] }
    }

    /// The marker; 0 if there is none.
    #[inline(always)]
    fn marked(&self) -> u64 {
        if self.slots[0] & MARKER != 0 { self.slots[0] } else { 0 }
    }

    /// Changes a slot. If another thread may work with it without the lock (`unguarded`), this fails with what the slot
    /// holds now if that is no longer what it was.
    #[inline(always)]
    fn replace(&mut self, index: usize, slot: u64, with: u64, unguarded: bool) -> Result<(), u64> {
        if with != slot && unguarded {
            self.cell[index].compare_exchange(slot, with, Ordering::Relaxed, Ordering::Relaxed)?;
        }
        if with != slot {
            self.set(index, with);
        }
        Ok(())
    }

    #[inline(always)]
    fn set(&mut self, index: usize, slot: u64) {
        self.slots[index] = slot;
        if index > 0 {
            self.cell[index].store(slot, Ordering::Relaxed);
        }
    }
}

impl Drop for LockedCell<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.cell[0].store(self.slots[0], Ordering::Release);
    }
}

/// Moves a slot of a full cell to the list, and records that in the marker, which takes the first slot if there was
/// none. Returns false if memory has run out.
fn spill(cell: &mut LockedCell, victim: usize, lists: &impl Lists) -> bool {
    let spilt = cell.slots[victim];
    if lists.spilt(|list| list::add(list, spilt)).is_none() {
        return false;
    }
    if cell.marked() == 0 {
        cell.set(victim, cell.slots[0]);
        cell.slots[0] = MARKER | in_marker(spilt);
    } else {
        cell.set(victim, 0);
        cell.slots[0] |= in_marker(spilt);
    }
    true
}

/// The slot that leaves a full cell. It is one of an earlier epoch of the same thread if there is any, which is rarely
/// needed again. Otherwise it varies, because several threads may take turns; but reads leave first, because reads need
/// not be compared with them.
fn victim(slots: &[u64; SLOTS], mine: u64) -> usize {
    let old = |slot: u64| slot & MARKER == 0 && tid(slot) == tid(mine) && epoch(slot) != epoch(mine);
    let start = (mine.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as usize;
    let without = |flags: u64| (start..start + SLOTS).map(|index| index % SLOTS).find(|&at| slots[at] & flags == 0);
    let any = || without(MARKER | WRITE).or_else(|| without(MARKER));
    slots.iter().position(|&slot| old(slot)).or_else(any).unwrap_or(0)
}
