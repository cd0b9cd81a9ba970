//! The heap: allocation and deallocation.
//!
//! C++'s operators call these functions; then the caller of the operator is the one that allocates
//! ([`super::operators`]). If the program brings its own allocator, none of this is linked or called.
//!
//! `dlsym`, which finds the next definitions, may allocate. Until they are found, memory comes from a small buffer, and
//! `free` recognises it. Everything is done in `open`: a call before the process's start-up opens the heap itself.

use super::{openmp, operators, steady_heap, touching};
use crate::{instrumented, memory, options};
use libc::{c_int, c_void};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

interpose! {
    fn malloc(size: usize; pc) -> usize {
        if !open() {
            return early(size, ALIGNMENT);
        }
        handed_out(steady_heap::allocate(size, ALIGNMENT).unwrap_or_else(|| real(size)), size, pc)
    }

    fn calloc(count: usize, size: usize; pc) -> usize {
        if !open() {
            return early(count.saturating_mul(size), ALIGNMENT);
        }
        let steady = count.checked_mul(size).and_then(|whole| steady_heap::allocate(whole, ALIGNMENT));
        let block = handed_out(steady.unwrap_or_else(|| real(count, size)), count.wrapping_mul(size), pc);
        zeroed(block, count.wrapping_mul(size), pc);
        block
    }

    fn realloc(block: usize, size: usize; pc) -> usize {
        if block == 0 || is_early(block) || !open() {
            // SAFETY: the caller's promises about the block are those of `realloc`.
            return unsafe { realloc_early(block, size, pc) };
        }
        moved(block, size, pc, || steadily_moved(block, size).unwrap_or_else(|| real(block, size)))
    }

    fn reallocarray(block: usize, count: usize, size: usize; pc) -> usize {
        let whole = count.saturating_mul(size);
        if block == 0 || is_early(block) || !open() {
            // SAFETY: the caller's promises about the block are those of `realloc`.
            return unsafe { realloc_early(block, whole, pc) };
        }
        moved(block, whole, pc, || steadily_moved(block, whole).unwrap_or_else(|| real(block, count, size)))
    }

    fn free(block: usize; pc) {
        // A block that is freed before the heap is open was not allocated through the runtime: it is left alone.
        if block == 0 || is_early(block) || !open() {
            return;
        }
        if openmp::is_on() && instrumented::is_openmp(pc) {
            memory::vanishes(block);
        } else {
            memory::freed(block, pc);
        }
        if !steady_heap::is_one(block) {
            real(block);
        }
    }

    fn posix_memalign(place: usize, alignment: usize, size: usize; pc) -> c_int {
        if !open() {
            return libc::ENOMEM;
        }
        let steady = if alignment.is_power_of_two() { steady_heap::allocate(size, alignment) } else { None };
        let status = match steady {
            Some(block) => {
                // SAFETY: the program gave this address as one of a pointer.
                unsafe { (place as *mut usize).write(block) };
                0
            }
            None => real(place, alignment, size),
        };
        if status == 0 {
            // SAFETY: the call has succeeded, so the block's address is stored there.
            handed_out(unsafe { (place as *const usize).read() }, size, pc);
        }
        status
    }

    fn aligned_alloc(alignment: usize, size: usize; pc) -> usize {
        if !open() {
            return early(size, alignment);
        }
        let steady = if alignment.is_power_of_two() { steady_heap::allocate(size, alignment) } else { None };
        handed_out(steady.unwrap_or_else(|| real(alignment, size)), size, pc)
    }

    fn memalign(alignment: usize, size: usize; pc) -> usize {
        if !open() {
            return early(size, alignment);
        }
        let steady = if alignment.is_power_of_two() { steady_heap::allocate(size, alignment) } else { None };
        handed_out(steady.unwrap_or_else(|| real(alignment, size)), size, pc)
    }

    fn valloc(size: usize; pc) -> usize {
        if !open() {
            return 0;
        }
        handed_out(real(size), size, pc)
    }

    fn pvalloc(size: usize; pc) -> usize {
        if !open() {
            return 0;
        }
        handed_out(real(size), size, pc)
    }
}

/// Whether the real functions are known. Looks them up unless another call is doing so.
#[inline(always)]
pub fn open() -> bool {
    STATE.load(Ordering::Acquire) == OPEN || try_to_open()
}

