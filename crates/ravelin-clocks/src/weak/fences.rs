//! Seq_cst fences: RC11's psc axiom on a graph whose nodes are the fences.
//!
//! psc orders F before G if F happens before G, or if F happens before an access, that access is eco-before another,
//! and that one happens before G. Fences before something are closed under program order. A set of them is therefore a
//! vector: for each thread the epoch of its last fence in the set ([`FenceSet`]). Every fence G keeps the clock of its
//! thread (its view) and all fences with a psc path to it.
//!
//! - Each message keeps the fences before it in modification order: those that happen before a write up to it, or before
//!   a read of an older one. A thread that reads or overwrites the message gets them as *pending*, and they come before
//!   all fences that happen after this access. Pending sets are kept per thread with the epoch since which they hold. A
//!   fence joins what its clock covers.
//! - An access may be put, or read, behind what others have seen already. It then orders all fences before it before every
//!   fence that knows a newer message, and they become pending for all threads that have seen one. An access that would close a
//!   cycle is excluded. The newest message closes none.
//!
//! The number of fences is bounded. What the oldest one knew is then taken as known to all threads
//! ([`FenceOrder::base`]). No access can be put behind it any more, so nothing new comes before it.
//!
//! A seq_cst access is the release/acquire access and a node that stands before it or after it, in the whole run the same
//! ([`SeqCstPlace`]). A cycle of RC11's psc leaves every seq_cst access by program order or happens-before somewhere, and
//! between two such edges are only eco edges: it is a cycle of these nodes too. So no execution is outside RC11; some
//! that RC11 has are missing.

use crate::clock::{Epoch, Tid};
use crate::thread::ThreadClocks;
use std::collections::VecDeque;

/// Where the node of a seq_cst access stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeqCstPlace {
    /// Right before the access.
    Before,
    /// Right after the access.
    After,
}

/// For each thread an epoch: the set of its fences up to then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FenceSet(Vec<Epoch>);

impl FenceSet {
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&epoch| epoch == 0)
    }

    fn get(&self, tid: Tid) -> Epoch {
        self.0.get(usize::from(tid)).copied().unwrap_or(0)
    }

    fn raise(&mut self, tid: Tid, epoch: Epoch) {
        let index = usize::from(tid);
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = self.0[index].max(epoch);
    }

    /// Adds all of another. Returns whether there was anything new.
    pub fn join(&mut self, other: &FenceSet) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            changed |= *mine < *theirs;
            *mine = (*mine).max(*theirs);
        }
        changed
    }
}

/// A node: a seq_cst fence, or one that belongs to a seq_cst access.
#[derive(Debug)]
struct FenceNode {
    epoch: Epoch,
    /// What its thread knew, including what the thread itself had done.
    view: Vec<Epoch>,
    /// All fences with a psc path to it.
    before: FenceSet,
}

/// What is known of the fences of one thread.
#[derive(Debug, Default)]
struct ThreadFences {
    /// Those that are kept, in program order.
    kept: VecDeque<FenceNode>,
    /// The last one that is not kept any more, and all before it; epoch 0 if there is none.
    dropped: (Epoch, FenceSet),
    /// Fences before what the thread has read and written: from each epoch on the set beside it.
    pending: VecDeque<(Epoch, FenceSet)>,
}

impl ThreadFences {
    /// The last fence up to an epoch: its own epoch and what is before it. Of dropped ones too much may be before it.
    fn last(&self, epoch: Epoch) -> Option<(Epoch, &FenceSet)> {
        let after = self.kept.partition_point(|node| node.epoch <= epoch);
        match after.checked_sub(1) {
            Some(index) => Some((self.kept[index].epoch, &self.kept[index].before)),
            None => {
                let (last, before) = &self.dropped;
                (*last > 0 && epoch > 0).then(|| (epoch.min(*last), before))
            }
        }
    }

    /// All sets of fences with a path to a fence, with that fence's epoch.
    fn nodes(&mut self) -> impl Iterator<Item = &mut FenceSet> {
        self.kept.iter_mut().map(|node| &mut node.before).chain([&mut self.dropped.1])
    }
}

/// The seq_cst fences of a run, and what orders them.
#[derive(Debug)]
pub struct FenceOrder {
    place: SeqCstPlace,
    /// The most fences that are kept.
    most: usize,
    threads: Vec<ThreadFences>,
    /// The threads of the fences that are kept, oldest fence first.
    ages: VecDeque<Tid>,
    base: Vec<Epoch>,
    is_used: bool,
}

/// A step that would close a cycle of psc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClosesCycle;

impl FenceOrder {
    /// No fence yet; at most so many are kept.
    pub const fn new(place: SeqCstPlace, most: usize) -> FenceOrder {
        FenceOrder { place, most, threads: Vec::new(), ages: VecDeque::new(), base: Vec::new(), is_used: false }
    }

    /// Where the node of a seq_cst access stands.
    pub fn place(&self) -> SeqCstPlace {
        self.place
    }

    /// What all threads are taken to know, whatever their clocks say.
    pub fn base(&self) -> &[Epoch] {
        &self.base
    }

    /// How many fences are kept.
    pub fn kept(&self) -> usize {
        self.ages.len()
    }

