//! Controlled schedules: one thread runs at a time, and the runtime decides which one, not the operating system.
//!
//! `ravelin-schedule` decides. This module reports to it what the threads do ([`point`], [`until`], [`sleep`],
//! [`outside`]) and carries out its decisions ([`turn`]). A thread never waits in the C library. It tries; if that
//! fails, it waits for its turn, until the thread that opens the lock wakes it ([`wake`]). All waiting threads are
//! therefore known, and a state in which none can continue is noticed ([`stuck`]). The time follows from the schedule
//! too ([`time`]).
//!
//! If the steps of a run are given ([`steer`]), every step is announced and written down, and each function here says
//! which one it is.
//!
//! Without a schedule nothing here is reached: the accesses check a word of their thread that they need anyway, and the
//! interposed functions check [`is_on`].

pub mod arrivals;
pub mod steer;
pub mod stuck;
pub mod time;
pub mod turn;

use crate::special::{NextAccess, NextAct};
use crate::{server, this_thread, weak};
use ravelin_clocks::{AtomicOrder, MessageAccess};
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_findings::steering::{SteeredEnd, doubts};
use ravelin_findings::{RecordedOrder, WaitsFor};
use ravelin_schedule::{PointEffect, Schedule, Turns, WaitReason};
use std::sync::atomic::{AtomicBool, Ordering};
use steer::Arrival;
use turn::TURNS;

/// In [`crate::this_thread::WatchedThread::special`]: the thread takes turns.
pub const SCHEDULED: u32 = 1;

static WANTED: AtomicBool = AtomicBool::new(false);
static ON: AtomicBool = AtomicBool::new(false);

/// Sets the schedule that `ravelin run` requested.
pub fn want(schedule: Schedule, livelock: u64, processor: Option<usize>) {
    turn::choose_processor(processor);
    weak::begin(schedule);
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

/// The program was started for one run whose steps are given. `arena` is where they are.
pub fn open_steering(arena: Option<&[u8]>) -> bool {
    let is_steered = turn::with(|turns| turns.steering().is_some()).unwrap_or(false);
    is_steered && arena.is_some_and(steer::open)
}

/// The program is about to start its second thread: from now on its steps are given, if they are there.
fn begin_steering() {
    if turn::with(|turns| turns.steering().is_some()).unwrap_or(false) && steer::begin() {
        let thread = this_thread::me();
        // SAFETY: the calling thread's own state.
        unsafe { (*thread).special |= steer::STEERED };
    }
}

/// The program says that runs begin here. Only the first time counts. With one thread so far nothing changes: the steps are
/// given from the start of the second one on, and nothing is to be chosen before.
pub fn begin_runs() {
    if !steer::mark() || !steer::is_on() || mine().is_none() {
        return;
    }
    if steer::is_from_mark() {
        server::stand();
        begin_steering();
        if turn::is_anybody_outside() {
            steer::doubt(doubts::UNKNOWN_WAIT);
        }
    }
    steer::doubt(doubts::BEGINS);
}

/// The program says that runs end here. Only the first time counts. The other threads go as far as they can first, as if
/// the process ended: what they can do before this is a part of the runs.
pub fn end_runs() {
    if let Some(me) = mine()
        && steer::is_on()
        && !steer::waits_for_mark()
        && !steer::has_ended()
    {
        step_after_others(me);
        steer::end_at_mark();
    }
}

/// This process was forked where runs begin: it goes on as if it had been under this schedule from the beginning. Returns whether there is a schedule.
pub fn begin_again(schedule: Schedule, livelock: u64) -> bool {
    turn::sit_down_again();
    weak::begin(schedule);
    turn::with(|turns| *turns = turns.under(schedule, livelock)).is_some() && is_on()
}

/// The program is about to start a second thread.
pub fn begin_several() {
    begin();
    if is_on() {
        turn::stay_on_one_processor();
        begin_steering();
    }
}

/// This process is a forked child, in which nothing is watched and one thread runs.
pub fn switch_off() {
    ON.store(false, Ordering::Release);
    WANTED.store(false, Ordering::Release);
    steer::switch_off();
    weak::switch_off();
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
            (*thread).special |= if steer::is_on() { SCHEDULED | steer::STEERED } else { SCHEDULED };
            (*thread).place = place as u32;
        }
        turn::seat(place).thread.store(thread, Ordering::Release);
    }
}

/// A scheduling point of the calling thread, which made a call that returns to `pc`. What it did since the last point
/// is known from its accesses.
/// If the steps are given it is one that others cannot see.
#[inline]
pub fn point(pc: usize) {
    before(pc, Act::Local, 0);
}

/// The same before an operation on an object.
#[inline]
pub fn before(pc: usize, act: Act, object: usize) {
    before_ordered(pc, act, object, RecordedOrder::Plain);
}

/// The same for an operation that is a plain store of the machine, and so no fence. The order of its event says so.
pub fn before_store(pc: usize, act: Act, object: usize) {
    before_ordered(pc, act, object, RecordedOrder::Release);
}

