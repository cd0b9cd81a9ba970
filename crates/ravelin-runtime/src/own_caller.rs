//! Where the program called a library that is not instrumented, as it does for `abort` and for C++'s `std::thread`.
//!
//! The stack of calls knows only instrumented functions. The place of the call is on the stack of the innermost of them.
//! Without an unwinder that is a guess: of the words between the stack pointer and the function's frame, the last that a
//! call in the program could have put there. Before it there may be others, which calls have left there that have
//! returned.

use crate::file;
use crate::trace::CallFrame;
use ravelin_findings::Module;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the file with this runtime begins and ends, which is the program; 0 before it was looked for.
static PROGRAM: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Looks for the program's own addresses, which forked processes then know.
pub fn find_program() {
    let here = find_program as fn() as usize;
    if let Some(module) = file::modules().iter().find(|module| is_own(module) && has(module, here)) {
        PROGRAM[0].store(module.start as usize, Ordering::Relaxed);
        PROGRAM[1].store(module.end as usize, Ordering::Relaxed);
    }
}

/// Where the program's innermost function called the code at `pc`, if that code is not the program's. The stack pointer
/// is `sp` there, or lower. The calling thread is inside.
pub fn own_caller(pc: usize, sp: usize, innermost: Option<&CallFrame>) -> Option<usize> {
    const FARTHEST: usize = 1 << 14;
    let [start, end] = PROGRAM.each_ref().map(|bound| bound.load(Ordering::Relaxed));
    if (start..end).contains(&pc) {
        return None;
    }
    let modules = file::modules();
    let own = |address: usize| modules.iter().any(|module| is_own(module) && has(module, address));
    let end = innermost?.sp.min(sp + FARTHEST);
    if own(pc) {
        return None;
    }
    let mut words = (sp.next_multiple_of(8)..end).step_by(8).map(|at| {
        // SAFETY: between the stack pointer and a frame of the same stack.
        unsafe { (at as *const usize).read_volatile() }
    });
    words.rfind(|&word| own(word) && own(word.wrapping_sub(CALL)) && is_after_call(word))
}

fn has(module: &Module, address: usize) -> bool {
    (module.start..module.end).contains(&(address as u64))
}

fn is_own(module: &Module) -> bool {
    !["/lib", "/usr/lib"].iter().any(|system| module.path.starts_with(system.as_bytes())) && !module.path.is_empty()
}

/// The length of the longest call that is recognised.
const CALL: usize = 6;

/// Whether the instruction before an address can be a call, relative or through a table.
fn is_after_call(address: usize) -> bool {
    // SAFETY: the caller has checked that these bytes are in a loaded file of the program. Such files have no holes
    // before code.
    let before = |bytes: usize| unsafe { ((address - bytes) as *const u8).read_volatile() };
    before(5) == 0xe8 || before(6) == 0xff && before(5) == 0x15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_its_libraries_are_its_own() {
        let module = |path: &str| Module { bias: 0, start: 10, end: 20, path: path.as_bytes().to_vec() };
        assert!(is_own(&module("/home/me/program")) && !is_own(&module("/usr/lib/libc.so.6")) && !is_own(&module("")));
        assert!(has(&module("x"), 19) && !has(&module("x"), 20));
    }

    #[test]
    fn code_of_the_program_needs_no_caller() {
        let here = own_caller as *const () as usize;
        let frame = CallFrame { pc: here, sp: usize::MAX };
        assert_eq!(own_caller(here, 0, Some(&frame)), None);
        assert_eq!(own_caller(libc::abort as *const () as usize, 0, None), None);
    }
}
