//! Signals that are sent to us while a program runs are meant for the program.
//!
//! What comes from the terminal reaches the program by itself; the rest is passed on. We stay alive: the report comes after the
//! program's end. When somebody asks for the second time to end, other than at the terminal, whose signals are the program's own
//! business, the program is killed; and if it has ended already, we end without a report.

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};

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

/// When somebody asked to end for the first time, in milliseconds of a clock that does not jump; 0 if nobody did.
static ASKED: AtomicI64 = AtomicI64::new(0);
/// `timeout` sends its signal to us and to our group: signals that are this close belong together.
const TOGETHER: i64 = 100;

/// Whether we were asked to end while programs ran: no more of them are to be started.
pub fn interrupted() -> bool {
    asks_to_end(STOPPED.load(Ordering::SeqCst))
}

fn asks_to_end(signal: libc::c_int) -> bool {
    matches!(signal, libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP)
}

/// Signals that are meant for the program when they are sent to us.
const PASSED_ON: &[libc::c_int] =
    &[libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// Runs a command to its end, and passes signals on to it.
pub fn run(mut command: Command) -> io::Result<ExitStatus> {
    for &signal in PASSED_ON {
        // SAFETY: the action is completely initialised, and the handler only uses atomics, the clock, kill and _exit, all of
        // which are allowed in signal handlers. Exec gives the program the default action again.
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
    STOPPED.store(signal, Ordering::SeqCst);
    let again = asks_to_end(signal) && asked_before();
    // What comes from the terminal reaches the whole group of processes, the program included.
    // SAFETY: the kernel gives a valid siginfo because the action was installed with SA_SIGINFO.
    let from_terminal = unsafe { (*info).si_code } == libc::SI_KERNEL;
    if STARTED.load(Ordering::SeqCst) == 0 {
        if !from_terminal {
            EARLY.store(signal, Ordering::SeqCst);
        }
        return;
    }
    let mut running = false;
    for child in &CHILDREN {
        let child = child.load(Ordering::SeqCst);
        if child > 0 {
            running = true;
            if !from_terminal {
                // SAFETY: kill touches no memory.
                unsafe { libc::kill(child, if again { libc::SIGKILL } else { signal }) };
            }
        }
    }
    if again && !running {
        // SAFETY: it ends the process and runs nothing of ours.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// Whether somebody has asked to end before, and notes that somebody does now.
fn asked_before() -> bool {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours, and the clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    let now = (time.tv_sec * 1_000 + time.tv_nsec / 1_000_000).max(1);
    match ASKED.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => false,
        Err(first) => now - first > TOGETHER,
    }
}
