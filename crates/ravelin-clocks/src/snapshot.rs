//! What a thread releases of a clock: the clock as it was at one moment.
//!
//! A clock that covers the moment covers the snapshot, so joining it again costs nothing. With few threads the
//! components are in the snapshot itself. With some more, they are in an array that each snapshot owns and reuses:
//! copying them costs less than counting references that several threads hold. Only with very many threads do snapshots
//! share an array.

use crate::clock::{Clock, Epoch, NOBODY, Tid};
use std::sync::Arc;

/// How many components fit into a snapshot.
pub(crate) const FEW: usize = 6;
/// Up to this many components, snapshots do not share an array.
pub(crate) const SOME: usize = 24;

/// A thread's clock at one of its epochs. If the epoch `at` is 0, it is the join of several such clocks, the last of
/// which was by the thread `by`.
#[derive(Debug)]
pub struct ClockSnapshot(SnapshotData);

/// Components beyond the last are 0.
#[derive(Clone, Debug)]
enum SnapshotData {
    Few { by: Tid, at: Epoch, epochs: [Epoch; FEW] },
    Own { by: Tid, at: Epoch, epochs: Box<[Epoch]> },
    Shared { by: Tid, at: Epoch, epochs: Arc<[Epoch]> },
}

impl Default for ClockSnapshot {
    fn default() -> ClockSnapshot {
        ClockSnapshot(SnapshotData::Few { by: 0, at: 0, epochs: [0; FEW] })
    }
}

impl Clone for ClockSnapshot {
    fn clone(&self) -> ClockSnapshot {
        ClockSnapshot(self.0.clone())
    }

    /// Reuses the array, and does nothing if both are of the same moment.
    #[inline]
    fn clone_from(&mut self, from: &ClockSnapshot) {
        if self.by() == from.by() && self.at() == from.at() && self.at() > 0 {
            return;
        }
        match &from.0 {
            SnapshotData::Few { by, at, epochs } => self.set(*by, *at, epochs),
            SnapshotData::Own { by, at, epochs } => self.set(*by, *at, epochs),
            SnapshotData::Shared { by, at, epochs } => self.share(*by, *at, epochs),
        }
    }
}

impl ClockSnapshot {
    /// A clock with these components, except for that of the moment.
    pub(crate) fn new(by: Tid, at: Epoch, epochs: &[Epoch]) -> ClockSnapshot {
        let kept = if epochs.len() <= FEW {
            let mut few = [0; FEW];
            few[..epochs.len()].copy_from_slice(epochs);
            SnapshotData::Few { by, at, epochs: few }
        } else if epochs.len() <= SOME {
            SnapshotData::Own { by, at, epochs: epochs.into() }
        } else {
            SnapshotData::Shared { by, at, epochs: epochs.into() }
        };
        ClockSnapshot(kept)
    }

    /// The same with components that several snapshots share.
    pub(crate) fn shared(by: Tid, at: Epoch, epochs: Arc<[Epoch]>) -> ClockSnapshot {
        ClockSnapshot(SnapshotData::Shared { by, at, epochs })
    }

    /// Becomes [`ClockSnapshot::new`], with the array it has if that is long enough.
    #[inline]
    pub(crate) fn set(&mut self, by: Tid, at: Epoch, epochs: &[Epoch]) {
        match &mut self.0 {
            // Not by way of the stack: reading at once what was written there in pieces takes long.
            SnapshotData::Few { by: old_by, at: old_at, epochs: few } if epochs.len() == FEW => {
                (*old_by, *old_at) = (by, at);
                few.copy_from_slice(epochs);
            }
            SnapshotData::Own { by: old_by, at: old_at, epochs: own } if own.len() >= epochs.len() => {
                (*old_by, *old_at) = (by, at);
                let (begin, end) = own.split_at_mut(epochs.len());
                begin.copy_from_slice(epochs);
                end.fill(0);
            }
            _ => *self = ClockSnapshot::new(by, at, epochs),
        }
    }

