//! Single steps of the load-buffer semantics, backwards, with nothing left out and nothing taken together.
//!
//! What a constraint means is said at the head of `dual`. This file shares no code with that engine.

use crate::reachability::finite::{CellId, CellPair, EdgeEffect, Finite, LocalStateId};
use rustc_hash::FxHashMap;

/// A message in a word, by number.
pub(super) type Letter = u16;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PlainMessage {
    Memory(Vec<CellPair>),
    Own(CellPair),
}

/// A constraint on states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Plain {
    /// By thread, a local state, or beyond these one of the thread's sets of them.
    pub controls: Vec<u32>,
    /// By thread, oldest first.
    pub words: Vec<Vec<Letter>>,
    pub memory: Vec<Option<u16>>,
}

/// A program with the messages and the sets of local states that constraints speak of.
pub(super) struct PlainSteps<'a> {
    pub finite: &'a Finite,
    pub messages: Vec<PlainMessage>,
    numbers: FxHashMap<PlainMessage, Letter>,
    /// By thread.
    pub sets: Vec<Vec<Vec<LocalStateId>>>,
    /// By thread and local state, the edges that lead there.
    incoming: Vec<Vec<Vec<usize>>>,
}

impl<'a> PlainSteps<'a> {
    pub fn new(finite: &'a Finite) -> PlainSteps<'a> {
        let incoming = |graph: &crate::reachability::finite::LocalGraph| {
            let mut incoming = vec![Vec::new(); graph.states.len()];
            for (number, edge) in graph.edges.iter().enumerate() {
                incoming[edge.to as usize].push(number);
            }
            incoming
        };
        PlainSteps {
            finite,
            messages: Vec::new(),
            numbers: FxHashMap::default(),
            sets: vec![Vec::new(); finite.threads.len()],
            incoming: finite.threads.iter().map(incoming).collect(),
        }
    }

    /// `None` if there are too many messages to number.
    pub fn letter(&mut self, message: PlainMessage) -> Option<Letter> {
        if let Some(letter) = self.numbers.get(&message) {
            return Some(*letter);
        }
        let letter = Letter::try_from(self.messages.len()).ok()?;
        self.messages.push(message.clone());
        self.numbers.insert(message, letter);
        Some(letter)
    }

    /// The control that stands for these local states, which are sorted.
    pub fn control(&mut self, thread: usize, states: Vec<LocalStateId>) -> u32 {
        if let [single] = states[..] {
            return single;
        }
        let known = self.sets[thread].iter().position(|set| *set == states).unwrap_or_else(|| {
            self.sets[thread].push(states);
            self.sets[thread].len() - 1
        });
        (self.finite.threads[thread].states.len() + known) as u32
    }

    pub fn set(&self, thread: usize, control: u32) -> Option<&[LocalStateId]> {
        let set = (control as usize).checked_sub(self.finite.threads[thread].states.len())?;
        Some(&self.sets[thread][set])
    }

    pub fn states(&self, thread: usize, control: &'a u32) -> &[LocalStateId] {
        self.set(thread, *control).unwrap_or(std::slice::from_ref(control))
    }

    pub fn control_covers(&self, thread: usize, small: u32, large: u32) -> bool {
        if small == large {
            return true;
        }
        let Some(set) = self.set(thread, small) else { return false };
        match self.set(thread, large) {
            None => set.binary_search(&large).is_ok(),
            Some(large) => large.iter().all(|state| set.binary_search(state).is_ok()),
        }
    }

    pub fn covers(&self, small: &Plain, large: &Plain) -> bool {
        let threads = 0..self.finite.threads.len();
        small.memory.iter().zip(&large.memory).all(|(small, large)| small.is_none() || small == large)
            && threads.clone().all(|thread| self.control_covers(thread, small.controls[thread], large.controls[thread]))
            && threads.clone().all(|thread| embeds(&small.words[thread], &large.words[thread]))
    }

    /// Whether a run can begin in a state that satisfies the constraint. Messages that are there already at the start were sent
    /// by the initial memory, so a constraint with words has its initial states after these are taken off.
    pub fn is_initial(&self, constraint: &Plain) -> bool {
        let starts = |(thread, control): (usize, &u32)| {
            let initial = self.finite.threads[thread].initial;
            self.control_covers(thread, *control, initial)
        };
        constraint.words.iter().all(Vec::is_empty)
            && constraint.controls.iter().enumerate().all(starts)
            && constraint
                .memory
                .iter()
                .zip(&self.finite.cells)
                .all(|(value, cell)| value.is_none_or(|value| usize::from(value) < cell.initial))
    }

    /// Every constraint from which one step leads into this one. `false` if there are too many messages.
    pub fn predecessors(&mut self, of: &Plain, found: &mut Vec<Plain>) -> bool {
        for thread in 0..of.controls.len() {
            let others_hold = (0..of.controls.len()).any(|other| other != thread && self.holds_bus(of, other));
            if !others_hold {
                self.propagation(of, thread, found);
            }
            let targets =
                self.set(thread, of.controls[thread]).map_or(vec![of.controls[thread]], <[LocalStateId]>::to_vec);
            for target in targets {
                for index in 0..self.incoming[thread][target as usize].len() {
                    let edge = self.incoming[thread][target as usize][index];
                    if !self.edge(of, thread, edge, others_hold, found) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn holds_bus(&self, of: &Plain, thread: usize) -> bool {
        let states = &self.finite.threads[thread].states;
        match self.set(thread, of.controls[thread]) {
            Some(set) => set.iter().any(|state| states[*state as usize].holds_bus),
            None => states[of.controls[thread] as usize].holds_bus,
        }
    }

    /// Memory sends the newest message of a buffer.
    fn propagation(&self, of: &Plain, thread: usize, found: &mut Vec<Plain>) {
        let Some((newest, rest)) = of.words[thread].split_last() else { return };
        let PlainMessage::Memory(pairs) = &self.messages[*newest as usize] else { return };
        let mut before = of.clone();
        before.words[thread] = rest.to_vec();
        if pairs.iter().all(|pair| holds(&mut before.memory, *pair)) {
            found.push(before);
        }
    }

    fn edge(&mut self, of: &Plain, thread: usize, edge: usize, others_hold: bool, found: &mut Vec<Plain>) -> bool {
        let finite = self.finite;
        let edge = &finite.threads[thread].edges[edge];
        let mut before = of.clone();
        before.controls[thread] = edge.from;
        let empty = of.words[thread].is_empty();
        match &edge.effect {
            EdgeEffect::Local => found.push(before),
            EdgeEffect::Load(reads) => return self.load(before, thread, reads, &mut Vec::new(), found),
            EdgeEffect::Fence if empty => found.push(before),
            EdgeEffect::BusLock | EdgeEffect::BusUnlock if empty && !others_hold => found.push(before),
            EdgeEffect::Store(pair) if !others_hold && holds(&mut before.memory, *pair) => {
                before.memory[pair.0 as usize] = None;
                let own = self.own(&of.words[thread], pair.0);
                if own.is_none() && !of.words[thread].iter().any(|letter| self.tells(*letter, pair.0)) {
                    found.push(before);
                } else if own == Some((of.words[thread].len() - 1, pair.1)) {
                    before.words[thread].pop();
                    found.push(before);
                }
            }
            EdgeEffect::Atomic { reads, writes } if empty && !others_hold => {
                let written = |cell: CellId| writes.iter().any(|write| write.0 == cell);
                let mut after = writes.iter().chain(reads.iter().filter(|read| !written(read.0)));
                if after.all(|pair| holds(&mut before.memory, *pair)) {
                    writes.iter().for_each(|(cell, _)| before.memory[*cell as usize] = None);
                    reads.iter().for_each(|(cell, value)| before.memory[*cell as usize] = Some(*value));
                    found.push(before);
                }
            }
            _ => {}
        }
        true
    }

    /// A load: each cell from an own message, the others from the oldest message.
    fn load(
        &mut self,
        before: Plain,
        thread: usize,
        reads: &[CellPair],
        from_memory: &mut Vec<CellPair>,
        found: &mut Vec<Plain>,
    ) -> bool {
        let word = &before.words[thread];
        let Some(((cell, value), rest)) = reads.split_first() else {
            if from_memory.is_empty() {
                found.push(before);
                return true;
            }
            let Some(letter) = self.letter(PlainMessage::Memory(from_memory.clone())) else { return false };
            let mut longer = before.clone();
            longer.words[thread].insert(0, letter);
            found.push(if word.first() == Some(&letter) { before } else { longer });
            return true;
        };
        if let Some((_, own)) = self.own(word, *cell) {
            return own != *value || self.load(before, thread, rest, from_memory, found);
        }
        let first = word.iter().position(|letter| self.tells(*letter, *cell)).unwrap_or(word.len());
        let Some(letter) = self.letter(PlainMessage::Own((*cell, *value))) else { return false };
        for place in 0..=first {
            let mut with_own = before.clone();
            with_own.words[thread].insert(place, letter);
            if !self.load(with_own, thread, rest, from_memory, found) {
                return false;
            }
        }
        from_memory.push((*cell, *value));
        let numbered = self.load(before, thread, rest, from_memory, found);
        from_memory.pop();
        numbered
    }

    /// Where the own message on a cell stands, and its value.
    fn own(&self, word: &[Letter], cell: CellId) -> Option<(usize, u16)> {
        word.iter().enumerate().find_map(|(place, letter)| match self.messages[*letter as usize] {
            PlainMessage::Own((of, value)) if of == cell => Some((place, value)),
            _ => None,
        })
    }

    fn tells(&self, letter: Letter, cell: CellId) -> bool {
        matches!(&self.messages[letter as usize], PlainMessage::Memory(pairs) if pairs.iter().any(|(of, _)| *of == cell))
    }
}

/// The cell holds the value; if nothing was known of it, now it is.
fn holds(memory: &mut [Option<u16>], (cell, value): CellPair) -> bool {
    *memory[cell as usize].get_or_insert(value) == value
}

fn embeds(small: &[Letter], large: &[Letter]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|letter| rest.any(|other| other == letter))
}
