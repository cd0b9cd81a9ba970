//! Lets runs inherit the pages of code that the server has mapped.
//!
//! When a process forks, the kernel copies the page tables of a mapping of a file only if the mapping has a page of its
//! own, which some write has made. For code it leaves them out, and each run has a page fault for every part of the
//! program that it executes: a quarter of all its page faults. So one byte of each such mapping is written onto itself
//! here. Where the kernel does not permit that, runs are slower and otherwise the same.

use super::lines::for_each_line;
use crate::kernel;
use std::ops::Range;

/// Of a larger mapping so many pages may be there that copying them takes longer than the faults of a small run.
const LARGEST: usize = 8 << 20;

/// Has the page tables of code copied from now on. The process has one thread.
pub fn share() {
    let flags = (libc::O_RDWR | libc::O_CLOEXEC) as usize;
    // SAFETY: the path ends with a zero byte.
    let memory = unsafe { kernel::call(libc::SYS_open, [c"/proc/self/mem".as_ptr() as usize, flags, 0]) };
    if memory < 0 {
        return;
    }
    for_each_line(c"/proc/self/maps", |line| {
        if let Some(code) = code(line).filter(|code| code.len() <= LARGEST) {
            let mut byte = 0_u8;
            let place = (&raw mut byte) as usize;
            // SAFETY: the byte is read from the mapping, and written to where it was.
            unsafe {
                if kernel::call(libc::SYS_pread64, [memory as usize, place, 1, code.start]) == 1 {
                    kernel::call(libc::SYS_pwrite64, [memory as usize, place, 1, code.start]);
                }
            }
        }
        None
    });
    // SAFETY: opened above.
    unsafe { kernel::call(libc::SYS_close, [memory as usize]) };
}

/// The mapping of a line in the kernel's list, if it is of a file, private, and only read.
fn code(line: &[u8]) -> Option<Range<usize>> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let [b'r', b'-', _, b'p'] = words.next()?.as_bytes() else { return None };
    let is_file = words.nth(3)?.starts_with('/');
    let address = |word| usize::from_str_radix(word, 16).ok();
    is_file.then_some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_from_a_file_is_code() {
        let line = |permissions: &str, path: &str| {
            code(format!("7f00-9f00 {permissions} 00001000 fe:00 1234    {path}").as_bytes())
        };
        assert_eq!(line("r-xp", "/usr/lib/libc.so.6"), Some(0x7f00..0x9f00));
        assert_eq!(line("r--p", "/tmp/a b"), Some(0x7f00..0x9f00));
        for permissions in ["rw-p", "r-xs", "---p"] {
            assert_eq!(line(permissions, "/usr/lib/libc.so.6"), None);
        }
        assert_eq!(line("r-xp", "[vdso]"), None);
        assert_eq!(line("r--p", ""), None);
        assert_eq!(code(b"nothing"), None);
    }

    /// For such a mapping the kernel copies the page tables.
    #[test]
    fn a_mapping_gets_a_page_of_its_own_and_stays_as_it_is() {
        let bytes: Vec<u8> = (0..4096_u32).map(|number| number as u8).collect();
        let path = std::env::temp_dir().join(format!("ravelin-code-pages-{}", std::process::id()));
        std::fs::write(&path, &bytes).expect("a file");
        let file = std::fs::File::open(&path).expect("the file");
        std::fs::remove_file(&path).expect("the file");
        // SAFETY: a mapping at an address the kernel chooses, which is only read and stays.
        let mapped = unsafe {
            use std::os::fd::AsRawFd;
            let start = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
            assert_ne!(start, libc::MAP_FAILED);
            std::slice::from_raw_parts(start.cast::<u8>(), 4096)
        };
        let own_pages = || {
            let (mut is_here, mut pages) = (false, None);
            let begin = format!("{:x}-", mapped.as_ptr() as usize).into_bytes();
            for_each_line(c"/proc/self/smaps", |line| {
                is_here |= line.starts_with(&begin);
                let found = line.strip_prefix(b"Anonymous:").filter(|_| is_here)?;
                pages = Some(String::from_utf8_lossy(found).trim().to_owned());
                pages.as_ref().map(|_| ())
            });
            pages
        };
        assert_eq!(own_pages().as_deref(), Some("0 kB"));
        share();
        assert_eq!(own_pages().as_deref(), Some("4 kB"));
        assert_eq!(mapped, bytes);
    }
}
