//! Weak runs: every atomic load may read any value that RC20 allows, and every atomic write may be put anywhere in
//! modification order where RC20 allows it.
//!
//! Threads take turns as in a random walk. The values of a location are kept as messages
//! ([`ravelin_clocks::weak::WeakLocation`]), in its record, and which one an access takes is drawn. Memory always has the
//! newest value in modification order: code that is not instrumented, non-atomic accesses and the kernel see it, and so
//! do accesses of sixteen bytes, or of a location that is accessed with several sizes. If memory has another value than
//! the newest message, something else has written it, and the old values are gone.
//!
//! How often an old value is drawn differs from run to run. A thread that takes old values of a location again and again
//! takes the newest in the end ([`ravelin_clocks::weak::PATIENCE`]), so that loops that wait come to an end.
//!
//! Robustness is not watched: it is about runs that are sequentially consistent so far. Data races are.

use crate::access::{AccessPlace, Effect};
use crate::records::{self, KnownValues, WordRecord};
use crate::report::{self, CompletedAccess};
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::word::Word;
use crate::{collect, file, race, schedule, threads, trace};
use ravelin_clocks::weak::{self as clocks, FenceOrder, NewerWrite, SeqCstPlace, WeakAct, WeakLocation};
use ravelin_clocks::{AtomicOrder, CasKind, Epoch, MessageAccess, Tid};
use ravelin_findings::{AccessKind, AccessRecord, Record, StaleRecord};
use ravelin_schedule::{Random, Schedule, Strategy};
use std::sync::atomic::{AtomicBool, Ordering};

/// The most seq_cst fences whose order is kept exactly. What older ones knew, all threads know.
const FENCES: usize = 200;
/// The most places with old values that are reported for a run.
const PLACES: usize = 100;
/// How often an old value is drawn, in eighths; a run has one of these.
const EAGERNESS: [u64; 4] = [1, 2, 4, 6];
/// What is mixed into the seed, so that turns and values are drawn independently.
const SALT: u64 = 0x7765_616b;

static ON: AtomicBool = AtomicBool::new(false);
static RUN: Spin<Option<WeakRun>> = Spin::new(None);

struct WeakRun {
    random: Random,
    eagerness: u64,
    /// How many values of a location are kept.
    values: usize,
    fences: FenceOrder,
    /// The places that took old values.
    places: Vec<StalePlace>,
}

struct StalePlace {
    pc: usize,
    is_write: bool,
    record: file::FileRecord,
}

/// An access of the program.
#[derive(Clone, Copy)]
pub struct WeakAccess {
    pub pc: usize,
    pub kind: AccessKind,
    pub order: AtomicOrder,
    /// For a compare-exchange that fails.
    pub failure: AtomicOrder,
}

impl WeakAccess {
    pub fn new(pc: usize, kind: AccessKind, order: AtomicOrder) -> WeakAccess {
        WeakAccess { pc, kind, order, failure: order }
    }
}

/// What an access did.
pub struct MadeAccess<T> {
    /// What it read, if it reads.
    pub read: T,
    pub wrote: bool,
}

/// A run begins under this schedule.
pub fn begin(schedule: Schedule) {
    let Strategy::Weak { values } = schedule.strategy else { return switch_off() };
    let mut random = Random::new(schedule.seed ^ SALT);
    let place = if random.below(2) == 0 { SeqCstPlace::Before } else { SeqCstPlace::After };
    let eagerness = EAGERNESS[random.below(EAGERNESS.len() as u64) as usize];
    let fences = FenceOrder::new(place, FENCES);
    *RUN.lock() = Some(WeakRun { random, eagerness, values: values as usize, fences, places: Vec::new() });
    ON.store(true, Ordering::Release);
}

/// No run of this process is weak any more.
pub fn switch_off() {
    ON.store(false, Ordering::Release);
}

/// Whether the run is weak.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Applies a fence to the clocks of a thread. Returns whether the run is weak.
pub fn fence(thread: &mut WatchedThread, order: AtomicOrder) -> bool {
    if !is_on() {
        return false;
    }
    let mut run = RUN.lock();
    let Some(run) = &mut *run else { return false };
    thread.clocks.weak_fence(order, &mut run.fences);
    true
}

