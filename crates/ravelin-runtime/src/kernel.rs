//! System calls without the C library, whose functions may be interposed and set `errno`: the program must not find
//! another `errno` after an access than before.

use std::arch::asm;

/// A system call with up to six arguments; gives what the kernel gives, negative for errors.
///
/// # Safety
/// As for the system call.
pub unsafe fn call<const N: usize>(number: i64, arguments: [usize; N]) -> isize {
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
    let result: isize;
    // SAFETY: by the caller; the kernel changes rcx and r11 besides the result.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") argument(0),
            in("rsi") argument(1),
            in("rdx") argument(2),
            in("r10") argument(3),
            in("r8") argument(4),
            in("r9") argument(5),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Lets others run.
pub fn yield_now() {
    // SAFETY: has no arguments.
    unsafe { call(libc::SYS_sched_yield, []) };
}
