//! Atomic accesses of the standard library: `__ravelin_library_…` in place of `__tsan_…`.
//!
//! Read-write locks have two more sets of entries, `__ravelin_reader_…` and `__ravelin_writer_…`, because their
//! accesses order more than the locks do: only the counter orders a reader after earlier readers.

use super::left_by_readers;
use crate::word::Word;
use crate::{records, schedule, sync, this_thread};
use ravelin_clocks::{AtomicOrder, MessageAccess};
use std::arch::global_asm;

/// The kind of code that makes an access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CodeKind {
    Anything,
    Reader,
    Writer,
}

const ANYTHING: u8 = CodeKind::Anything as u8;
const READER: u8 = CodeKind::Reader as u8;
const WRITER: u8 = CodeKind::Writer as u8;

const fn of(code: u8) -> CodeKind {
    match code {
        READER => CodeKind::Reader,
        WRITER => CodeKind::Writer,
        _ => CodeKind::Anything,
    }
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
/// `code` is the strongest order that it may have.
fn access<R>(
    of: CodeKind,
    address: usize,
    code: i32,
    raw: impl FnOnce() -> R,
    done: impl FnOnce(&R) -> (MessageAccess, AtomicOrder),
) -> R {
    let steered = schedule::library_access(address);
    let done = |result: &R| {
        let done = done(result);
        if steered {
            schedule::library_accessed(done.0, done.1);
        }
        done
    };
    if of == CodeKind::Reader {
        return of_reader(address, order(code), raw, done);
    }
    let Some(mut inside) = this_thread::enter() else {
        return raw();
    };
    let thread = inside.thread();
    thread.spin.left();
    let Some(mut locked) = records::lock(address) else {
        return raw();
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
    if of == CodeKind::Writer && order.acquires() {
        drop(inside);
        sync::acquire(left_by_readers(address));
    }
    result
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

extern "C" fn load<T: Word, const OF: u8>(at: *mut T, code: i32) -> T {
    // SAFETY: here and below, the program's own access.
    access(of(OF), at as usize, code, || unsafe { T::load(at) }, |_| (MessageAccess::Load, order(code)))
}

extern "C" fn store<T: Word, const OF: u8>(at: *mut T, value: T, code: i32) {
    // SAFETY: see `load`.
    access(
        of(OF),
        at as usize,
        code,
        || unsafe { T::store(at, value, order(code) == AtomicOrder::SeqCst) },
        |()| (MessageAccess::Store, order(code)),
    );
}

fn update<T: Word, const OF: u8>(at: *mut T, code: i32, change: impl Fn(T) -> T) -> T {
    // SAFETY: see `load`.
    access(of(OF), at as usize, code, || unsafe { T::update(at, &change) }, |_| (MessageAccess::Update, order(code)))
}

extern "C" fn exchange<T: Word, const OF: u8>(at: *mut T, value: T, code: i32) -> T {
    update::<T, OF>(at, code, |_| value)
}

macro_rules! fetch {
    ($($name:ident: $change:ident),*) => {
        $(extern "C" fn $name<T: Word, const OF: u8>(at: *mut T, value: T, code: i32) -> T {
            update::<T, OF>(at, code, |old| old.$change(value))
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
) -> T {
    // SAFETY: see `load`.
    let raw = || unsafe { T::exchange_if(at, expected, new) };
    access(of(OF), at as usize, success, raw, |found| match *found == expected {
        true => (MessageAccess::Update, order(success)),
        false => (MessageAccess::Load, order(failure)),
    })
}

macro_rules! entry {
    ($symbol:expr, $function:path) => {
        global_asm!(
            concat!(".pushsection .text.", $symbol, ",\"ax\",@progbits"),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            "jmp {function}",
            ".popsection",
            function = sym $function,
        );
    };
}

macro_rules! entries {
    ($($of:literal $code:path: $($bits:literal $word:ty),*;)*) => {$($(
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_load"), load::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_store"), store::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_exchange"), exchange::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_add"), fetch_add::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_sub"), fetch_sub::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_and"), fetch_and::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_or"), fetch_or::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_xor"), fetch_xor::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_fetch_nand"), fetch_nand::<$word, $code>);
        entry!(concat!("__ravelin_", $of, "_atomic", $bits, "_compare_exchange_val"), compare_exchange::<$word, $code>);
    )*)*};
}

entries! {
    "library" ANYTHING: "8" u8, "16" u16, "32" u32, "64" u64;
    "reader" READER: "32" u32, "64" u64;
    "writer" WRITER: "32" u32, "64" u64;
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
        move |at| store::<u32, ANYTHING>(at as *mut u32, 1, code)
    }

    fn load_with(code: i32) -> impl Fn(usize) {
        move |at| {
            load::<u32, ANYTHING>(at as *mut u32, code);
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
                let found = compare_exchange::<u32, ANYTHING>(at as *mut u32, expected, 9, success, failure);
                assert_eq!(found, 1);
            };
            assert_eq!(orders(store_with(RELEASE), mine), acquires, "expecting {expected}");
        }
    }

    #[test]
    fn an_update_hands_on_what_was_released_before_it() {
        let update = |at: usize| assert_eq!(fetch_add::<u32, ANYTHING>(at as *mut u32, 4, RELAXED), 1);
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
            fetch_add::<u32, READER>(at as *mut u32, 1, ACQUIRE);
            fetch_sub::<u32, READER>(at as *mut u32, 1, RELEASE);
        };
        let writes = |at: usize| {
            compare_exchange::<u32, WRITER>(at as *mut u32, 0, 99, ACQUIRE, RELAXED);
            exchange::<u32, WRITER>(at as *mut u32, 0, RELEASE);
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
            assert_eq!(fetch_and::<u8, ANYTHING>(at, 0b0110, ACQ_REL), 0b1100);
            assert_eq!(fetch_or::<u8, ANYTHING>(at, 0b0001, SEQ_CST), 0b0100);
            assert_eq!(fetch_xor::<u8, READER>(at, 0b0001, ACQUIRE), 0b0101);
            assert_eq!(fetch_nand::<u8, WRITER>(at, 0b0100, RELEASE), 0b0100);
            assert_eq!(fetch_sub::<u8, ANYTHING>(at, 252, RELAXED), 0b1111_1011);
            assert_eq!(load::<u8, READER>(at, ACQUIRE), 255);
            assert_eq!(compare_exchange::<u8, WRITER>(at, 255, 3, ACQUIRE, RELAXED), 255);
            assert_eq!(exchange::<u8, ANYTHING>(at, 4, RELAXED), 3);
        }
        values();
        watched(values);
    }
}
