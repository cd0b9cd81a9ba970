//! What a thread did recently: enough to find the stack of an access that turns out to matter later.
//!
//! A ring of words, in parts. A part begins with the stack and the time of that moment, so that it can be read without
//! the parts before it. Time is recorded twice: as the epoch, and as the epoch since which nothing was released, which
//! is what cells remember. An atomic access ends its epoch; a word for the time is needed only in other cases. The
//! owner writes. Any thread may read while the owner continues to write, and checks afterwards that the part was not
//! overwritten meanwhile.

use crate::mapping;
use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many parts a ring has unless the user says otherwise.
const USUAL_PARTS: usize = 8;
/// One part is written, one may be about to be, and the others are read.
const FEWEST_PARTS: usize = 4;
const PART_WORDS: usize = 4096;
/// The words of an access.
const ACCESS_WORDS: usize = 2;
/// No event takes more words.
const RESERVE: usize = 4;
/// How far ahead of what is written the ring is fetched.
const AHEAD: usize = 16;
/// Frames remembered at the beginning of a part.
const FRAMES: usize = 256;

const TAG: u64 = 0xf << 60;
const ENTER: u64 = 1 << 60;
const LEAVE: u64 = 2 << 60;
const EPOCH: u64 = 3 << 60;
const ACCESS: u64 = 4 << 60;
const STACK: u64 = 5 << 60;
const SINCE: u64 = 6 << 60;
/// Where an access of more than 16 bytes begins; the next word is its length. The access that follows, marked as
/// [`WHOLE`], is all of it.
const RANGE: u64 = 7 << 60;
/// In the first word of an access, beside the code address: its shape.
const SHAPE_SHIFT: u32 = 48;
const LOW: u64 = (1 << 48) - 1;

/// Set in the shape of an access that writes.
pub const WRITES: u64 = 1;
/// Set in the shape of an atomic access.
pub const ATOMIC: u64 = 2;
/// Above this bit of a shape: one less than the size.
const SIZE_SHIFT: u32 = 2;
/// Set in the shape of an access of more than 16 bytes.
const WHOLE: u64 = 1 << 6;

/// The shape of an access of 1 to 16 bytes.
#[inline(always)]
pub fn shape(writes: bool, atomic: bool, size: usize) -> u64 {
    (if writes { WRITES } else { 0 }) | (if atomic { ATOMIC } else { 0 }) | (size as u64 - 1) << SIZE_SHIFT
}

/// The size of an access of this shape, within a word or two.
fn size(shape: u64) -> usize {
    (shape >> SIZE_SHIFT & 0xf) as usize + 1
}

/// How many parts new rings have.
static PARTS: AtomicUsize = AtomicUsize::new(USUAL_PARTS);

/// Makes new rings remember at least so many accesses, if nothing else happens between them.
pub fn want(accesses: usize) {
    PARTS.store(parts_for(accesses), Ordering::Relaxed);
}

fn parts_for(accesses: usize) -> usize {
    // The oldest part is about to be overwritten, and the newest is not full.
    (accesses.saturating_mul(ACCESS_WORDS).div_ceil(PART_WORDS) + 2).max(FEWEST_PARTS)
}

/// One thread's ring.
pub struct ThreadTrace {
    words: *mut AtomicU64,
    /// How many parts there are.
    parts: usize,
    /// Where the next word goes.
    next: *mut AtomicU64,
    /// From here on, a new part begins.
    limit: *mut AtomicU64,
    /// How many words were written to `words`, counting whole parts; read by others.
    part: AtomicUsize,
    /// The epoch, and the epoch since which nothing was released, as a reader of the ring would know them.
    epoch: u32,
    since: u32,
}

/// Which of the two times is used to search for an access.
#[derive(Clone, Copy)]
pub enum Time {
    /// The epoch of the access.
    Epoch(u32),
    /// The epoch since which nothing had been released at the access.
    Since(u32),
}

/// A call that has not returned: where to, and the stack pointer at that time.
#[derive(Clone, Copy)]
pub struct CallFrame {
    /// The return address.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
}

