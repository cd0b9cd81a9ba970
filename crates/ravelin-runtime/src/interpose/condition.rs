//! Condition variables: a waiting thread releases the mutex and acquires it again.
//!
//! Signals carry no order: what a waiter may rely on comes through the mutex. The mutex is locked again however the
//! wait ends, also after an error or cancellation. On cancellation the thread runs its cleanup handlers, and the
//! runtime's handler first.

use super::mutex;
use crate::schedule::{self, time};
use crate::{misuse, start_order, sync};
use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, ETIMEDOUT, c_int};
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;

interpose! {
    fn pthread_cond_wait @ "GLIBC_2.3.2" (condition: usize, mutex: usize; pc) -> c_int {
        match schedule::mine() {
            None => waiting(condition, mutex, pc, || real(condition, mutex)),
            Some(me) => in_turn(me, pc, condition, mutex, None, 0, || real(condition, mutex)),
        }
    }

    fn pthread_cond_timedwait @ "GLIBC_2.3.2" (condition: usize, mutex: usize, until: usize; pc) -> c_int {
        match schedule::mine() {
            None => waiting(condition, mutex, pc, || real(condition, mutex, until)),
            Some(me) => {
                let time = when(clock_of(condition), until);
                in_turn(me, pc, condition, mutex, Some(time), ETIMEDOUT, || real(condition, mutex, until))
            }
        }
    }

    fn pthread_cond_clockwait(condition: usize, mutex: usize, clock: c_int, until: usize; pc) -> c_int {
        match schedule::mine() {
            None => waiting(condition, mutex, pc, || real(condition, mutex, clock, until)),
            Some(me) => {
                let time = when(clock, until);
                in_turn(me, pc, condition, mutex, Some(time), ETIMEDOUT, || real(condition, mutex, clock, until))
            }
        }
    }

    fn pthread_cond_signal @ "GLIBC_2.3.2" (condition: usize; pc) -> c_int {
        wakes(condition, pc, 1);
        real(condition)
    }

    fn pthread_cond_broadcast @ "GLIBC_2.3.2" (condition: usize; pc) -> c_int {
        wakes(condition, pc, usize::MAX);
        real(condition)
    }

    fn cnd_wait(condition: usize, mutex: usize; pc) -> c_int {
        match schedule::mine() {
            None => waiting(condition, mutex, pc, || real(condition, mutex)),
            Some(me) => in_turn(me, pc, condition, mutex, None, 0, || real(condition, mutex)),
        }
    }

    fn cnd_timedwait(condition: usize, mutex: usize, until: usize; pc) -> c_int {
        match schedule::mine() {
            None => waiting(condition, mutex, pc, || real(condition, mutex, until)),
            Some(me) => {
                let time = when(CLOCK_REALTIME, until);
                in_turn(me, pc, condition, mutex, Some(time), THRD_TIMEDOUT, || real(condition, mutex, until))
            }
        }
    }

    fn cnd_signal(condition: usize; pc) -> c_int {
        wakes(condition, pc, 1);
        real(condition)
    }

    fn cnd_broadcast(condition: usize; pc) -> c_int {
        wakes(condition, pc, usize::MAX);
        real(condition)
    }
}

/// C11's result for a wait that timed out.
const THRD_TIMEDOUT: c_int = 4;

fn when(clock: c_int, until: usize) -> Option<u64> {
    // SAFETY: the program gave this address as one of a time.
    unsafe { time::when(clock, until) }
}

/// The C library keeps in a field that its header shows (`__wrefs`) whether other processes use a condition variable,
/// and by which clock it waits.
fn flags_of(condition: usize) -> u32 {
    const FLAGS: usize = 36;
    // SAFETY: the caller waits for it, so it is a condition variable of the C library, which is longer than this.
    unsafe { ((condition + FLAGS) as *const u32).read_volatile() }
}

fn clock_of(condition: usize) -> c_int {
    if flags_of(condition) & 2 != 0 { CLOCK_MONOTONIC } else { CLOCK_REALTIME }
}

/// A wait without the C library, with an optional time limit. Releasing the mutex and starting to wait are one step
/// because the thread has the turn. Waits for another process, or with an invalid time, are left to `real`.
#[cold]
fn in_turn(
    me: usize,
    pc: usize,
    condition: usize,
    mutex: usize,
    until: Option<Option<u64>>,
    late: c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if flags_of(condition) & 1 != 0 || mutex::is_shared(mutex) || until == Some(None) {
        return schedule::outside(pc, || waiting(condition, mutex, pc, real));
    }
    schedule::before(pc, Act::Touch, condition);
    schedule::end_if_cancelled(me);
    schedule::will_wait(me, condition);
    misuse::waits_again(mutex, pc);
    sync::release(mutex);
    mutex::open(mutex, pc);
    let over = schedule::wait(me, pc, (WaitsFor::Condition, condition), until.flatten());
    mutex::lock_again(me, mutex, pc);
    sync::acquire(mutex);
    start_order::acquire(condition);
    schedule::end_if_cancelled(me);
    if over { late } else { 0 }
}

fn wakes(condition: usize, pc: usize, most: usize) {
    start_order::release(condition);
    if schedule::is_on() {
        schedule::before(pc, Act::Give, condition);
        if schedule::wake_some(condition, most) == 0 {
            schedule::only_looked();
        }
    }
}

#[inline(always)]
fn waiting(condition: usize, mutex: usize, pc: usize, wait: impl FnOnce() -> c_int) -> c_int {
    let mut cleanup = Cleanup { _fields: [0; 4] };
    misuse::waits_again(mutex, pc);
    sync::release(mutex);
    // SAFETY: the buffer stays where it is until it is popped or the frame is unwound, in both cases after its last
    // use.
    unsafe { _pthread_cleanup_push(&raw mut cleanup, acquire_again, mutex) };
    let status = wait();
    // SAFETY: it is the buffer pushed last, because what was pushed during the wait was popped.
    unsafe { _pthread_cleanup_pop(&raw mut cleanup, 1) };
    if status == 0 {
        start_order::acquire(condition);
    }
    status
}

extern "C" fn acquire_again(mutex: usize) {
    sync::acquire(mutex);
}

/// The C library's `struct _pthread_cleanup_buffer`, which the C library fills.
#[repr(C)]
struct Cleanup {
    _fields: [usize; 4],
}

unsafe extern "C" {
    fn _pthread_cleanup_push(buffer: *mut Cleanup, routine: extern "C" fn(usize), argument: usize);
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}
