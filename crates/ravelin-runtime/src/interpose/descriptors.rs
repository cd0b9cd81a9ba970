//! Order through pipes, sockets and event counters: a read comes after the earlier writes.
//!
//! The kernel does not reveal which write a read receives, so a read is taken to come after every earlier write to the
//! same file. That is more order than there is. It therefore excuses accesses but proves nothing
//! ([`sync::acquire_assumed`]).
//!
//! Both ends of a pipe are one file, identified by its number. The two ends of a connection are not, and event counters
//! cannot be distinguished by number. All sockets therefore count as one file, and so do all of the kernel's files
//! without a type. Files on disks, directories and devices order nothing. Closing counts as writing, because the reader
//! may wait for the end.
//!
//! Reads and writes of the C library's streams do not pass through here.

use super::polling::await_ready;
use crate::{kernel, schedule, sync, this_thread};
use libc::{c_int, c_long, c_uint};

interpose! {
    fn write(file: c_int, from: usize, length: usize) -> isize {
        sends(file);
        sent(real(file, from, length))
    }

    fn writev(file: c_int, ranges: usize, count: c_int) -> isize {
        sends(file);
        sent(real(file, ranges, count))
    }

    fn send(file: c_int, from: usize, length: usize, flags: c_int) -> isize {
        sends(file);
        sent(real(file, from, length, flags))
    }

    fn sendto(file: c_int, from: usize, length: usize, flags: c_int, to: usize, size: c_uint) -> isize {
        sends(file);
        sent(real(file, from, length, flags, to, size))
    }

    fn sendmsg(file: c_int, message: usize, flags: c_int) -> isize {
        sends(file);
        sent(real(file, message, flags))
    }

    fn sendmmsg(file: c_int, messages: usize, count: c_uint, flags: c_int) -> c_int {
        sends(file);
        sent(real(file, messages, count, flags))
    }

    fn eventfd_write(file: c_int, value: u64) -> c_int {
        sends(file);
        sent(real(file, value))
    }

    fn connect(file: c_int, address: usize, length: c_uint) -> c_int {
        releases(file);
        sent(real(file, address, length))
    }

    fn shutdown(file: c_int, how: c_int) -> c_int {
        releases(file);
        sent(real(file, how))
    }

    fn close(file: c_int) -> c_int {
        releases(file);
        sent(real(file))
    }

    fn read(file: c_int, to: usize, length: usize) -> isize {
        receives(file);
        received(file, real(file, to, length))
    }

    fn __read_chk(file: c_int, to: usize, length: usize, room: usize) -> isize {
        receives(file);
        received(file, real(file, to, length, room))
    }

    fn readv(file: c_int, ranges: usize, count: c_int) -> isize {
        receives(file);
        received(file, real(file, ranges, count))
    }

    fn recv(file: c_int, to: usize, length: usize, flags: c_int) -> isize {
        receives(file);
        received(file, real(file, to, length, flags))
    }

    fn __recv_chk(file: c_int, to: usize, length: usize, room: usize, flags: c_int) -> isize {
        receives(file);
        received(file, real(file, to, length, room, flags))
    }

    fn recvfrom(file: c_int, to: usize, length: usize, flags: c_int, from: usize, size: usize) -> isize {
        receives(file);
        received(file, real(file, to, length, flags, from, size))
    }

    fn recvmsg(file: c_int, message: usize, flags: c_int) -> isize {
        receives(file);
        received(file, real(file, message, flags))
    }

    fn recvmmsg(file: c_int, messages: usize, count: c_uint, flags: c_int, limit: usize) -> c_int {
        receives(file);
        received(file, real(file, messages, count, flags, limit) as isize) as c_int
    }

    fn eventfd_read(file: c_int, value: usize) -> c_int {
        receives(file);
        received(file, real(file, value) as isize) as c_int
    }

    fn accept(file: c_int, address: usize, length: usize) -> c_int {
        receives(file);
        received(file, real(file, address, length) as isize) as c_int
    }

    fn accept4(file: c_int, address: usize, length: usize, flags: c_int) -> c_int {
        receives(file);
        received(file, real(file, address, length, flags) as isize) as c_int
    }
}

/// The calling thread is about to write.
#[inline(always)]
fn sends(file: c_int) {
    if schedule::is_on() {
        await_ready(file, libc::POLLOUT, 0);
    }
    releases(file);
}

/// What the macros of `sanitizer/linux_syscall_hooks.h` tell about a file that the program closes by its own system call,
/// before and after that.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_syscall_pre_impl_close(file: c_long) {
    releases(file as c_int);
}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_syscall_post_impl_close(result: c_long, _file: c_long) {
    sent(result);
}

