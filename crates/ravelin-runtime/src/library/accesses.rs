//! Atomic accesses of the standard library: `__ravelin_library_…` in place of `__tsan_…`.
//!
//! Read-write locks have sets of entries of their own, `__ravelin_reader_…`, `__ravelin_writer_…` and so on, because their
//! accesses order more than the locks do: only the counter orders a reader after earlier readers.
//!
//! If the steps of a run are given, an access is a step. Accesses of locks are steps that lock and unlock, so that a thread
//! waits here and never inside the standard library, where the runtime does not see it.

use super::{left_by_readers, locks};
use crate::special::{NextAccess, NextAct};
use crate::word::Word;
use crate::{records, schedule, start_order, sync, this_thread};
use ravelin_clocks::{AtomicOrder, MessageAccess};
use std::arch::global_asm;

/// The kind of code that makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CodeKind {
    Anything,
    /// Nothing depends on the order of these accesses.
    Inner,
    /// A mutex: `lock`, `try_lock`, `unlock`.
    Lock,
    TryLock,
    Unlock,
    /// A read-write lock: `read`, `read_unlock` and other functions for reading.
    Read,
    ReadUnlock,
    Reader,
    /// `write`, `write_unlock` and other functions for writing.
    Write,
    WriteUnlock,
    Writer,
    /// The end of a scope.
    Scope,
    /// A channel: where it begins to send, to receive or to disconnect, and what follows.
    Send,
    Receive,
    Disconnect,
    Channel,
}

impl CodeKind {
    const ALL: [CodeKind; 16] = [
        CodeKind::Anything,
        CodeKind::Inner,
        CodeKind::Lock,
        CodeKind::TryLock,
        CodeKind::Unlock,
        CodeKind::Read,
        CodeKind::ReadUnlock,
        CodeKind::Reader,
        CodeKind::Write,
        CodeKind::WriteUnlock,
        CodeKind::Writer,
        CodeKind::Scope,
        CodeKind::Send,
        CodeKind::Receive,
        CodeKind::Disconnect,
        CodeKind::Channel,
    ];

    fn reads(self) -> bool {
        matches!(self, CodeKind::Read | CodeKind::ReadUnlock | CodeKind::Reader)
    }

    fn writes(self) -> bool {
        matches!(self, CodeKind::Write | CodeKind::WriteUnlock | CodeKind::Writer)
    }

    /// Whether it is that of a lock. In the next run the lock may order the threads the other way round.
    fn locks(self) -> bool {
        self.reads() || self.writes() || matches!(self, CodeKind::Lock | CodeKind::TryLock | CodeKind::Unlock)
    }
}

const ANYTHING: u8 = CodeKind::Anything as u8;
const INNER: u8 = CodeKind::Inner as u8;
const LOCK: u8 = CodeKind::Lock as u8;
const TRY_LOCK: u8 = CodeKind::TryLock as u8;
const UNLOCK: u8 = CodeKind::Unlock as u8;
const READ: u8 = CodeKind::Read as u8;
const READ_UNLOCK: u8 = CodeKind::ReadUnlock as u8;
const READER: u8 = CodeKind::Reader as u8;
const WRITE: u8 = CodeKind::Write as u8;
const WRITE_UNLOCK: u8 = CodeKind::WriteUnlock as u8;
const WRITER: u8 = CodeKind::Writer as u8;
const SCOPE: u8 = CodeKind::Scope as u8;
const SEND: u8 = CodeKind::Send as u8;
const RECEIVE: u8 = CodeKind::Receive as u8;
const DISCONNECT: u8 = CodeKind::Disconnect as u8;
const CHANNEL: u8 = CodeKind::Channel as u8;

const fn of(code: u8) -> CodeKind {
    CodeKind::ALL[code as usize]
}

fn order(code: i32) -> AtomicOrder {
    match code & 0x7fff {
        0 => AtomicOrder::Relaxed,
        1 | 2 => AtomicOrder::Acquire,
        3 => AtomicOrder::Release,
        4 => AtomicOrder::AcqRel,
        _ => AtomicOrder::SeqCst,
    }
}

