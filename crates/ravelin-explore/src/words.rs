//! Zeroed words, on large pages where the system has them.
//!
//! A visited set is looked into at random places. With pages of 4 KiB nearly every look also misses the cache of page addresses, which
//! costs as much as the look itself. Linux gives pages of 2 MiB to a mapping that asks for them. Growing moves pages and copies nothing.
//!
//! Small tables come from the allocator. So does everything on other systems.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

/// Words from which memory is mapped.
const LARGE: usize = 1 << 18;

/// Like a boxed slice that can grow.
pub(crate) struct Words {
    start: NonNull<u64>,
    len: usize,
    /// Bytes of the mapping; 0 if the words are a boxed slice.
    mapped: usize,
}

// SAFETY: the words belong to this value alone, as those of a boxed slice do.
unsafe impl Send for Words {}
// SAFETY: the same; they are changed through a mutable reference only.
unsafe impl Sync for Words {}

impl Words {
    pub fn zeroed(len: usize) -> Words {
        if len >= LARGE
            && let Some(mapped) = mapping::bytes_for(len)
        {
            return Words { start: mapping::new(mapped), len, mapped };
        }
        Words::boxed(vec![0; len])
    }

    fn boxed(words: Vec<u64>) -> Words {
        let len = words.len();
        let start = Box::into_raw(words.into_boxed_slice());
        // SAFETY: the pointer of a box is never null.
        let start = unsafe { NonNull::new_unchecked(start.cast::<u64>()) };
        Words { start, len, mapped: 0 }
    }

    /// Adds zeros at the end.
    pub fn grow(&mut self, len: usize) {
        debug_assert!(len >= self.len);
        match mapping::bytes_for(len) {
            Some(bytes) if self.mapped > 0 => {
                if bytes > self.mapped {
                    self.start = mapping::grow(self.start, self.mapped, bytes);
                    self.mapped = bytes;
                }
                self.len = len;
            }
            _ => {
                let mut larger = Words::zeroed(len);
                larger[..self.len].copy_from_slice(self);
                *self = larger;
            }
        }
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // SAFETY: so many words are there, all initialised: a box's own, or what the system has zeroed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and the reference to this value is mutable.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.mapped > 0 {
            mapping::free(self.start, self.mapped);
        } else {
            let words = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.len);
            // SAFETY: it was made by `boxed`, with this length, and nobody else has it.
            drop(unsafe { Box::from_raw(words) });
        }
    }
}

#[cfg(target_os = "linux")]
mod mapping {
    use std::alloc::{Layout, handle_alloc_error};
    use std::ptr::NonNull;

    const LARGE_PAGE: usize = 1 << 21;

    /// Bytes of a mapping that has room for so many words.
    pub fn bytes_for(words: usize) -> Option<usize> {
        words.checked_mul(8)?.checked_next_multiple_of(LARGE_PAGE)
    }

    pub fn new(bytes: usize) -> NonNull<u64> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at a place that the system chooses touches nothing that exists.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        advised(start, bytes)
    }

    /// Of two sizes that [`bytes_for`] gave. What was there is elsewhere afterwards.
    pub fn grow(start: NonNull<u64>, old: usize, new: usize) -> NonNull<u64> {
        // SAFETY: the mapping has the old size and belongs to the caller, who uses the new place from now on.
        let moved = unsafe { libc::mremap(start.as_ptr().cast(), old, new, libc::MREMAP_MAYMOVE) };
        advised(moved, new)
    }

    fn advised(start: *mut libc::c_void, bytes: usize) -> NonNull<u64> {
        let Some(words) = NonNull::new(start.cast::<u64>()).filter(|_| start != libc::MAP_FAILED) else {
            handle_alloc_error(Layout::array::<u64>(bytes / 8).unwrap_or(Layout::new::<u64>()));
        };
        // Without large pages it only takes longer.
        // SAFETY: the advice is about a mapping that exists, and changes nothing in it.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
        words
    }

    pub fn free(start: NonNull<u64>, bytes: usize) {
        // SAFETY: the mapping has this size and belongs to the caller, who does not use it any more.
        unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
mod mapping {
    use std::ptr::NonNull;

    pub fn bytes_for(_: usize) -> Option<usize> {
        None
    }

    pub fn new(_: usize) -> NonNull<u64> {
        NonNull::dangling()
    }

    pub fn grow(start: NonNull<u64>, _: usize, _: usize) -> NonNull<u64> {
        start
    }

    pub fn free(_: NonNull<u64>, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_at_first_and_stay_when_there_are_more() {
        for sizes in
            [[0, 1, 1_000], [10, LARGE - 1, LARGE], [1_000, LARGE + 1, 3 * LARGE], [LARGE, LARGE + 5, 9 * LARGE]]
        {
            let mut words = Words::zeroed(sizes[0]);
            let mut before = 0;
            for size in sizes {
                words.grow(size);
                assert_eq!(words.len(), size);
                assert!(words[before..].iter().all(|&word| word == 0), "new words are zero");
                assert!((0..before).all(|at| words[at] == at as u64 + 1), "old words are kept");
                words.iter_mut().enumerate().for_each(|(at, word)| *word = at as u64 + 1);
                before = size;
            }
        }
    }

    #[test]
    fn they_can_be_read_by_several_threads_and_dropped_by_another() {
        let mut words = Words::zeroed(2 * LARGE);
        words[LARGE] = 7;
        let sum = |words: &Words| words.iter().sum::<u64>();
        std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| assert_eq!(sum(&words), 7)))));
        std::thread::spawn(move || drop(words)).join().unwrap();
    }
}