/// Makes what the calling thread knows known to readers of the file.
#[inline(always)]
fn releases(file: c_int) {
    if this_thread::watched()
        && let Some(object) = object(file)
    {
        sync::release_join(object);
    }
}

/// The calling thread has written: threads that wait for that may continue.
#[inline(always)]
fn sent<R>(result: R) -> R {
    schedule::descriptor_changed();
    result
}

/// The calling thread is about to read.
#[inline(always)]
fn receives(file: c_int) {
    if schedule::is_on() {
        await_ready(file, libc::POLLIN, 0);
    }
}

/// The calling thread has read; nothing if the call failed.
#[inline(always)]
fn received(file: c_int, result: isize) -> isize {
    schedule::descriptor_changed();
    if result >= 0
        && this_thread::watched()
        && let Some(object) = object(file)
    {
        sync::acquire_assumed(object);
    }
    result
}

/// Where the clocks of written files are kept: addresses that no program has, even if only the bits count that the
/// shadow looks at. There are few, because files are opened and closed unseen. Files that share an address are ordered
/// too.
const OBJECTS: usize = 0x0800_0000_0000;
const COUNT: u64 = 1 << 14;

#[cold]
#[inline(never)]
fn object(file: c_int) -> Option<usize> {
    let mut about = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills a `stat`. It is asked directly because the program must not see another `errno`.
    let about = unsafe {
        if kernel::call(libc::SYS_fstat, [file as usize, about.as_mut_ptr() as usize]) != 0 {
            return None;
        }
        about.assume_init()
    };
    let number = match about.st_mode & libc::S_IFMT {
        libc::S_IFSOCK => 0,
        libc::S_IFIFO | 0 => 1 + about.st_ino.wrapping_add(about.st_dev.wrapping_mul(0x9e37)) % COUNT,
        _ => return None,
    };
    Some(OBJECTS + 8 * number as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two descriptors that the C library's function opens, and that are closed again.
    struct Pair([c_int; 2]);

    impl Drop for Pair {
        fn drop(&mut self) {
            for file in self.0 {
                // SAFETY: it was opened for this.
                unsafe { libc::close(file) };
            }
        }
    }

    fn pipe() -> Pair {
        let mut ends = [0; 2];
        // SAFETY: the kernel fills two numbers.
        assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
        Pair(ends)
    }

    fn sockets() -> Pair {
        let mut ends = [0; 2];
        // SAFETY: the kernel fills two numbers.
        assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) }, 0);
        Pair(ends)
    }

    #[test]
    fn both_ends_of_a_pipe_are_one_object_and_two_pipes_are_not() {
        let (one, other) = (pipe(), pipe());
        let [objects, others] = [&one, &other].map(|pair| pair.0.map(|file| object(file).expect("an object")));
        assert_eq!(objects[0], objects[1]);
        assert_eq!(others[0], others[1]);
        assert_ne!(objects[0], others[0]);
    }

    #[test]
    fn all_sockets_are_one_object() {
        let (one, other) = (sockets(), sockets());
        let objects: Vec<_> = one.0.into_iter().chain(other.0).map(object).collect();
        assert_eq!(objects, [Some(OBJECTS); 4]);
    }

    #[test]
    fn an_event_counter_orders_and_a_file_does_not() {
        // SAFETY: no pointers but a string that ends with a zero byte.
        let files = Pair(unsafe { [libc::eventfd(0, libc::EFD_CLOEXEC), libc::memfd_create(c"file".as_ptr(), 0)] });
        assert!(object(files.0[0]).is_some());
        assert_eq!(object(files.0[1]), None);
    }

    #[test]
    fn what_is_not_open_is_no_object_and_errno_stays() {
        // SAFETY: the thread's own word.
        unsafe { *libc::__errno_location() = 77 };
        assert_eq!(object(-1), None);
        // SAFETY: as above.
        assert_eq!(unsafe { *libc::__errno_location() }, 77);
    }

    #[test]
    fn objects_are_words_where_no_program_has_any() {
        let last = OBJECTS + 8 * COUNT as usize;
        assert_eq!(OBJECTS % 8, 0);
        // Programs lie below 4 GB or at 0x55…, libraries and stacks at 0x7e… and 0x7f…; of all these 44 bits count.
        for (low, high) in [(0, 1 << 32), (0x0500_0000_0000, 0x0600_0000_0000), (0x0e00_0000_0000, 0x1000_0000_0000)] {
            assert!(last < low || OBJECTS >= high);
        }
    }
}
