//! The runtime's own memory.
use std::alloc::{GlobalAlloc, Layout};

struct Own;

#[global_allocator]
static OWN: Own = Own;

// SAFETY: each block is a mapping of its own, so it is aligned to a page, disjoint from all others and big enough.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: an anonymous mapping at an address the kernel chooses touches no memory in use.
        let block = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                layout.size(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if block == libc::MAP_FAILED { std::ptr::null_mut() } else { block.cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` was mapped by `alloc` with this size.
        unsafe { libc::munmap(block.cast(), layout.size()) };
    }
}
