//! The functions that compilers call for non-atomic accesses and for calls.

use crate::race::{access, access_any, access_range};
use crate::this_thread;
use ravelin_clocks::race::slot::WRITE;
use std::arch::global_asm;

// Compilers call these only for aligned accesses, which lie in one word.
extern "C" fn read<const SIZE: usize>(address: usize, pc: usize) {
    access(address, SIZE, 0, pc);
}

extern "C" fn write<const SIZE: usize>(address: usize, pc: usize) {
    access(address, SIZE, WRITE, pc);
}

extern "C" fn read_any<const SIZE: usize>(address: usize, pc: usize) {
    access_any::<SIZE>(address, 0, pc);
}

extern "C" fn write_any<const SIZE: usize>(address: usize, pc: usize) {
    access_any::<SIZE>(address, WRITE, pc);
}

extern "C" fn read_range(address: usize, length: usize, pc: usize) {
    access_range(address, length, 0, pc);
}

extern "C" fn write_range(address: usize, length: usize, pc: usize) {
    access_range(address, length, WRITE, pc);
}

/// A constructor or destructor sets the table of virtual functions. Writing the value that is already there has no
/// visible effect.
extern "C" fn vptr_update(address: *const usize, new: usize, pc: usize) {
    // SAFETY: the program writes there now.
    if unsafe { address.read_volatile() } != new {
        access(address as usize, 8, WRITE, pc);
    }
}

extern "C" fn function_entry(pc: usize, sp: usize) {
    let thread = this_thread::me();
    if !thread.is_null() {
        // SAFETY: the calling thread's own state.
        unsafe { (*thread).enter_function(pc, sp) };
    }
}

extern "C" fn function_exit() {
    let thread = this_thread::me();
    if !thread.is_null() {
        // SAFETY: the calling thread's own state.
        unsafe { (*thread).leave_function() };
    }
}

macro_rules! entry {
    ($symbol:literal, $pass:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            $pass,
            "jmp {function}",
            function = sym $function,
        );
    };
}

macro_rules! entries {
    ($($symbol:literal $function:path),* $(,)?) => {
        $(entry!($symbol, "mov rsi, qword ptr [rsp]", $function);)*
    };
}

entries! {
    "__tsan_read1" read::<1>,
    "__tsan_read2" read::<2>,
    "__tsan_read4" read::<4>,
    "__tsan_read8" read::<8>,
    "__tsan_read16" read_any::<16>,
    "__tsan_write1" write::<1>,
    "__tsan_write2" write::<2>,
    "__tsan_write4" write::<4>,
    "__tsan_write8" write::<8>,
    "__tsan_write16" write_any::<16>,
    "__tsan_unaligned_read2" read_any::<2>,
    "__tsan_unaligned_read4" read_any::<4>,
    "__tsan_unaligned_read8" read_any::<8>,
    "__tsan_unaligned_read16" read_any::<16>,
    "__tsan_unaligned_write2" write_any::<2>,
    "__tsan_unaligned_write4" write_any::<4>,
    "__tsan_unaligned_write8" write_any::<8>,
    "__tsan_unaligned_write16" write_any::<16>,
    "__tsan_volatile_read1" read::<1>,
    "__tsan_volatile_read2" read::<2>,
    "__tsan_volatile_read4" read::<4>,
    "__tsan_volatile_read8" read::<8>,
    "__tsan_volatile_read16" read_any::<16>,
    "__tsan_volatile_write1" write::<1>,
    "__tsan_volatile_write2" write::<2>,
    "__tsan_volatile_write4" write::<4>,
    "__tsan_volatile_write8" write::<8>,
    "__tsan_volatile_write16" write_any::<16>,
    "__tsan_unaligned_volatile_read2" read_any::<2>,
    "__tsan_unaligned_volatile_read4" read_any::<4>,
    "__tsan_unaligned_volatile_read8" read_any::<8>,
    "__tsan_unaligned_volatile_read16" read_any::<16>,
    "__tsan_unaligned_volatile_write2" write_any::<2>,
    "__tsan_unaligned_volatile_write4" write_any::<4>,
    "__tsan_unaligned_volatile_write8" write_any::<8>,
    "__tsan_unaligned_volatile_write16" write_any::<16>,
    // Every access that races with the read races with the write.
    "__tsan_read_write1" write_any::<1>,
    "__tsan_read_write2" write_any::<2>,
    "__tsan_read_write4" write_any::<4>,
    "__tsan_read_write8" write_any::<8>,
    "__tsan_read_write16" write_any::<16>,
    "__tsan_unaligned_read_write2" write_any::<2>,
    "__tsan_unaligned_read_write4" write_any::<4>,
    "__tsan_unaligned_read_write8" write_any::<8>,
    "__tsan_unaligned_read_write16" write_any::<16>,
    "__tsan_vptr_read" read::<8>,
}

entry!("__tsan_read_range", "mov rdx, qword ptr [rsp]", read_range);
entry!("__tsan_write_range", "mov rdx, qword ptr [rsp]", write_range);
entry!("__tsan_vptr_update", "mov rdx, qword ptr [rsp]", vptr_update);
entry!("__tsan_func_entry", "lea rsi, [rsp + 8]", function_entry);
entry!("__tsan_func_exit", "", function_exit);
