//! Functions with a format and any number of arguments: which strings they read.
//!
//! Rust has no such functions. Each symbol is a piece of assembly that makes a list of the arguments, as the ABI lays it
//! out, and calls the function that takes a list (`vsnprintf` for `snprintf`). A format is read as far as it is
//! understood: with numbered arguments nothing is concluded from it.

use super::touching;

/// `variadic! { name count function, … }`: a weak `name`, whose `count` arguments are followed by others. It calls
/// `function` with the list of these, and with the address the call returns to.
macro_rules! variadic {
    ($($name:ident $count:tt $function:ident),*) => {$(
        #[cfg(not(test))]
        std::arch::global_asm!(
            concat!(".pushsection .text.", stringify!($name), ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "endbr64",
            // The seventh argument of `function` is at the end of the stack, the list is above it, and then the registers.
            "sub rsp, 216",
            ".cfi_adjust_cfa_offset 216",
            "mov qword ptr [rsp + 32], rdi",
            "mov qword ptr [rsp + 40], rsi",
            "mov qword ptr [rsp + 48], rdx",
            "mov qword ptr [rsp + 56], rcx",
            "mov qword ptr [rsp + 64], r8",
            "mov qword ptr [rsp + 72], r9",
            "test al, al",
            "je 2f",
            "movaps xmmword ptr [rsp + 80], xmm0",
            "movaps xmmword ptr [rsp + 96], xmm1",
            "movaps xmmword ptr [rsp + 112], xmm2",
            "movaps xmmword ptr [rsp + 128], xmm3",
            "movaps xmmword ptr [rsp + 144], xmm4",
            "movaps xmmword ptr [rsp + 160], xmm5",
            "movaps xmmword ptr [rsp + 176], xmm6",
            "movaps xmmword ptr [rsp + 192], xmm7",
            "2:",
            concat!("mov dword ptr [rsp + 8], 8 * ", $count),
            "mov dword ptr [rsp + 12], 48",
            "lea rax, [rsp + 224]",
            "mov qword ptr [rsp + 16], rax",
            "lea rax, [rsp + 32]",
            "mov qword ptr [rsp + 24], rax",
            "lea r10, [rsp + 8]",
            "mov rax, qword ptr [rsp + 216]",
            "mov qword ptr [rsp], rax",
            pass_list!($count),
            "call {function}",
            "add rsp, 216",
            ".cfi_adjust_cfa_offset -216",
            "ret",
            ".cfi_endproc",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            ".popsection",
            function = sym $function,
        );
    )*};
}

/// The instructions that put the list and the return address behind that many arguments.
#[cfg(not(test))]
macro_rules! pass_list {
    (1) => {
        "mov rsi, r10\nmov rdx, rax"
    };
    (2) => {
        "mov rdx, r10\nmov rcx, rax"
    };
    (3) => {
        "mov rcx, r10\nmov r8, rax"
    };
    (4) => {
        "mov r8, r10\nmov r9, rax"
    };
    (5) => {
        "mov r9, r10"
    };
}

/// The list of arguments of the x86-64 ABI.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ArgumentList {
    /// How many bytes of the saved registers for integers, and for floating-point numbers, are used.
    integers: u32,
    floats: u32,
    /// The next argument on the stack.
    stack: usize,
    registers: usize,
}

impl ArgumentList {
    /// The next argument that is an integer or an address.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn integer(&mut self) -> usize {
        let at = if self.integers < 48 {
            self.integers += 8;
            self.registers + self.integers as usize - 8
        } else {
            self.stack += 8;
            self.stack - 8
        };
        // SAFETY: the caller says that there is such an argument.
        unsafe { (at as *const usize).read() }
    }

    /// Up to six arguments, as the functions that take a list are given them.
    #[cfg(test)]
    pub fn in_registers(registers: &[usize; 6]) -> ArgumentList {
        ArgumentList { integers: 0, floats: 48, stack: 0, registers: registers.as_ptr() as usize }
    }

    /// Skips a floating-point number.
    fn skip_float(&mut self, is_long: bool) {
        if is_long {
            self.stack = self.stack.next_multiple_of(16) + 16;
        } else if self.floats < 176 {
            self.floats += 16;
        } else {
            self.stack += 8;
        }
    }
}

