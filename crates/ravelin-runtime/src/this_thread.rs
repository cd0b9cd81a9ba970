//! The running thread: its state, and whether it is inside the runtime.
//!
//! Two thread-local words lead to a thread's [`WatchedThread`]: `self`, from its beginning, for its calls; `active`, from the
//! moment the program has a second thread, for its accesses. What the first thread does before that happens before
//! everything and needs no clocks.
//!
//! A thread is *inside* while it handles an event. Meanwhile signal handlers are postponed, and interposed functions do
//! only what the C library does. A thread that wants all clocks to stop ([`stop_others`]) waits for the threads inside.
//! Entering costs two plain memory accesses. The thread that stops the others pays for the fence that these would need,
//! with the `membarrier` system call.

use crate::allocator::Cache;
use crate::held::HeldLocks;
use crate::interpose::signals;
use crate::kernel;
use crate::lock_order::KnownEdges;
use crate::sources::Sources;
use crate::spin;
use crate::start_order::StartTime;
use crate::threads;
use crate::trace::{CallFrame, ThreadTrace};
use ravelin_clocks::race::slot;
use ravelin_clocks::{ReleaseClocks, ThreadClocks};
use std::arch::{asm, global_asm};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden __ravelin_self",
    ".globl __ravelin_self",
    ".type __ravelin_self,@object",
    ".size __ravelin_self,8",
    "__ravelin_self: .zero 8",
    ".hidden __ravelin_active",
    ".globl __ravelin_active",
    ".type __ravelin_active,@object",
    ".size __ravelin_active,8",
    "__ravelin_active: .zero 8",
    ".text",
);

/// How many frames a thread's stack of calls has room for.
const DEPTH: usize = 1 << 16;

/// The frames of a thread that has ended, for the next one: new ones take two system calls and their pages. Null if there
/// are none.
static SPARE_FRAMES: AtomicPtr<CallFrame> = AtomicPtr::new(null_mut());

/// Room for the frames of a thread; null if memory has run out.
fn take_frames() -> *mut CallFrame {
    let spare = SPARE_FRAMES.swap(null_mut(), Ordering::Acquire);
    if spare.is_null() { crate::mapping::map(DEPTH * size_of::<CallFrame>()).cast() } else { spare }
}

/// A thread needs its frames no more.
fn give_frames(frames: *mut CallFrame) {
    let surplus = SPARE_FRAMES.swap(frames, Ordering::AcqRel);
    if !surplus.is_null() {
        // SAFETY: mapped by `take_frames` with this length, and no thread has it.
        unsafe { crate::mapping::unmap(surplus.cast(), DEPTH * size_of::<CallFrame>()) };
    }
}

/// The state of one thread.
#[repr(C)]
pub struct WatchedThread {
    /// Its number and the epoch since which it has released nothing, as in a slot of a cell.
    pub stamp: u64,
    /// Whether it is inside.
    inside: AtomicU32,
    /// Whether its accesses need more than usual: 0, or an or of [`crate::schedule::SCHEDULED`],
    /// [`crate::schedule::steer::STEERED`] and [`crate::repair::REPAIRED`].
    pub special: u32,
    /// How many calls are on its stack; may exceed [`DEPTH`].
    depth: usize,
    frames: *mut CallFrame,
    /// What it did recently.
    pub trace: ThreadTrace,
    /// Its clocks.
    pub clocks: ThreadClocks,
    /// Its free blocks.
    cache: Cache,
    /// Atomic accesses that are not part of the common count yet.
    pub accesses: u32,
    /// Its place in the schedule.
    pub place: u32,
    /// Its number among all threads ever started.
    pub number: u64,
    /// Bounds of its stack, if known.
    pub stack: (usize, usize),
    /// Where the frames of the program end on its stack; 0 if that is not known. What is above belongs to the C library
    /// and the runtime.
    pub base: usize,
    /// How often the program has asked to ignore its reads, and its writes, without taking that back.
    pub ignored: [u32; 2],
    /// How many unwatched parts of the program the thread is in.
    hidden: u32,
    /// One more than the number of the thread whose end it waits for; 0 if it does not.
    pub joins: AtomicU64,
    /// What the program said about the next accesses.
    pub mark: crate::marks::ThreadMarks,
    /// Loads that would give no new information if repeated.
    pub loads: crate::loads::Loads,
    /// The read that may be the body of a waiting loop.
    pub spin: crate::spinning::LastLoad,
    /// Where it was since its last effect, if it is steered.
    pub arrivals: crate::schedule::arrivals::Arrivals,
    /// The threads from which it has learnt.
    pub sources: Sources,
    /// The locks it holds.
    pub held: HeldLocks,
    /// The orders of locks it knows.
    pub known_edges: KnownEdges,
    /// Its time in the order of starting and joining.
    pub starts: StartTime,
}

