//! What the program says about its accesses, through the macros of `ravelin.h`.

use crate::{schedule, this_thread};
use ravelin_clocks::CasKind;

/// The statements that still hold.
#[derive(Default)]
pub struct ThreadMarks {
    /// Loads of this address wait for the value beside it.
    wait: Option<(usize, u64)>,
    /// Compare-exchanges of this address are repeated until they succeed.
    blocking: usize,
    /// How many waits have begun.
    begun: u64,
    /// Whether the next compare-exchange is strong.
    next_cas: Option<bool>,
}

impl ThreadMarks {
    /// The value that loads of `address` wait for.
    #[inline(always)]
    pub fn waits_for(&self, address: usize) -> Option<u64> {
        self.wait.filter(|(waiting, _)| *waiting == address).map(|(_, value)| value)
    }

    /// Whether compare-exchanges of `address` are repeated until they succeed.
    #[inline(always)]
    pub fn blocks_on(&self, address: usize) -> bool {
        self.blocking == address
    }

    /// A number for the wait that began last.
    pub fn wait_number(&self) -> u64 {
        self.begun
    }

    /// Takes what the program said about the next compare-exchange: whether it is strong.
    #[inline(always)]
    pub fn take_cas(&mut self) -> Option<bool> {
        self.next_cas.take()
    }

    /// The same, as the kind of a compare-exchange of `address` that the compiler calls `kind`.
    #[inline(always)]
    pub fn kind_of_cas(&mut self, address: usize, kind: CasKind) -> CasKind {
        match self.take_cas() {
            _ if self.blocks_on(address) => CasKind::Blocking,
            Some(true) => CasKind::Strong,
            Some(false) => CasKind::Weak,
            None => kind,
        }
    }
}

fn with_mark(change: impl FnOnce(&mut ThreadMarks)) {
    if let Some(mut inside) = this_thread::enter() {
        change(&mut inside.thread().mark);
    }
}

/// Loads of `address` wait for `value`, until [`__ravelin_wait_end`].
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_wait_begin(address: usize, value: u64, size: u32) {
    let value = match size {
        1 => value & 0xff,
        2 => value & 0xffff,
        4 => value & 0xffff_ffff,
        _ => value,
    };
    with_mark(|mark| {
        mark.wait = Some((address, value));
        mark.begun += 1;
    });
}

/// Compare-exchanges of `address` are repeated until they succeed, until [`__ravelin_wait_end`].
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_bcas_begin(address: usize) {
    with_mark(|mark| {
        mark.blocking = address;
        mark.begun += 1;
    });
}

/// `ravelin verify` explores what happens from here on.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_verify_begin() {
    schedule::begin_runs();
}

/// What happens from here on is not explored.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_verify_end() {
    schedule::end_runs();
}

/// The wait is over.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_wait_end() {
    with_mark(|mark| {
        mark.wait = None;
        mark.blocking = 0;
    });
}

/// The next compare-exchange is strong, or weak.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_next_cas(strong: i32) {
    with_mark(|mark| mark.next_cas = Some(strong != 0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::watched;

    fn mark<R>(look: impl FnOnce(&mut ThreadMarks) -> R) -> R {
        look(&mut this_thread::enter().expect("a watched thread").thread().mark)
    }

    #[test]
    fn a_wait_is_for_the_bytes_of_one_address_until_it_ends() {
        for (size, value) in [(1, 0xef), (2, 0xcdef), (4, 0x89ab_cdef), (8, 0x0123_4567_89ab_cdef)] {
            watched(|| {
                __ravelin_wait_begin(0x100, 0x0123_4567_89ab_cdef, size);
                assert_eq!(mark(|mark| mark.waits_for(0x100)), Some(value));
                assert_eq!(mark(|mark| mark.waits_for(0x108)), None);
                __ravelin_wait_end();
                assert_eq!(mark(|mark| mark.waits_for(0x100)), None);
            });
        }
    }

    #[test]
    fn compare_exchanges_of_one_address_are_repeated_until_the_wait_ends() {
        watched(|| {
            __ravelin_bcas_begin(0x100);
            assert!(mark(|mark| mark.blocks_on(0x100) && !mark.blocks_on(0x108)));
            __ravelin_wait_end();
            assert!(mark(|mark| !mark.blocks_on(0x100)));
        });
    }

    #[test]
    fn what_is_said_of_the_next_compare_exchange_holds_for_one() {
        watched(|| {
            for strong in [1, 0] {
                __ravelin_next_cas(strong);
                assert_eq!(mark(ThreadMarks::take_cas), Some(strong != 0));
                assert_eq!(mark(ThreadMarks::take_cas), None);
            }
        });
    }

    #[test]
    fn a_thread_that_is_not_known_says_nothing() {
        __ravelin_wait_begin(0x100, 1, 8);
        __ravelin_next_cas(1);
        __ravelin_wait_end();
        watched(|| assert_eq!(mark(ThreadMarks::take_cas), None));
    }
}
