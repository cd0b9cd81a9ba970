//! Finds out whether a forked process would make the same run as a new one.
//!
//! What a process inherits from the one that forks it is the same: its memory, its files, its signal handlers, its
//! limits. This looks for the rest, and for what forked processes share and new ones do not. When in doubt there is an
//! obstacle. What the program did to the world is noticed when it does so ([`super::notice`]).

use super::files;
use super::lines::for_each_line;
use crate::interpose::process as own_process;
use crate::schedule::turn;
use crate::{file, kernel};
use ravelin_findings::serving::ForkObstacle;

/// The first obstacle that is found.
pub fn find(socket: i32) -> Option<ForkObstacle> {
    if !own_process::can_fork_silently() {
        return Some(ForkObstacle::Library);
    }
    if file::is_missing() {
        return Some(ForkObstacle::Findings);
    }
    if turn::living() > 1 {
        return Some(ForkObstacle::OtherThreads);
    }
    if !is_alone() {
        return Some(ForkObstacle::Threads);
    }
    if status("TracerPid:") != Some(0) {
        return Some(ForkObstacle::Tracer);
    }
    if has_children() || has_had_children() {
        return Some(ForkObstacle::Processes);
    }
    if leads() {
        return Some(ForkObstacle::Group);
    }
    if has_timer() {
        return Some(ForkObstacle::Timer);
    }
    if has_pending_signal() {
        return Some(ForkObstacle::Signal);
    }
    if shares_memory() {
        return Some(ForkObstacle::SharedMemory);
    }
    files::find_obstacle(socket)
}

/// Whether the process has one thread. Threads that have ended may be there for a moment longer.
fn is_alone() -> bool {
    let attempts = if turn::has_had_others() { 10_000 } else { 1 };
    (0..attempts).any(|_| {
        let alone = status("Threads:") == Some(1);
        if !alone {
            kernel::yield_now();
        }
        alone
    })
}

/// A number from a line of the kernel's description of this process.
fn status(name: &str) -> Option<u64> {
    let mut found = None;
    for_each_line(c"/proc/self/status", |line| {
        let value = line.strip_prefix(name.as_bytes())?;
        found = std::str::from_utf8(value).ok()?.trim().parse().ok();
        found.map(|_| ())
    });
    found
}

/// Whether there are mappings, besides the runtime's own, through which other processes see what this one writes.
fn shares_memory() -> bool {
    let mut shares = false;
    for_each_line(c"/proc/self/maps", |line| {
        let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let permissions = words.nth(1)?;
        let own = line.windows(OWN.len()).any(|part| part == OWN);
        shares |= permissions.get(1) == Some(&b'w') && permissions.get(3) == Some(&b's') && !own;
        shares.then_some(())
    });
    shares
}

/// In the path of mappings of the arena.
const OWN: &[u8] = b"/memfd:ravelin-findings";

/// Whether there are child processes, of any kind.
fn has_children() -> bool {
    let options = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL) as usize;
    // SAFETY: the kernel stores nothing.
    unsafe { kernel::call(libc::SYS_waitid, [libc::P_ALL as usize, 0, 0, options, 0]) == 0 }
}

/// Whether child processes were waited for: any process needs pages.
fn has_had_children() -> bool {
    // SAFETY: a usage of zeros is one, and the kernel fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let asked = kernel::call(libc::SYS_getrusage, [libc::RUSAGE_CHILDREN as usize, (&raw mut usage) as usize]);
        asked != 0 || usage.ru_minflt != 0 || usage.ru_maxrss != 0
    }
}

/// Whether it leads a session or a group of processes, which a child does not, or has asked for orphans.
fn leads() -> bool {
    let own = kernel::process() as isize;
    let mut reaper = 0_i32;
    // SAFETY: the kernel fills a word; otherwise no pointers.
    unsafe {
        kernel::call(libc::SYS_prctl, [libc::PR_GET_CHILD_SUBREAPER as usize, (&raw mut reaper) as usize, 0, 0, 0]);
        reaper != 0 || kernel::call(libc::SYS_getsid, [0]) == own || kernel::call(libc::SYS_getpgid, [0]) == own
    }
}

fn has_timer() -> bool {
    [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF].into_iter().any(|which| {
        let mut timer = [0_u64; 4];
        // SAFETY: the kernel fills four words.
        let asked = unsafe { kernel::call(libc::SYS_getitimer, [which as usize, timer.as_mut_ptr() as usize]) };
        asked != 0 || timer[2..] != [0, 0]
    })
}

fn has_pending_signal() -> bool {
    let mut pending = 0_u64;
    // SAFETY: the kernel's signal sets have eight bytes.
    let asked = unsafe { kernel::call(libc::SYS_rt_sigpending, [(&raw mut pending) as usize, size_of_val(&pending)]) };
    asked != 0 || pending != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_describes_the_process() {
        assert!(status("Threads:").is_some_and(|threads| threads >= 1));
        assert_eq!(status("Pid:"), Some(u64::from(std::process::id())));
        assert_eq!(status("Nothing:"), None);
    }

    #[test]
    fn memory_that_is_shared_and_written_is_noticed() {
        let map = |protection| {
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            // SAFETY: a mapping at an address the kernel chooses.
            unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) }
        };
        let read_only = map(libc::PROT_READ);
        // The test program's findings file is in a directory, so that its mapping counts as any other.
        let written = map(libc::PROT_READ | libc::PROT_WRITE);
        assert!(shares_memory());
        // SAFETY: mapped above.
        unsafe { (libc::munmap(read_only, 4096), libc::munmap(written, 4096)) };
    }
}
