//! Turns the results of clocks and cells into findings.
//!
//! A finding is made once for each pair of places in the program; after that it is only counted, without a lock.

use crate::blocks::{self, HeapBlock};
use crate::caller;
use crate::chain::{self, ChainStep as ChainLink, EarlierAccess};
use crate::file;
use crate::interpose::annotations;
use crate::options;
use crate::rounds::{self, Loaded};
use crate::schedule;
use crate::spin::Spin;
use crate::spinning;
use crate::this_thread::WatchedThread;
use crate::threads;
use crate::trace::{self, ThreadTrace, Time, TracedAccess};
use ravelin_clocks::race::slot::{self, FREE, WRITE};
use ravelin_clocks::{AccessLink, AccessViolation, AtomicOrder, Lesson, SiteCode};
use ravelin_findings::{
    AccessKind, AccessRecord, FindingRecord, MemoryKind, OrderStep, OrderStepKind, Problem, Record, Spinning, notes,
};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PC: u64 = (1 << 48) - 1;
const KIND_SHIFT: u32 = 48;
const ORDER_SHIFT: u32 = 52;
const SIZE_SHIFT: u32 = 56;

/// An access that was just made.
#[derive(Clone, Copy)]
pub struct CompletedAccess {
    pub pc: usize,
    pub kind: AccessKind,
    pub order: AtomicOrder,
    pub size: usize,
    /// When it was made, in the thread's time.
    pub epoch: u32,
}

/// An access as the clocks remember it.
#[inline(always)]
pub fn site(pc: usize, kind: AccessKind, order: AtomicOrder, size: usize) -> SiteCode {
    pc as u64 & PC | (kind as u64) << KIND_SHIFT | (order as u64) << ORDER_SHIFT | (size as u64) << SIZE_SHIFT
}

/// A robustness violation at an access.
#[cold]
pub fn violation(thread: &mut WatchedThread, address: usize, violation: &AccessViolation, done: CompletedAccess) {
    if !options::robustness() {
        return;
    }
    let problem = match (done.kind, violation.reads) {
        (AccessKind::Store, _) => Problem::StaleWrite,
        (AccessKind::Load | AccessKind::CompareExchange | AccessKind::FailedCompareExchange, _) => Problem::StaleRead,
        _ => Problem::StaleUpdate,
    };
    let missed = violation.missed;
    let key = Key { access: done.pc as u64, other: missed.site & PC, problem };
    if is_settled(&key) {
        count(&key);
        return;
    }
    let mut complete = violation.complete && violation.reads && violation.listed > 0;
    let mut values = &violation.values[..violation.listed];
    if done.kind == AccessKind::Load && only_waits(thread, violation, done) {
        // No further evidence is needed.
        (complete, values) = (true, &[]);
    }
    if count(&key) {
        note_values(&key, values, complete);
        return;
    }
    let (other, forgotten) = match missed.written_at {
        Some(written_at) => remembered(missed.writer, written_at, missed.site, address),
        None => (bare(missed.writer, missed.seen_at, missed.site), 0),
    };
    let lesson = thread.clocks.lesson_about(missed.seen_by, missed.seen_at, done.epoch).copied();
    let path = lesson.map(|lesson| step(thread, &lesson));
    let finding = FindingRecord {
        count: 1,
        spinning: Spinning::No,
        problem,
        address: address as u64,
        access: AccessRecord {
            thread: thread.number,
            kind: done.kind,
            order: finding_order(done.order),
            size: done.size as u64,
            stack: thread.stack_at(done.pc),
        },
        other,
        forgotten,
        place: place(address),
        path: path.into_iter().collect(),
        point: schedule::progress().0,
    };
    publish(key, finding, values, complete);
}

/// Whether the code after a load goes back to it with every value that the load may have read instead.
fn only_waits(thread: &WatchedThread, violation: &AccessViolation, done: CompletedAccess) -> bool {
    let caller = caller::last();
    let goes_round = |loaded| rounds::goes_round(&caller, loaded, done.size as u32, thread.stack);
    let values = &violation.values[..violation.listed];
    if caller.pc != done.pc as u64 || done.size > 8 || values.is_empty() {
        return false;
    }
    if violation.complete {
        values.iter().all(|&value| goes_round(Loaded::Exactly(value)))
    } else {
        violation.below.is_some_and(|limit| goes_round(Loaded::Below(limit)))
    }
}

