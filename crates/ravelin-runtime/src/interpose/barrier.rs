//! Barriers: every thread that leaves knows what every thread knew that arrived.
//!
//! Rounds alternate between two words inside the barrier (memory is forgotten by words), so that a slow thread leaving
//! one round does not learn from a fast one that has arrived at the next. The last thread to arrive at a round clears the
//! other word: all threads of the round before have left it, because they are here, and none has arrived at the next. This counts on as
//! many threads using the barrier as it was made for: if more do, the round a thread is counted in may not be the one
//! the C library takes it for, and some order is missed. A barrier whose making was not seen keeps to one address and
//! orders more than it has to.

use super::table::Table;
use crate::{memory, schedule, sync};
use libc::{c_int, c_uint};
use ravelin_findings::WaitsFor;

/// Where the running round of each barrier is.
pub static BARRIERS: Table<Round> = Table::new();

#[derive(Clone, Copy)]
pub struct Round {
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
            BARRIERS.insert(barrier, Round { needed: count, arrived: 0, parity: 0 });
        }
        status
    }

    fn pthread_barrier_destroy(barrier: usize) -> c_int {
        memory::forget(barrier, size_of::<libc::pthread_barrier_t>());
        BARRIERS.remove_if(barrier, |_| true);
        real(barrier)
    }

    fn pthread_barrier_wait(barrier: usize; pc) -> c_int {
        schedule::point(pc);
        let (parity, last) = arrive(barrier);
        sync::release_join(barrier + 8 * parity);
        if last {
            memory::forget(barrier + 8 * (1 - parity), 8);
        }
        let status = match schedule::mine() {
            Some(me) if is_known(barrier) => in_turn(me, pc, barrier + 8 * parity, last),
            _ => schedule::outside(pc, || real(barrier)),
        };
        if status == 0 || status == libc::PTHREAD_BARRIER_SERIAL_THREAD {
            sync::acquire(barrier + 8 * parity);
        }
        status
    }
}

/// A round in which the C library has no part: all but the last wait for the last.
fn in_turn(me: usize, pc: usize, round: usize, last: bool) -> c_int {
    if last {
        schedule::wake(round);
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    schedule::wait(me, pc, (WaitsFor::Barrier, round), None);
    0
}

fn is_known(barrier: usize) -> bool {
    BARRIERS.get(barrier).is_some()
}

/// The parity of the round the calling thread is part of, and whether the round is complete with it.
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
