//! Memory of the program that comes and goes.

use crate::blocks::{self, Block, CALLS};
use crate::process;
use crate::race;
use crate::records;
use crate::shadow;
use crate::this_thread;
use crate::threads;

/// At most so many bytes of a block are compared with earlier accesses when it is given back.
const COMPARED: usize = 1024;

/// A block of the heap was handed out, by a call that returns to `pc`. The program may use `usable` bytes of it.
pub fn allocated(address: usize, size: usize, usable: usize, pc: usize) {
    if address == 0 || threads::is_off() || !process::reserve() {
        return;
    }
    let mut block = Block { start: address, size, usable, calls: [0; CALLS], thread: 0 };
    block.calls[0] = pc;
    // What the first thread allocates before there is another is what they will share. Blocks of threads that are not
    // known are remembered as well: whoever frees one must find it.
    let mut inside = this_thread::enter_unwatched();
    if let Some(inside) = &mut inside {
        let thread = inside.thread();
        for (call, frame) in block.calls[1..].iter_mut().zip(thread.calls().iter().rev()) {
            *call = frame.pc;
        }
        block.thread = thread.number as u32;
    }
    blocks::insert(block);
}

/// How many bytes of a block of the heap the program may use; `None` if there is no such block.
pub fn usable(address: usize) -> Option<usize> {
    if address == 0 || !process::reserve() { None } else { blocks::usable(address) }
}

/// A block of the heap is about to be given back, by a call that returns to `pc`: its clocks are forgotten. Nothing is
/// done with what is no block; the C library will say so.
pub fn freed(address: usize, pc: usize) {
    let Some(size) = usable(address) else {
        return;
    };
    let Some(mut inside) = this_thread::enter() else {
        // Whoever frees it, it is gone: the C library frees thread-local blocks after a thread's end.
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
}

/// Memory is gone or new (munmap, mmap, a thread's stack): its clocks are forgotten.
pub fn forget(address: usize, length: usize) {
    if let Some(_inside) = this_thread::enter_even_hidden() {
        forget_inside(address, length);
    }
}

/// The same for a thread that is inside.
pub fn forget_inside(address: usize, length: usize) {
    records::forget(address, length);
    shadow::clear_cells(address, length);
}

/// `length` bytes are read (or written) by one call that returns to `pc`.
pub fn range(address: usize, length: usize, write: bool, pc: usize) {
    race::access_range(address, length, u64::from(write), pc);
}
