//! What one thread carries: its views, its sc clock, and how it learnt them.
//!
//! Every event has its own epoch: [`ThreadClocks::advance`] is called at the end of each. If epochs advanced only at
//! releases, other threads would seem to know what came after the release.

use crate::clock::{Clock, Epoch, Tid};
use crate::common::CommonView;
use crate::epochs::EpochWindow;
use crate::history::SiteCode;
use crate::knowledge::{PublishedClocks, ThreadKnowledge};
use crate::live::Visitor;
use crate::order::AtomicOrder;
use crate::snapshot::ClockSnapshot;
use crate::stale::Knowing;
use crate::tso::{DrainedClocks, StoreBuffer};

/// How many lessons a thread remembers.
const LESSONS: usize = 8;

/// The clocks of one thread.
#[derive(Debug)]
pub struct ThreadClocks {
    /// Its number.
    pub tid: Tid,
    /// The epoch of its next event.
    pub epoch: Epoch,
    /// `T_c`: what it knows.
    pub cur: ThreadKnowledge,
    /// `T_a`: what it will know after an acquire fence. `None` if that equals `cur`.
    pub(crate) acq: Option<ThreadKnowledge>,
    /// `T_r`: what it knew at its last release fence. `None` for nothing.
    pub(crate) rel: Option<PublishedClocks>,
    /// `T_SC`: what must come earlier in every sequentially consistent run.
    pub(crate) sc: Clock,
    /// The first epoch after the last one that was released in the sense of happens-before.
    pub(crate) since: Epoch,
    /// The last event that gave the thread, or others through it, new knowledge; fences do not count.
    pub(crate) changed: Epoch,
    /// The event at which `cur` last changed. What was released since then equals what would be released now.
    cur_changed: Epoch,
    /// The event at which `sc` last changed.
    pub(crate) sc_changed: Epoch,
    /// Its last epochs.
    pub(crate) window: EpochWindow,
    /// Whether some location may hold what `rel` holds.
    pub(crate) rel_copied: bool,
    /// Whether histories are kept short.
    folds: bool,
    /// How many sightings it has added to histories, beyond the newest one of each.
    pub(crate) sightings: u32,
    /// How many it has removed because all threads know something newer.
    pub(crate) forgotten: u32,
    /// What all threads knew some time ago.
    pub(crate) common: CommonView,
    /// What it carries under x86-TSO, if that is asked for.
    pub(crate) buffer: Option<Box<StoreBuffer>>,
    lessons: [Option<Lesson>; LESSONS],
    next_lesson: usize,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessMode {
    /// Extended witnesses: violations of other runs with the same beginning count too (Theorem 3.1).
    Predict,
    /// Standard witnesses only (Theorem 2.2).
    Standard,
}

/// How a thread learnt, in the sc sense, what another had done: it accessed a location after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// How the two accesses are ordered.
    pub link: AccessLink,
    /// The location, as its creator named it.
    pub place: u64,
    /// The thread that accessed it earlier.
    pub teacher: Tid,
    /// When it did so, in the teacher's time.
    pub taught_at: Epoch,
    /// Where it did so.
    pub taught_site: SiteCode,
    /// When the learner accessed it.
    pub learnt_at: Epoch,
    /// Where the learner accessed it.
    pub learnt_site: SiteCode,
}

/// How two accesses of a location are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessLink {
    /// The later reads what the earlier wrote.
    ReadsFrom,
    /// The later overwrites what the earlier wrote.
    Overwrites,
    /// The later overwrites what the earlier read.
    OverwritesRead,
}

/// Everything a thread knows at an unlock, at its end, or when it starts another.
#[derive(Clone, Debug, Default)]
pub struct ReleaseClocks {
    published: PublishedClocks,
    sc: ClockSnapshot,
    /// Under x86-TSO.
    drained: Option<Box<DrainedClocks>>,
}

/// What an ended thread knew.
pub type EndClocks = ReleaseClocks;

/// The location that only seq_cst fences update. It takes part in the views only.
#[derive(Debug, Default)]
pub struct FenceLocation {
    message: Option<PublishedClocks>,
    /// The thread that made the last fence, and the first of its fences since one of another thread.
    owner: (Tid, Epoch),
}

impl ReleaseClocks {
    /// Learns what another holds.
    pub fn join(&mut self, other: &ReleaseClocks) {
        self.published.join(&other.published);
        self.sc.join(&other.sc);
        match (&mut self.drained, &other.drained) {
            (Some(mine), Some(theirs)) => mine.join(theirs),
            (Some(_), None) => {}
            (none, theirs) => none.clone_from(theirs),
        }
    }

