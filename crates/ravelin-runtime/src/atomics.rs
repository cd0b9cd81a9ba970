//! The functions that compilers call for atomic accesses and fences.
//!
//! The small pieces of assembly below are the entry points. They pass the return address along, which is the place in
//! the program. What all accesses share is in [`crate::access`].

use crate::access::{self, AccessPlace, Effect};
use crate::options;
use crate::schedule;
use crate::special::{self, NextAccess, NextAct};
use crate::spin::Spin;
use crate::stale;
use crate::this_thread;
use crate::weak::{self, WeakAccess};
use crate::word::Word;
use ravelin_clocks::weak::WeakAct;
use ravelin_clocks::{AtomicOrder, CasKind, FenceLocation};
use ravelin_findings::AccessKind;
use std::arch::global_asm;
use std::sync::atomic::{AtomicU64, Ordering};

/// The hidden location at which seq_cst fences meet.
pub static HIDDEN: Spin<FenceLocation> = Spin::new(FenceLocation::new());
/// The number of seq_cst fences, counted from 1 while `HIDDEN` is locked.
static FENCES: AtomicU64 = AtomicU64::new(1);

/// Does something with the hidden location, and returns the number of the fence.
#[inline(always)]
pub fn fenced(work: impl FnOnce(&mut FenceLocation)) -> u64 {
    let mut hidden = HIDDEN.lock();
    work(&mut hidden);
    let fences = FENCES.load(Ordering::Relaxed) + 1;
    FENCES.store(fences, Ordering::Relaxed);
    fences
}

/// The order that compilers mean by a code.
#[inline(always)]
pub fn order(code: i32) -> AtomicOrder {
    match code & 0x7fff {
        0 => AtomicOrder::Relaxed,
        1 | 2 => AtomicOrder::Acquire,
        3 => AtomicOrder::Release,
        4 => AtomicOrder::AcqRel,
        _ => AtomicOrder::SeqCst,
    }
}

/// An atomic access: `raw` makes it and returns its result, `done` says what that was.
#[inline(always)]
fn access<T: Word, R>(
    (at, pc, writes): (*mut T, usize, bool),
    raw: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> (AccessKind, AtomicOrder, Effect),
) -> R {
    let Some(open) = access::begin(AccessPlace { pc, address: at as usize, size: size_of::<T>(), writes }) else {
        return raw();
    };
    let result = raw();
    let (kind, order, effect) = done(&result);
    open.finish(kind, order, effect);
    result
}

/// The place of an access that leaves memory as it is.
fn stale_place<T: Word>(at: *mut T, pc: usize) -> AccessPlace {
    AccessPlace { pc, address: at as usize, size: size_of::<T>(), writes: false }
}

/// What the access at this place will do.
#[inline(always)]
fn next<T: Word>(at: *mut T, pc: usize, act: NextAct) -> NextAccess {
    NextAccess { pc, address: at as usize, size: size_of::<T>(), act }
}

extern "C" fn load<T: Word>(at: *mut T, code: i32, pc: usize) -> T {
    let code = special::before(next(at, pc, NextAct::Load), code, AccessKind::Load);
    if code & special::UNUSUAL != 0 {
        if code & special::STALE != 0 {
            let value = T::of_low(stale::value());
            stale::made(stale_place(at, pc), order(code), Effect::Load { value: value.low() });
            return value;
        }
        let access = WeakAccess::new(pc, AccessKind::Load, order(code));
        if let Some(made) = weak::access(at, access, WeakAct::Load, |old| old) {
            return made.read;
        }
    }
    let thread = this_thread::active();
    if !thread.is_null() && !schedule::steer::is_on() {
        // SAFETY: the calling thread's own state. A signal handler that runs now makes its own events and returns.
        let thread = unsafe { &mut *thread };
        let order = order(code);
        let fences = if order == AtomicOrder::SeqCst && options::rc20() { FENCES.load(Ordering::Relaxed) } else { 0 };
        // SAFETY: the program's own access.
        let load = || unsafe { T::load(at) };
        let again = thread.loads.again(&thread.clocks, at as usize, order.acquires(), fences, load);
        if let Some(value) = again.filter(|_| thread.mark.waits_for(at as usize).is_none()) {
            thread.spin.loaded(pc, at as usize, value.low());
            return value;
        }
    }
    access(
        (at, pc, false),
        // SAFETY: the program's own access.
        || unsafe { T::load(at) },
        |value| (AccessKind::Load, order(code), Effect::Load { value: value.low() }),
    )
}

