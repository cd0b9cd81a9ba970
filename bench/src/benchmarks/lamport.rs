//! Lamport's fast mutual exclusion, first algorithm (ACM TOCS 5(1), 1987), as `examples/lamport-fast.rav` has it, for any
//! small number of threads; and the same automaton by hand, location by location.

use super::handwritten::HandwrittenModel;
use crate::families::lamport;

#[derive(Clone, Copy)]
pub struct Lamport {
    pub threads: u64,
}

/// Bits of the program counter of a thread, and of its register, of `x` and of `y`.
const PC: u64 = 4;
const VALUE: u64 = 3;
const THREAD: u64 = PC + VALUE;
const CRITICAL: u64 = 8;

impl Lamport {
    pub fn name(&self) -> String {
        format!("Lamport, {} threads", self.threads)
    }

    pub fn text(&self) -> String {
        format!("{}\nnever 2 of p@critical;\n", lamport::text(self.threads as usize))
    }

    fn shift(&self, thread: u64) -> u64 {
        2 * VALUE + thread * THREAD
    }
}

fn set(state: u64, shift: u64, bits: u64, value: u64) -> u64 {
    state & !(((1 << bits) - 1) << shift) | value << shift
}

impl HandwrittenModel for Lamport {
    fn initial(&self) -> u64 {
        0
    }

    /// From low to high: x, y, then program counter and register of each thread.
    fn successors(&self, state: u64, emit: &mut impl FnMut(u64)) {
        let (x, y) = (state & 7, state >> VALUE & 7);
        for thread in 0..self.threads {
            let me = thread + 1;
            let shift = self.shift(thread);
            let (pc, register) = (state >> shift & 15, state >> (shift + PC) & 7);
            let go = |state, to| set(state, shift, PC, to);
            let load = |value, to| go(set(state, shift + PC, VALUE, value), to);
            match pc {
                0 => emit(go(set(state, 0, VALUE, me), 1)),
                1 => emit(load(y, 2)),
                2 => emit(go(state, if register != 0 { 0 } else { 3 })),
                3 => emit(go(set(state, VALUE, VALUE, me), 4)),
                4 => emit(load(x, 5)),
                5 => emit(go(state, if register == me { CRITICAL } else { 6 })),
                6 => emit(load(y, 7)),
                7 if register != me => emit(go(state, 0)),
                CRITICAL => emit(go(set(state, VALUE, VALUE, 0), 9)),
                _ => {}
            }
        }
    }

    fn is_bad(&self, state: u64) -> bool {
        (0..self.threads).filter(|&thread| state >> self.shift(thread) & 15 == CRITICAL).count() >= 2
    }
}
