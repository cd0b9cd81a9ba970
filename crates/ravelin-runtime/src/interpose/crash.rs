//! Crashes: which thread ended the program, by which signal, and where.
//!
//! Signals that end a program are handled here as long as the program leaves them to the kernel; if it asks, it is told
//! so. The handler writes the crash into the header of the findings file, which needs no lock and no memory. Then it
//! lets the kernel end the program as it would have.

use crate::own_caller::own_caller;
use crate::trace::CallFrame;
use crate::{file, kernel, schedule, this_thread, threads};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use ravelin_findings::header;

/// Signals that a wrong program raises itself.
pub const SIGNALS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// The handler, as `sigaction` has it.
pub fn handler() -> usize {
    crashed as *const () as usize
}

/// Its flags: a program that has another stack for signals may have no room on its own.
pub const FLAGS: c_int = libc::SA_SIGINFO | libc::SA_ONSTACK;

/// Handles the signals, when the process starts.
pub fn prepare() {
    for signal in SIGNALS {
        // SAFETY: an action of zeros is one; these signals exist.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            if old.sa_sigaction == libc::SIG_DFL {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, std::ptr::null_mut());
            }
        }
    }
}

unsafe extern "C" fn crashed(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own pointers.
    let (sent, address, registers) = unsafe {
        let registers = &(*context.cast::<ucontext_t>()).uc_mcontext.gregs;
        let registers = (registers[libc::REG_RIP as usize] as usize, registers[libc::REG_RSP as usize] as usize);
        ((*info).si_code <= 0, (*info).si_addr() as usize, registers)
    };
    leave_to_kernel(signal);
    record(signal, if sent { 0 } else { address }, registers);
    if sent {
        // It is blocked until this returns. A fault comes again by itself.
        let process = kernel::process() as usize;
        // SAFETY: the calling thread is sent a signal.
        unsafe {
            let thread = kernel::call(libc::SYS_gettid, []) as usize;
            kernel::call(libc::SYS_tgkill, [process, thread, signal as usize]);
        }
    }
}

/// Makes the kernel end the process by the next signal of this kind.
fn leave_to_kernel(signal: c_int) {
    // The kernel's structure: handler, flags, restorer, and a set of eight bytes.
    let default = [0_u64; 4];
    // SAFETY: the structure is read only.
    unsafe { kernel::call(libc::SYS_rt_sigaction, [signal as usize, default.as_ptr() as usize, 0, 8]) };
}

fn record(signal: c_int, address: usize, (pc, sp): (usize, usize)) {
    let thread = this_thread::me();
    if thread.is_null() || threads::is_off() {
        return;
    }
    // SAFETY: the calling thread's own state.
    let (number, calls) = unsafe { ((*thread).number, (*thread).calls()) };
    // A thread that is inside may hold the locks that the rest needs.
    let inside = this_thread::enter_unwatched();
    let mut stack = stack_of(pc, None, calls);
    if inside.is_some() {
        stack = stack_of(pc, own_caller(pc, sp, calls.last()), calls);
        threads::describe(number);
        file::write_modules();
    }
    let frames = stack.iter().take_while(|&&pc| pc != 0).count();
    for (index, pc) in stack[..frames].iter().enumerate() {
        file::set(header::CRASH_STACK + index, *pc as u64);
    }
    file::set(header::CRASH_FRAMES, frames as u64);
    file::set(header::CRASH_ADDRESS, address as u64);
    file::set(header::CRASH_THREAD, number);
    file::set(header::CRASH_SIGNAL, signal as u64);
    schedule::steer::ending();
    if let Some(inside) = inside {
        inside.leave_for_good();
    }
}

const DEEPEST: usize = header::WORDS - header::CRASH_STACK;

/// Addresses of returns, innermost first, without allocating; zeros after them. That of the crash itself is one byte
/// after it, because all are of the instruction before.
fn stack_of(pc: usize, caller: Option<usize>, calls: &[CallFrame]) -> [usize; DEEPEST] {
    let mut stack = [0; DEEPEST];
    let all = [Some(pc + 1), caller].into_iter().flatten().chain(calls.iter().rev().map(|call| call.pc));
    stack.iter_mut().zip(all).for_each(|(slot, pc)| *slot = pc);
    stack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_the_crash_its_caller_and_the_calls() {
        let calls = [CallFrame { pc: 1, sp: 0 }, CallFrame { pc: 2, sp: 0 }];
        assert_eq!(stack_of(9, None, &calls)[..4], [10, 2, 1, 0]);
        assert_eq!(stack_of(9, Some(5), &calls)[..5], [10, 5, 2, 1, 0]);
        let deep = vec![CallFrame { pc: 3, sp: 0 }; 1000];
        assert_eq!(stack_of(9, None, &deep)[DEEPEST - 1], 3);
    }
}
