//! Allocation and deallocation of the program's memory.

use crate::blocks::{self, CALLS, HeapBlock};
use crate::frees;
use crate::options;
use crate::process;
use crate::race;
use crate::records;
use crate::shadow;
use crate::this_thread;
use crate::threads;

/// At most this many bytes of a block are compared with earlier accesses when it is freed, and with later ones.
const COMPARED: usize = 1024;

/// A call that returns to `pc` has allocated a block of the heap. The program may use `usable` bytes of it.
pub fn allocated(address: usize, size: usize, usable: usize, pc: usize) {
    if address == 0 || threads::is_off() || !process::reserve() {
        return;
    }
    let mut block = HeapBlock { start: address, size, usable, calls: [0; CALLS], thread: 0 };
    block.calls[0] = pc;
    // Threads will share what the first thread allocates before there is another. Blocks of unknown threads are
    // remembered as well, because the thread that frees one must find it.
    let mut inside = this_thread::enter_unwatched();
    if let Some(inside) = &mut inside {
        let thread = inside.thread();
        for (call, frame) in block.calls[1..].iter_mut().zip(thread.calls().iter().rev()) {
            *call = frame.pc;
        }
        block.thread = thread.number as u32;
    }
    // What its memory was freed as before is over. This comes before anybody can use the block.
    if options::freed_memory() && process::is_watching() && shadow::may_be_touched(address, usable) {
        shadow::clear_cells(address, usable);
    }
    blocks::insert(block);
}

/// How many bytes of a block of the heap the program may use; `None` if there is no such block.
pub fn usable(address: usize) -> Option<usize> {
    if address == 0 || !process::reserve() { None } else { blocks::usable(address) }
}

/// A call that returns to `pc` is about to free a block of the heap: its clocks are forgotten. That it was freed is
/// remembered until its memory is handed out again, mapped or used as a stack. An address that is not a block was freed
/// before, or is ignored; the C library will report it.
pub fn freed(address: usize, pc: usize) {
    let Some(size) = usable(address) else {
        frees::again(address, pc);
        return;
    };
    frees::remember(address, blocks::containing(address).map_or(size, |block| block.size), pc);
    let Some(mut inside) = this_thread::enter() else {
        // The block is removed whichever thread frees it: the C library frees thread-local blocks after a thread's end.
        if this_thread::me().is_null() && process::is_watching() {
            blocks::remove(address);
            forget_inside(address, size);
        } else if let Some(_inside) = this_thread::enter_even_hidden() {
            blocks::remove(address);
            forget_inside(address, size);
        } else if let Some(_inside) = this_thread::enter_unwatched() {
            blocks::remove(address);
        }
        return;
    };
    race::check_free(inside.thread(), address, size.min(COMPARED), pc);
    blocks::remove(address);
    forget_inside(address, size);
    race::remember_free(inside.thread(), address, size, size.min(COMPARED), pc);
}

/// A block of the heap is freed by a library that knows when: nothing is compared, and it is forgotten.
pub fn vanishes(address: usize) {
    if let Some(size) = usable(address)
        && let Some(_inside) = this_thread::enter_unwatched()
    {
        blocks::remove(address);
        forget_inside(address, size);
    }
}

/// Memory is unmapped or new (munmap, mmap, a thread's stack): its clocks are forgotten.
pub fn forget(address: usize, length: usize) {
    if let Some(_inside) = this_thread::enter_even_hidden() {
        forget_inside(address, length);
    }
}

/// The same for a thread that is inside.
pub fn forget_inside(address: usize, length: usize) {
    if !shadow::may_be_touched(address, length) {
        return;
    }
    records::forget(address, length);
    shadow::clear_cells(address, length);
}

/// One call that returns to `pc` reads (or writes) `length` bytes.
pub fn range(address: usize, length: usize, write: bool, pc: usize) {
    race::access_range(address, length, u64::from(write), pc);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::tests::unused;
    use crate::threads::tests::watched;
    use ravelin_clocks::race::list::AccessList;
    use ravelin_clocks::race::slot::FREE;
    use std::sync::atomic::Ordering;

    fn has_cell(address: usize) -> bool {
        shadow::cell(address).iter().any(|slot| slot.load(Ordering::Relaxed) != 0)
    }

    fn has_record(address: usize) -> bool {
        shadow::record(address).load(Ordering::Relaxed) != 0
    }

    #[test]
    fn a_block_is_known_with_the_calls_and_the_thread_that_allocated_it() {
        watched(|| {
            let (address, thread) = (unused(64), this_thread::me());
            // SAFETY: the calling thread's own state.
            let number = unsafe {
                (*thread).enter_function(11, 900);
                (*thread).enter_function(12, 800);
                (*thread).number as u32
            };
            allocated(address, 40, 48, 13);
            let block = blocks::containing(address + 39).expect("a block");
            assert_eq!((block.calls, block.thread), ([13, 12, 11, 0], number));
            assert_eq!(usable(address), Some(48));
        });
    }

    #[test]
    fn a_block_of_a_thread_that_is_not_known_is_known_itself() {
        let address = unused(64);
        allocated(address, 40, 48, 13);
        assert_eq!(blocks::containing(address).expect("a block").calls, [13, 0, 0, 0]);
        assert_eq!(usable(0), None);
        allocated(0, 8, 8, 13);
    }

    #[test]
    fn nothing_is_left_of_a_block_that_is_given_back() {
        watched(|| {
            let address = unused(64);
            allocated(address, 40, 48, 13);
            range(address, 48, true, 14);
            records::with(address + 8, |record| record.push(1)).expect("a record");
            assert!(has_cell(address) && has_cell(address + 40) && has_record(address + 8));
            freed(address, 15);
            assert_eq!(usable(address), None);
            let slots = |at| shadow::cell(at).iter().map(|slot| slot.load(Ordering::Relaxed)).collect::<Vec<_>>();
            for at in [address, address + 40] {
                assert!(matches!(slots(at)[..], [freed, 0, 0, 0] if freed & FREE != 0), "only that it was freed");
            }
            assert!(!has_cell(address + 48) && !has_record(address + 8));
        });
    }

    #[test]
    fn giving_back_what_is_no_block_changes_nothing() {
        watched(|| {
            let address = unused(64);
            range(address, 8, true, 14);
            allocated(address + 16, 16, 16, 13);
            freed(address, 15);
            freed(address + 24, 15);
            assert!(has_cell(address));
            assert_eq!(usable(address + 16), Some(16));
        });
    }

    #[test]
    fn memory_comes_and_goes_while_accesses_are_hidden() {
        watched(|| {
            let address = unused(64);
            range(address, 48, true, 14);
            allocated(address, 48, 48, 13);
            this_thread::hide();
            range(address + 48, 8, true, 14);
            freed(address, 15);
            this_thread::show();
            assert!(!has_cell(address) && !has_cell(address + 48));
            assert_eq!(usable(address), None);
            range(address, 8, true, 14);
            this_thread::hide();
            forget(address, 64);
            this_thread::show();
            assert!(!has_cell(address));
        });
    }
}