impl ThreadTrace {
    /// An empty ring; `None` if memory has run out.
    pub fn new() -> Option<ThreadTrace> {
        let parts = PARTS.load(Ordering::Relaxed);
        let words = mapping::map(parts * PART_WORDS * 8).cast::<AtomicU64>();
        if words.is_null() {
            return None;
        }
        Some(ThreadTrace {
            words,
            parts,
            next: words,
            // SAFETY: within the mapping.
            limit: unsafe { words.add(PART_WORDS - RESERVE) },
            part: AtomicUsize::new(0),
            epoch: 0,
            since: 0,
        })
    }

    /// No ring: the value that replaces one that was taken.
    pub fn none() -> ThreadTrace {
        ThreadTrace {
            words: std::ptr::null_mut(),
            parts: FEWEST_PARTS,
            next: std::ptr::null_mut(),
            limit: std::ptr::null_mut(),
            part: AtomicUsize::new(0),
            epoch: 0,
            since: 0,
        }
    }

    /// Gives an empty ring, made before the user's wish was known, the size that is wanted now.
    pub fn resize(&mut self, stack: &[CallFrame]) {
        if self.parts != PARTS.load(Ordering::Relaxed)
            && let Some(new) = ThreadTrace::new()
        {
            let (epoch, since) = (self.epoch, self.since);
            self.give_back();
            *self = ThreadTrace { epoch, since, ..new };
            self.begin_part(stack);
        }
    }

    /// Frees the memory; nothing is remembered any more.
    pub fn give_back(&mut self) {
        let ThreadTrace { words, parts, .. } = std::mem::replace(self, ThreadTrace::none());
        if !words.is_null() {
            // SAFETY: `new` mapped it with this length, and nothing refers to it now.
            unsafe { mapping::unmap(words.cast(), parts * PART_WORDS * 8) };
        }
    }

    #[inline(always)]
    fn put(&mut self, word: u64) {
        // SAFETY: `next` is below `limit` plus the reserve, within the mapping.
        unsafe {
            (*self.next).store(word, Ordering::Relaxed);
            self.next = self.next.add(1);
        }
    }

    /// Begins a part if this one is full.
    #[inline(always)]
    fn room(&mut self, stack: &[CallFrame]) {
        // The ring is larger than the nearest cache, and an atomic instruction that follows waits for what is written.
        // SAFETY: prefetching a cache line reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(self.next.wrapping_add(AHEAD).cast()) };
        if self.next >= self.limit {
            self.begin_part(stack);
        }
    }

    #[cold]
    fn begin_part(&mut self, stack: &[CallFrame]) {
        let part = self.part.load(Ordering::Relaxed) + 1;
        self.part.store(part, Ordering::SeqCst);
        // SAFETY: the part lies within the mapping.
        unsafe {
            self.next = self.words.add(part % self.parts * PART_WORDS);
            self.limit = self.next.add(PART_WORDS - RESERVE);
        }
        let frames = &stack[stack.len().saturating_sub(FRAMES)..];
        self.put(STACK | frames.len() as u64);
        for frame in frames {
            self.put(frame.pc as u64);
        }
        self.put(EPOCH | u64::from(self.epoch));
        self.put(SINCE | u64::from(self.since));
    }

    /// A thread takes over the ring, or gets another number. Sets its time from its first event on: the time at the
    /// start of a part must not be later than that.
    pub fn begin(&mut self, epoch: u32, since: u32) {
        (self.epoch, self.since) = (epoch, since);
        self.begin_part(&[]);
    }

    /// A function was entered.
    #[inline(always)]
    pub fn enter(&mut self, pc: usize, stack: &[CallFrame]) {
        self.room(stack);
        self.put(ENTER | pc as u64 & LOW);
    }

    /// A function was left.
    #[inline(always)]
    pub fn leave(&mut self, stack: &[CallFrame]) {
        self.room(stack);
        self.put(LEAVE);
    }

