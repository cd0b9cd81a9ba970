//! Steered runs, for `ravelin verify`: the steps of a run are given, and every step is written down.
//!
//! A thread says what it is about to do ([`announce`]) before it asks for the turn, and that it does so
//! ([`stepped`]) when it has it. So at any time it is known what each thread would do next, which wakes threads that are
//! asleep, and which is written down when the run ends. One thread runs at a time, and passing the turn orders
//! everything here.
//!
//! A thread that comes back to an atomic access in the same state as before, and has done nothing in between that
//! others can see, goes round a waiting loop ([`rounds`]). What it read is no step, and it does not run before one of
//! the values has changed. Until it is known whether a load is part of such a round it wakes no thread.
//!
//! The steps are given from the start of the second thread on. A program can say that runs begin later ([`mark`]). If that
//! is known ([`begin_at_mark`]), nothing is given until then, threads take turns as after a script, and what was written
//! down is forgotten when the program says so. In the same way it can say that runs end ([`end_at_mark`]): threads take
//! turns as after a script, and what they do is not told.

use super::{arrivals, turn};
use crate::special::{NextAccess, NextAct};
use crate::spin::Spin;
use crate::{mapping, place, this_thread};
use ravelin_clocks::AtomicOrder;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use ravelin_findings::steering::{self, SteeredEnd};
use ravelin_findings::{RecordedOrder, arena};
use ravelin_schedule::ThreadStatus;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// In [`crate::this_thread::WatchedThread::special`]: the steps of the thread are given.
pub const STEERED: u32 = 4;

/// Where the memory that is shared with `ravelin verify` is mapped, beside the head of the arena.
const AREA_AT: usize = 0x6d00_1000_0000;
/// The most threads of a run.
const THREADS: usize = steering::MOST_SLEEPERS;

static AREA: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
static ON: AtomicBool = AtomicBool::new(false);
/// What each thread is about to do.
static PENDING: AtomicPtr<Pending> = AtomicPtr::new(std::ptr::null_mut());
/// The last event of the run that was written.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);
/// Loads of the running thread that may be parts of a round: numbers of events.
static TENTATIVE: Spin<Vec<usize>> = Spin::new(Vec::new());
/// Threads that wait for another value in memory, and what they have read.
static AWAITING: Spin<Vec<(usize, Vec<SeenValue>)>> = Spin::new(Vec::new());

/// What a thread is about to do.
#[derive(Clone, Copy)]
pub struct Pending {
    pub event: RunEvent,
    /// For a compare-exchange: the value that it expects.
    pub expected: u64,
    /// And its orders for success and failure.
    pub orders: [RecordedOrder; 2],
    /// It has done this, and what it does next is not known yet.
    pub done: bool,
}

/// A value that a thread has read.
#[derive(Clone, Copy)]
pub struct SeenValue {
    pub address: usize,
    pub size: usize,
    pub value: u64,
}

impl SeenValue {
    fn is_still_there(&self) -> bool {
        value_at(self.address, self.size) == self.value
    }
}

/// Runs begin where the program says so.
static FROM_MARK: AtomicBool = AtomicBool::new(false);
/// The program has said that runs begin.
static MARKED: AtomicBool = AtomicBool::new(false);
/// How many events had been written when the program said that runs end; 0 if it has not.
static ENDED_AT: AtomicUsize = AtomicUsize::new(0);
/// How often the events before the beginning or after the end were forgotten because there was no room for more.
static ROUNDS_OUTSIDE: AtomicUsize = AtomicUsize::new(0);

/// Runs begin where the program says so, and not at the start of its second thread.
pub fn begin_at_mark() {
    FROM_MARK.store(true, Ordering::Relaxed);
}

/// Whether runs begin where the program says so.
pub fn is_from_mark() -> bool {
    FROM_MARK.load(Ordering::Relaxed)
}

/// Whether runs begin where the program says so, and it has not.
pub fn waits_for_mark() -> bool {
    is_from_mark() && !MARKED.load(Ordering::Relaxed)
}

/// The program says that runs begin. Returns whether it does so for the first time.
pub fn mark() -> bool {
    !MARKED.swap(true, Ordering::Relaxed)
}

/// Whether the program has said that runs end.
pub fn has_ended() -> bool {
    ENDED_AT.load(Ordering::Relaxed) != 0
}