const SHUT: u8 = 0;
const OPENING: u8 = 1;
const OPEN: u8 = 2;
static STATE: AtomicU8 = AtomicU8::new(SHUT);

#[cold]
fn try_to_open() -> bool {
    if STATE.compare_exchange(SHUT, OPENING, Ordering::Acquire, Ordering::Acquire).is_err() {
        return STATE.load(Ordering::Acquire) == OPEN;
    }
    super::real::find_all();
    STATE.store(OPEN, Ordering::Release);
    true
}

#[inline(always)]
fn handed_out(block: usize, size: usize, pc: usize) -> usize {
    if block != 0 {
        memory::allocated(block, size, usable(block), operators::caller_or(pc));
    } else {
        operators::has_failed();
    }
    block
}

/// The zeroing of a new block is a write: every thread that gets the block must come after it. Of a long one, the first
/// part counts: the program may never touch the rest.
#[inline(always)]
fn zeroed(block: usize, size: usize, pc: usize) {
    const LONGEST: usize = 1 << 16;
    if options::races() {
        touching::writes(block, size.min(LONGEST), pc);
    }
}

/// Frees an existing block and allocates another, which may be at the same address. The block is removed before the
/// real function frees the old memory. If that fails, the block is recorded again where it was.
#[inline(always)]
fn moved(block: usize, size: usize, pc: usize, realloc: impl FnOnce() -> usize) -> usize {
    let before = memory::usable(block);
    if let Some(before) = before {
        memory::range(block, before.min(size), false, pc);
        memory::freed(block, pc);
    }
    let place = realloc();
    if place != 0 {
        memory::allocated(place, size, usable(place), pc);
    } else if let Some(before) = before
        && size != 0
    {
        memory::allocated(block, before, before, pc);
    }
    place
}

/// A steered thread gets another block instead of one that it makes larger or smaller. `None` if the C library has to
/// do it.
fn steadily_moved(block: usize, size: usize) -> Option<usize> {
    let is_steady = steady_heap::is_one(block);
    let place = steady_heap::allocate(size, ALIGNMENT).or_else(|| is_steady.then_some(0))?;
    if place != 0 {
        // SAFETY: the old block is the program's, and both have that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(block as *const u8, place as *mut u8, usable(block).min(size)) };
    }
    Some(place)
}

/// How many bytes of a block the program may use.
fn usable(block: usize) -> usize {
    // SAFETY: the block was allocated just now.
    unsafe { libc::malloc_usable_size(block as *mut c_void) }
}

const ALIGNMENT: usize = 16;
const BUFFER: usize = 1 << 16;

/// The buffer for early blocks. Each has its size in the sixteen bytes before it; none is used twice.
#[repr(align(16))]
struct Early(UnsafeCell<[u8; BUFFER]>);

// SAFETY: every byte belongs to the one thread whose `early` took it.
unsafe impl Sync for Early {}

static EARLY: Early = Early(UnsafeCell::new([0; BUFFER]));
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A block of zeros, or 0 if the buffer is used up.
#[cold]
fn early(size: usize, alignment: usize) -> usize {
    let alignment = alignment.max(ALIGNMENT);
    let Some(whole) = size.checked_add(2 * alignment) else {
        return 0;
    };
    let whole = whole.next_multiple_of(ALIGNMENT);
    if whole > BUFFER {
        return 0;
    }
    let from = TAKEN.fetch_add(whole, Ordering::Relaxed);
    if from > BUFFER - whole {
        return 0;
    }
    let block = (EARLY.0.get() as usize + from + ALIGNMENT).next_multiple_of(alignment);
    // SAFETY: the sixteen bytes before the block are part of what was taken.
    unsafe { ((block - ALIGNMENT) as *mut usize).write(size) };
    block
}

#[inline(always)]
fn is_early(block: usize) -> bool {
    block.wrapping_sub(EARLY.0.get() as usize) < BUFFER
}

