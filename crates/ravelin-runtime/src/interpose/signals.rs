//! Signals: no handler of the program runs while its thread is inside the runtime, because it could need the runtime's
//! locks.
//!
//! The kernel is given the runtime's handler in place of the program's. If the thread is inside and the signal is not
//! one that instructions raise, the runtime's handler sends the signal to the thread again and returns with all such
//! signals blocked. On leaving the runtime the thread restores its old mask. The kernel then delivers what has arrived
//! meanwhile as it would have: on the right stack, with the right mask and a true context, queued if it is to be
//! queued.
//!
//! A one-time handler (`SA_RESETHAND`) is reset here, when it runs. The kernel would reset it when the runtime's
//! handler runs.

use super::crash;
use crate::schedule::{steer, turn};
use crate::{kernel, misuse, this_thread, threads};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use ravelin_findings::steering::doubts;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

/// Whether a signal waits for the calling thread to leave the runtime.
#[inline(always)]
pub fn pending() -> bool {
    // SAFETY: the thread's own word. Volatile, because a signal handler writes it.
    unsafe { held_back().read_volatile() != 0 }
}

/// Delivers the signals that were held back. Must be called when [`this_thread::inside`] is already false, or they are
/// held back again.
#[cold]
pub fn deliver_pending() {
    let words = held_back();
    // SAFETY: the thread's own words, and its own `errno`, which a handler may change at a point where the program does
    // not expect it. The kernel's signal sets have eight bytes.
    unsafe {
        let errno = *libc::__errno_location();
        let mask = words.add(1).read_volatile() as u64;
        words.write_volatile(0);
        compiler_fence(Ordering::SeqCst);
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, 0_usize, size_of::<u64>());
        *libc::__errno_location() = errno;
    }
}

/// Whether the program has a handler for any signal.
pub fn are_handled() -> bool {
    HANDLERS.iter().any(|handler| handler.load(Ordering::Relaxed) != 0)
}

/// Whether a blocked signal waits that asks the process to end.
pub fn ask_to_end() -> bool {
    let mut pending = 0_u64;
    // SAFETY: the kernel's signal sets have eight bytes.
    unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut pending, size_of::<u64>()) };
    [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP].iter().any(|signal| pending >> (signal - 1) & 1 != 0)
}

/// Blocks all signals of the calling thread, which is inside, and returns the mask to restore.
pub fn block() -> u64 {
    let all = !0_u64;
    let mut before = 0_u64;
    // SAFETY: the kernel's signal sets have eight bytes.
    unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, &raw mut before, size_of::<u64>());
    }
    before
}

/// Undoes [`block`], and delivers the signals that were held back before.
pub fn unblock(before: u64) {
    // SAFETY: as above.
    unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const before, 0_usize, size_of::<u64>());
    }
    if pending() {
        deliver_pending();
    }
}

interpose! {
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        change(signal, new, old, |new, old| real(signal, new, old))
    }

    fn signal(signal: c_int, handler: usize) -> usize {
        set(signal, handler, libc::SA_RESTART, true)
    }

    fn bsd_signal(signal: c_int, handler: usize) -> usize {
        set(signal, handler, libc::SA_RESTART, true)
    }

    fn ssignal(signal: c_int, handler: usize) -> usize {
        set(signal, handler, libc::SA_RESTART, true)
    }

    /// The `signal` of programs compiled for the bare C standard.
    fn __sysv_signal(signal: c_int, handler: usize) -> usize {
        set(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false)
    }

    fn sysv_signal(signal: c_int, handler: usize) -> usize {
        set(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false)
    }
}

// Whether signals are held back, and the mask to restore.
thread_words!(held_back, "ravelin_signals", 2);

const SIGNALS: usize = 65;

/// The program's handler of each signal, with two of its flags in the bits that no address has.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
const TAKES_INFO: usize = 1 << 63;
const ONCE: usize = 1 << 62;