    /// A node for the thread's next event. What it knows does not change.
    pub(super) fn add(&mut self, thread: &ThreadClocks) {
        self.is_used = true;
        let (tid, epoch) = (thread.tid, thread.epoch);
        let view = known(thread);
        let mut before = FenceSet(view.clone());
        // It is not before itself.
        before.0[usize::from(tid)] = epoch - 1;
        for (number, threads) in self.threads.iter().enumerate() {
            let known = view.get(number).copied().unwrap_or(0);
            let since = threads.pending.partition_point(|(since, _)| *since <= known);
            if let Some(index) = since.checked_sub(1) {
                before.join(&threads.pending[index].1);
            }
        }
        let before = self.closed(self.fences_in(&before));
        self.of(tid).kept.push_back(FenceNode { epoch, view, before });
        self.ages.push_back(tid);
        if self.ages.len() > self.most {
            self.drop_oldest();
        }
    }

    /// The fences that happen before the thread's next event, if the thread also learns these epochs.
    pub(super) fn before(&self, thread: &ThreadClocks, learns: Option<&[Epoch]>) -> FenceSet {
        if !self.is_used {
            return FenceSet::default();
        }
        let mut known = FenceSet(known(thread));
        if let Some(learns) = learns {
            known.join(&FenceSet(learns.to_vec()));
        }
        self.fences_in(&known)
    }

    /// An access with these fences before it reads, or is put, behind messages with these sightings. `commit`: it does.
    pub(super) fn order(
        &mut self,
        earlier: &FenceSet,
        newer: &[(Tid, Epoch)],
        commit: bool,
    ) -> Result<(), ClosesCycle> {
        if newer.is_empty() || earlier.is_empty() {
            return Ok(());
        }
        let earlier = self.closed(earlier.clone());
        let mut later: Vec<(Tid, Epoch)> = Vec::new();
        for (tid, threads) in self.threads.iter().enumerate() {
            let tid = tid as Tid;
            for node in &threads.kept {
                let knows = |&(seen_by, at): &(Tid, Epoch)| node.view.get(usize::from(seen_by)) >= Some(&at);
                if newer.iter().any(knows) {
                    if earlier.get(tid) >= node.epoch {
                        return Err(ClosesCycle);
                    }
                    later.push((tid, node.epoch));
                    // All that follow in program order come after it, and know what it knows.
                    break;
                }
            }
        }
        if !commit {
            return Ok(());
        }
        for before in self.threads.iter_mut().flat_map(ThreadFences::nodes) {
            if later.iter().any(|&(tid, epoch)| before.get(tid) >= epoch) {
                before.join(&earlier);
            }
        }
        for &(tid, epoch) in &later {
            for node in self.of(tid).kept.iter_mut().filter(|node| node.epoch >= epoch) {
                node.before.join(&earlier);
            }
        }
        for &(tid, since) in newer {
            self.pend_from(tid, since, &earlier);
        }
        Ok(())
    }

    /// The thread has read or written after these fences.
    pub(super) fn pend(&mut self, thread: &ThreadClocks, fences: &FenceSet) {
        if fences.is_empty() {
            return;
        }
        let most = self.most.max(1);
        let pending = &mut self.of(thread.tid).pending;
        let mut now = pending.back().map(|(_, set)| set.clone()).unwrap_or_default();
        if !now.join(fences) {
            return;
        }
        pending.push_back((thread.epoch, now));
        if pending.len() > most {
            // What the second holds is taken to hold from the first on: more is before later fences than must be.
            let (since, _) = pending.pop_front().unwrap_or_default();
            pending[0].0 = since;
        }
    }

    /// These fences come before what the thread did from this epoch on.
    fn pend_from(&mut self, tid: Tid, since: Epoch, fences: &FenceSet) {
        let pending = &mut self.of(tid).pending;
        let index = pending.partition_point(|(epoch, _)| *epoch < since);
        if pending.get(index).is_none_or(|(epoch, _)| *epoch != since) {
            let earlier = index.checked_sub(1).map(|index| pending[index].1.clone()).unwrap_or_default();
            pending.insert(index, (since, earlier));
        }
        for (_, set) in pending.iter_mut().skip(index) {
            set.join(fences);
        }
    }

    /// The fences up to these epochs, by their own epochs.
    fn fences_in(&self, known: &FenceSet) -> FenceSet {
        let mut fences = FenceSet::default();
        for (tid, threads) in self.threads.iter().enumerate() {
            if let Some((epoch, _)) = threads.last(known.get(tid as Tid)) {
                fences.raise(tid as Tid, epoch);
            }
        }
        fences
    }

    /// The set and all fences with a path to one of it.
    fn closed(&self, mut fences: FenceSet) -> FenceSet {
        let members: Vec<Epoch> = fences.0.clone();
        for (threads, epoch) in self.threads.iter().zip(members) {
            if let Some((_, before)) = threads.last(epoch) {
                fences.join(before);
            }
        }
        fences
    }

    fn of(&mut self, tid: Tid) -> &mut ThreadFences {
        let index = usize::from(tid);
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, ThreadFences::default);
        }
        &mut self.threads[index]
    }

    fn drop_oldest(&mut self) {
        let Some(tid) = self.ages.pop_front() else { return };
        let threads = &mut self.threads[usize::from(tid)];
        if let Some(node) = threads.kept.pop_front() {
            let mut base = FenceSet(std::mem::take(&mut self.base));
            base.join(&FenceSet(node.view));
            self.base = base.0;
            threads.dropped = (node.epoch, node.before);
        }
    }
}

/// All that a thread knows, including what it has done itself.
pub(super) fn known(thread: &ThreadClocks) -> Vec<Epoch> {
    let own = usize::from(thread.tid);
    let mut known = thread.cur.hb.epochs().to_vec();
    if known.len() <= own {
        known.resize(own + 1, 0);
    }
    known[own] = thread.epoch;
    known
}