/// The program has said that runs end: the last event was this step. What threads would do next is written down, and what
/// they do from now on is not.
pub fn end_at_mark() {
    settle();
    write_pending();
    turn::with(|turns| {
        if let Some(steering) = turns.steering() {
            steering.wake(|_| true);
        }
    });
    ENDED_AT.store(WRITTEN.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether the steps are given.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Maps the memory that is shared with `ravelin verify`, which lies in the last segment of the arena.
pub fn open(arena_path: &[u8]) -> bool {
    let area = place::with_arena(arena_path, |file, head| {
        let last = head[arena::SEGMENTS].load(Ordering::Relaxed).saturating_sub(1);
        mapping::map_file_at(AREA_AT, file, steering::BYTES, arena::offset(last) as usize)
    });
    let pending = mapping::map(THREADS * size_of::<Pending>());
    let Some(area) = area.filter(|area| !area.is_null() && !pending.is_null()) else { return false };
    AREA.store(area.cast(), Ordering::Relaxed);
    PENDING.store(pending.cast(), Ordering::Relaxed);
    word(steering::MAGIC_AT).load(Ordering::Relaxed) == steering::MAGIC
}

/// The steps of this run are given from now on. Returns whether they are there.
pub fn begin() -> bool {
    if AREA.load(Ordering::Relaxed).is_null() {
        return false;
    }
    let list = |count: usize, at: usize, most: usize| {
        let count = (word(count).load(Ordering::Relaxed) as usize).min(most);
        (0..count).map(|index| word(at + index).load(Ordering::Relaxed)).collect::<Vec<u64>>()
    };
    let _inside = this_thread::enter_unwatched();
    let (mut choices, mut sleepers) = (Vec::new(), Vec::new());
    if !waits_for_mark() {
        choices = list(steering::CHOICES, steering::SCRIPT, steering::MOST_CHOICES);
        sleepers = list(steering::ASLEEP, steering::SLEEPERS, steering::MOST_SLEEPERS);
    }
    let sleepers = sleepers.into_iter().map(|thread| thread as usize).collect();
    let seed = if waits_for_mark() { 0 } else { word(steering::SEED).load(Ordering::Relaxed) };
    for index in [steering::END, steering::DOUBTS] {
        word(index).store(0, Ordering::Relaxed);
    }
    forget_events();
    let begun = turn::with(|turns| turns.steer(choices, sleepers, seed)).is_some();
    ON.store(begun, Ordering::Release);
    begun
}

/// Whether the step that the calling thread has just begun is the one that is to be stale.
pub fn is_stale() -> bool {
    is_last(steering::STALE)
}

/// Whether that step writes what the stale one reads.
pub fn is_stale_source() -> bool {
    is_last(steering::STALE_SOURCE)
}

/// What the stale step reads.
pub fn stale_value() -> u64 {
    word(steering::STALE_VALUE).load(Ordering::Relaxed)
}

fn is_last(index: usize) -> bool {
    let number = word(index).load(Ordering::Relaxed);
    number != 0 && !waits_for_mark() && number == WRITTEN.load(Ordering::Relaxed) as u64
}

/// Forgets all events, or those after the end. Numbers of events that threads remember are not valid any more; a thread
/// that goes round a loop needs another round for that to be noticed.
fn forget_events() {
    let kept = ENDED_AT.load(Ordering::Relaxed);
    WRITTEN.store(kept, Ordering::Relaxed);
    word(steering::EVENT_COUNT).store(kept as u64, Ordering::Relaxed);
    TENTATIVE.lock().clear();
    for (place, status) in turn::places_if_unlocked() {
        let thread = turn::seat(place).thread.load(Ordering::Relaxed);
        if status != ThreadStatus::Ended && !thread.is_null() {
            // SAFETY: the thread has not ended, and does not run: the calling thread has the turn, and uses nothing of
            // its own arrivals now.
            unsafe { (*thread).arrivals = arrivals::Arrivals::new() };
        }
    }
}

/// This process is a forked child of a steered one: its steps are not given.
pub fn switch_off() {
    ON.store(false, Ordering::Release);
}

/// Other runs may exist, for one of the reasons in [`steering::doubts`].
pub fn doubt(reason: u64) {
    if is_on() {
        word(steering::DOUBTS).fetch_or(reason, Ordering::Relaxed);
    }
}

/// An event of the thread at place `me` that is no access to memory of the program.
pub fn object(me: usize, pc: usize, act: Act, object: usize) -> RunEvent {
    let operation = RunOperation { act, order: RecordedOrder::Plain, address: object as u64, size: 1 };
    RunEvent { thread: me as u32, operation, flags: 0, read: 0, written: 0, pc: pc as u64, state: 0 }
}

/// The thread at place `me` is about to do this.
pub fn announce(me: usize, event: RunEvent, expected: u64) {
    if me < THREADS {
        // SAFETY: there is room for that many; the calling thread has the turn, or is about to start that thread.
        unsafe {
            PENDING.load(Ordering::Relaxed).add(me).write(Pending {
                event,
                expected,
                orders: [RecordedOrder::Plain; 2],
                done: false,
            })
        };
    }
}

/// The compare-exchange of the thread at place `me` has these orders for success and failure.
pub fn exchange_orders(me: usize, orders: [RecordedOrder; 2]) {
    // SAFETY: as in `announce`.
    unsafe { (*PENDING.load(Ordering::Relaxed).add(me.min(THREADS - 1))).orders = orders };
}

/// What the thread at a place is about to do.
pub fn pending(place: usize) -> RunEvent {
    let place = place.min(THREADS - 1);
    // SAFETY: there is room for that many, and every thread that takes turns has announced something.
    let Pending { mut event, expected, .. } = unsafe { PENDING.load(Ordering::Relaxed).add(place).read() };
    if event.is(flags::COMPARES) {
        let (address, size) = (event.operation.address as usize, event.operation.size as usize);
        let found = value_at(address, size);
        event.operation.act = if found == expected { Act::Update } else { Act::Load };
        event.written = expected;
    }
    event
}

/// The calling thread makes the step that it has announced.
pub fn stepped(me: usize) {
    stepped_by_access(me, false);
}

/// The same for an access that may be an unsuccessful attempt of a waiting loop, if it `repeats` what is there.
pub fn stepped_by_access(me: usize, repeats: bool) {
    let _inside = this_thread::enter_unwatched();
    let mut event = pending(me);
    if event.operation.act == Act::Store {
        event.read = value_at(event.operation.address as usize, event.operation.size as usize);
        event.flags |= flags::OVERWRITES;
    }
    let index = write(event);
    // SAFETY: as in `announce`.
    unsafe { (*PENDING.load(Ordering::Relaxed).add(me.min(THREADS - 1))).done = true };
    let in_script = turn::with(|turns| {
        let steering = turns.steering()?;
        let in_script = steering.is_in_script();
        steering.stepped(event.operation.act.is_visible());
        Some(in_script)
    });
    let may_be_round = matches!(event.operation.act, Act::Load | Act::Local) || repeats;
    if may_be_round && in_script != Some(Some(true)) {
        TENTATIVE.lock().push(index);
    } else {
        settle();
        wake_sleepers(&event.operation);
    }
}

/// The loads of the running thread were steps.
pub fn settle() {
    for index in std::mem::take(&mut *TENTATIVE.lock()) {
        wake_sleepers(&read(index).operation);
    }
}

/// From this event on, what the running thread did was a round of a waiting loop. Returns what it read in it.
fn went_round(me: usize, first: usize) -> Vec<SeenValue> {
    TENTATIVE.lock().retain(|index| *index < first);
    settle();
    let mut seen = Vec::new();
    for index in first..WRITTEN.load(Ordering::Relaxed) {
        let mut event = read(index);
        if event.thread == me as u32 {
            event.flags |= flags::ROUND;
            overwrite(index, event);
            let RunOperation { act, address, size, .. } = event.operation;
            if matches!(act, Act::Load | Act::Update) {
                seen.push(SeenValue { address: address as usize, size: size as usize, value: event.read });
            }
        }
    }
    seen
}

/// Whether a thread has made too many loads without an effect.
fn is_unrolled(loads: u64) -> bool {
    let most = word(steering::UNROLL).load(Ordering::Relaxed);
    most != 0 && loads > most
}

/// The order of an access, as it is written down.
pub fn recorded(order: AtomicOrder) -> RecordedOrder {
    match order {
        AtomicOrder::Relaxed => RecordedOrder::Relaxed,
        AtomicOrder::Acquire => RecordedOrder::Acquire,
        AtomicOrder::Release => RecordedOrder::Release,
        AtomicOrder::AcqRel => RecordedOrder::AcqRel,
        AtomicOrder::SeqCst => RecordedOrder::SeqCst,
    }
}

/// What a thread does that has arrived at an atomic access.
pub enum Arrival {
    /// It makes the access.
    GoesOn,
    /// It has gone round a waiting loop, and waits for another value.
    WentRound,
    /// It has made too many loads without an effect.
    TooOften,
}

/// The calling thread, at place `me`, is about to make an atomic access.
pub fn arrive(me: usize, access: NextAccess, orders: [RecordedOrder; 2]) -> Arrival {
    let Some(mut inside) = this_thread::enter_unwatched() else { return Arrival::GoesOn };
    let thread = inside.thread();
    let NextAccess { pc, address, size, act } = access;
    let (act, expected) = match act {
        NextAct::Load => (Act::Load, None),
        NextAct::Store => (Act::Store, None),
        NextAct::Update | NextAct::Exchange(_) => (Act::Update, None),
        NextAct::CompareExchange(expected) => (Act::Update, Some(expected)),
    };
    let awaited = match act {
        Act::Load => thread.mark.waits_for(address),
        _ => expected.filter(|_| thread.mark.blocks_on(address)),
    };
    let state = match awaited {
        _ if act == Act::Store => 0,
        // Nothing else in the loop matters.
        Some(value) => arrivals::marked_state(address, value, thread.mark.wait_number()),
        None => arrivals::state(pc, thread.stack, thread.base),
    };
    let operation = RunOperation { act, order: orders[0], address: address as u64, size: size as u32 };
    let mut flags = if expected.is_some() { flags::COMPARES } else { 0 };
    if awaited.is_some() {
        flags |= flags::WAITS;
    }
    let written = awaited.unwrap_or(0);
    let event = RunEvent { thread: me as u32, operation, flags, read: 0, written, pc: pc as u64, state };
    announce(me, event, expected.unwrap_or(0));
    exchange_orders(me, orders);
    if act == Act::Store {
        return Arrival::GoesOn;
    }
    match thread.arrivals.arrive(state, next_event(), thread.spin.effects()) {
        Some(first) => {
            let seen = went_round(me, first);
            if seen.iter().all(SeenValue::is_still_there) {
                AWAITING.lock().push((me, seen));
                return Arrival::WentRound;
            }
            // It reads something else already, for example after a compare-exchange failed by what is gone now.
            thread.arrivals.arrive(state, next_event(), thread.spin.effects());
            Arrival::GoesOn
        }
        None if is_unrolled(thread.arrivals.loads()) => Arrival::TooOften,
        None => Arrival::GoesOn,
    }
}

/// The calling thread has waited for another value, and makes the access at which its round began.
pub fn begins_round(me: usize) {
    if let Some(mut inside) = this_thread::enter_unwatched() {
        let thread = inside.thread();
        let state = pending(me).state;
        thread.arrivals.arrive(state, next_event(), thread.spin.effects());
    }
}

/// Threads that wait for a value that has changed can run.
pub fn refresh() {
    let _inside = this_thread::enter_unwatched();
    let mut changed = Vec::new();
    AWAITING.lock().retain(|(thread, seen)| {
        let waits = seen.iter().all(SeenValue::is_still_there);
        if !waits {
            changed.push(*thread);
        }
        waits
    });
    for thread in changed {
        turn::with(|turns| turns.rouse(thread));
    }
}

fn wake_sleepers(operation: &RunOperation) {
    turn::with(|turns| {
        if let Some(steering) = turns.steering()
            && !steering.asleep().is_empty()
        {
            steering.wake(|sleeper| operation.conflicts(&pending(sleeper).operation));
        }
    });
}

/// The last event of a thread is an atomic access that did this.
pub fn accessed(act: Act, order: RecordedOrder, read_value: u64, written: u64) {
    let last = WRITTEN.load(Ordering::Relaxed);
    if last > 0 {
        let mut event = read(last - 1);
        event.operation.act = act;
        event.operation.order = order;
        if event.is(flags::COMPARES) {
            let place = (event.thread as usize).min(THREADS - 1);
            // SAFETY: as in `pending`.
            let [success, failure] = unsafe { (*PENDING.load(Ordering::Relaxed).add(place)).orders };
            event.flags |= flags::other_order(if act == Act::Update { failure } else { success });
        }
        // The value before a store is noted when the step is made.
        if act != Act::Store {
            event.read = read_value;
        }
        if act != Act::Load || !event.is(flags::WAITS) {
            event.written = written;
        }
        overwrite(last - 1, event);
    }
}

/// The last event was an attempt that did not wait.
pub fn attempted(act: Act) {
    let last = WRITTEN.load(Ordering::Relaxed);
    if last > 0 {
        let mut event = read(last - 1);
        event.operation.act = act;
        event.flags |= flags::TRIES;
        overwrite(last - 1, event);
    }
}

/// The last event was an operation on an object that only looked at it.
pub fn only_looked() {
    let last = WRITTEN.load(Ordering::Relaxed);
    if last > 0 {
        let mut event = read(last - 1);
        event.operation.order = RecordedOrder::Relaxed;
        overwrite(last - 1, event);
    }
}

/// The thread that the calling thread has started has this place.
pub fn started(place: usize) {
    let last = WRITTEN.load(Ordering::Relaxed);
    if last > 0 {
        let mut event = read(last - 1);
        event.operation.address = place as u64;
        overwrite(last - 1, event);
    }
}

/// The calling thread's wait was over.
pub fn timed_out(me: usize) {
    // SAFETY: as in `announce`.
    unsafe { (*PENDING.load(Ordering::Relaxed).add(me.min(THREADS - 1))).event.flags |= flags::TIMED_OUT };
}

/// The number of the next event.
fn next_event() -> usize {
    WRITTEN.load(Ordering::Relaxed)
}

/// The run ends here.
#[cold]
pub fn cut(end: SteeredEnd) -> ! {
    word(steering::END).store(end as u64, Ordering::Relaxed);
    ending();
    crate::process::end_at_once()
}

/// The process ends. What each thread would have done next is written down, unless a
/// signal has interrupted a decision.
pub fn ending() {
    if !is_on() {
        return;
    }
    stop();
    if !has_ended() {
        write_pending();
    }
}

/// No more is written down of the run.
fn stop() {
    ON.store(false, Ordering::Relaxed);
    if crate::options::robustness() {
        // `ravelin verify` may report an access of this run that the clocks did not find.
        crate::file::write_modules();
    }
}

/// Writes down what each thread would do next.
fn write_pending() {
    for (place, status) in turn::places_if_unlocked() {
        if status == ThreadStatus::Ended || place >= THREADS {
            continue;
        }
        // What was announced, without looking at memory that may be gone.
        // SAFETY: as in `pending`.
        let Pending { mut event, expected, orders, done } =
            unsafe { PENDING.load(Ordering::Relaxed).add(place).read() };
        if !done && event.operation.act != Act::Exit {
            event.flags |= flags::PENDING;
            if event.is(flags::COMPARES) {
                event.read = expected;
                event.flags |= flags::other_order(orders[1]);
            }
            write(event);
        }
    }
}

/// The low bits of what is in memory now, of at most eight bytes.
pub fn value_at(address: usize, size: usize) -> u64 {
    // SAFETY: a thread is about to access these bytes, and they are aligned.
    unsafe {
        match size {
            1 => (address as *const u8).read_volatile().into(),
            2 => (address as *const u16).read_volatile().into(),
            4 => (address as *const u32).read_volatile().into(),
            _ => (address as *const u64).read_volatile(),
        }
    }
}

fn word(index: usize) -> &'static AtomicU64 {
    debug_assert!(index < steering::WORDS);
    // SAFETY: mapped with that many words when it was opened, and stays.
    unsafe { &*AREA.load(Ordering::Relaxed).add(index) }
}

fn write(event: RunEvent) -> usize {
    let mut index = WRITTEN.load(Ordering::Relaxed);
    if index >= steering::MOST_EVENTS && may_forget() {
        forget_events();
        index = WRITTEN.load(Ordering::Relaxed);
    }
    if index >= steering::MOST_EVENTS {
        word(steering::END).store(SteeredEnd::Full as u64, Ordering::Relaxed);
        stop();
        crate::process::end_at_once()
    }
    overwrite(index, event);
    WRITTEN.store(index + 1, Ordering::Relaxed);
    if !has_ended() {
        word(steering::EVENT_COUNT).store(index as u64 + 1, Ordering::Release);
    }
    index
}

/// Whether the events are those before the beginning of the run or after its end, and have not been forgotten too often.
fn may_forget() -> bool {
    let is_outside = waits_for_mark() || has_ended() && ENDED_AT.load(Ordering::Relaxed) < steering::MOST_EVENTS;
    is_outside && ROUNDS_OUTSIDE.fetch_add(1, Ordering::Relaxed) < steering::ROUNDS_OUTSIDE
}

fn overwrite(index: usize, event: RunEvent) {
    for (offset, value) in event.words().into_iter().enumerate() {
        word(steering::EVENTS + index * RunEvent::WORDS + offset).store(value, Ordering::Relaxed);
    }
}

fn read(index: usize) -> RunEvent {
    let at = |offset: usize| word(steering::EVENTS + index * RunEvent::WORDS + offset).load(Ordering::Relaxed);
    let nothing =
        RunEvent { thread: 0, operation: RunOperation::LOCAL, flags: 0, read: 0, written: 0, pc: 0, state: 0 };
    RunEvent::of(std::array::from_fn(at)).unwrap_or(nothing)
}
