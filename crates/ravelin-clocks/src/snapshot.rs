//! What a thread releases of a clock: the clock as it was at one moment.
//!
//! A clock that covers the moment covers the snapshot, so joining it again costs nothing. The components are in the
//! [book](crate::book), under the moment. Only the join of several snapshots has components of its own.

use crate::book::{ClockBook, Sense};
use crate::clock::{Epoch, NOBODY, Tid};

/// A thread's clock at one of its epochs. If the epoch is 0, it is the join of several such clocks, the last of which
/// was by the thread.
#[derive(Debug, Default)]
pub struct ClockSnapshot {
    /// The components of a join; not used for a moment, but kept for the next join.
    #[expect(clippy::box_collection, reason = "there is room for one word")]
    mixed: Option<Box<Vec<Epoch>>>,
    at: Epoch,
    by: Tid,
}

impl Clone for ClockSnapshot {
    fn clone(&self) -> ClockSnapshot {
        let mixed = if self.at == 0 { self.mixed.clone() } else { None };
        ClockSnapshot { mixed, at: self.at, by: self.by }
    }

    /// Reuses the array.
    #[inline]
    fn clone_from(&mut self, from: &ClockSnapshot) {
        (self.by, self.at) = (from.by, from.at);
        if from.at == 0 {
            match (&mut self.mixed, &from.mixed) {
                (Some(to), Some(from)) => to.clone_from(from),
                (to, from) => *to = from.clone(),
            }
        }
    }
}

impl ClockSnapshot {
    /// Nothing.
    pub(crate) const NOTHING: ClockSnapshot = ClockSnapshot { mixed: None, at: 0, by: 0 };
    /// Nothing, and told apart from everything that a thread has published.
    pub(crate) const NOBODYS: ClockSnapshot = ClockSnapshot { mixed: None, at: 0, by: NOBODY };

    /// Becomes what `by` publishes at `at`.
    #[inline(always)]
    pub(crate) fn set(&mut self, by: Tid, at: Epoch) {
        (self.by, self.at) = (by, at);
    }

    #[inline(always)]
    pub(crate) fn by(&self) -> Tid {
        self.by
    }

    #[inline(always)]
    pub(crate) fn at(&self) -> Epoch {
        self.at
    }

    /// The thread that released it and when; `None` if it is the join of several.
    pub fn moment(&self) -> Option<(Tid, Epoch)> {
        (self.at > 0).then_some((self.by, self.at))
    }

    /// The components of a join.
    #[inline]
    pub(crate) fn mixed(&self) -> &[Epoch] {
        match &self.mixed {
            Some(mixed) if self.at == 0 => mixed,
            _ => &[],
        }
    }

    /// Passes the components to `work`, except for that of the moment; those beyond the end are 0.
    pub(crate) fn components<R>(&self, book: &ClockBook, sense: Sense, work: impl FnOnce(&[Epoch]) -> R) -> R {
        match self.at {
            0 => work(self.mixed()),
            at => book.version(self.by, at, sense, work),
        }
    }

    /// The component of a thread.
    pub(crate) fn get(&self, book: &ClockBook, sense: Sense, tid: Tid) -> Epoch {
        match self.at {
            at if at > 0 && tid == self.by => at,
            _ => self.components(book, sense, |epochs| epochs.get(tid as usize).copied().unwrap_or(0)),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.at == 0 && self.mixed().iter().all(|&epoch| epoch == 0)
    }

    /// Learns what another snapshot holds. If one covers the other, the result is the larger one.
    pub(crate) fn join(&mut self, other: &ClockSnapshot, book: &ClockBook, sense: Sense) {
        if other.is_empty() || other.at > 0 && self.get(book, sense, other.by) >= other.at {
            return;
        }
        if self.is_empty() || self.at > 0 && other.get(book, sense, self.by) >= self.at {
            self.clone_from(other);
            return;
        }
        let epochs = other.components(book, sense, <[Epoch]>::to_vec);
        self.mix(&epochs, other.by, other.at, book, sense);
    }

    /// Becomes the join of itself and of what `by` knows at `at`, which has no single moment.
    pub(crate) fn mix(&mut self, epochs: &[Epoch], by: Tid, at: Epoch, book: &ClockBook, sense: Sense) {
        let mut mixed = self.mixed.take().unwrap_or_default();
        if self.at > 0 {
            mixed.clear();
            book.version(self.by, self.at, sense, |version| mixed.extend_from_slice(version));
        }
        let mut raise = |tid: Tid, epoch: Epoch| {
            if epoch > 0 {
                if mixed.len() <= tid as usize {
                    mixed.resize(tid as usize + 1, 0);
                }
                let mine = &mut mixed[tid as usize];
                *mine = (*mine).max(epoch);
            }
        };
        raise(self.by, self.at);
        raise(by, at);
        if mixed.len() < epochs.len() {
            mixed.resize(epochs.len(), 0);
        }
        mixed.iter_mut().zip(epochs).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
        *self = ClockSnapshot { mixed: Some(mixed), at: 0, by };
    }
}