/// An access: `raw` does it and returns what it did and with which order. The message changes while the record is
/// locked, so no thread reads a value before its writer is known.
///
/// `code` is the strongest order that it may have. The call of the access returns to `pc`.
#[inline(always)]
fn access<R>(
    of: CodeKind,
    next: NextAccess,
    (code, pc): (i32, usize),
    raw: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> Done,
) -> R {
    let mut outcome = MessageAccess::Load;
    locks::before(of, next, pc);
    if !of.locks() && order(code).releases() {
        start_order::release(next.address);
    }
    let result = access_step(of, next, code, raw, |result| {
        let done = done(result);
        outcome = done.touch;
        done
    });
    // The last owner of a counted block reads with release order only, before a fence.
    let updates = !matches!(next.act, NextAct::Load | NextAct::Store);
    if !of.locks() && (order(code).acquires() || updates && order(code).releases()) {
        start_order::acquire(next.address);
    }
    locks::after(of, next, outcome, pc);
    result
}

/// The same without what concerns the order of locks.
fn access_step<R>(
    of: CodeKind,
    next: NextAccess,
    code: i32,
    raw: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> Done,
) -> R {
    if !schedule::steer::is_on() {
        return unsteered(of, next.address, code, raw, |result| {
            let Done { touch, order, .. } = done(result);
            (touch, order)
        });
    }
    let step = steered::before(of, next);
    let result = unsteered(of, next.address, code, raw, |result| {
        let done = done(result);
        steered::after(step, &done);
        (done.touch, done.order)
    });
    steered::woke(step, next);
    result
}

/// What an access did.
struct Done {
    touch: MessageAccess,
    order: AtomicOrder,
    read: u64,
    written: u64,
}

/// The same if no step is given.
fn unsteered<R>(
    of: CodeKind,
    address: usize,
    code: i32,
    raw: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> (MessageAccess, AtomicOrder),
) -> R {
    if of.reads() {
        return of_reader(address, order(code), raw, done);
    }
    let Some(mut inside) = this_thread::enter() else {
        let result = raw();
        done(&result);
        return result;
    };
    let thread = inside.thread();
    thread.spin.left();
    let Some(mut locked) = records::lock(address) else {
        let result = raw();
        done(&result);
        return result;
    };
    let result = raw();
    let (touch, order) = done(&result);
    let message = locked.record().released();
    if let Some(message) = message.as_ref().filter(|_| touch != MessageAccess::Store && order.acquires()) {
        thread.learns_from(message);
    }
    thread.clocks.exchange_message(message, touch, order);
    drop(locked);
    thread.new_epoch();
    if of.writes() && order.acquires() {
        drop(inside);
        sync::acquire(left_by_readers(address));
    }
    result
}

/// The steps that accesses are, if these are given.
mod steered {
    use super::{CodeKind, Done};
    use crate::library::channel::{self, ChannelAct};
    use crate::library::scope;
    use crate::schedule;
    use crate::special::{NextAccess, NextAct};
    use ravelin_clocks::MessageAccess;
    use ravelin_findings::WaitsFor;
    use ravelin_findings::events::Act;

