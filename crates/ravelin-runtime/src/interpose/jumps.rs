//! Jumps out of functions. The calls that `longjmp` leaves never return, so they are removed from the stack of calls
//! here.
//!
//! The C library keeps the stack pointer of a `jmp_buf` in its seventh word, xored with the thread's pointer guard and
//! rotated by 17 bits.

use crate::this_thread;
use libc::c_int;

interpose! {
    fn longjmp(buffer: usize, value: c_int) {
        jumping(buffer);
        real(buffer, value)
    }

    fn _longjmp(buffer: usize, value: c_int) {
        jumping(buffer);
        real(buffer, value)
    }

    fn siglongjmp(buffer: usize, value: c_int) {
        jumping(buffer);
        real(buffer, value)
    }

    fn __longjmp_chk(buffer: usize, value: c_int) {
        jumping(buffer);
        real(buffer, value)
    }
}

fn jumping(buffer: usize) {
    const STACK_POINTER: usize = 6;
    let guard: usize;
    // SAFETY: the pointer guard is a word of the thread's control block.
    unsafe { std::arch::asm!("mov {}, fs:[0x30]", out(reg) guard, options(pure, readonly, nostack)) };
    // SAFETY: the program jumps with this buffer, so `setjmp` has filled it.
    let mangled = unsafe { (buffer as *const usize).add(STACK_POINTER).read() };
    let sp = mangled.rotate_right(17) ^ guard;
    let thread = this_thread::me();
    if !thread.is_null() {
        // SAFETY: the calling thread's own state.
        unsafe { (*thread).leave_functions_below(sp) };
    }
}
