//! Data races: where the accesses of the program meet what [`ravelin_clocks::race`] remembers of earlier ones.
//!
//! The cell of a word is in the shadow. Atomic accesses are kept in the record of their location, which is locked at each
//! of them anyway; what a cell has no room for, in the record of the word.

use crate::blocks;
use crate::records::{self, Record};
use crate::report;
use crate::shadow;
use crate::this_thread::{self, Watched};
use crate::trace;
use ravelin_clocks::race::cell::{self, Cell, Lists};
use ravelin_clocks::race::list;
use ravelin_clocks::race::slot::{ATOMIC, BYTES, FREE, WRITE, span};

/// A non-atomic access of `size` bytes within one word.
#[inline(always)]
pub fn access(address: usize, size: usize, flags: u64, pc: usize) {
    let thread = this_thread::active();
    if thread.is_null() {
        return;
    }
    let cell = shadow::cell(address);
    // SAFETY: the calling thread's own state.
    let mine = unsafe { (*thread).stamp } | span(address & 7, size) | flags;
    if !cell::is_known(cell, mine) {
        new_access(cell, address, size, mine, pc);
    }
}

/// A non-atomic access of any size at any address.
pub fn access_range(address: usize, length: usize, flags: u64, pc: usize) {
    let mut at = address;
    let end = address.saturating_add(length);
    while at < end {
        let size = (8 - (at & 7)).min(end - at);
        let thread = this_thread::active();
        if thread.is_null() {
            return;
        }
        let cell = shadow::cell(at);
        // SAFETY: the calling thread's own state.
        let mine = unsafe { (*thread).stamp } | span(at & 7, size) | flags;
        if !cell::is_known(cell, mine) {
            new_part(cell, Part { address: at, size, whole: (address, length) }, mine, pc);
        }
        at += size;
    }
}

/// What an access does in one word.
#[derive(Clone, Copy)]
struct Part {
    address: usize,
    size: usize,
    /// Where the whole access begins, and its length.
    whole: (usize, usize),
}

/// Memory is given back: races with accesses that do not happen before, without remembering anything.
pub fn check_free(thread: &mut Watched, address: usize, length: usize, pc: usize) {
    let mine = thread.stamp | BYTES | WRITE | FREE;
    for at in (address & !7..address + length).step_by(8) {
        if let Some(slot) = cell::would_race(shadow::cell(at), &thread.clocks, mine, &Word(at)) {
            let whole = blocks::containing(address).map_or(length, |block| block.size);
            report::race(thread, at, (8, whole), mine, slot, pc);
            return;
        }
    }
}

#[inline(never)]
fn new_access(cell: &'static Cell, address: usize, size: usize, mine: u64, pc: usize) {
    remember(cell, Part { address, size, whole: (address, size) }, mine, pc);
}

#[inline(never)]
fn new_part(cell: &'static Cell, part: Part, mine: u64, pc: usize) {
    remember(cell, part, mine, pc);
}

#[inline(always)]
fn remember(cell: &'static Cell, part: Part, mine: u64, pc: usize) {
    let Part { address, size, whole } = part;
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    if thread.ignored[(mine & WRITE) as usize] > 0 {
        return;
    }
    let shape = trace::shape(mine & WRITE != 0, false, size);
    if size == whole.1 {
        thread.trace.access(pc, address, shape, thread.calls());
    } else {
        thread.trace.access_part(pc, address, shape, whole, thread.calls());
    }
    if mine & WRITE != 0 {
        thread.spin.disturbed(address, thread.stack);
    }
    let outcome = cell::access(cell, &thread.clocks, mine, &Word(address & !7));
    if let Some(slot) = outcome.raced {
        report::race(thread, address, (size, whole.1), mine, slot, pc);
    } else if outcome.met_atomics && mine & WRITE != 0 {
        // Whoever writes an atomic non-atomically begins a new object there.
        records::for_each_in_word(address, |about, record| {
            if record.is_atomic() && (address..address + size).contains(&about) {
                record.begin_new_object();
            }
        });
    }
}

/// An atomic access: compares it with the non-atomic ones and makes sure that later non-atomic accesses look into the
/// location's record. Returns the access it races with. The location's record is not locked.
#[inline(always)]
pub fn check_atomic(thread: &Watched, address: usize, mine: u64) -> Option<u64> {
    cell::check_atomic(shadow::cell(address), &thread.clocks, mine, &Word(address & !7))
}

/// The slot of an atomic access now.
#[inline(always)]
pub fn atomic_slot(thread: &Watched, address: usize, size: usize, flags: u64) -> u64 {
    thread.stamp | span(address & 7, size) | flags | ATOMIC
}

/// Keeps an atomic access in its location's record.
#[inline(always)]
pub fn note_atomic(thread: &Watched, record: &mut Record, mine: u64) {
    list::note_atomic(record, &thread.clocks, mine);
}

/// The records of the word at an address.
struct Word(usize);

impl Lists for Word {
    type List = Record;

    fn for_each(&self, mut work: impl FnMut(&mut Record, bool)) {
        records::for_each_in_word(self.0, |about, record| work(record, about == self.0));
    }

    fn spilt<R>(&self, work: impl FnOnce(&mut Record) -> R) -> Option<R> {
        records::with(self.0, work)
    }
}