    /// Becomes [`ClockSnapshot::shared`], without touching the reference count if it has these components already.
    #[inline]
    pub(crate) fn share(&mut self, by: Tid, at: Epoch, epochs: &Arc<[Epoch]>) {
        match &mut self.0 {
            SnapshotData::Shared { by: old_by, at: old_at, epochs: old } if Arc::ptr_eq(old, epochs) => {
                (*old_by, *old_at) = (by, at);
            }
            _ => *self = ClockSnapshot::shared(by, at, epochs.clone()),
        }
    }

    /// The same components at a later moment of the same thread.
    #[inline]
    pub(crate) fn renew(&mut self, now: Epoch) {
        match &mut self.0 {
            SnapshotData::Few { at, .. } | SnapshotData::Own { at, .. } | SnapshotData::Shared { at, .. } => *at = now,
        }
    }

    /// The components other than that of the moment; those beyond the end are 0.
    #[inline]
    pub fn epochs(&self) -> &[Epoch] {
        match &self.0 {
            SnapshotData::Few { epochs, .. } => epochs,
            SnapshotData::Own { epochs, .. } => epochs,
            SnapshotData::Shared { epochs, .. } => epochs,
        }
    }

    #[inline]
    pub(crate) fn by(&self) -> Tid {
        match self.0 {
            SnapshotData::Few { by, .. } | SnapshotData::Own { by, .. } | SnapshotData::Shared { by, .. } => by,
        }
    }

    #[inline]
    pub(crate) fn at(&self) -> Epoch {
        match self.0 {
            SnapshotData::Few { at, .. } | SnapshotData::Own { at, .. } | SnapshotData::Shared { at, .. } => at,
        }
    }

    /// The thread that released it and when; `None` if it is the join of several.
    pub fn moment(&self) -> Option<(Tid, Epoch)> {
        (self.at() > 0).then_some((self.by(), self.at()))
    }

    /// The component of a thread.
    #[inline]
    pub fn get(&self, tid: Tid) -> Epoch {
        let inherited = self.epochs().get(tid as usize).copied().unwrap_or(0);
        if tid == self.by() { inherited.max(self.at()) } else { inherited }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at() == 0 && self.epochs().iter().all(|&epoch| epoch == 0)
    }

    /// Learns what another snapshot holds. If one covers the other, the result is the larger one.
    pub fn join(&mut self, other: &ClockSnapshot) {
        if other.is_empty() || other.at() > 0 && self.get(other.by()) >= other.at() {
            return;
        }
        if self.is_empty() || self.at() > 0 && other.get(self.by()) >= self.at() {
            self.clone_from(other);
            return;
        }
        self.mix(other.epochs(), other.by(), other.at());
    }

    /// Becomes the join of itself and of what `by` knows at `at`, which has no single moment.
    pub(crate) fn mix(&mut self, epochs: &[Epoch], by: Tid, at: Epoch) {
        let moments = [(by, at), (self.by(), self.at())];
        let of_moments = moments.iter().filter(|(_, at)| *at > 0).map(|(by, _)| usize::from(*by) + 1);
        let width = of_moments.max().unwrap_or(0).max(epochs.len());
        let mine: Option<(_, _, &mut [Epoch])> = match &mut self.0 {
            SnapshotData::Few { by, at, epochs } => Some((by, at, epochs)),
            SnapshotData::Own { by, at, epochs } => Some((by, at, epochs)),
            SnapshotData::Shared { by, at, epochs } => Arc::get_mut(epochs).map(|epochs| (by, at, epochs)),
        };
        if let Some((last, moment, mine)) = mine.filter(|(.., mine)| width <= mine.len()) {
            (*last, *moment) = (by, 0);
            mine.iter_mut().zip(epochs).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            for (by, at) in moments.into_iter().filter(|(_, at)| *at > 0) {
                mine[by as usize] = mine[by as usize].max(at);
            }
            return;
        }
        let mut clock = Clock::default();
        clock.join_new(NOBODY, self);
        clock.join_epochs(NOBODY, epochs);
        clock.raise(by, at);
        *self = ClockSnapshot::new(by, 0, clock.epochs());
    }
}
