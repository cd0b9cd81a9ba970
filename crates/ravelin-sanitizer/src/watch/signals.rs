//! Forwards signals that are sent to Ravelin while a program runs to the program.
//!
//! Signals from the terminal reach the program directly; the others are forwarded. Ravelin stays alive, because the
//! report comes after the program's end. On the second request to end, the program is killed; if it has ended already,
//! Ravelin ends without a report. Signals from the terminal do not count as requests, because the program handles them
//! itself.

use ravelin_findings::arena;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicPtr, AtomicU64, Ordering};

/// How many programs may run at a time.
const MOST: usize = 64;

/// The processes to which signals are forwarded; 0 for an empty entry.
static CHILDREN: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];
/// The words by which programs that serve runs tell which process makes the run; null for an empty entry.
static SERVERS: [AtomicPtr<ArenaHead>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
/// How many threads are in the handler.
static HANDLING: AtomicI32 = AtomicI32::new(0);

/// The words at the beginning of an arena.
pub type ArenaHead = [AtomicU64; arena::WORDS];

/// How many programs were started.
static STARTED: AtomicI32 = AtomicI32::new(0);
/// A signal that arrived before there was a process.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// The last signal that was forwarded; 0 if there was none.
static STOPPED: AtomicI32 = AtomicI32::new(0);

/// The time of the first request to end, in milliseconds of a monotonic clock; 0 if there was none.
static ASKED: AtomicI64 = AtomicI64::new(0);
/// `timeout` sends its signal to this process and to its group: signals that are this close belong together.
const TOGETHER: i64 = 100;

/// Whether there was a request to end while programs ran: no more programs are started.
pub fn interrupted() -> bool {
    asks_to_end(STOPPED.load(Ordering::SeqCst))
}

/// Kills all programs that run, but not those that wait for a request to make a run.
pub fn kill_runs() {
    HANDLING.fetch_add(1, Ordering::SeqCst);
    let children = CHILDREN.iter().map(|child| child.load(Ordering::SeqCst));
    // SAFETY: what is in the table stays mapped while a thread handles signals.
    let servers = SERVERS.iter().filter_map(|server| unsafe { server.load(Ordering::SeqCst).as_ref() });
    let runs = servers.map(|head| head[arena::RUNNING].load(Ordering::SeqCst) as i32);
    for process in children.chain(runs).filter(|process| *process > 0) {
        // SAFETY: kill touches no memory.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
    HANDLING.fetch_sub(1, Ordering::SeqCst);
}

fn asks_to_end(signal: libc::c_int) -> bool {
    matches!(signal, libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP)
}

/// Signals that are meant for the program when they are sent to Ravelin.
const PASSED_ON: &[libc::c_int] =
    &[libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// Forwards signals to the run of a program that serves runs, until [`forget_server`]. Returns whether there is room.
pub fn add_server(head: *mut ArenaHead) -> bool {
    let is_empty = |place: &&AtomicPtr<ArenaHead>| {
        place.compare_exchange(std::ptr::null_mut(), head, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    };
    SERVERS.iter().find(is_empty).is_some()
}

/// Afterwards the words are not used any more.
pub fn forget_server(head: *mut ArenaHead) {
    for place in &SERVERS {
        // It is in no entry but its own.
        let _ = place.compare_exchange(head, std::ptr::null_mut(), Ordering::SeqCst, Ordering::SeqCst);
    }
    while HANDLING.load(Ordering::SeqCst) != 0 {
        std::thread::yield_now();
    }
}

/// Forwards signals from now on.
pub fn listen() {
    for &signal in PASSED_ON {
        // SAFETY: the action is completely initialised, and the handler only uses atomics, the clock, kill and _exit,
        // all of which are allowed in signal handlers. Exec restores the default action for the program.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            // If Ravelin was started with a signal ignored (nohup), that is meant for the program, too.
            if before.sa_sigaction != libc::SIG_IGN {
                let mut action: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = pass_on;
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }
}

/// Runs a command to its end, and forwards signals to it.
pub fn run(mut command: Command) -> io::Result<ExitStatus> {
    listen();
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
    HANDLING.fetch_add(1, Ordering::SeqCst);
    handle(signal, info);
    HANDLING.fetch_sub(1, Ordering::SeqCst);
}

fn handle(signal: libc::c_int, info: *mut libc::siginfo_t) {
    STOPPED.store(signal, Ordering::SeqCst);
    let again = asks_to_end(signal) && asked_before();
    // Signals from the terminal reach the whole process group, including the program.
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
    for server in &SERVERS {
        // SAFETY: what is in the table stays mapped while a thread is in the handler.
        if let Some(head) = unsafe { server.load(Ordering::SeqCst).as_ref() } {
            running |= pass_on_to_run(head, if again { libc::SIGKILL } else { signal }, from_terminal);
        }
    }
    if again && !running {
        // SAFETY: it ends the process and runs none of its code.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// Forwards a signal to the run of a server. If none has begun, the server sends it to the next one. Returns whether
/// there is a run.
fn pass_on_to_run(head: &ArenaHead, signal: libc::c_int, from_terminal: bool) -> bool {
    if !from_terminal {
        head[arena::SIGNAL].store(signal as u64, Ordering::SeqCst);
    }
    let process = head[arena::RUNNING].load(Ordering::SeqCst) as i32;
    if process > 0 && !from_terminal && head[arena::SIGNAL].swap(0, Ordering::SeqCst) != 0 {
        // SAFETY: kill touches no memory.
        unsafe { libc::kill(process, signal) };
    }
    process > 0
}

/// Whether there was a request to end before; records the current one.
fn asked_before() -> bool {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is on this stack, and the clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    let now = (time.tv_sec * 1_000 + time.tv_nsec / 1_000_000).max(1);
    match ASKED.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => false,
        Err(first) => now - first > TOGETHER,
    }
}