fn before_ordered(pc: usize, act: Act, object: usize, order: RecordedOrder) {
    if let Some(me) = mine() {
        if steer::is_on() {
            let mut event = steer::object(me, pc, act, object);
            event.operation.order = order;
            step(me, event);
        } else {
            turn::point(me, pc, did());
        }
    }
}

/// The same after something that is one step with the point before it, if the steps are given.
#[inline]
pub fn point_unless_steered(pc: usize) {
    if !steer::is_on() {
        point(pc);
    }
}

/// The same for a thread that lets others run.
pub fn yields(pc: usize) {
    if let Some(me) = mine() {
        if steer::is_on() {
            step(me, steer::object(me, pc, Act::Local, 0));
        } else {
            turn::point(me, pc, PointEffect::Yield);
        }
    }
}

/// After an attempt that did not wait: a thread that failed lets others run. If the steps are given, this says what the
/// step was that began with [`before`].
pub fn attempted(pc: usize, act: Act, succeeded: bool) {
    if steer::is_on() {
        steer::attempted(if succeeded { act } else { Act::LockFails });
    } else if !succeeded {
        yields(pc);
    }
}

/// The operation that began with [`before`] only had to look at its object, and so was no fence. The order of its event
/// says so.
pub fn only_looked() {
    if steer::is_on() {
        steer::only_looked();
    }
}

/// A step of a steered thread that need not wait.
fn step(me: usize, event: RunEvent) {
    steer::announce(me, event, 0);
    turn::point(me, event.pc as usize, PointEffect::Effect);
    steer::stepped(me);
}

/// A scheduling point before an atomic access. A compare-exchange has an order for success and one for failure.
pub fn access(access: NextAccess, orders: [AtomicOrder; 2]) {
    let Some(me) = mine() else {
        return;
    };
    if steer::is_on() { steer_access(me, access, orders) } else { turn::point(me, access.pc, did()) }
}

/// The step of a steered thread that is an atomic access. If the thread has gone round a loop it waits until that can
/// have ended.
fn steer_access(me: usize, access: NextAccess, orders: [AtomicOrder; 2]) {
    let NextAccess { pc, address, size, act } = access;
    match steer::arrive(me, access, orders.map(steer::recorded)) {
        Arrival::GoesOn => turn::point(me, pc, PointEffect::Effect),
        Arrival::WentRound => {
            turn::wait(me, pc, WaitReason::Memory, None);
            steer::begins_round(me);
        }
        Arrival::TooOften => steer::cut(SteeredEnd::Unrolled),
    }
    // An exchange that finds what it writes is how some locks wait.
    let repeats = matches!(act, NextAct::Exchange(new) if steer::value_at(address, size) == new);
    steer::stepped_by_access(me, repeats);
}

/// The compare-exchange that the calling thread is about to make has these orders for success and failure.
pub fn exchange_orders(success: AtomicOrder, failure: AtomicOrder) {
    if let Some(me) = mine().filter(|_| steer::is_on()) {
        steer::exchange_orders(me, [success, failure].map(steer::recorded));
    }
}

/// The step of a steered thread that is an atomic access of the standard library. Without given steps such an access is
/// no scheduling point.
pub fn library_access(me: usize, next: NextAccess) {
    let (act, flag, expected) = match next.act {
        NextAct::Load => (Act::Load, 0, 0),
        NextAct::Store => (Act::Store, 0, 0),
        NextAct::Update | NextAct::Exchange(_) => (Act::Update, 0, 0),
        NextAct::CompareExchange(expected) => (Act::Update, flags::COMPARES, expected),
    };
    let mut event = steer::object(me, next.pc, act, next.address);
    event.operation.size = next.size as u32;
    event.operation.order = RecordedOrder::Relaxed;
    event.flags = flags::UNCHECKED | flag;
    steer::announce(me, event, expected);
    turn::point(me, next.pc, PointEffect::Effect);
    steer::stepped(me);
}

/// What that access did.
pub fn library_accessed(touch: MessageAccess, order: AtomicOrder, read: u64, written: u64) {
    let act = match touch {
        MessageAccess::Load => Act::Load,
        MessageAccess::Store => Act::Store,
        MessageAccess::Update => Act::Update,
    };
    steer::accessed(act, steer::recorded(order), read, written);
}

/// A scheduling point of a steered thread before compiled code of the standard library does something to these bytes.
pub fn library_touches(address: usize, size: usize) {
    if let Some(me) = mine().filter(|_| steer::is_on()) {
        let mut event = steer::object(me, 0, Act::Touch, address);
        event.operation.size = size as u32;
        step(me, event);
    }
}

