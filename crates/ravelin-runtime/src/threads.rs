//! Threads: their numbers, what they inherit and leave.
//!
//! A thread has a *number*, never used twice, for people; and a *tid*, its place in vector clocks. A tid is used again,
//! with epochs going on, when its thread has ended and whoever starts the new one knows everything the old one did: then
//! nobody can mistake the new thread's knowledge for the old one's. So programs that join their threads need few.

use crate::file;
use crate::interpose::signals;
use crate::sources::{Reading, Sources};
use crate::spin::Spin;
use crate::this_thread::{self, Watched};
use crate::trace::Trace;
use ravelin_clocks::race::slot;
use ravelin_clocks::{Epoch, Released, Thread, Tid};
use ravelin_findings::{Record, header, notes};
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// The epoch at which a thread goes on under another tid.
pub const LAST_EPOCH: Epoch = Epoch::MAX - 16;
/// Tids that can be given out.
const MOST: usize = Tid::MAX as usize;
/// How many ended threads are looked at for a tid to use again.
const CANDIDATES: usize = 8;
/// How many threads a tid's past is remembered for.
const PAST: usize = 1024;

/// What a new thread needs to know; made by its parent, used once by the child.
pub struct Seed {
    released: Released,
    number: u64,
    tid: Tid,
    epoch: Epoch,
    /// Length of its stack, if known; set by whoever starts the thread.
    pub stack_size: usize,
}

struct Slot {
    /// The state of the thread that has the tid or had it last; never freed, because others may be looking at it.
    thread: *mut Watched,
    running: bool,
    next_epoch: Epoch,
    /// Which thread had the tid from which epoch on.
    past: VecDeque<(Epoch, u64)>,
}

struct Person {
    number: u64,
    parent: u64,
    name: Vec<u8>,
    calls: Vec<u64>,
    /// What it begins with, until it has begun.
    begins: Option<Released>,
    /// Its tid and what it knew at its end, until it is joined or detached.
    ended: Option<(Tid, Released)>,
    detached: bool,
    described: bool,
}

struct Table {
    slots: Vec<Slot>,
    /// Tids of joined threads, longest joined first, and what the thread knew.
    free: VecDeque<(Tid, Released)>,
    /// Tids of the last detached threads that ended. Nobody ever learns what such a thread knew at its end, so they are
    /// not used again, and there is no need to remember it: with many such threads it would be too much.
    gone: VecDeque<Tid>,
    people: Vec<Person>,
    next_number: u64,
}

// SAFETY: the pointers lead to states that are never freed.
unsafe impl Send for Table {}

static TABLE: Spin<Table> = Spin::new(Table {
    slots: Vec::new(),
    free: VecDeque::new(),
    gone: VecDeque::new(),
    people: Vec::new(),
    next_number: 0,
});

static OFF: AtomicBool = AtomicBool::new(false);