// The assembly in `atomics` knows where it is.
const _: () = assert!(std::mem::offset_of!(WatchedThread, special) == 12);

/// Writes all fields of a thread, one after the other: a value of several kilobytes on the stack of a new thread would
/// touch pages that a short thread does not need.
macro_rules! write_fields {
    ($place:ident: $($field:ident: $value:expr),* $(,)?) => {
        // Without a field this would not compile.
        let _all = |WatchedThread { $($field: _),* }: &WatchedThread| ();
        $((&raw mut (*$place).$field).write($value);)*
    };
}

impl WatchedThread {
    /// A thread with these clocks; `None` if memory has run out. The history of the previous thread with the same tid
    /// is kept.
    pub fn new(clocks: ThreadClocks, number: u64, kept: Option<(ThreadTrace, Sources)>) -> Option<Box<WatchedThread>> {
        let frames = take_frames();
        if frames.is_null() {
            return None;
        }
        let (mut trace, sources) = match kept {
            Some(kept) => kept,
            None => (ThreadTrace::new()?, Sources::new()),
        };
        trace.begin(clocks.epoch, clocks.since());
        let mut watched = Box::new_uninit();
        let place: *mut WatchedThread = watched.as_mut_ptr();
        // SAFETY: there is room for a thread, and all its fields are written.
        let mut watched = unsafe {
            write_fields! { place:
                stamp: 0,
                inside: AtomicU32::new(0),
                special: crate::repair::special(),
                depth: 0,
                frames: frames,
                trace: trace,
                clocks: clocks,
                cache: Cache::new(),
                accesses: 0,
                place: 0,
                number: number,
                stack: (0, 0),
                base: 0,
                ignored: [0; 2],
                hidden: 0,
                joins: AtomicU64::new(0),
                mark: crate::marks::ThreadMarks::default(),
                loads: crate::loads::Loads::new(),
                spin: crate::spinning::LastLoad::default(),
                arrivals: crate::schedule::arrivals::Arrivals::new(),
                sources: sources,
                held: HeldLocks::new(),
                known_edges: KnownEdges::new(),
                starts: StartTime::default(),
            }
            watched.assume_init()
        };
        watched.new_epoch();
        Some(watched)
    }