/// A race of a non-atomic access with the access in `slot`. Of its `whole` bytes, `size` are in the word that races.
#[cold]
pub fn race(
    thread: &mut WatchedThread,
    address: usize,
    (size, whole): (usize, usize),
    mine: u64,
    slot: u64,
    pc: usize,
) {
    let kind = if mine & FREE != 0 {
        AccessKind::Free
    } else if mine & WRITE != 0 {
        AccessKind::PlainWrite
    } else {
        AccessKind::PlainRead
    };
    let access = AccessRecord {
        thread: thread.number,
        kind,
        order: ravelin_findings::RecordedOrder::Plain,
        size: whole as u64,
        stack: thread.stack_at(pc),
    };
    let now = thread.clocks.epoch;
    race_between(thread, access, now, (address, size), slot);
}

/// A race of an atomic access with the non-atomic one in `slot`.
#[cold]
pub fn race_of_atomic(thread: &mut WatchedThread, address: usize, slot: u64, done: CompletedAccess) {
    let access = AccessRecord {
        thread: thread.number,
        kind: done.kind,
        order: finding_order(done.order),
        size: done.size as u64,
        stack: thread.stack_at(done.pc),
    };
    race_between(thread, access, done.epoch, (address, done.size), slot);
}

/// A race of an access that `thread` makes at its epoch `now` with the bytes of an earlier access that the slot `other`
/// holds. The access touches `size` bytes from `address` on of the word that races.
fn race_between(thread: &WatchedThread, access: AccessRecord, now: u32, (address, size): (usize, usize), other: u64) {
    if !options::races() || annotations::is_benign(address, size) {
        return;
    }
    let pc = access.stack.first().copied().unwrap_or(0);
    // Searching for the other access is slow, so a place that races very often is only counted after a while.
    if let Some(key) = frequent(pc) {
        count(&key);
        return;
    }
    let word = address & !7;
    // Accesses of one epoch share a slot: of its bytes only those count that both accesses touch.
    let other = other & !(slot::BYTES & !slot::span(address & 7, size));
    let found = threads::trace_of(slot::tid(other), |trace| {
        trace.find(Time::Since(slot::epoch(other)), |at, size, shape| {
            let writes = (shape & trace::WRITES != 0) == (other & WRITE != 0);
            let atomic = (shape & trace::ATOMIC != 0) == (other & slot::ATOMIC != 0);
            writes && atomic && at < word + 8 && at + size > word && {
                let bytes = if at >= word { slot::span(at & 7, size) } else { slot::span(0, at + size - word) };
                bytes & other != 0
            }
        })
    })
    .flatten();
    let forgotten = if found.is_none() { forgets(slot::tid(other)) } else { 0 };
    let (tid, since) = (slot::tid(other), slot::epoch(other));
    let earlier = found.as_ref().map(|found| EarlierAccess { tid, epoch: found.epoch, since });
    // What is still known about a lost access: its bytes in this word.
    let bytes = u64::from(slot::bytes(other).count_ones());
    let size = found.as_ref().map_or(bytes, |found| found.size);
    let TracedAccess { stack, .. } = found.unwrap_or_default();
    let key = Key { access: pc, other: stack.first().copied().unwrap_or(0), problem: Problem::Race };
    remember_frequent(pc, &key);
    if count(&key) {
        return;
    }
    let atomic = other & slot::ATOMIC != 0;
    let freed = (other & FREE != 0).then(|| blocks::freed(address)).flatten();
    let kind = match (atomic, other & WRITE != 0) {
        _ if other & FREE != 0 => AccessKind::Free,
        (true, true) => AccessKind::Store,
        (true, false) => AccessKind::Load,
        (false, true) => AccessKind::PlainWrite,
        (false, false) => AccessKind::PlainRead,
    };
    let other = AccessRecord {
        thread: threads::number_of_tid(tid, since),
        kind,
        order: if atomic { ravelin_findings::RecordedOrder::Relaxed } else { ravelin_findings::RecordedOrder::Plain },
        size: freed.map_or(size, |block| block.size as u64),
        stack,
    };
    let finding = FindingRecord {
        count: 1,
        spinning: Spinning::No,
        problem: Problem::Race,
        address: address as u64,
        access,
        other,
        forgotten,
        place: freed.map_or_else(|| place(address), in_block),
        path: earlier.map_or_else(Vec::new, |earlier| {
            chain::between(earlier, thread, now, order_of).iter().map(chain_step).collect()
        }),
        point: schedule::progress().0,
    };
    publish(key, finding, &[], false);
}

