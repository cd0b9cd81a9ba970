//! Notices that a run makes no progress for an unknown reason: a call that never returns, a loop without accesses.
//!
//! Deadlocks and livelocks that the schedule sees are known at once ([`crate::schedule::stuck`]). For the rest there is
//! a thread that checks from time to time whether there was a scheduling point since the last check. If there was none,
//! it adds up the time in which no thread that could make one ran. Otherwise it adds up the processor time that they
//! used; the limit for that is higher, because they may be computing. Without a schedule only the former is known. A
//! thread that waits for a child process is not counted as stuck.
//!
//! The C library does not know the thread, so that a program with one thread remains single-threaded for it. The thread
//! therefore has only zeroes as thread-local variables, calls no function of the C library, and gets no signals.

use crate::schedule::{self, stuck};
use crate::{file, interpose::signals, kernel, mapping, process, report, this_thread, threads};
use libc::timespec;
use ravelin_findings::{BlockedThread, Record, Standstill, StandstillRecord, WaitsFor};
use std::arch::asm;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

const SECOND: u64 = 1_000_000_000;
/// Nanoseconds between two checks.
pub const LOOK: u64 = SECOND / 8;
/// How many times longer threads may compute than be idle.
const COMPUTING: u64 = 10;
/// Room for the thread's stack.
const STACK: usize = 1 << 18;
/// Room for thread-local variables, which are only read, and for the C library's part after them.
const VARIABLES: usize = 1 << 28;
const CONTROL: usize = 1 << 16;

/// Seconds after which a run without progress is ended; 0 for never.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// The memory of the thread; 0 if there is none.
static MEMORY: AtomicUsize = AtomicUsize::new(0);
/// The kernel's number of the thread, which the kernel sets to 0 when it ends.
static THREAD: AtomicU32 = AtomicU32::new(0);
/// 1 if the thread is to end.
static END: AtomicU32 = AtomicU32::new(0);

/// Nanoseconds without progress before the thread began.
static STILL: AtomicU64 = AtomicU64::new(0);

/// Ends a run that makes no progress for this many seconds.
pub fn want(seconds: u64) {
    LIMIT.store(seconds, Ordering::Relaxed);
}

/// The program begins.
pub fn begin() {
    if LIMIT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let _inside = this_thread::enter_unwatched();
    // The thread cannot get them itself.
    file::write_modules();
    let memory = mapping::map(STACK + VARIABLES + CONTROL) as usize;
    if memory == 0 {
        return;
    }
    MEMORY.store(memory, Ordering::Relaxed);
    let control = memory + VARIABLES;
    // SAFETY: within what was mapped just now. Code that needs the address of the control block reads it there.
    unsafe {
        (control as *mut usize).write(control);
        (control as *mut usize).add(2).write(control);
    }
    let mask = signals::block();
    start(watch);
    signals::unblock(mask);
}

/// This process was forked from one that has the thread: it begins without.
pub fn is_not_inherited() {
    THREAD.store(0, Ordering::Relaxed);
}

/// Whether runs must be ended that make no progress.
pub fn is_wanted() -> bool {
    MEMORY.load(Ordering::Relaxed) != 0
}

/// The nanoseconds without progress after which this thread is started, in a run that began without it.
pub fn patience() -> u64 {
    LIMIT.load(Ordering::Relaxed).saturating_mul(SECOND) / 2
}

/// Starts the thread in a run that began without it and has not made progress for this long. May be called in a signal
/// handler, and several times.
pub fn begin_late(still: u64) {
    if is_wanted() && STILL.swap(still, Ordering::Relaxed) == 0 {
        start(watch);
    }
}

/// Ends the thread, and waits until it is gone.
pub fn end() {
    END.store(1, Ordering::Release);
    // SAFETY: wakes the thread if it sleeps, and then waits for the word that the kernel clears at its end.
    unsafe {
        kernel::call(libc::SYS_futex, [END.as_ptr() as usize, libc::FUTEX_WAKE as usize, 1]);
        loop {
            let thread = THREAD.load(Ordering::Acquire);
            if thread == 0 {
                return;
            }
            kernel::call(libc::SYS_futex, [THREAD.as_ptr() as usize, libc::FUTEX_WAIT as usize, thread as usize, 0]);
        }
    }
}