    /// The calls that have not returned, outermost first.
    #[inline(always)]
    pub fn calls(&self) -> &'static [CallFrame] {
        // SAFETY: the frames are mapped as long as the thread lives, and that many are written.
        unsafe { std::slice::from_raw_parts(self.frames, self.depth.min(DEPTH)) }
    }

    /// The stack of an access at `pc` now, innermost first.
    pub fn stack_at(&self, pc: usize) -> Vec<u64> {
        let calls = self.calls().iter().rev().map(|frame| frame.pc as u64);
        std::iter::once(pc as u64).chain(calls).take(256).collect()
    }

    /// Runs after the clocks have advanced to another epoch.
    #[inline(always)]
    pub fn new_epoch(&mut self) {
        // A steered thread must be seen to write again after each event, even if nothing was released in between.
        let steered = self.special & crate::schedule::steer::STEERED != 0;
        let since = if steered { self.clocks.epoch } else { self.clocks.since() };
        self.stamp = slot::stamp(self.clocks.tid, since);
        self.trace.time(self.calls(), self.clocks.epoch, since);
        if self.clocks.epoch >= threads::LAST_EPOCH {
            threads::renew(self);
        }
    }

    /// Runs before the thread acquires what was released.
    #[inline(always)]
    pub fn learns_from(&mut self, released: &ReleaseClocks) {
        if let Some((by, at)) = released.moment()
            && !self.clocks.happens_after(by, at)
        {
            self.sources.synchronised(self.clocks.epoch, (by, at));
        }
    }

    /// A function was entered that returns to `pc`; the stack pointer was `sp`.
    #[inline(always)]
    pub fn enter_function(&mut self, pc: usize, sp: usize) {
        // Functions with a frame below the stack pointer were left without notice.
        self.leave_functions_below(sp + 1);
        self.trace.enter(pc, self.calls());
        if self.depth < DEPTH {
            // SAFETY: there is room for `DEPTH` frames.
            unsafe { *self.frames.add(self.depth) = CallFrame { pc, sp } };
        }
        self.depth += 1;
    }

    /// The functions whose stack pointer was below `sp` are left.
    #[inline(always)]
    pub fn leave_functions_below(&mut self, sp: usize) {
        // SAFETY: the frames below `depth` are written.
        while self.depth > 0 && self.depth <= DEPTH && unsafe { (*self.frames.add(self.depth - 1)).sp } < sp {
            self.leave_function();
        }
    }

    /// A function is left.
    #[inline(always)]
    pub fn leave_function(&mut self) {
        self.trace.leave(self.calls());
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether the thread is inside.
    pub fn is_inside(&self) -> bool {
        self.inside.load(Ordering::Relaxed) != 0
    }

    /// Frees what the thread cached; its trace stays.
    pub fn finish(&mut self) {
        // The state stays, and its next user overwrites it: the clocks would never be freed.
        self.clocks = ThreadClocks::new(self.clocks.tid, self.clocks.epoch);
        self.cache.drain();
        // The runtime sees no more calls of the thread.
        give_frames(std::mem::replace(&mut self.frames, null_mut()));
        self.depth = 0;
    }
}

