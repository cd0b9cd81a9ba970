//! The blocks of the heap, so that a report can say what an address belongs to.

use crate::mapping;
use crate::shadow;
use crate::spin::Spin;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const MOST: usize = 1 << 28;
/// How far back the beginning of a block is looked for.
const FARTHEST: usize = 1 << 22;

/// Calls remembered for each block.
pub const CALLS: usize = 4;

/// A block of the heap.
#[derive(Clone, Copy)]
pub struct Block {
    /// Its first byte.
    pub start: usize,
    /// Its length.
    pub size: usize,
    /// How many bytes the program may use in fact.
    pub usable: usize,
    /// The innermost calls when it was allocated, innermost first; 0 where there are fewer.
    pub calls: [usize; CALLS],
    /// Number of the thread that allocated it.
    pub thread: u32,
}

struct Slot {
    block: Block,
    next: u32,
}

static ARRAY: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());
static USED: AtomicU32 = AtomicU32::new(1);
static FREE: Spin<u32> = Spin::new(0);

/// Reserves the array; whether that was possible.
pub fn reserve() -> bool {
    let array = mapping::map(MOST * size_of::<Slot>()).cast::<Slot>();
    ARRAY.store(array, Ordering::Release);
    !array.is_null()
}

fn slot(number: u32) -> *mut Slot {
    // SAFETY: numbers in use are below `MOST`.
    unsafe { ARRAY.load(Ordering::Relaxed).add(number as usize) }
}

/// A block begins to exist.
pub fn insert(block: Block) {
    let number = {
        let mut free = FREE.lock();
        if *free != 0 {
            let number = *free;
            // SAFETY: the slot is in the list of free ones, which is locked.
            *free = unsafe { (*slot(number)).next };
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
/// asked: it believes whatever it is given, and the program may free what is no block, or no longer.
pub fn usable(start: usize) -> Option<usize> {
    let number = shadow::block(start).load(Ordering::Acquire);
    // SAFETY: the slot was written before its number was stored.
    let block = (number != 0).then(|| unsafe { (*slot(number)).block })?;
    (block.start == start).then_some(block.usable)
}

/// A block ceases to exist.
pub fn remove(start: usize) {
    let number = shadow::block(start).swap(0, Ordering::AcqRel);
    if number != 0 {
        let mut free = FREE.lock();
        // SAFETY: nobody finds the slot any more.
        unsafe { (*slot(number)).next = *free };
        *free = number;
    }
}

/// The block an address lies in.
pub fn containing(address: usize) -> Option<Block> {
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
