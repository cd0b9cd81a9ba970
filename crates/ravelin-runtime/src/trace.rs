//! What a thread did lately: enough to tell the stack of an access that turns out to matter later.
//!
//! A ring of words, in parts. A part begins with the stack and the time of that moment, so that it can be read without
//! the parts before it. Time is told twice: by the epoch, and by the epoch since which nothing was handed out, which is
//! what cells remember. An atomic access ends its epoch; a word that says so is needed only if it is otherwise. The owner writes; anyone may read while it goes on writing, and checks afterwards that the part
//! was not overwritten meanwhile.

use crate::mapping;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PARTS: usize = 8;
const PART_WORDS: usize = 4096;
/// No event takes more words.
const RESERVE: usize = 4;
/// Frames remembered at the beginning of a part.
const FRAMES: usize = 256;

const TAG: u64 = 0xf << 60;
const ENTER: u64 = 1 << 60;
const LEAVE: u64 = 2 << 60;
const EPOCH: u64 = 3 << 60;
const ACCESS: u64 = 4 << 60;
const STACK: u64 = 5 << 60;
const SINCE: u64 = 6 << 60;
/// Where an access of several words begins; the next word is its length. The accesses marked as [`PART`] that follow are
/// its words.
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
/// Set in the shape of an access that is one word of a longer one.
const PART: u64 = 1 << 6;

/// The shape of an access of 1 to 16 bytes.
#[inline(always)]
pub fn shape(writes: bool, atomic: bool, size: usize) -> u64 {
    (if writes { WRITES } else { 0 }) | (if atomic { ATOMIC } else { 0 }) | (size as u64 - 1) << SIZE_SHIFT
}

/// The size of an access of this shape.
pub fn size(shape: u64) -> usize {
    (shape >> SIZE_SHIFT & 0xf) as usize + 1
}

/// One thread's ring.
pub struct Trace {
    words: *mut AtomicU64,
    /// Where the next word goes.
    next: *mut AtomicU64,
    /// From here on, a new part begins.
    limit: *mut AtomicU64,
    /// How many words were written to `words`, counting whole parts; read by others.
    part: AtomicUsize,
    /// The epoch and since when nothing was handed out, as a reader of the ring would know them.
    epoch: u32,
    since: u32,
    /// The last range that a reader of this part knows: where it begins, and its length.
    range: (usize, usize),
}

/// By which of the two times an access is looked for.
#[derive(Clone, Copy)]
pub enum Time {
    /// The epoch of the access.
    Epoch(u32),
    /// The epoch since which nothing had been handed out at the access.
    Since(u32),
}

/// A call that has not returned: where to, and the stack pointer at that time.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The return address.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
}

impl Trace {
    /// An empty ring; `None` without memory.
    pub fn new() -> Option<Trace> {
        let words = mapping::map(PARTS * PART_WORDS * 8).cast::<AtomicU64>();
        if words.is_null() {
            return None;
        }
        Some(Trace {
            words,
            next: words,
            // SAFETY: within the mapping.
            limit: unsafe { words.add(PART_WORDS - RESERVE) },
            part: AtomicUsize::new(0),
            epoch: 0,
            since: 0,
            range: (0, 0),
        })
    }

    /// No ring at all: what is left where one was taken away.
    pub fn none() -> Trace {
        Trace {
            words: std::ptr::null_mut(),
            next: std::ptr::null_mut(),
            limit: std::ptr::null_mut(),
            part: AtomicUsize::new(0),
            epoch: 0,
            since: 0,
            range: (0, 0),
        }
    }

