//! Order through pipes, sockets and event counters: whoever reads comes after whoever wrote before.
//!
//! What was written when is the kernel's secret, so a read is taken to come after every earlier write to the same file.
//! That is more order than there is, and therefore excuses accesses but proves nothing ([`sync::acquire_assumed`]).
//! Both ends of a pipe are one file, known by its number; the two ends of a connection are not, and neither are event
//! counters distinguishable by number, so all sockets are one, and all of the kernel's files without a type. Files on
//! disks, directories and devices order nothing. Closing counts as writing: the reader may wait for the end.
//!
//! What the C library's streams read and write does not pass here.

use super::polling::await_ready;
use crate::{kernel, schedule, sync, this_thread};
use libc::{c_int, c_uint};

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

/// What the calling thread knows is known to whoever reads from the file.
#[inline(always)]
fn releases(file: c_int) {
    if this_thread::watched()
        && let Some(object) = object(file)
    {
        sync::release_join(object);
    }
}

/// The calling thread has written: who waits for that may go on.
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

/// Where what was written to a file is kept: addresses that no program has, also when only the bits count that the
/// shadow looks at. There are few, because files come and go without our knowing; those that share one are ordered too.
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
