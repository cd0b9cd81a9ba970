//! Data races on non-atomic accesses: FastTrack's rules on a cell for each eight bytes.
//!
//! A slot of a cell is one access: thread and the epoch since which it had handed out nothing, which of the eight bytes,
//! and flags. A new access is compared with the
//! slots that share a byte with it; it takes the place of every slot it makes superfluous: one that happens before it,
//! of the same bytes or fewer, and no stronger. (Whoever races with the old one then races with the new one.) Accesses of
//! one thread in one epoch to several bytes of a word share a slot. When four slots are not enough the oldest goes into a list in the word's record, so nothing is ever dropped.
//!
//! Atomic accesses are not kept here but in the record of their location, which is locked at each of them anyway; a
//! slot that says so stands in the cell.
//!
//! Cells are written with compare-and-swap and looked at again afterwards, so that of two accesses at the same moment
//! at least one sees the other.

use crate::records::{self, Record};
use crate::report;
use crate::shadow::{self, Cell, SLOTS};
use crate::this_thread::{self, Watched};
use crate::trace;
use std::sync::atomic::Ordering;

/// Set in a slot of a write.
pub const WRITE: u64 = 1;
/// Set in a slot of an atomic access; only in the lists of records.
pub const ATOMIC: u64 = 2;
/// Set in the one slot that says: look into the word's records.
const ELSEWHERE: u64 = 4;
/// Set in the slot of an access that gives the memory back; never stored.
pub const FREE: u64 = 8;

const MASK_SHIFT: u32 = 8;
const BYTES: u64 = 0xff << MASK_SHIFT;
const TID_SHIFT: u32 = 16;
const EPOCH_SHIFT: u32 = 32;

/// Thread and epoch as they stand in a slot.
#[inline(always)]
pub fn stamp(tid: u16, epoch: u32) -> u64 {
    u64::from(epoch) << EPOCH_SHIFT | u64::from(tid) << TID_SHIFT
}

/// The thread of a slot.
pub fn tid(slot: u64) -> u16 {
    (slot >> TID_SHIFT) as u16
}

/// The epoch of a slot.
pub fn epoch(slot: u64) -> u32 {
    (slot >> EPOCH_SHIFT) as u32
}

/// The bytes of a slot, one bit each.
pub fn bytes(slot: u64) -> u8 {
    (slot >> MASK_SHIFT) as u8
}

/// The bits for `size` bytes at `address`, which lie in one word.
#[inline(always)]
pub fn mask(address: usize, size: usize) -> u64 {
    let bits = if size >= 8 { 0xff } else { (1u64 << size) - 1 };
    (bits << (address & 7)) & 0xff
}

/// A non-atomic access of `size` bytes within one word.
#[inline(always)]
pub fn access(address: usize, size: usize, flags: u64, pc: usize) {
    let thread = this_thread::active();
    if thread.is_null() {
        return;
    }
    let cell = shadow::cell(address);
    // SAFETY: the calling thread's own state.
    let mine = unsafe { (*thread).stamp } | mask(address, size) << MASK_SHIFT | flags;
    // A slot of the same thread and epoch with these bytes says it already; that of a write, also for a read.
    let counts = !(BYTES | WRITE) | mine;
    let said = |slot: usize| cell[slot].load(Ordering::Relaxed) & counts == mine;
    if said(0) || said(1) || said(2) || said(3) {
        return;
    }
    new_access(cell, address, size, mine, pc);
}

/// A non-atomic access of any size at any address.
pub fn access_range(address: usize, length: usize, flags: u64, pc: usize) {
    let mut at = address;
    let end = address.saturating_add(length);
    while at < end {
        let size = (8 - (at & 7)).min(end - at);
        access(at, size, flags, pc);
        at += size;
    }
}

/// Memory is given back: races with accesses that do not happen before, without remembering anything.
pub fn check_free(thread: &mut Watched, address: usize, length: usize, pc: usize) {
    for at in (address & !7..address + length).step_by(8) {
        let cell = shadow::cell(at);
        let mine = thread.stamp | BYTES | WRITE | FREE;
        let slots: [u64; SLOTS] = std::array::from_fn(|slot| cell[slot].load(Ordering::Relaxed));
        if slots == [0; SLOTS] {
            continue;
        }
        if let Some(slot) = slots.into_iter().find(|&slot| races(thread, slot, mine)) {
            report::race(thread, at, 8, mine, slot, pc);
            return;
        }
        if slots.iter().any(|slot| slot & ELSEWHERE != 0) {
            let mut raced = None;
            records::for_each_in_word(at, |_, record| raced = raced.or_else(|| first_race(thread, record, mine)));
            if let Some(slot) = raced {
                report::race(thread, at, 8, mine, slot, pc);
                return;
            }
        }
    }
}

