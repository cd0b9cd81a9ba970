//! Hooks around functions of the standard library that come compiled.
//!
//! The linker redirects calls of such a function to a piece of code that the host side generates for the installed
//! toolchain. That code puts the address of the function itself into `r11`, possibly that of another function into
//! `r10`, and jumps to one of the `__ravelin_around_…` here. They leave all arguments as they are: Rust passes
//! pointers, integers and pairs of them as C does. Each hook below documents what it assumes of its function, and
//! `tests/cargo_ravelin.rs` tests it.

use super::left_by_readers;
use crate::{records, sync, this_thread};
use std::arch::global_asm;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `name: before, after`: calls `before` with the first six arguments and the value of `r10`, then the function, then
/// `after` with the first two arguments. It returns the function's result. Unwinding passes through, without `after`.
macro_rules! around {
    ($($name:literal: $before:path, $after:path;)*) => {$(
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "sub rsp, 120",
            ".cfi_def_cfa_offset 128",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "mov [rsp + 48], r11",
            "mov [rsp + 56], r10",
            "mov rdi, rsp",
            "call {before}",
            "mov rdi, [rsp]",
            "mov rsi, [rsp + 8]",
            "mov rdx, [rsp + 16]",
            "mov rcx, [rsp + 24]",
            "mov r8, [rsp + 32]",
            "mov r9, [rsp + 40]",
            "call [rsp + 48]",
            "mov [rsp + 64], rax",
            "mov [rsp + 72], rdx",
            "mov rdi, rsp",
            "call {after}",
            "mov rax, [rsp + 64]",
            "mov rdx, [rsp + 72]",
            "add rsp, 120",
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            before = sym $before,
            after = sym $after,
        );
    )*};
}

around! {
    "__ravelin_around_lock": nothing, locked;
    "__ravelin_around_read": nothing, reads;
    "__ravelin_around_write": nothing, writes;
    "__ravelin_around_condvar_wait": unlocks_second, locked_second;
    "__ravelin_around_once_call": initialises, locked;
    "__ravelin_around_once_wait": nothing, locked;
    "__ravelin_around_barrier_wait": arrives, leaves;
    "__ravelin_around_thread_park": nothing, parked;
    "__ravelin_around_park": nothing, parked_itself;
    "__ravelin_around_scope_leave": leaves_scope, nothing;
}

/// The frame of the pieces of assembly.
#[repr(C)]
struct Call {
    arguments: [usize; 6],
    function: usize,
    other: usize,
    result: [usize; 2],
    initialiser: Initialiser,
}

extern "C" fn nothing(_call: &Call) {}

/// `Mutex::lock_contended(&self)`, and every other function that returns with knowledge of what was released at the
/// first argument.
extern "C" fn locked(call: &Call) {
    sync::acquire(call.arguments[0]);
}

/// `RwLock::read_contended(&self)`. The state is the first field.
extern "C" fn reads(call: &Call) {
    sync::acquire(call.arguments[0]);
}

/// `RwLock::write_contended(&self)`.
extern "C" fn writes(call: &Call) {
    sync::acquire(call.arguments[0]);
    sync::acquire(left_by_readers(call.arguments[0]));
}

/// `Condvar::wait(&self, &Mutex)` and `Condvar::wait_timeout(&self, &Mutex, Duration)`.
extern "C" fn unlocks_second(call: &Call) {
    sync::release(call.arguments[1]);
}

extern "C" fn locked_second(call: &Call) {
    sync::acquire(call.arguments[1]);
}

/// `Barrier::wait(&self)`. Rounds are not distinguished: this orders more than necessary, so nothing is concluded from
/// it.
extern "C" fn arrives(call: &Call) {
    sync::release_join(call.arguments[0]);
}

extern "C" fn leaves(call: &Call) {
    sync::acquire_assumed(call.arguments[0]);
}

