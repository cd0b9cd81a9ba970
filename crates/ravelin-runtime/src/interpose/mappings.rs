//! Mappings: memory that is taken from the kernel and given back to it.
//!
//! The runtime's own memory comes this way too, also before the real functions are known. Then the kernel is called
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

    /// The fifth argument exists only with a flag; it is always passed to the kernel.
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

/// Forgets whole pages, as the kernel takes them, but not those of the runtime itself.
#[inline(always)]
fn forget(address: usize, length: usize) {
    const PAGE: usize = 4096;
    if !this_thread::inside() {
        memory::forget(address, length.checked_next_multiple_of(PAGE).unwrap_or(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow;
    use crate::threads::tests::watched;
    use std::sync::atomic::Ordering;

    const PAGE: usize = 4096;

    fn is_known(address: usize) -> bool {
        shadow::cell(address).iter().any(|slot| slot.load(Ordering::Relaxed) != 0)
    }

    #[test]
    fn pages_that_go_are_forgotten_as_the_kernel_takes_them() {
        watched(|| {
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: the kernel chooses the memory, and the test gives it back.
            unsafe {
                let place = mmap(0, 3 * PAGE, protection, flags, -1, 0);
                assert_ne!(place, FAILED);
                memory::range(place, 3 * PAGE, true, 1);
                assert_eq!(munmap(place + PAGE, PAGE + 1), 0);
                let known = [0, PAGE - 8, PAGE, 2 * PAGE, 3 * PAGE - 8].map(|offset| is_known(place + offset));
                assert_eq!(known, [true, true, false, false, false], "a page of which one byte goes, goes as a whole");
                assert_eq!(mmap(place, PAGE, protection, flags | libc::MAP_FIXED, -1, 0), place);
                assert!(!is_known(place), "what is mapped anew is new");
                assert_eq!(munmap(place, PAGE), 0);
            }
        });
    }

    #[test]
    fn a_mapping_that_fails_forgets_nothing() {
        watched(|| {
            let here = 0_u64;
            let address = &raw const here as usize;
            memory::range(address, 8, true, 1);
            // SAFETY: the kernel refuses a mapping without a length.
            assert_eq!(unsafe { mmap(0, 0, libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) }, FAILED);
            assert!(is_known(address));
            memory::forget(address, 8);
        });
    }
}