/// An object of the C library that is used wrongly: a call, what makes it wrong, and the steps of a circle of locks.
#[cold]
pub fn misuse(problem: Problem, address: usize, access: AccessRecord, other: AccessRecord, path: Vec<OrderStep>) {
    misuse_of(problem, (address, place(address)), access, other, path);
}

/// The same of an object about which this is known.
#[cold]
pub fn misuse_of(
    problem: Problem,
    (address, place): (usize, MemoryKind),
    access: AccessRecord,
    other: AccessRecord,
    path: Vec<OrderStep>,
) {
    let place_of = |access: &AccessRecord| access.stack.first().copied().unwrap_or(0);
    // A signal handler interrupts whatever there is: it counts alone.
    let second = if problem == Problem::ErrnoChange { 0 } else { place_of(&other) };
    let key = Key { access: place_of(&access), other: second, problem };
    if count(&key) {
        return;
    }
    let finding = FindingRecord {
        count: 1,
        spinning: Spinning::No,
        problem,
        address: address as u64,
        access,
        other,
        forgotten: 0,
        place,
        path,
        point: schedule::progress().0,
    };
    publish(key, finding, &[], false);
}

/// The program ends: decides what is known about spinning.
pub fn settle() {
    for known in KNOWN.lock().iter() {
        known.settle();
    }
}

/// The stack of an access by the thread with this tid is forgotten: how many accesses ago it was at least.
fn forgets(tid: u16) -> u64 {
    file::note(notes::STACK_LOST);
    threads::trace_of(tid, ThreadTrace::since_forgotten).unwrap_or(0)
}

/// An access that the clocks remember, with its stack if the trace still has it. Otherwise also how many accesses ago
/// it was at least.
pub fn remembered(tid: u16, epoch: u32, site: SiteCode, address: usize) -> (AccessRecord, u64) {
    let pc = site & PC;
    let stack = threads::trace_of(tid, |trace| {
        trace.find(Time::Epoch(epoch), |at, _, shape| at == address & PC as usize && shape & trace::ATOMIC != 0)
    })
    .flatten()
    .map(|found| found.stack);
    let forgotten = if stack.is_none() && pc != 0 { forgets(tid) } else { 0 };
    let mut access = bare(tid, epoch, site);
    if let Some(stack) = stack.filter(|stack| stack.first() == Some(&pc)) {
        access.stack = stack;
    }
    (access, forgotten)
}

/// The same without its callers.
fn bare(tid: u16, epoch: u32, site: SiteCode) -> AccessRecord {
    use AccessKind::{CompareExchange, FailedCompareExchange, Load, Store, Update};
    let is = |kind: &AccessKind| *kind as u64 == site >> KIND_SHIFT & 0xf;
    AccessRecord {
        thread: threads::number_of_tid(tid, epoch),
        kind: [Load, Store, Update, FailedCompareExchange].into_iter().find(is).unwrap_or(CompareExchange),
        order: finding_order(order_of(site)),
        size: site >> SIZE_SHIFT,
        stack: vec![site & PC],
    }
}

/// The order of an access that the clocks remember.
fn order_of(site: SiteCode) -> AtomicOrder {
    const ORDERS: [AtomicOrder; 5] =
        [AtomicOrder::Relaxed, AtomicOrder::Acquire, AtomicOrder::Release, AtomicOrder::AcqRel, AtomicOrder::SeqCst];
    ORDERS[(site >> ORDER_SHIFT & 0xf).min(4) as usize]
}

fn chain_step(link: &ChainLink) -> OrderStep {
    let ChainLink { reader, reading, lacks_release, lacks_acquire } = *link;
    OrderStep {
        kind: OrderStepKind::ReadsFrom,
        address: reading.address,
        before: bare(reading.source.writer, reading.source.written_at, reading.source.site),
        after: bare(reader, reading.epoch, reading.site),
        lacks_release,
        lacks_acquire,
    }
}

fn step(thread: &WatchedThread, lesson: &Lesson) -> OrderStep {
    OrderStep {
        kind: match lesson.link {
            AccessLink::ReadsFrom => OrderStepKind::ReadsFrom,
            AccessLink::Overwrites => OrderStepKind::Overwrites,
            AccessLink::OverwritesRead => OrderStepKind::OverwritesRead,
        },
        address: lesson.place,
        before: bare(lesson.teacher, lesson.taught_at, lesson.taught_site),
        after: AccessRecord { thread: thread.number, ..bare(thread.clocks.tid, lesson.learnt_at, lesson.learnt_site) },
        lacks_release: !order_of(lesson.taught_site).releases(),
        lacks_acquire: !order_of(lesson.learnt_site).acquires(),
    }
}

