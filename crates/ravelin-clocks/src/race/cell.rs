//! The accesses to a word: a cell of four slots, and lists elsewhere for what the cell has no room for.
//!
//! A new access is compared with the remembered ones that share a byte with it. It removes from each the bytes that it
//! makes superfluous ([`remainder`]). There is therefore at most one slot per byte, thread and kind of access, however
//! long the program runs. Accesses of one thread in one epoch to several bytes share a slot. When the cell is full, a
//! slot moves to a list, so nothing is ever dropped. The newest accesses stay in the cell, where they are found
//! quickly.
//!
//! Atomic accesses are not kept in the cell but in the list of their location. One slot of the cell, the *marker*, says
//! which bytes have such lists, and whether there is a list of slots that had to leave the cell.
//!
//! Cells are written with compare-and-swap and read again afterwards, so that of two simultaneous accesses at least one
//! sees the other.

use super::list::{self, AccessList};
use super::slot::{ATOMIC, BYTES, WRITE, alike, epoch, races, remainder, tid, without};
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

/// The lists of one word.
pub trait Lists {
    type List: AccessList;

    /// Calls `work` with each list, while no other thread uses it. The flag is true for the list that slots of the cell
    /// move to.
    fn for_each(&self, work: impl FnMut(&mut Self::List, bool));

