//! A barrier for rounds of a millisecond: it spins for a moment before it gives the core away. Waking a sleeping thread
//! takes a noticeable part of such a round.

use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct Barrier {
    workers: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

/// Looks before the core is offered to others.
const SPINS: usize = 4096;

impl Barrier {
    pub fn new(workers: usize) -> Barrier {
        Barrier { workers, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }

    /// Waits for all workers. One of them, the last to arrive, is told that it leads.
    #[inline]
    pub fn wait(&self) -> bool {
        // Small explorations are many.
        self.workers == 1 || self.wait_for_others()
    }

    fn wait_for_others(&self) -> bool {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            // Nobody arrives for the next round before `round` changes, so the order of these two does not matter to them.
            self.arrived.store(0, Ordering::Release);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return true;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_a_round_ahead_and_each_round_has_one_leader() {
        let (workers, rounds) = (5, 2_000);
        let barrier = Barrier::new(workers);
        let (done, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    for round in 0..rounds {
                        done.fetch_add(1, Ordering::Relaxed);
                        leaders.fetch_add(usize::from(barrier.wait()), Ordering::Relaxed);
                        assert!(done.load(Ordering::Relaxed) >= (round + 1) * workers);
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!(leaders.load(Ordering::Relaxed), rounds);
    }
}