/// A function is about to print these arguments: reads the format and the strings among the arguments.
pub fn reads_arguments(format: usize, list: usize, pc: usize) {
    if format != 0 && list != 0 && crate::options::races() && touching::counts(pc) {
        touching::reads_string(format, pc);
        // SAFETY: the program promises a format that ends with a zero byte, and as many arguments as it names.
        unsafe {
            let list = (list as *const ArgumentList).read();
            for_each_string(format, list, |at, most| touching::reads_text(at, most, pc));
        }
    }
}

/// Calls `work` with each string argument, and with how many of its bytes may be read.
///
/// # Safety
/// The format ends with a zero byte, and the list has the arguments that it names.
unsafe fn for_each_string(format: usize, mut list: ArgumentList, mut work: impl FnMut(usize, usize)) {
    // SAFETY: the format is read up to its end only.
    let byte = |at: usize| unsafe { (at as *const u8).read_volatile() };
    let mut at = format;
    // SAFETY: the list has an argument for each conversion, `*` included.
    let next = |list: &mut ArgumentList| unsafe { list.integer() };
    loop {
        match byte(at) {
            0 => return,
            b'%' => at += 1,
            _ => {
                at += 1;
                continue;
            }
        }
        let mut most = usize::MAX;
        let (mut is_long_double, mut is_wide) = (false, false);
        loop {
            match byte(at) {
                // Also numbered arguments, which are not in the order of the list.
                0 | b'$' => return,
                b'*' => _ = next(&mut list),
                b'.' if byte(at + 1) == b'*' => {
                    at += 1;
                    // A negative precision is none.
                    most = usize::try_from(next(&mut list) as i32).unwrap_or(usize::MAX);
                }
                b'.' => {
                    most = 0;
                    while byte(at + 1).is_ascii_digit() {
                        at += 1;
                        most = most.saturating_mul(10).saturating_add(usize::from(byte(at) - b'0'));
                    }
                }
                b'L' => is_long_double = true,
                b'l' => is_wide = true,
                b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'\'' | b'I' | b'h' | b'q' | b'j' | b'z' | b'Z' | b't' => {}
                _ => break,
            }
            at += 1;
        }
        match byte(at) {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'n' | b'S' => _ = next(&mut list),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => list.skip_float(is_long_double),
            b's' => {
                let text = next(&mut list);
                if text != 0 && !is_wide {
                    work(text, most);
                }
            }
            b'%' | b'm' => {}
            _ => return,
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The string arguments that a format finds: numbers of arguments, and how many bytes are read. Six arguments are in
    /// registers.
    fn strings(format: &std::ffi::CStr) -> Vec<(usize, usize)> {
        let registers: [usize; 22] = std::array::from_fn(|index| index + 1);
        let stack: [usize; 8] = std::array::from_fn(|index| index + 7);
        let list = ArgumentList {
            integers: 0,
            floats: 48,
            stack: stack.as_ptr() as usize,
            registers: registers.as_ptr() as usize,
        };
        let mut found = Vec::new();
        // SAFETY: there are more arguments than the formats below have conversions.
        unsafe { for_each_string(format.as_ptr() as usize, list, |at, most| found.push((at, most))) };
        found
    }

    #[test]
    fn the_strings_among_the_arguments_are_found() {
        const ALL: usize = usize::MAX;
        for (format, expected) in [
            (c"%s", &[(1, ALL)][..]),
            (c"no % %% %s", &[]),
            (c"%d %ld %s %c %s", &[(3, ALL), (5, ALL)]),
            (c"%f %s %Lf %5.2e %s", &[(1, ALL), (2, ALL)]),
            (c"%-10s|%.3s|%*.*s", &[(1, ALL), (2, 3), (5, 4)]),
            (c"%ls %s %hhd %zu %p %s %s", &[(2, ALL), (6, ALL), (7, ALL)]),
            (c"%m %s", &[(1, ALL)]),
            (c"%2$s %1$s", &[]),
            (c"%y %s", &[]),
            (c"100%", &[]),
        ] {
            assert_eq!(strings(format), expected, "{format:?}");
        }
    }
}
