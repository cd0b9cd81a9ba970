//! What load buffers need from memory, and the updates that give it.
//!
//! Memory may send what cells hold to any thread's load buffer at any time. As in the load-buffer semantics for TSO
//! (`dual/step.rs`), a message can be assumed to come as early as it can: right after the update or locked step that wrote what it
//! tells, after another message to the same buffer, or after a step of the buffer's own thread that found the buffer empty. Backwards,
//! a write to x takes off the newest end of each buffer
//!
//! - of other threads: nothing, or everything from some message on that tells x;
//! - of the updating thread: everything newer than the own message on x, and that message; or, if no later load reads that,
//!   everything from the oldest message on that tells x, since the own message has to be gone by then.
//!
//! What is taken off is what memory holds then.

use super::part::Shape;
use super::step::{Giver, PsoDraft};
use super::{PsoConfiguration, StoreBuffers};
use crate::reachability::dual::part::{Letter, Message};
use crate::reachability::dual::step::{OPEN, known, require};
use crate::reachability::finite::{CellId, CellPair, ValueId};

impl StoreBuffers<'_> {
    /// The predecessors of a constraint over an update for the sake of a load buffer: it leaves an own message there, or memory sends
    /// what it wrote.
    pub(super) fn updates_back(&mut self, of: &PsoConfiguration, found: &mut Vec<PsoConfiguration>) {
        let draft = self.draft(of);
        let mut updates: Vec<(usize, CellPair)> = Vec::new();
        for (reader, shape) in draft.shapes.iter().enumerate() {
            for letter in &shape.word {
                match self.alphabet.message(*letter) {
                    Message::Own(pair) => updates.push((reader, *pair)),
                    Message::Memory(pairs) => {
                        let threads = 0..draft.shapes.len();
                        updates.extend(threads.flat_map(|thread| pairs.iter().map(move |pair| (thread, *pair))));
                    }
                }
            }
        }
        updates.sort_unstable();
        updates.dedup();
        for (thread, pair) in updates {
            if self.order[thread].may_pend(draft.shapes[thread].control, pair) {
                let drafts = self.update(draft.clone(), thread, pair);
                self.settle_all(drafts, found);
            }
            if self.watch.step().is_err() {
                return;
            }
        }
    }

    fn update(&self, mut draft: PsoDraft, thread: usize, pair: CellPair) -> Vec<PsoDraft> {
        let cell = pair.0;
        let words: Vec<Vec<Letter>> = draft.shapes.iter().map(|shape| shape.word.clone()).collect();
        if !require(&mut draft.memory, pair) {
            return Vec::new();
        }
        let shape = &draft.shapes[thread];
        let own = shape.word.iter().position(|letter| self.is_own(*letter, cell));
        let is_possible = match (own, self.first_telling(shape, cell)) {
            (Some(at), _) => {
                let is_it = *self.alphabet.message(shape.word[at]) == Message::Own(pair);
                let taken = is_it && self.take(&mut draft, thread, at + 1);
                draft.shapes[thread].word.truncate(at);
                taken
            }
            (None, Some(at)) => self.take(&mut draft, thread, at),
            (None, None) => true,
        };
        if !is_possible {
            return Vec::new();
        }
        let mut found = Vec::new();
        for mut draft in self.sent(draft, thread, &[cell]) {
            // Other cells that the messages tell may have been updated right before as well.
            let sent = words.iter().zip(&draft.shapes).flat_map(|(word, shape)| &word[shape.word.len()..]);
            let told: Vec<CellId> = sent.flat_map(|letter| self.alphabet.cells(*letter)).collect();
            if !told.contains(&cell) {
                continue;
            }
            let mut others = told;
            others.sort_unstable();
            others.dedup();
            others.retain(|other| *other != cell);
            draft.memory[cell as usize] = OPEN;
            draft.shapes[thread].at(cell).word.insert(0, pair.1);
            let asked = others.into_iter().map(|other| (other, Giver::Anyone)).collect();
            self.give(draft, asked, &mut found);
        }
        found
    }

    /// All ways for memory to send messages to other threads right after one of them wrote these cells.
    pub(super) fn sent(&self, draft: PsoDraft, by: usize, cells: &[CellId]) -> Vec<PsoDraft> {
        let mut drafts = vec![draft];
        for thread in (0..drafts[0].shapes.len()).filter(|thread| *thread != by) {
            for index in 0..drafts.len() {
                for start in 0..drafts[index].shapes[thread].word.len() {
                    let letter = drafts[index].shapes[thread].word[start];
                    if !cells.iter().any(|cell| self.alphabet.tells(letter, *cell)) {
                        continue;
                    }
                    // A limit is remembered; what was found until then is a part of all.
                    if self.watch.step().is_err() {
                        return drafts;
                    }
                    let mut draft = drafts[index].clone();
                    if self.take(&mut draft, thread, start) {
                        drafts.push(draft);
                    }
                }
            }
        }
        drafts
    }

    /// Takes the messages from `start` on off a thread's load buffer: memory holds what they tell.
    pub(super) fn take(&self, draft: &mut PsoDraft, thread: usize, start: usize) -> bool {
        let PsoDraft { shapes, memory } = draft;
        let word = &mut shapes[thread].word;
        let told = word[start..].iter().all(|letter| match self.alphabet.message(*letter) {
            Message::Memory(pairs) => pairs.iter().all(|pair| require(memory, *pair)),
            Message::Own(_) => false,
        });
        word.truncate(start);
        told
    }

    /// Takes off what tells only what memory is known to hold: what is left covers the rest. Returns the cells that were told.
    pub(super) fn shorten(&self, draft: &mut PsoDraft) -> Vec<CellId> {
        let PsoDraft { shapes, memory } = draft;
        let mut told = Vec::new();
        for shape in shapes {
            while let Some(Message::Memory(pairs)) = shape.word.last().map(|letter| self.alphabet.message(*letter))
                && pairs.iter().all(|(cell, value)| memory[*cell as usize] == known(*value))
            {
                told.extend(pairs.iter().map(|pair| pair.0));
                shape.word.pop();
            }
        }
        told.sort_unstable();
        told.dedup();
        told
    }

    /// Some message of the load buffer is about the cell.
    pub(super) fn speaks_of(&self, shape: &Shape, cell: CellId) -> bool {
        shape.word.iter().any(|letter| self.is_own(*letter, cell) || self.alphabet.tells(*letter, cell))
    }

    pub(super) fn first_telling(&self, shape: &Shape, cell: CellId) -> Option<usize> {
        shape.word.iter().position(|letter| self.alphabet.tells(*letter, cell))
    }

    /// What the own message on a cell says, if one is asked for.
    pub(super) fn own_message(&self, shape: &Shape, cell: CellId) -> Option<ValueId> {
        shape.word.iter().find_map(|letter| match self.alphabet.message(*letter) {
            Message::Own((of, value)) if *of == cell => Some(*value),
            _ => None,
        })
    }

    fn is_own(&self, letter: Letter, cell: CellId) -> bool {
        matches!(self.alphabet.message(letter), Message::Own((of, _)) if *of == cell)
    }
}