pub fn finding_order(order: AtomicOrder) -> ravelin_findings::RecordedOrder {
    match order {
        AtomicOrder::Relaxed => ravelin_findings::RecordedOrder::Relaxed,
        AtomicOrder::Acquire => ravelin_findings::RecordedOrder::Acquire,
        AtomicOrder::Release => ravelin_findings::RecordedOrder::Release,
        AtomicOrder::AcqRel => ravelin_findings::RecordedOrder::AcqRel,
        AtomicOrder::SeqCst => ravelin_findings::RecordedOrder::SeqCst,
    }
}

fn in_block(block: HeapBlock) -> MemoryKind {
    MemoryKind::Heap {
        start: block.start as u64,
        size: block.size as u64,
        thread: u64::from(block.thread),
        stack: block.calls.into_iter().take_while(|&pc| pc != 0).map(|pc| pc as u64).collect(),
    }
}

pub fn place(address: usize) -> MemoryKind {
    if let Some(block) = blocks::containing(address) {
        return in_block(block);
    }
    match threads::stack_owner(address) {
        Some(thread) => MemoryKind::Stack { thread },
        None => MemoryKind::Other,
    }
}

/// Nothing is found yet: this process has another file than the one that it was copied from.
pub fn begin_again() {
    let mut known = KNOWN.lock();
    known.clear();
    for (hash, count) in HASHES.iter().zip(&COUNTS) {
        hash.store(0, Ordering::Relaxed);
        count.store(0, Ordering::Relaxed);
    }
    SETTLED.iter().for_each(|hash| hash.store(0, Ordering::Relaxed));
    FREQUENT.lock().clear();
}

/// What makes two findings the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    access: u64,
    other: u64,
    problem: Problem,
}

impl Key {
    fn hash(&self) -> u64 {
        let mixed = self.access.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ self.other.wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
            ^ self.problem as u64;
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
    }
}

struct ReportedFinding {
    key: Key,
    /// The finding in the file; null if there was no room.
    record: file::FileRecord,
    /// The values that may be read and of which only other runs of the loop can say that they make it go round.
    values: Vec<u64>,
    /// Whether all values that may be read are listed or known to do that.
    complete: bool,
}

impl ReportedFinding {
    fn settle(&self) {
        let harmless =
            self.complete && (self.values.is_empty() || spinning::harmless(self.key.access as usize, &self.values));
        self.record.set_spinning(if harmless { Spinning::Harmless } else { Spinning::No });
    }
}

static KNOWN: Spin<Vec<ReportedFinding>> = Spin::new(Vec::new());

const TABLE: usize = 1 << 14;
/// Hashes of known findings and where their counts are; written under the lock of `KNOWN`.
static HASHES: [AtomicU64; TABLE] = [const { AtomicU64::new(0) }; TABLE];
/// Hashes of findings of which enough is known.
static SETTLED: [AtomicU64; TABLE] = [const { AtomicU64::new(0) }; TABLE];
static COUNTS: [AtomicUsize; TABLE] = [const { AtomicUsize::new(0) }; TABLE];

/// Counts a known finding; false if it is not known.
fn count(key: &Key) -> bool {
    let hash = key.hash();
    let mut at = (hash >> 32) as usize % TABLE;
    for _ in 0..64 {
        match HASHES[at].load(Ordering::Acquire) {
            0 => return false,
            found if found == hash => {
                file::count(COUNTS[at].load(Ordering::Relaxed));
                return true;
            }
            _ => at = (at + 1) % TABLE,
        }
    }
    false
}

/// Whether a finding is known, and no further value changes what is said about it.
fn is_settled(key: &Key) -> bool {
    let hash = key.hash();
    SETTLED[(hash >> 32) as usize % TABLE].load(Ordering::Relaxed) == hash
}

/// From now on a finding is only counted. Of several with the same place in the table the last one is.
fn set_settled(key: &Key) {
    let hash = key.hash();
    SETTLED[(hash >> 32) as usize % TABLE].store(hash, Ordering::Relaxed);
}

