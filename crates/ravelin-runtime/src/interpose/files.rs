//! Changes of files before the second thread: each new process makes them, and forked ones find them made.
//!
//! What is changed by other functions (those of `libdl`, of databases, of the kernel) is not noticed here. Files that
//! stay open are looked at later ([`crate::server`]).
//!
//! Those of these functions that open a file are told to [`crate::closes`], too.

use super::descriptors::opened_stream;
use crate::closes::opened;
use crate::server;
use libc::{c_int, c_uint};
use ravelin_findings::serving::ForkObstacle;

/// `fn name(arguments) -> result, if condition => opened;`: the function, a notice that it was called, and what happens
/// with its result.
macro_rules! changes {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty
        $(, if $changes:expr)? $(=> $after:ident)?;)*) => {
        interpose! {
            $(
                $(#[$meta])*
                fn $name($($arg: $type),*; pc) -> $result {
                    if true $(&& $changes)? {
                        server::notice(ForkObstacle::FileSystem);
                    }
                    let result = real($($arg),*);
                    $($after(result, pc);)?
                    let _ = pc;
                    result
                }
            )*
        }
    };
}

changes! {
    /// The last argument exists only with some flags; it is always passed on.
    fn open(path: usize, flags: c_int, mode: c_uint) -> c_int, if writes(flags) => opened;
    fn open64(path: usize, flags: c_int, mode: c_uint) -> c_int, if writes(flags) => opened;
    fn openat(folder: c_int, path: usize, flags: c_int, mode: c_uint) -> c_int, if writes(flags) => opened;
    fn openat64(folder: c_int, path: usize, flags: c_int, mode: c_uint) -> c_int, if writes(flags) => opened;
    fn creat(path: usize, mode: c_uint) -> c_int => opened;
    fn creat64(path: usize, mode: c_uint) -> c_int => opened;
    fn fopen(path: usize, mode: usize) -> usize, if has_mode_to_write(mode) => opened_stream;
    fn fopen64(path: usize, mode: usize) -> usize, if has_mode_to_write(mode) => opened_stream;
    fn freopen(path: usize, mode: usize, stream: usize) -> usize, if has_mode_to_write(mode) => opened_stream;
    fn freopen64(path: usize, mode: usize, stream: usize) -> usize, if has_mode_to_write(mode) => opened_stream;
    fn tmpfile() -> usize => opened_stream;
    fn mkstemp(template: usize) -> c_int => opened;
    fn mkostemp(template: usize, flags: c_int) -> c_int => opened;
    fn mkdtemp(template: usize) -> usize;
    fn mkdir(path: usize, mode: c_uint) -> c_int;
    fn mkdirat(folder: c_int, path: usize, mode: c_uint) -> c_int;
    fn mkfifo(path: usize, mode: c_uint) -> c_int;
    fn rmdir(path: usize) -> c_int;
    fn unlink(path: usize) -> c_int;
    fn unlinkat(folder: c_int, path: usize, flags: c_int) -> c_int;
    fn remove(path: usize) -> c_int;
    fn rename(old: usize, new: usize) -> c_int;
    fn renameat(from: c_int, old: usize, to: c_int, new: usize) -> c_int;
    fn link(old: usize, new: usize) -> c_int;
    fn symlink(old: usize, new: usize) -> c_int;
    fn truncate(path: usize, length: i64) -> c_int;
    fn truncate64(path: usize, length: i64) -> c_int;
    fn shm_open(name: usize, flags: c_int, mode: c_uint) -> c_int => opened;
    fn shm_unlink(name: usize) -> c_int;
    fn shmget(key: c_int, size: usize, flags: c_int) -> c_int;
    fn semget(key: c_int, count: c_int, flags: c_int) -> c_int;
    fn msgget(key: c_int, flags: c_int) -> c_int;
    fn sem_open(name: usize, flags: c_int, mode: c_uint, value: c_uint) -> usize;
    fn mq_open(name: usize, flags: c_int, mode: c_uint, attributes: usize) -> c_int;
}

fn writes(flags: c_int) -> bool {
    flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0
}

/// Whether a stream with this mode, a string, can be written to.
fn has_mode_to_write(mode: usize) -> bool {
    if mode == 0 {
        return false;
    }
    // SAFETY: the program gave this address as one of a string.
    let mode = unsafe { std::ffi::CStr::from_ptr(mode as *const libc::c_char) };
    mode.to_bytes().iter().any(|letter| b"wa+".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_changes_nothing() {
        assert!(!writes(libc::O_RDONLY | libc::O_CLOEXEC));
        for flags in [libc::O_WRONLY, libc::O_RDWR, libc::O_RDONLY | libc::O_CREAT, libc::O_RDONLY | libc::O_TRUNC] {
            assert!(writes(flags));
        }
        assert!(!has_mode_to_write(c"re".as_ptr() as usize) && !has_mode_to_write(c"rb".as_ptr() as usize));
        for mode in [c"w", c"a", c"r+", c"wx"] {
            assert!(has_mode_to_write(mode.as_ptr() as usize));
        }
    }
}