/// Makes an access, which writes what `change` makes of the value it reads. `None` if the location has no old values, or
/// the access is not watched: it is then to be made as in any other run.
#[cold]
pub fn access<T: Word>(at: *mut T, access: WeakAccess, act: WeakAct, change: impl Fn(T) -> T) -> Option<MadeAccess<T>> {
    // SAFETY: the program accesses these bytes now.
    let load = || unsafe { T::load(at) }.low();
    // SAFETY: the program's own write.
    let store = |value| unsafe { T::store(at, T::of_low(value), true) };
    let word = AccessedWord { address: at as usize, size: size_of::<T>(), load: &load, store: &store };
    let (read, wrote) = perform(word, access, act, &|old| change(T::of_low(old)).low())?;
    Some(MadeAccess { read: T::of_low(read), wrote })
}

/// What an access accesses.
struct AccessedWord<'a> {
    address: usize,
    size: usize,
    load: &'a dyn Fn() -> u64,
    store: &'a dyn Fn(u64),
}

/// The same for words of every size, so that it is there once. Returns what was read, and whether the access wrote.
#[inline(never)]
fn perform(word: AccessedWord, access: WeakAccess, act: WeakAct, change: &dyn Fn(u64) -> u64) -> Option<(u64, bool)> {
    let AccessedWord { address, size, load, store } = word;
    let mut inside = this_thread::enter()?;
    let thread = inside.thread();
    let act = as_said(thread, address, act);
    let slots = [0, 1].map(|flags| race::atomic_slot(thread, address, size.min(8), flags));
    let races = slots.map(|slot| race::check_atomic(thread, address, slot));
    let mut locked = records::lock_for(address, true)?;
    let record = locked.record();
    let memory = load();
    record.location(|| memory);
    let mut guard = RUN.lock();
    let run = guard.as_mut()?;
    let location = messages(record, size, memory)?;
    let site = report::site(access.pc, access.kind, access.order, size);
    let made = clocks::WeakAccess { act, order: access.order, failure: access.failure, site };
    let WeakRun { random, eagerness, fences, .. } = &mut *run;
    let choose = |among: usize| draw(random, *eagerness, act, among);
    let choice = location.choose(&mut thread.clocks, fences, made, choose);
    // The node of a seq_cst access may have come first.
    thread.new_epoch();
    let epoch = thread.clocks.epoch;
    let wrote = choice.does != MessageAccess::Load;
    let read = choice.value;
    let written = change(read);
    let slot = usize::from(wrote);
    race::note_atomic(thread, record, slots[slot]);
    let location = messages(record, size, memory)?;
    let outcome = location.take(&mut thread.clocks, fences, made, choice, written);
    location.limit(run.values);
    if wrote {
        if outcome.newer.is_none() {
            store(written);
        }
        locked.wrote();
    }
    drop(locked);
    thread.trace.access(access.pc, address, trace::shape(wrote, true, size), thread.calls());
    if let Some(source) = outcome.source {
        thread.sources.read(epoch, site, address, source);
    }
    let done = CompletedAccess { size, epoch, ..completed(access, choice.does) };
    if let Some(newer) = outcome.newer {
        let value = if choice.does == MessageAccess::Store { written } else { read };
        run.tell(thread, address, done, value, newer);
    }
    drop(guard);
    if let Some(slot) = races[slot] {
        report::race_of_atomic(thread, address, slot, done);
    }
    let place = AccessPlace { pc: access.pc, address, size, writes: wrote };
    effect(act, read, written, wrote).spins(thread, place);
    thread.new_epoch();
    collect::count(thread);
    Some((read, wrote))
}

/// What the program says about a compare-exchange counts more than what the compiler does.
fn as_said(thread: &mut WatchedThread, address: usize, act: WeakAct) -> WeakAct {
    let WeakAct::CompareExchange { kind, expected } = act else { return act };
    let kind = match thread.mark.take_cas() {
        _ if thread.mark.blocks_on(address) => CasKind::Strong,
        Some(true) => CasKind::Strong,
        Some(false) => CasKind::Weak,
        None => kind,
    };
    WeakAct::CompareExchange { kind, expected }
}

