//! Condition variables: whoever waits gives the mutex away and gets it back.
//!
//! Signals carry nothing: what a waiter may rely on comes through the mutex. The mutex is locked again however the wait
//! ends, also by an error or by cancellation; in the last case the thread runs its cleanup handlers, and ours first.

use crate::sync;
use libc::c_int;

interpose! {
    fn pthread_cond_wait @ "GLIBC_2.3.2" (condition: usize, mutex: usize) -> c_int {
        waiting(mutex, || real(condition, mutex))
    }

    fn pthread_cond_timedwait @ "GLIBC_2.3.2" (condition: usize, mutex: usize, until: usize) -> c_int {
        waiting(mutex, || real(condition, mutex, until))
    }

    fn pthread_cond_clockwait(condition: usize, mutex: usize, clock: c_int, until: usize) -> c_int {
        waiting(mutex, || real(condition, mutex, clock, until))
    }

    fn cnd_wait(condition: usize, mutex: usize) -> c_int {
        waiting(mutex, || real(condition, mutex))
    }

    fn cnd_timedwait(condition: usize, mutex: usize, until: usize) -> c_int {
        waiting(mutex, || real(condition, mutex, until))
    }
}

#[inline(always)]
fn waiting(mutex: usize, wait: impl FnOnce() -> c_int) -> c_int {
    let mut cleanup = Cleanup { _fields: [0; 4] };
    sync::release(mutex);
    // SAFETY: the buffer stays where it is until it is popped or the frame is unwound, in both cases after its last use.
    unsafe { _pthread_cleanup_push(&raw mut cleanup, acquire_again, mutex) };
    let status = wait();
    // SAFETY: it is the buffer pushed last, because what was pushed during the wait was popped.
    unsafe { _pthread_cleanup_pop(&raw mut cleanup, 1) };
    status
}

extern "C" fn acquire_again(mutex: usize) {
    sync::acquire(mutex);
}

/// The C library's `struct _pthread_cleanup_buffer`: it fills it.
#[repr(C)]
struct Cleanup {
    _fields: [usize; 4],
}

unsafe extern "C" {
    fn _pthread_cleanup_push(buffer: *mut Cleanup, routine: extern "C" fn(usize), argument: usize);
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}
