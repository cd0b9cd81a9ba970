//! Memory from the kernel.

use crate::kernel;

/// Fresh zeroed memory, which the kernel provides page by page as it is touched; null if there is none.
pub fn map(length: usize) -> *mut u8 {
    map_at(0, length)
}

/// The same at a fixed unused address, if `address` is not 0.
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

/// The size of the pages that [`prefer_huge_pages`] requests.
pub const HUGE: usize = 1 << 21;

/// Requests huge pages: in a large range, address translation with small pages costs more than the reads.
///
/// # Safety
/// The range was mapped by this module.
pub unsafe fn prefer_huge_pages(address: usize, length: usize) {
    // SAFETY: guaranteed by the caller; this changes only how the kernel provides the memory.
    unsafe { kernel::call(libc::SYS_madvise, [address, length, libc::MADV_HUGEPAGE as usize]) };
}

/// `length` bytes of an open file from `offset` on, shared with it; null if that is impossible.
pub fn map_file(file: i32, length: usize, offset: usize) -> *mut u8 {
    // SAFETY: a mapping at an address the kernel chooses touches no memory in use.
    let block = unsafe { raw_mmap(0, length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, (file, offset)) };
    if block == usize::MAX { std::ptr::null_mut() } else { block as *mut u8 }
}

/// The same at a fixed unused address.
pub fn map_file_at(address: usize, file: i32, length: usize, offset: usize) -> *mut u8 {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a mapping that replaces nothing touches no memory in use.
    let block = unsafe { raw_mmap(address, length, libc::PROT_READ | libc::PROT_WRITE, flags, (file, offset)) };
    if block == address { block as *mut u8 } else { std::ptr::null_mut() }
}

/// Gives memory back.
///
/// # Safety
/// It was mapped by this module and is no longer used.
pub unsafe fn unmap(block: *mut u8, length: usize) {
    // The C library's `munmap` is interposed: it would call the runtime again.
    // SAFETY: guaranteed by the caller.
    unsafe { kernel::call(libc::SYS_munmap, [block as usize, length]) };
}

/// Makes whole pages zero again and gives their memory back.
///
/// # Safety
/// The pages were mapped by this module, and zero is a valid content for their users.
pub unsafe fn clear_pages(address: usize, length: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { kernel::call(libc::SYS_madvise, [address, length, libc::MADV_DONTNEED as usize]) };
}

/// Provides whole pages now, as if something was written to each. Does nothing before Linux 5.14.
///
/// # Safety
/// The pages were mapped by this module.
pub unsafe fn make_pages(address: usize, length: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { kernel::call(libc::SYS_madvise, [address, length, libc::MADV_POPULATE_WRITE as usize]) };
}

/// The system call itself, because `mmap` is interposed.
///
/// # Safety
/// As for `mmap`.
unsafe fn raw_mmap(address: usize, length: usize, prot: i32, flags: i32, (file, offset): (i32, usize)) -> usize {
    let arguments = [address, length, prot as usize, flags as usize, file as usize, offset];
    // SAFETY: guaranteed by the caller.
    let result = unsafe { kernel::call(libc::SYS_mmap, arguments) };
    if result < 0 { usize::MAX } else { result as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4096;

    fn bytes<'a>(block: *mut u8, length: usize) -> &'a mut [u8] {
        // SAFETY: the tests map that many bytes and use them through one slice at a time.
        unsafe { std::slice::from_raw_parts_mut(block, length) }
    }

    #[test]
    fn memory_is_zero_when_it_comes_and_after_its_pages_were_cleared() {
        let block = map(3 * PAGE);
        assert!(bytes(block, 3 * PAGE).iter().all(|byte| *byte == 0));
        bytes(block, 3 * PAGE).fill(7);
        // SAFETY: a page of what was mapped above.
        unsafe { clear_pages(block as usize + PAGE, PAGE) };
        let left: Vec<usize> =
            bytes(block, 3 * PAGE).chunks(PAGE).map(|page| page.iter().map(|b| *b as usize).sum()).collect();
        assert_eq!(left, [7 * PAGE, 0, 7 * PAGE]);
        // SAFETY: mapped above, and not used any more.
        unsafe { unmap(block, 3 * PAGE) };
    }

    #[test]
    fn a_fixed_address_is_given_once_until_it_is_given_back() {
        // The kernel does not choose this address by itself.
        let address = 0x0a00_0000_0000;
        let block = map_at(address, PAGE);
        assert_eq!(block as usize, address);
        bytes(block, PAGE)[0] = 1;
        assert!(map_at(address, PAGE).is_null(), "what is in use is not replaced");
        assert_eq!(bytes(block, PAGE)[0], 1);
        // SAFETY: mapped above, and not used any more.
        unsafe { unmap(block, PAGE) };
        assert_eq!(map_at(address, PAGE) as usize, address);
        // SAFETY: as above.
        unsafe { unmap(address as *mut u8, PAGE) };
    }

    #[test]
    fn there_is_no_memory_for_everything() {
        assert!(map(usize::MAX & !(PAGE - 1)).is_null());
        assert!(map(0).is_null());
    }

    #[test]
    fn a_file_is_shared_by_all_its_mappings() {
        // SAFETY: the name ends with a zero byte.
        let file = unsafe { libc::memfd_create(c"mapping".as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: no pointers are passed.
        assert_eq!(unsafe { libc::ftruncate(file, 2 * PAGE as i64) }, 0);
        let (whole, second) = (map_file(file, 2 * PAGE, 0), map_file(file, PAGE, PAGE));
        bytes(second, PAGE)[3] = 9;
        assert_eq!(bytes(whole, 2 * PAGE)[PAGE + 3], 9);
        assert!(map_file(-1, PAGE, 0).is_null());
        // SAFETY: mapped and opened above, and not used any more.
        unsafe {
            unmap(whole, 2 * PAGE);
            unmap(second, PAGE);
            libc::close(file);
        }
    }
}
