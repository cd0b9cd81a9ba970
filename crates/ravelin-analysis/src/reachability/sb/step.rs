//! Steps backwards that others can see: stores, fences, locked steps and the bus lock.
//!
//! A store appends a message: what the last one said, with one cell changed. Backwards, that message goes, and with it those
//! messages of the word that go to it. These are a suffix of the word; the others go to what was there before. Only a
//! suffix that begins with a message that tells the written cell is worth a try (any other message may as well go to the message
//! before), or with one that must be in it: the thread's own mark or bound on the cell.
//!
//! A fence needs the thread's pointer at the last message, so whatever the thread's pointer points to is the last message. A locked
//! step is a fence, a read of the last message and a store at once.
//!
//! Under the bus lock nobody but its holder may load, so messages for others go to none of the holder's messages; they can go to
//! the last one when the lock is given back.

use super::word::{Letter, MemorySnapshot, SbDraft, WordMark, contains, merge};
use super::{FOUND_BYTES, SbConfiguration, SingleBuffer, VisibleStep};
use crate::reachability::finite::{CellPair, EdgeEffect};

/// A message that a step appends.
struct AppendedMessage<'a> {
    thread: usize,
    writes: &'a [CellPair],
    /// Not a locked step.
    is_store: bool,
    /// The thread holds the bus lock.
    under_lock: bool,
}