/// A scheduling point before a fence.
pub fn fence(pc: usize, order: AtomicOrder) {
    let Some(me) = mine() else {
        return;
    };
    if steer::is_on() {
        let mut event = steer::object(me, pc, Act::Fence, 0);
        event.operation.order = steer::recorded(order);
        step(me, event);
    } else {
        turn::point(me, pc, did());
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
///
/// `act` is the step that succeeds.
pub fn until<R>(
    me: usize,
    pc: usize,
    act: Act,
    (what, object): (WaitsFor, usize),
    until: Option<u64>,
    mut attempt: impl FnMut() -> Option<R>,
) -> Result<R, TimedOut> {
    let cancels = matches!(what, WaitsFor::Semaphore | WaitsFor::Thread);
    if steer::is_on() {
        announce_wait(me, pc, act, if act == Act::Join { object & !(1 << 63) } else { object }, until);
    }
    turn::point(me, pc, PointEffect::Effect);
    loop {
        if cancels {
            end_if_cancelled(me);
        }
        if let Some(result) = attempt() {
            steer_stepped(me);
            return Ok(result);
        }
        if turn::wait_for(me, pc, what, object, until) {
            let result = attempt();
            if result.is_none() && steer::is_on() {
                steer::timed_out(me);
            }
            steer_stepped(me);
            return result.ok_or(TimedOut);
        }
    }
}

fn announce_wait(me: usize, pc: usize, act: Act, object: usize, until: Option<u64>) {
    let mut event = steer::object(me, pc, act, object);
    if until.is_some() {
        event.flags |= flags::TIMED;
    }
    steer::announce(me, event, 0);
}

fn steer_stepped(me: usize) {
    if steer::is_on() {
        steer::stepped(me);
    }
}

/// The thread with this number was cancelled. If it waits, it continues, and ends where the C library would have let it
/// end.
pub fn cancelled(number: u64) {
    if is_on() {
        steer::doubt(doubts::CANCELLED);
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
    until(me, pc, Act::Join, (WaitsFor::Thread, end_of(number)), limit, ended).is_ok()
}

/// The calling thread waits until another thread wakes it, or the time is over. Returns whether it is.
pub fn wait(me: usize, pc: usize, (what, object): (WaitsFor, usize), until: Option<u64>) -> bool {
    wait_in(me, pc, (what, object), until, object)
}

/// The same for one of several things that threads wait for at an object.
pub fn wait_in(me: usize, pc: usize, (what, thing): (WaitsFor, usize), until: Option<u64>, object: usize) -> bool {
    if !steer::is_on() {
        return turn::wait_for(me, pc, what, thing, until);
    }
    announce_wait(me, pc, Act::Take, object, until);
    let over = turn::wait_for(me, pc, what, thing, until);
    turn::with(|turns| turns.taken(me));
    if over {
        steer::timed_out(me);
        // Otherwise a program that looks whether the time is over would find that it is not.
        turn::own_time_reaches(me, until.unwrap_or(0));
    }
    steer::stepped(me);
    over
}

/// The calling thread will wait for an object as soon as it has opened a lock: from now on it can be woken.
pub fn will_wait(me: usize, object: usize) {
    if steer::is_on() {
        turn::with(|turns| {
            if let Some(steering) = turns.steering() {
                steering.register(me, object);
            }
        });
    }
}

/// The calling thread sleeps until this time of the schedule.
pub fn sleep(me: usize, pc: usize, until: u64) {
    if steer::is_on() {
        // How long a thread sleeps orders nothing.
        step(me, steer::object(me, pc, Act::Local, 0));
        return end_if_cancelled(me);
    }
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
    steer::doubt(doubts::UNKNOWN_WAIT);
    before(pc, Act::Local, 0);
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
    if steer::is_on() {
        crate::library::scope::started(number);
        steer::started(place);
        steer::announce(place, steer::object(place, 0, Act::Local, 0), 0);
    }
    Some(place)
}

/// The calling thread, which has the place `me`, begins.
pub fn begins(me: usize) {
    turn::wait_for_first(me);
    steer_stepped(me);
}

/// The calling thread ends the process. If the steps are given, the other threads go as far as they can first: a run
/// that ends earlier does nothing that this one does not do.
pub fn exits() {
    if let Some(me) = mine()
        && steer::is_on()
    {
        step_after_others(me);
    }
}

/// The last step of a run, when the other threads have ended or wait.
fn step_after_others(me: usize) {
    steer::announce(me, steer::object(me, 0, Act::Exit, 0), 0);
    turn::wait(me, 0, WaitReason::Others, None);
    steer::stepped(me);
}

/// Whether all other threads have ended.
pub fn is_last() -> bool {
    turn::living() == 1
}

/// The thread at `place` ends; no code of the program runs in it after this.
pub fn ended(place: usize, number: u64) {
    turn::end(place, end_of(number));
}

/// The thread at `place` is about to end.
pub fn ends(place: usize) {
    if steer::is_on() {
        step(place, steer::object(place, 0, Act::End, place));
    }
}

/// The number of points so far, and a hash that distinguishes runs.
pub fn progress() -> (u64, u64) {
    if is_wanted() { turn::with(|turns| (turns.points(), turns.trail())).unwrap_or((0, 0)) } else { (0, 0) }
}

/// Bytes that are as random as the schedule: the same in every run of it, and before the second thread in every run.
pub fn random_bytes(to: &mut [u8]) {
    for chunk in to.chunks_mut(8) {
        let number = match mine().filter(|_| steer::is_on()) {
            Some(me) => turn::own_number(me),
            None => turn::with(Turns::number).unwrap_or(0),
        };
        let number = number.to_ne_bytes();
        chunk.copy_from_slice(&number[..chunk.len()]);
    }
}