/// `Once::call(&self, bool, &mut dyn FnMut(&OnceState))`: what the initialiser did must be released before the standard
/// library marks it as done. The function therefore gets another initialiser, which calls the program's and then
/// releases.
extern "C" fn initialises(call: &mut Call) {
    if !this_thread::watched() {
        return;
    }
    let [once, _, data, table, ..] = call.arguments;
    call.initialiser = Initialiser { data, table, once };
    call.arguments[2] = (&raw const call.initialiser) as usize;
    call.arguments[3] = (&raw const TABLE) as usize;
}

/// Replaces the program's initialiser, which is `data` with the functions in `table`.
#[repr(C)]
struct Initialiser {
    data: usize,
    table: usize,
    once: usize,
}

/// Its functions, as Rust lays them out: how to drop it, its size and alignment, and then its methods. Which of these
/// is `call_mut` need not be known: each calls its namesake.
#[repr(C)]
struct MethodTable {
    drop: usize,
    size: usize,
    alignment: usize,
    methods: [unsafe extern "C" fn(); 4],
}

static TABLE: MethodTable = MethodTable {
    drop: 0,
    size: size_of::<Initialiser>(),
    alignment: align_of::<Initialiser>(),
    methods: [__ravelin_initialise_24, __ravelin_initialise_32, __ravelin_initialise_40, __ravelin_initialise_48],
};

macro_rules! initialise {
    ($($name:ident $offset:literal),*) => {
        unsafe extern "C" {
            $(fn $name();)*
        }
        $(global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "push rbx",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbx, -16",
            "mov rbx, rdi",
            "mov rdi, [rbx]",
            "mov rax, [rbx + 8]",
            concat!("call [rax + ", $offset, "]"),
            "mov rdi, [rbx + 16]",
            "call {initialised}",
            "pop rbx",
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_endproc",
            initialised = sym initialised,
        );)*
    };
}

initialise!(
    __ravelin_initialise_24 24,
    __ravelin_initialise_32 32,
    __ravelin_initialise_40 40,
    __ravelin_initialise_48 48
);

extern "C" fn initialised(once: usize) {
    sync::release_join(once);
}

/// `Thread::park(&self)` and `Thread::park_timeout(&self, Duration)`: a handle is a pointer to a counted block.
extern "C" fn parked(call: &Call) {
    if this_thread::watched() {
        // SAFETY: the caller's handle of a thread.
        unparked(unsafe { *(call.arguments[0] as *const usize) });
    }
}

/// `thread::park()` and `thread::park_timeout(Duration)`; the other function is `thread::current() -> Thread`.
extern "C" fn parked_itself(call: &Call) {
    if !this_thread::watched() {
        return;
    }
    // SAFETY: the host side gives the address of this function.
    let current: extern "C" fn() -> usize = unsafe { std::mem::transmute(call.other) };
    let block = current();
    unparked(block);
    // SAFETY: the block of the handle that was just made begins with the number of handles.
    let handles = unsafe { AtomicUsize::from_ptr(block as *mut usize) };
    // The thread itself has one as well. If not, it is ending, and the block need not be freed.
    if handles.load(Ordering::Relaxed) > 1 {
        handles.fetch_sub(1, Ordering::Release);
    }
}

/// The calling thread returned from parking; its handle leads to this block. The thread that unparked it released its
/// knowledge at a word somewhere in the block. A thread may return spuriously, so nothing is concluded.
fn unparked(block: usize) {
    const COUNTS: usize = 16;
    const LENGTH: usize = 64;
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    thread.spin.left();
    for word in (block + COUNTS..block + COUNTS + LENGTH).step_by(8) {
        records::for_each_in_word(word, |_, record| {
            if let Some(released) = record.released() {
                thread.clocks.acquire_views(released);
            }
        });
    }
    thread.new_epoch();
}

/// `ScopeData::decrement_num_running_threads(&self, bool)`: the scope's owner reads the number with an instrumented
/// load, at one of the words of the structure.
extern "C" fn leaves_scope(call: &Call) {
    const LENGTH: usize = 24;
    let data = call.arguments[0];
    for word in (data..data + LENGTH).step_by(8) {
        sync::release_join(word);
    }
}