    /// What is known by happens-before only.
    pub(crate) fn of(published: PublishedClocks) -> ReleaseClocks {
        ReleaseClocks { published, ..ReleaseClocks::default() }
    }

    pub(crate) fn published(&self) -> &PublishedClocks {
        &self.published
    }

    pub(crate) fn drained(&self) -> Option<&DrainedClocks> {
        self.drained.as_deref()
    }

    /// The same, to be replaced.
    pub(crate) fn drained_mut(&mut self) -> &mut Option<Box<DrainedClocks>> {
        &mut self.drained
    }

    /// The thread that released it and when; `None` if several did.
    pub fn moment(&self) -> Option<(Tid, Epoch)> {
        self.published.hb.moment()
    }

    /// Whether `thread` knows all of this, by happens-before and in the sc sense.
    pub fn known_to(&self, thread: &ThreadClocks) -> bool {
        let drained = |buffer: &StoreBuffer| self.drained().is_none_or(|drained| buffer.covers(thread.tid, drained));
        thread.cur.covers(thread.tid, &self.published)
            && thread.sc.covers(thread.tid, &self.sc)
            && thread.buffer.as_deref().is_none_or(drained)
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        self.published.visit(visitor);
        visitor.snapshot(&self.sc);
        if let Some(drained) = &self.drained {
            drained.visit(visitor);
        }
    }
}

impl FenceLocation {
    /// No fence was made yet.
    pub const fn new() -> FenceLocation {
        FenceLocation { message: None, owner: (0, 0) }
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        if let Some(message) = &self.message {
            message.visit(visitor);
        }
    }
}

impl ThreadClocks {
    /// A thread that knows nothing, which is right for the first one.
    pub fn new(tid: Tid, epoch: Epoch) -> ThreadClocks {
        debug_assert!(epoch > 0);
        ThreadClocks {
            tid,
            epoch,
            cur: ThreadKnowledge::default(),
            acq: None,
            rel: None,
            sc: Clock::default(),
            since: epoch,
            changed: epoch,
            cur_changed: epoch,
            sc_changed: epoch,
            window: EpochWindow::new(),
            rel_copied: false,
            folds: true,
            sightings: 0,
            forgotten: 0,
            common: CommonView::new(),
            buffer: None,
            lessons: [None; LESSONS],
            next_lesson: 0,
        }
    }

    /// The next event begins.
    #[inline]
    pub fn advance(&mut self) {
        self.epoch += 1;
        self.window.begin(self.epoch);
    }

    /// How many sightings it has added to histories since the last call, and how many it has removed.
    pub fn take_sightings(&mut self) -> (u32, u32) {
        (std::mem::take(&mut self.sightings), std::mem::take(&mut self.forgotten))
    }

    /// From now on it removes sightings that all threads know to be superseded. Answers do not depend on that.
    pub fn know_all(&mut self, common: &CommonView) {
        self.common.clone_from(common);
    }

    /// From now on histories keep all sightings by this thread, until they are pruned. Answers do not depend on that:
    /// tests compare both.
    pub fn keep_all_sightings(&mut self) {
        self.folds = false;
    }

    /// Whether a thread that reads a write leaves a sighting of its own. Under x86-TSO it does not.
    #[inline(always)]
    pub(crate) fn readers_are_seen(&self) -> bool {
        self.buffer.is_none()
    }

    /// No clock holds this epoch of the thread any more, if it is one after `since`, when only this thread had the clock
    /// that is replaced now.
    #[inline(always)]
    pub(crate) fn drops(&mut self, epoch: Epoch, since: Epoch) {
        if epoch >= since && self.folds {
            self.window.drop(epoch, self.epoch);
        }
    }

    /// The last event after which repeating an earlier load would be a new event. From then on, loading a location
    /// again that was not written meanwhile gives no thread new knowledge: every sighting of the thread is as old as
    /// the first load or older, and so is what `sc` holds.
    pub fn changed(&self) -> Epoch {
        self.changed
    }

    /// The first epoch that happens-before cannot distinguish from the current one, because nothing was released since.
    /// For data races it is enough to know in which of these intervals an access was made.
    #[inline]
    pub fn since(&self) -> Epoch {
        self.since
    }

    /// What the thread does from now on is not part of what it releases in this event.
    #[inline]
    pub(crate) fn hands_out(&mut self) {
        self.since = self.epoch + 1;
    }

    /// Everything this thread knows, for a lock, a child or a thread that joins it.
    pub fn release(&mut self) -> ReleaseClocks {
        self.release_and(true)
    }

