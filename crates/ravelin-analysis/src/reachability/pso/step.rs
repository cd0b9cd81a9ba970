//! Steps backwards that others can see: loads from memory, fences, store-store fences, locked steps and the bus lock, each with the
//! updates that come right before it.
//!
//! An update can wait until somebody needs it: until another thread reads the cell from memory, or its own thread
//! needs an empty buffer. Before that it is nobody's business: its own thread reads the pending store instead, and if another update
//! of the cell comes first, this one can come right before that. Backwards: where a cell is known to hold v, and one of these needs
//! it, either it held v before, or some thread's pending v has just reached memory. Then the cell is open, and all
//! that is pending for it elsewhere may have reached memory before.
//!
//! A load from memory, a fence or a locked step finds the thread's load buffer empty, so what later loads need there is sent after it.
//! A store-store fence needs empty store buffers, and leaves the load buffer as it is.
//!
//! While a thread holds the bus lock nobody else does any of this, so what others' updates could give is asked where it was taken.

use super::part::{PartId, Shape};
use super::silent::{LoadTime, store};
use super::{FOUND_BYTES, PsoConfiguration, StoreBuffers};
use crate::reachability::dual::step::{Known, OPEN, require};
use crate::reachability::finite::{CellId, CellPair, EdgeEffect, ValueId};
use ravelin_backward::MonotonicSystem;

/// Who may have made a cell hold what it is known to hold.
#[derive(Clone, Copy)]
pub(super) enum Giver {
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
    pub fn bytes(&self) -> usize {
        let shapes: usize = self.shapes.iter().map(|shape| shape.bytes() / 2).sum();
        shapes + size_of_val(&*self.memory)
    }
}

