//! Memory of the program that comes and goes.

use crate::blocks::{self, Block, CALLS};
use crate::process;
use crate::race;
use crate::records;
use crate::shadow;
use crate::this_thread;

/// At most so many bytes of a block are compared with earlier accesses when it is given back.
const COMPARED: usize = 1024;

/// A block of the heap was handed out, by a call that returns to `pc`.
pub fn allocated(address: usize, size: usize, pc: usize) {
    if address == 0 || !process::is_prepared() {
        return;
    }
    // What the first thread allocates before there is another is what they will share.
    let Some(mut inside) = this_thread::enter_unwatched() else {
        return;
    };
    let thread = inside.thread();
    let mut calls = [0; CALLS];
    calls[0] = pc;
    for (call, frame) in calls[1..].iter_mut().zip(thread.calls().iter().rev()) {
        *call = frame.pc;
    }
    blocks::insert(Block { start: address, size, calls, thread: thread.number as u32 });
}

/// A block of the heap is about to be given back, by a call that returns to `pc`: its clocks are forgotten.
pub fn freed(address: usize, size: usize, pc: usize) {
    if address == 0 {
        return;
    }
    let Some(mut inside) = this_thread::enter() else {
        // Whoever frees it, it is gone: the C library frees thread-local blocks after a thread's end.
        if this_thread::me().is_null() && process::is_watching() {
            blocks::remove(address);
            forget_inside(address, size);
        } else if let Some(_inside) = this_thread::enter_even_hidden() {
            blocks::remove(address);
            forget_inside(address, size);
        } else if process::is_prepared()
            && let Some(_inside) = this_thread::enter_unwatched()
        {
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
