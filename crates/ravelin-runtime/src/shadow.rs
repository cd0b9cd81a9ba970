//! Where the runtime keeps what it knows about the program's memory.
//!
//! Three arrays stand for the whole address space, at fixed addresses between the program and its libraries; pages of
//! them exist only where something was written. Only the low 44 bits of an address count: programs (0x55…, or the lowest
//! 4 GB), and libraries and stacks (0x7e… and 0x7f…) differ in bits 40 to 43, and `ravelin run` switches off the
//! randomisation that could push them further.
//!
//! | array | for each | holds |
//! | --- | --- | --- |
//! | cells | 8 bytes | the last non-atomic accesses ([`crate::race`]) |
//! | records | 8 bytes | number of the first [`crate::records::Record`]: atomics, locks |
//! | blocks | 16 bytes | number of the heap block that begins here ([`crate::blocks`]) |

use crate::kernel;
use crate::mapping;
use ravelin_clocks::race::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

const BITS: u32 = 44;
const MASK: usize = (1 << BITS) - 1;

const CELLS: usize = 0x1000_0000_0000;
const CELLS_LENGTH: usize = (1 << BITS) * 4;
const RECORDS: usize = 0x6000_0000_0000;
const RECORDS_LENGTH: usize = (1 << BITS) / 2;
const BLOCKS: usize = 0x6800_0000_0000;
const BLOCKS_LENGTH: usize = (1 << BITS) / 4;

const PAGE: usize = 4096;

/// Reserves the arrays; whether that was possible.
pub fn reserve() -> bool {
    [(CELLS, CELLS_LENGTH), (RECORDS, RECORDS_LENGTH), (BLOCKS, BLOCKS_LENGTH)].into_iter().all(|(address, length)| {
        let block = mapping::map_at(address, length);
        if !block.is_null() {
            // SAFETY: only tells the kernel that these pages do not belong into a core file.
            unsafe { kernel::call(libc::SYS_madvise, [block as usize, length, libc::MADV_DONTDUMP as usize]) };
        }
        !block.is_null()
    })
}

/// The cell of an address.
#[inline(always)]
pub fn cell(address: usize) -> &'static Cell {
    let at = CELLS + ((address & MASK) & !7) * 4;
    // SAFETY: within the reserved array by the mask, aligned, and any bits are atomics.
    unsafe { &*(at as *const Cell) }
}

/// Where the number of the first record of an address's word is.
#[inline(always)]
pub fn record(address: usize) -> &'static AtomicU32 {
    let at = RECORDS + ((address & MASK) >> 3) * 4;
    // SAFETY: within the reserved array by the mask, aligned, and any bits are atomics.
    unsafe { &*(at as *const AtomicU32) }
}

/// Where the number of a heap block is.
#[inline(always)]
pub fn block(address: usize) -> &'static AtomicU32 {
    let at = BLOCKS + ((address & MASK) >> 4) * 4;
    // SAFETY: within the reserved array by the mask, aligned, and any bits are atomics.
    unsafe { &*(at as *const AtomicU32) }
}

/// Calls `work` with every number of a record in a range that is not 0. Pages that were never written are passed over.
pub fn for_each_record(address: usize, length: usize, mut work: impl FnMut(&'static AtomicU32)) {
    /// Looking for pages that exist pays for ranges longer than this.
    const LONG: usize = 1 << 15;
    let start = RECORDS + ((address & MASK) >> 3) * 4;
    let end = RECORDS + (((address & MASK) + length).div_ceil(8)) * 4;
    let mut within = |from: usize, to: usize| {
        for at in (from..to).step_by(4) {
            // SAFETY: within the reserved array, aligned, and any bits are atomics.
            let head = unsafe { &*(at as *const AtomicU32) };
            if head.load(Ordering::Relaxed) != 0 {
                work(head);
            }
        }
    };
    if end - start < LONG {
        return within(start, end);
    }
    let mut exists = [0u8; 256];
    let mut page = start & !(PAGE - 1);
    while page < end {
        let pages = (end - page).div_ceil(PAGE).min(exists.len());
        // SAFETY: the array of answers has room for that many pages, all of which are reserved.
        let asked = unsafe { kernel::call(libc::SYS_mincore, [page, pages * PAGE, exists.as_mut_ptr() as usize]) };
        for (index, exists) in exists.iter().enumerate().take(pages) {
            if asked != 0 || exists & 1 != 0 {
                let from = page + index * PAGE;
                within(from.max(start), (from + PAGE).min(end));
            }
        }
        page += pages * PAGE;
    }
}

/// Empties the cells of a range of whole words.
pub fn clear_cells(address: usize, length: usize) {
    clear(CELLS + ((address & MASK) & !7) * 4, length.div_ceil(8) * 32);
}

fn clear(start: usize, length: usize) {
    const LARGE: usize = 1 << 17;
    let end = start + length;
    let (first, last) = (start.next_multiple_of(PAGE), end & !(PAGE - 1));
    // SAFETY: the range lies in a reserved array, whose content may be zeroed at any time.
    unsafe {
        if length < LARGE {
            std::ptr::write_bytes(start as *mut u8, 0, length);
        } else {
            std::ptr::write_bytes(start as *mut u8, 0, first - start);
            mapping::clear_pages(first, last - first);
            std::ptr::write_bytes(last as *mut u8, 0, end - last);
        }
    }
}
