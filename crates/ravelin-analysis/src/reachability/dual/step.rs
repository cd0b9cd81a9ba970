//! Steps backwards that others can see: stores, fences, locked steps and the bus lock.
//!
//! Each is taken together with the propagations that come right after it (forwards). A propagation may always be moved to an
//! earlier time as long as memory holds what it tells and the buffer it goes to gets nothing else in between, so it can be
//! assumed to come right after the step that wrote what it tells, after another propagation to the same buffer, or after a
//! step of the buffer's thread that it may not overtake. Backwards: a step takes off the newest end of each buffer
//!
//! - of other threads: nothing, or everything from some message on that tells what the step wrote;
//! - of its own thread, if it stores to x: everything newer than the own message on x, and that message; or, if no later load
//!   reads that, everything from the oldest message on that tells x, since the own message has to be gone by then;
//! - of its own thread, if it needs an empty buffer: everything.
//!
//! In between, a message that tells what memory is known to hold can be taken off at once: what is left covers the rest.
//! Nobody else's loads, and so no propagations to others, happen while a thread holds the bus lock; they come after it is
//! given back.

use super::part::{Letter, Message, PartId};
use super::{DualConfiguration, LoadBuffers, START_BYTES, VisibleStep};
use crate::reachability::finite::{CellId, CellPair, EdgeEffect};

/// What a cell is known to hold: `OPEN`, or the number of the value plus one.
pub(in crate::reachability) type Known = u32;
pub(in crate::reachability) const OPEN: Known = 0;

pub(in crate::reachability) fn known(value: u16) -> Known {
    Known::from(value) + 1
}

/// Which suffixes of other threads' buffers may be taken off after a step.
enum SuffixRemoval<'a> {
    /// None.
    Nothing,
    /// Those that begin with a message on one of these cells.
    Telling(&'a [CellPair]),
    Any,
}

/// A step in the making.
pub(super) struct DualDraft {
    pub memory: Vec<Known>,
    /// By thread, how much of its word is left.
    pub left: Vec<usize>,
}

