//! A heap whose addresses do not depend on the schedule, for steered runs.
//!
//! Runs of a steered program are compared: what two threads do in another order without conflict must not change where
//! their blocks are. So each thread has a range of its own, and takes its blocks from it one after the other. No block is
//! used twice: a run is short, and an access to freed memory finds nothing new there.
//!
//! A block has its size before it, in the form in which the C library has that of a block it has mapped for itself, so
//! that `malloc_usable_size` answers.

use crate::{mapping, schedule};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the ranges begin: no program, library or stack is there, nor anything of the runtime.
const FIRST: usize = 0x0600_0000_0000;
/// The bytes of a range.
const RANGE: usize = 1 << 30;
/// How many threads have one.
const RANGES: usize = 1 << 10;
const ALIGNMENT: usize = 16;
/// In the word before a block: it was mapped for itself.
const MAPPED: usize = 2;

/// How many bytes each thread has used, which includes those before the first block.
static USED: [AtomicUsize; RANGES] = [const { AtomicUsize::new(0) }; RANGES];

/// A block for the calling thread, of zeros; `None` if it is not steered, or its range is used up.
#[inline(always)]
pub fn allocate(size: usize, alignment: usize) -> Option<usize> {
    if schedule::steer::is_on() { take(schedule::mine()?, size, alignment) } else { None }
}

#[cold]
fn take(thread: usize, size: usize, alignment: usize) -> Option<usize> {
    let used = USED.get(thread)?;
    let range = FIRST + thread * RANGE;
    if used.load(Ordering::Relaxed) == 0 {
        if mapping::map_at(range, RANGE).is_null() {
            return None;
        }
        used.store(ALIGNMENT, Ordering::Relaxed);
    }
    let from = range + used.load(Ordering::Relaxed);
    let block = from.checked_add(ALIGNMENT)?.checked_next_multiple_of(alignment.max(ALIGNMENT))?;
    let whole = size.checked_next_multiple_of(ALIGNMENT)?.max(ALIGNMENT);
    let end = block.checked_add(whole).filter(|end| *end <= range + RANGE)?;
    // SAFETY: between the last block and this one are at least sixteen bytes of the range, which is mapped.
    unsafe { ((block - 8) as *mut usize).write((whole + ALIGNMENT) | MAPPED) };
    used.store(end - range, Ordering::Relaxed);
    Some(block)
}

/// Whether a block is one of these.
#[inline(always)]
pub fn is_one(block: usize) -> bool {
    block.wrapping_sub(FIRST) < RANGE * RANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_disjoint_and_zero_and_know_their_size() {
        let mut ends = 0;
        for (size_wanted, alignment) in [(1, 1), (100, 16), (0, 16), (64, 64), (5, 4096), (24, 8)] {
            let block = take(RANGES - 1, size_wanted, alignment).expect("room");
            assert!(is_one(block) && block.is_multiple_of(alignment.max(16)) && block >= ends + 16);
            // SAFETY: the C library reads the word before a block, which has that size.
            unsafe {
                let size = libc::malloc_usable_size(block as *mut _);
                assert!(size >= size_wanted.max(1) && size < size_wanted + 32);
                let bytes = std::slice::from_raw_parts_mut(block as *mut u8, size);
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.fill(7);
                ends = block + size;
            }
        }
        assert!(take(RANGES - 1, RANGE, 16).is_none() && take(RANGES - 1, usize::MAX - 8, 16).is_none());
        assert!(take(RANGES, 1, 16).is_none(), "more threads than ranges");
        assert!(!is_one(&raw const ends as usize) && !is_one(0));
    }
}
