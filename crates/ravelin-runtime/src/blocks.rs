//! The blocks of the heap, so that a report can say which block an address belongs to.

use crate::mapping;
use crate::shadow;
use crate::spin::Spin;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const MOST: usize = 1 << 28;
/// How far back to search for the beginning of a block.
const FARTHEST: usize = 1 << 22;

/// Calls remembered for each block.
pub const CALLS: usize = 4;

/// A block of the heap.
#[derive(Clone, Copy)]
pub struct HeapBlock {
    /// Its first byte.
    pub start: usize,
    /// Its length.
    pub size: usize,
    /// How many bytes the program may actually use.
    pub usable: usize,
    /// The innermost calls when it was allocated, innermost first; 0 where there are fewer.
    pub calls: [usize; CALLS],
    /// Number of the thread that allocated it.
    pub thread: u32,
}

struct Slot {
    block: HeapBlock,
    next: u32,
}

static ARRAY: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());
static USED: AtomicU32 = AtomicU32::new(1);
static FREE: Spin<FreeSlots> = Spin::new(FreeSlots { first: 0, freed: [NO_BLOCK; FREED], next: 0 });
const NO_BLOCK: HeapBlock = HeapBlock { start: 0, size: 0, usable: 0, calls: [0; CALLS], thread: 0 };

/// Of how many blocks that were freed last it is remembered where they were allocated.
const FREED: usize = 1 << 10;

/// What is known about blocks that do not exist.
struct FreeSlots {
    /// The first slot that can be used again; 0 if there is none.
    first: u32,
    freed: [HeapBlock; FREED],
    /// Where the next one is put.
    next: usize,
}

/// Reserves the array, and returns whether that was possible.
pub fn reserve() -> bool {
    let array = mapping::map(MOST * size_of::<Slot>()).cast::<Slot>();
    ARRAY.store(array, Ordering::Release);
    !array.is_null()
}

fn slot(number: u32) -> *mut Slot {
    // SAFETY: numbers in use are below `MOST`.
    unsafe { ARRAY.load(Ordering::Relaxed).add(number as usize) }
}

/// Adds a new block.
pub fn insert(block: HeapBlock) {
    let number = {
        let mut free = FREE.lock();
        if free.first != 0 {
            let number = free.first;
            // SAFETY: the slot is in the list of free ones, which is locked.
            free.first = unsafe { (*slot(number)).next };
            number
        } else {
            USED.fetch_add(1, Ordering::Relaxed)
        }
    };
    if number as usize >= MOST {
        USED.store(MOST as u32, Ordering::Relaxed);
        return;
    }
    // SAFETY: the slot is ours.
    unsafe { slot(number).write(Slot { block, next: 0 }) };
    shadow::block(block.start).store(number, Ordering::Release);
}

/// How many bytes belong to the block that begins at an address; `None` if there is no such block. The allocator is not
/// asked, because it trusts its argument: the program may free something that is not a block, or no longer one.
pub fn usable(start: usize) -> Option<usize> {
    let number = shadow::block(start).load(Ordering::Acquire);
    // SAFETY: the slot was written before its number was stored.
    let block = (number != 0).then(|| unsafe { (*slot(number)).block })?;
    (block.start == start).then_some(block.usable)
}

/// Removes a block.
pub fn remove(start: usize) {
    let number = shadow::block(start).swap(0, Ordering::AcqRel);
    if number != 0 {
        let mut free = FREE.lock();
        // SAFETY: no lookup finds the slot any more.
        let block = unsafe {
            (*slot(number)).next = free.first;
            (*slot(number)).block
        };
        free.first = number;
        let next = free.next;
        free.freed[next] = block;
        free.next = (next + 1) % FREED;
    }
}

/// The block that an address lay in and that was freed last, if that was not long ago.
pub fn freed(address: usize) -> Option<HeapBlock> {
    let free = FREE.lock();
    let (newer, older) = free.freed.split_at(free.next);
    let mut latest_first = newer.iter().rev().chain(older.iter().rev());
    latest_first.find(|block| (block.start..block.start + block.usable).contains(&address)).copied()
}

/// No other thread is in the middle of a change until [`unlock`]: the process is about to be copied.
pub fn lock() {
    FREE.close();
}

