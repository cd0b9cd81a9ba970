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
//! The functions are in the table of [`super::ranges`]; those here say what happens before and after a call. Each ends
//! with the address to which the call returns, as all words of the table do.
//!
//! Of the C library's streams, only those count whose file orders something. What is written to one happens before it
//! is flushed, and what flushes it unseen is not known, so each write counts as a flush.

use super::polling::await_ready;
use crate::closes::{self, closes, opened, uses};
use crate::{kernel, schedule, sync, this_thread};
use libc::{c_int, c_long, c_uint};

/// The calling thread is about to write.
#[inline(always)]
pub fn sends(file: c_int, pc: usize) {
    uses(file, pc);
    if schedule::is_on() {
        await_ready(file, libc::POLLOUT, 0);
    }
    releases(file, pc);
}

/// What the macros of `sanitizer/linux_syscall_hooks.h` tell about a file that the program closes by its own system call,
/// before and after that.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_syscall_pre_impl_close(file: c_long) {
    releases(file as c_int, 0);
    closes::forget(file as c_int);
}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_syscall_post_impl_close(_result: c_long, _file: c_long) {
    sent(0);
}

/// Makes what the calling thread knows known to readers of the file.
#[inline(always)]
pub fn releases(file: c_int, _pc: usize) {
    if this_thread::watched()
        && let Some(object) = object(file)
    {
        sync::release_join(object);
    }
}

/// The calling thread has written: threads that wait for that may continue.
#[inline(always)]
pub fn sent(_pc: usize) {
    schedule::descriptor_changed();
}

/// The calling thread is about to read.
#[inline(always)]
pub fn receives(file: c_int, pc: usize) {
    uses(file, pc);
    if schedule::is_on() {
        await_ready(file, libc::POLLIN, 0);
    }
}

/// The calling thread has read; nothing if the call failed.
#[inline(always)]
pub fn received(file: c_int, result: isize, _pc: usize) {
    schedule::descriptor_changed();
    if result >= 0
        && this_thread::watched()
        && let Some(object) = object(file)
    {
        sync::acquire_assumed(object);
    }
}

/// The calling thread was told of events: what was written to sockets before may be what happened.
#[inline(always)]
pub fn received_from_sockets(_pc: usize) {
    if this_thread::watched() {
        sync::acquire_assumed(OBJECTS);
    }
}

/// The calling thread is about to close all descriptors from one number to another, unless `flags` ask only that they are
/// closed when another program is executed. What their readers receive is ordered as by `close`.
pub fn closes_all(first: c_uint, last: c_uint, flags: c_int, pc: usize) {
    if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 {
        closes::closes_range(first, last, pc, |file| releases(file, pc));
    }
}

/// A call has made two descriptors, if it succeeded.
pub fn opened_pair(result: c_int, ends: usize, pc: usize) {
    if result == 0 {
        // SAFETY: the call has stored two numbers there.
        unsafe { (ends as *const [c_int; 2]).read() }.into_iter().for_each(|file| opened(file, pc));
    }
}

/// A call of `fcntl` has made a descriptor, if it is one that does.
pub fn opened_by(command: c_int, result: c_int, pc: usize) {
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        opened(result, pc);
    }
}

/// A call has opened a stream.
pub fn opened_stream(stream: usize, pc: usize) {
    if stream != 0 {
        opened(file_of(stream), pc);
    }
}

/// The calling thread is about to close a stream.
pub fn closes_stream(stream: usize, pc: usize) {
    if stream != 0 && this_thread::watched() {
        let file = file_of(stream);
        closes(file, pc);
        releases(file, pc);
    }
}

/// The calling thread puts a message into a queue, which is a file on a disk of its own.
pub fn queues(queue: c_int, _pc: usize) {
    if this_thread::watched()
        && let Some(about) = status(queue)
    {
        sync::release_join(numbered(&about));
    }
}

