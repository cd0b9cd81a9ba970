//! A view in the release/acquire semantics, kept twice: as C11's happens-before, and with what seq_cst fences add.
//!
//! The two differ only once a seq_cst fence has carried something that no synchronisation carries. Until then one clock
//! serves both.

use crate::book::{ClockBook, Sense};
use crate::clock::{Clock, Epoch, NOBODY, Tid};
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
#[derive(Clone, Debug)]
pub struct PublishedClocks {
    /// Happens-before.
    pub hb: ClockSnapshot,
    /// With hidden fences; by [`NOBODY`] if it is the same as `hb`. (An `Option` would be larger, and there is one of
    /// these for each location.)
    view: ClockSnapshot,
}

impl Default for PublishedClocks {
    fn default() -> PublishedClocks {
        PublishedClocks::NOTHING
    }
}

impl PublishedClocks {
    /// Nothing is published.
    pub const NOTHING: PublishedClocks = PublishedClocks { hb: ClockSnapshot::NOTHING, view: ClockSnapshot::NOBODYS };

    /// Whether nothing is published.
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.hb.is_empty() && self.own_view().is_none()
    }

    /// The view if it differs from `hb`.
    #[inline(always)]
    fn own_view(&self) -> Option<&ClockSnapshot> {
        (self.view.by() != NOBODY).then_some(&self.view)
    }

    /// What the view holds.
    pub fn view(&self) -> &ClockSnapshot {
        self.own_view().unwrap_or(&self.hb)
    }

    /// Whether it holds this moment of a thread. Moments of other threads are from before it.
    #[inline]
    pub(crate) fn holds(&self, tid: Tid, epoch: Epoch) -> bool {
        [&self.hb, &self.view].into_iter().any(|snapshot| match snapshot.at() {
            0 => snapshot.mixed().get(tid as usize) == Some(&epoch),
            at => snapshot.by() == tid && at == epoch,
        })
    }

    /// Learns what another holds.
    pub(crate) fn join(&mut self, other: &PublishedClocks, book: &ClockBook) {
        if other.own_view().is_some() && self.own_view().is_none() {
            self.view = self.hb.clone();
        }
        if self.own_view().is_some() {
            self.view.join(other.view(), book, Sense::View);
        }
        self.hb.join(&other.hb, book, Sense::Hb);
    }

    /// Makes it the same as `from`.
    #[inline]
    pub(crate) fn assign(&mut self, from: Option<&PublishedClocks>) {
        let from = from.unwrap_or(&PublishedClocks::NOTHING);
        self.hb.clone_from(&from.hb);
        self.view.clone_from(&from.view);
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        visitor.snapshot(&self.hb);
        if let Some(view) = self.own_view() {
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
    pub(crate) fn covers(&self, me: Tid, published: &PublishedClocks, book: &ClockBook) -> bool {
        self.hb.covers(me, &published.hb)
            && match (&self.view, published.own_view()) {
                (None, None) => true,
                (Some(view), _) => view.covers(me, published.view()),
                (None, Some(theirs)) => self.hb.covers_all(me, theirs, book, Sense::View),
            }
    }

    /// Learns what was published. Returns whether anything was new.
    #[inline]
    pub(crate) fn join(&mut self, me: Tid, published: &PublishedClocks, book: &ClockBook) -> bool {
        let mut changed = self.hb.join(me, &published.hb, book, Sense::Hb);
        match (&mut self.view, published.own_view()) {
            (None, None) => {}
            (Some(view), _) => changed |= view.join(me, published.view(), book, Sense::View),
            (None, Some(theirs)) => {
                // Covering the moment in `hb` implies nothing about what fences added to `theirs`.
                if !self.hb.covers_all(me, theirs, book, Sense::View) {
                    let mut view = self.hb.clone();
                    view.join_new(me, theirs, book, Sense::View);
                    self.view = Some(view);
                    changed = true;
                }
            }
        }
        changed
    }

    /// Learns what was published through a hidden fence, in the view only. Returns whether anything was new.
    #[inline]
    pub(crate) fn join_hidden(&mut self, me: Tid, published: &PublishedClocks, book: &ClockBook) -> bool {
        match &mut self.view {
            Some(view) => view.join(me, published.view(), book, Sense::View),
            None => {
                let known = match published.own_view() {
                    None => self.hb.covers(me, &published.hb) || self.hb.covers_all(me, &published.hb, book, Sense::Hb),
                    Some(theirs) => self.hb.covers_all(me, theirs, book, Sense::View),
                };
                if !known {
                    let mut view = self.hb.clone();
                    view.join_new(me, published.view(), book, Sense::View);
                    self.view = Some(view);
                }
                !known
            }
        }
    }

    /// Learns what another view of the same thread holds, in the view only. Returns whether anything was new.
    pub(crate) fn join_view(&mut self, me: Tid, other: &Clock) -> bool {
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

    /// Makes sure that the book has the clocks of `by` at its epoch `at`.
    #[inline]
    fn record(&mut self, by: Tid, at: Epoch, book: &ClockBook) {
        let hb_is_new = self.hb.take_new();
        let view_is_new = self.view.as_mut().is_some_and(Clock::take_new);
        if hb_is_new || view_is_new {
            let hb = hb_is_new.then(|| self.hb.epochs());
            let view = self.view.as_ref().filter(|_| view_is_new).map(Clock::epochs);
            // A view that is the same as happens-before is recorded as such; one that has not changed is not.
            let hb_only = hb.filter(|_| self.view.is_some() && !view_is_new);
            match hb_only {
                Some(hb) => book.log(by).append_hb(at, hb),
                None => book.log(by).append_views(at, hb, view),
            }
        }
    }

    /// The view alone, as `by` knows it at its epoch `at`.
    pub(crate) fn freeze_view(&mut self, by: Tid, at: Epoch, book: &ClockBook, into: &mut PublishedClocks) {
        self.record(by, at, book);
        into.view.set(by, at);
    }

    /// The thread has these views instead of others.
    pub(crate) fn set_new(&mut self) {
        self.hb.set_new();
        if let Some(view) = &mut self.view {
            view.set_new();
        }
    }

    /// Raises a component in both.
    pub(crate) fn raise(&mut self, tid: Tid, epoch: Epoch) {
        self.hb.raise(tid, epoch);
        if let Some(view) = &mut self.view {
            view.raise(tid, epoch);
        }
    }

    /// Publishes what `by` knows at its epoch `at`.
    #[inline]
    pub(crate) fn freeze(&mut self, by: Tid, at: Epoch, book: &ClockBook, into: &mut PublishedClocks) {
        self.record(by, at, book);
        into.hb.set(by, at);
        match self.view {
            Some(_) => into.view.set(by, at),
            None => into.view.set(NOBODY, 0),
        }
    }
}
