//! `exec`: another program replaces this one, so the findings must be complete before the call.
//!
//! Some of these functions take any number of arguments, which can only be left in place. Each symbol is therefore a
//! piece of assembly that saves the registers of the arguments, calls [`process::replaced`], and jumps to the real
//! function. If `exec` fails, the program continues, and ends once more later.

use super::process;
use super::real::RealFunction;

/// `before_exec!(name, …)`: a weak `name` that jumps to the next definition of `name` after [`process::replaced`].
macro_rules! before_exec {
    ($($name:ident),*) => {$(
        #[allow(non_snake_case)]
        #[cfg_attr(test, allow(dead_code))]
        extern "C" fn $name() -> usize {
            #[unsafe(link_section = "ravelin_real")]
            static REAL: RealFunction = RealFunction::new(concat!(stringify!($name), "\0"), "\0");
            process::replaced();
            REAL.address()
        }

        #[cfg(not(test))]
        std::arch::global_asm!(
            concat!(".pushsection .text.", stringify!($name), ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "endbr64",
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            // The number of vector registers that hold arguments; also makes the stack aligned.
            "push rax",
            ".cfi_adjust_cfa_offset 56",
            "call {function}",
            "mov r11, rax",
            "pop rax",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            ".cfi_adjust_cfa_offset -56",
            "jmp r11",
            ".cfi_endproc",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            ".popsection",
            function = sym $name,
        );
    )*};
}

before_exec!(execve, execv, execvp, execvpe, execl, execle, execlp, fexecve, execveat);
