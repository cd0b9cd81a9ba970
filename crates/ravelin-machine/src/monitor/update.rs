//! How the sets change with each step: figure 2 of the paper for the `_sc` sets, the views of section 4.2 for
//! happens-before.
//!
//! A load adds its cell to `cur` and `acq`, and the cell's message to `acq`, and to `cur` if it acquires. A write
//! removes its cell from every set, adds it to the writer's `cur` and `acq`, and leaves a message: `rel`, or `cur` if
//! it releases. An RMW does both, and joins the message it leaves with the one it read: that is the release sequence.
//! An acquire fence sets `cur` to `acq`, a release fence sets `rel` to `cur`.
//!
//! **Chains.** RC11's psc has an edge between seq_cst accesses along po, mo and fr, and along rf. A seq_cst access that
//! misses a seq_cst write would have an edge to it, so it may not if edges lead from the write to the access. The sets of
//! chains are the facts that such writes make true, handed on along these edges: a seq_cst access takes what its thread
//! has; a read also what the write has that it reads; a write also what all accesses of the cell have. psc has more edges
//! than these, so a search with chains allows all that RC11 allows, and less than one without. A write that is not
//! seq_cst hands on nothing, unless it is an RMW: then what it read hands on through the release sequence.
//!
//! Non-atomic accesses count in the views, as relaxed ones that carry no message. They do not count in the `_sc` sets:
//! they are watched for races, not for robustness. Without a race everything they order is ordered by happens-before
//! anyway.

use super::Monitor;
use super::columns::Columns;
use super::effect::{AccessStrength, MonitorEffect};
use super::view::MonitorView;
use crate::attack::AccessLog;
use ravelin_program::Value;