    /// Gives the memory back; nothing is remembered any more.
    pub fn give_back(&mut self) {
        let words = std::mem::replace(self, Trace::none()).words;
        if !words.is_null() {
            // SAFETY: `new` mapped it with this length, and nothing refers to it now.
            unsafe { mapping::unmap(words.cast(), PARTS * PART_WORDS * 8) };
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
    fn room(&mut self, stack: &[Frame]) {
        if self.next >= self.limit {
            self.begin_part(stack);
        }
    }

    #[cold]
    fn begin_part(&mut self, stack: &[Frame]) {
        let part = self.part.load(Ordering::Relaxed) + 1;
        self.part.store(part, Ordering::SeqCst);
        // SAFETY: the part lies within the mapping.
        unsafe {
            self.next = self.words.add(part % PARTS * PART_WORDS);
            self.limit = self.next.add(PART_WORDS - RESERVE);
        }
        let frames = &stack[stack.len().saturating_sub(FRAMES)..];
        self.put(STACK | frames.len() as u64);
        for frame in frames {
            self.put(frame.pc as u64);
        }
        self.put(EPOCH | u64::from(self.epoch));
        self.put(SINCE | u64::from(self.since));
        self.range = (0, 0);
    }

    /// A thread takes over the ring, or gets another number. Its time from its first event on: what a part begins with
    /// must not lie after that.
    pub fn begin(&mut self, epoch: u32, since: u32) {
        (self.epoch, self.since) = (epoch, since);
        self.begin_part(&[]);
    }

    /// A function was entered.
    #[inline(always)]
    pub fn enter(&mut self, pc: usize, stack: &[Frame]) {
        self.room(stack);
        self.put(ENTER | pc as u64 & LOW);
    }

    /// A function was left.
    #[inline(always)]
    pub fn leave(&mut self, stack: &[Frame]) {
        self.room(stack);
        self.put(LEAVE);
    }

    /// The time, after an event.
    #[inline(always)]
    pub fn time(&mut self, stack: &[Frame], epoch: u32, since: u32) {
        if self.epoch != epoch {
            self.room(stack);
            self.epoch = epoch;
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
    pub fn access(&mut self, pc: usize, address: usize, shape: u64, stack: &[Frame]) {
        self.room(stack);
        self.put(ACCESS | shape << SHAPE_SHIFT | pc as u64 & LOW);
        self.put(address as u64 & LOW);
        if shape & ATOMIC != 0 {
            self.epoch += 1;
        }
    }

    /// One word of an access of `length` bytes that begins at `start`.
    pub fn access_part(
        &mut self,
        pc: usize,
        address: usize,
        shape: u64,
        (start, length): (usize, usize),
        stack: &[Frame],
    ) {
        self.room(stack);
        if self.range != (start, length) {
            self.range = (start, length);
            self.put(RANGE | start as u64 & LOW);
            self.put(length as u64);
        }
        self.put(ACCESS | (shape | PART) << SHAPE_SHIFT | pc as u64 & LOW);
        self.put(address as u64 & LOW);
    }

    /// The last access at `time` that `wanted(address, shape)` accepts; `None` if it is no longer remembered.
    pub fn find(&self, time: Time, wanted: impl Fn(usize, u64) -> bool) -> Option<Remembered> {
        if self.words.is_null() {
            return None;
        }
        let newest = self.part.load(Ordering::SeqCst);
        for part in (newest.saturating_sub(PARTS - 2)..=newest).rev() {
            let found = self.find_in(part, time, &wanted);
            // The part after the next one overwrites this one.
            if self.part.load(Ordering::SeqCst) > part + PARTS - 1 {
                return None;
            }
            match found {
                Found::Here(access) => return Some(access),
                Found::Later => {}
                Found::Nowhere => return None,
            }
        }
        None
    }

    fn find_in(&self, part: usize, time: Time, wanted: &impl Fn(usize, u64) -> bool) -> Found {
        let begin = part % PARTS * PART_WORDS;
        let word = |index: usize| {
            // SAFETY: within the part, as the callers check.
            unsafe { (*self.words.add(begin + index)).load(Ordering::Relaxed) }
        };
        // SAFETY: the owner may be writing it, but a pointer is written whole.
        let next = unsafe { std::ptr::read_volatile(&self.next) } as usize;
        let end = match (next - self.words as usize) / 8 {
            // Behind where the owner writes lies what an earlier round left.
            index if (begin..begin + PART_WORDS).contains(&index) => index - begin,
            _ => PART_WORDS,
        };
        let (told, at) = match time {
            Time::Epoch(epoch) => (EPOCH, epoch),
            Time::Since(since) => (SINCE, since),
        };
        let mut found = Found::Later;
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
                    // An access that turned out to be no event leaves the epoch where it was.
                    if next + 1 < now {
                        break;
                    }
                    if now == 0 && next > at {
                        // What is wanted lies before this part.
                        return Found::Later;
                    }
                    if next > at {
                        // A time that went on from an earlier part may have the access there.
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
                    if now == at && wanted(address, shape) {
                        let mut calls = vec![event & LOW];
                        calls.extend(stack.iter().rev());
                        let length = range.filter(|_| shape & PART != 0);
                        let size = length.unwrap_or(size(shape) as u64);
                        found = Found::Here(Remembered { stack: calls, size, epoch });
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

/// An access that was found again.
#[derive(Default)]
pub struct Remembered {
    /// Innermost first.
    pub stack: Vec<u64>,
    /// Of the whole access, also if it is longer than a word.
    pub size: u64,
    /// The thread's epoch at the access.
    pub epoch: u32,
}

enum Found {
    Here(Remembered),
    /// Not in this part, but maybe in one before it.
    Later,
    Nowhere,
}

impl Found {
    fn or_nowhere(self) -> Found {
        match self {
            Found::Later => Found::Nowhere,
            found => found,
        }
    }
}
