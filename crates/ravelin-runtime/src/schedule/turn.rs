//! Passes the turn from thread to thread.
//!
//! Every thread has a seat with one word, on which it sleeps until it is given the turn. A thread that is chosen again
//! continues without a system call. All threads of the program run on one processor: the thread that wakes another is
//! about to sleep, and waking a thread on another processor takes many times longer.
//!
//! A thread that has the turn and sleeps in a call that the runtime does not see would stop everything. Waiting threads
//! check it from time to time, and take the turn from it. The program then continues, but such a run may not be
//! reproducible, and the report says so.

use super::{steer, stuck};
use crate::interpose::signals;
use crate::kernel;
use crate::mapping;
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::{file, this_thread::InsideGuard};
use ravelin_findings::{WaitsFor, notes};
use ravelin_schedule::{PointEffect, Random, Stalemate, ThreadStatus, TurnDecision as Decision, Turns, WaitReason};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence};

/// The schedule.
pub static TURNS: Spin<Option<Turns>> = Spin::new(None);

/// Where a thread waits.
pub struct Seat {
    /// 1 if the thread has been given the turn.
    word: AtomicU32,
    /// The kernel's number of the thread; 0 as long as it has not begun.
    tid: AtomicI32,
    /// The thread's own number.
    pub number: AtomicU64,
    /// Where its last point or wait is.
    pub pc: AtomicUsize,
    /// Its state, to read its stack.
    pub thread: AtomicPtr<WatchedThread>,
    /// What it waits for, if that is an object: a [`WaitsFor`].
    what: AtomicU32,
    /// It left the schedule by itself.
    away: AtomicU32,
    /// It is asking which thread continues, or waits for the answer. A signal handler that runs meanwhile asks nothing.
    busy: AtomicU32,
    /// It was cancelled.
    pub cancelled: AtomicU32,
    /// If the steps are given: how many random numbers it has got, and nanoseconds that its clocks have gone on. Both
    /// do not depend on what other threads do.
    numbers: AtomicU64,
    clock: AtomicU64,
    /// The descriptors it waits for, and how many.
    polled: (AtomicPtr<libc::pollfd>, AtomicUsize),
}

impl Seat {
    /// What kind of object the thread waits for.
    pub fn waits_for(&self) -> WaitsFor {
        let last = WaitsFor::ALL.len() - 1;
        WaitsFor::ALL[(self.what.load(Ordering::Relaxed) as usize).min(last)]
    }
}

/// The kernel's number of the thread at a place.
pub fn tid(place: usize) -> i32 {
    seat(place).tid.load(Ordering::Relaxed)
}

/// How many seats there are: as many as tids.
const SEATS: usize = 1 << 16;
static FIRST: AtomicPtr<Seat> = AtomicPtr::new(std::ptr::null_mut());

/// One more than the processor on which all threads run; 0 for the one on which the first thread is at that time.
static PROCESSOR: AtomicUsize = AtomicUsize::new(0);

/// One more than the processor that was requested from the kernel; 0 if none was.
static STAYS_ON: AtomicUsize = AtomicUsize::new(0);

/// Sets the processor on which all threads run.
pub fn choose_processor(processor: Option<usize>) {
    PROCESSOR.store(processor.map_or(0, |processor| processor + 1), Ordering::Relaxed);
}

/// The calling thread, those it starts and processes that it forks run on one processor from now on.
pub fn stay_on_one_processor() {
    if STAYS_ON.load(Ordering::Relaxed) != 0 {
        return;
    }
    let mut current = 0_u32;
    let processor = match PROCESSOR.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: the kernel fills a word.
            unsafe { kernel::call(libc::SYS_getcpu, [(&raw mut current) as usize, 0, 0]) };
            current as usize
        }
        chosen => chosen - 1,
    };
    stay_on(processor);
}

/// The same for this processor.
pub fn stay_on(processor: usize) {
    let mut set = [0_u64; 16];
    if processor < 64 * set.len() && STAYS_ON.swap(processor + 1, Ordering::Relaxed) != processor + 1 {
        set[processor / 64] = 1 << (processor % 64);
        // SAFETY: the kernel reads the set. If that is forbidden, turns are only slower.
        unsafe { kernel::call(libc::SYS_sched_setaffinity, [0, size_of_val(&set), set.as_ptr() as usize]) };
    }
}