fn note_values(key: &Key, values: &[u64], complete: bool) {
    const MOST: usize = 16;
    let mut known = KNOWN.lock();
    let Some(known) = known.iter_mut().find(|known| known.key == *key) else {
        return;
    };
    if !known.complete {
        return set_settled(key);
    }
    known.complete = complete;
    for value in values {
        if !known.values.contains(value) {
            known.complete &= known.values.len() < MOST;
            known.values.push(*value);
        }
    }
}

fn publish(key: Key, finding: FindingRecord, values: &[u64], complete: bool) {
    let found_at = finding.point;
    {
        let mut known = KNOWN.lock();
        if known.iter().any(|known| known.key == key) {
            drop(known);
            count(&key);
            return;
        }
        let steps = finding.path.iter().flat_map(|step| [&step.before, &step.after]);
        for access in [&finding.access, &finding.other].into_iter().chain(steps) {
            threads::describe(access.thread);
        }
        if let MemoryKind::Heap { thread, .. } | MemoryKind::Stack { thread } = &finding.place {
            threads::describe(*thread);
        }
        file::write_modules();
        let record = file::write(&Record::Finding(finding));
        let hash = key.hash();
        let mut at = (hash >> 32) as usize % TABLE;
        for _ in 0..64 {
            if HASHES[at].load(Ordering::Relaxed) == 0 {
                COUNTS[at].store(record.count_address(), Ordering::Relaxed);
                HASHES[at].store(hash, Ordering::Release);
                break;
            }
            at = (at + 1) % TABLE;
        }
        let new = ReportedFinding { key, record, values: values.to_vec(), complete };
        new.settle();
        known.push(new);
    }
    if options::halt_at(found_at) {
        crate::process::halt();
    }
}

/// How many times the other side of a race at one place is searched for.
const PATIENCE: u64 = 64;
static FREQUENT: Spin<Vec<(u64, u64, Option<Key>)>> = Spin::new(Vec::new());

fn frequent(pc: u64) -> Option<Key> {
    let mut frequent = FREQUENT.lock();
    let (_, times, key) = frequent.iter_mut().find(|(place, ..)| *place == pc)?;
    *times += 1;
    if *times > PATIENCE { *key } else { None }
}

