//! Hooks around functions of the standard library that come compiled.
//!
//! The linker redirects calls of such a function to a piece of code that the host side generates for the installed
//! toolchain. That code puts the address of the function itself into `r11`, possibly that of another function into
//! `r10`, and jumps to one of the `__ravelin_around_…` here. They leave all arguments as they are: Rust passes
//! pointers, integers and pairs of them as C does. Each hook below documents what it assumes of its function, and
//! `tests/cargo_ravelin.rs` tests it.

use super::{channel, left_by_readers, locks, scope};
use crate::held::LockMode;
use crate::schedule;
use crate::special::{NextAccess, NextAct};
use crate::this_thread::{self, WatchedThread};
use crate::{memory, misuse, options, records, start_order, sync};
use ravelin_clocks::{AtomicOrder, MessageAccess};
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;
use std::arch::global_asm;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `name: before, after`: calls `before` with the first six arguments and the value of `r10`, then the function, then
/// `after` with the first two arguments. It returns the function's result. Unwinding passes through, without `after`.
/// If `before` returns true it has done what the function does, and neither the function nor `after` is called.
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
            "test al, al",
            "jnz 2f",
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
            "2:",
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
    "__ravelin_around_lock": locks, locked_mutex;
    "__ravelin_around_read": reads_shared, reads;
    "__ravelin_around_write": writes_alone, writes;
    "__ravelin_around_condvar_wait": waits, locked_second;
    "__ravelin_around_condvar_wait_timeout": waits_for_a_time, locked_second;
    "__ravelin_around_condvar_notify": notifies, nothing;
    "__ravelin_around_stream_lock": proceeds, locked_stream;
    "__ravelin_around_reading": proceeds, has_read;
    "__ravelin_around_writing": will_write, nothing;
    "__ravelin_around_once_call": initialises, locked;
    "__ravelin_around_once_wait": waits_for_once, locked;
    "__ravelin_around_barrier_wait": arrives, leaves;
    "__ravelin_around_thread_park": parks, parked;
    "__ravelin_around_park": parks_itself, parked_itself;
    "__ravelin_around_scope_enter": enters_scope, nothing;
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
    /// Keeps the stack aligned.
    _unused: [usize; 2],
    /// Where the call returns to.
    pc: usize,
}

extern "C" fn nothing(_call: &Call) {}

extern "C" fn proceeds(_call: &mut Call) -> bool {
    false
}

/// `Mutex::lock_contended(&self)` of a steered thread, which waits here.
extern "C" fn locks(call: &mut Call) -> bool {
    let Some(me) = steered() else { return false };
    lock(me, call.arguments[0]);
    locked_mutex(call);
    true
}

/// The place of the calling thread, if its steps are given.
fn steered() -> Option<usize> {
    schedule::mine().filter(|_| schedule::steer::is_on())
}

/// Locks a mutex of the standard library, which is a word: 0, or 1 if it is locked, or 2 if threads also wait for that.
fn lock(me: usize, mutex: usize) {
    // SAFETY: the caller's mutex.
    let word = unsafe { AtomicU32::from_ptr(mutex as *mut u32) };
    let attempt = || word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok();
    let _ = schedule::until(me, 0, Act::Lock, (WaitsFor::Mutex, mutex), None, attempt);
}

/// Locks a read-write lock of the standard library, whose state is a word: the number of readers, or more than there can
/// be.
fn lock_state(me: usize, state: usize, act: Act, change: fn(u32) -> Option<u32>) {
    // SAFETY: the caller's lock.
    let word = unsafe { AtomicU32::from_ptr(state as *mut u32) };
    let attempt = || word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change).ok();
    let _ = schedule::until(me, 0, act, (WaitsFor::ReadWriteLock, state), None, attempt);
}

/// The state of a read-write lock that a writer has locked.
const WRITE_LOCKED: u32 = (1 << 30) - 1;

/// `Mutex::lock_contended(&self)`.
extern "C" fn locked_mutex(call: &Call) {
    sync::acquire(call.arguments[0]);
    locks::got(call.arguments[0], LockMode::Write, call.pc);
}

/// Functions that return with knowledge of what was released at the first argument.
extern "C" fn locked(call: &Call) {
    sync::acquire(call.arguments[0]);
    start_order::acquire(call.arguments[0]);
}

extern "C" fn reads_shared(call: &mut Call) -> bool {
    let Some(me) = steered() else { return false };
    let change = |state: u32| (state < WRITE_LOCKED - 1).then_some(state + 1);
    lock_state(me, call.arguments[0], Act::LockShared, change);
    reads(call);
    true
}

extern "C" fn writes_alone(call: &mut Call) -> bool {
    let Some(me) = steered() else { return false };
    lock_state(me, call.arguments[0], Act::Lock, |state| (state == 0).then_some(WRITE_LOCKED));
    writes(call);
    true
}

/// `RwLock::read_contended(&self)`. The state is the first field.
extern "C" fn reads(call: &Call) {
    sync::acquire(call.arguments[0]);
    locks::got(call.arguments[0], LockMode::Read, call.pc);
}