/// The same if the processor was chosen by [`choose_processor`].
pub fn stay_on_chosen_processor() {
    if PROCESSOR.load(Ordering::Relaxed) != 0 {
        stay_on_one_processor();
    }
}

/// The kernel's number of the thread that ended last, until it is gone.
static DYING: AtomicI32 = AtomicI32::new(0);

/// Nanoseconds between two checks of the thread that has the turn.
const LOOK_AFTER: u64 = 100_000_000;
/// After this many checks, a thread that sleeps with the turn loses it.
const SLEEPS: u32 = 2;
/// A thread loses the turn after this much processor time without a point, in hundredths of a second: it may wait for
/// something that the runtime does not see.
const RUNS: u64 = 300;
/// How often that is done before a deadlock is reported, in a program that handles signals.
const FOR_SIGNALS: u32 = 200;
/// For how many nanoseconds descriptors are polled at a time.
const ASK: u64 = 10_000_000;

const WAIT: usize = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
const WAKE: usize = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;

/// Reserves the seats, and returns whether that was possible.
pub fn reserve() -> bool {
    let first = mapping::map(SEATS * size_of::<Seat>()).cast::<Seat>();
    FIRST.store(first, Ordering::Release);
    !first.is_null()
}

/// A seat.
pub fn seat(place: usize) -> &'static Seat {
    debug_assert!(place < SEATS);
    // SAFETY: the seats are reserved before there is a schedule, stay, and all zeroes is a valid seat.
    unsafe { &*FIRST.load(Ordering::Relaxed).add(place.min(SEATS - 1)) }
}

/// The place of the calling thread, if it takes turns and is not inside.
#[inline(always)]
pub fn place() -> Option<usize> {
    let thread = this_thread::me();
    // SAFETY: the calling thread's own state.
    unsafe {
        (!thread.is_null() && (*thread).special & super::SCHEDULED != 0 && !(*thread).is_inside())
            .then(|| (*thread).place as usize)
    }
}

/// A thread with this number gets a seat.
pub fn sit_down(place: usize, number: u64) {
    let seat = seat(place);
    seat.number.store(number, Ordering::Relaxed);
    seat.tid.store(0, Ordering::Relaxed);
    seat.pc.store(0, Ordering::Relaxed);
    seat.away.store(0, Ordering::Relaxed);
    seat.cancelled.store(0, Ordering::Relaxed);
    seat.busy.store(0, Ordering::Relaxed);
    seat.numbers.store(0, Ordering::Relaxed);
    seat.clock.store(0, Ordering::Relaxed);
    seat.thread.store(std::ptr::null_mut(), Ordering::Relaxed);
    seat.word.store(0, Ordering::Release);
    if place == 0 {
        seat.tid.store(own_tid(), Ordering::Relaxed);
        seat.thread.store(this_thread::me(), Ordering::Relaxed);
    }
}

/// The calling thread runs in another process now.
pub fn sit_down_again() {
    let thread = this_thread::me();
    // SAFETY: the calling thread's own state.
    let place = if thread.is_null() { 0 } else { unsafe { (*thread).place } };
    seat(place as usize).tid.store(own_tid(), Ordering::Relaxed);
}

/// Whether a thread is in a call of unknown duration.
pub fn is_anybody_outside() -> bool {
    with(|turns| (0..turns.places()).any(|place| turns.state(place) == ThreadStatus::Outside)).unwrap_or(false)
}

/// Whether there was ever a second thread.
pub fn has_had_others() -> bool {
    with(|turns| turns.places() > 1).unwrap_or(false)
}

/// How many threads have not ended.
pub fn living() -> usize {
    with(|turns| (0..turns.places()).filter(|&place| turns.state(place) != ThreadStatus::Ended).count()).unwrap_or(1)
}

/// Where the number of points is; 0 if there is no schedule.
pub fn points_at() -> usize {
    TURNS.lock().as_ref().map_or(0, |turns| turns.points_place() as usize)
}

/// The place of the thread with this number, as long as it has not ended.
pub fn find(turns: &Turns, number: u64) -> Option<usize> {
    (0..turns.places()).find(|&place| {
        turns.state(place) != ThreadStatus::Ended && seat(place).number.load(Ordering::Relaxed) == number
    })
}