    /// The step of an access.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Step {
        /// None.
        No,
        /// An access to an atomic.
        Access,
        /// An attempt to lock.
        Tries,
        /// An attempt to lock a read-write lock, which succeeds if the value is below this.
        TriesBelow(u64),
        /// It locks. The thread has waited until it can.
        Locks,
        /// It unlocks.
        Unlocks,
    }

    /// More readers than a read-write lock can have; a writer counts as so many.
    const WRITE_LOCKED: u64 = (1 << 30) - 1;

    /// Before an access: waits for the turn, and where the standard library would wait, until it need not.
    pub fn before(of: CodeKind, next: NextAccess) -> Step {
        let Some(me) = schedule::mine() else { return Step::No };
        let NextAccess { address, size, act, .. } = next;
        let value = || schedule::steer::value_at(address, size);
        let until = |act, what, is_free: fn(u64) -> bool| {
            let _ = schedule::until(me, 0, act, (what, address), None, || is_free(value()).then_some(()));
            Step::Locks
        };
        if of != CodeKind::Inner && channel::is_part(me, of == CodeKind::Lock, next) {
            // It may unlock the channel's mutex.
            return Step::Unlocks;
        }
        match (of, act) {
            (CodeKind::Inner, _) => Step::No,
            (CodeKind::Lock, NextAct::CompareExchange(_)) => until(Act::Lock, WaitsFor::Mutex, |value| value == 0),
            (CodeKind::Write, NextAct::CompareExchange(_)) => {
                until(Act::Lock, WaitsFor::ReadWriteLock, |value| value == 0)
            }
            (CodeKind::Read, NextAct::Load) => {
                until(Act::LockShared, WaitsFor::ReadWriteLock, |value| value < WRITE_LOCKED - 1)
            }
            // It follows on the load at once, and succeeds.
            (CodeKind::Read, _) | (CodeKind::Reader | CodeKind::Writer, NextAct::CompareExchange(_)) => Step::No,
            (CodeKind::Reader, NextAct::Load) => {
                schedule::before(0, Act::LockShared, address);
                Step::TriesBelow(WRITE_LOCKED - 1)
            }
            (CodeKind::Writer, NextAct::Load) => {
                schedule::before(0, Act::Lock, address);
                Step::TriesBelow(1)
            }
            (CodeKind::TryLock, NextAct::CompareExchange(_)) => {
                schedule::before(0, Act::Lock, address);
                Step::Tries
            }
            (CodeKind::Unlock | CodeKind::WriteUnlock, NextAct::Exchange(_) | NextAct::Update) => {
                schedule::before(0, Act::Unlock, address);
                Step::Unlocks
            }
            (CodeKind::ReadUnlock, NextAct::Update) => {
                schedule::before(0, Act::UnlockShared, address);
                Step::Unlocks
            }
            (CodeKind::Send, _) => {
                channel::access(me, ChannelAct::Send, next);
                Step::No
            }
            (CodeKind::Receive, _) => {
                channel::access(me, ChannelAct::Receive, next);
                Step::No
            }
            (CodeKind::Disconnect, _) => {
                channel::access(me, ChannelAct::Disconnect, next);
                Step::No
            }
            (CodeKind::Channel, _) => {
                channel::continues(me, next);
                // It may unlock a mutex.
                Step::Unlocks
            }
            (CodeKind::Scope, NextAct::Load) => {
                scope::ends(me, address);
                Step::No
            }
            _ => {
                schedule::library_access(me, next);
                Step::Access
            }
        }
    }

    /// What the access did.
    pub fn after(step: Step, done: &Done) {
        match step {
            Step::Access => schedule::library_accessed(done.touch, done.order, done.read, done.written),
            Step::Tries => schedule::attempted(0, Act::Lock, done.touch == MessageAccess::Update),
            Step::TriesBelow(bound) => {
                let act = if bound == 1 { Act::Lock } else { Act::LockShared };
                schedule::attempted(0, act, done.read < bound);
            }
            Step::No | Step::Locks | Step::Unlocks => {}
        }
    }

    /// After an access: wakes threads that wait for the lock.
    pub fn woke(step: Step, next: NextAccess) {
        if step == Step::Unlocks {
            schedule::wake(next.address);
        }
    }
}

/// A reader learns what writers released, and releases what it knows to the next writer. It does so before the counter
/// says that the reader has left.
fn of_reader<R>(
    address: usize,
    order: AtomicOrder,
    raw: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> (MessageAccess, AtomicOrder),
) -> R {
    if order.releases() {
        sync::release_join(left_by_readers(address));
    }
    let result = raw();
    if done(&result).1.acquires() {
        sync::acquire(address);
    }
    result
}

/// An access that is about to happen.
fn next<T: Word>(at: *mut T, act: NextAct) -> NextAccess {
    NextAccess { pc: 0, address: at as usize, size: size_of::<T>(), act }
}

extern "C" fn load<T: Word, const OF: u8>(at: *mut T, code: i32, pc: usize) -> T {
    // SAFETY: here and below, the program's own access.
    access(
        of(OF),
        next(at, NextAct::Load),
        (code, pc),
        || unsafe { T::load(at) },
        |read| Done { touch: MessageAccess::Load, order: order(code), read: read.low(), written: 0 },
    )
}

extern "C" fn store<T: Word, const OF: u8>(at: *mut T, value: T, code: i32, pc: usize) {
    let done = |(): &()| Done { touch: MessageAccess::Store, order: order(code), read: 0, written: value.low() };
    // SAFETY: see `load`.
    let raw = || unsafe { T::store(at, value, order(code) == AtomicOrder::SeqCst) };
    access(of(OF), next(at, NextAct::Store), (code, pc), raw, done);
}