/// Starts a function in the thread, whose memory no other thread uses. The memory is the same in each process that was
/// forked, so that everything else has the same address with and without forking.
pub fn start(function: extern "C" fn() -> !) {
    let memory = MEMORY.load(Ordering::Relaxed);
    END.store(0, Ordering::Relaxed);
    // SAFETY: both are mapped, and stay.
    unsafe { clone(memory + VARIABLES + CONTROL + STACK, memory + VARIABLES, function) };
}

unsafe fn clone(stack: usize, control: usize, function: extern "C" fn() -> !) {
    const FLAGS: i32 = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_SETTLS
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID;
    // SAFETY: the new thread has its own stack, and never returns from the call.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "call r12",
            "ud2",
            "2:",
            in("r12") function as usize,
            inlateout("rax") libc::SYS_clone => _,
            in("rdi") FLAGS as usize,
            in("rsi") stack,
            in("rdx") THREAD.as_ptr() as usize,
            in("r10") THREAD.as_ptr() as usize,
            in("r8") control,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
}

/// The thread.
extern "C" fn watch() -> ! {
    let limit = LIMIT.load(Ordering::Relaxed).saturating_mul(SECOND);
    let mut seen = Look::now();
    // Time in which no thread ran, and processor time, since the last scheduling point.
    let (mut still, mut computed) = (STILL.load(Ordering::Relaxed), 0);
    loop {
        let wait = timespec { tv_sec: 0, tv_nsec: LOOK as i64 };
        // SAFETY: the kernel reads a time, and the word on which this sleeps. The second call ends the thread.
        unsafe {
            let place = END.as_ptr() as usize;
            kernel::call(libc::SYS_futex, [place, libc::FUTEX_WAIT as usize, 0, (&raw const wait) as usize]);
            if END.load(Ordering::Acquire) != 0 {
                kernel::call(libc::SYS_exit, [0]);
            }
        }
        let now = Look::now();
        let used = now.processor.saturating_sub(seen.processor);
        if now.points != seen.points {
            (still, computed) = (0, 0);
        } else if runs(used) {
            computed += used;
        } else if !has_children() {
            still += LOOK;
        }
        seen = now;
        let computes_in_vain = schedule::is_wanted() && computed >= limit.saturating_mul(COMPUTING);
        if still >= limit || computes_in_vain {
            tell((still.max(computed)) / SECOND);
        }
    }
}

/// The result of a check.
struct Look {
    points: u64,
    /// The processor time of the process.
    processor: u64,
}

impl Look {
    fn now() -> Look {
        let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel fills a time.
        unsafe {
            let clock = libc::CLOCK_PROCESS_CPUTIME_ID as usize;
            kernel::call(libc::SYS_clock_gettime, [clock, (&raw mut time) as usize]);
        }
        let processor = time.tv_sec as u64 * SECOND + time.tv_nsec as u64;
        Look { points: schedule::progress().0, processor }
    }
}

/// Whether a thread ran since the last check, or could have if the machine were not busy with other work.
fn runs(used: u64) -> bool {
    if schedule::is_on() { schedule::turn::somebody_runs() } else { used > LOOK / 20 }
}

/// Whether there is a child process that has not been waited for.
fn has_children() -> bool {
    let options = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
    // SAFETY: the kernel stores nothing.
    unsafe { kernel::call(libc::SYS_waitid, [libc::P_ALL as usize, 0, 0, options, 0]) == 0 }
}

/// Records where every thread is, and ends the program.
fn tell(seconds: u64) -> ! {
    let blocked = if schedule::is_on() { stuck::everybody(Standstill::NoProgress) } else { threads_as_they_are() };
    for thread in &blocked {
        threads::describe(thread.thread);
    }
    let (point, _) = schedule::progress();
    file::write(&Record::Stuck(StandstillRecord { kind: Standstill::NoProgress, seconds, point, threads: blocked }));
    report::settle();
    process::end_at_once()
}

/// All threads of a program without a schedule: only their calls are known.
fn threads_as_they_are() -> Vec<BlockedThread> {
    let mut all = Vec::new();
    threads::for_each_running(|thread| {
        // SAFETY: states are never freed; a thread that still runs may at worst give a wrong place.
        let (number, mut stack) = unsafe { ((*thread).number, (*thread).stack_at(0)) };
        stack.retain(|pc| *pc != 0);
        all.push(BlockedThread { thread: number, waits_for: WaitsFor::Unknown, object: 0, holder: 0, stack });
    });
    all
}
