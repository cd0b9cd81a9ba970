//! Random bytes from the operating system: with a schedule they follow from its seed, and before the second thread they
//! are always the same.
//!
//! Languages seed their hash tables with them. Without this, the order of a table's elements would differ between runs.

use super::touching::writes;
use crate::schedule;
use libc::{c_int, c_uint};

interpose! {
    fn getrandom(to: *mut u8, length: usize, flags: c_uint; pc) -> isize {
        let count = if fill(to, length) { length as isize } else { real(to, length, flags) };
        writes(to as usize, count, pc);
        count
    }

    fn getentropy(to: *mut u8, length: usize) -> c_int {
        if length > 256 || !fill(to, length) {
            return real(to, length);
        }
        0
    }

    fn arc4random() -> u32 {
        if !schedule::is_wanted() {
            return real();
        }
        let mut bytes = [0; 4];
        schedule::random_bytes(&mut bytes);
        u32::from_ne_bytes(bytes)
    }

    fn arc4random_buf(to: *mut u8, length: usize) {
        if !fill(to, length) {
            real(to, length);
        }
    }
}

fn fill(to: *mut u8, length: usize) -> bool {
    if !schedule::is_wanted() || to.is_null() {
        return false;
    }
    // SAFETY: the program gave this room for that many bytes.
    schedule::random_bytes(unsafe { std::slice::from_raw_parts_mut(to, length) });
    true
}
