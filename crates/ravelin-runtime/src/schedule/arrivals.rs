//! Recognises that a thread of a steered program goes round a waiting loop.
//!
//! The state of a thread at an atomic access is what called functions preserve: some registers, and its stack. A thread
//! that comes back to the access in the same state, without having written to other memory, does the same again as long
//! as it reads the same. This holds for code of any compiler at any level, and never for a loop that counts.

use crate::caller::{self, CallerState};

/// How many accesses since its last effect a thread remembers.
const ARRIVALS: usize = 16;
/// How many bytes of its stack are compared.
const STACK: usize = 1 << 14;

/// An atomic access at which a thread has arrived.
#[derive(Clone, Copy, Default)]
struct Arrival {
    state: u64,
    /// The number of the access's event.
    event: usize,
}

/// Where a thread was since its last effect.
pub struct Arrivals {
    all: [Arrival; ARRIVALS],
    used: usize,
    /// Its effects at that time.
    effects: u32,
    /// How many loads it has made since.
    loads: u64,
}

impl Arrivals {
    pub const fn new() -> Arrivals {
        Arrivals { all: [Arrival { state: 0, event: 0 }; ARRIVALS], used: 0, effects: 0, loads: 0 }
    }

    /// The thread arrives at an access whose event will have this number, after that many effects. Returns the number
    /// of the event with which the round began that it has completed.
    pub fn arrive(&mut self, state: u64, event: usize, effects: u32) -> Option<usize> {
        if self.effects != effects {
            *self = Arrivals { effects, ..Arrivals::new() };
        }
        self.loads += 1;
        if state == 0 {
            return None;
        }
        let known = self.all[..self.used].iter().find(|arrival| arrival.state == state);
        if let Some(first) = known.map(|arrival| arrival.event) {
            self.used = 0;
            self.loads = 0;
            return Some(first);
        }
        if self.used == ARRIVALS {
            self.all.copy_within(1.., 0);
            self.used -= 1;
        }
        self.all[self.used] = Arrival { state, event };
        self.used += 1;
        None
    }

    /// The loads that the thread has made since its last effect.
    pub fn loads(&self) -> u64 {
        self.loads
    }
}

/// A hash of `pc` and the state of the calling thread at the access that returns there; 0 if it is not known. `stack` is the
/// thread's stack, and `base` where the frames of the program end on it, if that is known.
pub fn state(pc: usize, stack: (usize, usize), base: usize) -> u64 {
    let caller = caller::last();
    let sp = caller.sp as usize;
    if caller.pc as usize != pc || !(stack.0..stack.1).contains(&sp) || !sp.is_multiple_of(8) {
        return 0;
    }
    let CallerState { rbx, rbp, r12, r13, r14, r15, .. } = caller;
    let mut hash = [pc as u64, rbx, rbp, r12, r13, r14, r15, caller.sp].into_iter().fold(SEED, mix);
    let end = if (sp..stack.1).contains(&base) { base } else { stack.1 };
    let words = (end.min(sp + STACK) - sp) / 8;
    for index in 0..words {
        // SAFETY: between the stack pointer and the end of the thread's own stack.
        hash = mix(hash, unsafe { (sp as *const u64).add(index).read_volatile() });
    }
    hash.max(1)
}

/// The state at an access of a loop that waits for a value, as the program says: it is the same in all rounds of the
/// loop, and another one when the thread waits there again. It does not depend on the place, because compilers may make
/// the first access of a loop a copy of the others.
pub fn marked_state(address: usize, value: u64, wait: u64) -> u64 {
    [address as u64, value, wait].into_iter().fold(SEED, mix).max(1)
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_comes_back_in_the_same_state_has_gone_round() {
        let mut arrivals = Arrivals::new();
        assert_eq!(arrivals.arrive(10, 5, 0), None);
        assert_eq!(arrivals.arrive(11, 6, 0), None);
        assert_eq!(arrivals.arrive(10, 7, 0), Some(5));
        assert_eq!(arrivals.arrive(10, 7, 0), None, "it begins anew");
        assert_eq!(arrivals.arrive(10, 8, 0), Some(7));
    }

    #[test]
    fn an_effect_another_state_or_an_unknown_one_is_no_round() {
        let mut arrivals = Arrivals::new();
        assert_eq!(arrivals.arrive(10, 5, 0), None);
        assert_eq!(arrivals.arrive(10, 6, 1), None);
        assert_eq!(arrivals.arrive(12, 7, 1), None);
        assert_eq!(arrivals.arrive(0, 8, 1), None);
        assert_eq!(arrivals.arrive(0, 9, 1), None);
        assert_eq!(arrivals.loads(), 4);
    }

    #[test]
    fn the_oldest_arrival_is_forgotten_first() {
        let mut arrivals = Arrivals::new();
        for event in 0..=ARRIVALS {
            assert_eq!(arrivals.arrive(event as u64 + 1, event, 0), None);
        }
        assert_eq!(arrivals.arrive(1, 99, 0), None);
        assert_eq!(arrivals.arrive(3, 100, 0), Some(2));
    }
}
