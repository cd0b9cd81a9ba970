//! Silent steps backwards: local steps and loads, which concern nobody but the thread.
//!
//! A load takes what is in the thread's buffer already, so it commutes with every step of the others, and may wait until just
//! before the thread's next step that others can see. Backwards: after each such step, all ways over silent steps are gone at
//! once, up to the states that the thread can have been in while others moved. This depends on the thread's part alone, so it
//! is computed once for each part.

use super::LoadBuffers;
use super::part::{Letter, Message, PartId};
use crate::reachability::finite::{CellPair, EdgeEffect, LocalStateId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Parts between two looks at what all parts take.
const PATIENCE: usize = 256;

impl LoadBuffers<'_> {
    /// The minimal parts from which silent steps lead into this one, itself included, where the thread may stay.
    pub(super) fn closure(&mut self, thread: usize, part: PartId) -> Rc<[PartId]> {
        if let Some(known) = &self.threads[thread].part(part).closure {
            return known.clone();
        }
        let found = self.silent_search(thread, part, &mut |_, _, _| {});
        let threads = &self.threads[thread];
        let stays: Vec<PartId> =
            found.into_iter().filter(|part| threads.is_anchor(threads.part(*part).control)).collect();
        let closure: Rc<[PartId]> = stays.into();
        // Not all of it is there after a limit was hit.
        if self.watch.limit().is_some() {
            return closure;
        }
        self.threads[thread].set_closure(part, closure.clone());
        closure
    }

    /// All minimal parts found over silent steps; `note` hears of each new part, the edge, and the part it leads into.
    pub(super) fn silent_search(
        &mut self,
        thread: usize,
        start: PartId,
        note: &mut dyn FnMut(PartId, u32, PartId),
    ) -> Vec<PartId> {
        // By control; nearly all groups have very few parts.
        let mut minimal: FxHashMap<u32, Vec<PartId>> = FxHashMap::default();
        minimal.insert(self.threads[thread].part(start).control, vec![start]);
        let mut waiting = vec![start];
        let mut next = 0;
        let mut found = Vec::new();
        while next < waiting.len() {
            let into = waiting[next];
            next += 1;
            if self.watch.step().is_err() || next.is_multiple_of(PATIENCE) && self.must_stop() {
                break;
            }
            let control = self.threads[thread].part(into).control;
            if !minimal.get(&control).is_some_and(|group| group.contains(&into)) {
                continue;
            }
            for index in 0..self.threads[thread].silent_in(control).len() {
                let edge = self.threads[thread].silent_in(control)[index];
                self.silent_predecessors(thread, edge, into, &mut found);
                for part in found.drain(..) {
                    let threads = &self.threads[thread];
                    // A set of states that is the start covers all its members.
                    if threads.covers(start, part) && part != start {
                        continue;
                    }
                    let group = minimal.entry(threads.part(part).control).or_default();
                    if group.iter().any(|known| threads.covers(*known, part)) {
                        continue;
                    }
                    group.retain(|known| !threads.covers(part, *known));
                    group.push(part);
                    waiting.push(part);
                    note(part, edge, into);
                }
            }
        }
        // In the order in which they were found, so that runs do not depend on the hash function.
        waiting.retain(|part| {
            let control = self.threads[thread].part(*part).control;
            minimal.get(&control).is_some_and(|group| group.contains(part))
        });
        waiting
    }

    /// The parts from which one silent edge leads into a part.
    fn silent_predecessors(&mut self, thread: usize, edge: u32, into: PartId, found: &mut Vec<PartId>) {
        let finite = self.finite;
        let edge = &finite.threads[thread].edges[edge as usize];
        let word: Vec<Letter> = self.threads[thread].part(into).word.to_vec();
        match &edge.effect {
            EdgeEffect::Load(reads) => self.load(thread, edge.from, reads, &mut Vec::new(), word, found),
            _ => self.keep_if_possible(thread, edge.from, &word, found),
        }
    }

    /// A load of several cells at one moment: each is read from an own message or from the oldest message of the buffer, which
    /// tells all the others (`from_memory`).
    fn load(
        &mut self,
        thread: usize,
        from: LocalStateId,
        reads: &[CellPair],
        from_memory: &mut Vec<CellPair>,
        word: Vec<Letter>,
        found: &mut Vec<PartId>,
    ) {
        let Some((&(cell, value), rest)) = reads.split_first() else {
            if from_memory.is_empty() {
                return self.keep_if_possible(thread, from, &word, found);
            }
            let letter = self.alphabet.letter(Message::Memory(from_memory.as_slice().into()));
            let mut word = word;
            if word.first() != Some(&letter) {
                word.insert(0, letter);
            }
            return self.keep_if_possible(thread, from, &word, found);
        };
        let own = word.iter().find_map(|letter| match self.alphabet.message(*letter) {
            Message::Own((of, value)) if *of == cell => Some(*value),
            _ => None,
        });
        if let Some(own) = own {
            if own == value {
                self.load(thread, from, rest, from_memory, word, found);
            }
            return;
        }
        from_memory.push((cell, value));
        self.load(thread, from, rest, from_memory, word.clone(), found);
        from_memory.pop();
        if self.threads[thread].may_own(from, (cell, value)) {
            let letter = self.alphabet.letter(Message::Own((cell, value)));
            // A later load of the cell from memory comes after the own message is gone.
            let first = word.iter().position(|letter| self.alphabet.tells(*letter, cell)).unwrap_or(word.len());
            for place in 0..=first {
                let mut word = word.clone();
                word.insert(place, letter);
                self.load(thread, from, rest, from_memory, word, found);
            }
        }
    }

    fn keep_if_possible(&mut self, thread: usize, state: LocalStateId, word: &[Letter], found: &mut Vec<PartId>) {
        if self.is_possible(thread, state, word) {
            found.push(self.threads[thread].intern(state, word));
        }
    }

    /// Every own message that the word needs may be in the buffer in this state.
    pub(super) fn is_possible(&self, thread: usize, state: LocalStateId, word: &[Letter]) -> bool {
        word.iter().all(|letter| match self.alphabet.message(*letter) {
            Message::Own(pair) => self.threads[thread].may_own(state, *pair),
            Message::Memory(_) => true,
        })
    }
}