fn update<T: Word, const OF: u8>(at: *mut T, how: (i32, usize), act: NextAct, change: impl Fn(T) -> T) -> T {
    let (code, _) = how;
    // SAFETY: see `load`.
    access(
        of(OF),
        next(at, act),
        how,
        || unsafe { T::update(at, &change) },
        |old| Done { touch: MessageAccess::Update, order: order(code), read: old.low(), written: change(*old).low() },
    )
}

extern "C" fn exchange<T: Word, const OF: u8>(at: *mut T, value: T, code: i32, pc: usize) -> T {
    update::<T, OF>(at, (code, pc), NextAct::Exchange(value.low()), |_| value)
}

macro_rules! fetch {
    ($($name:ident: $change:ident),*) => {
        $(extern "C" fn $name<T: Word, const OF: u8>(at: *mut T, value: T, code: i32, pc: usize) -> T {
            update::<T, OF>(at, (code, pc), NextAct::Update, |old| old.$change(value))
        })*
    };
}

fetch!(fetch_add: add, fetch_sub: sub, fetch_and: and, fetch_or: or, fetch_xor: xor, fetch_nand: nand);

extern "C" fn compare_exchange<T: Word, const OF: u8>(
    at: *mut T,
    expected: T,
    new: T,
    success: i32,
    failure: i32,
    pc: usize,
) -> T {
    // SAFETY: see `load`.
    let raw = || unsafe { T::exchange_if(at, expected, new) };
    access(of(OF), next(at, NextAct::CompareExchange(expected.low())), (success, pc), raw, |found| {
        let read = found.low();
        match *found == expected {
            true => Done { touch: MessageAccess::Update, order: order(success), read, written: new.low() },
            false => Done { touch: MessageAccess::Load, order: order(failure), read, written: expected.low() },
        }
    })
}

/// An entry; `$register` is that of the argument after the program's, which is the return address.
macro_rules! entry {
    ($symbol:expr, $function:path, $register:literal) => {
        global_asm!(
            concat!(".pushsection .text.", $symbol, ",\"ax\",@progbits"),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            "jmp {function}",
            ".popsection",
            function = sym $function,
        );
    };
}

macro_rules! entries {
    ($($of:literal $code:path: $($bits:literal $word:ty),*;)*) => {$($(
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_load"), load::<$word, $code>, "rdx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_store"), store::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_exchange"), exchange::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_add"), fetch_add::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_sub"), fetch_sub::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_and"), fetch_and::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_or"), fetch_or::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_xor"), fetch_xor::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_nand"), fetch_nand::<$word, $code>, "rcx");
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_compare_exchange_val"), compare_exchange::<$word, $code>, "r9");
    )*)*};
}