    /// Calls `work` with the list that slots of the cell move to, which is created if needed. `None` if memory has run
    /// out.
    fn spilt<R>(&self, work: impl FnOnce(&mut Self::List) -> R) -> Option<R>;
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

/// `thread` makes the non-atomic access `mine` now.
pub fn access(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> RaceCheck {
    let mut outcome = RaceCheck::default();
    loop {
        let mut slots = load(cell);
        let marked = marked(&slots);
        if marked & (SPILT | mine & BYTES) != 0 {
            outcome.met_atomics |= marked & mine & BYTES != 0;
            lists.for_each(|list, is_spilt| {
                outcome.raced = outcome.raced.or_else(|| list::first_race(list, thread, mine));
                list::trim(list, thread, mine);
                if is_spilt {
                    settle_marker(cell, list);
                }
            });
            slots = load(cell);
        }
        let mut left = slots;
        let (mut shared, mut superseded, mut free) = (None, None, None);
        for (index, &slot) in slots.iter().enumerate() {
            if slot == 0 {
                free = free.or(Some(index));
            } else if alike(slot, mine) {
                shared = Some(index);
            } else if slot & MARKER == 0 {
                left[index] = remainder(thread, slot, mine);
                if outcome.raced.is_none() && races(thread, slot, mine) {
                    outcome.raced = Some(slot);
                    // The new one takes its place, so that the same pair is not found at every access.
                    left[index] = without(slot, mine);
                }
                if left[index] == 0 {
                    superseded = superseded.or(Some(index));
                }
            }
        }
        let Some(place) = shared.or(superseded).or(free) else {
            if !make_room(cell, &slots, mine, lists) {
                return outcome;
            }
            continue;
        };
        let new = if shared.is_some() { slots[place] | mine } else { mine };
        if cell[place].compare_exchange(slots[place], new, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            continue;
        }
        let mut unchanged = true;
        for other in (0..SLOTS).filter(|&other| other != place) {
            if left[other] != slots[other] {
                let _ = cell[other].compare_exchange(slots[other], left[other], Ordering::Relaxed, Ordering::Relaxed);
            }
            let now = cell[other].load(Ordering::Relaxed);
            unchanged &= now == left[other] || now == 0;
        }
        if unchanged {
            return outcome;
        }
        // Another thread changed the cell at the same moment. What was stored now is found there again.
    }
}

/// `thread` is about to make the atomic access `mine`. Compares it with the non-atomic ones, and makes sure that later
/// non-atomic accesses look into the list of its location. Returns the access it races with. No list of the word is in
/// use.
#[inline(always)]
pub fn check_atomic(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    let first = cell[0].load(Ordering::Relaxed);
    if first & (MARKER | SPILT) == MARKER
        && !first & mine & BYTES == 0
        && cell[1].load(Ordering::Relaxed) == 0
        && cell[2].load(Ordering::Relaxed) == 0
        && cell[3].load(Ordering::Relaxed) == 0
    {
        return None;
    }
    check_atomic_slowly(cell, thread, mine, lists)
}

#[inline(never)]
fn check_atomic_slowly(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    loop {
        let slots = load(cell);
        if !marked(&slots) & mine & BYTES == 0 {
            return would_race(cell, thread, mine, lists);
        }
        let Some(index) = marker(&slots).or_else(|| slots.iter().position(|&slot| slot == 0)) else {
            if !make_room(cell, &slots, mine, lists) {
                return would_race(cell, thread, mine, lists);
            }
            continue;
        };
        // Marked before the comparison: a concurrent access finds the marker.
        let marker = slots[index] | mine & BYTES | MARKER;
        let _ = cell[index].compare_exchange(slots[index], marker, Ordering::SeqCst, Ordering::Relaxed);
    }
}

/// The access that `mine` would race with if `thread` made it now; nothing is remembered. An atomic access is not
/// compared with atomic ones.
pub fn would_race(cell: &ShadowCell, thread: &ThreadClocks, mine: u64, lists: &impl Lists) -> Option<u64> {
    let slots = load(cell);
    let mut raced = slots.into_iter().find(|&slot| slot & MARKER == 0 && races(thread, slot, mine));
    let atomics = if mine & ATOMIC == 0 { mine & BYTES } else { 0 };
    if raced.is_none() && marked(&slots) & (SPILT | atomics) != 0 {
        lists.for_each(|list, _| raced = raced.or_else(|| list::first_race(list, thread, mine)));
    }
    raced
}

fn load(cell: &ShadowCell) -> [u64; SLOTS] {
    std::array::from_fn(|slot| cell[slot].load(Ordering::Relaxed))
}

fn marker(slots: &[u64; SLOTS]) -> Option<usize> {
    slots.iter().position(|slot| slot & MARKER != 0)
}

/// The content of the marker; if two threads have made one at the same moment, the content of both.
fn marked(slots: &[u64; SLOTS]) -> u64 {
    slots.iter().filter(|slot| **slot & MARKER != 0).fold(0, |marked, slot| marked | slot)
}

/// Makes room in a full cell: one slot moves to the list, and the marker records that. Returns false if memory has run
/// out.
#[cold]
fn make_room(cell: &ShadowCell, slots: &[u64; SLOTS], mine: u64, lists: &impl Lists) -> bool {
    let victim = victim(slots, mine);
    let spilt = lists.spilt(|list| {
        list::add(list, slots[victim]);
        // Done while the list is in use, so that no thread takes the marker for that of an empty list.
        let leaves = match marker(slots) {
            Some(index) => {
                let mark = |now: u64| (now & MARKER != 0).then_some(now | SPILT);
                cell[index].fetch_update(Ordering::SeqCst, Ordering::Relaxed, mark).is_ok().then_some(0)
            }
            None => Some(MARKER | SPILT),
        };
        if let Some(instead) = leaves {
            let _ = cell[victim].compare_exchange(slots[victim], instead, Ordering::SeqCst, Ordering::Relaxed);
        }
    });
    spilt.is_some()
}

/// The slot that leaves a full cell. It is one of an earlier epoch of the same thread if there is any, which is rarely
/// needed again. Otherwise it varies, because several threads may take turns.
fn victim(slots: &[u64; SLOTS], mine: u64) -> usize {
    let old = |slot: u64| slot & MARKER == 0 && tid(slot) == tid(mine) && epoch(slot) != epoch(mine);
    let start = (mine.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as usize;
    let any = || (start..start + SLOTS).map(|index| index % SLOTS).find(|&index| slots[index] & MARKER == 0);
    slots.iter().position(|&slot| old(slot)).or_else(any).unwrap_or(0)
}

/// Clears the flag for spilt slots if the list holds none of them any more. The caller uses the list.
fn settle_marker(cell: &ShadowCell, list: &mut impl AccessList) {
    if list.slots().any(|slot| *slot != 0 && *slot & ATOMIC == 0) {
        return;
    }
    for slot in cell {
        let settle = |now: u64| {
            let rest = now & !SPILT;
            (now & MARKER != 0 && now & SPILT != 0).then_some(if rest & BYTES == 0 { 0 } else { rest })
        };
        let _ = slot.fetch_update(Ordering::SeqCst, Ordering::Relaxed, settle);
    }
}
