//! System calls without the C library, whose functions may be interposed and set `errno`. An access must not change the
//! program's `errno`.

use std::arch::asm;

/// Makes a system call with up to six arguments, and returns the kernel's result, which is negative for errors.
///
/// # Safety
/// As for the system call.
pub unsafe fn call<const N: usize>(number: i64, arguments: [usize; N]) -> isize {
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
    let result: isize;
    // SAFETY: guaranteed by the caller; the kernel changes rcx and r11 besides the result.
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

/// The number of this process. The C library's function tells the program, which is then known ([`crate::server`]).
pub fn process() -> i32 {
    // SAFETY: has no arguments.
    unsafe { call(libc::SYS_getpid, []) as i32 }
}

/// Lets other threads run.
pub fn yield_now() {
    // SAFETY: has no arguments.
    unsafe { call(libc::SYS_sched_yield, []) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_given_and_errno_stays() {
        // SAFETY: the thread's own word; and no file has this number.
        unsafe {
            *libc::__errno_location() = 77;
            assert_eq!(call(libc::SYS_close, [usize::MAX]), -(libc::EBADF as isize));
            assert_eq!(*libc::__errno_location(), 77);
        }
    }

    #[test]
    fn all_six_arguments_arrive() {
        const LENGTH: usize = 4096;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;
        let address = |file: usize, offset: usize| {
            // SAFETY: a mapping at an address the kernel chooses.
            unsafe { call(libc::SYS_mmap, [0, LENGTH, libc::PROT_READ as usize, flags, file, offset]) }
        };
        let mapped = address(usize::MAX, 0);
        assert!(mapped > 0);
        // SAFETY: mapped above, and not used.
        assert_eq!(unsafe { call(libc::SYS_munmap, [mapped as usize, LENGTH]) }, 0);
        assert_eq!(address(usize::MAX, 1), -(libc::EINVAL as isize), "an offset within a page");
    }
}
