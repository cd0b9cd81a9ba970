//! Controlled schedules: one thread runs at a time, and the runtime decides which one, not the operating system.
//!
//! `ravelin-schedule` decides. This module reports to it what the threads do ([`point`], [`until`], [`sleep`],
//! [`outside`]) and carries out its decisions ([`turn`]). A thread never waits in the C library. It tries; if that
//! fails, it waits for its turn, until the thread that opens the lock wakes it ([`wake`]). All waiting threads are
//! therefore known, and a state in which none can continue is noticed ([`stuck`]). The time follows from the schedule
//! too ([`time`]).
//!
//! Without a schedule nothing here is reached: the accesses check a word of their thread that they need anyway, and the
//! interposed functions check [`is_on`].

pub mod stuck;
pub mod time;
pub mod turn;

use crate::this_thread;
use ravelin_findings::WaitsFor;
use ravelin_schedule::{PointEffect, Schedule, Turns, WaitReason};
use std::sync::atomic::{AtomicBool, Ordering};
use turn::TURNS;

/// In [`crate::this_thread::WatchedThread::special`]: the thread takes turns.
pub const SCHEDULED: u32 = 1;

static WANTED: AtomicBool = AtomicBool::new(false);
static ON: AtomicBool = AtomicBool::new(false);

/// Sets the schedule that `ravelin run` requested.
pub fn want(schedule: Schedule, livelock: u64, processor: Option<usize>) {
    turn::choose_processor(processor);
    *TURNS.lock() = Some(Turns::new(schedule, livelock));
    WANTED.store(turn::reserve(), Ordering::Release);
}

/// Whether there is a schedule.
#[inline(always)]
pub fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// The program begins, with one thread, which has the turn. From now on its clocks show the time of the schedule, so
/// its waits must end by that time too.
pub fn begin() {
    let thread = this_thread::me();
    if !is_wanted() || is_on() || thread.is_null() {
        return;
    }
    turn::sit_down(0, 0);
    take_place(0);
    ON.store(true, Ordering::Release);
}

/// This process was forked before its second thread: it goes on as if it had been under this schedule from the
/// beginning. Returns whether there is a schedule.
pub fn begin_again(schedule: Schedule, livelock: u64) -> bool {
    turn::sit_down_again();
    turn::with(|turns| *turns = turns.under(schedule, livelock)).is_some() && is_on()
}

/// The program is about to start a second thread.
pub fn begin_several() {
    begin();
    if is_on() {
        turn::stay_on_one_processor();
    }
}

/// This process is a forked child, in which nothing is watched and one thread runs.
pub fn switch_off() {
    ON.store(false, Ordering::Release);
    WANTED.store(false, Ordering::Release);
}

/// The calling thread takes no turns any more: there is no schedule in a forked child.
pub fn leave_place() {
    let thread = this_thread::me();
    if !thread.is_null() {
        // SAFETY: the calling thread's own state.
        unsafe { (*thread).special &= !SCHEDULED };
    }
}

/// Whether threads take turns.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// The place of the calling thread, if it takes turns and is not inside the runtime.
#[inline(always)]
pub fn mine() -> Option<usize> {
    if is_on() { turn::place() } else { None }
}

/// The calling thread takes turns at this place from now on.
pub fn take_place(place: usize) {
    let thread = this_thread::me();
    if !thread.is_null() {
        // SAFETY: the calling thread's own state.
        unsafe {
            (*thread).special |= SCHEDULED;
            (*thread).place = place as u32;
        }
        turn::seat(place).thread.store(thread, Ordering::Release);
    }
}

/// A scheduling point of the calling thread, which made a call that returns to `pc`. What it did since the last point
/// is known from its accesses.
#[inline]
pub fn point(pc: usize) {
    if let Some(me) = mine() {
        turn::point(me, pc, did());
    }
}

/// The same for a thread that lets others run.
pub fn yields(pc: usize) {
    if let Some(me) = mine() {
        turn::point(me, pc, PointEffect::Yield);
    }
}

/// What the calling thread did since its last point: an atomic read leaves a trace, everything else an effect.
fn did() -> PointEffect {
    let thread = this_thread::me();
    // SAFETY: the calling thread's own state.
    match unsafe { (*thread).spin.rounds() } {
        None => PointEffect::Effect,
        Some(rounds) => PointEffect::Look { again: rounds > 0 },
    }
}

/// The time of a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut;