/// Makes the calling thread, the first of the program, known.
pub fn begin_first() {
    let mut table = TABLE.lock();
    if !table.slots.is_empty() {
        return;
    }
    let Some(mut watched) = Watched::new(Thread::new(0, 1), 0, None) else {
        return;
    };
    let here = (&raw const watched) as usize;
    watched.stack = (here.saturating_sub(8 << 20), here + (1 << 20));
    let thread = Box::into_raw(watched);
    table.slots.push(Slot { thread, running: true, next_epoch: 0, past: VecDeque::from([(0, 0)]) });
    table.people.push(Person {
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

/// Nothing is watched any more in this process.
pub fn switch_off() {
    OFF.store(true, Ordering::SeqCst);
    this_thread::set_watched(false);
}

/// Whether watching was switched off.
pub fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

/// The calling thread is about to start another, by a call that returns to `pc`. The first call of all makes the
/// program watched. `None` if the new thread cannot be watched.
pub fn starting(pc: usize) -> Option<Box<Seed>> {
    if OFF.load(Ordering::Relaxed) {
        return None;
    }
    crate::process::begin_watching();
    let mut inside = this_thread::enter()?;
    let thread = inside.thread();
    let released = thread.clocks.release();
    let mut table = TABLE.lock();
    let (tid, epoch) = table.tid_for(&thread.clocks)?;
    let number = table.next_number;
    table.next_number += 1;
    table.slots[tid as usize].begin(epoch, number);
    table.people.push(Person {
        number,
        parent: thread.number,
        name: Vec::new(),
        calls: thread.stack_at(pc),
        begins: Some(released.clone()),
        ended: None,
        detached: false,
        described: false,
    });
    file::set(header::THREADS, number + 1);
    drop(table);
    thread.new_epoch();
    Some(Box::new(Seed { released, number, tid, epoch, stack_size: 0 }))
}

/// Starting failed: the seed is given back.
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
    let mut clocks = Thread::new(seed.tid, seed.epoch);
    clocks.acquire(&seed.released);
    let state = {
        let table = TABLE.lock();
        table.slots[seed.tid as usize].thread
    };
    let here = (&raw const clocks) as usize;
    let thread = if state.is_null() {
        match Watched::new(clocks, seed.number, None) {
            Some(watched) => Box::into_raw(watched),
            None => {
                file::note(notes::OUT_OF_MEMORY);
                return;
            }
        }
    } else {
        let _table = TABLE.lock();
        // SAFETY: the old thread has ended, and the new one is not visible yet: only its trace may be looked at, under
        // the lock of the table.
        unsafe {
            let trace = std::mem::replace(&mut (*state).trace, Trace::none());
            let sources = std::mem::replace(&mut (*state).sources, Sources::new());
            match Watched::new(clocks, seed.number, Some((trace, sources))) {
                Some(watched) => *state = *watched,
                None => {
                    file::note(notes::OUT_OF_MEMORY);
                    return;
                }
            }
        }
        state
    };
    // SAFETY: the state is the calling thread's own now.
    unsafe {
        (*thread).stack = stack_around(here, seed.stack_size);
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
    // The C library uses the stacks of ended threads again without unmapping them.
    // SAFETY: the calling thread's own state.
    let (low, high) = unsafe { (*thread).stack };
    crate::memory::forget_inside(low, high - low);
    drop(seed);
}

/// The stack of the calling thread. The C library puts the thread's control block at its upper end, with the thread-local
/// variables below.
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
/// A signal handler may still run before it is gone. It must find the thread either whole or unknown, and nobody may get
/// the thread's state for a new one before the thread has let go of it; so signals wait, and the table stays locked.
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
    let mut table = TABLE.lock();
    let tid = thread.clocks.tid;
    let number = thread.number;
    table.slots[tid as usize].running = false;
    table.slots[tid as usize].next_epoch = thread.clocks.epoch + 1;
    match table.person(number) {
        Some(person) if !person.detached => person.ended = Some((tid, released)),
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
        Some((tid, released)) => {
            let thread = inside.thread();
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

/// Nobody will join this thread.
pub fn detached(number: u32) {
    let Some(_inside) = this_thread::enter() else {
        return;
    };
    let mut table = TABLE.lock();
    if let Some(person) = table.person(u64::from(number)) {
        person.detached = true;
        if let Some((tid, _)) = person.ended.take() {
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

/// A thread whose epochs are used up goes on under another tid.
#[cold]
pub fn renew(thread: &mut Watched) {
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
pub fn for_each_running(mut work: impl FnMut(*mut Watched)) {
    let running: Vec<*mut Watched> = {
        let table = TABLE.lock();
        let slots = table.slots.iter();
        slots.filter(|slot| slot.running && !slot.thread.is_null()).map(|slot| slot.thread).collect()
    };
    running.into_iter().for_each(&mut work);
}

/// Calls `work` with what every ended thread left and what every thread begins with that has not begun.
pub fn for_each_left(mut work: impl FnMut(&Released)) {
    let table = TABLE.lock();
    table.free.iter().for_each(|(_, released)| work(released));
    for person in &table.people {
        let ended = person.ended.iter().map(|(_, released)| released);
        person.begins.iter().chain(ended).for_each(&mut work);
    }
}

/// Looks at the trace of whoever has a tid or had it last.
pub fn trace_of<R>(tid: Tid, look: impl FnOnce(&Trace) -> R) -> Option<R> {
    let table = TABLE.lock();
    let thread = table.slots.get(tid as usize)?.thread;
    // SAFETY: states are never freed, and a new thread takes over the trace under the lock.
    (!thread.is_null()).then(|| look(unsafe { &(*thread).trace }))
}

/// From whom whoever has a tid or had it last has learnt, newest first.
pub fn sources_of(tid: Tid) -> Vec<Reading> {
    let table = TABLE.lock();
    let thread = table.slots.get(tid as usize).map_or(null_mut(), |slot| slot.thread);
    // SAFETY: states are never freed, and a new thread takes over what is remembered under the lock.
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

/// Whose stack an address is on.
pub fn stack_owner(address: usize) -> Option<u64> {
    let mut owner = None;
    for_each_running(|thread| {
        // SAFETY: states are never freed; a bound read while it changes only misnames a place.
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
            Record::Thread(ravelin_findings::Thread {
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

impl Table {
    /// A tid that a child of `parent` can have, and its first epoch.
    fn tid_for(&mut self, parent: &Thread) -> Option<(Tid, Epoch)> {
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

    fn person(&mut self, number: u64) -> Option<&mut Person> {
        // Numbers grow, and old ones are dropped from the front.
        let index = self.people.binary_search_by_key(&number, |person| person.number).ok()?;
        Some(&mut self.people[index])
    }

    /// A detached thread has ended. What it did lately is remembered for the last of them only.
    fn leave(&mut self, tid: Tid) {
        const REMEMBERED: usize = 512;
        self.gone.push_back(tid);
        if self.gone.len() > REMEMBERED
            && let Some(tid) = self.gone.pop_front()
        {
            let thread = self.slots[tid as usize].thread;
            if !thread.is_null() {
                // SAFETY: states are never freed, nobody writes this one any more, and traces are looked at under the
                // lock of the table.
                unsafe {
                    (*thread).trace.give_back();
                    (*thread).sources.give_back();
                }
            }
            self.forget_some();
        }
    }

    /// Keeps the list of threads from growing for ever: those that ended long ago and were joined are forgotten.
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
pub mod tests {
    use super::*;
    use crate::process;

    /// A thread ends, also if its test fails.
    struct End;

    impl Drop for End {
        fn drop(&mut self) {
            end();
        }
    }

    /// Runs `work` in the calling thread, which is watched meanwhile: one that nobody started, and that knows nothing of
    /// the others.
    pub fn watched<R>(work: impl FnOnce() -> R) -> R {
        assert!(process::reserve(), "there is address space for the shadow");
        let seed = {
            let mut table = TABLE.lock();
            let tid = table.fresh_tid().expect("a tid");
            let number = table.next_number;
            table.next_number += 1;
            table.slots[tid as usize].begin(1, number);
            table.people.push(stranger(number));
            Seed { released: Released::default(), number, tid, epoch: 1, stack_size: 0 }
        };
        begin(Box::new(seed));
        let _end = End;
        work()
    }

    /// Runs `work` in a thread that the calling one starts. It has ended afterwards, but nobody has joined it: nothing
    /// orders what it did and what the caller does next. Gives its number as well.
    pub fn beside<R: Send>(work: impl FnOnce() -> R + Send) -> (R, u32) {
        let seed = starting(0x5eed).expect("a thread can be started");
        let number = number_of(&seed);
        let child = move || {
            begin(seed);
            let _end = End;
            work()
        };
        let result = std::thread::scope(|scope| scope.spawn(child).join());
        (result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), number)
    }

    fn stranger(number: u64) -> Person {
        Person {
            number,
            parent: number,
            name: Vec::new(),
            calls: Vec::new(),
            begins: None,
            ended: None,
            detached: false,
            described: false,
        }
    }

    /// The clocks of the calling thread, which is watched.
    pub fn with_clocks<R>(work: impl FnOnce(&mut Thread) -> R) -> R {
        work(&mut this_thread::enter().expect("a watched thread").thread().clocks)
    }

    /// The tid and the epoch of the calling thread.
    pub fn now() -> (Tid, Epoch) {
        with_clocks(|clocks| (clocks.tid, clocks.epoch))
    }

    /// Another thread that the calling one starts does something, and then `theirs`; whether the calling one knows of it
    /// after it does `mine`.
    pub fn ordered(theirs: impl FnOnce() + Send, mine: impl FnOnce()) -> bool {
        let ((tid, epoch), _) = beside(|| {
            let moment = now();
            theirs();
            moment
        });
        mine();
        with_clocks(|clocks| clocks.happens_after(tid, epoch))
    }

    fn empty() -> Table {
        Table { slots: Vec::new(), free: VecDeque::new(), gone: VecDeque::new(), people: Vec::new(), next_number: 0 }
    }

    #[test]
    fn a_child_knows_what_its_parent_did_before_and_not_what_it_does_after() {
        watched(|| {
            let (parent, before) = now();
            let (knows, _) = beside(|| {
                with_clocks(|clocks| (clocks.happens_after(parent, before), clocks.happens_after(parent, before + 1)))
            });
            assert_eq!(knows, (true, false));
        });
    }

    #[test]
    fn whoever_joins_a_thread_knows_what_it_did() {
        watched(|| {
            let ((tid, epoch), number) = beside(now);
            assert!(!with_clocks(|clocks| clocks.happens_after(tid, epoch)));
            joined(number);
            assert!(with_clocks(|clocks| clocks.happens_after(tid, epoch)));
        });
    }

    #[test]
    fn the_tid_of_a_joined_thread_is_used_again_with_later_epochs_and_another_number() {
        watched(|| {
            let ((tid, epoch), number) = beside(now);
            joined(number);
            let tids: Vec<_> = (0..20)
                .map(|_| {
                    let (child, number) = beside(now);
                    joined(number);
                    (child, u64::from(number))
                })
                .collect();
            let Some(((_, later), next)) = tids.iter().find(|((child, _), _)| *child == tid) else {
                // Other tests join threads too, whose tids may stand before this one in the queue; this thread does not
                // know them, so it looks at a few and takes a new one.
                assert!(TABLE.lock().free.iter().position(|(free, _)| *free == tid) >= Some(CANDIDATES));
                return;
            };
            assert!(*later > epoch && *next > u64::from(number));
            assert_eq!(number_of_tid(tid, epoch), u64::from(number));
            assert_eq!(number_of_tid(tid, *later), *next);
        });
    }

    #[test]
    fn a_tid_is_used_again_only_by_children_of_whoever_knows_the_old_thread() {
        let mut table = empty();
        let mut old = Thread::new(table.fresh_tid().expect("a tid"), 1);
        let mut parent = Thread::new(table.fresh_tid().expect("a tid"), 1);
        let left = old.release();
        table.slots[old.tid as usize].next_epoch = 40;
        table.free.push_back((old.tid, left.clone()));
        assert_eq!(table.tid_for(&parent), Some((2, 1)), "a new one");
        parent.acquire(&left);
        assert_eq!(table.tid_for(&parent), Some((old.tid, 40)));
        assert_eq!(table.tid_for(&parent), Some((3, 1)), "it is in use now");
    }

    #[test]
    fn a_tid_with_few_epochs_left_is_not_used_again() {
        let mut table = empty();
        let parent = Thread::new(table.fresh_tid().expect("a tid"), 1);
        let old = table.fresh_tid().expect("a tid");
        table.free.push_back((old, Released::default()));
        table.slots[old as usize].next_epoch = LAST_EPOCH / 2;
        assert_eq!(table.tid_for(&parent), Some((2, 1)));
        table.slots[old as usize].next_epoch -= 1;
        assert_eq!(table.tid_for(&parent), Some((old, LAST_EPOCH / 2 - 1)));
    }

    #[test]
    fn there_are_no_more_tids_than_clocks_can_hold() {
        let mut table = empty();
        assert!((0..MOST).all(|tid| table.fresh_tid() == Some(tid as Tid)));
        assert_eq!(table.fresh_tid(), None);
        assert_eq!(table.tid_for(&Thread::new(0, 1)), None);
    }

    #[test]
    fn a_person_is_found_by_number_after_others_were_forgotten() {
        let mut table = empty();
        table.people = [0, 3, 4, 9].map(stranger).into();
        assert_eq!([3, 5, 9].map(|number| table.person(number).map(|person| person.number)), [Some(3), None, Some(9)]);
    }

    #[test]
    fn threads_that_ended_long_ago_are_forgotten_but_for_those_that_still_matter() {
        let mut table = empty();
        table.people = (0..10_000).map(stranger).collect();
        table.next_number = 10_000;
        table.people[5].ended = Some((0, Released::default()));
        let tid = table.fresh_tid().expect("a tid");
        table.slots[tid as usize].begin(1, 6);
        table.slots[tid as usize].running = true;
        table.forget_some();
        let kept: Vec<u64> = table.people.iter().map(|person| person.number).collect();
        assert_eq!(
            kept[..4],
            [0, 5, 6, 10_000 - 4096],
            "the first, one to be joined, one that runs, and the last ones"
        );
        assert_eq!(kept.len(), 3 + 4096);
    }

    #[test]
    fn the_past_of_a_tid_has_a_limit_and_begins_with_the_oldest_that_is_remembered() {
        let mut table = empty();
        let tid = table.fresh_tid().expect("a tid") as usize;
        for number in 1..=PAST as u64 + 5 {
            table.slots[tid].begin(number as Epoch * 10, number);
        }
        assert_eq!(table.slots[tid].past.len(), PAST);
        assert_eq!(table.slots[tid].past.front(), Some(&(60, 6)));
    }

    #[test]
    fn a_tid_belonged_to_the_thread_that_had_it_at_that_epoch() {
        let tid = {
            let mut table = TABLE.lock();
            let tid = table.fresh_tid().expect("a tid");
            table.slots[tid as usize].begin(5, 1 << 50);
            table.slots[tid as usize].begin(10, 2 << 50);
            tid
        };
        let numbers = [1, 5, 9, 10, 11].map(|epoch| number_of_tid(tid, epoch) >> 50);
        assert_eq!(numbers, [1, 1, 1, 2, 2], "what is older than all that is remembered goes to the oldest");
    }

    #[test]
    fn the_tid_of_a_thread_that_could_not_be_started_goes_to_the_next() {
        watched(|| {
            let seed = *starting(0).expect("a thread can be started");
            let (tid, number) = (seed.tid, seed.number);
            not_started(seed);
            let mut table = TABLE.lock();
            assert!(table.person(number).is_none());
            assert!(table.free.iter().any(|(free, _)| *free == tid) || table.slots[tid as usize].past.len() > 1);
        });
    }

    #[test]
    fn a_thread_that_nobody_will_join_leaves_nothing_to_join() {
        watched(|| {
            let (_, number) = beside(|| ());
            assert!(TABLE.lock().person(u64::from(number)).is_some_and(|person| person.ended.is_some()));
            detached(number);
            assert!(TABLE.lock().person(u64::from(number)).is_some_and(|person| person.ended.is_none()));
        });
    }

    #[test]
    fn a_thread_that_has_used_up_its_epochs_goes_on_under_another_tid() {
        watched(|| {
            let (tid, _) = now();
            let mut inside = this_thread::enter().expect("a watched thread");
            let thread = inside.thread();
            let number = thread.number;
            thread.clocks.epoch = LAST_EPOCH;
            thread.new_epoch();
            let (renamed, epoch) = (thread.clocks.tid, thread.clocks.epoch);
            assert_ne!(renamed, tid);
            assert_eq!((epoch, thread.stamp), (1, slot::stamp(renamed, 1)));
            assert!(thread.clocks.happens_after(tid, LAST_EPOCH - 1), "it knows what it did before");
            drop(inside);
            assert_eq!(number_of_tid(renamed, 1), number);
        });
    }

    #[test]
    fn an_address_on_the_stack_of_a_thread_that_runs_belongs_to_it() {
        watched(|| {
            let here = 0;
            let address = &raw const here as usize;
            let thread = this_thread::me();
            // SAFETY: the calling thread's own state.
            let number = unsafe {
                (*thread).stack = (address - 100, address + 100);
                (*thread).number
            };
            assert_eq!(stack_owner(address), Some(number));
            assert_eq!(stack_owner(address + 100), None);
            assert_eq!(own_number(), number);
        });
    }

    #[test]
    fn nothing_is_known_of_a_tid_that_nobody_has() {
        assert_eq!(number_of_tid(Tid::MAX, 1), 0);
        assert!(trace_of(Tid::MAX, |_| ()).is_none());
        assert!(sources_of(Tid::MAX).is_empty());
    }

    #[test]
    fn a_stack_that_the_program_provides_is_taken_to_end_where_the_thread_began() {
        assert_eq!(stack_around(0x9000, 0x2000), (0x8000, 0x9000));
        let control: usize;
        // SAFETY: the first word of the control block is its own address.
        unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) control, options(pure, readonly, nostack)) };
        let (low, high) = stack_around(control - 0x1000, 0x10_0000);
        assert_eq!(high - low, 0x10_0000);
        assert!((low..high).contains(&(control - 0x1000)));
    }
}