/// A random number for the thread at place `me` of a steered program.
pub fn own_number(me: usize) -> u64 {
    let count = seat(me).numbers.fetch_add(1, Ordering::Relaxed);
    Random::new((me as u64) << 32 | count).number()
}

/// The time of the thread at place `me` of a steered program, after it has gone on for some nanoseconds.
pub fn own_time(me: usize, nanoseconds: u64) -> u64 {
    seat(me).clock.fetch_add(nanoseconds, Ordering::Relaxed) + nanoseconds
}

/// The clocks of the thread at place `me` of a steered program show at least this time.
pub fn own_time_reaches(me: usize, nanoseconds: u64) {
    seat(me).clock.fetch_max(nanoseconds, Ordering::Relaxed);
}

/// The states of all places, if they can be read now.
pub fn places_if_unlocked() -> Vec<(usize, ThreadStatus)> {
    let turns = TURNS.try_lock();
    let turns = turns.as_ref().and_then(|turns| turns.as_ref());
    turns.map_or_else(Vec::new, |turns| (0..turns.places()).map(|place| (place, turns.state(place))).collect())
}

/// Does something with the schedule; `None` if there is none.
pub fn with<R>(work: impl FnOnce(&mut Turns) -> R) -> Option<R> {
    let _inside: Option<InsideGuard> = this_thread::enter_unwatched();
    TURNS.lock().as_mut().map(work)
}