/// The calling thread has taken a message out of a queue; nothing if the call failed.
pub fn took_from_queue(queue: c_int, result: isize, _pc: usize) {
    if result >= 0
        && this_thread::watched()
        && let Some(about) = status(queue)
    {
        sync::acquire_assumed(numbered(&about));
    }
}

/// The calling thread is about to wake those that wait for a word in the kernel.
pub fn wakes(word: usize) {
    if this_thread::watched() {
        sync::release_join(waited_for(word));
    }
}

/// The calling thread was woken at a word.
pub fn woken(word: usize) {
    if this_thread::watched() {
        sync::acquire_assumed(waited_for(word));
    }
}

/// The calling thread writes to a stream, or flushes it.
#[inline(always)]
pub fn flushes_stream(stream: usize, pc: usize) {
    if stream != 0 && this_thread::watched() {
        let file = file_of(stream);
        uses(file, pc);
        releases(file, pc);
    }
}

/// The calling thread has read from a stream.
#[inline(always)]
pub fn fills_stream(stream: usize, pc: usize) {
    if this_thread::watched() {
        let file = file_of(stream);
        uses(file, pc);
        received(file, 0, pc);
    }
}

/// The calling thread writes one character to a stream. Only if its buffer is full, something is written to the file.
#[inline(always)]
pub fn puts_one(stream: usize, pc: usize) {
    if this_thread::watched() && buffer(stream, NEXT_WRITTEN) >= buffer(stream, END_OF_WRITTEN) {
        flushes_stream(stream, pc);
    }
}

/// The calling thread has read one character from a stream: if it is the first in the buffer, the file was read.
#[inline(always)]
pub fn took_one(stream: usize, pc: usize) {
    if this_thread::watched() && buffer(stream, NEXT_READ) <= buffer(stream, START_OF_READ) + 1 {
        fills_stream(stream, pc);
    }
}

/// Where the beginning of a `FILE`, which the C library's headers publish, has pointers into its buffer.
const NEXT_READ: usize = 1;
const START_OF_READ: usize = 3;
const NEXT_WRITTEN: usize = 5;
const END_OF_WRITTEN: usize = 6;

#[inline(always)]
fn buffer(stream: usize, pointer: usize) -> usize {
    // SAFETY: the program gave this address as one of a stream. Other threads may change the pointer meanwhile.
    unsafe { (stream as *const usize).add(pointer).read_volatile() }
}

/// The file of a stream; one that does not exist if the stream has none.
fn file_of(stream: usize) -> c_int {
    // SAFETY: the thread's own word, and a stream of the program.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let file = libc::fileno(stream as *mut libc::FILE);
        *errno = before;
        file
    }
}

/// Where the clocks of written files are kept: addresses that no program has, even if only the bits count that the
/// shadow looks at. There are few, because files are opened and closed unseen. Files that share an address are ordered
/// too.
const OBJECTS: usize = 0x0800_0000_0000;
const COUNT: u64 = 1 << 14;

#[cold]
#[inline(never)]
fn object(file: c_int) -> Option<usize> {
    let about = status(file)?;
    match about.st_mode & libc::S_IFMT {
        libc::S_IFSOCK => Some(OBJECTS),
        libc::S_IFIFO | 0 => Some(numbered(&about)),
        _ => None,
    }
}

fn status(file: c_int) -> Option<libc::stat> {
    let mut about = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills a `stat`. It is asked directly because the program must not see another `errno`.
    unsafe {
        let asked = kernel::call(libc::SYS_fstat, [file as usize, about.as_mut_ptr() as usize]);
        (asked == 0).then(|| about.assume_init())
    }
}

/// The object of a file that is known by its number.
fn numbered(about: &libc::stat) -> usize {
    at(about.st_ino.wrapping_add(about.st_dev.wrapping_mul(0x9e37)))
}

/// The object of a word that threads wait for in the kernel. It is not the word itself, which is an atomic.
fn waited_for(word: usize) -> usize {
    at((word as u64 >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32)
}

fn at(number: u64) -> usize {
    OBJECTS + 8 * (1 + number % COUNT) as usize
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
