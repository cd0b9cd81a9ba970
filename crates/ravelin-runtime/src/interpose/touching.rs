//! What a function of the C library reads and writes in the program's memory: the words of the table in
//! [`super::ranges`].
//!
//! Each function here ends with `pc`, the address to which the call returns, which is the place of the access. It counts
//! only for calls from instrumented code ([`instrumented`]). In Rust programs most calls come from the compiled
//! standard library; they do not count here, but [`crate::library`] knows the functions that make them.

use crate::{instrumented, library, memory, options, this_thread};
use libc::{iovec, msghdr};

/// No single range is longer: the kernel moves no more at a time, and a longer one is a mistake of the program.
const LONGEST: usize = 0x7fff_f000;

next! {
    fn strlen(text: usize) -> usize;
    fn strnlen(text: usize, most: usize) -> usize;
}

/// Whether what a call does counts.
#[inline(never)]
pub fn counts(pc: usize) -> bool {
    this_thread::watched() && options::library_calls() && !library::is_there() && instrumented::contains(pc)
}

/// The same for reads, which count only if races do.
#[inline(always)]
fn reads_count(pc: usize) -> bool {
    options::races() && counts(pc)
}

/// `length` bytes are read; none if there is no address, or if the length is negative because the call failed.
#[inline(always)]
pub fn reads(at: usize, length: impl TryInto<usize>, pc: usize) {
    touches(at, length, false, pc);
}

/// `length` bytes are written.
#[inline(always)]
pub fn writes(at: usize, length: impl TryInto<usize>, pc: usize) {
    touches(at, length, true, pc);
}

#[inline(always)]
fn touches(at: usize, length: impl TryInto<usize>, write: bool, pc: usize) {
    touches_range(at, length.try_into().unwrap_or(0), write, pc);
}

/// Not inline, as everything below: the table has many lines.
#[inline(never)]
fn touches_range(at: usize, length: usize, write: bool, pc: usize) {
    if at != 0 && (1..=LONGEST).contains(&length) && (write || options::races()) && counts(pc) {
        memory::range(at, length, write, pc);
    }
}

/// `length` bytes are written if the call returned 0.
#[inline(always)]
pub fn writes_if_zero(result: i32, at: usize, length: usize, pc: usize) {
    if result == 0 {
        writes(at, length, pc);
    }
}

/// A string is read with its end; nothing if there is none.
#[inline(never)]
pub fn reads_string(at: usize, pc: usize) {
    if at != 0 && reads_count(pc) {
        memory::range(at, strlen(at) + 1, false, pc);
    }
}

/// A string is read with its end, but no more than `most` bytes.
#[inline(never)]
pub fn reads_text(at: usize, most: usize, pc: usize) {
    if at != 0 && reads_count(pc) {
        memory::range(at, most.min(strnlen(at, most).saturating_add(1)), false, pc);
    }
}

/// A string was written with its end.
#[inline(never)]
pub fn writes_string(at: usize, pc: usize) {
    if at != 0 && counts(pc) {
        memory::range(at, strlen(at) + 1, true, pc);
    }
}

/// A string is read up to the character that was found, or with its end if none was.
#[inline(never)]
pub fn reads_until(at: usize, found: usize, pc: usize) {
    if found == 0 {
        reads_string(at, pc);
    } else {
        reads(at, found.wrapping_sub(at).saturating_add(1), pc);
    }
}

/// A range is read up to the byte that was found, or all of it if none was.
#[inline(never)]
pub fn reads_range_until(at: usize, length: usize, found: usize, pc: usize) {
    reads(at, if found == 0 { length } else { found.wrapping_sub(at).saturating_add(1) }, pc);
}

/// Two strings are read up to the first difference, or to their end, but no more than `most` bytes of each. With `fold`,
/// letters that differ in their case only are the same.
pub fn reads_while_same(left: usize, right: usize, most: usize, fold: bool, pc: usize) {
    if !reads_count(pc) {
        return;
    }
    let at = |address: usize| {
        // SAFETY: the C library's function has read these bytes. Volatile, so that the loop does not become a call of
        // such a function.
        let byte = unsafe { (address as *const u8).read_volatile() };
        if fold { byte.to_ascii_lowercase() } else { byte }
    };
    let mut same = 0;
    while same < most && at(left + same) != 0 && at(left + same) == at(right + same) {
        same += 1;
    }
    let length = most.min(same + 1);
    if length != 0 {
        memory::range(left, length, false, pc);
        memory::range(right, length, false, pc);
    }
}

