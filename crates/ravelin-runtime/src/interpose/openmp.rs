//! OpenMP as gcc compiles it: the functions of `libgomp`, which synchronise unseen. [`super::openmp_tool`] has LLVM's.
//!
//! Threads of a region begin after the thread that forked it, and end before it goes on. Whoever leaves a barrier, or
//! has waited for tasks, comes after all who arrived or ended. A task begins after its creator; one with dependences
//! also after all such tasks that ended. There is one object for each of these in the whole process, which is more order
//! than there is: it excuses accesses but proves nothing. Critical sections and locks are ordinary locks.
//!
//! The library calls the functions that the compiler makes of regions and tasks. It is given other functions in their
//! place ([`stand_in`]), which say when they begin and end.

use super::real::RealFunction;
use crate::{sync, this_thread};
use libc::{c_int, c_long, c_uint};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What threads are ordered by: addresses that no program has, after those of files.
const OBJECTS: usize = 0x0900_0000_0000;
pub const FORKED: usize = OBJECTS;
pub const ENDED: usize = OBJECTS + 8;
pub const CREATED: usize = OBJECTS + 16;
pub const DEPENDENT: usize = OBJECTS + 24;
const UNNAMED: usize = OBJECTS + 32;
const ATOMIC: usize = OBJECTS + 40;
pub const ORDERED: usize = OBJECTS + 48;
const COPIED: usize = OBJECTS + 56;

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Whether the program uses OpenMP.
#[inline(always)]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// The program has begun to use OpenMP.
pub fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// `fn name(arguments) -> result { before } after { after }` for functions of the library. The linker may have left it out
/// because all that the program needs of it is here; it is loaded then.
macro_rules! gomp {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? { $($before:stmt;)* } after { $($after:stmt;)* })*) => {
        interpose! { $(
            #[allow(clippy::let_unit_value, redundant_semicolons)]
            fn $name($($arg: $type),*) $(-> $result)? {
                prepare(&REAL);
                $($before;)*
                let result = real($($arg),*);
                $($after;)*
                result
            }
        )* }
    };
}

gomp! {
    fn GOMP_barrier() { arrives(); } after { goes_on(); }
    fn GOMP_barrier_cancel() -> bool { arrives(); } after { goes_on(); }
    fn GOMP_loop_end() { arrives(); } after { goes_on(); }
    fn GOMP_loop_end_cancel() -> bool { arrives(); } after { goes_on(); }
    fn GOMP_sections_end() { arrives(); } after { goes_on(); }
    fn GOMP_sections_end_cancel() -> bool { arrives(); } after { goes_on(); }
    fn GOMP_workshare_task_reduction_unregister(cancelled: bool) { arrives(); } after { goes_on(); }
    fn GOMP_taskwait() { arrives(); } after { goes_on(); }
    fn GOMP_taskwait_depend(depend: usize) { arrives(); } after { goes_on(); }
    fn GOMP_taskgroup_end() { arrives(); } after { goes_on(); }
    fn GOMP_critical_start() {} after { sync::acquire(UNNAMED); }
    fn GOMP_critical_end() { sync::release(UNNAMED); } after {}
    fn GOMP_critical_name_start(name: usize) {} after { sync::acquire(name); }
    fn GOMP_critical_name_end(name: usize) { sync::release(name); } after {}
    fn GOMP_atomic_start() {} after { sync::acquire(ATOMIC); }
    fn GOMP_atomic_end() { sync::release(ATOMIC); } after {}
    fn GOMP_ordered_start() {} after { sync::acquire_assumed(ORDERED); }
    fn GOMP_ordered_end() { sync::release_join(ORDERED); } after {}
    fn GOMP_doacross_post(counts: usize) { sync::release_join(ORDERED); } after {}
    fn GOMP_doacross_ull_post(counts: usize) { sync::release_join(ORDERED); } after {}
    fn GOMP_single_copy_start() -> usize {} after { sync::acquire_assumed(COPIED); }
    fn GOMP_single_copy_end(data: usize) { sync::release_join(COPIED); } after { goes_on(); }
    fn omp_set_lock(lock: usize) {} after { sync::acquire(lock); }
    fn omp_unset_lock(lock: usize) { sync::release(lock); } after {}
    fn omp_set_nest_lock(lock: usize) {} after { sync::acquire(lock); }
    fn omp_unset_nest_lock(lock: usize) { sync::release(lock); } after {}
}