    /// The same; `drains` if the store buffer is emptied.
    pub(crate) fn release_and(&mut self, drains: bool) -> ReleaseClocks {
        self.hands_out();
        let mut released = ReleaseClocks {
            published: self.cur.freeze(self.tid, self.epoch),
            sc: self.sc.freeze(self.tid, self.epoch),
            drained: None,
        };
        self.release_stores(drains, &mut released.drained);
        self.advance();
        released
    }

    /// Publishes what it knows.
    #[inline]
    pub(crate) fn publish(&mut self, into: &mut Option<PublishedClocks>) {
        match into {
            None => *into = Some(self.cur.freeze(self.tid, self.epoch)),
            Some(into) => self.cur.freeze_into(self.tid, self.epoch, self.cur_changed, into),
        }
    }

    /// Publishes what must come earlier.
    #[inline]
    pub(crate) fn publish_sc(&mut self, into: &mut ClockSnapshot) {
        self.sc.freeze_into(self.tid, self.epoch, self.sc_changed, into);
    }

    /// Learns in `sc`. Returns whether anything was new.
    #[inline]
    pub(crate) fn learn_sc(&mut self, snapshot: &ClockSnapshot) -> bool {
        let changed = self.sc.join(self.tid, snapshot);
        if changed {
            self.sc_changed = self.epoch;
        }
        changed
    }

    /// [`ThreadClocks::release`] that replaces an existing value.
    pub fn release_into(&mut self, released: &mut ReleaseClocks) {
        self.cur.freeze_into(self.tid, self.epoch, self.cur_changed, &mut released.published);
        self.publish_sc(&mut released.sc);
        self.release_stores(true, &mut released.drained);
        self.hands_out();
        self.changed = self.epoch;
        self.advance();
    }

    /// Learns everything that was released: by a lock, by the parent at its start, by a joined thread.
    pub fn acquire(&mut self, released: &ReleaseClocks) {
        self.learn_sc(&released.sc);
        self.acquire_stores_sc(released.drained());
        self.acquire_views(released);
    }

    /// The same by a plain load, which leaves the store buffer of x86 as it is.
    pub fn acquire_by_load(&mut self, released: &ReleaseClocks) {
        self.learn_sc(&released.sc);
        self.acquire_stores_sc(released.drained());
        self.learn_released(released);
        self.load_stores(released.drained());
        self.changed = self.epoch;
        self.advance();
    }

    /// Learns what was released in the views only. This is for order that is assumed where there may be none, as
    /// through a file that several pairs of threads share. Too much in the views hides violations; too much in `sc`
    /// would be a false alarm.
    pub fn acquire_views(&mut self, released: &ReleaseClocks) {
        self.learn_released(released);
        self.acquire_stores(released.drained());
        self.changed = self.epoch;
        self.advance();
    }

    fn learn_released(&mut self, released: &ReleaseClocks) {
        self.learn_views(&released.published);
        if let Some(acq) = &mut self.acq {
            acq.join(self.tid, &released.published);
        }
    }

    /// Learns in `cur`. Returns whether anything was new.
    #[inline]
    pub(crate) fn learn_views(&mut self, published: &PublishedClocks) -> bool {
        let changed = self.cur.join(self.tid, published);
        if changed {
            self.cur_changed = self.epoch;
        }
        changed
    }

    /// Learns what a message holds, now or at the next acquire fence. Returns whether anything was new.
    #[inline]
    pub(crate) fn learn_message(&mut self, message: &PublishedClocks, order: AtomicOrder) -> bool {
        let mut is_new = false;
        if order.acquires() {
            is_new = self.learn_views(message);
            if let Some(acq) = &mut self.acq {
                acq.join(self.tid, message);
            }
        } else if !self.cur.covers(self.tid, message) {
            let acq = self.acq.get_or_insert_with(|| self.cur.clone());
            is_new = acq.join(self.tid, message);
        }
        is_new
    }

    /// A fence.
    pub fn fence(&mut self, order: AtomicOrder, hidden: &mut FenceLocation) {
        if order.acquires() {
            self.acquire_fence();
        }
        if order == AtomicOrder::SeqCst {
            self.update_hidden(hidden, true);
        }
        if order.releases() {
            self.release_fence();
        }
        self.advance();
    }

    /// A fence where only happens-before counts: seq_cst fences meet nowhere.
    pub fn synchronising_fence(&mut self, order: AtomicOrder) {
        if order.acquires() {
            self.acquire_fence();
        }
        if order.releases() {
            self.release_fence();
        }
        self.advance();
    }

