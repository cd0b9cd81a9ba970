//! Functions of the C library that read and write ranges of the program's memory.
//!
//! The runtime's own code calls them too, and the dynamic linker may before anything is set up: a thread that is not
//! watched goes straight to the real function, and as long as that is not known the bytes are moved here, by string
//! instructions, because a loop would be compiled into a call of what it stands for.
//!
//! Newer compilers call `__tsan_memcpy` and its relatives in instrumented code. Where that is certain, in Rust programs, the
//! plain functions are called by compiled libraries only, which synchronise in ways that are not seen, and do not count.

use crate::{library, memory, this_thread};
use libc::c_int;
use std::arch::asm;

interpose! {
    fn memcpy(to: usize, from: usize, length: usize; pc) -> usize {
        copied(to, from, length, pc);
        match REAL.known() {
            Some(_) => real(to, from, length),
            None => copy(to, from, length),
        }
    }

    fn memmove(to: usize, from: usize, length: usize; pc) -> usize {
        copied(to, from, length, pc);
        match REAL.known() {
            Some(_) => real(to, from, length),
            None => copy(to, from, length),
        }
    }

    fn memset(to: usize, byte: c_int, length: usize; pc) -> usize {
        written(to, length, pc);
        match REAL.known() {
            Some(_) => real(to, byte, length),
            None => fill(to, byte, length),
        }
    }

    fn mempcpy(to: usize, from: usize, length: usize; pc) -> usize {
        copied(to, from, length, pc);
        real(to, from, length)
    }

    fn __memcpy_chk(to: usize, from: usize, length: usize, room: usize; pc) -> usize {
        copied(to, from, length, pc);
        real(to, from, length, room)
    }

    fn __memmove_chk(to: usize, from: usize, length: usize, room: usize; pc) -> usize {
        copied(to, from, length, pc);
        real(to, from, length, room)
    }

    fn __memset_chk(to: usize, byte: c_int, length: usize, room: usize; pc) -> usize {
        written(to, length, pc);
        real(to, byte, length, room)
    }

    fn strcpy(to: usize, from: usize; pc) -> usize {
        if seen() {
            copied(to, from, length_of(from) + 1, pc);
        }
        real(to, from)
    }

    fn stpcpy(to: usize, from: usize; pc) -> usize {
        if seen() {
            copied(to, from, length_of(from) + 1, pc);
        }
        real(to, from)
    }

    fn strncpy(to: usize, from: usize, room: usize; pc) -> usize {
        if seen() {
            // SAFETY: the caller's string ends with a zero byte or has at least `room` bytes.
            let length = unsafe { libc::strnlen(from as *const _, room) };
            memory::range(from, room.min(length + 1), false, pc);
            written(to, room, pc);
        }
        real(to, from, room)
    }

    fn strcat(to: usize, from: usize; pc) -> usize {
        if seen() {
            let before = length_of(to);
            memory::range(to, before + 1, false, pc);
            copied(to + before, from, length_of(from) + 1, pc);
        }
        real(to, from)
    }

    fn memcmp(left: usize, right: usize, length: usize; pc) -> c_int {
        compared(left, right, length, pc);
        match REAL.known() {
            Some(_) => real(left, right, length),
            None => compare(left, right, length),
        }
    }

    fn bcmp(left: usize, right: usize, length: usize; pc) -> c_int {
        compared(left, right, length, pc);
        match REAL.known() {
            Some(_) => real(left, right, length),
            None => compare(left, right, length),
        }
    }
}

macro_rules! instrumented {
    ($($symbol:literal $function:path),*) => {$(
        std::arch::global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            "mov rcx, qword ptr [rsp]",
            "jmp {function}",
            function = sym $function,
        );
    )*};
}

instrumented!("__tsan_memcpy" copies, "__tsan_memmove" copies, "__tsan_memset" fills);

extern "C" fn copies(to: usize, from: usize, length: usize, pc: usize) -> usize {
    if length != 0 && this_thread::watched() {
        memory::range(from, length, false, pc);
        memory::range(to, length, true, pc);
    }
    // SAFETY: the program's ranges; what may overlap is moved.
    unsafe { libc::memmove(to as *mut _, from as *const _, length) as usize }
}

extern "C" fn fills(to: usize, byte: c_int, length: usize, pc: usize) -> usize {
    if length != 0 && this_thread::watched() {
        memory::range(to, length, true, pc);
    }
    // SAFETY: the program's range.
    unsafe { libc::memset(to as *mut _, byte, length) as usize }
}

/// Whether calls of these functions count.
#[inline(always)]
fn seen() -> bool {
    this_thread::watched() && !library::is_there()
}

#[inline(always)]
fn copied(to: usize, from: usize, length: usize, pc: usize) {
    if length != 0 && seen() {
        memory::range(from, length, false, pc);
        memory::range(to, length, true, pc);
    }
}

#[inline(always)]
fn written(to: usize, length: usize, pc: usize) {
    if length != 0 && seen() {
        memory::range(to, length, true, pc);
    }
}

#[inline(always)]
fn compared(left: usize, right: usize, length: usize, pc: usize) {
    if length != 0 && seen() {
        // Only up to the first difference: what comes behind it need not be there.
        let mut same = 0;
        // SAFETY: `memcmp` reads these bytes too.
        while same + 1 < length && unsafe { byte(left + same) == byte(right + same) } {
            same += 1;
        }
        memory::range(left, same + 1, false, pc);
        memory::range(right, same + 1, false, pc);
    }
}

#[inline(always)]
unsafe fn byte(address: usize) -> u8 {
    // SAFETY: the caller promises that the byte is there. Volatile, so that no loop becomes a call of `memcmp`.
    unsafe { (address as *const u8).read_volatile() }
}

fn length_of(string: usize) -> usize {
    // SAFETY: the caller's string ends with a zero byte.
    unsafe { libc::strlen(string as *const _) }
}

/// Copies from the end where the ranges overlap so that it must.
#[cold]
fn copy(to: usize, from: usize, length: usize) -> usize {
    if to.wrapping_sub(from) < length {
        // SAFETY: the caller's ranges; the direction is set back.
        unsafe {
            asm!(
                "std", "rep movsb", "cld",
                inout("rcx") length => _, inout("rdi") to + length - 1 => _, inout("rsi") from + length - 1 => _,
                options(nostack),
            );
        }
    } else {
        // SAFETY: the caller's ranges.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") length => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags),
            );
        }
    }
    to
}

#[cold]
fn fill(to: usize, byte: c_int, length: usize) -> usize {
    // SAFETY: the caller's range.
    unsafe {
        asm!(
            "rep stosb",
            inout("rcx") length => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags),
        );
    }
    to
}

#[cold]
fn compare(left: usize, right: usize, length: usize) -> c_int {
    for place in 0..length {
        // SAFETY: the caller's ranges.
        let (a, b) = unsafe { (byte(left + place), byte(right + place)) };
        if a != b {
            return c_int::from(a) - c_int::from(b);
        }
    }
    0
}