interpose! {
    fn omp_test_lock(lock: usize) -> c_int {
        prepare(&REAL);
        tried(lock, real(lock))
    }

    fn omp_test_nest_lock(lock: usize) -> c_int {
        prepare(&REAL);
        tried(lock, real(lock))
    }

    /// The indices that are waited for follow; the library reads as many as the loop has. More than six are not passed on.
    fn GOMP_doacross_wait(first: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) {
        prepare(&REAL);
        real(first, b, c, d, e, f);
        sync::acquire_assumed(ORDERED);
    }

    fn GOMP_doacross_ull_wait(first: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) {
        prepare(&REAL);
        real(first, b, c, d, e, f);
        sync::acquire_assumed(ORDERED);
    }
}

/// `fn name(arguments) -> result;`: functions that fork a region, whose first argument is the function to run.
macro_rules! forks {
    ($(fn $name:ident($($arg:ident),*) $(-> $result:ty)?;)*) => {
        interpose! { $(
            #[allow(clippy::let_unit_value)]
            fn $name(function: usize, $($arg: usize),*) $(-> $result)? {
                prepare(&REAL);
                if this_thread::watched() {
                    sync::release_join(FORKED);
                }
                let result = real(stand_in(function, PartKind::Region), $($arg),*);
                goes_on();
                result
            }
        )* }
    };
}

forks! {
    fn GOMP_parallel(data, threads, flags);
    fn GOMP_parallel_reductions(data, threads, flags) -> c_uint;
    fn GOMP_parallel_sections(data, threads, count, flags);
    fn GOMP_parallel_loop_static(data, threads, start, end, step, chunk, flags);
    fn GOMP_parallel_loop_dynamic(data, threads, start, end, step, chunk, flags);
    fn GOMP_parallel_loop_guided(data, threads, start, end, step, chunk, flags);
    fn GOMP_parallel_loop_nonmonotonic_dynamic(data, threads, start, end, step, chunk, flags);
    fn GOMP_parallel_loop_nonmonotonic_guided(data, threads, start, end, step, chunk, flags);
    fn GOMP_parallel_loop_runtime(data, threads, start, end, step, flags);
    fn GOMP_parallel_loop_nonmonotonic_runtime(data, threads, start, end, step, flags);
    fn GOMP_parallel_loop_maybe_nonmonotonic_runtime(data, threads, start, end, step, flags);
    fn GOMP_teams_reg(data, teams, limit, flags);
}

/// Flags of the library's `GOMP_task` and `GOMP_taskloop`.
const DEPENDS: usize = 1 << 3;
const NO_GROUP: usize = 1 << 11;

interpose! {
    fn GOMP_task(
        function: usize, data: usize, copy: usize, size: c_long, alignment: c_long, deferred: bool, flags: c_uint,
        depend: usize, priority: c_int, event: usize
    ) {
        prepare(&REAL);
        let kind = if flags as usize & DEPENDS != 0 { PartKind::DependentTask } else { PartKind::Task };
        sync::release_join(CREATED);
        real(stand_in(function, kind), data, copy, size, alignment, deferred, flags, depend, priority, event);
    }

    fn GOMP_taskloop(
        function: usize, data: usize, copy: usize, size: c_long, alignment: c_long, flags: c_uint, tasks: usize,
        priority: c_int, start: c_long, end: c_long, step: c_long
    ) {
        prepare(&REAL);
        sync::release_join(CREATED);
        let function = stand_in(function, PartKind::Task);
        real(function, data, copy, size, alignment, flags, tasks, priority, start, end, step);
        if flags as usize & NO_GROUP == 0 {
            goes_on();
        }
    }

    fn GOMP_taskloop_ull(
        function: usize, data: usize, copy: usize, size: c_long, alignment: c_long, flags: c_uint, tasks: usize,
        priority: c_int, start: c_long, end: c_long, step: c_long
    ) {
        prepare(&REAL);
        sync::release_join(CREATED);
        let function = stand_in(function, PartKind::Task);
        real(function, data, copy, size, alignment, flags, tasks, priority, start, end, step);
        if flags as usize & NO_GROUP == 0 {
            goes_on();
        }
    }
}

