//! The process: its end, and its children.
//!
//! `exit` and the return from `main` are noticed by a function that is registered before any of the program's, and
//! therefore runs after them. The ways to end without such functions are interposed ([`super::exec`] has those that
//! start another program). A child of `fork` is noticed by a function too, because the C library sometimes forks by
//! itself.
//!
//! `vfork` is left alone: its child may only exit or call `exec`. It then has another process number, although its
//! memory is still the parent's.

use super::barrier::BARRIERS;
use super::real::RealFunction;
use super::threads::HANDLES;
use crate::schedule::{self, steer};
use crate::{allocator, blocks, kernel, misuse, process, this_thread, threads};
use libc::c_int;
use ravelin_findings::steering::doubts;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

interpose! {
    fn _exit(status: c_int) {
        ending();
        real(status)
    }

    fn _Exit(status: c_int) {
        ending();
        real(status)
    }

    fn quick_exit(status: c_int) {
        ending();
        real(status)
    }

    fn daemon(stays: c_int, keeps_open: c_int) -> c_int {
        // This process ends at once if that succeeds.
        process::leaves_process();
        real(stays, keeps_open)
    }
}

/// The number of the process that is watched.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Runs when the process starts.
pub fn prepare() {
    PROCESS.store(kernel::process(), Ordering::Relaxed);
    // SAFETY: the functions exist as long as the process.
    unsafe {
        libc::atexit(ending);
        libc::pthread_atfork(Some(before_fork), Some(has_forked), Some(forked));
    }
}

/// `fork` without the functions that the program has registered for it: as if this process had been there from the
/// beginning.
#[unsafe(link_section = "ravelin_real")]
static FORK: RealFunction = RealFunction::new("_Fork\0", "\0");

/// Whether the C library has such a function.
pub fn can_fork_silently() -> bool {
    FORK.exists_in(c"libc.so.6")
}

/// Forks. Returns 0 in the child, its number in the parent, and a negative number if it failed.
pub fn fork_silently() -> libc::pid_t {
    // SAFETY: the address is that of the function with this name and so of this type.
    unsafe {
        let fork: unsafe extern "C" fn() -> libc::pid_t = std::mem::transmute(FORK.address());
        fork()
    }
}

/// This process takes the place of the one that forked it.
pub fn begin_again() {
    PROCESS.store(kernel::process(), Ordering::Relaxed);
}

/// The program ends here, if this is the process that is watched.
pub extern "C" fn ending() {
    if kernel::process() == PROCESS.load(Ordering::Relaxed) {
        if steer::is_on() && schedule::mine().is_some() {
            // Another thread may call `exit` while this one waits for the others. The C library would end the process in
            // it at once, because this function has been called.
            // SAFETY: the function exists as long as the process.
            unsafe { libc::atexit(ending) };
        }
        process::exits();
        if leaves_child() {
            process::leaves_process();
        }
        misuse::leaves_threads();
        process::ending();
    }
}

/// Another program is about to replace this one, if this is the process that is watched.
pub fn replaced() {
    if kernel::process() == PROCESS.load(Ordering::Relaxed) {
        steer::doubt(doubts::PROCESS);
        process::ending();
    }
}

/// Whether this process has a child that it has not waited for. Whether the child has ended depends on time.
fn leaves_child() -> bool {
    if !process::has_forked() {
        return false;
    }
    let flags = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
    // SAFETY: nothing is stored, and the child is left for others to wait for.
    unsafe { kernel::call(libc::SYS_waitid, [libc::P_ALL as usize, 0, 0, flags, 0]) == 0 }
}

/// Whether the process can be copied while no other thread is inside.
static IS_WHOLE: AtomicBool = AtomicBool::new(false);

/// This function is the last of its kind before the process is copied. Threads that are not inside may still hold some
/// locks for a moment.
unsafe extern "C" fn before_fork() {
    IS_WHOLE.store(this_thread::begin_copying(), Ordering::Relaxed);
    HANDLES.lock();
    BARRIERS.lock();
    threads::lock();
    blocks::lock();
    allocator::lock();
}

/// The same thread has locked everything before, in this process or in the one that it was copied from.
fn after_fork() -> bool {
    allocator::unlock();
    blocks::unlock();
    threads::unlock();
    BARRIERS.unlock();
    HANDLES.unlock();
    let whole = IS_WHOLE.load(Ordering::Relaxed);
    if whole {
        this_thread::end_copying();
    }
    whole
}

unsafe extern "C" fn has_forked() {
    process::forking(after_fork());
}

unsafe extern "C" fn forked() {
    let whole = after_fork();
    process::forked(whole);
    begin_again();
}
