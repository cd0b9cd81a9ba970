//! Notices that a run makes no progress, for [`crate::watchdog`].
//!
//! A thread more in each run would cost more than the run of a small test. So the server has one that looks at the run
//! from outside: at its number of scheduling points and at its processor time. If neither changes for half as long as a
//! run may be without progress, the run gets a signal and starts its own watchdog, which sees more and decides.
//!
//! The signal is one that the C library keeps for itself: a program can neither block nor handle it. A thread that it
//! finds in a call continues the call ([`is_interrupted`]). The C library uses it for `pthread_cancel`; a run that has
//! cancelled a thread is not watched in this way.

use crate::{kernel, schedule, watchdog};
use std::arch::global_asm;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The C library's SIGCANCEL.
const SIGNAL: usize = 32;
const SECOND: u64 = 1_000_000_000;

/// Where a run has its number of points. The thread must not ask for it: it would hold a lock, and a run that is forked
/// meanwhile would inherit it.
static POINTS_AT: AtomicUsize = AtomicUsize::new(0);
/// 1 if the signal has arrived and no call has asked.
static ARRIVED: AtomicU32 = AtomicU32::new(0);

/// Starts the thread, and installs the handler for all runs. The process has one thread, and signals are blocked.
pub fn begin() {
    if !watchdog::is_wanted() {
        return;
    }
    POINTS_AT.store(schedule::turn::points_at(), Ordering::Relaxed);
    let flags = libc::SA_SIGINFO | libc::SA_RESTART | RESTORER;
    let handler = arrived as *const () as usize;
    let action = [handler, flags as usize, (&raw const ravelin_return_from_signal) as usize, !0];
    // SAFETY: an action as the kernel has it: handler, flags, the function to return by, and the mask.
    let done = unsafe { kernel::call(libc::SYS_rt_sigaction, [SIGNAL, action.as_ptr() as usize, 0, size_of::<u64>()]) };
    if done == 0 {
        watchdog::start(look_at_runs);
    }
}

/// Whether a call of the program was interrupted by the signal and not by one of its own.
pub fn is_interrupted() -> bool {
    ARRIVED.load(Ordering::Relaxed) != 0 && ARRIVED.swap(0, Ordering::Relaxed) != 0
}

const RESTORER: i32 = 0x0400_0000;

global_asm!(
    ".pushsection .text.ravelin_return_from_signal,\"ax\",@progbits",
    ".hidden ravelin_return_from_signal",
    ".globl ravelin_return_from_signal",
    ".type ravelin_return_from_signal,@function",
    "ravelin_return_from_signal:",
    "mov rax, 15",
    "syscall",
    ".size ravelin_return_from_signal, . - ravelin_return_from_signal",
    ".popsection",
);

unsafe extern "C" {
    static ravelin_return_from_signal: u8;
}

/// In a run: starts its watchdog.
unsafe extern "C" fn arrived(_signal: i32, about: *const libc::siginfo_t, _context: usize) {
    ARRIVED.store(1, Ordering::Relaxed);
    // SAFETY: the kernel gives what the sender has written.
    let still = unsafe { (*about).si_value().sival_ptr as u64 };
    watchdog::begin_late(still.max(1));
}

/// The thread of the server. It uses nothing of the C library.
extern "C" fn look_at_runs() -> ! {
    let mut last = Look::default();
    // Time without progress, and how much of it no thread ran.
    let (mut waited, mut still) = (0, 0);
    loop {
        let wait = libc::timespec { tv_sec: 0, tv_nsec: watchdog::LOOK as i64 };
        // SAFETY: the kernel reads a time.
        unsafe { kernel::call(libc::SYS_nanosleep, [(&raw const wait) as usize, 0]) };
        let now = Look::now();
        if now.process == 0 || (now.process, now.points) != (last.process, last.points) {
            (waited, still) = (0, 0);
        } else if waited < watchdog::patience() {
            waited += watchdog::LOOK;
            if now.processor.saturating_sub(last.processor) <= watchdog::LOOK / 20 {
                still += watchdog::LOOK;
            }
            if waited >= watchdog::patience() {
                send(now.process, still);
            }
        }
        last = now;
    }
}

fn send(process: i32, still: u64) {
    // SAFETY: information of zeros is one; the number, the code and the value are at the kernel's places.
    unsafe {
        let mut about = [0_u64; 16];
        about[0] = SIGNAL as u64;
        about[1] = libc::SI_QUEUE as u32 as u64;
        about[3] = still;
        kernel::call(libc::SYS_rt_sigqueueinfo, [process as usize, SIGNAL, about.as_ptr() as usize]);
    }
}

/// What is seen of a run.
#[derive(Default)]
struct Look {
    /// 0 if there is none.
    process: i32,
    points: u64,
    processor: u64,
}

impl Look {
    fn now() -> Look {
        let process = super::running().unwrap_or(0);
        if process == 0 {
            return Look::default();
        }
        // The clock of another process's processor time.
        let clock = (!process << 3 | 2) as u32 as usize;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let mut points = 0_u64;
        let here = libc::iovec { iov_base: (&raw mut points).cast(), iov_len: size_of::<u64>() };
        // The run has the number where this process has its own.
        let there =
            libc::iovec { iov_base: POINTS_AT.load(Ordering::Relaxed) as *mut libc::c_void, iov_len: size_of::<u64>() };
        // SAFETY: the kernel fills a time and a word; what it reads belongs to the other process.
        unsafe {
            kernel::call(libc::SYS_clock_gettime, [clock, (&raw mut time) as usize]);
            let (here, there) = ((&raw const here) as usize, (&raw const there) as usize);
            kernel::call(libc::SYS_process_vm_readv, [process as usize, here, 1, there, 1, 0]);
        }
        Look { process, points, processor: time.tv_sec as u64 * SECOND + time.tv_nsec as u64 }
    }
}
