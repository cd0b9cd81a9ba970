//! What some threads do: accesses of some bytes, and synchronisation.

use crate::judged::traces::Random;
use ravelin_clocks::AtomicOrder;

/// Bytes of the memory: some words.
pub const LENGTH: usize = 24;
pub const THREADS: usize = 6;
pub const LOCKS: usize = 8;

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Access(Memory),
    /// The thread hands out all it knows through a lock, in place of what was there.
    Release {
        thread: usize,
        lock: usize,
    },
    Acquire {
        thread: usize,
        lock: usize,
    },
    Fence {
        thread: usize,
        order: AtomicOrder,
    },
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub thread: usize,
    pub at: usize,
    pub size: usize,
    pub write: bool,
    /// Only where it is aligned.
    pub atomic: bool,
    /// Of an atomic access.
    pub order: AtomicOrder,
}

impl Memory {
    pub fn bytes(&self) -> std::ops::Range<usize> {
        self.at..self.at + self.size
    }

    /// The parts of the access that lie in one word each.
    pub fn pieces(self) -> impl Iterator<Item = Memory> {
        let ends = [self.at, (self.at / 8 + 1) * 8, self.at + self.size];
        let piece = move |from: usize, to: usize| Memory { at: from, size: to.saturating_sub(from), ..self };
        let pieces = [piece(ends[0], ends[1].min(ends[2])), piece(ends[1], ends[2])];
        pieces.into_iter().filter(|piece| piece.size > 0)
    }
}

/// A sequence with a taste of its own: how much of it is synchronisation, how many bytes are in use, how much is written.
pub fn generate(random: &mut Random) -> Vec<Step> {
    let length = random.within(10..=120);
    let threads = random.within(2..=THREADS);
    let locks = random.within(1..=LOCKS);
    let synchronises = random.within(1..=12);
    let (first, used) = random.pick(&[(0, LENGTH), (0, 8), (8, 8), (6, 4), (4, 12)]);
    let writes = random.pick(&[2, 4, 15]);
    let atomics = random.pick(&[2, 6, 1_000]);
    let mut steps = Vec::new();
    while steps.len() < length {
        let thread = random.below(threads);
        if random.below(12) < synchronises {
            let lock = random.below(locks);
            steps.push(match random.below(9) {
                0..4 => Step::Release { thread, lock },
                4..8 => Step::Acquire { thread, lock },
                _ => Step::Fence {
                    thread,
                    order: random.pick(&[AtomicOrder::Acquire, AtomicOrder::Release, AtomicOrder::AcqRel]),
                },
            });
            continue;
        }
        let size = random.pick(&[1, 1, 2, 4, 8]).min(used);
        let at = first + random.below(used + 1 - size);
        let write = random.once_in(writes);
        let atomic = random.once_in(atomics) && at.is_multiple_of(size);
        let orders = if write {
            [AtomicOrder::Relaxed, AtomicOrder::Release]
        } else {
            [AtomicOrder::Relaxed, AtomicOrder::Acquire]
        };
        steps.push(Step::Access(Memory { thread, at, size, write, atomic, order: random.pick(&orders) }));
    }
    steps
}
