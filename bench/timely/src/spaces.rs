//! The spaces: states packed into a word, and their successors. The same for both searches, so that what is measured is how processes
//! exchange states and agree on levels.

#[derive(Clone, Copy)]
pub enum Space {
    /// So many counters below 16.
    Counters(u32),
    /// Lamport's fast mutex under sequential consistency, with so many threads.
    Lamport(u64),
}

impl Space {
    pub fn of(name: &str, number: u32) -> Option<Space> {
        match name {
            "counters" if (1..=15).contains(&number) => Some(Space::Counters(number)),
            "lamport" if (1..=7).contains(&number) => Some(Space::Lamport(number.into())),
            _ => None,
        }
    }

    pub const INITIAL: u64 = 0;

    #[inline]
    pub fn successors(self, state: u64, mut emit: impl FnMut(u64)) {
        match self {
            Space::Counters(number) => {
                for counter in (0..number).filter(|counter| state >> (counter * 4) & 15 < 15) {
                    emit(state + (1 << (counter * 4)));
                }
            }
            Space::Lamport(threads) => (0..threads).filter_map(|thread| lamport(state, thread)).for_each(emit),
        }
    }
}

const CRITICAL: u64 = 8;

fn set(state: u64, shift: u64, bits: u64, value: u64) -> u64 {
    state & !(((1 << bits) - 1) << shift) | value << shift
}

/// One step of a thread: two shared variables of three bits, then by thread a place in its program and a register.
#[inline]
fn lamport(state: u64, thread: u64) -> Option<u64> {
    let (x, y) = (state & 7, state >> 3 & 7);
    let me = thread + 1;
    let shift = 6 + thread * 7;
    let (pc, register) = (state >> shift & 15, state >> (shift + 4) & 7);
    let go = |state, to| Some(set(state, shift, 4, to));
    let load = |value, to| go(set(state, shift + 4, 3, value), to);
    match pc {
        0 => go(set(state, 0, 3, me), 1),
        1 => load(y, 2),
        2 => go(state, if register != 0 { 0 } else { 3 }),
        3 => go(set(state, 3, 3, me), 4),
        4 => load(x, 5),
        5 => go(state, if register == me { CRITICAL } else { 6 }),
        6 => load(y, 7),
        7 if register != me => go(state, 0),
        CRITICAL => go(set(state, 3, 3, 0), 9),
        _ => None,
    }
}
