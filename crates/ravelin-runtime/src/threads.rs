//! Threads: their numbers, what they inherit and what they leave.
//!
//! A thread has a *number*, never used twice, for reports; and a *tid*, its index in vector clocks. A tid is reused,
//! with increasing epochs, when its thread has ended and the thread that starts the new one knows everything the old
//! one did. Then the new thread's knowledge cannot be mistaken for the old one's. Programs that join their threads
//! therefore need few tids.

use crate::file;
use crate::interpose::signals;
use crate::own_caller::own_caller;
use crate::sources::{ReadEvent, Sources};
use crate::spin::Spin;
use crate::start_order::{StartClock, StartTime};
use crate::this_thread::{self, WatchedThread};
use crate::trace::ThreadTrace;
use crate::tso;
use ravelin_clocks::race::slot;
use ravelin_clocks::{CommonView, Epoch, ReleaseClocks, ThreadClocks, Tid};
use ravelin_findings::{Record, header, notes};
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The epoch at which a thread continues under another tid.
pub const LAST_EPOCH: Epoch = Epoch::MAX - 16;
/// How many tids there are.
const MOST: usize = Tid::MAX as usize;
/// How many ended threads are considered for a tid to reuse.
const CANDIDATES: usize = 8;
/// For how many threads a tid's past is remembered.
const PAST: usize = 1024;

/// What a new thread needs to know; created by its parent, used once by the child.
pub struct Seed {
    released: ReleaseClocks,
    number: u64,
    tid: Tid,
    epoch: Epoch,
    /// What happened before its start whatever the schedule.
    starts: Arc<StartClock>,
    /// Length of its stack, if known; set by the code that starts the thread.
    pub stack_size: usize,
}

struct Slot {
    /// The state of the thread that has the tid or had it last. It is never freed, because other threads may be reading
    /// it.
    thread: *mut WatchedThread,
    running: bool,
    next_epoch: Epoch,
    /// Which thread had the tid from which epoch on.
    past: VecDeque<(Epoch, u64)>,
}

struct ThreadIdentity {
    number: u64,
    parent: u64,
    name: Vec<u8>,
    calls: Vec<u64>,
    /// What it begins with, until it has begun.
    begins: Option<ReleaseClocks>,
    /// Its tid and what it knew at its end, until it is joined or detached.
    ended: Option<(Tid, ReleaseClocks, Arc<StartClock>)>,
    detached: bool,
    described: bool,
}

struct ThreadTable {
    slots: Vec<Slot>,
    /// Tids of joined threads, longest joined first, and what the thread knew.
    free: VecDeque<(Tid, ReleaseClocks)>,
    /// Tids of the last detached threads that ended. No thread ever learns what such a thread knew at its end, so they
    /// are not reused. That knowledge is not kept: with many such threads it would be too much.
    gone: VecDeque<Tid>,
    people: Vec<ThreadIdentity>,
    next_number: u64,
}

// SAFETY: the pointers lead to states that are never freed.
unsafe impl Send for ThreadTable {}

static TABLE: Spin<ThreadTable> = Spin::new(ThreadTable {
    slots: Vec::new(),
    free: VecDeque::new(),
    gone: VecDeque::new(),
    people: Vec::new(),
    next_number: 0,
});

static OFF: AtomicBool = AtomicBool::new(false);

/// Registers the calling thread, the first of the program.
pub fn begin_first() {
    let mut table = TABLE.lock();
    if !table.slots.is_empty() {
        return;
    }
    let Some(mut watched) = WatchedThread::new(tso::new_clocks(0, 1), 0, None) else {
        return;
    };
    let here = (&raw const watched) as usize;
    watched.stack = (here.saturating_sub(8 << 20), first_stack_end(here));
    let thread = Box::into_raw(watched);
    table.slots.push(Slot { thread, running: true, next_epoch: 0, past: VecDeque::from([(0, 0)]) });
    table.people.push(ThreadIdentity {
        number: 0,
        parent: 0,
        name: b"main".to_vec(),
        calls: Vec::new(),
        begins: None,
        ended: None,
        detached: false,
        described: false,
    });
    table.next_number = 1;
    drop(table);
    this_thread::set_me(thread);
}

/// No other thread is in the middle of a change until [`unlock`]: the process is about to be copied.
pub fn lock() {
    TABLE.close();
}

/// See [`lock`].
pub fn unlock() {
    // SAFETY: `lock` has closed it.
    unsafe { TABLE.open() };
}

