//! C++'s `operator new`: a block is allocated where the program says `new`, not where the C++ library calls `malloc`.
//!
//! While the library's operator runs, the address it was called from is kept for the functions of the heap. If the C++
//! library is linked statically there is no next operator, and the block is allocated here. `operator delete` needs
//! nothing, because `free` knows the block.

use libc::c_void;
use std::ffi::CStr;

/// The address to blame for an allocation by a call that returns to `pc`.
#[inline(always)]
pub fn caller_or(pc: usize) -> usize {
    // SAFETY: the thread's own word.
    match unsafe { caller().read() } {
        0 => pc,
        operator => operator,
    }
}

/// Memory has run out: an exception may end the operator that runs now.
#[cold]
pub fn has_failed() {
    // SAFETY: the thread's own word.
    unsafe { caller().write(0) };
}

interpose! {
    fn _Znwm(size: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size) } else { whole(size, ALIGNMENT, true) })
    }

    fn _Znam(size: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size) } else { whole(size, ALIGNMENT, true) })
    }

    fn _ZnwmRKSt9nothrow_t(size: usize, nothrow: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size, nothrow) } else { whole(size, ALIGNMENT, false) })
    }

    fn _ZnamRKSt9nothrow_t(size: usize, nothrow: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size, nothrow) } else { whole(size, ALIGNMENT, false) })
    }

    fn _ZnwmSt11align_val_t(size: usize, alignment: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size, alignment) } else { whole(size, alignment, true) })
    }

    fn _ZnamSt11align_val_t(size: usize, alignment: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size, alignment) } else { whole(size, alignment, true) })
    }

    fn _ZnwmSt11align_val_tRKSt9nothrow_t(size: usize, alignment: usize, nothrow: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size, alignment, nothrow) } else { whole(size, alignment, false) })
    }

    fn _ZnamSt11align_val_tRKSt9nothrow_t(size: usize, alignment: usize, nothrow: usize; pc) -> usize {
        called_from(pc, || if REAL.exists_in(LIBRARY) { real(size, alignment, nothrow) } else { whole(size, alignment, false) })
    }
}

/// The library that has the operators if a program in C has loaded them late.
const LIBRARY: &CStr = c"libstdc++.so.6";

// Where the outermost operator that runs was called from.
thread_words!(caller, "ravelin_new", 1);

/// The alignment of every block of the heap.
const ALIGNMENT: usize = 16;

/// Runs an operator. Operators call each other; the outermost is the program's. If an exception leaves this frame,
/// memory had run out, and the word is zero already.
#[inline(always)]
fn called_from(pc: usize, operator: impl FnOnce() -> usize) -> usize {
    let word = caller();
    // SAFETY: the thread's own word.
    let outermost = unsafe { word.read() } == 0;
    if outermost {
        // SAFETY: as above.
        unsafe { word.write(pc) };
    }
    let block = operator();
    if outermost {
        // SAFETY: as above.
        unsafe { word.write(0) };
    }
    block
}

/// The operator itself, without a handler for failed allocations.
#[cold]
fn whole(size: usize, alignment: usize, throws: bool) -> usize {
    let size = size.max(1);
    let block = if alignment <= ALIGNMENT {
        // SAFETY: always allowed.
        unsafe { libc::malloc(size) }
    } else {
        let mut block: *mut c_void = std::ptr::null_mut();
        // SAFETY: the block's address goes into a variable of its type.
        match unsafe { libc::posix_memalign(&raw mut block, alignment, size) } {
            0 => block,
            _ => std::ptr::null_mut(),
        }
    };
    if block.is_null() && throws {
        has_failed();
        throw();
    }
    block as usize
}

// The C++ library's function that throws, if it is linked.
std::arch::global_asm!(".weak _ZSt17__throw_bad_allocv");

/// Throws `std::bad_alloc` if the C++ library's function for that exists.
fn throw() -> ! {
    let throw: usize;
    // SAFETY: reads the address of a weak symbol, which is 0 if it is undefined.
    unsafe {
        std::arch::asm!(
            "mov {}, qword ptr [rip + _ZSt17__throw_bad_allocv@GOTPCREL]",
            out(reg) throw,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    // SAFETY: a function of this name has this type.
    unsafe {
        if throw != 0 {
            let throw: unsafe extern "C" fn() = std::mem::transmute(throw);
            throw();
        }
        libc::abort()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_operator_is_blamed() {
        assert_eq!(caller_or(1), 1);
        let blamed = called_from(5, || called_from(6, || caller_or(1)));
        assert_eq!(blamed, 5);
        assert_eq!(caller_or(1), 1, "it has returned");
    }

    #[test]
    fn nobody_is_blamed_after_an_operator_that_failed() {
        called_from(5, || {
            has_failed();
            caller_or(1)
        });
        assert_eq!(caller_or(1), 1);
    }
}
