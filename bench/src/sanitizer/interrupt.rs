//! Ctrl-C: what was started is ended, and files are removed on the way out.
//!
//! Programs run in process groups of their own, so that all they start can be ended with them; the terminal's signal does
//! not reach them there. So a benchmark that starts some asks to be told of the signal, and whoever waits for a program
//! looks at [`is_requested`]. If the benchmark itself is killed, the kernel ends what it started ([`end_with_parent`]).

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt does not end this process by itself; the waits below it do.
pub fn watch() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only writes an atomic variable, which is allowed in a handler.
        unsafe { libc::signal(signal, note as *const () as libc::sighandler_t) };
    }
}

/// Whether an interrupt came since [`watch`].
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

extern "C" fn note(_signal: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Starts the command in a group of its own, and lets the kernel send it a signal if the thread that waits for it is gone.
pub fn end_with_parent(command: &mut Command, signal: libc::c_int) -> &mut Command {
    command.process_group(0);
    // SAFETY: prctl is a system call and takes no lock, so it is allowed between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, signal);
            Ok(())
        })
    }
}

/// Sends a signal to the group of a child.
///
/// The child must not have been waited for, so that its number still means it.
pub fn end_group(child: libc::pid_t, signal: libc::c_int) {
    // SAFETY: no pointers; the group is that of a child which still has its number.
    unsafe { libc::kill(-child, signal) };
}