    /// The implicit seq_cst fence after a seq_cst access. It is not in the program: it feeds the views, and
    /// synchronises nothing.
    pub fn hidden_fence(&mut self, hidden: &mut FenceLocation) {
        if let Some(acq) = &self.acq
            && self.cur.join_view(self.tid, acq.view())
        {
            self.cur_changed = self.epoch;
        }
        self.update_hidden(hidden, false);
        if let Some(acq) = &mut self.acq {
            acq.join_view(self.tid, self.cur.view());
        }
        let view = &mut self.rel.get_or_insert_default().view;
        self.cur.freeze_view(self.tid, self.epoch, self.cur_changed, view);
        self.advance();
    }

    pub(crate) fn acquire_fence(&mut self) {
        if let Some(acq) = self.acq.take() {
            self.cur = acq;
            self.cur_changed = self.epoch;
        }
    }

    /// The caller replaces the view of `rel`, and all of `rel` if it `replaces_rel`.
    fn update_hidden(&mut self, hidden: &mut FenceLocation, replaces_rel: bool) {
        let last = hidden.message.as_ref().map_or(0, |message| message.hb.get(self.tid));
        if hidden.owner.0 != self.tid || hidden.owner.1 == 0 {
            hidden.owner = (self.tid, self.epoch);
        } else if !self.rel_copied && (replaces_rel || self.rel.as_ref().is_none_or(|rel| rel.hb.get(self.tid) != last))
        {
            // The only other one that holds it is the view of `rel`, which is replaced too.
            self.drops(last, hidden.owner.1);
        }
        self.rel_copied = false;
        if let Some(message) = &hidden.message
            && self.cur.join_hidden(self.tid, message)
        {
            self.cur_changed = self.epoch;
        }
        self.publish(&mut hidden.message);
    }

    fn release_fence(&mut self) {
        self.hands_out();
        match &mut self.rel {
            None => self.rel = Some(self.cur.freeze(self.tid, self.epoch)),
            Some(rel) => self.cur.freeze_into(self.tid, self.epoch, self.cur_changed, rel),
        }
    }

    /// The thread continues under another number, because its epochs are used up.
    pub fn rename(&mut self, tid: Tid, epoch: Epoch) {
        let (old, end) = (self.tid, self.epoch);
        self.cur.raise(old, end);
        if let Some(acq) = &mut self.acq {
            acq.raise(old, end);
        }
        self.sc.raise(old, end);
        if let Some(buffer) = &mut self.buffer {
            buffer.rename((old, end), epoch);
        }
        self.tid = tid;
        self.epoch = epoch;
        self.since = epoch;
        self.cur_changed = epoch;
        self.sc_changed = epoch;
        self.changed = epoch;
        self.window = EpochWindow::new();
    }

    /// Whether a non-atomic access of `tid` at `epoch` happens before what this thread does now.
    #[inline]
    pub fn happens_after(&self, tid: Tid, epoch: Epoch) -> bool {
        tid == self.tid || self.cur.hb.get(tid) >= epoch
    }

    /// What it knows before its next access.
    #[inline(always)]
    pub(crate) fn knows(&self) -> Knowing<'_> {
        Knowing { me: self.tid, view: self.cur.view(), sc: &self.sc }
    }

    /// Remembers how something became known.
    pub(crate) fn learn(&mut self, lesson: Lesson) {
        self.lessons[self.next_lesson] = Some(lesson);
        self.next_lesson = (self.next_lesson + 1) % LESSONS;
    }

    /// How the thread had learnt, before its epoch `before` and in the sc sense, what `tid` did at `epoch`: the latest
    /// lesson by `tid` itself that covers it, if it is remembered and no other thread was in between.
    pub fn lesson_about(&self, tid: Tid, epoch: Epoch, before: Epoch) -> Option<&Lesson> {
        (1..=LESSONS)
            .filter_map(|back| self.lessons[(self.next_lesson + LESSONS - back) % LESSONS].as_ref())
            .find(|lesson| lesson.learnt_at < before && lesson.teacher == tid && lesson.taught_at >= epoch)
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        for knows in std::iter::once(&self.cur).chain(&self.acq) {
            visitor.clock(self.tid, &knows.hb);
            if let Some(view) = &knows.view {
                visitor.clock(self.tid, view);
            }
        }
        visitor.clock(self.tid, &self.sc);
        if let Some(rel) = &self.rel {
            rel.visit(visitor);
        }
        if let Some(buffer) = &self.buffer {
            buffer.visit(self.tid, visitor);
        }
    }
}
