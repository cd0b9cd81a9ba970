//! Serves runs: the program stands still before its second thread, or where it says that runs begin, and forks a process
//! for each run that `ravelin run` or `ravelin verify` asks for.
//!
//! Starting a program takes several times as long as a run of a small test, and what it does before its second thread is
//! the same under every schedule. The forked process gets its schedule as if it had been under it from the beginning
//! ([`crate::schedule::begin_again`]), so it makes the same run as a new process would. Where that is not certain, the
//! program says why and ends ([`obstacle`]); `ravelin run` then starts a process for each run.
//!
//! A run must not notice the difference. It has the addresses of a new process: nothing is mapped here but one page, far
//! from where the kernel maps. It has the file numbers of a new process: the socket's number is high, and it is closed.
//! It uses the mapping of the findings file that it inherits, which is reset before each run.
//!
//! The server gets no signals, except from the kernel when `ravelin run` ends; a run ends with its server.

mod code_pages;
mod files;
mod guard;
mod lines;
mod obstacle;

pub use guard::is_interrupted;

use crate::interpose::{process as own_process, signals};
use crate::schedule::turn;
use crate::{file, kernel, options, own_caller, place, this_thread, watchdog};
use ravelin_findings::arena;
use ravelin_findings::serving::{ForkObstacle, GREETING, LONGEST, Message};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

/// The socket; negative if this process serves no runs.
static SOCKET: AtomicI32 = AtomicI32::new(-1);
/// The words at the beginning of the arena.
static HEAD: AtomicPtr<[AtomicU64; arena::WORDS]> = AtomicPtr::new(std::ptr::null_mut());
/// Where they are mapped: behind the shadow, where the kernel maps nothing by itself.
const HEAD_AT: usize = 0x6d00_0000_0000;
/// One more than the obstacle that was noticed first; 0 if there is none.
static NOTICED: AtomicU64 = AtomicU64::new(0);

/// `ravelin run` has a socket for runs.
pub fn want(socket: i32) {
    SOCKET.store(socket, Ordering::Relaxed);
}