impl<const N: usize> Monitor<'_, N> {
    /// The sets of the initial state: every view knows every initial write.
    pub(super) fn start(&self, state: &mut [u64]) {
        let rows = &self.rows;
        let all = MonitorView { known: Columns::first(self.plan.columns()), fenced: Columns::NONE };
        for view in rows.cur.iter().chain(rows.acq.iter().flatten()).chain(&rows.rel).chain(&rows.msg) {
            view.set(state, all);
        }
        for row in rows.thread_sc.iter().chain(&rows.write_sc).chain(&rows.access_sc) {
            row.set(state, Columns::EVERY);
        }
        for row in
            rows.buffers.iter().flat_map(|buffers| buffers.stores.iter().chain(&buffers.seen).chain(&buffers.next))
        {
            row.set(state, all.known);
        }
        rows.forget(self.machine, state);
    }

    /// Changes the sets of `next`, which a step of a thread has led to. `overwritten` is the previous value of a
    /// written cell. A load that is `ignored` reads any write (`taint.rs`), so nothing is learned from it.
    pub(super) fn update(
        &self,
        thread: usize,
        step: usize,
        accesses: &AccessLog,
        overwritten: impl Fn(usize) -> Value,
        ignored: bool,
        next: &mut [u64],
    ) {
        if let Some(buffers) = &self.rows.buffers {
            return self.update_buffers(buffers, thread, step, accesses, overwritten, next);
        }
        let effect = self.plan.effects[thread][step];
        if let MonitorEffect::Fence { acquire, release, seq_cst } = effect {
            return self.fence(thread, acquire, release, seq_cst, next);
        }
        let Some((slot, _)) = accesses.iter().next() else { return };
        let writes = accesses.iter().any(|(_, writes)| writes);
        let (mode, update) = match effect {
            MonitorEffect::Nothing | MonitorEffect::Fence { .. } => return,
            MonitorEffect::Read(mode) | MonitorEffect::Write(mode) => (mode, false),
            MonitorEffect::Update(mode) => (mode, true),
            MonitorEffect::Compare(success, failure) => (if writes { success } else { failure }, writes),
        };
        if mode.fence_before {
            self.hidden_fence(thread, next);
        }
        if let Some(cell) = self.plan.cell_of[slot] {
            if writes {
                self.write(thread, cell, mode, update, overwritten(slot), next);
            } else if ignored {
                self.ignore(thread, cell, mode, next);
            } else {
                self.read(thread, cell, mode, next);
            }
        }
        if mode.fence_after {
            self.hidden_fence(thread, next);
        }
    }

    fn read(&self, thread: usize, cell: usize, mode: AccessStrength, state: &mut [u64]) {
        let rows = &self.rows;
        let mark = self.renew_mark(thread, cell, mode, false, state);
        let own = self.own[cell] | mark;
        let found = rows.write_fenced[cell].get(state);
        let cur = self.acquire(thread, cell, mode, state).learn(own).expect(found);
        rows.cur[thread].set(state, cur);
        if let Some(acq) = rows.acq[thread] {
            acq.set(state, acq.get(state).learn(own).expect(found));
        }
        rows.access_fenced[cell].add(state, cur.fences_knew());
        if mode.atomic {
            let known = rows.thread_sc[thread].get(state) | rows.write_sc[cell].get(state);
            rows.thread_sc[thread].set(state, known);
            rows.access_sc[cell].add(state, known);
        }
        if mode.chained {
            let chain = rows.thread_chain[thread].get(state) | rows.write_chain[cell].get(state);
            rows.thread_chain[thread].set(state, chain);
            rows.access_chain[cell].add(state, chain);
        }
    }

    /// A load whose value does not matter. It is an access for data races, and under SC.
    fn ignore(&self, thread: usize, cell: usize, mode: AccessStrength, state: &mut [u64]) {
        let rows = &self.rows;
        let mark = self.renew_mark(thread, cell, mode, false, state);
        for view in [Some(rows.cur[thread]), rows.acq[thread]].into_iter().flatten() {
            view.set(state, view.get(state).learn(mark));
        }
        let known = rows.thread_sc[thread].get(state) | rows.write_sc[cell].get(state);
        rows.thread_sc[thread].set(state, known);
        rows.access_sc[cell].add(state, known);
    }

    fn write(&self, thread: usize, cell: usize, mode: AccessStrength, update: bool, old: Value, state: &mut [u64]) {
        let (rows, plan) = (&self.rows, &self.plan);
        let mut cur = rows.cur[thread].get(state);
        if update {
            cur = self.acquire(thread, cell, mode, state);
        }
        let found = rows.access_fenced[cell].get(state);
        let fences_knew = found | cur.fences_knew();
        rows.access_fenced[cell].set(state, fences_knew);
        rows.write_fenced[cell].set(state, fences_knew);
        rows.cur[thread].set(state, cur.expect(found));
        if let Some(acq) = rows.acq[thread] {
            acq.set(state, acq.get(state).expect(found));
        }
        if mode.atomic {
            rows.thread_sc[thread].add(state, rows.access_sc[cell].get(state));
        }
        if mode.chained {
            rows.thread_chain[thread].add(state, rows.access_chain[cell].get(state));
        }

        self.lose(cell, update, old, state);
        let mark = self.renew_mark(thread, cell, mode, true, state);

        let own = self.own[cell];
        let cur = rows.cur[thread].get(state).learn(own | mark);
        rows.cur[thread].set(state, cur);
        if let Some(acq) = rows.acq[thread] {
            acq.set(state, acq.get(state).learn(own | mark));
        }
        let mut message = match mode {
            AccessStrength { atomic: false, .. } => MonitorView::default(),
            AccessStrength { release: true, .. } => cur,
            _ => rows.rel[thread].get(state),
        };
        if update {
            message = message.join(rows.msg[cell].get(state));
        }
        rows.msg[cell].set(state, message.learn(own));

        if mode.atomic {
            let column = plan.cells[cell].sc_column.map_or(Columns::NONE, Columns::one);
            let known = rows.thread_sc[thread].get(state) | column;
            rows.thread_sc[thread].set(state, known);
            rows.write_sc[cell].set(state, known);
            rows.access_sc[cell].set(state, known);
        } else {
            rows.write_sc[cell].set(state, Columns::NONE);
        }
        if mode.chained {
            let chain = rows.thread_chain[thread].get(state) | own;
            rows.thread_chain[thread].set(state, chain);
            rows.write_chain[cell].set(state, chain);
            rows.access_chain[cell].set(state, chain);
        } else if rows.has_chains && !update {
            rows.write_chain[cell].set(state, Columns::NONE);
        }
    }

    /// A write to a cell, which held the value `old`: the cell leaves every set, and of its facts those that the write
    /// makes false.
    pub(super) fn lose(&self, cell: usize, update: bool, old: Value, state: &mut [u64]) {
        let (rows, plan) = (&self.rows, &self.plan);
        // The previous last stale value is the last different one, if it differs.
        let last_stale = rows.last_stale[cell];
        if let (Some((any, different)), Some(last)) = (plan.cells[cell].different, last_stale)
            && last.get(state) != old
        {
            rows.copy_column(any, different, state);
        }
        rows.clear(state, &self.lost[cell][usize::from(update)]);
        for &fact in &self.by_value[cell] {
            let fact_is = &plan.facts[fact];
            if fact_is.class.contains(old) && !(update && fact_is.squeezes) {
                rows.clear(state, &rows.columns[fact]);
            }
        }
        if let Some(last) = last_stale {
            last.set(state, old);
        }
    }

    /// The message of a cell goes to `acq`. If the access acquires, it also goes to `cur`, which is returned and not
    /// yet stored.
    fn acquire(&self, thread: usize, cell: usize, mode: AccessStrength, state: &mut [u64]) -> MonitorView<N> {
        let cur = self.rows.cur[thread].get(state);
        if !mode.atomic {
            return cur;
        }
        let message = self.rows.msg[cell].get(state);
        if let Some(acq) = self.rows.acq[thread] {
            acq.set(state, acq.get(state).join(message));
        }
        if mode.acquire { cur.join(message) } else { cur }
    }

    /// A thread's access of a kind is new to every other view. Returns the mark for its own views.
    fn renew_mark(
        &self,
        thread: usize,
        cell: usize,
        mode: AccessStrength,
        writes: bool,
        state: &mut [u64],
    ) -> Columns<N> {
        match self.marks[thread][cell][usize::from(mode.atomic)][usize::from(writes)] {
            None => Columns::NONE,
            Some(mark) => {
                self.rows.clear(state, &self.rows.columns[mark]);
                Columns::one(mark)
            }
        }
    }

    fn fence(&self, thread: usize, acquire: bool, release: bool, seq_cst: bool, state: &mut [u64]) {
        let rows = &self.rows;
        let mut cur = rows.cur[thread].get(state);
        if let (true, Some(acq)) = (acquire, rows.acq[thread]) {
            cur = acq.get(state);
        }
        if seq_cst {
            cur = cur.fence(self.facts);
            if let Some(acq) = rows.acq[thread] {
                acq.set(state, cur);
            }
        }
        rows.cur[thread].set(state, cur);
        if release {
            rows.rel[thread].set(state, cur);
        }
    }

    /// An implicit seq_cst fence: it strengthens what is known of stale writes, and synchronises nothing.
    fn hidden_fence(&self, thread: usize, state: &mut [u64]) {
        let (rows, facts) = (&self.rows, self.facts);
        let cur = rows.cur[thread].get(state);
        let fenced = self.behind_fence(thread, state);
        rows.cur[thread].set(state, fenced.over(facts, cur));
        if let Some(acq) = rows.acq[thread] {
            acq.set(state, fenced.over(facts, acq.get(state)));
        }
        let rel = rows.rel[thread];
        rel.set(state, fenced.over(facts, rel.get(state)));
    }

    /// What `cur` would be after a seq_cst fence.
    #[inline]
    pub(super) fn behind_fence(&self, thread: usize, state: &[u64]) -> MonitorView<N> {
        let view = self.rows.acq[thread].unwrap_or(self.rows.cur[thread]);
        view.get(state).fence(self.facts)
    }
}