/// See [`lock`].
pub fn unlock() {
    // SAFETY: `lock` has closed it.
    unsafe { FREE.open() };
}

/// The block an address lies in.
pub fn containing(address: usize) -> Option<HeapBlock> {
    let mut start = address & !15;
    let limit = start.saturating_sub(FARTHEST);
    while start > limit {
        let number = shadow::block(start).load(Ordering::Acquire);
        if number != 0 {
            // SAFETY: the slot was written before its number was stored; it may be reused meanwhile, which the
            // comparison below finds.
            let block = unsafe { (*slot(number)).block };
            return (block.start == start && address < start + block.size).then_some(block);
        }
        start -= 16;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::tests::unused;

    fn of_size(start: usize, size: usize) -> HeapBlock {
        let usable = size.next_multiple_of(16) + 8;
        HeapBlock { start, size, usable, calls: [start + 1, 2, 3, 0], thread: 6 }
    }

    fn start_of(address: usize) -> Option<usize> {
        containing(address).map(|block| block.start)
    }

    #[test]
    fn every_byte_of_a_block_leads_to_it_and_no_byte_beside_it() {
        let start = unused(4096) + 64;
        insert(of_size(start, 100));
        for address in [start, start + 1, start + 16, start + 99] {
            assert_eq!(start_of(address), Some(start), "{}", address - start);
        }
        assert_eq!(start_of(start + 100), None);
        assert_eq!(start_of(start - 1), None);
    }

    #[test]
    fn a_block_comes_back_as_it_was_put_in() {
        let start = unused(64);
        insert(of_size(start, 40));
        let HeapBlock { size, usable, calls, thread, .. } = containing(start + 39).expect("a block");
        assert_eq!((size, usable, calls, thread), (40, 56, [start + 1, 2, 3, 0], 6));
    }

    #[test]
    fn the_nearest_block_before_an_address_counts() {
        let first = unused(4096);
        insert(of_size(first, 64));
        insert(of_size(first + 64, 32));
        assert_eq!(start_of(first + 63), Some(first));
        assert_eq!(start_of(first + 64), Some(first + 64));
        assert_eq!(start_of(first + 96), None);
    }

    #[test]
    fn a_block_that_ceased_to_exist_is_not_found() {
        let start = unused(64);
        insert(of_size(start, 40));
        assert_eq!(usable(start), Some(56));
        remove(start);
        assert_eq!((usable(start), start_of(start)), (None, None));
        remove(start);
        insert(of_size(start, 8));
        assert_eq!(containing(start + 7).map(|block| block.size), Some(8));
        assert_eq!(start_of(start + 8), None);
    }

    #[test]
    fn what_is_kept_of_blocks_that_ceased_to_exist_is_used_again() {
        const TIMES: u32 = 20_000;
        let start = unused(64);
        let before = USED.load(Ordering::Relaxed);
        for _ in 0..TIMES {
            insert(of_size(start, 8));
            insert(of_size(start + 16, 8));
            remove(start);
            remove(start + 16);
        }
        // Other tests take some as well.
        assert!(USED.load(Ordering::Relaxed) - before < TIMES / 2);
    }

    #[test]
    fn only_its_first_byte_tells_how_much_of_a_block_may_be_used() {
        let start = unused(64);
        insert(of_size(start, 40));
        assert_eq!(usable(start + 16), None);
        assert_eq!(usable(start + 8), None, "in the same unit of memory");
    }

    #[test]
    fn the_beginning_of_a_block_is_looked_for_within_a_limit() {
        let start = unused(3 * FARTHEST);
        insert(of_size(start, 3 * FARTHEST));
        assert_eq!(start_of(start + FARTHEST - 1), Some(start));
        assert_eq!(start_of(start + FARTHEST + 16), None);
    }

    #[test]
    fn blocks_come_and_go_in_several_threads_at_once() {
        const TIMES: usize = 500;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let first = unused(64 * TIMES);
                    for time in 0..TIMES {
                        insert(of_size(first + 64 * time, 1 + time % 40));
                        if time % 3 == 0 {
                            remove(first + 64 * time);
                        }
                    }
                    for time in 0..TIMES {
                        let found = containing(first + 64 * time).map(|block| block.size);
                        assert_eq!(found, (time % 3 != 0).then_some(1 + time % 40));
                    }
                });
            }
        });
    }
}