impl SingleBuffer<'_> {
    /// The predecessors of a constraint over one edge of a thread.
    pub(super) fn step_back(
        &mut self,
        of: &SbConfiguration,
        thread: usize,
        edge: u32,
        found: &mut Vec<(VisibleStep, SbConfiguration)>,
    ) {
        let finite = self.finite;
        let step = VisibleStep { thread: thread as u16, edge };
        let edge = &finite.threads[thread].edges[edge as usize];
        let mut draft = SbDraft::of(of, finite.threads.len());
        let holder = self.controls.holder(&draft.controls);
        let others_hold = holder.is_some_and(|holder| holder != thread);
        draft.controls[thread] = edge.from;
        let pointer = draft.pointers[thread] as usize;
        let mut drafts = Vec::new();
        let appended = |writes, is_store| AppendedMessage { thread, writes, is_store, under_lock: holder.is_some() };
        match &edge.effect {
            EdgeEffect::Store(_) | EdgeEffect::Atomic { .. } | EdgeEffect::BusLock if others_hold => return,
            EdgeEffect::Store(pair) => {
                let mark = |own| draft.mark(thread, pair.0, own).unwrap_or(draft.last());
                let start = mark(true).min(mark(false));
                self.append(&draft, start, &appended(std::slice::from_ref(pair), true), &mut drafts);
            }
            EdgeEffect::Atomic { reads, writes } if !writes.is_empty() => {
                self.append(&draft, pointer, &appended(writes, false), &mut drafts);
                drafts.retain_mut(|draft| self.read_last(draft, reads));
            }
            EdgeEffect::Atomic { reads, .. } => {
                drafts.extend(self.drain(draft, pointer));
                drafts.retain_mut(|draft| self.read_last(draft, reads));
            }
            // Its loads after the fence must wait for the bus.
            EdgeEffect::Fence if others_hold && pointer < draft.last() => return,
            EdgeEffect::Fence | EdgeEffect::BusLock => drafts.extend(self.drain(draft, pointer)),
            EdgeEffect::BusUnlock => {
                drafts.extend((0..=pointer).rev().filter_map(|start| self.drain(draft.clone(), start)));
            }
            EdgeEffect::Local | EdgeEffect::Load(_) => return,
        }
        let mut before = Vec::new();
        for draft in drafts {
            if let Some(configuration) = self.settle(draft, thread) {
                self.silent_steps(configuration, thread, &mut before);
            }
            for configuration in before.drain(..) {
                // A limit is remembered, and the search asks for it.
                let _ = self.watch.hold(configuration.bytes() + FOUND_BYTES);
                found.push((step, configuration));
            }
        }
    }

    /// The last message is the appended one, and the messages from `start` on at least go to it.
    fn append(&mut self, draft: &SbDraft, start: usize, appended: &AppendedMessage, found: &mut Vec<SbDraft>) {
        let AppendedMessage { thread, writes, is_store, under_lock } = *appended;
        let is_written = |pair: &CellPair| writes.iter().any(|write| write.0 == pair.0);
        let may_go = |mark: &WordMark| is_store && mark.thread == thread as u16 && mark.cell == writes[0].0;
        let mut told: Vec<CellPair> = writes.to_vec();
        for at in (0..draft.word.len()).rev() {
            let snapshot = self.snapshots.get(draft.word[at]);
            let is_last = at == draft.last();
            let hidden = !is_last && under_lock && snapshot.reader != thread as u16;
            let of_another = draft.marks.iter().any(|mark| mark.own && mark.at as usize == at && !may_go(mark));
            if hidden || of_another || !merge(&mut told, &snapshot.pairs) {
                return;
            }
            let tells = snapshot.pairs.iter().any(is_written);
            if at == start || at < start && tells {
                let before: Vec<CellPair> = told.iter().copied().filter(|pair| !is_written(pair)).collect();
                let mut draft = draft.clone();
                draft.marks.retain(|mark| (mark.at as usize) < at);
                let letter = self.last_letter(&before);
                draft.fold(at, letter);
                found.push(draft);
            }
        }
    }

    /// The messages from `start` on are one, the last.
    fn drain(&mut self, mut draft: SbDraft, start: usize) -> Option<SbDraft> {
        let own = draft.marks.iter().filter(|mark| mark.own && mark.at as usize >= start).count();
        if own > 1 {
            return None;
        }
        let told = self.told(&draft.word[start..])?;
        let letter = self.last_letter(&told);
        draft.fold(start, letter);
        Some(draft)
    }

    /// The last message says this too. `false` if it cannot.
    fn read_last(&mut self, draft: &mut SbDraft, reads: &[CellPair]) -> bool {
        let last = draft.last();
        let mut told = self.snapshots.get(draft.word[last]).pairs.to_vec();
        let agrees = merge(&mut told, reads);
        draft.word[last] = self.last_letter(&told);
        agrees
    }

    /// What these messages say if they are one.
    pub(super) fn told(&self, word: &[Letter]) -> Option<Vec<CellPair>> {
        let mut told = Vec::new();
        word.iter().all(|letter| merge(&mut told, &self.snapshots.get(*letter).pairs)).then_some(told)
    }

    /// The constraint, made small, if the thread's marks are possible where it is.
    pub(super) fn settle(&mut self, mut draft: SbDraft, thread: usize) -> Option<SbConfiguration> {
        let control = draft.controls[thread];
        let parts = &self.controls.threads[thread];
        let is_possible = |mark: &WordMark| {
            let MemorySnapshot { pairs, .. } = self.snapshots.get(draft.word[mark.at as usize]);
            pairs.iter().any(|pair| pair.0 == mark.cell && parts.may_own(control, *pair))
        };
        let mut own = draft.marks.iter().filter(|mark| mark.own && mark.thread == thread as u16);
        if parts.set_of(control).is_none() && !own.all(is_possible) {
            return None;
        }
        draft.marks.retain(|mark| {
            mark.own || mark.thread != thread as u16 || self.controls.may_pend(thread, control, mark.cell)
        });
        let holder = self.controls.holder(&draft.controls);
        draft.shorten(&self.snapshots, |reader| holder.is_none_or(|holder| reader as usize == holder));
        Some(draft.finish())
    }

    /// The message tells all of these, and is there when the thread loads.
    pub(super) fn serves(&self, draft: &SbDraft, at: usize, thread: usize, pairs: &[CellPair]) -> bool {
        let snapshot = self.snapshots.get(draft.word[at]);
        let may_load = if at == draft.last() {
            self.controls.holder(&draft.controls).is_none_or(|holder| holder == thread)
        } else {
            snapshot.reader == self.reader(thread)
        };
        may_load && contains(&snapshot.pairs, pairs)
    }
}
