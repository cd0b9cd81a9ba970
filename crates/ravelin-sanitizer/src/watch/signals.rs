//! Signals that are sent to us while a program runs are meant for the program.
//!
//! What comes from the terminal reaches the program by itself; the rest is passed on. We stay alive in any case: the
//! report comes after the program's end.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// As many programs run at a time.
const MOST: usize = 64;

/// The processes to which signals are passed on; 0 where there is none.
static CHILDREN: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];
/// How many there were.
static STARTED: AtomicI32 = AtomicI32::new(0);
/// A signal that came before there was a process.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// The last signal that was passed on; 0 if there was none.
static STOPPED: AtomicI32 = AtomicI32::new(0);

/// Whether we were asked to end while programs ran: no more of them are to be started.
pub fn interrupted() -> bool {
    matches!(STOPPED.load(Ordering::SeqCst), libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP)
}

/// Signals that are meant for the program when they are sent to us.
const PASSED_ON: &[libc::c_int] =
    &[libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// Runs a command to its end, and passes signals on to it.
pub fn run(mut command: Command) -> io::Result<ExitStatus> {
    for &signal in PASSED_ON {
        // SAFETY: the action is completely initialised, and the handler only reads atomics and calls kill, both of which
        // are allowed in signal handlers. Exec gives the program the default action again.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            // Whoever has us ignore a signal (nohup) means the program, too.
            if before.sa_sigaction != libc::SIG_IGN {
                let mut action: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = pass_on;
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }
    let mut child = command.spawn()?;
    let number = child.id() as i32;
    let place =
        CHILDREN.iter().find(|place| place.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok());
    STARTED.fetch_add(1, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        // SAFETY: kill touches no memory; the child has not been waited for, so the number is still its own.
        unsafe { libc::kill(child.id() as i32, early) };
    }
    let status = child.wait();
    if let Some(place) = place {
        place.store(0, Ordering::SeqCst);
    }
    status
}

extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // What comes from the terminal reaches the whole group of processes, the program included.
    // SAFETY: the kernel gives a valid siginfo because the action was installed with SA_SIGINFO.
    if unsafe { (*info).si_code } == libc::SI_KERNEL {
        STOPPED.store(signal, Ordering::SeqCst);
        return;
    }
    if STARTED.load(Ordering::SeqCst) == 0 {
        EARLY.store(signal, Ordering::SeqCst);
    }
    STOPPED.store(signal, Ordering::SeqCst);
    for child in &CHILDREN {
        let child = child.load(Ordering::SeqCst);
        if child > 0 {
            // SAFETY: kill touches no memory.
            unsafe { libc::kill(child, signal) };
        }
    }
}