#[inline(never)]
fn new_access(cell: &'static Cell, address: usize, size: usize, mine: u64, pc: usize) {
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    if thread.ignored[(mine & WRITE) as usize] > 0 {
        return;
    }
    let shape = (mine & WRITE) | size_code(size) << trace::SIZE_SHIFT;
    thread.trace.access(pc, address, shape, thread.calls());
    if mine & WRITE != 0 {
        thread.spin.disturbed(address, thread.stack);
    }
    loop {
        let slots: [u64; SLOTS] = std::array::from_fn(|slot| cell[slot].load(Ordering::Relaxed));
        match judge(thread, &slots, mine) {
            Verdict::Races(slot) => {
                report::race(thread, address, size, mine, slot, pc);
                // Remember the new one in its place, so that the same pair is not found at every access.
                let index = slots.iter().position(|&other| other == slot).unwrap_or(0);
                cell[index].store(mine, Ordering::Relaxed);
                return;
            }
            Verdict::Elsewhere => {
                elsewhere(thread, cell, address, size, mine, pc);
                return;
            }
            Verdict::Full => {
                if !spill(cell, &slots, address) {
                    return;
                }
            }
            Verdict::Put(index, others) => {
                let old = slots[index];
                let new = if alike(old, mine) { old | mine } else { mine };
                if cell[index].compare_exchange(old, new, Ordering::SeqCst, Ordering::Relaxed).is_err() {
                    continue;
                }
                for other in 0..SLOTS {
                    if others & 1 << other != 0 {
                        let _ = cell[other].compare_exchange(slots[other], 0, Ordering::Relaxed, Ordering::Relaxed);
                    }
                }
                let unchanged = (0..SLOTS).all(|other| {
                    other == index || {
                        let now = cell[other].load(Ordering::Relaxed);
                        now == slots[other] || now == 0
                    }
                });
                if unchanged {
                    return;
                }
                // Somebody came at the same moment. What was put now is found there again.
            }
        }
    }
}

enum Verdict {
    Races(u64),
    /// Put it into this slot and empty those (bits).
    Put(usize, u8),
    /// All slots are in use.
    Full,
    /// There is more in the records of the word.
    Elsewhere,
}

#[inline(always)]
fn judge(thread: &Watched, slots: &[u64; SLOTS], mine: u64) -> Verdict {
    let mut put = None;
    let mut free = None;
    let mut shared = None;
    let mut empty = 0;
    for (index, &slot) in slots.iter().enumerate() {
        if slot == 0 {
            if free.is_none() {
                free = Some(index);
            }
            continue;
        }
        if alike(slot, mine) {
            shared = Some(index);
            continue;
        }
        if slot & mine & BYTES == 0 {
            continue;
        }
        if slot & ELSEWHERE != 0 {
            return Verdict::Elsewhere;
        }
        if races(thread, slot, mine) {
            return Verdict::Races(slot);
        }
        if superfluous(thread, slot, mine) {
            if put.is_none() {
                put = Some(index);
            } else {
                empty |= 1 << index;
            }
        }
    }
    if let (Some(_), Some(put)) = (shared, put) {
        empty |= 1 << put;
    }
    match shared.or(put).or(free) {
        Some(index) => Verdict::Put(index, empty),
        None => Verdict::Full,
    }
}

/// Whether two slots differ in their bytes only.
#[inline(always)]
fn alike(slot: u64, mine: u64) -> bool {
    (slot ^ mine) & !BYTES == 0
}

/// Whether two accesses conflict and are unordered.
#[inline(always)]
fn races(thread: &Watched, slot: u64, mine: u64) -> bool {
    slot & mine & BYTES != 0
        && (slot | mine) & WRITE != 0
        && slot & mine & ATOMIC == 0
        && slot & ELSEWHERE == 0
        && !thread.clocks.happens_after(tid(slot), epoch(slot))
}

/// Whether `slot`, which does not race with `mine`, need not be kept beside it.
#[inline(always)]
fn superfluous(thread: &Watched, slot: u64, mine: u64) -> bool {
    bytes(slot) & !bytes(mine) == 0
        && slot & WRITE <= mine & WRITE
        && slot & ATOMIC >= mine & ATOMIC
        && thread.clocks.happens_after(tid(slot), epoch(slot))
}

fn first_race(thread: &Watched, record: &Record, mine: u64) -> Option<u64> {
    record.accesses().find(|&slot| races(thread, slot, mine))
}

