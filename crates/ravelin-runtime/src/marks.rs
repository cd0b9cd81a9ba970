//! What the program says about its accesses, through the macros of `ravelin.h`.

use crate::this_thread;

/// What was said and still holds.
#[derive(Default)]
pub struct Mark {
    /// Loads of this address wait for the value beside it.
    wait: Option<(usize, u64)>,
    /// Compare-exchanges of this address are repeated until they succeed.
    blocking: usize,
    /// Whether the next compare-exchange is strong.
    next_cas: Option<bool>,
}

impl Mark {
    /// The value that loads of `address` wait for.
    #[inline(always)]
    pub fn waits_for(&self, address: usize) -> Option<u64> {
        self.wait.filter(|(waiting, _)| *waiting == address).map(|(_, value)| value)
    }

    /// Whether compare-exchanges of `address` are repeated until they succeed.
    #[inline(always)]
    pub fn blocks_on(&self, address: usize) -> bool {
        self.blocking == address
    }

    /// Whether the compare-exchange that comes now was said to be strong.
    #[inline(always)]
    pub fn take_cas(&mut self) -> Option<bool> {
        self.next_cas.take()
    }
}

fn with_mark(change: impl FnOnce(&mut Mark)) {
    if let Some(mut inside) = this_thread::enter() {
        change(&mut inside.thread().mark);
    }
}

/// Loads of `address` wait for `value`, until [`__ravelin_wait_end`].
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_wait_begin(address: usize, value: u64, size: u32) {
    let value = match size {
        1 => value & 0xff,
        2 => value & 0xffff,
        4 => value & 0xffff_ffff,
        _ => value,
    };
    with_mark(|mark| mark.wait = Some((address, value)));
}

/// Compare-exchanges of `address` are repeated until they succeed, until [`__ravelin_wait_end`].
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_bcas_begin(address: usize) {
    with_mark(|mark| mark.blocking = address);
}

/// The wait is over.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_wait_end() {
    with_mark(|mark| {
        mark.wait = None;
        mark.blocking = 0;
    });
}

/// The next compare-exchange is strong, or weak.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_next_cas(strong: i32) {
    with_mark(|mark| mark.next_cas = Some(strong != 0));
}