entries! {
    "library" ANYTHING: "8" u8, "16" u16, "32" u32, "64" u64;
    "inner" INNER: "8" u8, "16" u16, "32" u32, "64" u64;
    "lock" LOCK: "32" u32;
    "trylock" TRY_LOCK: "32" u32;
    "unlock" UNLOCK: "32" u32;
    "read" READ: "32" u32, "64" u64;
    "readunlock" READ_UNLOCK: "32" u32, "64" u64;
    "reader" READER: "32" u32, "64" u64;
    "write" WRITE: "32" u32, "64" u64;
    "writeunlock" WRITE_UNLOCK: "32" u32, "64" u64;
    "writer" WRITER: "32" u32, "64" u64;
    "scope" SCOPE: "64" u64;
    "send" SEND: "64" u64;
    "receive" RECEIVE: "64" u64;
    "disconnect" DISCONNECT: "64" u64;
    "channel" CHANNEL: "8" u8, "16" u16, "32" u32, "64" u64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{ordered, watched};

    const RELAXED: i32 = 0;
    const ACQUIRE: i32 = 2;
    const RELEASE: i32 = 3;
    const ACQ_REL: i32 = 4;
    const SEQ_CST: i32 = 5;

    /// Another thread does something and then makes an access. Returns whether the calling thread knows of it after its
    /// own access.
    fn orders(theirs: impl FnOnce(usize) + Send, mine: impl FnOnce(usize)) -> bool {
        let mut word = 0_u32;
        let at = &raw mut word as usize;
        watched(|| ordered(|| theirs(at), || mine(at)))
    }

    fn store_with(code: i32) -> impl Fn(usize) {
        move |at| store::<u32, ANYTHING>(at as *mut u32, 1, code, 0)
    }

    fn load_with(code: i32) -> impl Fn(usize) {
        move |at| {
            load::<u32, ANYTHING>(at as *mut u32, code, 0);
        }
    }

    #[test]
    fn an_access_of_the_standard_library_orders_as_it_says() {
        for (stored, loaded, expected) in [
            (RELEASE, ACQUIRE, true),
            (SEQ_CST, SEQ_CST, true),
            (RELEASE, RELAXED, false),
            (RELAXED, ACQUIRE, false),
            (RELAXED, RELAXED, false),
        ] {
            assert_eq!(orders(store_with(stored), load_with(loaded)), expected, "{stored} and {loaded}");
        }
    }

    #[test]
    fn a_compare_exchange_has_the_order_of_its_outcome() {
        for (expected, success, failure, acquires) in [
            (1, ACQUIRE, RELAXED, true),
            (7, ACQUIRE, RELAXED, false),
            (1, RELAXED, ACQUIRE, false),
            (7, RELAXED, ACQUIRE, true),
        ] {
            let mine = |at: usize| {
                let found = compare_exchange::<u32, ANYTHING>(at as *mut u32, expected, 9, success, failure, 0);
                assert_eq!(found, 1);
            };
            assert_eq!(orders(store_with(RELEASE), mine), acquires, "expecting {expected}");
        }
    }

    #[test]
    fn an_update_hands_on_what_was_released_before_it() {
        let update = |at: usize| assert_eq!(fetch_add::<u32, ANYTHING>(at as *mut u32, 4, RELAXED, 0), 1);
        let theirs = |at: usize| {
            store_with(RELEASE)(at);
            update(at);
        };
        assert!(orders(theirs, load_with(ACQUIRE)));
        let overwritten = |at: usize| {
            store_with(RELEASE)(at);
            store_with(RELAXED)(at);
        };
        assert!(!orders(overwritten, load_with(ACQUIRE)), "a store does not");
    }

    #[test]
    fn two_readers_of_a_lock_are_not_ordered_and_a_writer_is_after_both() {
        let reads = |at: usize| {
            fetch_add::<u32, READER>(at as *mut u32, 1, ACQUIRE, 0);
            fetch_sub::<u32, READER>(at as *mut u32, 1, RELEASE, 0);
        };
        let writes = |at: usize| {
            compare_exchange::<u32, WRITER>(at as *mut u32, 0, 99, ACQUIRE, RELAXED, 0);
            exchange::<u32, WRITER>(at as *mut u32, 0, RELEASE, 0);
        };
        assert!(!orders(reads, reads));
        assert!(orders(reads, writes));
        assert!(orders(writes, reads));
        assert!(orders(writes, writes));
    }

    #[test]
    fn accesses_do_what_they_do_in_every_thread() {
        fn values() {
            let mut word = 0b1100_u8;
            let at = &raw mut word;
            assert_eq!(fetch_and::<u8, ANYTHING>(at, 0b0110, ACQ_REL, 0), 0b1100);
            assert_eq!(fetch_or::<u8, ANYTHING>(at, 0b0001, SEQ_CST, 0), 0b0100);
            assert_eq!(fetch_xor::<u8, READER>(at, 0b0001, ACQUIRE, 0), 0b0101);
            assert_eq!(fetch_nand::<u8, WRITER>(at, 0b0100, RELEASE, 0), 0b0100);
            assert_eq!(fetch_sub::<u8, ANYTHING>(at, 252, RELAXED, 0), 0b1111_1011);
            assert_eq!(load::<u8, READER>(at, ACQUIRE, 0), 255);
            assert_eq!(compare_exchange::<u8, WRITER>(at, 255, 3, ACQUIRE, RELAXED, 0), 255);
            assert_eq!(exchange::<u8, ANYTHING>(at, 4, RELAXED, 0), 3);
        }
        values();
        watched(values);
    }
}
