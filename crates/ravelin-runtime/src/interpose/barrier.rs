//! Barriers: a thread that leaves knows what every thread knew when it arrived.
//!
//! Rounds alternate between two words inside the barrier (memory is forgotten by words). A slow thread that leaves one
//! round therefore does not learn from a fast one that has arrived at the next. The last thread to arrive at a round
//! clears the other word: all threads of the previous round have left it, because they are here, and none has arrived
//! at the next.
//!
//! This assumes that as many threads use the barrier as it was initialised for. If more do, the round in which a thread
//! is counted may differ from the C library's, and some order is missed. A barrier whose initialisation was not seen
//! uses one address and orders more than necessary.

use super::table::ObjectTable;
use crate::{memory, schedule, start_order, sync};
use libc::{c_int, c_uint};
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;

/// The current round of each barrier.
pub static BARRIERS: ObjectTable<BarrierRound> = ObjectTable::new();

#[derive(Clone, Copy)]
pub struct BarrierRound {
    /// How many threads a round needs.
    needed: c_uint,
    arrived: c_uint,
    /// 0 or 1.
    parity: usize,
}

interpose! {
    fn pthread_barrier_init(barrier: usize, attributes: usize, count: c_uint) -> c_int {
        memory::forget(barrier, size_of::<libc::pthread_barrier_t>());
        let status = real(barrier, attributes, count);
        if status == 0 {
            BARRIERS.insert(barrier, BarrierRound { needed: count, arrived: 0, parity: 0 });
        }
        status
    }

    fn pthread_barrier_destroy(barrier: usize) -> c_int {
        memory::forget(barrier, size_of::<libc::pthread_barrier_t>());
        BARRIERS.remove_if(barrier, |_| true);
        real(barrier)
    }

    fn pthread_barrier_wait(barrier: usize; pc) -> c_int {
        schedule::before(pc, Act::Touch, barrier);
        let (parity, last) = arrive(barrier);
        sync::release_join(barrier + 8 * parity);
        start_order::release(barrier + 8 * parity);
        if last {
            memory::forget(barrier + 8 * (1 - parity), 8);
        }
        let status = match schedule::mine() {
            Some(me) if is_known(barrier) => in_turn(me, pc, (barrier, barrier + 8 * parity), last),
            _ => schedule::outside(pc, || real(barrier)),
        };
        if status == 0 || status == libc::PTHREAD_BARRIER_SERIAL_THREAD {
            sync::acquire(barrier + 8 * parity);
            start_order::acquire(barrier + 8 * parity);
        }
        status
    }
}

/// A round without the C library: all threads but the last wait for the last.
fn in_turn(me: usize, pc: usize, (barrier, round): (usize, usize), last: bool) -> c_int {
    if last {
        schedule::wake(round);
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    schedule::wait_in(me, pc, (WaitsFor::Barrier, round), None, barrier);
    0
}

fn is_known(barrier: usize) -> bool {
    BARRIERS.get(barrier).is_some()
}

/// The parity of the calling thread's round, and whether this thread completes it.
fn arrive(barrier: usize) -> (usize, bool) {
    BARRIERS.change(barrier, |round| {
        let Some(round) = round else {
            return (0, false);
        };
        let parity = round.parity;
        round.arrived += 1;
        let last = round.arrived >= round.needed;
        if last {
            round.arrived = 0;
            round.parity = 1 - parity;
        }
        (parity, last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;
    use crate::threads::tests::{now, watched, with_clocks};

    #[test]
    fn rounds_alternate_between_two_words() {
        let barrier = 0xba44_0000;
        assert_eq!([0, 1].map(|_| arrive(barrier)), [(0, false); 2], "its making was not seen");
        BARRIERS.insert(barrier, BarrierRound { needed: 2, arrived: 0, parity: 0 });
        let arrivals: Vec<_> = (0..6).map(|_| arrive(barrier)).collect();
        assert_eq!(arrivals, [(0, false), (0, true), (1, false), (1, true), (0, false), (0, true)]);
        BARRIERS.remove_if(barrier, |_| true);
        assert!(!is_known(barrier));
    }

    #[test]
    fn every_thread_that_leaves_knows_what_the_others_did_before_and_not_after() {
        watched(|| {
            let barrier = Box::leak(Box::new([0_u64; 8])).as_mut_ptr() as usize;
            // SAFETY: a barrier of the C library fits there.
            assert_eq!(unsafe { pthread_barrier_init(barrier, 0, 2) }, 0);
            let pass = || {
                // SAFETY: as above.
                let status = unsafe { pthread_barrier_wait(barrier, 0) };
                assert!(status == 0 || status == libc::PTHREAD_BARRIER_SERIAL_THREAD);
            };
            let seed = threads::starting(0).expect("a thread can be started");
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    threads::begin(seed);
                    let before = now();
                    pass();
                    let after = now();
                    threads::end();
                    (before, after)
                });
                pass();
                let ((tid, before), (_, after)) = other.join().expect("the other thread");
                let known = with_clocks(|clocks| [before, after].map(|epoch| clocks.happens_after(tid, epoch)));
                assert_eq!(known, [true, false]);
            });
        });
    }
}