/// `realloc` where there is no block of the heap to start from.
#[cold]
unsafe fn realloc_early(block: usize, size: usize, pc: usize) -> usize {
    // SAFETY: any size is allowed.
    let place = unsafe { malloc(size, pc) };
    if place != 0 && is_early(block) {
        // SAFETY: an early block has its size before it, and both blocks have at least as many bytes as are copied.
        unsafe {
            let before = ((block - ALIGNMENT) as *const usize).read();
            std::ptr::copy_nonoverlapping(block as *const u8, place as *mut u8, before.min(size));
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks;
    use crate::threads::tests::watched;

    const PC: usize = 0x4ea9;

    #[test]
    fn a_block_is_known_as_long_as_it_is_handed_out() {
        watched(|| {
            // SAFETY: the functions are called as a program may.
            unsafe {
                let block = malloc(100, PC);
                let known = blocks::containing(block + 99).expect("a block");
                assert_eq!((known.start, known.size, known.calls[0]), (block, 100, PC));
                assert!(known.usable >= 100);
                let moved = realloc(block, 100_000, PC + 1);
                let known = blocks::containing(moved).expect("a block");
                assert_eq!((known.start, known.size, known.calls[0]), (moved, 100_000, PC + 1));
                assert!(moved == block || memory::usable(block).is_none());
                free(moved, PC + 2);
                assert_eq!(memory::usable(moved), None);
            }
        });
    }

    #[test]
    fn every_function_of_the_heap_makes_a_block_known() {
        watched(|| {
            // SAFETY: the functions are called as a program may.
            unsafe {
                let mut place = 0_usize;
                assert_eq!(posix_memalign((&raw mut place) as usize, 64, 100, PC), 0);
                let blocks = [
                    place,
                    calloc(10, 10, PC),
                    reallocarray(0, 10, 10, PC),
                    aligned_alloc(64, 128, PC),
                    memalign(64, 100, PC),
                    valloc(100, PC),
                    pvalloc(100, PC),
                ];
                for (index, block) in blocks.into_iter().enumerate() {
                    assert_eq!(blocks::containing(block + 50).map(|known| known.start), Some(block), "{index}");
                    free(block, PC);
                    assert_eq!(memory::usable(block), None, "{index}");
                }
            }
        });
    }

    #[test]
    fn a_realloc_that_fails_leaves_the_block() {
        watched(|| {
            // SAFETY: the functions are called as a program may.
            unsafe {
                let block = malloc(100, PC);
                assert_eq!(realloc(block, usize::MAX / 2, PC), 0);
                assert!(memory::usable(block).is_some_and(|usable| usable >= 100));
                assert_eq!(reallocarray(block, usize::MAX, 16, PC), 0, "a product that is too large");
                assert!(memory::usable(block).is_some());
                free(block, PC);
            }
        });
    }

    /// The buffer is used up afterwards, and it is never used otherwise in a test.
    #[test]
    fn early_blocks_are_aligned_zero_and_disjoint_until_the_buffer_is_used_up() {
        let mut ends = 0;
        for (size, alignment) in [(1, 16), (100, 16), (0, 16), (64, 64), (5, 4096), (24, 1)] {
            let block = early(size, alignment);
            assert!(is_early(block), "{size}");
            assert_eq!(block % alignment.max(16), 0, "{size}");
            assert!(block >= ends + 16, "its size stands before it");
            ends = block + size;
            // SAFETY: the block has that many bytes.
            let bytes = unsafe { std::slice::from_raw_parts_mut(block as *mut u8, size) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(9);
        }
        assert!(!is_early(&raw const ends as usize) && !is_early(0));
        let block = early(5, 16);
        // SAFETY: the block has five bytes, and the functions are called as a program may.
        unsafe {
            (block as *mut [u8; 5]).write(*b"early");
            let moved = realloc(block, 3, PC);
            assert!(!is_early(moved));
            assert_eq!((moved as *const [u8; 3]).read(), *b"ear");
            free(moved, PC);
            free(block, PC);
            assert_eq!((block as *const [u8; 5]).read(), *b"early", "it is left to itself");
        }
        assert_eq!(early(usize::MAX, 16), 0);
        assert_eq!(early(BUFFER, 16), 0);
        let mut blocks = 0;
        while early(1_000, 16) != 0 {
            blocks += 1;
        }
        assert!((30..=BUFFER / 1_000).contains(&blocks));
        assert_eq!(early(1_000, 16), 0);
    }
}
