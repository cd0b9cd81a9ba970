//! A view in the release/acquire semantics, kept twice: as C11's happens-before, and with what seq_cst fences add.
//!
//! The two differ only once a seq_cst fence has carried something that no synchronisation carries. Until then one clock
//! serves both.

use crate::clock::{Clock, Epoch, Tid};
use crate::live::Visitor;
use crate::snapshot::ClockSnapshot;

/// What a thread knows in one of its views. In the joins, `me` is the thread: it knows everything that it ever
/// released.
#[derive(Clone, Debug, Default)]
pub struct ThreadKnowledge {
    /// Happens-before: for data races.
    pub hb: Clock,
    /// Happens-before and hidden fences: for robustness. `None`: the same as `hb`.
    pub view: Option<Clock>,
}

/// What a thread releases to others.
#[derive(Clone, Debug, Default)]
pub struct PublishedClocks {
    /// Happens-before.
    pub hb: ClockSnapshot,
    /// With hidden fences. `None`: the same as `hb`.
    pub view: Option<ClockSnapshot>,
}

impl PublishedClocks {
    /// What the view holds.
    pub fn view(&self) -> &ClockSnapshot {
        self.view.as_ref().unwrap_or(&self.hb)
    }

    /// Whether its newest moment of a thread is this one, in either sense.
    #[inline]
    pub(crate) fn holds(&self, tid: Tid, epoch: Epoch) -> bool {
        self.hb.get(tid) == epoch || self.view().get(tid) == epoch
    }

    /// Learns what another holds.
    pub fn join(&mut self, other: &PublishedClocks) {
        match (&mut self.view, &other.view) {
            (Some(view), _) => view.join(other.view()),
            (None, None) => {}
            (None, Some(theirs)) => {
                let mut view = self.hb.clone();
                view.join(theirs);
                self.view = Some(view);
            }
        }
        self.hb.join(&other.hb);
    }

    /// Makes `to` the same as `from`.
    #[inline]
    pub fn assign(to: &mut Option<PublishedClocks>, from: &Option<PublishedClocks>) {
        match (to, from) {
            (Some(to), Some(from)) => {
                to.hb.clone_from(&from.hb);
                match (&mut to.view, &from.view) {
                    (Some(to), Some(from)) => to.clone_from(from),
                    (to, from) => to.clone_from(from),
                }
            }
            (to, from) => to.clone_from(from),
        }
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        visitor.snapshot(&self.hb);
        if let Some(view) = &self.view {
            visitor.snapshot(view);
        }
    }
}

impl ThreadKnowledge {
    /// The clock that robustness looks at.
    #[inline]
    pub fn view(&self) -> &Clock {
        self.view.as_ref().unwrap_or(&self.hb)
    }

    /// Whether what was published is certainly known.
    #[inline]
    pub fn covers(&self, me: Tid, published: &PublishedClocks) -> bool {
        self.hb.covers(me, &published.hb)
            && match (&self.view, &published.view) {
                (None, None) => true,
                (Some(view), _) => view.covers(me, published.view()),
                (None, Some(theirs)) => self.hb.covers_all(me, theirs),
            }
    }

    /// Learns what was published. Returns whether anything was new.
    #[inline]
    pub fn join(&mut self, me: Tid, published: &PublishedClocks) -> bool {
        let mut changed = self.hb.join(me, &published.hb);
        match (&mut self.view, &published.view) {
            (None, None) => {}
            (Some(view), _) => changed |= view.join(me, published.view()),
            (None, Some(theirs)) => {
                // Covering the moment in `hb` implies nothing about what fences added to `theirs`.
                if !self.hb.covers_all(me, theirs) {
                    let mut view = self.hb.clone();
                    view.join_new(me, theirs);
                    self.view = Some(view);
                    changed = true;
                }
            }
        }
        changed
    }

    /// Learns what was published through a hidden fence, in the view only. Returns whether anything was new.
    #[inline]
    pub fn join_hidden(&mut self, me: Tid, published: &PublishedClocks) -> bool {
        match &mut self.view {
            Some(view) => view.join(me, published.view()),
            None => {
                let known = match &published.view {
                    None => self.hb.covers(me, &published.hb) || self.hb.covers_all(me, &published.hb),
                    Some(theirs) => self.hb.covers_all(me, theirs),
                };
                if !known {
                    let mut view = self.hb.clone();
                    view.join_new(me, published.view());
                    self.view = Some(view);
                }
                !known
            }
        }
    }

    /// Learns what another view of the same thread holds, in the view only. Returns whether anything was new.
    pub fn join_view(&mut self, me: Tid, other: &Clock) -> bool {
        match &mut self.view {
            Some(view) => view.join_epochs(me, other.epochs()),
            None if self.hb.covers_epochs(me, other.epochs()) => false,
            None => {
                let mut view = self.hb.clone();
                view.join_epochs(me, other.epochs());
                self.view = Some(view);
                true
            }
        }
    }

    /// The view alone, as `by` knows it at its epoch `at`.
    pub fn freeze_view(&mut self, by: Tid, at: Epoch, changed: Epoch, old: &mut Option<ClockSnapshot>) {
        let view = self.view.as_mut().unwrap_or(&mut self.hb);
        match old {
            Some(old) => view.freeze_into(by, at, changed, old),
            None => *old = Some(view.freeze(by, at)),
        }
    }

    /// Raises a component in both.
    pub fn raise(&mut self, tid: Tid, epoch: Epoch) {
        self.hb.raise(tid, epoch);
        if let Some(view) = &mut self.view {
            view.raise(tid, epoch);
        }
    }

    /// What `by` publishes at its epoch `at`.
    #[inline]
    pub fn freeze(&mut self, by: Tid, at: Epoch) -> PublishedClocks {
        PublishedClocks { hb: self.hb.freeze(by, at), view: self.view.as_mut().map(|view| view.freeze(by, at)) }
    }

    /// Makes `old` equal to the result of [`ThreadKnowledge::freeze`]. The view was last changed at the epoch `changed`.
    #[inline]
    pub fn freeze_into(&mut self, by: Tid, at: Epoch, changed: Epoch, old: &mut PublishedClocks) {
        self.hb.freeze_into(by, at, changed, &mut old.hb);
        match (&mut self.view, &mut old.view) {
            (Some(view), Some(old)) => view.freeze_into(by, at, changed, old),
            (view, old) => *old = view.as_mut().map(|view| view.freeze(by, at)),
        }
    }
}