/// The messages of a location that is accessed with this size and has this value in memory; `None` if it has none.
fn messages(record: &mut WordRecord, size: usize, memory: u64) -> Option<&mut WeakLocation> {
    let fits = match record.values() {
        None => size <= 8,
        Some(KnownValues::Messages { size: known, .. }) => *known == size,
        Some(KnownValues::InMemory) => return None,
    };
    if !fits {
        record.leave_values_to_memory();
        return None;
    }
    match record.values_or(|| KnownValues::Messages { size, location: WeakLocation::new(memory) }) {
        KnownValues::Messages { location, .. } => {
            if location.newest() != memory {
                location.replace(memory);
            }
            Some(location)
        }
        KnownValues::InMemory => None,
    }
}

/// One of several candidates, of which the first is the newest.
fn draw(random: &mut Random, eagerness: u64, act: WeakAct, among: usize) -> usize {
    // A write behind newer ones is seen by fewer reads, so it is drawn less often.
    let sides = if act == WeakAct::Load { 8 } else { 16 };
    if random.below(sides) < eagerness { random.below(among as u64) as usize } else { 0 }
}

fn completed(access: WeakAccess, does: MessageAccess) -> CompletedAccess {
    let WeakAccess { pc, kind, order, failure } = access;
    let failed = kind == AccessKind::CompareExchange && does == MessageAccess::Load;
    let (kind, order) = match failed {
        true if order.acquires() && !failure.acquires() => (AccessKind::FailedCompareExchange, failure),
        true => (kind, failure),
        false => (kind, order),
    };
    CompletedAccess { pc, kind, order, size: 0, epoch: 0 }
}

fn effect(act: WeakAct, read: u64, written: u64, wrote: bool) -> Effect {
    match act {
        WeakAct::Load => Effect::Load { value: read },
        WeakAct::Store => Effect::Store { value: written },
        WeakAct::Update => Effect::Update { old: read, new: written, changed: read != written },
        WeakAct::CompareExchange { kind, expected } => {
            Effect::CompareExchange { kind, expected, found: read, written: wrote.then_some(written) }
        }
    }
}

impl WeakRun {
    /// Records that an access took an old value.
    fn tell(
        &mut self,
        thread: &mut WatchedThread,
        address: usize,
        done: CompletedAccess,
        value: u64,
        newer: NewerWrite,
    ) {
        let CompletedAccess { pc, kind, order, size, .. } = done;
        let (point, _) = schedule::progress();
        let is_write = kind == AccessKind::Store;
        if let Some(known) = self.places.iter().find(|known| known.pc == pc && known.is_write == is_write) {
            return known.record.set_stale([value, newer.value, point]);
        }
        if self.places.len() == PLACES {
            return;
        }
        let order = report::finding_order(order);
        let stack = thread.stack_at(pc);
        let access = AccessRecord { thread: thread.number, kind, order, size: size as u64, stack };
        let newer_write = match newer.written {
            Some((tid, at, site)) => report::remembered(tid, at, site, address).0,
            None => AccessRecord { kind: AccessKind::Store, stack: Vec::new(), ..access.clone() },
        };
        threads::describe(access.thread);
        threads::describe(newer_write.thread);
        file::write_modules();
        let record = file::write(&Record::Stale(StaleRecord {
            count: 1,
            value,
            newest: newer.value,
            point,
            address: address as u64,
            access,
            newer: newer_write,
            place: report::place(address),
        }));
        self.places.push(StalePlace { pc, is_write, record });
    }
}

/// Forgets values that no thread can read any more. No other thread is inside.
pub fn forget() {
    if !is_on() {
        return;
    }
    let mut known: Option<Vec<Epoch>> = None;
    threads::for_each_running(|thread| {
        // SAFETY: no other thread is inside, so the clocks do not change; states are never freed.
        let clocks = unsafe { &(*thread).clocks };
        let knows =
            |tid: usize| if tid == usize::from(clocks.tid) { clocks.epoch } else { clocks.cur.hb.get(tid as Tid) };
        match &mut known {
            None => known = Some((0..=usize::from(clocks.tid).max(clocks.cur.hb.epochs().len())).map(knows).collect()),
            Some(known) => {
                known.iter_mut().enumerate().for_each(|(tid, epoch)| *epoch = (*epoch).min(knows(tid)));
            }
        }
    });
    let known = known.unwrap_or_default();
    records::for_each(|record| {
        if let Some(KnownValues::Messages { location, .. }) = record.values() {
            location.forget(&known);
        }
    });
}