/// The calling thread at place `me` tries something until it succeeds. In between it waits until another thread wakes
/// the waiters of `object`.
pub fn until<R>(
    me: usize,
    pc: usize,
    (what, object): (WaitsFor, usize),
    until: Option<u64>,
    mut attempt: impl FnMut() -> Option<R>,
) -> Result<R, TimedOut> {
    let cancels = matches!(what, WaitsFor::Semaphore | WaitsFor::Thread);
    turn::point(me, pc, PointEffect::Effect);
    loop {
        if cancels {
            end_if_cancelled(me);
        }
        if let Some(result) = attempt() {
            return Ok(result);
        }
        if turn::wait_for(me, pc, what, object, until) {
            return attempt().ok_or(TimedOut);
        }
    }
}

/// The thread with this number was cancelled. If it waits, it continues, and ends where the C library would have let it
/// end.
pub fn cancelled(number: u64) {
    if is_on() {
        turn::with(|turns| {
            if let Some(place) = turn::find(turns, number) {
                turn::seat(place).cancelled.store(1, std::sync::atomic::Ordering::Relaxed);
                turns.rouse(place);
            }
        });
        turn::resume();
    }
}

/// The calling thread ends here if it was cancelled.
pub fn end_if_cancelled(me: usize) {
    if turn::seat(me).cancelled.swap(0, Ordering::Relaxed) != 0 {
        // SAFETY: ends the thread if it may be ended; the frames above have nothing to do.
        unsafe { pthread_testcancel() };
    }
}

unsafe extern "C" {
    fn pthread_testcancel();
}

/// Waits until the thread with this number has ended. Returns false if the time was over first.
pub fn await_end(me: usize, pc: usize, number: u64, limit: Option<u64>) -> bool {
    let ended = || turn::with(|turns| turn::find(turns, number).is_none()).unwrap_or(true).then_some(());
    until(me, pc, (WaitsFor::Thread, end_of(number)), limit, ended).is_ok()
}

/// The calling thread waits until another thread wakes it, or the time is over. Returns whether it is.
pub fn wait(me: usize, pc: usize, (what, object): (WaitsFor, usize), until: Option<u64>) -> bool {
    turn::wait_for(me, pc, what, object, until)
}

/// The calling thread sleeps until this time of the schedule.
pub fn sleep(me: usize, pc: usize, until: u64) {
    turn::point(me, pc, PointEffect::Look { again: false });
    end_if_cancelled(me);
    turn::wait(me, pc, WaitReason::Time, Some(until));
    end_if_cancelled(me);
}

/// Lets all threads that wait for this object try again.
pub fn wake(object: usize) {
    wake_some(object, usize::MAX);
}

/// Lets some of the threads that wait for this object continue, and returns how many.
pub fn wake_some(object: usize, most: usize) -> usize {
    if !is_on() {
        return 0;
    }
    let woken = turn::with(|turns| turns.wake(object, most)).unwrap_or(0);
    turn::resume();
    woken
}

/// Something was done to a descriptor.
pub fn descriptor_changed() {
    if is_on() {
        turn::with(Turns::descriptors);
        turn::resume();
    }
}

/// The calling thread does something that may take any time, while others run. When it returns depends on what it
/// waited for.
pub fn outside<R>(pc: usize, work: impl FnOnce() -> R) -> R {
    let Some(me) = mine() else {
        return work();
    };
    turn::point(me, pc, PointEffect::Effect);
    turn::leave(me, pc);
    let result = work();
    turn::come_back_from(me);
    result
}

/// The object that threads wait for to join a thread.
pub fn end_of(number: u64) -> usize {
    // No address has its highest bit set in a program.
    1 << 63 | number as usize
}

/// The thread that was started with this number has a place from now on.
pub fn started(number: u64) -> Option<usize> {
    if !is_on() {
        return None;
    }
    let place = turn::with(Turns::add)?;
    turn::sit_down(place, number);
    Some(place)
}

/// The thread at `place` ends; no code of the program runs in it after this.
pub fn ended(place: usize, number: u64) {
    turn::end(place, end_of(number));
}

/// The number of points so far, and a hash that distinguishes runs.
pub fn progress() -> (u64, u64) {
    if is_wanted() { turn::with(|turns| (turns.points(), turns.trail())).unwrap_or((0, 0)) } else { (0, 0) }
}

/// Bytes that are as random as the schedule: the same in every run of it, and before the second thread in every run.
pub fn random_bytes(to: &mut [u8]) {
    for chunk in to.chunks_mut(8) {
        let number = turn::with(Turns::number).unwrap_or(0).to_ne_bytes();
        chunk.copy_from_slice(&number[..chunk.len()]);
    }
}