/// The calling thread is the only one of a forked process. The others, which do not exist here, are over, and it knows
/// what they did.
pub fn alone() {
    let Some(mut inside) = this_thread::enter_unwatched() else {
        return;
    };
    let thread = inside.thread();
    let mut table = TABLE.lock();
    let mut left = Vec::new();
    for (tid, slot) in table.slots.iter_mut().enumerate() {
        if slot.running && !slot.thread.is_null() && !std::ptr::eq(slot.thread, thread) {
            // SAFETY: no other thread uses the state: its thread does not exist, and was not inside when it was copied.
            let clocks = unsafe { &mut (*slot.thread).clocks };
            left.push((tid as Tid, clocks.release()));
            slot.running = false;
            slot.next_epoch = clocks.epoch + 1;
        }
    }
    for person in &mut table.people {
        person.begins = None;
        person.described = false;
        left.extend(person.ended.take().map(|(tid, released, _)| (tid, released)));
    }
    for (tid, released) in left {
        thread.clocks.acquire(&released);
        table.free.push_back((tid, released));
    }
    file::set(header::THREADS, table.next_number);
    drop(table);
    thread.new_epoch();
}

/// Where the stack of the first thread ends. The kernel puts the name of the program there, above everything else.
fn first_stack_end(here: usize) -> usize {
    // SAFETY: reads what the kernel has passed to the process.
    let name = unsafe { libc::getauxval(libc::AT_EXECFN) } as usize;
    // Without it at least the page in use.
    if name > here { name } else { here | 4095 }
}

/// Stops watching in this process.
pub fn switch_off() {
    OFF.store(true, Ordering::SeqCst);
    this_thread::set_watched(false);
}

/// Whether watching was switched off.
pub fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

/// The calling thread is about to start another, by a call that returns to `pc`. The first such call starts watching
/// the program. `None` if the new thread cannot be watched.
pub fn starting(pc: usize) -> Option<Box<Seed>> {
    if OFF.load(Ordering::Relaxed) {
        return None;
    }
    crate::process::begin_watching();
    let mut inside = this_thread::enter()?;
    let thread = inside.thread();
    let released = thread.clocks.release();
    let starts = thread.starts.release(thread.number);
    let mut calls = thread.stack_at(pc);
    let here = (&raw const calls) as usize;
    if let Some(caller) = own_caller(pc, here, thread.calls().last()) {
        calls.insert(1, caller as u64);
    }
    let mut table = TABLE.lock();
    let (tid, epoch) = table.tid_for(&thread.clocks)?;
    let number = table.next_number;
    table.next_number += 1;
    table.slots[tid as usize].begin(epoch, number);
    table.people.push(ThreadIdentity {
        number,
        parent: thread.number,
        name: Vec::new(),
        calls,
        begins: Some(released.clone()),
        ended: None,
        detached: false,
        described: false,
    });
    file::set(header::THREADS, number + 1);
    drop(table);
    thread.new_epoch();
    Some(Box::new(Seed { released, number, tid, epoch, starts, stack_size: 0 }))
}

/// Starting failed: takes the seed back.
pub fn not_started(seed: Seed) {
    let Some(_inside) = this_thread::enter() else {
        return;
    };
    let mut table = TABLE.lock();
    let Seed { released, tid, epoch, number, .. } = seed;
    table.slots[tid as usize].next_epoch = epoch;
    table.slots[tid as usize].running = false;
    table.free.push_back((tid, released));
    table.people.retain(|person| person.number != number);
}

