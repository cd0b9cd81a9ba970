//! Mappings: memory that comes from the kernel and goes back to it.
//!
//! The runtime's own memory comes this way too, also before the real functions are known; then the kernel is asked
//! directly.

use crate::{memory, this_thread};
use libc::{c_int, off_t};

/// `MAP_FAILED`.
const FAILED: usize = usize::MAX;

interpose! {
    fn mmap(address: usize, length: usize, protection: c_int, flags: c_int, file: c_int, offset: off_t) -> usize {
        let place = match REAL.known() {
            Some(_) => real(address, length, protection, flags, file, offset),
            // SAFETY: the kernel checks everything.
            None => unsafe {
                libc::syscall(libc::SYS_mmap, address, length, protection, flags, file, offset) as usize
            },
        };
        mapped(place, length)
    }

    fn mmap64(address: usize, length: usize, protection: c_int, flags: c_int, file: c_int, offset: off_t) -> usize {
        mapped(real(address, length, protection, flags, file, offset), length)
    }

    fn munmap(address: usize, length: usize) -> c_int {
        forget(address, length);
        match REAL.known() {
            Some(_) => real(address, length),
            // SAFETY: the kernel checks everything.
            None => unsafe { libc::syscall(libc::SYS_munmap, address, length) as c_int },
        }
    }

    /// The fifth argument is there only with a flag; it is passed on in any case.
    fn mremap(old: usize, old_length: usize, length: usize, flags: c_int, new: usize) -> usize {
        forget(old, old_length);
        let place = match REAL.known() {
            Some(_) => real(old, old_length, length, flags, new),
            // SAFETY: the kernel checks everything.
            None => unsafe { libc::syscall(libc::SYS_mremap, old, old_length, length, flags, new) as usize },
        };
        mapped(place, length)
    }
}

#[inline(always)]
fn mapped(place: usize, length: usize) -> usize {
    if place != FAILED {
        forget(place, length);
    }
    place
}

/// Whole pages, as the kernel takes them; not those of the runtime itself.
#[inline(always)]
fn forget(address: usize, length: usize) {
    const PAGE: usize = 4096;
    if !this_thread::inside() {
        memory::forget(address, length.checked_next_multiple_of(PAGE).unwrap_or(length));
    }
}
