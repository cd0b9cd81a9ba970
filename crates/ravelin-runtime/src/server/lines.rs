//! Reads files in which the kernel describes this process, line by line and without allocating.

use crate::kernel;

/// Calls `work` with each line of a file of the kernel, until it returns something. Of a long line only the end is seen
/// after the first part; no line that matters is long.
pub fn for_each_line(path: &std::ffi::CStr, mut work: impl FnMut(&[u8]) -> Option<()>) {
    let mut bytes = [0_u8; 8192];
    let mut used = 0;
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: the path ends with a zero byte.
    let file = unsafe { kernel::call(libc::SYS_open, [path.as_ptr() as usize, flags, 0]) };
    if file < 0 {
        return;
    }
    'all: loop {
        let (to, room) = (bytes[used..].as_mut_ptr() as usize, bytes.len() - used);
        // SAFETY: the kernel writes at most that many bytes.
        let length = unsafe { kernel::call(libc::SYS_read, [file as usize, to, room]) };
        let Ok(length @ 1..) = usize::try_from(length) else { break };
        used += length;
        let mut begin = 0;
        while let Some(end) = bytes[begin..used].iter().position(|&byte| byte == b'\n') {
            if work(&bytes[begin..begin + end]).is_some() {
                break 'all;
            }
            begin += end + 1;
        }
        if begin == 0 && used == bytes.len() {
            begin = used;
        }
        bytes.copy_within(begin..used, 0);
        used -= begin;
    }
    // SAFETY: opened above.
    unsafe { kernel::call(libc::SYS_close, [file as usize]) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_longer_than_the_buffer_do_not_stop_the_reader() {
        let mut lines = 0;
        for_each_line(c"/proc/self/smaps", |line| {
            lines += 1;
            assert!(!line.contains(&b'\n'));
            None
        });
        assert!(lines > 100);
    }
}