/// The new thread begins, as its first act.
pub fn begin(seed: Box<Seed>) {
    let mut clocks = tso::new_clocks(seed.tid, seed.epoch);
    clocks.acquire(&seed.released);
    let state = {
        let table = TABLE.lock();
        table.slots[seed.tid as usize].thread
    };
    let here = (&raw const clocks) as usize;
    let thread = if state.is_null() {
        match WatchedThread::new(clocks, seed.number, None) {
            Some(watched) => Box::into_raw(watched),
            None => {
                file::note(notes::OUT_OF_MEMORY);
                return;
            }
        }
    } else {
        // SAFETY: the old thread has ended, and the new one is not visible yet.
        if !unsafe { take_over(state, clocks, seed.number) } {
            file::note(notes::OUT_OF_MEMORY);
            return;
        }
        state
    };
    // SAFETY: the state is the calling thread's own now.
    unsafe {
        (*thread).stack = stack_around(here, seed.stack_size);
        (*thread).starts = StartTime::begin(seed.starts.clone());
    }
    let mut table = TABLE.lock();
    let slot = &mut table.slots[seed.tid as usize];
    slot.thread = thread;
    slot.running = true;
    if let Some(person) = table.person(seed.number) {
        person.begins = None;
    }
    drop(table);
    this_thread::set_me(thread);
    this_thread::set_watched(true);
    let Some(mut inside) = this_thread::enter() else { return };
    if let Some(moment) = seed.released.moment() {
        inside.thread().sources.synchronised(seed.epoch, moment);
    }
    // The C library reuses the stacks of ended threads without unmapping them.
    // SAFETY: the calling thread's own state.
    let (low, high) = unsafe { (*thread).stack };
    crate::memory::forget_inside(low, high - low);
    drop(seed);
}

/// A new thread gets the state of one that has ended, and its history. Returns whether there was memory for that. Not part
/// of [`begin`], so that threads which need no such copy have a small frame.
///
/// # Safety
/// The state is that of a thread that has ended, and no other thread uses it, except to read its trace under the lock of the
/// table.
#[inline(never)]
unsafe fn take_over(state: *mut WatchedThread, clocks: ThreadClocks, number: u64) -> bool {
    let _table = TABLE.lock();
    // SAFETY: guaranteed by the caller.
    unsafe {
        let trace = std::mem::replace(&mut (*state).trace, ThreadTrace::none());
        let sources = std::mem::replace(&mut (*state).sources, Sources::new());
        match WatchedThread::new(clocks, number, Some((trace, sources))) {
            Some(watched) => {
                *state = *watched;
                true
            }
            None => false,
        }
    }
}

/// The stack of the calling thread. The C library puts the thread's control block at its upper end, with the
/// thread-local variables below.
fn stack_around(here: usize, size: usize) -> (usize, usize) {
    /// The control block is no longer than this.
    const CONTROL: usize = 4096;
    let control: usize;
    // SAFETY: the first word of the control block is its own address.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) control, options(pure, readonly, nostack)) };
    let high = control.next_multiple_of(CONTROL);
    if (high.saturating_sub(size)..high).contains(&here) {
        (high - size, high)
    } else {
        // A stack that the program provides.
        (here.saturating_sub(size / 2), here)
    }
}

/// The calling thread is about to end (after its own destructors, as late as possible).
///
/// A signal handler may still run before the thread is gone. It must find the thread either whole or unknown. A new
/// thread must not get this thread's state before this thread has stopped using it. Signals are therefore blocked, and
/// the table stays locked.
pub fn end() {
    this_thread::show_all();
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let mask = signals::block();
    let thread = inside.thread();
    thread.spin.left();
    crate::collect::hand_in(thread);
    let released = thread.clocks.release();
    let starts = thread.starts.release(thread.number);
    let mut table = TABLE.lock();
    let tid = thread.clocks.tid;
    let number = thread.number;
    table.slots[tid as usize].running = false;
    table.slots[tid as usize].next_epoch = thread.clocks.epoch + 1;
    match table.person(number) {
        Some(person) if !person.detached => person.ended = Some((tid, released, starts)),
        _ => {
            drop(released);
            table.leave(tid);
        }
    }
    thread.finish();
    this_thread::set_watched(false);
    this_thread::set_me(null_mut());
    inside.leave_for_good();
    drop(table);
    signals::unblock(mask);
}

/// The number of the calling thread; 0 if it is not known.
pub fn own_number() -> u64 {
    let thread = this_thread::me();
    // SAFETY: the calling thread's own state.
    if thread.is_null() { 0 } else { unsafe { (*thread).number } }
}

/// The number of the thread that a seed is for.
pub fn number_of(seed: &Seed) -> u32 {
    seed.number as u32
}

/// The calling thread has joined the thread with this number: it knows everything that thread knew.
pub fn joined(number: u32) {
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let ended = TABLE.lock().person(u64::from(number)).and_then(|person| person.ended.take());
    let mut table = match ended {
        Some((tid, released, starts)) => {
            let thread = inside.thread();
            thread.starts.acquire(&starts);
            thread.spin.left();
            thread.learns_from(&released);
            thread.clocks.acquire(&released);
            thread.new_epoch();
            let mut table = TABLE.lock();
            table.free.push_back((tid, released));
            table
        }
        None => TABLE.lock(),
    };
    table.forget_some();
}