impl StoreBuffers<'_> {
    /// The predecessors of a constraint over a step of a thread that is not silent, after its silent steps.
    pub(super) fn steps_back(&mut self, of: &PsoConfiguration, thread: usize, found: &mut Vec<PsoConfiguration>) {
        let draft = self.draft(of);
        let holder = self.holder(&draft);
        if holder.is_some_and(|holder| holder != thread) {
            return;
        }
        for time in [LoadTime::AtOnce, LoadTime::Late] {
            for &part in self.closure(thread, of.part(thread), time).iter() {
                self.edges_back(&draft, thread, part, time, holder, found);
                if self.watch.limit().is_some() {
                    return;
                }
            }
        }
    }

    /// The same over the edges into one part: store-store fences after late loads, the others after loads at once.
    fn edges_back(
        &mut self,
        draft: &PsoDraft,
        thread: usize,
        part: PartId,
        time: LoadTime,
        holder: Option<usize>,
        found: &mut Vec<PsoConfiguration>,
    ) {
        let finite = self.finite;
        let shape = self.parts[thread].get(part).shape.clone();
        for number in self.edges_into(thread, shape.control) {
            let edge = &finite.threads[thread].edges[number as usize];
            let is_fence = self.order[thread].fences[number as usize];
            let is_silent = matches!(edge.effect, EdgeEffect::Local | EdgeEffect::Store(_));
            // Most edges are silent.
            if is_fence != (time == LoadTime::Late) || is_silent && !is_fence {
                continue;
            }
            let mut draft = draft.clone();
            draft.shapes[thread] = shape.clone();
            draft.shapes[thread].control = edge.from;
            let mut drafts = Vec::new();
            match &edge.effect {
                effect if is_fence => self.store_store_fence(draft, thread, effect, &mut drafts),
                EdgeEffect::Load(reads) => {
                    if self.take(&mut draft, thread, 0) {
                        self.load(draft, thread, reads, &mut Vec::new(), holder, &mut drafts);
                    }
                }
                effect => self.drained(draft, thread, effect, holder, &mut drafts),
            }
            self.settle_all(drafts, found);
            if self.watch.limit().is_some() {
                return;
            }
        }
    }

    /// Those of the drafts that are possible. What the drafts take is given back.
    pub(super) fn settle_all(&mut self, drafts: Vec<PsoDraft>, found: &mut Vec<PsoConfiguration>) {
        let bytes = drafts.iter().map(PsoDraft::bytes).sum();
        for draft in drafts {
            if let Some(configuration) = self.settle(draft) {
                // A limit is remembered, and the search asks for it.
                let _ = self.watch.hold(self.bytes(&configuration) + FOUND_BYTES);
                found.push(configuration);
            }
        }
        self.watch.release(bytes);
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
            let asked = if holder.is_some() { Vec::new() } else { asked };
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
        if !draft.shapes[thread].is_drained() || !self.take(&mut draft, thread, 0) {
            return;
        }
        let EdgeEffect::Atomic { reads, writes } = effect else {
            return self.drained_before(draft, thread, effect, &[], holder, found);
        };
        if !writes.iter().all(|write| require(&mut draft.memory, *write)) {
            return;
        }
        let written: Vec<CellId> = writes.iter().map(|write| write.0).collect();
        for mut draft in self.sent(draft, thread, &written) {
            written.iter().for_each(|cell| draft.memory[*cell as usize] = OPEN);
            if reads.iter().all(|read| require(&mut draft.memory, *read)) {
                self.drained_before(draft, thread, effect, reads, holder, found);
            }
        }
    }

    /// The thread's updates before such a step, and those that gave what it read.
    fn drained_before(
        &self,
        mut draft: PsoDraft,
        thread: usize,
        effect: &EdgeEffect,
        read: &[CellPair],
        holder: Option<usize>,
        found: &mut Vec<PsoDraft>,
    ) {
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
        self.give(draft, asked, found);
    }

    /// A store-store fence, and the store after it if it is a release store: the thread's stores before it have reached memory.
    fn store_store_fence(&self, mut draft: PsoDraft, thread: usize, effect: &EdgeEffect, found: &mut Vec<PsoDraft>) {
        let shape = &mut draft.shapes[thread];
        if let EdgeEffect::Store(pair) = effect
            && !store(shape, *pair)
        {
            return;
        }
        if !shape.is_drained() {
            return;
        }
        let mut asked = Vec::new();
        for (cell, value) in draft.memory.iter().enumerate() {
            let cell = cell as CellId;
            // What the load buffer needs to say of a cell says when its updates came: see `update`.
            let is_told = self.speaks_of(&draft.shapes[thread], cell);
            if *value != OPEN || is_told {
                draft.shapes[thread].at(cell).closed = true;
            }
            if *value != OPEN && !is_told {
                asked.push((cell, Giver::Only(thread)));
            }
        }
        self.give(draft, asked, found);
    }

    /// A goal that is judged where all buffers are empty.
    pub(super) fn settled_goal(&self, mut draft: PsoDraft, found: &mut Vec<PsoDraft>) {
        let known = draft.memory.iter().enumerate().filter(|(_, value)| **value != OPEN);
        let cells: Vec<CellId> = known.map(|(cell, _)| cell as CellId).collect();
        for shape in &mut draft.shapes {
            cells.iter().for_each(|cell| shape.at(*cell).closed = true);
        }
        let asked = cells.into_iter().map(|cell| (cell, Giver::Anyone)).collect();
        self.give(draft, asked, found);
    }

    /// The updates right before a step: for each of the cells, nothing happened to it, or one of those asked has just updated it.
    ///
    /// What memory is known to hold now may have been sent to load buffers right before the step as well. Then nothing asks for it any
    /// more, so it is asked here who has just updated these cells.
    pub(super) fn give(&self, mut draft: PsoDraft, mut asked: Vec<(CellId, Giver)>, found: &mut Vec<PsoDraft>) {
        for cell in self.shorten(&mut draft) {
            match asked.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, giver)) => *giver = Giver::Anyone,
                None => asked.push((cell, Giver::Anyone)),
            }
        }
        self.give_each(draft, &asked, found);
    }

    fn give_each(&self, draft: PsoDraft, asked: &[(CellId, Giver)], found: &mut Vec<PsoDraft>) {
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
            let value = (draft.memory[cell as usize] - 1) as ValueId;
            let shape = &draft.shapes[thread];
            // With messages on the cell it is a step of its own.
            let pends = self.order[thread].may_pend(shape.control, (cell, value)) && !self.speaks_of(shape, cell);
            if asked && pends {
                let mut draft = draft.clone();
                draft.shapes[thread].at(cell).word.insert(0, value);
                draft.memory[cell as usize] = OPEN;
                self.give_each(draft, rest, found);
            }
        }
        self.give_each(draft, rest, found);
    }

    /// The constraint, made small, if it is possible.
    pub(super) fn settle(&mut self, mut draft: PsoDraft) -> Option<PsoConfiguration> {
        let holder = self.holder(&draft);
        for thread in 0..draft.shapes.len() {
            // What is pending for an open cell may have reached memory, if it could, and if the load buffer need not say when.
            let may_update = holder.is_none_or(|holder| holder == thread);
            let mut demands = std::mem::take(&mut draft.shapes[thread].demands);
            demands.retain(|demand| {
                !demand.word.is_empty()
                    || !may_update
                    || draft.memory[demand.cell as usize] != OPEN
                    || self.speaks_of(&draft.shapes[thread], demand.cell)
            });
            draft.shapes[thread].demands = demands;
            self.forget_void(thread, &mut draft.shapes[thread]);
            if !self.is_possible(thread, &draft.shapes[thread]) {
                return None;
            }
        }
        let mut row: Vec<u32> = Vec::with_capacity(draft.shapes.len() + draft.memory.len());
        for (thread, shape) in draft.shapes.into_iter().enumerate() {
            let part = self.intern(thread, shape).ok()?;
            self.closure(thread, part, LoadTime::AtOnce);
            row.push(part);
        }
        row.extend(draft.memory);
        Some(PsoConfiguration(row.into()))
    }

    fn holder(&self, draft: &PsoDraft) -> Option<usize> {
        (0..draft.shapes.len()).find(|thread| self.controls.threads[*thread].holds_bus(draft.shapes[*thread].control))
    }

    pub(super) fn draft(&self, of: &PsoConfiguration) -> PsoDraft {
        let threads = self.parts.len();
        PsoDraft {
            shapes: (0..threads).map(|thread| self.parts[thread].get(of.part(thread)).shape.clone()).collect(),
            memory: of.0[threads..].to_vec(),
        }
    }
}
