//! Vector clocks over threads.
//!
//! A component `u@e` in a clock means: everything thread `u` knew (in the clock's sense) at its epoch `e` is known.
//! Epochs advance at every event, so a component identifies one moment. A thread's clock does not contain the thread's
//! own component. That component would change at every event; without it, the clock has few versions
//! ([`crate::book`]).

use crate::book::{ClockBook, Sense};
use crate::snapshot::ClockSnapshot;

/// The number of a thread. It is reused after the thread has ended, once every thread that matters knows that.
pub type Tid = u16;
/// A moment of a thread.
pub type Epoch = u32;

/// The owner of a clock that is no thread's.
pub const NOBODY: Tid = Tid::MAX;

/// A vector clock.
#[derive(Debug)]
pub struct Clock {
    epochs: Vec<Epoch>,
    /// Whether it has changed since it was last published.
    is_new: bool,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { epochs: Vec::new(), is_new: true }
    }
}

impl Clone for Clock {
    fn clone(&self) -> Clock {
        Clock { epochs: self.epochs.clone(), is_new: true }
    }
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

    /// Whether it has changed since the last call.
    #[inline(always)]
    pub(crate) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// The thread has this clock instead of another one.
    pub(crate) fn set_new(&mut self) {
        self.is_new = true;
    }

    /// Raises one component.
    pub fn raise(&mut self, tid: Tid, epoch: Epoch) -> bool {
        let index = tid as usize;
        if self.get(tid) >= epoch {
            return false;
        }
        if self.epochs.len() <= index {
            self.epochs.resize(index + 1, 0);
        }
        self.epochs[index] = epoch;
        self.is_new = true;
        true
    }

    /// Learns a snapshot. Returns whether it contained anything new. `me` is the owner of this clock.
    #[inline]
    pub(crate) fn join(&mut self, me: Tid, snapshot: &ClockSnapshot, book: &ClockBook, sense: Sense) -> bool {
        if self.covers(me, snapshot) {
            return false;
        }
        self.join_new(me, snapshot, book, sense)
    }

    /// [`Clock::join`] for the case that covering the moment implies nothing, because this clock has it in another
    /// sense.
    #[inline(never)]
    pub(crate) fn join_new(&mut self, me: Tid, snapshot: &ClockSnapshot, book: &ClockBook, sense: Sense) -> bool {
        let mut changed = snapshot.components(book, sense, |epochs| self.join_epochs(me, epochs));
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
        self.is_new |= changed;
        changed
    }

    /// Whether a snapshot of one moment is known to `me`, the owner of this clock. Never true for a mixed snapshot,
    /// which has no single moment, unless it is empty.
    #[inline]
    pub(crate) fn covers(&self, me: Tid, snapshot: &ClockSnapshot) -> bool {
        match snapshot.at() {
            0 => snapshot.is_empty(),
            at => snapshot.by() == me || self.get(snapshot.by()) >= at,
        }
    }

    /// Whether every component is known to `me`, compared one by one.
    pub(crate) fn covers_all(&self, me: Tid, snapshot: &ClockSnapshot, book: &ClockBook, sense: Sense) -> bool {
        (snapshot.at() == 0 || snapshot.by() == me || self.get(snapshot.by()) >= snapshot.at())
            && snapshot.components(book, sense, |epochs| self.covers_epochs(me, epochs))
    }

    /// Whether each of these components is known to `me`, which knows all its own.
    pub fn covers_epochs(&self, me: Tid, epochs: &[Epoch]) -> bool {
        let mine = self.epochs.iter().copied().chain(std::iter::repeat(0));
        epochs.iter().zip(mine).enumerate().all(|(index, (&theirs, mine))| theirs <= mine || index == me as usize)
    }
}