    /// The time, after an event.
    #[inline(always)]
    pub fn time(&mut self, stack: &[CallFrame], epoch: u32, since: u32) {
        if self.epoch != epoch {
            // After an access that was no event this is the smaller one. A part that began with the other would seem to
            // come later.
            self.epoch = epoch;
            self.room(stack);
            self.put(EPOCH | u64::from(epoch));
        }
        if self.since != since {
            self.room(stack);
            self.since = since;
            self.put(SINCE | u64::from(since));
        }
    }

    /// An access.
    #[inline(always)]
    pub fn access(&mut self, pc: usize, address: usize, shape: u64, stack: &[CallFrame]) {
        self.room(stack);
        self.put(ACCESS | shape << SHAPE_SHIFT | pc as u64 & LOW);
        self.put(address as u64 & LOW);
        if shape & ATOMIC != 0 {
            self.epoch += 1;
        }
    }

    /// A non-atomic access of `length` bytes, as a whole.
    pub fn access_range(&mut self, pc: usize, start: usize, length: usize, writes: bool, stack: &[CallFrame]) {
        self.room(stack);
        self.put(RANGE | start as u64 & LOW);
        self.put(length as u64);
        self.put(ACCESS | (shape(writes, false, 8) | WHOLE) << SHAPE_SHIFT | pc as u64 & LOW);
        self.put(start as u64 & LOW);
    }

    /// The last access at `time` that `wanted(address, size, shape)` accepts; `None` if it is no longer remembered.
    pub fn find(&self, time: Time, wanted: impl Fn(usize, usize, u64) -> bool) -> Option<TracedAccess> {
        if self.words.is_null() {
            return None;
        }
        let newest = self.part.load(Ordering::SeqCst);
        for part in (newest.saturating_sub(self.parts - 2)..=newest).rev() {
            let found = self.find_in(part, time, &wanted);
            // The part after the next one overwrites this one.
            if self.part.load(Ordering::SeqCst) > part + self.parts - 1 {
                return None;
            }
            match found {
                TraceLookup::Here(access) => return Some(access),
                TraceLookup::Later => {}
                TraceLookup::Nowhere => return None,
            }
        }
        None
    }

    /// How many accesses it has at least made since an access that it has forgotten; 0 if it has forgotten none.
    pub fn since_forgotten(&self) -> u64 {
        let newest = self.part.load(Ordering::SeqCst);
        if self.words.is_null() || newest < self.parts {
            return 0;
        }
        // The parts that are full; what the newest has is not counted.
        let full = newest + 2 - self.parts..newest;
        full.map(|part| self.accesses_in(part)).sum()
    }

    /// How many accesses a full part has.
    fn accesses_in(&self, part: usize) -> u64 {
        let begin = part % self.parts * PART_WORDS;
        let (mut index, mut accesses) = (0, 0);
        while index < PART_WORDS - RESERVE {
            // SAFETY: within the part.
            let event = unsafe { (*self.words.add(begin + index)).load(Ordering::Relaxed) };
            index += match event & TAG {
                ACCESS => {
                    accesses += 1;
                    ACCESS_WORDS
                }
                RANGE => 2,
                STACK => 1 + (event & !TAG) as usize,
                _ => 1,
            };
        }
        accesses
    }

