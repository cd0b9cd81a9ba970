//! Functions of the C library that read and write ranges of the program's memory.
//!
//! The runtime's own code calls them too, and the dynamic linker may do so before anything is set up. A thread that is
//! not watched calls the real function directly. As long as the real function is not known, the bytes are moved here.
//! String instructions do that, because a loop would be compiled into a call of the function that it implements.
//!
//! Newer compilers call `__tsan_memcpy` and its relatives in instrumented code. In Rust programs that is certain.
//! There, only compiled libraries call the plain functions; their synchronisation is not seen, so these calls do not
//! count.

use super::{openmp, touching};
use crate::{instrumented, library, memory, this_thread};
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
        if seen(pc) {
            copied(to, from, length_of(from) + 1, pc);
        }
        real(to, from)
    }

    fn stpcpy(to: usize, from: usize; pc) -> usize {
        if seen(pc) {
            copied(to, from, length_of(from) + 1, pc);
        }
        real(to, from)
    }

    fn strncpy(to: usize, from: usize, room: usize; pc) -> usize {
        if seen(pc) {
            let length = touching::strnlen(from, room);
            memory::range(from, room.min(length + 1), false, pc);
            written(to, room, pc);
        }
        real(to, from, room)
    }

    fn strcat(to: usize, from: usize; pc) -> usize {
        if seen(pc) {
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

/// Whether a call of these functions counts.
#[inline(always)]
fn seen(pc: usize) -> bool {
    this_thread::watched() && !library::is_there() && !(openmp::is_on() && instrumented::is_openmp(pc))
}

#[inline(always)]
fn copied(to: usize, from: usize, length: usize, pc: usize) {
    if length != 0 && seen(pc) {
        memory::range(from, length, false, pc);
        memory::range(to, length, true, pc);
    }
}

#[inline(always)]
fn written(to: usize, length: usize, pc: usize) {
    if length != 0 && seen(pc) {
        memory::range(to, length, true, pc);
    }
}

#[inline(always)]
fn compared(left: usize, right: usize, length: usize, pc: usize) {
    if length != 0 && seen(pc) {
        // Only up to the first difference: the bytes after it need not exist.
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
    touching::strlen(string)
}

/// Copies from the end where the ranges overlap in such a way that it must.
#[cold]
fn copy(to: usize, from: usize, length: usize) -> usize {
    if to.wrapping_sub(from) < length {
        // SAFETY: the caller's ranges; the direction is restored.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow;
    use crate::threads::tests::watched;
    use ravelin_clocks::race::slot;
    use std::sync::atomic::Ordering;

    /// Two texts of a program, far from each other.
    struct Texts(Box<[[u8; 64]; 4]>);

    impl Texts {
        /// With the given beginnings, and no known accesses.
        fn new(left: &[u8], right: &[u8]) -> Texts {
            let mut texts = Texts(Box::new([[0xee; 64]; 4]));
            texts.0[0][..left.len()].copy_from_slice(left);
            texts.0[2][..right.len()].copy_from_slice(right);
            memory::forget(texts.at()[0] & !7, 256);
            texts
        }

        fn at(&mut self) -> [usize; 2] {
            [self.0[0].as_mut_ptr() as usize, self.0[2].as_mut_ptr() as usize]
        }
    }

    /// How many bytes from an address on were read, or written, without a gap.
    fn touched(address: usize, write: bool) -> usize {
        let is_touched = |address: &usize| {
            shadow::cell(*address)
                .iter()
                .map(|slot| slot.load(Ordering::Relaxed))
                .any(|access| (access & slot::WRITE != 0) == write && slot::bytes(access) >> (address & 7) & 1 != 0)
        };
        (address..address + 64).take_while(is_touched).count()
    }

    /// Calls a function with two texts. Returns how much of the first was written and read, and of the second.
    fn accesses(left: &[u8], right: &[u8], call: impl FnOnce(usize, usize)) -> [usize; 4] {
        watched(|| {
            let mut texts = Texts::new(left, right);
            let [to, from] = texts.at();
            call(to, from);
            [touched(to, true), touched(to, false), touched(from, true), touched(from, false)]
        })
    }

    #[test]
    fn copies_read_and_write_as_many_bytes_as_they_move() {
        // SAFETY: here and below, the texts are long enough and end with a zero byte where they must.
        let call = |to, from| unsafe { assert_eq!(memcpy(to, from, 5, 1), to) };
        assert_eq!(accesses(b"", b"hello world", call), [5, 0, 0, 5]);
        // SAFETY: as above.
        let call = |to, from| unsafe { assert_eq!(memmove(to, from, 0, 1), to) };
        assert_eq!(accesses(b"", b"hello", call), [0; 4]);
        // SAFETY: as above.
        let call = |to, _| unsafe { assert_eq!(memset(to, 7, 9, 1), to) };
        assert_eq!(accesses(b"", b"", call), [9, 0, 0, 0]);
    }

    #[test]
    fn strings_are_copied_with_their_end() {
        // SAFETY: as above.
        let call = |to, from| unsafe { assert_eq!(strcpy(to, from, 1), to) };
        assert_eq!(accesses(b"", b"four\0 more", call), [5, 0, 0, 5]);
        // SAFETY: as above.
        let call = |to, from| unsafe { assert_eq!(stpcpy(to, from, 1), to + 4) };
        assert_eq!(accesses(b"", b"four\0", call), [5, 0, 0, 5]);
        // SAFETY: as above.
        let call = |to, from| unsafe { assert_eq!(strncpy(to, from, 12, 1), to) };
        assert_eq!(accesses(b"", b"four\0", call), [12, 0, 0, 5], "the rest is filled with zeroes");
        // SAFETY: as above.
        let call = |to, from| unsafe { assert_eq!(strncpy(to, from, 3, 1), to) };
        assert_eq!(accesses(b"", b"four", call), [3, 0, 0, 3], "a string that does not fit has no end");
    }

    #[test]
    fn appending_reads_up_to_the_old_end_and_writes_from_there() {
        let mut written = 0;
        // SAFETY: as above.
        let call = |to, from| unsafe {
            assert_eq!(strcat(to, from, 1), to);
            written = touched(to + 3, true);
        };
        let [from_start, read, ..] = accesses(b"one\0", b"four\0", call);
        assert_eq!((from_start, written), (0, 5));
        assert!(read >= 3);
    }

    #[test]
    fn a_comparison_reads_up_to_the_first_difference() {
        for (right, length, expected) in [(&b"same"[..], 4, 4), (b"sane", 4, 3), (b"tame", 4, 1), (b"same", 0, 0)] {
            let call = |one, other| {
                // SAFETY: as above.
                let order = unsafe { memcmp(one, other, length, 1) };
                assert_eq!(order.signum(), b"same"[..length].cmp(&right[..length]) as c_int);
            };
            assert_eq!(accesses(b"same", right, call), [0, expected, 0, expected], "{right:?}");
        }
    }

    #[test]
    fn without_the_real_functions_bytes_are_moved_as_they_would() {
        let original: Vec<u8> = (0..40).collect();
        for (to, from) in [(0, 0), (0, 5), (5, 0), (0, 20), (20, 0), (7, 6), (6, 7)] {
            for length in [0, 1, 2, 8, 20] {
                let (mut moved, mut expected) = (original.clone(), original.clone());
                let at = moved.as_mut_ptr() as usize;
                assert_eq!(copy(at + to, at + from, length), at + to);
                expected.copy_within(from..from + length, to);
                assert_eq!(moved, expected, "{length} bytes from {from} to {to}");
            }
        }
    }

    #[test]
    fn without_the_real_functions_bytes_are_filled_and_compared_as_they_would() {
        let mut bytes = [1_u8; 9];
        let at = bytes.as_mut_ptr() as usize;
        assert_eq!(fill(at + 2, 0x1ff, 5), at + 2);
        assert_eq!(bytes, [1, 1, 255, 255, 255, 255, 255, 1, 1]);
        for (left, right) in [(&b"abc"[..], &b"abd"[..]), (b"abc", b"abc"), (b"\xff", b"\x01"), (b"", b"")] {
            let order = compare(left.as_ptr() as usize, right.as_ptr() as usize, left.len());
            assert_eq!(order.signum(), left.cmp(right) as c_int, "{left:?} and {right:?}");
        }
    }
}
