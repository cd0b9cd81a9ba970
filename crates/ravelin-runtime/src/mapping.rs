//! Memory from the kernel.

use crate::kernel;

/// Fresh zeroed memory, given to us page by page as it is touched; null if there is none.
pub fn map(length: usize) -> *mut u8 {
    map_at(0, length)
}

/// The same at a fixed address nobody uses, if `address` is not 0.
pub fn map_at(address: usize, length: usize) -> *mut u8 {
    let fixed = if address == 0 { 0 } else { libc::MAP_FIXED_NOREPLACE };
    // SAFETY: an anonymous mapping that replaces nothing touches no memory in use.
    let block = unsafe {
        raw_mmap(
            address,
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed,
            (-1, 0),
        )
    };
    if block == usize::MAX || (address != 0 && block != address) {
        return std::ptr::null_mut();
    }
    block as *mut u8
}

/// How large the pages are that [`prefer_huge_pages`] asks for.
pub const HUGE: usize = 1 << 21;

/// Where there is much of something, to find it in small pages costs more than to read it.
///
/// # Safety
/// The range was mapped by this module.
pub unsafe fn prefer_huge_pages(address: usize, length: usize) {
    // SAFETY: by the caller; this changes only how the kernel provides the memory.
    unsafe { kernel::call(libc::SYS_madvise, [address, length, libc::MADV_HUGEPAGE as usize]) };
}

/// `length` bytes of an open file from `offset` on, shared with it; null if that is impossible.
pub fn map_file(file: i32, length: usize, offset: usize) -> *mut u8 {
    // SAFETY: a mapping at an address the kernel chooses touches no memory in use.
    let block = unsafe { raw_mmap(0, length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, (file, offset)) };
    if block == usize::MAX { std::ptr::null_mut() } else { block as *mut u8 }
}

/// Gives memory back.
///
/// # Safety
/// It was mapped by this module and is no longer used.
pub unsafe fn unmap(block: *mut u8, length: usize) {
    // The C library's `munmap` is interposed: it would come back to us.
    // SAFETY: by the caller.
    unsafe { kernel::call(libc::SYS_munmap, [block as usize, length]) };
}

/// Makes whole pages zero again and gives their memory back.
///
/// # Safety
/// The pages were mapped by this module, and zero is a valid content for whoever uses them.
pub unsafe fn clear_pages(address: usize, length: usize) {
    // SAFETY: by the caller.
    unsafe { kernel::call(libc::SYS_madvise, [address, length, libc::MADV_DONTNEED as usize]) };
}

/// The system call itself, because `mmap` is interposed.
///
/// # Safety
/// As for `mmap`.
unsafe fn raw_mmap(address: usize, length: usize, prot: i32, flags: i32, (file, offset): (i32, usize)) -> usize {
    let arguments = [address, length, prot as usize, flags as usize, file as usize, offset];
    // SAFETY: by the caller.
    let result = unsafe { kernel::call(libc::SYS_mmap, arguments) };
    if result < 0 { usize::MAX } else { result as usize }
}