/// The calling thread has tried to lock.
fn tried(lock: usize, result: c_int) -> c_int {
    if result != 0 {
        sync::acquire(lock);
    }
    result
}

/// The calling thread arrives where it waits for others.
#[inline(always)]
fn arrives() {
    sync::release_join(ENDED);
}

/// The calling thread goes on after what it waited for.
#[inline(always)]
fn goes_on() {
    sync::acquire_assumed(ENDED);
}

#[inline(always)]
fn prepare(real: &RealFunction) {
    begin();
    real.load_from(c"libgomp.so.1");
}

/// What the compiler makes functions of.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum PartKind {
    Region = 1,
    Task = 2,
    DependentTask = 3,
}

/// How many functions have stand-ins. The regions and tasks of others are not seen to begin.
const MOST: usize = 2048;

/// A function that stands for another: its address, and what it was made of in the upper bits.
static FUNCTIONS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
const KIND_SHIFT: u32 = 56;

#[cfg(not(test))]
std::arch::global_asm!(
    ".pushsection .text.ravelin_stand_ins,\"ax\",@progbits",
    ".p2align 4",
    ".hidden ravelin_stand_ins",
    ".globl ravelin_stand_ins",
    "ravelin_stand_ins:",
    ".rept {most}",
    ".p2align 4",
    "lea rsi, [rip]",
    "jmp 3f",
    ".endr",
    "3:",
    "lea rdx, [rip + ravelin_stand_ins]",
    "sub rsi, rdx",
    "jmp {run}",
    ".popsection",
    most = const MOST,
    run = sym run,
);

#[cfg(not(test))]
unsafe extern "C" {
    #[link_name = "ravelin_stand_ins"]
    static STAND_INS: u8;
}

/// The bytes of a stand-in.
const LENGTH: usize = 16;

/// The function that stands for another; that itself if there is no more.
#[cfg(not(test))]
fn stand_in(function: usize, kind: PartKind) -> usize {
    let wanted = function | (kind as usize) << KIND_SHIFT;
    let first = function >> 4;
    for index in (0..MOST).map(|step| (first + step) % MOST) {
        let taken = match FUNCTIONS[index].compare_exchange(0, wanted, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => wanted,
            Err(taken) => taken,
        };
        if taken == wanted {
            return (&raw const STAND_INS) as usize + index * LENGTH;
        }
    }
    function
}

/// The test program has no stand-ins.
#[cfg(test)]
fn stand_in(function: usize, _kind: PartKind) -> usize {
    function
}

/// Runs the function for which the stand-in at this offset stands. `offset` is that of its second instruction.
#[cfg_attr(test, allow(dead_code))]
unsafe extern "C" fn run(data: usize, offset: usize) {
    let wanted = FUNCTIONS[offset / LENGTH % MOST].load(Ordering::Acquire);
    // SAFETY: the compiler made this function, which takes the address of its data.
    let function: unsafe extern "C" fn(usize) = unsafe { std::mem::transmute(wanted & ((1 << KIND_SHIFT) - 1)) };
    let kind = wanted >> KIND_SHIFT;
    sync::acquire_assumed(if kind == PartKind::Region as usize { FORKED } else { CREATED });
    if kind == PartKind::DependentTask as usize {
        sync::acquire_assumed(DEPENDENT);
    }
    // SAFETY: the library called the stand-in as it would have called the function.
    unsafe { function(data) };
    sync::release_join(ENDED);
    if kind == PartKind::DependentTask as usize {
        sync::release_join(DEPENDENT);
    }
}