/// An access to a word of which more is kept in records.
#[cold]
fn elsewhere(thread: &mut Watched, cell: &'static Cell, address: usize, size: usize, mine: u64, pc: usize) {
    let slots: [u64; SLOTS] = std::array::from_fn(|slot| cell[slot].load(Ordering::Relaxed));
    let mut raced = slots.into_iter().find(|&slot| races(thread, slot, mine));
    records::for_each_in_word(address, |about, record| {
        raced = raced.or_else(|| first_race(thread, record, mine));
        if raced.is_none() && record.is_atomic() && mine & WRITE != 0 {
            // Whoever writes an atomic non-atomically begins a new object there.
            if about >= address && about < address + size {
                record.begin_anew();
            }
        }
        record.forget_accesses(|slot| superfluous(thread, slot, mine));
    });
    if let Some(slot) = raced {
        report::race(thread, address, size, mine, slot, pc);
    }
    // The newest accesses stay in the cell, where they are found quickly, beside the marker.
    let old = cell[0].load(Ordering::Relaxed);
    let marked = (0..SLOTS).find(|&slot| slots[slot] & ELSEWHERE != 0);
    let keep = |slot: u64| slot != 0 && slot & ELSEWHERE == 0 && !superfluous(thread, slot, mine);
    let shared = (0..SLOTS).find(|&slot| alike(slots[slot], mine));
    let place = shared.or_else(|| (0..SLOTS).find(|&slot| Some(slot) != marked && !keep(slots[slot])));
    match place {
        Some(place) if shared.is_some() => cell[place].store(slots[place] | mine, Ordering::Relaxed),
        Some(place) => cell[place].store(mine, Ordering::Relaxed),
        None => {
            let first = if marked == Some(0) { 1 } else { 0 };
            let evicted = if first == 0 { old } else { slots[1] };
            records::with(address & !7, |record| record.add_access(evicted));
            cell[first].store(mine, Ordering::Relaxed);
        }
    }
}

/// Makes room in a cell: one slot goes into the word's list, and the marker stands for all bytes.
#[cold]
fn spill(cell: &'static Cell, slots: &[u64; SLOTS], address: usize) -> bool {
    let marked = slots.iter().position(|slot| slot & ELSEWHERE != 0);
    let victim = marked.map_or(SLOTS - 1, |marked| (marked + 1) % SLOTS);
    let spilt = records::with(address & !7, |record| record.add_access(slots[victim]));
    if spilt.is_none() {
        return false;
    }
    match marked {
        Some(marked) => {
            cell[marked].store(BYTES | ELSEWHERE, Ordering::Relaxed);
            cell[victim].store(0, Ordering::Relaxed);
        }
        None => cell[victim].store(BYTES | ELSEWHERE, Ordering::Relaxed),
    }
    true
}

/// An atomic access: compares it with the non-atomic ones in the cell and makes sure that later non-atomic accesses
/// look into the location's record. Returns the access it races with. The location's record is not locked.
#[inline(always)]
pub fn check_atomic(thread: &Watched, address: usize, mine: u64) -> Option<u64> {
    let cell = shadow::cell(address);
    let first = cell[0].load(Ordering::Relaxed);
    if first & ELSEWHERE != 0
        && !first & mine & BYTES == 0
        && cell[1].load(Ordering::Relaxed) == 0
        && cell[2].load(Ordering::Relaxed) == 0
        && cell[3].load(Ordering::Relaxed) == 0
    {
        return None;
    }
    check_atomic_slowly(thread, cell, address, mine)
}

/// The slot of an atomic access now.
#[inline(always)]
pub fn atomic_slot(thread: &Watched, address: usize, size: usize, flags: u64) -> u64 {
    thread.stamp | mask(address, size) << MASK_SHIFT | flags | ATOMIC
}

/// Keeps an atomic access in its location's record.
#[inline(always)]
pub fn note_atomic(thread: &Watched, record: &mut Record, mine: u64) {
    const SAME: u64 = 0xffff_ffff;
    match record.access_like(|slot| slot & SAME == mine & SAME) {
        Some(slot) => *slot = mine,
        None => {
            record.forget_accesses(|slot| superfluous(thread, slot, mine));
            record.add_access(mine);
        }
    }
}

#[inline(never)]
fn check_atomic_slowly(thread: &Watched, cell: &'static Cell, address: usize, mine: u64) -> Option<u64> {
    loop {
        let slots: [u64; SLOTS] = std::array::from_fn(|slot| cell[slot].load(Ordering::Relaxed));
        let raced = slots.into_iter().find(|&slot| races(thread, slot, mine));
        let marked = slots.iter().position(|slot| slot & ELSEWHERE != 0);
        if marked.is_some_and(|marked| !slots[marked] & mine & BYTES == 0) {
            return raced;
        }
        let Some(index) = marked.or_else(|| slots.iter().position(|&slot| slot == 0)) else {
            if !spill(cell, &slots, address) {
                return raced;
            }
            continue;
        };
        let marker = slots[index] | mine & BYTES | ELSEWHERE;
        if cell[index].compare_exchange(slots[index], marker, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
            return raced;
        }
    }
}

/// Sizes as a trace keeps them.
pub fn size_code(size: usize) -> u64 {
    match size {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        _ => 7,
    }
}