/// A number is read from a string, up to the character after it. The call has stored where that is, if it was asked to.
pub fn reads_number(at: usize, end: usize, pc: usize) {
    if !reads_count(pc) {
        return;
    }
    if end != 0 {
        // SAFETY: the call has stored an address there.
        let stopped = unsafe { (end as *const usize).read() };
        reads(at, stopped.wrapping_sub(at).saturating_add(1), pc);
        return writes(end, size_of::<usize>(), pc);
    }
    // SAFETY: the string ends with a zero byte, at which the loop ends too; volatile as above.
    let byte = |length: usize| unsafe { ((at + length) as *const u8).read_volatile() };
    let mut length = 0;
    while byte(length).is_ascii_whitespace() {
        length += 1;
    }
    while byte(length).is_ascii_digit() || matches!(byte(length), b'+' | b'-' | b'.') {
        length += 1;
    }
    memory::range(at, length + 1, false, pc);
}

/// A copy of a string, at most `most` bytes long, was made in a new block.
pub fn copies_string(from: usize, most: usize, to: usize, pc: usize) {
    if to != 0 {
        reads_text(from, most, pc);
        writes_string(to, pc);
    }
}

/// At most `most` characters of a string are about to be appended to another.
pub fn appends(to: usize, from: usize, most: usize, pc: usize) {
    if counts(pc) {
        let (before, added) = (strlen(to), strnlen(from, most));
        reads(to, before + 1, pc);
        reads(from, most.min(added + 1), pc);
        writes(to + before, added + 1, pc);
    }
}

/// An array is read and written in place.
pub fn writes_elements(at: usize, count: usize, size: usize, pc: usize) {
    writes(at, count.saturating_mul(size), pc);
}

/// A line was read into a block whose address and size the program keeps.
pub fn writes_line(place: usize, size: usize, length: isize, pc: usize) {
    if length >= 0 && counts(pc) {
        writes(place, size_of::<usize>(), pc);
        writes(size, size_of::<usize>(), pc);
        // SAFETY: the call has succeeded, so the line's address is stored there.
        writes(unsafe { (place as *const usize).read() }, length + 1, pc);
    }
}

/// An address of a socket was stored, and its length where the program gave the room for it.
pub fn writes_address(result: i32, at: usize, length: usize, pc: usize) {
    if result >= 0 && at != 0 && length != 0 && counts(pc) {
        // SAFETY: the call has succeeded, so the length is stored there.
        writes(at, unsafe { (length as *const u32).read() } as usize, pc);
        writes(length, size_of::<u32>(), pc);
    }
}

/// `total` bytes of several ranges are read, in their order.
pub fn reads_vectors(vectors: usize, count: impl TryInto<usize>, total: impl TryInto<usize>, pc: usize) {
    if reads_count(pc) {
        touches_vectors(vectors, count, total, false, pc);
    }
}

/// `total` bytes of several ranges were written, in their order.
pub fn writes_vectors(vectors: usize, count: impl TryInto<usize>, total: impl TryInto<usize>, pc: usize) {
    if counts(pc) {
        touches_vectors(vectors, count, total, true, pc);
    }
}

#[cold]
fn touches_vectors(vectors: usize, count: impl TryInto<usize>, total: impl TryInto<usize>, write: bool, pc: usize) {
    /// The kernel takes no more.
    const MOST: usize = 1024;
    let (count, mut left) = (count.try_into().unwrap_or(0), total.try_into().unwrap_or(0));
    if vectors == 0 || count > MOST {
        return;
    }
    reads(vectors, count * size_of::<iovec>(), pc);
    for index in 0..count {
        // SAFETY: the program gave that many ranges.
        let vector = unsafe { (vectors as *const iovec).add(index).read() };
        let length = vector.iov_len.min(left);
        touches(vector.iov_base as usize, length, write, pc);
        left -= length;
    }
}

/// A message is about to be sent: its ranges are read.
pub fn reads_message(message: usize, pc: usize) {
    if message != 0 && reads_count(pc) {
        // SAFETY: the program gave this address as one of a message.
        let header = unsafe { (message as *const msghdr).read() };
        reads(message, size_of::<msghdr>(), pc);
        touches_vectors(header.msg_iov as usize, header.msg_iovlen, LONGEST, false, pc);
        reads(header.msg_control as usize, header.msg_controllen, pc);
    }
}

/// A message of `total` bytes was received: its ranges are written.
pub fn writes_message(message: usize, total: isize, pc: usize) {
    if message != 0 && total >= 0 && counts(pc) {
        // SAFETY: the program gave this address as one of a message.
        let header = unsafe { (message as *const msghdr).read() };
        touches_vectors(header.msg_iov as usize, header.msg_iovlen, total, true, pc);
        writes(header.msg_control as usize, header.msg_controllen, pc);
        writes(header.msg_name as usize, header.msg_namelen as usize, pc);
    }
}