/// `RwLock::write_contended(&self)`.
extern "C" fn writes(call: &Call) {
    sync::acquire(call.arguments[0]);
    sync::acquire(left_by_readers(call.arguments[0]));
    locks::got(call.arguments[0], LockMode::Write, call.pc);
}

/// `Condvar::wait(&self, &Mutex)`.
extern "C" fn waits(call: &mut Call) -> bool {
    misuse::waits_again(call.arguments[1], call.pc);
    if let Some(me) = steered() {
        wait_in_turn(me, call, None);
        return true;
    }
    sync::release(call.arguments[1]);
    false
}

/// `Condvar::wait_timeout(&self, &Mutex, Duration)`, which returns whether it was notified. A duration is seconds and
/// nanoseconds.
extern "C" fn waits_for_a_time(call: &mut Call) -> bool {
    misuse::waits_again(call.arguments[1], call.pc);
    if let Some(me) = steered() {
        let [_, _, seconds, nanoseconds, ..] = call.arguments;
        let length = (seconds as u64).saturating_mul(1_000_000_000).saturating_add(nanoseconds as u32 as u64);
        let until = schedule::turn::own_time(me, 0).saturating_add(length);
        let over = wait_in_turn(me, call, Some(until));
        call.result[0] = usize::from(!over);
        return true;
    }
    sync::release(call.arguments[1]);
    false
}

/// A wait of a steered thread. The wake-up of the condition variable is that of a futex at the same address, which is seen.
/// Returns whether the time is over.
fn wait_in_turn(me: usize, call: &Call, until: Option<u64>) -> bool {
    let [condition, mutex, ..] = call.arguments;
    schedule::before(0, Act::Touch, condition);
    schedule::will_wait(me, condition);
    schedule::before(0, Act::Unlock, mutex);
    sync::release(mutex);
    // SAFETY: the caller's mutex, which it has locked.
    unsafe { AtomicU32::from_ptr(mutex as *mut u32) }.store(0, Ordering::Release);
    schedule::wake(mutex);
    let over = schedule::wait(me, 0, (WaitsFor::Condition, condition), until);
    lock(me, mutex);
    locked_second(call);
    over
}

extern "C" fn locked_second(call: &Call) {
    sync::acquire(call.arguments[1]);
    start_order::acquire(call.arguments[0]);
}

/// `Condvar::notify_one(&self)` and `Condvar::notify_all(&self)`.
extern "C" fn notifies(call: &mut Call) -> bool {
    start_order::release(call.arguments[0]);
    false
}

/// `Stdin::lock(&self)`, `Stdout::lock(&self)` and `Stderr::lock(&self)` return a guard, which is a pointer to a lock. The
/// program unlocks it, with accesses that are seen, somewhere in the lock. Its first words are three at most.
extern "C" fn locked_stream(call: &Call) {
    const LENGTH: usize = 24;
    if let Some(mut inside) = this_thread::enter() {
        learns_within(inside.thread(), call.result[0] & !7, LENGTH);
    }
}

/// `Read::read(&mut self, &mut [u8]) -> io::Result<usize>` of files, sockets and others, and functions with the same
/// arguments and result. A slice is its address and length. The result is 0 and the number of bytes, or 1 and an error.
extern "C" fn has_read(call: &Call) {
    let ([_, buffer, length, ..], [is_error, count]) = (call.arguments, call.result);
    if is_error == 0 {
        touches(buffer, count.min(length), true, call.pc);
    }
}

/// `Write::write(&mut self, &[u8])` and functions with the same arguments, which may read all bytes.
extern "C" fn will_write(call: &mut Call) -> bool {
    touches(call.arguments[1], call.arguments[2], false, call.pc);
    false
}

/// A call of the program has the standard library read or write the program's memory.
fn touches(address: usize, length: usize, write: bool, pc: usize) {
    if length > 0 && this_thread::watched() && options::library_calls() && (write || options::races()) {
        memory::range(address, length, write, pc);
    }
}

/// `Barrier::wait(&self)`. Rounds are not distinguished: this orders more than necessary, so nothing is concluded from
/// it.
extern "C" fn arrives(call: &mut Call) -> bool {
    schedule::library_touches(call.arguments[0], 1);
    sync::release_join(call.arguments[0]);
    start_order::release(call.arguments[0]);
    false
}

extern "C" fn leaves(call: &Call) {
    if steered().is_some() {
        // It looks at what those that have arrived left there.
        schedule::before(0, Act::LockShared, call.arguments[0]);
        schedule::attempted(0, Act::LockShared, true);
    }
    sync::acquire_assumed(call.arguments[0]);
    start_order::acquire(call.arguments[0]);
}