    fn find_in(&self, part: usize, time: Time, wanted: &impl Fn(usize, usize, u64) -> bool) -> TraceLookup {
        let begin = part % self.parts * PART_WORDS;
        let word = |index: usize| {
            // SAFETY: within the part, as the callers check.
            unsafe { (*self.words.add(begin + index)).load(Ordering::Relaxed) }
        };
        // SAFETY: the owner may be writing it, but a pointer is written atomically.
        let next = unsafe { std::ptr::read_volatile(&self.next) } as usize;
        let end = match (next - self.words as usize) / 8 {
            // The words after the owner's position are from an earlier round.
            index if (begin..begin + PART_WORDS).contains(&index) => index - begin,
            _ => PART_WORDS,
        };
        let (told, at) = match time {
            Time::Epoch(epoch) => (EPOCH, epoch),
            Time::Since(since) => (SINCE, since),
        };
        let mut found = TraceLookup::Later;
        let mut stack: Vec<u64> = Vec::new();
        let (mut now, mut first, mut epoch) = (0, 0, 0);
        let mut range = None;
        let mut index = 0;
        while index < end {
            let event = word(index);
            index += 1;
            match event & TAG {
                STACK => {
                    let frames = (event & !TAG) as usize;
                    if frames > FRAMES || index + frames > end {
                        break;
                    }
                    stack.extend((0..frames).map(|frame| word(index + frame)));
                    index += frames;
                }
                ENTER => stack.push(event & LOW),
                LEAVE => {
                    stack.pop();
                }
                tag @ (EPOCH | SINCE) => {
                    let next = event as u32;
                    if tag == EPOCH {
                        epoch = next;
                    }
                    if tag != told {
                        continue;
                    }
                    // An access that turned out to be no event does not change the epoch.
                    if next + 1 < now {
                        break;
                    }
                    if now == 0 && next > at {
                        // The wanted access is before this part.
                        return TraceLookup::Later;
                    }
                    if next > at {
                        // If the time continues from an earlier part, the access may be there.
                        return if first < at { found.or_nowhere() } else { found };
                    }
                    if now == 0 {
                        first = next;
                    }
                    now = next;
                }
                RANGE => {
                    if index >= end {
                        break;
                    }
                    range = Some(word(index));
                    index += 1;
                }
                ACCESS => {
                    if index >= end {
                        break;
                    }
                    let address = word(index) as usize;
                    index += 1;
                    let shape = (event & !TAG) >> SHAPE_SHIFT;
                    let size = range.filter(|_| shape & WHOLE != 0).unwrap_or(size(shape) as u64);
                    if now == at && wanted(address, size as usize, shape) {
                        let mut calls = vec![event & LOW];
                        calls.extend(stack.iter().rev());
                        found = TraceLookup::Here(TracedAccess { stack: calls, size, epoch });
                    }
                    if shape & ATOMIC != 0 {
                        epoch += 1;
                        now += u32::from(told == EPOCH);
                    }
                }
                _ => break,
            }
        }
        found
    }
}

/// An access that was found in the trace.
#[derive(Default)]
pub struct TracedAccess {
    /// Innermost first.
    pub stack: Vec<u64>,
    /// Of the whole access, also if it is longer than a word.
    pub size: u64,
    /// The thread's epoch at the access.
    pub epoch: u32,
}

enum TraceLookup {
    Here(TracedAccess),
    /// Not in this part, but maybe in one before it.
    Later,
    Nowhere,
}