extern "C" fn store<T: Word>(at: *mut T, value: T, code: i32, pc: usize) {
    let code = special::before(next(at, pc, NextAct::Store), code, AccessKind::Store);
    if code & special::UNUSUAL != 0 {
        if code & special::STALE != 0 {
            return stale::made(stale_place(at, pc), order(code), Effect::Store { value: value.low() });
        }
        let access = WeakAccess::new(pc, AccessKind::Store, order(code));
        if weak::access(at, access, WeakAct::Store, |_| value).is_some() {
            return;
        }
    }
    access(
        (at, pc, true),
        // SAFETY: the program's own access.
        || unsafe { T::store(at, value, order(code) == AtomicOrder::SeqCst) },
        |()| (AccessKind::Store, order(code), Effect::Store { value: value.low() }),
    );
}

#[inline(always)]
fn update<T: Word>(at: *mut T, code: i32, pc: usize, act: NextAct, change: impl Fn(T) -> T) -> T {
    let code = special::before(next(at, pc, act), code, AccessKind::Update);
    if code & special::UNUSUAL != 0 {
        if code & special::STALE != 0 {
            let old = T::of_low(stale::value());
            let new = change(old);
            let effect = Effect::Update { old: old.low(), new: new.low(), changed: new != old };
            stale::made(stale_place(at, pc), order(code), effect);
            return old;
        }
        let access = WeakAccess::new(pc, AccessKind::Update, order(code));
        if let Some(made) = weak::access(at, access, WeakAct::Update, &change) {
            return made.read;
        }
    }
    access(
        (at, pc, true),
        // SAFETY: the program's own access.
        || unsafe { T::update(at, &change) },
        |old| {
            let new = change(*old);
            (AccessKind::Update, order(code), Effect::Update { old: old.low(), new: new.low(), changed: new != *old })
        },
    )
}

extern "C" fn exchange<T: Word>(at: *mut T, value: T, code: i32, pc: usize) -> T {
    update(at, code, pc, NextAct::Exchange(value.low()), |_| value)
}

macro_rules! fetch {
    ($($name:ident: $change:ident),*) => {
        $(extern "C" fn $name<T: Word>(at: *mut T, value: T, code: i32, pc: usize) -> T {
            update(at, code, pc, NextAct::Update, |old| old.$change(value))
        })*
    };
}

fetch!(fetch_add: add, fetch_sub: sub, fetch_and: and, fetch_or: or, fetch_xor: xor, fetch_nand: nand);