/// Runs `work` unless the calling thread is in the middle of such work already, because this is a signal handler.
#[inline(always)]
fn once_at_a_time<R>(me: usize, work: impl FnOnce() -> R) -> Option<R> {
    let busy = &seat(me).busy;
    if busy.load(Ordering::Relaxed) != 0 {
        return None;
    }
    busy.store(1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let result = work();
    compiler_fence(Ordering::SeqCst);
    busy.store(0, Ordering::Relaxed);
    Some(result)
}

/// A point of the calling thread.
pub fn point(me: usize, pc: usize, did: PointEffect) {
    once_at_a_time(me, || {
        if steer::is_on() {
            steer::refresh();
        }
        let decision = with(|turns| match turns.running() {
            Some(running) if running == me => Ok(turns.point(me, did, pc as u64 & 0xfff)),
            _ => Err(turns.state(me)),
        });
        match decision {
            Some(Ok(Decision::Stay)) | None => {}
            Some(Ok(decision)) => {
                seat(me).pc.store(pc, Ordering::Relaxed);
                act(me, decision);
            }
            // It lost the turn during a call that the runtime does not see.
            Some(Err(ThreadStatus::Outside)) if seat(me).away.load(Ordering::Relaxed) == 0 => come_back(me),
            // A signal handler of a thread that is outside.
            Some(Err(_)) => {}
        }
    });
}

/// The calling thread waits for an object. Returns whether its time is over.
pub fn wait_for(me: usize, pc: usize, what: WaitsFor, object: usize, until: Option<u64>) -> bool {
    seat(me).what.store(what as u32, Ordering::Relaxed);
    wait(me, pc, WaitReason::Object(object), until)
}

/// The calling thread waits. Returns whether its time is over. A signal handler of a thread that waits itself returns
/// at once.
pub fn wait(me: usize, pc: usize, on: WaitReason, until: Option<u64>) -> bool {
    seat(me).pc.store(pc, Ordering::Relaxed);
    let waited = once_at_a_time(me, || {
        if steer::is_on() {
            steer::settle();
            steer::refresh();
        }
        let decision = with(|turns| (turns.running() == Some(me)).then(|| turns.wait(me, on, until))).flatten()?;
        act(me, decision);
        with(|turns| turns.timed_out(me))
    });
    waited.flatten().unwrap_or_else(|| {
        kernel::yield_now();
        false
    })
}

/// The calling thread waits for one of these descriptors. Returns whether its time is over.
pub fn wait_for_descriptors(me: usize, pc: usize, descriptors: &mut [libc::pollfd], until: Option<u64>) -> bool {
    let polled = &seat(me).polled;
    polled.0.store(descriptors.as_mut_ptr(), Ordering::Relaxed);
    polled.1.store(descriptors.len(), Ordering::Relaxed);
    let over = wait(me, pc, WaitReason::Descriptor, until);
    polled.1.store(0, Ordering::Relaxed);
    over
}

/// The calling thread leaves the schedule, and another thread gets the turn.
pub fn leave(me: usize, pc: usize) {
    let seat = seat(me);
    seat.pc.store(pc, Ordering::Relaxed);
    seat.away.fetch_add(1, Ordering::Relaxed);
    let leave = || with(|turns| (turns.running() == Some(me)).then(|| turns.leave(me))).flatten();
    match once_at_a_time(me, leave).flatten() {
        Some(Decision::Switch(other)) => give(other),
        Some(Decision::Stuck(kind)) => stuck::tell(kind),
        Some(Decision::Cut(end)) => steer::cut(end),
        // No thread polls the kernel while this thread is away; a thread that waits for a descriptor polls again by
        // itself.
        Some(Decision::Ask { .. }) => drop(with(Turns::abandon)),
        _ => {}
    }
}

/// The calling thread returns from where [`leave`] let it go.
pub fn come_back_from(me: usize) {
    if seat(me).away.fetch_sub(1, Ordering::Relaxed) == 1 {
        once_at_a_time(me, || come_back(me));
    }
}

/// The calling thread returns and waits for its turn.
fn come_back(me: usize) {
    let has_turn = with(|turns| turns.state(me) != ThreadStatus::Outside || turns.come_back(me)).unwrap_or(true);
    if !has_turn {
        sleep_until_given(me);
    }
}

/// The first act of a thread: it waits for its turn.
pub fn wait_for_first(me: usize) {
    seat(me).tid.store(own_tid(), Ordering::Release);
    sleep_until_given(me);
}

/// The calling thread ends, and wakes the threads that wait for that.
pub fn end(me: usize, object: usize) {
    DYING.store(own_tid(), Ordering::Relaxed);
    seat(me).thread.store(std::ptr::null_mut(), Ordering::Relaxed);
    if steer::is_on() {
        steer::settle();
        steer::refresh();
    }
    let decision = with(|turns| {
        turns.wake(object, usize::MAX);
        turns.end(me)
    });
    if let Some(decision) = decision {
        act_as_ending(me, decision);
    }
}

/// If no thread has the turn although one could run, that thread gets it.
pub fn resume() {
    let next = with(|turns| if turns.running().is_none() { turns.anybody() } else { None }).flatten();
    if let Some(next) = next {
        give(next);
    }
}

/// Does what the schedule says, until the calling thread has the turn.
fn act(me: usize, mut decision: Decision) {
    let mut patience = 0;
    loop {
        match decision {
            Decision::Stay => return,
            Decision::Switch(other) => {
                give(other);
                return sleep_until_given(me);
            }
            Decision::Idle => return sleep_until_given(me),
            Decision::Ask { limit } => {
                let any = ask(limit);
                match with(|turns| turns.asked(me, any)) {
                    Some(next) => decision = next,
                    None => return,
                }
            }
            Decision::Stuck(kind) if signals_may_help(kind) && patience < FOR_SIGNALS => {
                patience += 1;
                await_signal();
                match with(|turns| turns.asked(me, false)) {
                    Some(next) => decision = next,
                    None => return,
                }
            }
            Decision::Stuck(kind) => stuck::tell(kind),
            Decision::Cut(end) => steer::cut(end),
        }
    }
}

/// The same for a thread that ends, which passes the turn and exits.
fn act_as_ending(me: usize, mut decision: Decision) {
    let mut patience = 0;
    loop {
        let any = match decision {
            Decision::Ask { limit } => ask(limit),
            Decision::Stuck(kind) if signals_may_help(kind) && patience < FOR_SIGNALS => {
                patience += 1;
                await_signal();
                false
            }
            _ => break,
        };
        let Some(next) = with(|turns| turns.asked(me, any)) else { return };
        decision = next;
    }
    match decision {
        Decision::Switch(other) => give(other),
        Decision::Stuck(kind) => stuck::tell(kind),
        Decision::Cut(end) => steer::cut(end),
        _ => {}
    }
}

/// Whether the handler of a signal that arrives may let a thread continue. Threads of a steered program that repeat a
/// waiting loop wait for that, too.
fn signals_may_help(kind: Stalemate) -> bool {
    (kind == Stalemate::Deadlock || steer::is_on()) && signals::are_handled()
}

fn await_signal() {
    ask(None);
    if steer::is_on() {
        steer::refresh();
    }
}

fn give(other: usize) {
    let word = &seat(other).word;
    word.store(1, Ordering::Release);
    // SAFETY: wakes the threads that sleep on this word.
    unsafe { kernel::call(libc::SYS_futex, [word.as_ptr() as usize, WAKE, 1]) };
}

fn sleep_until_given(me: usize) {
    let word = &seat(me).word;
    let mut looks = TurnChecks::default();
    while word.swap(0, Ordering::Acquire) == 0 {
        let limit = libc::timespec { tv_sec: 0, tv_nsec: LOOK_AFTER as i64 };
        // SAFETY: sleeps on this word, for a limited time.
        let result =
            unsafe { kernel::call(libc::SYS_futex, [word.as_ptr() as usize, WAIT, 0, (&raw const limit) as usize]) };
        if result == -(libc::ETIMEDOUT as isize) {
            looks.look();
        }
    }
    await_death();
}

/// Waits until the thread that ended last is gone: it frees its stack and its memory, and both are used again. The first
/// thread stays as a zombie. If it were not one before the last thread ends, the C library would end the process in it.
fn await_death() {
    let dying = DYING.load(Ordering::Relaxed);
    if dying == 0 || dying == own_tid() {
        return;
    }
    let _inside = this_thread::enter_unwatched();
    // SAFETY: signal 0 only checks whether the thread exists.
    let exists = || unsafe { kernel::call(libc::SYS_tgkill, [kernel::process() as usize, dying as usize, 0]) == 0 };
    let is_first = dying == kernel::process();
    let lives = || exists() && !(is_first && matches!(state_of(dying).0, b'Z' | b'X' | 0));
    for _ in 0..100_000 {
        if !lives() {
            break;
        }
        kernel::yield_now();
    }
    DYING.store(0, Ordering::Relaxed);
}

/// Polls the kernel for a while for all descriptors that threads wait for. Returns whether one is ready.
fn ask(limit: Option<u64>) -> bool {
    const MOST: usize = 256;
    let mut all = [const { libc::pollfd { fd: -1, events: 0, revents: 0 } }; MOST];
    let mut used = 0;
    with(|turns| {
        for place in 0..turns.places() {
            if matches!(turns.state(place), ThreadStatus::Waiting { on: WaitReason::Descriptor, .. }) {
                let (first, count) = (&seat(place).polled.0, &seat(place).polled.1);
                for index in 0..count.load(Ordering::Relaxed).min(MOST - used) {
                    // SAFETY: the thread waits, and keeps its descriptors until it continues, which it cannot do now.
                    all[used] = unsafe { *first.load(Ordering::Relaxed).add(index) };
                    used += 1;
                }
            }
        }
    });
    let wait = limit.unwrap_or(ASK).min(ASK);
    let limit = libc::timespec { tv_sec: 0, tv_nsec: wait as i64 };
    // SAFETY: the kernel fills the descriptors, which exist, and reads the limit.
    let ready =
        unsafe { kernel::call(libc::SYS_ppoll, [all.as_mut_ptr() as usize, used, (&raw const limit) as usize, 0, 8]) };
    ready != 0
}

/// Checks the thread that has the turn.
#[derive(Default)]
struct TurnChecks {
    points: u64,
    running: Option<usize>,
    sleeps: u32,
    /// The processor time that it had at the first check.
    time: u64,
}

impl TurnChecks {
    fn look(&mut self) {
        let _inside = this_thread::enter_unwatched();
        let Some((points, running, ready)) = with(|turns| (turns.points(), turns.running(), turns.ready())) else {
            return;
        };
        if (points, running) != (self.points, self.running) || (ready == 0 && running.is_some()) {
            *self = TurnChecks { points, running, ..TurnChecks::default() };
            return;
        }
        let Some(running) = running else {
            with(Turns::abandoned);
            return resume();
        };
        let tid = seat(running).tid.load(Ordering::Acquire);
        if tid == 0 || tid == own_tid() {
            return;
        }
        let (state, time) = state_of(tid);
        match state {
            b'S' => self.sleeps += 1,
            b'R' if self.time == 0 => self.time = time.max(1),
            // The first thread may end before the others, and stays as a zombie.
            b'Z' | b'X' | 0 => self.sleeps = SLEEPS,
            _ => {}
        }
        let runs = self.time != 0 && time.saturating_sub(self.time) >= RUNS;
        if self.sleeps >= SLEEPS || runs {
            file::note(notes::NOT_REPLAYABLE);
            let decision = with(|turns| {
                let same = turns.points() == points && turns.running() == Some(running);
                same.then(|| turns.leave(running))
            });
            if let Some(Some(Decision::Switch(other))) = decision {
                give(other);
            }
            *self = TurnChecks::default();
        }
    }
}

/// Whether any thread that need not wait for others runs, or would run if the machine were not busy with other work.
pub fn somebody_runs() -> bool {
    let may_run = with(|turns| {
        let running = turns.running();
        let may_run = |place: &usize| running == Some(*place) || turns.state(*place) == ThreadStatus::Outside;
        (0..turns.places()).filter(may_run).collect::<Vec<_>>()
    });
    may_run.unwrap_or_default().into_iter().any(|place| !sleeps(place))
}

/// Whether the thread at a place has left the schedule by itself.
pub fn is_away(place: usize) -> bool {
    seat(place).away.load(Ordering::Relaxed) != 0
}

/// Whether the thread at a place sleeps in the kernel, or is gone.
pub fn sleeps(place: usize) -> bool {
    matches!(state_of(tid(place)).0, b'S' | b'Z' | b'X' | 0)
}

/// The letter by which the kernel describes the state of a thread, 0 if there is no such thread; and its processor time
/// in hundredths of a second.
fn state_of(tid: i32) -> (u8, u64) {
    let path = format!("/proc/self/task/{tid}/stat\0");
    let mut text = [0_u8; 512];
    // SAFETY: the path ends with a zero byte, and at most that many bytes are read.
    let length = unsafe {
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        let file = kernel::call(libc::SYS_open, [path.as_ptr() as usize, flags, 0]);
        if file < 0 {
            return (0, 0);
        }
        let length = kernel::call(libc::SYS_read, [file as usize, text.as_mut_ptr() as usize, text.len()]);
        kernel::call(libc::SYS_close, [file as usize]);
        length.max(0) as usize
    };
    let text = &text[..length.min(text.len())];
    let name_ends = text.iter().rposition(|&byte| byte == b')').unwrap_or(0);
    let fields = text.get(name_ends + 2..).unwrap_or_default();
    let number =
        |field: &[u8]| field.iter().fold(0_u64, |sum, &digit| sum * 10 + u64::from(digit.wrapping_sub(b'0') % 10));
    // User and system time are the eleventh and twelfth after the state.
    let time = fields.split(|&byte| byte == b' ').skip(11).take(2).map(number).sum();
    (fields.first().copied().unwrap_or(0), time)
}

pub fn own_tid() -> i32 {
    // SAFETY: has no arguments.
    unsafe { kernel::call(libc::SYS_gettid, []) as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_remembers_what_its_thread_waits_for() {
        // SAFETY: all zeroes is a valid seat.
        let seat: Seat = unsafe { std::mem::zeroed() };
        assert_eq!(seat.waits_for(), WaitsFor::Nothing);
        for what in WaitsFor::ALL {
            seat.what.store(what as u32, Ordering::Relaxed);
            assert_eq!(seat.waits_for(), what);
        }
    }

    #[test]
    fn a_thread_that_looks_at_itself_runs() {
        assert_eq!(state_of(own_tid()).0, b'R');
    }

    #[test]
    fn a_thread_with_any_name_is_read_right() {
        let named = |name: &str| {
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(|| state_of(own_tid())).expect("a thread").join().expect("its state")
        };
        for name in ["plain", "R S T", ") S 1 (", "a) R (b"] {
            let (state, time) = named(name);
            assert_eq!(state, b'R', "{name}");
            assert!(time < 100, "{name}: a new thread has not run for a second");
        }
    }

    #[test]
    fn there_is_no_state_of_a_thread_that_is_gone() {
        assert_eq!(state_of(i32::MAX), (0, 0));
        assert_eq!(state_of(-1), (0, 0));
    }
}
