//! Steps backwards that others can see: loads from memory, fences, locked steps and the bus lock, each with the updates that come
//! right before it.
//!
//! An update can wait until somebody needs it: until another thread reads the cell from memory, or its own thread
//! needs an empty buffer. Before that it is nobody's business: its own thread reads the pending store instead, and if another update
//! of the cell comes first, this one can come right before that. Backwards: where a cell is known to hold v, and one of these needs
//! it, either it held v before, or some thread's pending v has just reached memory. Then the cell is open, and all
//! that is pending for it elsewhere may have reached memory before.
//!
//! While a thread holds the bus lock nobody else does any of this, so what others' updates could give is asked where it was taken.

use super::part::Shape;
use super::{FOUND_BYTES, PsoConfiguration, StoreBuffers, VisibleStep};
use crate::reachability::backward::Semantics;
use crate::reachability::dual::step::{Known, OPEN, known, require};
use crate::reachability::finite::{CellId, CellPair, EdgeEffect};

/// Who may have made a cell hold what it is known to hold.
#[derive(Clone, Copy)]
enum Giver {
    /// Any thread but this one.
    Others(usize),
    Only(usize),
    Anyone,
}

/// A constraint in the making.
#[derive(Clone)]
pub(super) struct PsoDraft {
    pub shapes: Vec<Shape>,
    pub memory: Vec<Known>,
}

impl PsoDraft {
    /// What it takes in memory, roughly.
    fn bytes(&self) -> usize {
        let shapes: usize = self.shapes.iter().map(|shape| shape.bytes() / 2).sum();
        shapes + size_of_val(&*self.memory)
    }
}