/// What the compiler says about a compare-exchange, which the program may know better. Returns what it found, and whether
/// it succeeded.
#[inline(always)]
fn compare_exchange<T: Word>(at: *mut T, expected: T, new: T, codes: (i32, i32), cas: CasKind, pc: usize) -> (T, bool) {
    let codes = special::before_exchange(next(at, pc, NextAct::CompareExchange(expected.low())), codes);
    if codes.0 & special::UNUSUAL != 0 {
        if codes.0 & special::STALE != 0 {
            let found = T::of_low(stale::value());
            let written = (found == expected).then_some(new.low());
            let effect = Effect::CompareExchange { kind: cas, expected: expected.low(), found: found.low(), written };
            stale::made(stale_place(at, pc), order(if written.is_some() { codes.0 } else { codes.1 }), effect);
            return (found, written.is_some());
        }
        let (success, failure) = (order(codes.0), order(codes.1));
        let access = WeakAccess { failure, ..WeakAccess::new(pc, AccessKind::CompareExchange, success) };
        let act = WeakAct::CompareExchange { kind: cas, expected: expected.low() };
        if let Some(made) = weak::access(at, access, act, |_| new) {
            return (made.read, made.wrote);
        }
    }
    // One that fails only reads, which is no race with another read. That is known before only if no other thread runs.
    // SAFETY: the program is about to access these bytes.
    let writes = !schedule::steer::is_on() || unsafe { T::load(at) } == expected;
    let found = access(
        (at, pc, writes),
        // SAFETY: the program's own access.
        || unsafe { T::exchange_if(at, expected, new) },
        |found| {
            let (success, failure) = (order(codes.0), order(codes.1));
            let (kind, order) = if *found == expected {
                (AccessKind::CompareExchange, success)
            } else if success.acquires() && !failure.acquires() {
                (AccessKind::FailedCompareExchange, failure)
            } else {
                (AccessKind::CompareExchange, failure)
            };
            let written = (*found == expected).then_some(new.low());
            let (expected, found) = (expected.low(), found.low());
            (kind, order, Effect::CompareExchange { kind: cas, expected, found, written })
        },
    );
    (found, found == expected)
}

/// clang and rustc do not say whether it is strong or weak. Taking it as strong never reports too much.
extern "C" fn compare_exchange_val<T: Word>(
    at: *mut T,
    expected: T,
    new: T,
    success: i32,
    failure: i32,
    pc: usize,
) -> T {
    compare_exchange(at, expected, new, (success, failure), CasKind::Strong, pc).0
}

#[inline(always)]
fn compare_exchange_at<T: Word>(
    at: *mut T,
    expected: *mut T,
    new: T,
    codes: (i32, i32),
    kind: CasKind,
    pc: usize,
) -> i32 {
    // SAFETY: the program gives a pointer to the value it expects.
    let wanted = unsafe { *expected };
    let (found, succeeded) = compare_exchange(at, wanted, new, codes, kind, pc);
    if succeeded {
        return 1;
    }
    // SAFETY: as above.
    unsafe { *expected = found };
    if wanted != found {
        // In a waiting loop, this round has had an effect if others can see what is expected now.
        // SAFETY: the calling thread's own state.
        if let Some(thread) = unsafe { this_thread::active().as_mut() } {
            thread.spin.disturbed(expected as usize, thread.stack);
        }
    }
    0
}

extern "C" fn compare_exchange_strong<T: Word>(
    at: *mut T,
    expected: *mut T,
    new: T,
    success: i32,
    failure: i32,
    pc: usize,
) -> i32 {
    compare_exchange_at(at, expected, new, (success, failure), CasKind::Strong, pc)
}

extern "C" fn compare_exchange_weak<T: Word>(
    at: *mut T,
    expected: *mut T,
    new: T,
    success: i32,
    failure: i32,
    pc: usize,
) -> i32 {
    compare_exchange_at(at, expected, new, (success, failure), CasKind::Weak, pc)
}

/// A store that code without instrumentation made.
pub fn store_from_outside(at: *mut u8, value: u8) {
    store::<u8>(at, value, 3, 0);
}

extern "C" fn thread_fence(code: i32, pc: usize) {
    let order = order(code);
    if order == AtomicOrder::SeqCst {
        std::sync::atomic::fence(Ordering::SeqCst);
    }
    special::before_fence(pc, order);
    fence(order);
}

/// Applies a fence to the clocks of the calling thread.
pub fn fence(order: AtomicOrder) {
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    thread.sources.fence(thread.clocks.epoch, order);
    if !options::rc20() {
        if order == AtomicOrder::SeqCst {
            thread.clocks.drain();
        }
        if !weak::fence(thread, order) {
            thread.clocks.synchronising_fence(order);
        }
    } else if order == AtomicOrder::SeqCst {
        fenced(|hidden| thread.clocks.fence(order, hidden));
    } else {
        thread.clocks.fence(order, &mut FenceLocation::new());
    }
    thread.new_epoch();
}

