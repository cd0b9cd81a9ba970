//! Silent steps backwards: local steps and loads.
//!
//! A load looks at the message its thread points to, or at the thread's own newest store beyond it. Neither changes when others
//! append messages, so a load may wait until just before its thread's next step that others can see; this, and that pointers move
//! only where a load needs them, is the partial-order argument of appendix B. Backwards: after each such step, all ways over
//! silent steps are gone at once, up to the states that the thread can have been in while others moved.

use super::word::{SbDraft, WordMark, covers};
use super::{SbConfiguration, SingleBuffer};
use crate::reachability::finite::{CellPair, EdgeEffect};
use rustc_hash::FxHashMap;

impl SingleBuffer<'_> {
    /// Adds the minimal constraints from which silent steps of a thread lead into this one, itself included, where the thread
    /// may stay. After a limit was hit these are not all.
    pub(super) fn silent_steps(&mut self, start: SbConfiguration, thread: usize, found: &mut Vec<SbConfiguration>) {
        let threads = self.controls.threads.len();
        let finite = self.finite;
        let mut minimal: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        minimal.insert(start.controls(threads)[thread], vec![0]);
        let mut all = vec![start];
        // By number in `all`.
        let mut is_minimal = vec![true];
        let held = self.watch.bytes();
        let mut next = 0;
        let mut drafts = Vec::new();
        while next < all.len() {
            let control = all[next].controls(threads)[thread];
            next += 1;
            if !is_minimal[next - 1] {
                continue;
            }
            if self.watch.step().is_err() {
                break;
            }
            for index in 0..self.controls.threads[thread].silent_in(control).len() {
                let edge = self.controls.threads[thread].silent_in(control)[index];
                let edge = &finite.threads[thread].edges[edge as usize];
                let mut draft = SbDraft::of(&all[next - 1], threads);
                draft.controls[thread] = edge.from;
                match &edge.effect {
                    EdgeEffect::Load(reads) => self.load(draft, thread, reads, &mut Vec::new(), &mut drafts),
                    _ => self.keep(draft, &mut drafts),
                }
                self.watch.release(drafts.iter().map(SbDraft::bytes).sum());
                for draft in std::mem::take(&mut drafts) {
                    let Some(before) = self.settle(draft, thread) else { continue };
                    // A set of states that is the start covers all its members.
                    if covers(&self.controls, &self.snapshots, &all[0], &before) {
                        continue;
                    }
                    let group = minimal.entry(before.controls(threads)[thread]).or_default();
                    let covered = |small: &SbConfiguration, large: &SbConfiguration| {
                        covers(&self.controls, &self.snapshots, small, large)
                    };
                    if self.watch.steps(1 + group.len() / 4).is_err() || self.watch.hold(before.bytes() + 64).is_err() {
                        break;
                    }
                    if group.iter().any(|known| covered(&all[*known], &before)) {
                        continue;
                    }
                    group.retain(|known| {
                        is_minimal[*known] = !covered(&before, &all[*known]);
                        is_minimal[*known]
                    });
                    group.push(all.len());
                    is_minimal.push(true);
                    all.push(before);
                }
            }
        }
        for (number, configuration) in all.into_iter().enumerate() {
            let control = configuration.controls(threads)[thread];
            if is_minimal[number] && self.controls.threads[thread].is_anchor(control) {
                found.push(configuration);
            }
        }
        // Those that are found are counted by the caller.
        self.watch.release(self.watch.bytes().saturating_sub(held) as usize);
    }

    /// A load of several cells at one moment: each from the thread's newest own store, or all others from the message it points to.
    fn load(
        &mut self,
        draft: SbDraft,
        thread: usize,
        reads: &[CellPair],
        from_memory: &mut Vec<CellPair>,
        found: &mut Vec<SbDraft>,
    ) {
        if self.watch.step().is_err() {
            return;
        }
        let Some((&(cell, value), rest)) = reads.split_first() else {
            return self.load_from_memory(draft, thread, from_memory, found);
        };
        if let Some(own) = draft.mark(thread, cell, true) {
            if self.snapshots.get(draft.word[own]).pairs.contains(&(cell, value)) {
                self.load(draft, thread, rest, from_memory, found);
            }
            return;
        }
        if self.controls.threads[thread].may_own(draft.controls[thread], (cell, value)) {
            // A later load of the cell from memory comes after the own store is there.
            let bound = draft.mark(thread, cell, false).unwrap_or(draft.last());
            let reader = self.reader(thread);
            let letter = self.snapshots.letter(reader, &[(cell, value)]);
            for at in 0..=bound {
                let mut draft = draft.clone();
                draft.marks.retain(|mark| mark.own || mark.thread != thread as u16 || mark.cell != cell);
                draft.insert(at, letter);
                draft.marks.push(WordMark { thread: thread as u16, cell, own: true, at: at as u16 });
                draft.pointers[thread] = draft.pointers[thread].min(at as u32);
                self.load(draft, thread, rest, from_memory, found);
            }
        }
        from_memory.push((cell, value));
        self.load(draft, thread, rest, from_memory, found);
        from_memory.pop();
    }

    fn load_from_memory(&mut self, draft: SbDraft, thread: usize, pairs: &[CellPair], found: &mut Vec<SbDraft>) {
        if pairs.is_empty() {
            return self.keep(draft, found);
        }
        let reader = self.reader(thread);
        let letter = self.snapshots.letter(reader, pairs);
        let pointer = draft.pointers[thread] as usize;
        for at in 0..=pointer {
            let serves = self.serves(&draft, at, thread, pairs);
            if serves {
                let draft = self.pointed(draft.clone(), thread, at, pairs);
                self.keep(draft, found);
            }
            // Beside a message that tells it all, one more says nothing.
            if !(serves || at > 0 && self.serves(&draft, at - 1, thread, pairs)) {
                let mut draft = draft.clone();
                draft.insert(at, letter);
                let draft = self.pointed(draft, thread, at, pairs);
                self.keep(draft, found);
            }
        }
    }

    /// Keeps a constraint in the making, unless a limit was hit, which is remembered.
    fn keep(&self, draft: SbDraft, found: &mut Vec<SbDraft>) {
        if self.watch.hold(draft.bytes()).is_ok() {
            found.push(draft);
        }
    }

    /// The thread points to this message, and its own newest stores to the cells that it loads there are not beyond it.
    fn pointed(&self, mut draft: SbDraft, thread: usize, at: usize, pairs: &[CellPair]) -> SbDraft {
        draft.pointers[thread] = at as u32;
        for (cell, _) in pairs {
            if !self.controls.may_pend(thread, draft.controls[thread], *cell) {
                continue;
            }
            draft.marks.retain(|mark| mark.own || mark.thread != thread as u16 || mark.cell != *cell);
            draft.marks.push(WordMark { thread: thread as u16, cell: *cell, own: false, at: at as u16 });
        }
        draft
    }
}
