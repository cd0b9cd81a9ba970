//! Vector clocks over threads, and the snapshots that threads release.
//!
//! A component `u@e` in a clock means: everything thread `u` knew (in the clock's sense) at its epoch `e` is known.
//! Epochs advance at every event, so a component identifies one moment. A [`ClockSnapshot`] is a thread's clock at such a
//! moment. A thread's clock does not contain the thread's own component. That component would change at every event;
//! without it, a snapshot can be released again as long as nothing else has changed.

use crate::snapshot::{ClockSnapshot, FEW, SOME};
use std::sync::Arc;

/// The number of a thread. It is reused after the thread has ended, once every thread that matters knows that.
pub type Tid = u16;
/// A moment of a thread.
pub type Epoch = u32;

/// The owner of a clock that is no thread's.
pub const NOBODY: Tid = Tid::MAX;

/// A vector clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    epochs: Vec<Epoch>,
    /// The same epochs, to be released; `None` if they have changed since, or are few.
    frozen: Option<Arc<[Epoch]>>,
}

impl Clock {
    /// The component of a thread.
    #[inline]
    pub fn get(&self, tid: Tid) -> Epoch {
        self.epochs.get(tid as usize).copied().unwrap_or(0)
    }

    /// All components; those beyond the end are 0.
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// Raises one component.
    pub fn raise(&mut self, tid: Tid, epoch: Epoch) -> bool {
        let index = tid as usize;
        if self.get(tid) >= epoch {
            return false;
        }
        if self.epochs.len() <= index {
            // Snapshots copy this many at once.
            self.epochs.resize((index + 1).max(FEW), 0);
        }
        self.epochs[index] = epoch;
        self.frozen = None;
        true
    }

    /// Becomes equal to another clock.
    pub(crate) fn assign(&mut self, other: &Clock) {
        self.epochs.clone_from(&other.epochs);
        self.frozen = None;
    }

    /// Learns a snapshot. Returns whether it contained anything new. `me` is the owner of this clock.
    #[inline]
    pub fn join(&mut self, me: Tid, snapshot: &ClockSnapshot) -> bool {
        if self.covers(me, snapshot) {
            return false;
        }
        self.join_new(me, snapshot)
    }

    /// [`Clock::join`] for the case that covering the moment implies nothing, because this clock has it in another
    /// sense.
    pub(crate) fn join_new(&mut self, me: Tid, snapshot: &ClockSnapshot) -> bool {
        let mut changed = self.join_epochs(me, snapshot.epochs());
        if snapshot.at() > 0 && snapshot.by() != me {
            changed |= self.raise(snapshot.by(), snapshot.at());
        }
        changed
    }

    /// Learns components one by one. Returns whether any was new to `me`, the owner of this clock.
    pub fn join_epochs(&mut self, me: Tid, epochs: &[Epoch]) -> bool {
        if self.epochs.len() < epochs.len() {
            self.epochs.resize(epochs.len(), 0);
        }
        // A thread's own component is nothing new to it.
        if let Some(&own) = epochs.get(me as usize) {
            let mine = &mut self.epochs[me as usize];
            *mine = (*mine).max(own);
        }
        let mut changed = false;
        for (mine, theirs) in self.epochs.iter_mut().zip(epochs) {
            changed |= *mine < *theirs;
            *mine = (*mine).max(*theirs);
        }
        if changed {
            self.frozen = None;
        }
        changed
    }

    /// Whether a snapshot of one moment is known to `me`, the owner of this clock. Never true for a mixed snapshot,
    /// which has no single moment, unless it is empty.
    #[inline]
    pub fn covers(&self, me: Tid, snapshot: &ClockSnapshot) -> bool {
        match snapshot.at() {
            0 => snapshot.is_empty(),
            at => snapshot.by() == me || self.get(snapshot.by()) >= at,
        }
    }

    /// Whether every component is known to `me`, compared one by one.
    pub fn covers_all(&self, me: Tid, snapshot: &ClockSnapshot) -> bool {
        (snapshot.at() == 0 || snapshot.by() == me || self.get(snapshot.by()) >= snapshot.at())
            && self.covers_epochs(me, snapshot.epochs())
    }

    /// Whether each of these components is known to `me`, which knows all its own.
    pub fn covers_epochs(&self, me: Tid, epochs: &[Epoch]) -> bool {
        let mine = self.epochs.iter().copied().chain(std::iter::repeat(0));
        epochs.iter().zip(mine).enumerate().all(|(index, (&theirs, mine))| theirs <= mine || index == me as usize)
    }

    /// This clock, owned by `by`, at its epoch `at`.
    #[inline]
    pub fn freeze(&mut self, by: Tid, at: Epoch) -> ClockSnapshot {
        match self.epochs.len() {
            ..=SOME => ClockSnapshot::new(by, at, &self.epochs),
            _ => ClockSnapshot::shared(by, at, self.frozen().clone()),
        }
    }

    /// Makes `old` equal to the result of [`Clock::freeze`]. The clock was last changed at the owner's epoch `changed`.
    #[inline]
    pub fn freeze_into(&mut self, by: Tid, at: Epoch, changed: Epoch, old: &mut ClockSnapshot) {
        if old.by() == by && old.at() >= changed {
            old.renew(at);
        } else if self.epochs.len() <= SOME {
            old.set(by, at, &self.epochs);
        } else {
            old.share(by, at, self.frozen());
        }
    }

    fn frozen(&mut self) -> &Arc<[Epoch]> {
        self.frozen.get_or_insert_with(|| self.epochs.as_slice().into())
    }
}
