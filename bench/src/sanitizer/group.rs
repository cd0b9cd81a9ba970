//! What a benchmark starts has a process group of its own, so that all of it can be ended.
//!
//! The terminal's Ctrl-C does not reach such a group. Whoever waits for it looks at
//! [`ravelin_process::interrupt::is_asked`] and ends it. If the benchmark itself is killed, the kernel does.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Gives the command a group of its own, and a signal from the kernel if the thread that started it is gone.
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

/// Sends a signal to the group of a child, which must not have been waited for: its number still means it then.
pub fn end_group(child: libc::pid_t, signal: libc::c_int) {
    // SAFETY: no pointers; the group is that of a child which still has its number.
    unsafe { libc::kill(-child, signal) };
}