fn change(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    real: impl Fn(*const libc::sigaction, *mut libc::sigaction) -> c_int,
) -> c_int {
    let Some(slot) = usize::try_from(signal).ok().and_then(|signal| HANDLERS.get(signal)) else {
        return real(new, old);
    };
    let before = slot.load(Ordering::Acquire);
    let mut replaced = None;
    // SAFETY: the caller's pointer is null or that of an action.
    let new = unsafe { new.as_ref() }.map(|new| {
        let mut ours = *new;
        if new.sa_sigaction > libc::SIG_IGN {
            let mut handler = new.sa_sigaction;
            if new.sa_flags & libc::SA_SIGINFO != 0 {
                handler |= TAKES_INFO;
            }
            if new.sa_flags & libc::SA_RESETHAND != 0 {
                handler |= ONCE;
            }
            replaced = Some(handler);
            ours.sa_sigaction = arrived as *const () as usize;
            ours.sa_flags = (new.sa_flags | libc::SA_SIGINFO) & !libc::SA_RESETHAND;
        } else if new.sa_sigaction == libc::SIG_DFL && crash::SIGNALS.contains(&signal) && !threads::is_off() {
            (ours.sa_sigaction, ours.sa_flags) = (crash::handler(), crash::FLAGS);
        }
        ours
    });
    // Before the kernel knows the runtime's handler, which may be called at once.
    if let Some(handler) = replaced {
        slot.store(handler, Ordering::Release);
    }
    let status = real(new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old);
    if status != 0 {
        if replaced.is_some() {
            slot.store(before, Ordering::Release);
        }
        return status;
    }
    // SAFETY: the caller's pointer is null or has room for an action, and the C library has filled it.
    if let Some(old) = unsafe { old.as_mut() }
        && old.sa_sigaction == crash::handler()
    {
        (old.sa_sigaction, old.sa_flags) = (libc::SIG_DFL, 0);
    }
    // SAFETY: as above.
    if let Some(old) = unsafe { old.as_mut() }
        && old.sa_sigaction == arrived as *const () as usize
    {
        old.sa_sigaction = before & !(TAKES_INFO | ONCE);
        if before & TAKES_INFO == 0 {
            old.sa_flags &= !libc::SA_SIGINFO;
        }
        if before & ONCE != 0 {
            old.sa_flags |= libc::SA_RESETHAND;
        }
    }
    status
}

/// `signal` in terms of `sigaction`; returns the old handler.
fn set(signal: c_int, handler: usize, flags: c_int, blocks_itself: bool) -> usize {
    // SAFETY: an action of zeros is one; the set is made by the C library's functions, which check the signal.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        libc::sigemptyset(&raw mut new.sa_mask);
        if blocks_itself && libc::sigaddset(&raw mut new.sa_mask, signal) != 0 {
            return libc::SIG_ERR;
        }
        if sigaction(signal, &raw const new, &raw mut old) != 0 {
            return libc::SIG_ERR;
        }
        old.sa_sigaction
    }
}

/// The handler the kernel knows.
unsafe extern "C" fn arrived(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own pointers.
    unsafe {
        if this_thread::inside() && !RAISED.contains(&signal) && hold_back(signal, info, context.cast()) {
            return;
        }
    }
    let Some(slot) = HANDLERS.get(signal as usize) else {
        return;
    };
    if !RAISED.contains(&signal) {
        steer::doubt(doubts::SIGNAL);
    }
    let handler = slot.load(Ordering::Acquire);
    let address = handler & !(TAKES_INFO | ONCE);
    if handler & ONCE != 0 {
        set(signal, libc::SIG_DFL, 0, false);
    }
    // SAFETY: the thread's own word.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the program gave this address as that of a handler of this kind.
    unsafe {
        if handler & TAKES_INFO != 0 {
            let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(address);
            handler(signal, info, context);
        } else {
            let handler: unsafe extern "C" fn(c_int) = std::mem::transmute(address);
            handler(signal);
        }
    }
    // SAFETY: the thread's own word, and the kernel's own pointer.
    unsafe {
        // Code that raises such a signal does not look at `errno` next.
        if *libc::__errno_location() != errno && !RAISED.contains(&signal) && !this_thread::inside() {
            let now = *libc::__errno_location();
            let registers = &(*context.cast::<ucontext_t>()).uc_mcontext.gregs;
            let [pc, sp] = [libc::REG_RIP, libc::REG_RSP].map(|register| registers[register as usize] as usize);
            misuse::changes_errno(address, pc, sp);
            *libc::__errno_location() = now;
        }
    }
}

/// Signals that an instruction raises, or the thread itself when it aborts. They are never held back, because blocking
/// them would end the process.
const RAISED: [c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT, libc::SIGSYS];