/// Fences between a thread and its own signal handlers order nothing between threads.
extern "C" fn signal_fence(_code: i32) {}

/// An entry point: puts the return address into a register and jumps to the function.
macro_rules! entry {
    ($symbol:expr, $register:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            "jmp {function}",
            function = sym $function,
        );
    };
}

/// The same for loads, with the registers of the program stored as [`crate::caller::CallerState`].
macro_rules! load_entry {
    ($symbol:expr, $function:path) => {
        global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            "mov rdx, qword ptr [rsp]",
            "mov rax, qword ptr [rip + __ravelin_caller@GOTTPOFF]",
            "mov qword ptr fs:[rax], rbx",
            "mov qword ptr fs:[rax + 8], rbp",
            "mov qword ptr fs:[rax + 16], r12",
            "mov qword ptr fs:[rax + 24], r13",
            "mov qword ptr fs:[rax + 32], r14",
            "mov qword ptr fs:[rax + 40], r15",
            "mov qword ptr fs:[rax + 48], rsp",
            "mov qword ptr fs:[rax + 56], rdx",
            "jmp {function}",
            function = sym $function,
        );
    };
}

/// The same for accesses that both read and write, which store the registers only for a steered thread: the word at
/// offset 12 of its state is [`crate::this_thread::WatchedThread::special`].
macro_rules! update_entry {
    ($symbol:expr, $register:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            "mov rax, qword ptr [rip + __ravelin_active@GOTTPOFF]",
            "mov rax, qword ptr fs:[rax]",
            "test rax, rax",
            "je {function}",
            "cmp dword ptr [rax + 12], 0",
            "je {function}",
            "mov rax, qword ptr [rip + __ravelin_caller@GOTTPOFF]",
            "mov qword ptr fs:[rax], rbx",
            "mov qword ptr fs:[rax + 8], rbp",
            "mov qword ptr fs:[rax + 16], r12",
            "mov qword ptr fs:[rax + 24], r13",
            "mov qword ptr fs:[rax + 32], r14",
            "mov qword ptr fs:[rax + 40], r15",
            "mov qword ptr fs:[rax + 48], rsp",
            concat!("mov qword ptr fs:[rax + 56], ", $register),
            "jmp {function}",
            function = sym $function,
        );
    };
}

macro_rules! entries {
    ($($bits:literal $word:ty),*) => {$(
        load_entry!(concat!("__tsan_atomic", $bits, "_load"), load::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_store"), "rcx", store::<$word>);
        update_entry!(concat!("__tsan_atomic", $bits, "_exchange"), "rcx", exchange::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_fetch_add"), "rcx", fetch_add::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_fetch_sub"), "rcx", fetch_sub::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_fetch_and"), "rcx", fetch_and::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_fetch_or"), "rcx", fetch_or::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_fetch_xor"), "rcx", fetch_xor::<$word>);
        entry!(concat!("__tsan_atomic", $bits, "_fetch_nand"), "rcx", fetch_nand::<$word>);
        update_entry!(concat!("__tsan_atomic", $bits, "_compare_exchange_val"), "r9", compare_exchange_val::<$word>);
        update_entry!(concat!("__tsan_atomic", $bits, "_compare_exchange_strong"), "r9", compare_exchange_strong::<$word>);
        update_entry!(concat!("__tsan_atomic", $bits, "_compare_exchange_weak"), "r9", compare_exchange_weak::<$word>);
    )*};
}

entries!("8" u8, "16" u16, "32" u32, "64" u64);