/// The threads that have ended and were neither joined nor detached, and where each was started, with its parent.
pub fn left_over() -> Vec<(u64, u64, Vec<u64>)> {
    let table = TABLE.lock();
    let left = table.people.iter().filter(|person| person.ended.is_some() && !person.detached);
    left.map(|person| (person.number, person.parent, person.calls.clone())).collect()
}

/// The thread with this number will not be joined.
pub fn detached(number: u32) {
    let Some(_inside) = this_thread::enter() else {
        return;
    };
    let mut table = TABLE.lock();
    if let Some(person) = table.person(u64::from(number)) {
        person.detached = true;
        if let Some((tid, ..)) = person.ended.take() {
            table.leave(tid);
        }
    }
}

/// The thread got a name.
pub fn named(number: u32, name: &[u8]) {
    let Some(_inside) = this_thread::enter_unwatched() else {
        return;
    };
    if let Some(person) = TABLE.lock().person(u64::from(number)) {
        person.name = name.to_vec();
    }
}

/// A thread whose epochs are used up continues under another tid.
#[cold]
pub fn renew(thread: &mut WatchedThread) {
    let mut table = TABLE.lock();
    let Some(tid) = table.fresh_tid() else {
        file::note(notes::OUT_OF_THREADS);
        drop(table);
        switch_off();
        return;
    };
    let old = thread.clocks.tid;
    thread.clocks.rename(tid, 1);
    table.slots[old as usize].running = false;
    table.slots[tid as usize].thread = thread;
    table.slots[tid as usize].begin(1, thread.number);
    table.slots[tid as usize].running = true;
    drop(table);
    thread.stamp = slot::stamp(tid, 1);
    thread.trace.begin(1, 1);
}

/// Calls `work` with every running thread.
pub fn for_each_running(mut work: impl FnMut(*mut WatchedThread)) {
    let running: Vec<*mut WatchedThread> = {
        let table = TABLE.lock();
        let slots = table.slots.iter();
        slots.filter(|slot| slot.running && !slot.thread.is_null()).map(|slot| slot.thread).collect()
    };
    running.into_iter().for_each(&mut work);
}

/// Calls `work` with what every ended thread left, and with the initial knowledge of every thread that has not begun.
pub fn for_each_left(mut work: impl FnMut(&ReleaseClocks)) {
    let table = TABLE.lock();
    table.free.iter().for_each(|(_, released)| work(released));
    for person in &table.people {
        let ended = person.ended.iter().map(|(_, released, _)| released);
        person.begins.iter().chain(ended).for_each(&mut work);
    }
}

/// What all threads know, while no other thread is inside.
pub fn common(common: &mut CommonView) {
    common.clear();
    TABLE.lock().common(common);
}

/// Reads the trace of the thread that has a tid or had it last.
pub fn trace_of<R>(tid: Tid, look: impl FnOnce(&ThreadTrace) -> R) -> Option<R> {
    let table = TABLE.lock();
    let thread = table.slots.get(tid as usize)?.thread;
    // SAFETY: states are never freed, and a new thread takes over the trace under the lock.
    (!thread.is_null()).then(|| look(unsafe { &(*thread).trace }))
}

/// From whom the thread that has a tid or had it last has learnt, newest first.
pub fn sources_of(tid: Tid) -> Vec<ReadEvent> {
    let table = TABLE.lock();
    let thread = table.slots.get(tid as usize).map_or(null_mut(), |slot| slot.thread);
    // SAFETY: states are never freed, and a new thread takes over the readings under the lock.
    if thread.is_null() { Vec::new() } else { unsafe { (*thread).sources.all() } }
}

/// Which thread had a tid at an epoch.
pub fn number_of_tid(tid: Tid, epoch: Epoch) -> u64 {
    let table = TABLE.lock();
    let Some(slot) = table.slots.get(tid as usize) else {
        return 0;
    };
    let mut past = slot.past.iter().rev();
    past.find(|(from, _)| *from <= epoch).or(slot.past.front()).map_or(0, |(_, number)| *number)
}

/// The thread whose stack contains an address.
pub fn stack_owner(address: usize) -> Option<u64> {
    let mut owner = None;
    for_each_running(|thread| {
        // SAFETY: states are never freed; a bound read while it changes only gives a wrong owner.
        let (bounds, number) = unsafe { ((*thread).stack, (*thread).number) };
        if bounds.0 <= address && address < bounds.1 {
            owner = Some(number);
        }
    });
    owner
}