macro_rules! thread_local_word {
    ($get:ident, $set:ident, $symbol:literal) => {
        #[inline(always)]
        fn $get() -> *mut WatchedThread {
            let word: *mut WatchedThread;
            // SAFETY: reads a word of the thread's own storage, which the assembly above defines.
            unsafe {
                asm!(
                    concat!("mov {word}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov {word}, qword ptr fs:[{word}]",
                    word = out(reg) word,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            word
        }

        fn $set(value: *mut WatchedThread) {
            // SAFETY: writes a word of the thread's own storage, which the assembly above defines.
            unsafe {
                asm!(
                    concat!("mov {word}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov qword ptr fs:[{word}], {value}",
                    word = out(reg) _,
                    value = in(reg) value,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

thread_local_word!(get_self, set_self, "__ravelin_self");
thread_local_word!(get_active, set_active, "__ravelin_active");

/// The calling thread, whether or not its accesses are watched; null if the runtime does not know it.
#[inline(always)]
pub fn me() -> *mut WatchedThread {
    get_self()
}

/// The calling thread if its accesses are watched, else null.
#[inline(always)]
pub fn active() -> *mut WatchedThread {
    get_active()
}

/// Makes `watched` the state of the calling thread.
pub fn set_me(watched: *mut WatchedThread) {
    set_self(watched);
}

/// The frames of the program are below this address on the calling thread's stack.
pub fn set_base(base: usize) {
    let thread = get_self();
    if !thread.is_null() {
        // SAFETY: a thread's own state lives as long as the word leads to it.
        unsafe { (*thread).base = base };
    }
}

/// Switches watching on or off for the calling thread.
pub fn set_watched(on: bool) {
    set_active(if on { get_self() } else { null_mut() });
}

/// Begins a part of the program that is not watched, for example the code of a lock. Such parts may be nested.
pub fn hide() {
    let thread = get_self();
    // Before anything is watched there is nothing to hide.
    // SAFETY: a thread's own state lives as long as the word leads to it.
    if !thread.is_null() && (!get_active().is_null() || unsafe { (*thread).hidden } > 0) {
        // SAFETY: as above.
        unsafe { (*thread).hidden += 1 };
        set_watched(false);
    }
}

/// Ends the part that began last.
pub fn show() {
    let thread = get_self();
    // SAFETY: a thread's own state lives as long as the word leads to it.
    if !thread.is_null() && unsafe { (*thread).hidden } > 0 {
        // SAFETY: as above.
        let left = unsafe {
            (*thread).hidden -= 1;
            (*thread).hidden
        };
        set_watched(left == 0 && !threads::is_off());
    }
}

/// Ends all such parts, when the thread ends.
pub fn show_all() {
    while is_hidden() {
        show();
    }
}

/// Whether the calling thread is in a part of the program that is not watched.
fn is_hidden() -> bool {
    let thread = get_self();
    // SAFETY: a thread's own state lives as long as the word leads to it.
    !thread.is_null() && unsafe { (*thread).hidden > 0 }
}

/// Whether accesses of the calling thread are watched. This is false before the first thread is started, inside the
/// runtime, in a forked child, in an unwatched part of the program, and in unknown threads.
#[inline(always)]
pub fn watched() -> bool {
    let thread = get_active();
    // SAFETY: a thread's own state lives as long as the word leads to it.
    !thread.is_null() && !unsafe { (*thread).is_inside() }
}

/// Whether the calling thread is inside.
pub fn inside() -> bool {
    let thread = get_self();
    // SAFETY: a thread's own state lives as long as the word leads to it.
    !thread.is_null() && unsafe { (*thread).is_inside() }
}

/// The calling thread's free blocks, if it may use them now.
#[inline]
pub fn cache() -> Option<&'static mut Cache> {
    let thread = get_self();
    // SAFETY: the cache belongs to the calling thread; being inside prevents signal handlers from using it.
    (!thread.is_null() && unsafe { (*thread).is_inside() }).then(|| unsafe { &mut (*thread).cache })
}

/// The calling thread is inside until this is dropped.
pub struct InsideGuard(*mut WatchedThread);

/// Marks the calling thread as inside until dropped; `None` if it is inside already or not watched.
#[inline(always)]
pub fn enter() -> Option<InsideGuard> {
    enter_as(get_active())
}

/// The same, also in a part of the program that is not watched: memory is allocated and freed there too.
pub fn enter_even_hidden() -> Option<InsideGuard> {
    if is_hidden() && !threads::is_off() { enter_as(get_self()) } else { enter() }
}

/// The same for a thread whose accesses need not be watched yet.
pub fn enter_unwatched() -> Option<InsideGuard> {
    enter_as(get_self())
}

#[inline(always)]
fn enter_as(thread: *mut WatchedThread) -> Option<InsideGuard> {
    // SAFETY: a thread's own state lives as long as the word leads to it.
    if thread.is_null() || unsafe { (*thread).is_inside() } {
        return None;
    }
    loop {
        // SAFETY: as above.
        unsafe { (*thread).inside.store(1, Ordering::Relaxed) };
        compiler_fence(Ordering::SeqCst);
        // What the thread that stopped the others has changed is visible.
        if STOP.load(Ordering::Acquire) == 0 {
            return Some(InsideGuard(thread));
        }
        // SAFETY: as above.
        unsafe { (*thread).inside.store(0, Ordering::Release) };
        wait_for_go();
    }
}

impl InsideGuard {
    /// The thread's state.
    #[inline(always)]
    pub fn thread(&mut self) -> &mut WatchedThread {
        // SAFETY: only the thread itself makes an `InsideGuard`, one at a time, and borrows through it.
        unsafe { &mut *self.0 }
    }

    /// Leaves without delivering signals: they are blocked, and the thread is no longer known.
    pub fn leave_for_good(self) {
        // SAFETY: as in `thread`.
        unsafe { (*self.0).inside.store(0, Ordering::Release) };
        std::mem::forget(self);
    }
}

impl Drop for InsideGuard {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: as in `thread`.
        unsafe { (*self.0).inside.store(0, Ordering::Release) };
        compiler_fence(Ordering::SeqCst);
        if signals::pending() {
            signals::deliver_pending();
        }
    }
}

/// 1 while one thread stops all others.
static STOP: AtomicU32 = AtomicU32::new(0);
static CAN_STOP: AtomicBool = AtomicBool::new(false);

const MEMBARRIER_REGISTER: usize = 16;
const MEMBARRIER_EXPEDITED: usize = 8;
const WAIT: usize = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
const WAKE: usize = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;

/// Prepares [`stop_others`], once.
pub fn allow_stopping() {
    if CAN_STOP.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: a system call without pointers.
    let done = unsafe { kernel::call(libc::SYS_membarrier, [MEMBARRIER_REGISTER, 0, 0]) } == 0;
    CAN_STOP.store(done, Ordering::SeqCst);
}

/// Runs `work` while no other thread is inside. Does nothing if the kernel does not support it or another thread is
/// stopping the others already. The caller is inside.
pub fn stop_others(me: *const WatchedThread, work: impl FnOnce()) -> bool {
    if !CAN_STOP.load(Ordering::Relaxed) || !hold_others(me) {
        return false;
    }
    work();
    let_others_go();
    true
}

/// From now on the calling thread is inside and no other is, until [`end_copying`]: the process is about to be copied.
/// Returns whether that is possible.
pub fn begin_copying() -> bool {
    let mut spins = 0;
    while CAN_STOP.load(Ordering::Relaxed) && !inside() {
        let own = enter_unwatched();
        if hold_others(get_self()) {
            std::mem::forget(own);
            return true;
        }
        drop(own);
        spin::pause(&mut spins);
    }
    false
}

/// Ends what [`begin_copying`] began, in the process and in its copy.
pub fn end_copying() {
    let_others_go();
    if inside() {
        drop(InsideGuard(get_self()));
    }
}

/// Waits until no other thread is inside. Does nothing if another thread does the same.
fn hold_others(me: *const WatchedThread) -> bool {
    if STOP.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return false;
    }
    // SAFETY: a system call without pointers.
    unsafe { kernel::call(libc::SYS_membarrier, [MEMBARRIER_EXPEDITED, 0, 0]) };
    threads::for_each_running(|thread| {
        if !std::ptr::eq(thread, me) {
            let mut spins = 0;
            // SAFETY: the table of threads is locked, so the thread's state stays.
            while unsafe { (*thread).inside.load(Ordering::Acquire) } != 0 {
                spin::pause(&mut spins);
            }
        }
    });
    true
}

/// Other threads may be inside again.
fn let_others_go() {
    STOP.store(0, Ordering::Release);
    // SAFETY: wakes the threads that wait for this word.
    unsafe { kernel::call(libc::SYS_futex, [(&raw const STOP) as usize, WAKE, i32::MAX as usize]) };
}

/// Sleeps while others are stopped.
#[cold]
fn wait_for_go() {
    while STOP.load(Ordering::Acquire) != 0 {
        // SAFETY: waits as long as this word is 1, without a time limit.
        unsafe { kernel::call(libc::SYS_futex, [(&raw const STOP) as usize, WAIT, 1, 0]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::watched;

    fn thread<'a>() -> &'a mut WatchedThread {
        assert!(!me().is_null(), "a watched thread");
        // SAFETY: the calling thread's own state, which lives as long as its test.
        unsafe { &mut *me() }
    }

    fn calls() -> Vec<usize> {
        thread().calls().iter().map(|frame| frame.pc).collect()
    }

    #[test]
    fn a_thread_enters_once_at_a_time() {
        watched(|| {
            assert!(super::watched() && !inside());
            let inner = enter().expect("it is not inside");
            assert!(!super::watched() && inside());
            assert!(enter().is_none() && enter_unwatched().is_none() && enter_even_hidden().is_none());
            drop(inner);
            assert!(super::watched() && !inside());
        });
        assert!(!super::watched() && !inside());
        assert!(enter().is_none() && enter_unwatched().is_none() && me().is_null());
    }

    #[test]
    fn parts_that_are_not_watched_may_be_nested() {
        watched(|| {
            hide();
            hide();
            show();
            assert!(!super::watched() && is_hidden());
            assert!(enter().is_none(), "its accesses are not watched");
            assert!(enter_even_hidden().is_some(), "but memory comes and goes");
            show();
            assert!(super::watched() && !is_hidden());
            show();
            assert!(super::watched(), "one end too many changes nothing");
            hide();
            hide();
            show_all();
            assert!(super::watched() && !is_hidden());
        });
    }

    #[test]
    fn a_thread_that_is_not_watched_hides_nothing() {
        watched(|| {
            set_watched(false);
            hide();
            assert!(!is_hidden());
            set_watched(true);
            assert!(super::watched());
        });
    }

    #[test]
    fn only_a_thread_that_is_inside_has_blocks_of_its_own() {
        assert!(cache().is_none());
        watched(|| {
            assert!(cache().is_none());
            let _inside = enter().expect("it is not inside");
            assert!(cache().is_some());
        });
    }

    #[test]
    fn calls_are_those_that_have_not_returned() {
        watched(|| {
            thread().enter_function(1, 900);
            thread().enter_function(2, 800);
            thread().enter_function(3, 700);
            thread().leave_function();
            assert_eq!(calls(), [1, 2]);
            assert_eq!(thread().stack_at(9), [9, 2, 1]);
        });
    }

    #[test]
    fn functions_that_were_left_by_a_jump_are_noticed_by_the_stack_pointer() {
        watched(|| {
            for (pc, sp) in [(1, 900), (2, 800), (3, 700), (4, 800)] {
                thread().enter_function(pc, sp);
            }
            assert_eq!(calls(), [1, 4], "a frame at the same place takes the place of the old one and those below");
            thread().enter_function(5, 600);
            thread().leave_functions_below(800);
            assert_eq!(calls(), [1, 4]);
            thread().leave_functions_below(usize::MAX);
            assert_eq!(calls(), []);
            thread().leave_function();
            assert_eq!(calls(), [], "one return too many changes nothing");
        });
    }

    #[test]
    fn the_frames_of_two_threads_are_never_the_same() {
        let (one, other) = (take_frames(), take_frames());
        assert!(!one.is_null() && !other.is_null() && one != other);
        // SAFETY: just taken, with room for that many.
        unsafe {
            for frames in [one, other] {
                frames.add(DEPTH - 1).write(CallFrame { pc: 1, sp: frames as usize });
            }
            assert_eq!([one, other].map(|frames| (*frames.add(DEPTH - 1)).sp), [one as usize, other as usize]);
        }
        give_frames(one);
        give_frames(other);
    }

    #[test]
    fn more_calls_than_there_is_room_for_are_counted() {
        watched(|| {
            let top = 1 << 40;
            (0..DEPTH + 3).for_each(|call| thread().enter_function(call, top - call));
            assert_eq!(calls().len(), DEPTH);
            (0..3).for_each(|_| thread().leave_function());
            assert_eq!(calls().last(), Some(&(DEPTH - 1)));
            thread().leave_function();
            assert_eq!(calls().last(), Some(&(DEPTH - 2)));
            let stack = thread().stack_at(7);
            assert_eq!((stack.len(), stack[0], stack[1]), (256, 7, DEPTH as u64 - 2), "what is told has a limit");
        });
    }

    #[test]
    fn nobody_else_is_inside_while_one_works() {
        watched(|| {
            allow_stopping();
            let mut inside = enter().expect("it is not inside");
            let own: *const WatchedThread = inside.thread();
            drop(inside);
            if !CAN_STOP.load(Ordering::Relaxed) {
                assert!(!stop_others(own, || panic!("the kernel cannot help")));
                return;
            }
            let (done, pair) = (AtomicBool::new(false), [AtomicU32::new(0), AtomicU32::new(0)]);
            let seed = threads::starting(0).expect("a thread can be started");
            let (mut stops, mut broken) = (0, 0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    threads::begin(seed);
                    while !done.load(Ordering::Relaxed) {
                        let _inside = enter().expect("it is not inside");
                        pair[0].fetch_add(1, Ordering::Relaxed);
                        pair[1].fetch_add(1, Ordering::Relaxed);
                    }
                    threads::end();
                });
                let read = || [0, 1].map(|index: usize| pair[index].load(Ordering::Relaxed));
                while stops < 100 || read()[0] < 1_000 {
                    let _inside = enter().expect("it is not inside");
                    // Another test may be stopping the others.
                    stops += u32::from(stop_others(own, || {
                        let before = read();
                        (0..2_000).for_each(|_| std::hint::spin_loop());
                        broken += u32::from(before[0] != before[1] || read() != before);
                    }));
                }
                done.store(true, Ordering::Relaxed);
            });
            assert_eq!(broken, 0, "times somebody was in the middle of something");
        });
    }
}