impl LoadBuffers<'_> {
    /// The predecessors of a configuration over one edge of a thread. `emit` gets the draft after all messages were taken off,
    /// and the configuration.
    pub(super) fn step_back(
        &mut self,
        of: &DualConfiguration,
        thread: usize,
        edge: u32,
        emit: &mut dyn FnMut(&DualDraft, VisibleStep, DualConfiguration),
    ) {
        let finite = self.finite;
        let effect = &finite.threads[thread].edges[edge as usize].effect;
        let threads = self.threads.len();
        let others_hold = (0..threads).any(|other| other != thread && self.holds_bus(of, other));
        let holds = self.holds_bus(of, thread);
        let mut draft = DualDraft {
            memory: of.0[threads..].to_vec(),
            left: (0..threads).map(|other| self.word(of, other).len()).collect(),
        };
        let taken = match effect {
            EdgeEffect::Store(pair) => {
                if others_hold || !require(&mut draft.memory, *pair) || !self.take_own(of, thread, *pair, &mut draft) {
                    return;
                }
                if holds { SuffixRemoval::Nothing } else { SuffixRemoval::Telling(std::slice::from_ref(pair)) }
            }
            EdgeEffect::Atomic { reads, writes } => {
                let unwritten = |read: &&CellPair| !writes.iter().any(|write| write.0 == read.0);
                let mut after = writes.iter().chain(reads.iter().filter(unwritten));
                if others_hold
                    || !after.all(|pair| require(&mut draft.memory, *pair))
                    || !self.take(of, thread, 0, &mut draft)
                {
                    return;
                }
                if holds { SuffixRemoval::Nothing } else { SuffixRemoval::Telling(writes) }
            }
            EdgeEffect::Fence | EdgeEffect::BusLock => {
                let blocked = match effect {
                    EdgeEffect::BusLock => others_hold,
                    // Its loads after the fence must wait for the bus.
                    _ => others_hold && draft.left[thread] > 0,
                };
                if blocked || !self.take(of, thread, 0, &mut draft) {
                    return;
                }
                SuffixRemoval::Nothing
            }
            EdgeEffect::BusUnlock => {
                if others_hold || !self.take(of, thread, 0, &mut draft) {
                    return;
                }
                SuffixRemoval::Any
            }
            EdgeEffect::Local | EdgeEffect::Load(_) => return,
        };
        self.take_others(of, thread, 0, &taken, draft, &mut |this, draft| this.emit(of, thread, edge, draft, emit));
    }

    /// Takes messages off the other threads' buffers, in every way.
    fn take_others(
        &mut self,
        of: &DualConfiguration,
        thread: usize,
        other: usize,
        taken: &SuffixRemoval,
        draft: DualDraft,
        done: &mut dyn FnMut(&mut Self, DualDraft),
    ) {
        if other == self.threads.len() || matches!(taken, SuffixRemoval::Nothing) {
            return done(self, draft);
        }
        if self.watch.step().is_err() {
            return;
        }
        if other != thread {
            for start in 0..draft.left[other] {
                let first = self.word(of, other)[start];
                let begins = match taken {
                    SuffixRemoval::Nothing => false,
                    SuffixRemoval::Telling(pairs) => pairs.iter().any(|pair| self.alphabet.tells(first, pair.0)),
                    SuffixRemoval::Any => matches!(self.alphabet.message(first), Message::Memory(_)),
                };
                if begins {
                    let mut draft = DualDraft { memory: draft.memory.clone(), left: draft.left.clone() };
                    if self.take(of, other, start, &mut draft) {
                        self.take_others(of, thread, other + 1, taken, draft, done);
                    }
                }
            }
        }
        self.take_others(of, thread, other + 1, taken, draft, done)
    }

    /// Finishes a step: memory before it, then the silent steps before it.
    fn emit(
        &mut self,
        of: &DualConfiguration,
        thread: usize,
        edge: u32,
        draft: DualDraft,
        emit: &mut dyn FnMut(&DualDraft, VisibleStep, DualConfiguration),
    ) {
        let finite = self.finite;
        let number = edge;
        let edge = &finite.threads[thread].edges[edge as usize];
        let mut memory = draft.memory.clone();
        match &edge.effect {
            EdgeEffect::Store((cell, _)) => memory[*cell as usize] = OPEN,
            EdgeEffect::Atomic { reads, writes } => {
                for (cell, _) in writes {
                    memory[*cell as usize] = OPEN;
                }
                for (cell, value) in reads {
                    memory[*cell as usize] = known(*value);
                }
            }
            _ => {}
        }
        let threads = self.threads.len();
        let word: Vec<Letter> = self.word(of, thread)[..draft.left[thread]].to_vec();
        if !self.is_possible(thread, edge.from, &word) {
            return;
        }
        let holds_bus = finite.threads[thread].states[edge.from as usize].holds_bus;
        let holder = if holds_bus {
            Some(thread)
        } else {
            (0..threads).find(|other| *other != thread && self.holds_bus(of, *other))
        };
        let mut row: Vec<u32> = Vec::with_capacity(of.0.len());
        for other in 0..threads {
            let part = self.part_of(of, other);
            let part = if other == thread {
                part
            } else {
                let may_take = holder.is_none_or(|holder| holder == other);
                self.shorten(other, part, draft.left[other], may_take, &memory)
            };
            row.push(part);
        }
        row.extend(&memory);
        let part = self.threads[thread].intern(edge.from, &word);
        let may_take = holder.is_none_or(|holder| holder == thread);
        for &part in self.closure(thread, part).iter() {
            let mut row = row.clone();
            let left = self.threads[thread].part(part).word.len();
            row[thread] = self.shorten(thread, part, left, may_take, &memory);
            // A limit is remembered, and the search asks for it.
            if self.watch.hold(4 * row.len() + START_BYTES).is_err() {
                return;
            }
            emit(&draft, VisibleStep { thread: thread as u16, edge: number }, DualConfiguration(row.into()));
        }
    }

    /// The part with `left` letters of its word, without those at the newest end that tell only what memory is known to hold.
    pub(super) fn shorten(
        &mut self,
        thread: usize,
        part: PartId,
        left: usize,
        may_take: bool,
        memory: &[Known],
    ) -> PartId {
        let word = &self.threads[thread].part(part).word;
        let told = |letter: &Letter| match self.alphabet.message(*letter) {
            Message::Memory(pairs) => pairs.iter().all(|(cell, value)| memory[*cell as usize] == known(*value)),
            Message::Own(_) => false,
        };
        let mut short = left;
        while may_take && short > 0 && told(&word[short - 1]) {
            short -= 1;
        }
        if short == word.len() {
            return part;
        }
        let control = self.threads[thread].part(part).control;
        let word: Vec<Letter> = word[..short].to_vec();
        self.threads[thread].intern(control, &word)
    }

    /// Takes off what has to go before the thread's own store.
    fn take_own(&self, of: &DualConfiguration, thread: usize, (cell, value): CellPair, draft: &mut DualDraft) -> bool {
        let word = self.word(of, thread);
        let own = word.iter().position(|letter| self.is_own(*letter, cell));
        if let Some(own) = own {
            if *self.alphabet.message(word[own]) != Message::Own((cell, value))
                || !self.take(of, thread, own + 1, draft)
            {
                return false;
            }
            draft.left[thread] = own;
            return true;
        }
        match word.iter().position(|letter| self.alphabet.tells(*letter, cell)) {
            Some(start) => self.take(of, thread, start, draft),
            None => true,
        }
    }

    fn is_own(&self, letter: Letter, cell: CellId) -> bool {
        matches!(self.alphabet.message(letter), Message::Own((of, _)) if *of == cell)
    }

    /// Takes the messages from `start` on off a thread's buffer: memory holds what they tell.
    fn take(&self, of: &DualConfiguration, thread: usize, start: usize, draft: &mut DualDraft) -> bool {
        let told = self.word(of, thread)[start..].iter().all(|letter| match self.alphabet.message(*letter) {
            Message::Memory(pairs) => pairs.iter().all(|pair| require(&mut draft.memory, *pair)),
            Message::Own(_) => false,
        });
        draft.left[thread] = start;
        told
    }
}

/// The cell is known to hold the value, from now on at the latest.
pub(in crate::reachability) fn require(memory: &mut [Known], (cell, value): CellPair) -> bool {
    let found = &mut memory[cell as usize];
    if *found == OPEN {
        *found = known(value);
    }
    *found == known(value)
}