impl StoreBuffers<'_> {
    /// The predecessors of a constraint over a step of a thread that is not silent, after its silent steps.
    pub(super) fn steps_back(
        &mut self,
        of: &PsoConfiguration,
        thread: usize,
        found: &mut Vec<(VisibleStep, PsoConfiguration)>,
    ) {
        let finite = self.finite;
        let draft = self.draft(of);
        let holder = self.holder(&draft);
        if holder.is_some_and(|holder| holder != thread) {
            return;
        }
        for &part in self.closure(thread, of.part(thread)).iter() {
            let shape = self.parts[thread].get(part).shape.clone();
            for number in self.edges_into(thread, shape.control) {
                let edge = &finite.threads[thread].edges[number as usize];
                // Most edges are silent.
                if matches!(edge.effect, EdgeEffect::Local | EdgeEffect::Store(_)) {
                    continue;
                }
                let mut draft = draft.clone();
                draft.shapes[thread] = shape.clone();
                draft.shapes[thread].control = edge.from;
                let mut drafts = Vec::new();
                match &edge.effect {
                    EdgeEffect::Load(reads) => self.load(draft, thread, reads, &mut Vec::new(), holder, &mut drafts),
                    EdgeEffect::Local | EdgeEffect::Store(_) => {}
                    effect => self.drained(draft, thread, effect, holder, &mut drafts),
                }
                let step = VisibleStep { thread: thread as u16, edge: number };
                let bytes = drafts.iter().map(PsoDraft::bytes).sum();
                for draft in drafts {
                    if let Some(configuration) = self.settle(draft) {
                        // A limit is remembered, and the search asks for it.
                        let _ = self.watch.hold(self.bytes(&configuration) + FOUND_BYTES);
                        found.push((step, configuration));
                    }
                }
                self.watch.release(bytes);
                if self.watch.limit().is_some() {
                    return;
                }
            }
        }
    }

    /// A load of several cells at one moment, at least one of them from memory.
    fn load(
        &self,
        draft: PsoDraft,
        thread: usize,
        reads: &[CellPair],
        from_memory: &mut Vec<CellId>,
        holder: Option<usize>,
        found: &mut Vec<PsoDraft>,
    ) {
        let Some((&(cell, value), rest)) = reads.split_first() else {
            if from_memory.is_empty() {
                return;
            }
            let asked: Vec<_> = from_memory.iter().map(|cell| (*cell, Giver::Others(thread))).collect();
            let asked = if holder.is_some() { &[] } else { asked.as_slice() };
            return self.give(draft, asked, found);
        };
        let mut own = draft.clone();
        if self.load_own(thread, &mut own.shapes[thread], (cell, value)) {
            self.load(own, thread, rest, from_memory, holder, found);
        }
        let mut draft = draft;
        let empty = draft.shapes[thread].demand(cell).is_none_or(|demand| demand.word.is_empty());
        if empty && require(&mut draft.memory, (cell, value)) {
            draft.shapes[thread].at(cell).closed = true;
            from_memory.push(cell);
            self.load(draft, thread, rest, from_memory, holder, found);
            from_memory.pop();
        }
    }

    /// A step that needs the thread's buffers to be empty.
    fn drained(
        &self,
        draft: PsoDraft,
        thread: usize,
        effect: &EdgeEffect,
        holder: Option<usize>,
        found: &mut Vec<PsoDraft>,
    ) {
        let mut draft = draft;
        if !draft.shapes[thread].is_drained() {
            return;
        }
        let mut read: &[CellPair] = &[];
        if let EdgeEffect::Atomic { reads, writes } = effect {
            if !writes.iter().all(|write| require(&mut draft.memory, *write)) {
                return;
            }
            writes.iter().for_each(|write| draft.memory[write.0 as usize] = OPEN);
            if !reads.iter().all(|read| require(&mut draft.memory, *read)) {
                return;
            }
            read = reads;
        }
        let asks_others = |cell: CellId| match effect {
            EdgeEffect::BusLock => true,
            _ if holder.is_some() => false,
            _ => read.iter().any(|read| read.0 == cell),
        };
        let mut asked = Vec::new();
        for (cell, _) in draft.memory.iter().enumerate().filter(|(_, value)| **value != OPEN) {
            let cell = cell as CellId;
            draft.shapes[thread].at(cell).closed = true;
            asked.push((cell, if asks_others(cell) { Giver::Anyone } else { Giver::Only(thread) }));
        }
        self.give(draft, &asked, found);
    }

    /// A goal that is judged where all buffers are empty.
    pub(super) fn settled_goal(&self, mut draft: PsoDraft, found: &mut Vec<PsoDraft>) {
        let known = draft.memory.iter().enumerate().filter(|(_, value)| **value != OPEN);
        let cells: Vec<CellId> = known.map(|(cell, _)| cell as CellId).collect();
        for shape in &mut draft.shapes {
            cells.iter().for_each(|cell| shape.at(*cell).closed = true);
        }
        let asked: Vec<_> = cells.into_iter().map(|cell| (cell, Giver::Anyone)).collect();
        self.give(draft, &asked, found);
    }

    /// For each of the cells: nothing happened to it, or one of those asked has just updated it.
    fn give(&self, draft: PsoDraft, asked: &[(CellId, Giver)], found: &mut Vec<PsoDraft>) {
        let Some((&(cell, giver), rest)) = asked.split_first() else {
            // A limit is remembered; what was found until then is a part of all.
            if self.watch.hold(draft.bytes()).is_ok() {
                found.push(draft);
            }
            return;
        };
        if self.watch.step().is_err() {
            return;
        }
        for thread in 0..draft.shapes.len() {
            let asked = match giver {
                Giver::Others(but) => thread != but,
                Giver::Only(only) => thread == only,
                Giver::Anyone => true,
            };
            let value = draft.memory[cell as usize];
            let pends = self.pending[thread]
                .get(draft.shapes[thread].control as usize)
                .is_none_or(|pending| pending.iter().any(|pair| pair.0 == cell && known(pair.1) == value));
            if asked && pends {
                let mut draft = draft.clone();
                draft.shapes[thread].at(cell).word.insert(0, (value - 1) as u16);
                draft.memory[cell as usize] = OPEN;
                self.give(draft, rest, found);
            }
        }
        self.give(draft, rest, found);
    }

    /// The constraint, made small, if it is possible.
    pub(super) fn settle(&mut self, mut draft: PsoDraft) -> Option<PsoConfiguration> {
        let holder = self.holder(&draft);
        for thread in 0..draft.shapes.len() {
            // What is pending for an open cell may have reached memory, if it could.
            let may_update = holder.is_none_or(|holder| holder == thread);
            let memory = &draft.memory;
            draft.shapes[thread]
                .demands
                .retain(|demand| !demand.word.is_empty() || !may_update || memory[demand.cell as usize] != OPEN);
            self.forget_void(thread, &mut draft.shapes[thread]);
            if !self.is_possible(thread, &draft.shapes[thread]) {
                return None;
            }
        }
        let mut row: Vec<u32> = Vec::with_capacity(draft.shapes.len() + draft.memory.len());
        for (thread, shape) in draft.shapes.into_iter().enumerate() {
            let part = self.intern(thread, shape).ok()?;
            self.closure(thread, part);
            row.push(part);
        }
        row.extend(draft.memory);
        Some(PsoConfiguration(row.into()))
    }

    fn holder(&self, draft: &PsoDraft) -> Option<usize> {
        (0..draft.shapes.len()).find(|thread| self.controls.threads[*thread].holds_bus(draft.shapes[*thread].control))
    }

    fn draft(&self, of: &PsoConfiguration) -> PsoDraft {
        let threads = self.parts.len();
        PsoDraft {
            shapes: (0..threads).map(|thread| self.parts[thread].get(of.part(thread)).shape.clone()).collect(),
            memory: of.0[threads..].to_vec(),
        }
    }
}
