//! One remembered access to a word of eight bytes, in 64 bits.
//!
//! | bits | hold |
//! | --- | --- |
//! | 0 to 7 | flags: [`WRITE`], [`ATOMIC`], [`FREE`] |
//! | 8 to 15 | which of the eight bytes |
//! | 16 to 31 | the thread |
//! | 32 to 63 | the epoch since which the thread had released nothing |
//!
//! 0 is no access. Races are defined on single bytes, so a slot can lose some of its bytes and keep the others.

use crate::clock::{Epoch, Tid};
use crate::thread::ThreadClocks;

/// Set in the slot of a write.
pub const WRITE: u64 = 1;
/// Set in the slot of an atomic access; never in a cell.
pub const ATOMIC: u64 = 2;
/// Set in the slot of an access that frees the memory.
pub const FREE: u64 = 8;
/// All bytes of a word.
pub const BYTES: u64 = 0xff << BYTES_SHIFT;

/// Everything but the epoch.
pub const EXCEPT_EPOCH: u64 = (1 << EPOCH_SHIFT) - 1;

const BYTES_SHIFT: u32 = 8;
const TID_SHIFT: u32 = 16;
const EPOCH_SHIFT: u32 = 32;

/// Thread and epoch as encoded in a slot.
#[inline(always)]
pub fn stamp(tid: Tid, epoch: Epoch) -> u64 {
    u64::from(epoch) << EPOCH_SHIFT | u64::from(tid) << TID_SHIFT
}

/// `size` bytes from byte `offset` of the word on, as encoded in a slot; bytes beyond the word do not count.
#[inline(always)]
pub fn span(offset: usize, size: usize) -> u64 {
    let bits = if size >= 8 { 0xff } else { (1u64 << size) - 1 };
    bits << offset << BYTES_SHIFT & BYTES
}

/// The thread of a slot.
#[inline(always)]
pub fn tid(slot: u64) -> Tid {
    (slot >> TID_SHIFT) as Tid
}

/// The epoch of a slot.
#[inline(always)]
pub fn epoch(slot: u64) -> Epoch {
    (slot >> EPOCH_SHIFT) as Epoch
}

/// The bytes of a slot, one bit each.
#[inline(always)]
pub fn bytes(slot: u64) -> u8 {
    (slot >> BYTES_SHIFT) as u8
}

/// Whether two slots differ in their bytes only.
#[inline(always)]
pub fn alike(slot: u64, mine: u64) -> bool {
    (slot ^ mine) & !BYTES == 0
}

/// Whether the access `mine`, which `thread` makes now, conflicts with a remembered one that does not happen before it.
#[inline(always)]
pub fn races(thread: &ThreadClocks, slot: u64, mine: u64) -> bool {
    slot & mine & BYTES != 0
        && (slot | mine) & WRITE != 0
        && slot & mine & ATOMIC == 0
        && !thread.happens_after(tid(slot), epoch(slot))
}

/// What has to be kept of a remembered access beside `mine`, which `thread` makes now; 0 if nothing. A byte of an
/// access that happens before `mine` and is no stronger is superfluous: every access that races with it races with
/// `mine`.
#[inline(always)]
pub fn remainder(thread: &ThreadClocks, slot: u64, mine: u64) -> u64 {
    let superseded = slot & mine & BYTES != 0
        && slot & WRITE <= mine & WRITE
        && slot & ATOMIC >= mine & ATOMIC
        && thread.happens_after(tid(slot), epoch(slot));
    if superseded { without(slot, mine) } else { slot }
}

/// A slot without the bytes of another; 0 if none is left.
#[inline(always)]
pub fn without(slot: u64, other: u64) -> u64 {
    let left = slot & !(other & BYTES);
    if left & BYTES == 0 { 0 } else { left }
}