/// The program did something before its second thread that a forked process cannot have done.
#[inline(always)]
pub fn notice(obstacle: ForkObstacle) {
    if SOCKET.load(Ordering::Relaxed) >= 0 {
        // The first one is the reason.
        let _ = NOTICED.compare_exchange(0, 1 + obstacle as u64, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// This process is a child that the program forked: it serves no runs.
pub fn leave() {
    SOCKET.store(-1, Ordering::Relaxed);
}

/// The program begins.
pub fn begin(arena: Option<&[u8]>) {
    let socket = SOCKET.load(Ordering::Relaxed);
    if socket < 0 {
        return;
    }
    let mut message = [0; LONGEST];
    // A program that a run starts finds the option in its environment, too.
    if receive(socket, &mut message, libc::MSG_PEEK | libc::MSG_DONTWAIT) != Some(GREETING) {
        SOCKET.store(-1, Ordering::Relaxed);
        return;
    }
    files::remember_inherited(socket);
    match arena.and_then(|path| place::map_head(path, HEAD_AT)) {
        Some(head) => HEAD.store(head, Ordering::Relaxed),
        None => notice(ForkObstacle::Findings),
    }
}

/// Runs begin here: the program is about to start its second thread, or says so. Returns at once if it serves no runs, and
/// otherwise in each process that makes one.
pub fn stand() {
    let socket = SOCKET.load(Ordering::Relaxed);
    if socket < 0 {
        return;
    }
    let _inside = this_thread::enter_unwatched();
    // SAFETY: the thread's own word, which the program must find as it was.
    let errno = unsafe { *libc::__errno_location() };
    watchdog::end();
    serve(socket);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Returns in each process that makes a run.
fn serve(socket: i32) {
    // The greeting. A message that is not read would hide the answer of a program that ends.
    let mut message = [0; LONGEST];
    receive(socket, &mut message, libc::MSG_DONTWAIT);
    // SAFETY: set once, to a page that stays.
    let head = unsafe { HEAD.load(Ordering::Relaxed).as_ref() };
    let obstacle = noticed().or_else(|| obstacle::find(socket));
    let head = match (obstacle, head) {
        (None, Some(head)) => head,
        (obstacle, _) => {
            send(socket, Message::Obstacle(obstacle.unwrap_or(ForkObstacle::Findings)));
            end(0)
        }
    };
    let mask = signals::block();
    let server = kernel::process();
    // SAFETY: no pointers. Processes that a run leaves become children of this one, which notices them.
    unsafe { kernel::call(libc::SYS_prctl, [libc::PR_SET_CHILD_SUBREAPER as usize, 1, 0, 0, 0]) };
    // If nothing says which, each run chooses one: the server may have to wait for its own.
    turn::stay_on_chosen_processor();
    guard::begin();
    // Each thread that a run starts asks for that.
    own_caller::find_program();
    code_pages::share();
    let begun = file::beginning();
    send(socket, Message::Ready(server as u64));
    loop {
        let Some(words) = receive(socket, &mut message, 0).filter(|words| !words.is_empty()) else { end(0) };
        // Runs inherit it.
        options::processor_of_run(words).into_iter().for_each(turn::stay_on);
        file::begin_again(&begun);
        head[arena::NOT_BEGUN].store(0, Ordering::Relaxed);
        // A signal for all processes of the group: those that exist when it is sent get it.
        let process = if signals::ask_to_end() { -1 } else { own_process::fork_silently() };
        let told = match process {
            0 => {
                if begin_run(socket, server, words) {
                    signals::unblock(mask);
                    return;
                }
                head[arena::NOT_BEGUN].store(1, Ordering::Relaxed);
                end(1)
            }
            1.. => await_end(process, head),
            _ => Message::NotBegun,
        };
        send(socket, told);
    }
}

/// The calling process makes a run. Returns whether it can.
fn begin_run(socket: i32, server: i32, words: &[u8]) -> bool {
    // SAFETY: no pointers. The socket is the server's.
    unsafe {
        kernel::call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0]);
        kernel::call(libc::SYS_close, [socket as usize]);
        // The server may have ended before this process asked to end with it.
        if kernel::call(libc::SYS_getppid, []) != server as isize {
            return false;
        }
    }
    SOCKET.store(-1, Ordering::Relaxed);
    own_process::begin_again();
    file::take_over();
    if !files::open_again() || !options::read_run(&String::from_utf8_lossy(words)) {
        return false;
    }
    watchdog::is_not_inherited();
    true
}

/// The process that makes a run now.
fn running() -> Option<i32> {
    // SAFETY: set once, to a page that stays.
    let head = unsafe { HEAD.load(Ordering::Relaxed).as_ref() }?;
    i32::try_from(head[arena::RUNNING].load(Ordering::Relaxed)).ok().filter(|process| *process > 0)
}

/// Waits for the end of a run.
fn await_end(process: i32, head: &[AtomicU64; arena::WORDS]) -> Message {
    head[arena::RUNNING].store(process as u64, Ordering::SeqCst);
    // `ravelin run` got it before it could know the process.
    let signal = head[arena::SIGNAL].swap(0, Ordering::SeqCst) as usize;
    if signal != 0 {
        // SAFETY: no pointers, and the process has not been waited for.
        unsafe { kernel::call(libc::SYS_kill, [process as usize, signal]) };
    }
    let ended = wait(libc::P_PID, process, libc::WEXITED);
    head[arena::RUNNING].store(0, Ordering::SeqCst);
    // Whether there are other children: without any, the kernel says so.
    let mut others = false;
    while let Ok(left) = wait(libc::P_ALL, 0, libc::WEXITED | libc::WNOHANG) {
        others = true;
        if left.0 == 0 {
            break;
        }
    }
    match ended {
        Ok(_) if head[arena::NOT_BEGUN].load(Ordering::Relaxed) != 0 => Message::NotBegun,
        Ok((_, code, status)) => Message::Ended { code: code as u64, status: status as u64, others },
        Err(_) => Message::NotBegun,
    }
}

/// Waits for a child: its number (0 if none has ended), how it ended, and with which status.
fn wait(kind: libc::idtype_t, process: i32, options: i32) -> Result<(i32, i32, i32), isize> {
    loop {
        // SAFETY: an information of zeros is one, and the kernel fills it.
        unsafe {
            let mut about: libc::siginfo_t = std::mem::zeroed();
            let place = (&raw mut about) as usize;
            let result = kernel::call(libc::SYS_waitid, [kind as usize, process as usize, place, options as usize, 0]);
            if result == 0 {
                return Ok((about.si_pid(), about.si_code, about.si_status()));
            }
            if result != -(libc::EINTR as isize) {
                return Err(result);
            }
        }
    }
}

fn noticed() -> Option<ForkObstacle> {
    let noticed = NOTICED.load(Ordering::Relaxed).checked_sub(1)?;
    ForkObstacle::ALL.into_iter().find(|known| *known as u64 == noticed)
}

/// A message from `ravelin run`; `None` if there is none, empty if it has ended.
fn receive(socket: i32, message: &mut [u8; LONGEST], flags: i32) -> Option<&[u8]> {
    let arguments = [socket as usize, message.as_mut_ptr() as usize, message.len(), flags as usize, 0, 0];
    // SAFETY: the kernel writes at most that many bytes.
    let length = unsafe { kernel::call(libc::SYS_recvfrom, arguments) };
    usize::try_from(length).ok().map(|length| &message[..length])
}

fn send(socket: i32, message: Message) {
    let words = message.words();
    let flags = libc::MSG_NOSIGNAL as usize;
    // SAFETY: the kernel reads the words. If ravelin has ended, there is no next message.
    unsafe {
        kernel::call(libc::SYS_sendto, [socket as usize, words.as_ptr() as usize, size_of_val(&words), flags, 0, 0])
    };
}

/// Ends the process, which has no run to report.
fn end(status: usize) -> ! {
    // SAFETY: ends the process without returning to the program.
    unsafe { kernel::call(libc::SYS_exit_group, [status]) };
    std::process::abort()
}