/// Sends the signal again, to be delivered when the mask is restored. Returns false if the kernel has no room for it.
unsafe fn hold_back(signal: c_int, info: *const siginfo_t, context: *mut ucontext_t) -> bool {
    // SAFETY: the kernel's own pointers, and the thread's own words. The kernel's signal sets have eight bytes, which
    // are the first of the C library's.
    unsafe {
        let errno = *libc::__errno_location();
        let mask: *mut u64 = (&raw mut (*context).uc_sigmask).cast();
        let interrupted = mask.read();
        // While this runs, the signal may be unblocked (`SA_NODEFER`): it must not arrive again before the return.
        let all = !0_u64;
        let mut here = 0_u64;
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, &raw mut here, size_of::<u64>());
        let sent = libc::syscall(libc::SYS_rt_tgsigqueueinfo, kernel::process(), turn::own_tid(), signal, info) == 0;
        // When several signals arrive at once, the kernel lets the handler of each interrupt the previous one at its
        // first instruction. The last handler to get here is the one that interrupted the thread, and its mask is the
        // one to restore.
        let words = held_back();
        words.write_volatile(usize::from(sent));
        if sent {
            words.add(1).write_volatile(interrupted as usize);
            mask.write(RAISED.iter().fold(all, |mask, &signal| mask & !(1 << (signal - 1))));
        } else {
            libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const here, 0_usize, size_of::<u64>());
        }
        *libc::__errno_location() = errno;
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const OURS: fn() -> usize = || arrived as *const () as usize;
    const HANDLER: usize = 0x5555_0000_1000;

    fn action(handler: usize, flags: c_int) -> libc::sigaction {
        // SAFETY: an action of zeros is one.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        action
    }

    /// A kernel that remembers the action of one signal, and fails on request.
    struct Kernel {
        action: Cell<libc::sigaction>,
        fails: Cell<bool>,
        signal: c_int,
    }

    impl Kernel {
        /// For a signal that no other test uses, because all tests share the handlers.
        fn of(signal: c_int) -> Kernel {
            Kernel { action: Cell::new(action(libc::SIG_DFL, 0)), fails: Cell::new(false), signal }
        }

        fn change(&self, new: Option<libc::sigaction>) -> (c_int, libc::sigaction) {
            let mut old = action(0, 0);
            let new = new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            let status = change(self.signal, new, &raw mut old, |new, old| {
                if self.fails.get() {
                    return -1;
                }
                // SAFETY: pointers to actions, or null.
                unsafe {
                    if let Some(old) = old.as_mut() {
                        *old = self.action.get();
                    }
                    if let Some(new) = new.as_ref() {
                        self.action.set(*new);
                    }
                }
                0
            });
            (status, old)
        }

        /// What the program sees as its handler.
        fn told(&self) -> (usize, c_int) {
            let (status, old) = self.change(None);
            assert_eq!(status, 0);
            (old.sa_sigaction, old.sa_flags)
        }
    }

    #[test]
    fn the_kernel_knows_our_handler_and_the_program_its_own() {
        let kernel = Kernel::of(40);
        for flags in [0, libc::SA_SIGINFO, libc::SA_RESETHAND, libc::SA_SIGINFO | libc::SA_RESETHAND | libc::SA_RESTART]
        {
            assert_eq!(kernel.change(Some(action(HANDLER, flags))).0, 0);
            let known = kernel.action.get();
            assert_eq!(known.sa_sigaction, OURS());
            assert_eq!(known.sa_flags & (libc::SA_SIGINFO | libc::SA_RESETHAND), libc::SA_SIGINFO);
            assert_eq!(known.sa_flags & libc::SA_RESTART, flags & libc::SA_RESTART);
            assert_eq!(kernel.told(), (HANDLER, flags));
        }
        assert!(are_handled());
    }

    #[test]
    fn what_is_no_handler_goes_to_the_kernel_as_it_is() {
        let kernel = Kernel::of(41);
        for nobody in [libc::SIG_IGN, libc::SIG_DFL] {
            kernel.change(Some(action(nobody, 0)));
            assert_eq!(kernel.action.get().sa_sigaction, nobody);
            assert_eq!(kernel.told(), (nobody, 0));
        }
    }

    #[test]
    fn the_old_handler_is_given_when_a_new_one_comes() {
        let kernel = Kernel::of(42);
        kernel.change(Some(action(HANDLER, libc::SA_RESETHAND)));
        let (_, old) = kernel.change(Some(action(HANDLER + 16, libc::SA_SIGINFO)));
        assert_eq!((old.sa_sigaction, old.sa_flags), (HANDLER, libc::SA_RESETHAND));
        assert_eq!(kernel.told(), (HANDLER + 16, libc::SA_SIGINFO));
    }

    #[test]
    fn a_change_that_the_kernel_refuses_leaves_the_handler() {
        let kernel = Kernel::of(43);
        kernel.change(Some(action(HANDLER, 0)));
        kernel.fails.set(true);
        assert_eq!(kernel.change(Some(action(HANDLER + 16, 0))).0, -1);
        kernel.fails.set(false);
        assert_eq!(kernel.told(), (HANDLER, 0));
    }

    #[test]
    fn a_number_that_is_no_signal_is_left_to_the_kernel() {
        for signal in [-1, SIGNALS as c_int, c_int::MAX] {
            let kernel = Kernel::of(signal);
            kernel.change(Some(action(HANDLER, 0)));
            assert_eq!(kernel.action.get().sa_sigaction, HANDLER);
        }
    }

    #[test]
    fn signals_are_blocked_until_the_mask_is_put_back() {
        let mask = || {
            let mut mask = 0_u64;
            // SAFETY: the kernel's signal sets have eight bytes.
            unsafe {
                libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, 0_usize, &raw mut mask, size_of::<u64>())
            };
            mask
        };
        let before = mask();
        let given = block();
        assert_eq!(given, before);
        let never = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
        assert_eq!(mask() | never, !0);
        unblock(given);
        assert_eq!(mask(), before);
    }
}