/// `Once::call(&self, bool, &mut dyn FnMut(&OnceState))`: what the initialiser did must be released before the standard
/// library marks it as done. The function therefore gets another initialiser, which calls the program's and then
/// releases.
///
/// Which thread becomes the one that initialises is decided in compiled code, so this is a step.
extern "C" fn initialises(call: &mut Call) -> bool {
    if !this_thread::watched() {
        return false;
    }
    touches_once(call.arguments[0]);
    let [once, _, data, table, ..] = call.arguments;
    call.initialiser = Initialiser { data, table, once };
    call.arguments[2] = (&raw const call.initialiser) as usize;
    call.arguments[3] = (&raw const TABLE) as usize;
    false
}

/// `Once::wait(&self, …)`.
extern "C" fn waits_for_once(call: &mut Call) -> bool {
    touches_once(call.arguments[0]);
    false
}

/// Compiled code changes the state of a `Once`, which is a word. Its other accesses are seen.
fn touches_once(once: usize) {
    if let Some(me) = steered() {
        let next = NextAccess { pc: 0, address: once, size: 4, act: NextAct::Update };
        let value = schedule::steer::value_at(once, 4);
        schedule::library_access(me, next);
        schedule::library_accessed(MessageAccess::Update, AtomicOrder::AcqRel, value, value);
    }
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
    touches_once(once);
    sync::release_join(once);
    start_order::release(once);
}

/// Only channels call these functions.
extern "C" fn parks(_call: &mut Call) -> bool {
    if let Some(me) = steered() {
        channel::parks(me, true);
    }
    false
}

/// Where compiled code parks, a steered thread makes a step first. The word by which it does so is somewhere in the block.
extern "C" fn parks_itself(call: &mut Call) -> bool {
    if steered().is_some() {
        let block = own_block(call);
        schedule::library_touches(block + COUNTS, BLOCK);
    }
    false
}

/// `Thread::park(&self)` and `Thread::park_timeout(&self, Duration)`: a handle is a pointer to a counted block.
extern "C" fn parked(call: &Call) {
    if this_thread::watched() {
        // SAFETY: the caller's handle of a thread.
        unparked(unsafe { *(call.arguments[0] as *const usize) });
    }
    if let Some(me) = steered() {
        channel::parks(me, false);
    }
}

/// `thread::park()` and `thread::park_timeout(Duration)`; the other function is `thread::current() -> Thread`.
extern "C" fn parked_itself(call: &Call) {
    if !this_thread::watched() {
        return;
    }
    let word = unparked(own_block(call));
    // The compiled code has read the word, and learned what the other thread knew.
    if let (Some(me), Some(address)) = (steered(), word) {
        let next = NextAccess { pc: 0, address, size: 4, act: NextAct::Load };
        schedule::library_access(me, next);
        let value = schedule::steer::value_at(address, 4);
        schedule::library_accessed(MessageAccess::Load, AtomicOrder::Acquire, value, 0);
    }
}

/// The block of the calling thread's handle, by the function `thread::current() -> Thread`.
fn own_block(call: &Call) -> usize {
    // SAFETY: the host side gives the address of this function.
    let current: extern "C" fn() -> usize = unsafe { std::mem::transmute(call.other) };
    let block = current();
    // SAFETY: the block of the handle that was just made begins with the number of handles.
    let handles = unsafe { AtomicUsize::from_ptr(block as *mut usize) };
    // The thread itself has one as well. If not, it is ending, and the block need not be freed.
    if handles.load(Ordering::Relaxed) > 1 {
        handles.fetch_sub(1, Ordering::Release);
    }
    block
}

/// The bytes of a handle's block after its two numbers of handles.
const COUNTS: usize = 16;
const BLOCK: usize = 64;

/// The calling thread returned from parking; its handle leads to this block. The thread that unparked it released its
/// knowledge at a word somewhere in the block. A thread may return spuriously, so nothing is concluded. Returns the word if
/// another thread has used it.
fn unparked(block: usize) -> Option<usize> {
    let mut inside = this_thread::enter()?;
    let found = learns_within(inside.thread(), block + COUNTS, BLOCK);
    drop(inside);
    if let Some(word) = found {
        start_order::acquire(word);
    }
    found
}

/// The thread learns what was released at any of these words, from which nothing is concluded. Returns the last of them.
fn learns_within(thread: &mut WatchedThread, start: usize, length: usize) -> Option<usize> {
    thread.spin.left();
    let mut found = None;
    for word in (start..start + length).step_by(8) {
        records::for_each_in_word(word, |about, record| {
            if let Some(released) = record.released() {
                thread.clocks.acquire_views(released);
                found = Some(about);
            }
        });
    }
    thread.new_epoch();
    found
}

/// `ScopeData::increment_num_running_threads(&self)`, before a thread of the scope is started.
extern "C" fn enters_scope(call: &mut Call) -> bool {
    scope::starts(call.arguments[0]);
    false
}

/// `ScopeData::decrement_num_running_threads(&self, bool)`: the scope's owner reads the number with an instrumented
/// load, at one of the words of the structure.
extern "C" fn leaves_scope(call: &mut Call) -> bool {
    let data = call.arguments[0];
    for word in (data..data + scope::LENGTH).step_by(8) {
        sync::release_join(word);
        start_order::release(word);
    }
    false
}