// Sixteen bytes take two registers, so the return address is the argument after them.
entry!("__tsan_atomic128_load", "rdx", load::<u128>);
entry!("__tsan_atomic128_store", "r8", store::<u128>);
entry!("__tsan_atomic128_exchange", "r8", exchange::<u128>);
entry!("__tsan_atomic128_fetch_add", "r8", fetch_add::<u128>);
entry!("__tsan_atomic128_fetch_sub", "r8", fetch_sub::<u128>);
entry!("__tsan_atomic128_fetch_and", "r8", fetch_and::<u128>);
entry!("__tsan_atomic128_fetch_or", "r8", fetch_or::<u128>);
entry!("__tsan_atomic128_fetch_xor", "r8", fetch_xor::<u128>);
entry!("__tsan_atomic128_fetch_nand", "r8", fetch_nand::<u128>);

// With two of them the last argument is on the stack. It is pushed again, with the return address after it.
macro_rules! entry_with_stack {
    ($symbol:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            "mov rax, qword ptr [rsp]",
            "mov r10, qword ptr [rsp + 8]",
            "sub rsp, 8",
            "push rax",
            "push r10",
            "call {function}",
            "add rsp, 24",
            "ret",
            function = sym $function,
        );
    };
}

entry_with_stack!("__tsan_atomic128_compare_exchange_val", compare_exchange_val::<u128>);

// gcc's variants pass a pointer, one pair of registers and two orders: the return address goes to the stack.
macro_rules! entry_seventh {
    ($symbol:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            "push qword ptr [rsp]",
            "call {function}",
            "add rsp, 8",
            "ret",
            function = sym $function,
        );
    };
}

entry_seventh!("__tsan_atomic128_compare_exchange_strong", compare_exchange_strong::<u128>);
entry_seventh!("__tsan_atomic128_compare_exchange_weak", compare_exchange_weak::<u128>);