fn remember_frequent(pc: u64, key: &Key) {
    let mut frequent = FREQUENT.lock();
    match frequent.iter_mut().find(|(place, ..)| *place == pc) {
        Some((_, _, last)) => *last = Some(*key),
        None => frequent.push((pc, 1, Some(*key))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::findings;
    use crate::shadow::tests::unused;
    use crate::threads::tests::watched;
    use crate::{memory, this_thread};
    use ravelin_clocks::Tid;

    const ORDERS: [AtomicOrder; 5] =
        [AtomicOrder::Relaxed, AtomicOrder::Acquire, AtomicOrder::Release, AtomicOrder::AcqRel, AtomicOrder::SeqCst];

    #[test]
    fn an_access_is_read_back_from_what_the_clocks_remember_of_it() {
        for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Update, AccessKind::CompareExchange] {
            for order in ORDERS {
                for size in [1, 2, 4, 8, 16] {
                    let site = site(0x7fff_1234_5678, kind, order, size);
                    let access = bare(Tid::MAX, 1, site);
                    assert_eq!(order_of(site), order);
                    assert_eq!((access.kind, access.size), (kind, size as u64));
                    assert_eq!(access.stack, [0x7fff_1234_5678]);
                    assert_eq!(access.order, finding_order(order));
                }
            }
        }
    }

    fn key(access: u64, other: u64) -> Key {
        Key { access, other, problem: Problem::StaleRead }
    }

    fn finding(address: u64) -> FindingRecord {
        let access = bare(Tid::MAX, 1, site(1, AccessKind::Load, AtomicOrder::Relaxed, 4));
        FindingRecord {
            count: 1,
            spinning: Spinning::No,
            problem: Problem::StaleRead,
            address,
            other: access.clone(),
            access,
            forgotten: 0,
            place: MemoryKind::Other,
            path: Vec::new(),
            point: 1,
        }
    }

    fn finding_records(address: u64) -> Vec<FindingRecord> {
        findings().findings.into_iter().filter(|finding| finding.address == address).collect()
    }

    #[test]
    fn a_finding_is_written_once_and_counted_after_that() {
        findings();
        let (mine, address) = (key(0x4e90_0001, 0x4e90_0002), 0x4e90_0003);
        assert!(!count(&mine), "it is not known yet");
        publish(mine, finding(address), &[], false);
        publish(mine, finding(address), &[], false);
        assert!(count(&mine));
        assert!(!count(&key(0x4e90_0002, 0x4e90_0001)), "the other way round is another one");
        assert!(!count(&Key { problem: Problem::StaleWrite, ..mine }), "so is another problem at the same places");
        assert_eq!(finding_records(address).iter().map(|finding| finding.count).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn many_findings_are_told_apart() {
        findings();
        for access in 0..300 {
            publish(key(0x4e91_0000 + access, 8), finding(0x4e91), &[], false);
        }
        assert_eq!(finding_records(0x4e91).len(), 300);
        assert!((0..300).all(|access| count(&key(0x4e91_0000 + access, 8))));
        assert!(finding_records(0x4e91).iter().all(|finding| finding.count == 2));
    }

    #[test]
    fn a_stale_read_of_values_that_only_make_a_loop_go_round_is_harmless_spinning() {
        findings();
        let (place, address) = (0x4e92_0000_u64, 0x4e92_0001);
        let mine = key(place, 1);
        publish(mine, finding(address), &[0], true);
        assert_eq!(finding_records(address)[0].spinning, Spinning::No, "nothing is known of a loop");
        let mut last = spinning::LastLoad::default();
        for value in [0, 0, 1, 1, 9] {
            last.loaded(place as usize, 0x100, value);
        }
        last.left();
        settle();
        assert_eq!(finding_records(address)[0].spinning, Spinning::Harmless);
        note_values(&mine, &[1], true);
        settle();
        assert_eq!(finding_records(address)[0].spinning, Spinning::Harmless);
        note_values(&mine, &[9], true);
        settle();
        assert_eq!(finding_records(address)[0].spinning, Spinning::No, "this value leaves the loop");
    }

    #[test]
    fn values_that_are_not_all_known_are_not_harmless() {
        findings();
        let (place, address) = (0x4e93_0000_u64, 0x4e93_0001);
        let mut last = spinning::LastLoad::default();
        (0..3).for_each(|_| last.loaded(place as usize, 0x100, 0));
        publish(key(place, 1), finding(address), &[0], true);
        assert_eq!(finding_records(address)[0].spinning, Spinning::Harmless);
        note_values(&key(place, 1), &[0], false);
        settle();
        assert_eq!(finding_records(address)[0].spinning, Spinning::No);
        note_values(&key(place, 1), &[0], true);
        settle();
        assert_eq!(finding_records(address)[0].spinning, Spinning::No, "what was not listed once stays unknown");
        assert!(is_settled(&key(place, 1)), "so no further value has to be looked at");
    }

    #[test]
    fn a_finding_of_which_more_may_become_known_is_not_settled() {
        findings();
        let mine = key(0x4e95_0000, 1);
        assert!(!is_settled(&mine));
        publish(mine, finding(0x4e95), &[0], true);
        note_values(&mine, &[1], true);
        note_values(&mine, &[2], true);
        assert!(!is_settled(&mine));
    }

    #[test]
    fn the_other_side_of_a_race_is_looked_for_a_limited_number_of_times() {
        let (pc, mine) = (0x4e94_0000, key(1, 2));
        assert!(frequent(pc).is_none());
        remember_frequent(pc, &mine);
        let looked = (0..1_000).take_while(|_| frequent(pc).is_none()).count() as u64;
        assert_eq!(looked + 1, PATIENCE);
        assert!(frequent(pc) == Some(mine));
        assert!(frequent(pc + 1).is_none());
    }

    #[test]
    fn an_address_is_in_a_block_of_the_heap_or_on_a_stack_or_elsewhere() {
        watched(|| {
            let (block, stack) = (unused(64), unused(64));
            memory::allocated(block, 40, 48, 5);
            let thread = this_thread::me();
            // SAFETY: the calling thread's own state.
            let number = unsafe {
                (*thread).stack = (stack, stack + 64);
                (*thread).number
            };
            assert_eq!(
                place(block + 8),
                MemoryKind::Heap { start: block as u64, size: 40, thread: number, stack: vec![5] }
            );
            assert_eq!(place(block + 40), MemoryKind::Other);
            assert_eq!(place(stack + 63), MemoryKind::Stack { thread: number });
            assert_eq!(place(stack + 64), MemoryKind::Other);
        });
    }
}