/// Writes a thread, and those that started it, into the findings file, once.
pub fn describe(number: u64) {
    let mut next = Some(number);
    while let Some(number) = next {
        let record = {
            let mut table = TABLE.lock();
            let Some(person) = table.person(number) else {
                return;
            };
            if std::mem::replace(&mut person.described, true) {
                return;
            }
            next = (person.parent != number).then_some(person.parent);
            Record::Thread(ravelin_findings::ThreadRecord {
                number,
                parent: person.parent,
                name: person.name.clone(),
                stack: person.calls.clone(),
            })
        };
        file::write(&record);
    }
}

impl Slot {
    fn begin(&mut self, epoch: Epoch, number: u64) {
        self.running = false;
        self.next_epoch = epoch;
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back((epoch, number));
    }
}

impl ThreadTable {
    /// A tid that a child of `parent` can have, and its first epoch.
    fn tid_for(&mut self, parent: &ThreadClocks) -> Option<(Tid, Epoch)> {
        let usable = self
            .free
            .iter()
            .take(CANDIDATES)
            .position(|(tid, left)| left.known_to(parent) && self.slots[*tid as usize].next_epoch < LAST_EPOCH / 2);
        if let Some(index) = usable {
            let (tid, _) = self.free.remove(index)?;
            return Some((tid, self.slots[tid as usize].next_epoch));
        }
        let tid = self.fresh_tid();
        if tid.is_none() {
            file::note(notes::OUT_OF_THREADS);
        }
        tid.map(|tid| (tid, 1))
    }

    fn fresh_tid(&mut self) -> Option<Tid> {
        let tid = self.slots.len();
        if tid >= MOST {
            return None;
        }
        self.slots.push(Slot { thread: null_mut(), running: false, next_epoch: 1, past: VecDeque::new() });
        Some(tid as Tid)
    }

    fn person(&mut self, number: u64) -> Option<&mut ThreadIdentity> {
        // Numbers grow, and old ones are dropped from the front.
        let index = self.people.binary_search_by_key(&number, |person| person.number).ok()?;
        Some(&mut self.people[index])
    }

    /// Adds what the threads know. A thread that waits for the end of another will know what that one knows, and makes
    /// no event before.
    fn common(&mut self, common: &mut CommonView) {
        for index in 0..self.slots.len() {
            let Slot { thread, running, .. } = self.slots[index];
            if !running || thread.is_null() {
                continue;
            }
            // SAFETY: states are never freed, and no other thread is inside, so the clocks do not change.
            let (clocks, joins) = unsafe { (&(*thread).clocks, (*thread).joins.load(Ordering::Relaxed)) };
            match joins.checked_sub(1).and_then(|number| self.person(number)) {
                None => common.thread(clocks),
                Some(awaited) => awaited.ended.iter().for_each(|(_, ended, _)| common.beginning(ended)),
            }
        }
        self.people.iter().filter_map(|person| person.begins.as_ref()).for_each(|begins| common.beginning(begins));
    }

    /// A detached thread has ended. Only the last of them keep their recent history.
    fn leave(&mut self, tid: Tid) {
        const REMEMBERED: usize = 512;
        self.gone.push_back(tid);
        if self.gone.len() > REMEMBERED
            && let Some(tid) = self.gone.pop_front()
        {
            let thread = self.slots[tid as usize].thread;
            if !thread.is_null() {
                // SAFETY: states are never freed, this one is no longer written, and traces are read under the lock of
                // the table.
                unsafe {
                    (*thread).trace.give_back();
                    (*thread).sources.give_back();
                }
            }
            self.forget_some();
        }
    }

    /// Limits the list of threads: those that ended long ago and were joined are forgotten.
    fn forget_some(&mut self) {
        const KEPT: usize = 4096;
        if self.people.len() < 2 * KEPT {
            return;
        }
        let running: Vec<u64> = (self.slots.iter())
            .filter(|slot| slot.running)
            .filter_map(|slot| slot.past.back())
            .map(|(_, number)| *number)
            .collect();
        let last = self.next_number.saturating_sub(KEPT as u64);
        self.people.retain(|person| {
            person.number >= last || person.number == 0 || person.ended.is_some() || running.contains(&person.number)
        });
    }
}

#[cfg(test)]
pub mod tests;
