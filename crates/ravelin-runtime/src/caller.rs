//! The registers of the program at its last atomic load.
//!
//! Called functions leave these registers as they were, so at the load they hold what the code after it uses. They are
//! stored at the entry point ([`crate::atomics`]), because the functions behind it may move them.

use std::arch::{asm, global_asm};

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden __ravelin_caller",
    ".globl __ravelin_caller",
    ".type __ravelin_caller,@object",
    ".size __ravelin_caller,64",
    "__ravelin_caller: .zero 64",
    ".text",
);

/// What the program's registers hold when a load returns. The layout is known to the assembly in [`crate::atomics`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CallerState {
    pub rbx: u64,
    pub rbp: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    /// Where the return address is.
    pub sp: u64,
    /// The return address.
    pub pc: u64,
}

const _: () = assert!(size_of::<CallerState>() == 64);

/// Those of the calling thread's last load.
pub fn last() -> CallerState {
    let state: *const CallerState;
    // SAFETY: computes the address of the thread's own storage, which the assembly above defines.
    unsafe {
        asm!(
            "mov {state}, qword ptr [rip + __ravelin_caller@GOTTPOFF]",
            "add {state}, qword ptr fs:[0]",
            state = out(reg) state,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: the storage has this layout, and only this thread writes it.
    unsafe { state.read() }
}