impl TraceLookup {
    fn or_nowhere(self) -> TraceLookup {
        match self {
            TraceLookup::Later => TraceLookup::Nowhere,
            found => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: u64 = 3 << SIZE_SHIFT;

    fn trace() -> ThreadTrace {
        let mut trace = ThreadTrace::new().expect("memory for a trace");
        trace.begin(1, 1);
        trace
    }

    fn frames(calls: &[usize]) -> Vec<CallFrame> {
        calls.iter().map(|&pc| CallFrame { pc, sp: 0 }).collect()
    }

    /// The stack of the access to `address` at a time.
    fn stack_of(trace: &ThreadTrace, time: Time, address: usize) -> Option<Vec<u64>> {
        trace.find(time, |at, _, _| at == address).map(|found| found.stack)
    }

    #[test]
    fn a_shape_tells_size_and_kind() {
        for size in 1..=16 {
            for (writes, atomic) in [(false, false), (false, true), (true, false), (true, true)] {
                let shape = shape(writes, atomic, size);
                assert_eq!(super::size(shape), size);
                assert_eq!((shape & WRITES != 0, shape & ATOMIC != 0), (writes, atomic));
                assert_eq!(shape << SHAPE_SHIFT & TAG, 0, "it fits beside the tag");
            }
        }
    }

    #[test]
    fn an_access_is_found_with_the_calls_it_was_made_in() {
        let mut trace = trace();
        trace.enter(10, &frames(&[]));
        trace.enter(20, &frames(&[10]));
        trace.access(1, 0x100, READ, &frames(&[10, 20]));
        trace.leave(&frames(&[10, 20]));
        trace.access(2, 0x200, READ, &frames(&[10]));
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x100), Some(vec![1, 20, 10]));
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x200), Some(vec![2, 10]));
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x300), None);
    }

    #[test]
    fn of_several_accesses_at_one_time_the_last_one_is_found() {
        let mut trace = trace();
        for pc in 1..=3 {
            trace.access(pc, 0x100, READ | u64::from(pc == 3), &[]);
        }
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x100), Some(vec![3]));
        let read = trace.find(Time::Epoch(1), |_, _, shape| shape & WRITES == 0).expect("a read");
        assert_eq!(read.stack, [2]);
        assert_eq!(read.size, 4);
    }

    #[test]
    fn an_atomic_access_ends_its_epoch() {
        let mut trace = trace();
        for pc in 1..=3 {
            trace.access(pc, 0x100, READ | ATOMIC, &[]);
        }
        for epoch in 1..=3 {
            assert_eq!(stack_of(&trace, Time::Epoch(epoch), 0x100), Some(vec![u64::from(epoch)]));
        }
        assert_eq!(stack_of(&trace, Time::Epoch(4), 0x100), None);
        assert_eq!(stack_of(&trace, Time::Since(1), 0x100), Some(vec![3]));
    }

    #[test]
    fn an_atomic_access_that_turned_out_to_be_no_event_leaves_its_epoch() {
        let mut trace = trace();
        trace.access(1, 0x100, READ | ATOMIC, &[]);
        trace.time(&[], 1, 1);
        trace.access(2, 0x200, READ, &[]);
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x100), Some(vec![1]));
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x200), Some(vec![2]));
    }

    #[test]
    fn a_ring_remembers_as_many_accesses_as_are_wanted() {
        for accesses in [1, 5_000, 40_000, 1_000_000] {
            assert!((parts_for(accesses) - 2) * PART_WORDS >= accesses * ACCESS_WORDS, "{accesses}");
        }
        assert_eq!(parts_for(0), FEWEST_PARTS);
    }

    #[test]
    fn a_ring_knows_how_many_accesses_ago_a_forgotten_one_was() {
        let mut trace = trace();
        assert_eq!(trace.since_forgotten(), 0);
        let mut made = 0;
        while stack_of(&trace, Time::Epoch(1), 0x10).is_some() || made == 0 {
            trace.access(1, if made == 0 { 0x10 } else { 0x20 }, READ, &[]);
            made += 1;
        }
        let known = trace.since_forgotten();
        assert!(known > 0 && known < made, "{known} of {made}");
        assert!(known * 2 > made, "{known} of {made}");
    }

    #[test]
    fn the_two_times_are_looked_for_apart() {
        let mut trace = trace();
        trace.access(1, 0x100, READ, &[]);
        trace.time(&[], 2, 1);
        trace.access(2, 0x100, READ, &[]);
        trace.time(&[], 3, 3);
        trace.access(3, 0x100, READ, &[]);
        let found = |time| trace.find(time, |_, _, _| true).map(|found| (found.stack[0], found.epoch));
        assert_eq!([1, 2, 3, 4].map(|at| found(Time::Epoch(at))), [Some((1, 1)), Some((2, 2)), Some((3, 3)), None]);
        assert_eq!([1, 2, 3, 4].map(|at| found(Time::Since(at))), [Some((2, 2)), None, Some((3, 3)), None]);
    }

    #[test]
    fn a_thread_that_takes_over_the_ring_keeps_what_the_one_before_it_did() {
        let mut trace = trace();
        trace.enter(10, &[]);
        trace.access(1, 0x100, READ, &frames(&[10]));
        trace.begin(7, 7);
        trace.access(2, 0x100, READ, &[]);
        assert_eq!(stack_of(&trace, Time::Since(1), 0x100), Some(vec![1, 10]));
        assert_eq!(stack_of(&trace, Time::Since(7), 0x100), Some(vec![2]), "without the calls of the other");
    }

    #[test]
    fn nothing_is_found_where_no_ring_is() {
        assert_eq!(stack_of(&ThreadTrace::none(), Time::Epoch(1), 0x100), None);
        let mut trace = trace();
        trace.access(1, 0x100, READ, &[]);
        trace.give_back();
        assert_eq!(stack_of(&trace, Time::Epoch(1), 0x100), None);
        trace.give_back();
    }

    #[test]
    fn the_innermost_calls_of_a_deep_stack_are_remembered_in_every_part() {
        let mut trace = trace();
        let deep = frames(&(1..=FRAMES + 50).collect::<Vec<_>>());
        trace.begin_part(&deep);
        trace.access(9_999, 0x100, READ, &deep);
        let stack = stack_of(&trace, Time::Epoch(1), 0x100).expect("an access");
        assert_eq!(stack.len(), FRAMES + 1);
        assert_eq!((stack[0], stack[1], stack[FRAMES]), (9_999, FRAMES as u64 + 50, 51));
    }

    /// A thread whose whole past is known, and its ring.
    struct Past {
        trace: ThreadTrace,
        calls: Vec<CallFrame>,
        epoch: u32,
        since: u32,
        accesses: Vec<Made>,
        random: u64,
    }

    /// One access of it.
    struct Made {
        epoch: u32,
        since: u32,
        address: usize,
        shape: u64,
        stack: Vec<u64>,
        /// The part of the ring it is in.
        part: usize,
    }

    impl Past {
        fn new(seed: u64) -> Past {
            Past { trace: trace(), calls: Vec::new(), epoch: 1, since: 1, accesses: Vec::new(), random: seed }
        }

        fn below(&mut self, end: u64) -> u64 {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 33) % end
        }

        fn access(&mut self, atomic: bool) {
            let (pc, address) = (0x1000 + self.below(50) as usize, 0x7f00_0000_0000 + self.below(6) as usize);
            let shape = shape(self.below(2) == 0, atomic, 1 + self.below(16) as usize);
            self.trace.access(pc, address, shape, &self.calls);
            let calls = self.calls.iter().rev().map(|frame| frame.pc as u64);
            self.accesses.push(Made {
                epoch: self.epoch,
                since: self.since,
                address,
                shape,
                stack: std::iter::once(pc as u64).chain(calls).collect(),
                part: self.trace.part.load(Ordering::Relaxed),
            });
        }

        fn step(&mut self) {
            match self.below(12) {
                0..3 if self.calls.len() < 60 => {
                    let pc = 0x2000 + self.below(1_000) as usize;
                    self.trace.enter(pc, &self.calls);
                    self.calls.push(CallFrame { pc, sp: 0 });
                }
                0..5 if !self.calls.is_empty() => {
                    self.trace.leave(&self.calls);
                    self.calls.pop();
                }
                5..8 => {
                    self.access(true);
                    // Some are no events.
                    self.epoch += u32::from(self.below(4) > 0);
                    if self.below(3) == 0 {
                        self.since = self.epoch;
                    }
                    self.trace.time(&self.calls, self.epoch, self.since);
                }
                8 => {
                    self.epoch += 1;
                    self.trace.time(&self.calls, self.epoch, self.since);
                }
                _ => self.access(false),
            }
        }

        /// Searches for an access by each of its times. Returns whether it, or a later one like it, was found.
        fn look_for(&self, index: usize) -> bool {
            let wanted = &self.accesses[index];
            let like = |address: usize, _: usize, shape: u64| address == wanted.address && shape == wanted.shape;
            let by_epoch = |access: &&Made| access.epoch == wanted.epoch;
            let by_since = |access: &&Made| access.since == wanted.since;
            let last = |time: &dyn Fn(&&Made) -> bool| {
                let mut latest = self.accesses.iter().rev();
                latest.find(|access| time(access) && like(access.address, 0, access.shape)).expect("itself")
            };
            let mut all_found = true;
            for (time, expected) in
                [(Time::Epoch(wanted.epoch), last(&by_epoch)), (Time::Since(wanted.since), last(&by_since))]
            {
                let newest = self.trace.part.load(Ordering::Relaxed);
                match self.trace.find(time, like) {
                    Some(found) => {
                        let found = (found.stack, found.size, found.epoch);
                        let size = size(expected.shape) as u64;
                        assert_eq!(found, (expected.stack.clone(), size, expected.epoch), "{index}");
                    }
                    None => {
                        assert!(
                            expected.part + USUAL_PARTS - 2 < newest,
                            "access {index} in part {} is lost",
                            expected.part
                        );
                        all_found = false;
                    }
                }
            }
            all_found
        }
    }

    #[test]
    fn every_access_of_the_last_parts_is_found_exactly_and_older_ones_not_at_all() {
        let (mut found, mut lost) = (0, 0);
        for seed in 1..=6 {
            let mut past = Past::new(seed);
            let mut part = 1;
            for _ in 0..45_000 {
                past.step();
                let newest = past.trace.part.load(Ordering::Relaxed);
                if newest == part || past.accesses.len() < 10 {
                    continue;
                }
                part = newest;
                // A part has just begun: its first and the previous part's last accesses are most likely to be lost.
                (0..10).for_each(|_| past.step());
                let made = past.accesses.len();
                let any = (0..4).map(|_| past.below(made as u64) as usize).collect::<Vec<_>>();
                for index in (made - 10..made).chain(any) {
                    match past.look_for(index) {
                        true => found += 1,
                        false => lost += 1,
                    }
                }
            }
            assert!(part > 2 * USUAL_PARTS, "the ring was gone round twice");
        }
        assert!(found > 500 && lost > 20, "{found} found, {lost} lost");
    }

    #[test]
    fn an_access_right_after_a_part_began_with_an_access_that_was_no_event_is_found() {
        // Wherever the part ends.
        for before in PART_WORDS - 16..PART_WORDS {
            let mut trace = trace();
            let part = trace.part.load(Ordering::Relaxed);
            let begun = trace.words as usize + part % USUAL_PARTS * PART_WORDS * 8;
            while (trace.next as usize - begun) / 8 < before && trace.part.load(Ordering::Relaxed) == part {
                trace.enter(10, &[]);
                trace.leave(&frames(&[10]));
            }
            trace.access(1, 0x100, READ | ATOMIC, &[]);
            trace.time(&[], 1, 1);
            trace.access(2, 0x200, READ, &[]);
            assert_eq!(stack_of(&trace, Time::Epoch(1), 0x100), Some(vec![1]), "after {before} words");
            assert_eq!(stack_of(&trace, Time::Epoch(1), 0x200), Some(vec![2]), "after {before} words");
        }
    }

    #[test]
    fn whoever_looks_while_the_owner_goes_on_finds_the_right_access_or_none() {
        struct Shared(std::cell::UnsafeCell<ThreadTrace>);
        // SAFETY: one thread changes it, and the others only read, which it supports.
        unsafe impl Sync for Shared {}
        let shared = &Shared(std::cell::UnsafeCell::new(trace()));
        let newest = &std::sync::atomic::AtomicU32::new(1);
        const LAST: u32 = 60_000;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // SAFETY: this thread is the owner.
                let trace = unsafe { &mut *shared.0.get() };
                for epoch in 1..=LAST {
                    trace.access(epoch as usize, 0x100 + epoch as usize, READ | ATOMIC, &[]);
                    newest.store(epoch, Ordering::Relaxed);
                }
            });
            let mut seed = 1_u32;
            loop {
                let now = newest.load(Ordering::Relaxed);
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let wanted = now.saturating_sub((seed >> 8) % 20_000).max(1);
                // SAFETY: the ring stays, and its owner may continue to write.
                let found = unsafe { &*shared.0.get() }.find(Time::Epoch(wanted), |_, _, _| true);
                if let Some(found) = found {
                    assert_eq!((found.stack, found.epoch), (vec![u64::from(wanted)], wanted));
                }
                if now == LAST {
                    break;
                }
            }
        });
    }
}