entry!("__tsan_atomic_thread_fence", "rsi", thread_fence);
entry!("__tsan_atomic_signal_fence", "rsi", signal_fence);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::findings;
    use crate::race;
    use crate::records;
    use crate::threads::tests::{beside, now, watched, with_clocks};
    use ravelin_findings::{FindingRecord, OrderStepKind, Problem};
    use std::sync::atomic::AtomicUsize;

    const RELAXED: i32 = 0;
    const ACQUIRE: i32 = 2;
    const RELEASE: i32 = 3;
    const SEQ_CST: i32 = 5;

    /// A place in the program that no other test uses.
    fn new_place() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0xa70_0000);
        NEXT.fetch_add(16, Ordering::Relaxed)
    }

    fn found_at(place: usize) -> Vec<FindingRecord> {
        let is_here = |finding: &FindingRecord| finding.access.stack.first() == Some(&(place as u64));
        findings().findings.into_iter().filter(is_here).collect()
    }

    /// Words of a program with enough distance between them, by their addresses.
    struct Words(Box<[u64; 64]>);

    impl Words {
        fn new() -> Words {
            Words(Box::new([0; 64]))
        }

        /// The address of one word, with new clocks.
        fn at(&mut self, index: usize) -> usize {
            let address = &raw mut self.0[8 * index] as usize;
            crate::memory::forget_inside(address, 8);
            address
        }
    }

    #[test]
    fn accesses_of_every_size_do_what_they_do_in_every_thread() {
        fn values<T: Word + From<u8> + std::fmt::Debug>() {
            #[repr(align(16))]
            struct Aligned<T>(T);
            let of = |value: u8| T::from(value);
            let mut word = Aligned(of(0b1100));
            let at = &raw mut word.0;
            assert_eq!(load(at, ACQUIRE, 1), of(0b1100));
            store(at, of(7), SEQ_CST, 1);
            assert_eq!(fetch_add(at, of(3), RELAXED, 1), of(7));
            assert_eq!(fetch_sub(at, of(4), RELAXED, 1), of(10));
            assert_eq!(fetch_and(at, of(0b100), RELAXED, 1), of(6));
            assert_eq!(fetch_or(at, of(0b011), RELAXED, 1), of(4));
            assert_eq!(fetch_xor(at, of(0b110), RELAXED, 1), of(7));
            assert_eq!(exchange(at, of(0), RELAXED, 1), of(1));
            assert_eq!(fetch_nand(at, of(0), RELAXED, 1), of(0));
            assert_eq!(fetch_add(at, of(1), RELAXED, 1).add(of(1)), of(0), "all bits were set");
            assert_eq!(compare_exchange_val(at, of(1), of(2), ACQUIRE, RELAXED, 1), of(0));
            let mut expected = of(1);
            assert_eq!(compare_exchange_strong(at, &raw mut expected, of(9), ACQUIRE, RELAXED, 1), 0);
            assert_eq!(expected, of(0), "what was there is given");
            assert_eq!(compare_exchange_weak(at, &raw mut expected, of(9), ACQUIRE, RELAXED, 1), 1);
            assert_eq!((load(at, RELAXED, 1), expected), (of(9), of(0)));
        }
        let all = || {
            values::<u8>();
            values::<u16>();
            values::<u32>();
            values::<u64>();
            values::<u128>();
        };
        all();
        watched(all);
    }

    /// Another thread writes data and sets a flag. The calling thread reads the flag, possibly makes a fence, and reads
    /// the data. Returns whether the data races.
    fn message_races(set: i32, look: i32, fences: (Option<i32>, Option<i32>)) -> bool {
        findings();
        let (mut words, place) = (Words::new(), new_place());
        let (data, flag) = (words.at(0), words.at(1));
        watched(|| {
            beside(|| {
                race::access(data, 8, 1, 1);
                if let Some(code) = fences.0 {
                    thread_fence(code, 1);
                }
                store(flag as *mut u32, 1, set, 1);
            });
            assert_eq!(load(flag as *mut u32, look, 2), 1);
            if let Some(code) = fences.1 {
                thread_fence(code, 2);
            }
            race::access(data, 8, 0, place);
        });
        found_at(place).iter().any(|finding| finding.problem == Problem::Race)
    }

    #[test]
    fn a_message_is_ordered_by_release_and_acquire_or_fences_in_their_place() {
        for (set, look, fences, expected) in [
            (RELEASE, ACQUIRE, (None, None), false),
            (SEQ_CST, SEQ_CST, (None, None), false),
            (RELEASE, RELAXED, (None, None), true),
            (RELAXED, ACQUIRE, (None, None), true),
            (RELAXED, ACQUIRE, (Some(RELEASE), None), false),
            (RELEASE, RELAXED, (None, Some(ACQUIRE)), false),
            (RELAXED, RELAXED, (Some(SEQ_CST), Some(SEQ_CST)), false),
            (RELAXED, RELAXED, (Some(ACQUIRE), Some(RELEASE)), true),
        ] {
            assert_eq!(message_races(set, look, fences), expected, "{set}, {look} with fences {fences:?}");
        }
    }

    #[test]
    fn a_race_tells_the_read_that_would_have_ordered_it() {
        findings();
        let (mut words, place) = (Words::new(), new_place());
        let (data, flag) = (words.at(0), words.at(1));
        watched(|| {
            beside(|| {
                race::access(data, 8, 1, 1);
                store(flag as *mut u32, 1, RELEASE, 1);
            });
            load(flag as *mut u32, RELAXED, 2);
            race::access(data, 8, 0, place);
        });
        let [ref found] = found_at(place)[..] else { panic!("one race") };
        let [ref step] = found.path[..] else { panic!("one step") };
        assert_eq!((step.kind, step.address), (OrderStepKind::ReadsFrom, flag as u64));
        assert_eq!((step.lacks_release, step.lacks_acquire), (false, true));
    }

    /// Store buffering: each of two threads writes one location and then reads the other. Returns what the second read
    /// misses.
    fn store_buffering(code: i32, fence: Option<i32>) -> Vec<FindingRecord> {
        findings();
        let (mut words, place) = (Words::new(), new_place());
        let locations = [words.at(0), words.at(1)].map(|at| at as *mut u32 as usize);
        let turn = |mine: usize, pc: usize| {
            store(locations[mine] as *mut u32, 1, code, pc + 1);
            if let Some(code) = fence {
                thread_fence(code, pc + 2);
            }
            load(locations[1 - mine] as *mut u32, code, pc);
        };
        let other = new_place();
        watched(|| {
            beside(|| turn(0, other));
            turn(1, place);
        });
        let found = found_at(place);
        assert!(found.iter().all(|finding| finding.other.stack[0] == other as u64 + 1));
        found
    }

    #[test]
    fn a_stale_read_of_store_buffering_is_found_and_fences_exclude_it() {
        let [ref found] = store_buffering(RELAXED, None)[..] else { panic!("one finding") };
        assert_eq!(found.problem, Problem::StaleRead);
        assert_eq!((found.access.kind, found.other.kind), (AccessKind::Load, AccessKind::Store));
        let [ref step] = found.path[..] else { panic!("one step") };
        assert_eq!(step.kind, OrderStepKind::OverwritesRead);
        assert_eq!(store_buffering(RELAXED, Some(SEQ_CST)), []);
        assert_eq!(store_buffering(SEQ_CST, None), []);
        assert_eq!(store_buffering(RELAXED, Some(RELEASE)).len(), 1, "a weaker fence does not");
    }

    #[test]
    fn a_non_atomic_write_begins_a_new_object() {
        let mut words = Words::new();
        let at = words.at(0);
        watched(|| {
            store(at as *mut u64, 1, RELAXED, 1);
            let is_atomic = || records::with(at, |record| record.is_atomic());
            assert_eq!(is_atomic(), Some(true));
            race::access(at, 8, 0, 1);
            assert_eq!(is_atomic(), Some(true), "a read does not");
            race::access(at, 8, 1, 1);
            assert_eq!(is_atomic(), Some(false));
        });
    }

    #[test]
    fn a_load_that_tells_nothing_new_is_no_event_and_the_first_one_is() {
        let mut words = Words::new();
        let at = words.at(0) as *mut u32;
        watched(|| {
            load(at, ACQUIRE, 1);
            let before = now();
            (0..5).for_each(|_| assert_eq!(load(at, ACQUIRE, 1), 0));
            assert_eq!(now(), before);
            let address = at as usize;
            beside(|| store(address as *mut u32, 4, RELEASE, 2));
            let before = now();
            assert_eq!(load(at, ACQUIRE, 1), 4);
            assert_ne!(now(), before, "somebody has written it");
        });
    }

    #[test]
    fn a_wait_that_does_not_pass_is_no_event() {
        let mut words = Words::new();
        let at = words.at(0) as *mut u32;
        watched(|| {
            crate::marks::__ravelin_wait_begin(at as usize, 1, 4);
            let before = now();
            load(at, ACQUIRE, 1);
            assert_eq!(now(), before);
            store(at, 1, RELAXED, 1);
            let before = now();
            load(at, ACQUIRE, 1);
            assert_ne!(now(), before);
            crate::marks::__ravelin_wait_end();
        });
    }

    #[test]
    fn a_store_from_outside_releases() {
        let mut words = Words::new();
        let at = words.at(0);
        watched(|| {
            let ((tid, epoch), _) = beside(|| {
                let moment = now();
                store_from_outside(at as *mut u8, 1);
                moment
            });
            assert_eq!(load(at as *mut u8, ACQUIRE, 1), 1);
            assert!(with_clocks(|clocks| clocks.happens_after(tid, epoch)));
        });
    }

    #[test]
    fn codes_of_orders_are_those_of_the_compilers() {
        let orders = [
            AtomicOrder::Relaxed,
            AtomicOrder::Acquire,
            AtomicOrder::Acquire,
            AtomicOrder::Release,
            AtomicOrder::AcqRel,
            AtomicOrder::SeqCst,
        ];
        for (code, expected) in orders.into_iter().enumerate() {
            assert_eq!(order(code as i32), expected);
            assert_eq!(order(code as i32 | 1 << 16), expected, "flags above do not count");
        }
    }
}
