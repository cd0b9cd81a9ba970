//! One atomic location: its message, its sc clocks, its history, and the rules of Figure 4 with the extensions of
//! section 4.
//!
//! Each operation first checks for a violation and then updates the clocks of the thread and the location. It touches
//! nothing else, so the caller needs only one lock per location.
//!
//! A seq_cst access is the release/acquire access followed by a hidden seq_cst fence. The caller does the fence
//! ([`ThreadClocks::hidden_fence`]), because the hidden location has its own lock.

use crate::clock::{Epoch, Tid};
use crate::history::{History, Pruning, SiteCode};
use crate::knowledge::PublishedClocks;
use crate::live::{Live, Visitor};
use crate::messages::MessageAccess;
use crate::order::AtomicOrder;
use crate::snapshot::ClockSnapshot;
use crate::stale::AccessViolation;
use crate::thread::{AccessLink, Lesson, ThreadClocks, WitnessMode};
use crate::weak::WeakLocation;
use std::num::NonZero;

/// The clocks of one location.
///
/// Programs have many locations, and threads that share one contend for it: the cost of an access is the number of
/// cache lines it touches. After 48 bytes of the caller's, the first line ends with the owner. The next ones are the
/// message, the sc clocks, the sightings and the values. A load by the owner needs no sightings, and only a write needs
/// the values.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct LocationClocks {
    /// One more than the site of the last read since the last write. Without such a read, `M_SC` equals `written`.
    last_read: Option<NonZero<SiteCode>>,
    /// The thread that accessed it last, …
    owner: Tid,
    /// Whether the message was made by a release at this location, and not by a fence.
    published: bool,
    /// … and the first of its accesses since one of another thread.
    owned_since: Epoch,
    /// What a reader learns; `None` for nothing.
    message: Option<PublishedClocks>,
    /// `W_SC`.
    written: ClockSnapshot,
    /// `M_SC`, if the location was read since it was written: what the last thread that touched it knows. It is a
    /// snapshot of one moment, because that thread knows all that the previous ones knew. (The value from before the
    /// write stays, to reuse its array.)
    touched: ClockSnapshot,
    history: History,
}

/// The write that a read reads from, if another thread made it and it is not known by happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSource {
    /// The thread that wrote it.
    pub writer: Tid,
    /// When it was written, in the writer's time.
    pub written_at: Epoch,
    /// Where it was written.
    pub site: SiteCode,
    /// The writer's epoch up to which a thread that acquires the write knows what the writer did; 0 if it releases
    /// nothing. An epoch before that of the write is that of a release fence.
    pub released: Epoch,
}

/// One access of any kind.
#[derive(Clone, Copy, Debug)]
pub struct LocationAccess {
    /// The location, as [`Lesson`]s identify it.
    pub place: u64,
    /// The order; of a compare-exchange, that of success or failure, whichever happened.
    pub order: AtomicOrder,
    /// Where it is made.
    pub site: SiteCode,
    /// What is checked.
    pub mode: WitnessMode,
}

/// What a compare-exchange may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasKind {
    /// Fails only if the value differs.
    Strong,
    /// May fail spuriously.
    Weak,
    /// Waits until it succeeds.
    Blocking,
}

impl LocationClocks {
    /// A location with its initial value, which all threads know.
    pub fn new(initial: u64) -> LocationClocks {
        LocationClocks {
            last_read: None,
            owner: 0,
            published: false,
            owned_since: Epoch::MAX,
            message: None,
            written: ClockSnapshot::default(),
            touched: ClockSnapshot::default(),
            history: History::new(initial),
        }
    }

    /// Its history.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The write that a read by `thread` would read from now, unless the thread knows of it by happens-before or has
    /// read it before. For a read-modify-write it is returned even if it was read before, because the read-modify-write
    /// continues a release sequence.
    #[inline]
    pub fn source(&self, thread: &ThreadClocks, writes: bool) -> Option<WriteSource> {
        let (writer, written_at) = self.written.moment()?;
        if thread.happens_after(writer, written_at) || !writes && self.history.knows_newest(thread.tid, &thread.cur.hb)
        {
            return None;
        }
        let released = self.message.as_ref().map_or(0, |message| message.hb.get(writer));
        Some(WriteSource { writer, written_at, site: self.history.newest_site(), released })
    }

    /// Whether this thread made the last access.
    #[inline(always)]
    pub fn is_owned_by(&self, tid: Tid) -> bool {
        self.owner == tid && self.owned_since != Epoch::MAX
    }

    /// Forgets sightings that none of the existing clocks can distinguish.
    pub fn prune(&mut self, live: &Live, pruning: &mut Pruning) {
        self.history.prune(live, pruning);
    }

    /// A load.
    #[inline]
    pub fn load(&mut self, thread: &mut ThreadClocks, access: LocationAccess) -> Option<AccessViolation> {
        let mut violation = None;
        if !self.knows_newest(thread) {
            violation = self.history.stale_read(thread.knows(), access.mode);
            self.see(thread);
        }
        self.read(thread, access);
        thread.advance();
        violation
    }

    /// One attempt of a wait for `value`; `passes` if that value was read. An attempt that does not pass is no event.
    pub fn wait(
        &mut self,
        thread: &mut ThreadClocks,
        access: LocationAccess,
        value: u64,
        passes: bool,
    ) -> Option<AccessViolation> {
        let violation = self.history.stale_value(thread.knows(), access.mode, |stale| stale == value);
        if passes {
            if !self.history.knows_newest(thread.tid, thread.cur.view()) {
                self.see(thread);
            }
            self.read(thread, access);
            thread.advance();
        }
        violation
    }

    /// A store.
    #[inline]
    pub fn store(&mut self, thread: &mut ThreadClocks, access: LocationAccess, value: u64) -> Option<AccessViolation> {
        let violation = self.history.stale_write(thread.knows(), access.mode);
        self.begin(thread);
        self.learn_from_touched(thread, access);
        self.store_message(thread, access.order);
        self.write(thread, access.site, true, value);
        thread.advance();
        violation
    }

    /// A read-modify-write that always writes.
    #[inline]
    pub fn update(&mut self, thread: &mut ThreadClocks, access: LocationAccess, value: u64) -> Option<AccessViolation> {
        let violation = self.history.stale_update(thread.knows(), access.mode);
        self.modify(thread, access, value);
        violation
    }

    /// A compare-exchange with `expected`; `written` is what it wrote if it succeeded.
    pub fn compare_exchange(
        &mut self,
        thread: &mut ThreadClocks,
        access: LocationAccess,
        kind: CasKind,
        expected: u64,
        written: Option<u64>,
    ) -> Option<AccessViolation> {
        let known = self.knows_newest(thread);
        let violation = if known {
            None
        } else {
            let failing = match kind {
                CasKind::Strong => self.history.stale_value(thread.knows(), access.mode, |stale| stale != expected),
                CasKind::Weak => self.history.stale_read(thread.knows(), access.mode),
                CasKind::Blocking => None,
            };
            failing.or_else(|| self.history.stale_exchange(thread.knows(), access.mode, expected))
        };
        match (written, kind) {
            (Some(value), _) => self.modify(thread, access, value),
            (None, CasKind::Blocking) => {}
            (None, _) => {
                if !known {
                    self.see(thread);
                }
                self.read(thread, access);
                thread.advance();
            }
        }
        violation
    }

    /// An access where only happens-before counts: nothing is checked, no history is kept, and nothing is known in the sc
    /// sense. Seq_cst accesses need no hidden fence then.
    pub fn synchronise(&mut self, thread: &mut ThreadClocks, order: AtomicOrder, site: SiteCode, does: MessageAccess) {
        self.begin(thread);
        if does != MessageAccess::Store && self.learn_message(thread, order) {
            thread.changed = thread.epoch;
        }
        match does {
            MessageAccess::Load => {}
            MessageAccess::Store => self.store_message(thread, order),
            MessageAccess::Update => self.update_message(thread, order),
        }
        if does != MessageAccess::Load {
            thread.changed = thread.epoch;
            self.written.set(thread.tid, thread.epoch, &[]);
            self.history.written_at(site);
        }
        thread.advance();
    }

    /// Continues a location that had messages: from now on every access reads the newest value, and learns what its write
    /// published.
    pub fn continue_newest(&mut self, weak: &WeakLocation) {
        self.message = weak.newest_published().cloned();
        self.published = false;
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        if let Some(message) = &self.message {
            message.visit(visitor);
        }
        visitor.snapshot(&self.written);
        if self.last_read.is_some() {
            visitor.snapshot(&self.touched);
        }
    }

    /// The thread now knows the newest write.
    fn see(&mut self, thread: &mut ThreadClocks) {
        self.history.see(thread);
        thread.changed = thread.epoch;
    }

    /// Whether the thread knows the newest write, as one that made the last access does.
    #[inline(always)]
    fn knows_newest(&self, thread: &ThreadClocks) -> bool {
        let knows = || self.history.knows_newest(thread.tid, thread.cur.view());
        debug_assert!(!self.is_owned_by(thread.tid) || knows());
        self.is_owned_by(thread.tid) || knows()
    }

    /// What a read does to the clocks.
    #[inline]
    fn read(&mut self, thread: &mut ThreadClocks, access: LocationAccess) {
        self.begin(thread);
        self.learn_message(thread, access.order);
        if thread.learn_sc(&self.written) {
            thread.changed = thread.epoch;
            self.teach(thread, access, AccessLink::ReadsFrom, &self.written, self.history.newest_site());
        }
        self.touch(thread);
        self.last_read = Some(NonZero::<SiteCode>::MIN.saturating_add(access.site));
    }

    /// What a read-modify-write does to the clocks.
    fn modify(&mut self, thread: &mut ThreadClocks, access: LocationAccess, value: u64) {
        self.begin(thread);
        self.learn_message(thread, access.order);
        self.learn_from_touched(thread, access);
        self.update_message(thread, access.order);
        self.write(thread, access.site, false, value);
        thread.advance();
    }

    /// The message of a store.
    #[inline]
    fn store_message(&mut self, thread: &mut ThreadClocks, order: AtomicOrder) {
        if order.releases() {
            self.publish(thread);
        } else {
            self.replace_message(thread);
            self.published = false;
            thread.rel_copied = true;
            PublishedClocks::assign(&mut self.message, &thread.rel);
        }
    }

    /// The message of a read-modify-write, which continues that of what it read.
    #[inline]
    fn update_message(&mut self, thread: &mut ThreadClocks, order: AtomicOrder) {
        match (order.acquires(), order.releases()) {
            // What was read is part of what is known.
            (true, true) => self.publish(thread),
            (_, releases) => {
                let released;
                let own = if releases {
                    thread.hands_out();
                    released = Some(thread.cur.freeze(thread.tid, thread.epoch));
                    &released
                } else {
                    thread.rel_copied = true;
                    &thread.rel
                };
                // What is joined may hold several epochs of one thread.
                self.published &= own.is_none();
                match (&mut self.message, own) {
                    (Some(read), Some(own)) => read.join(own),
                    (Some(_), None) => {}
                    (none, own) => none.clone_from(own),
                }
            }
        }
    }

    #[inline]
    fn learn_message(&self, thread: &mut ThreadClocks, order: AtomicOrder) -> bool {
        self.message.as_ref().is_some_and(|message| thread.learn_message(message, order))
    }

    #[inline]
    fn learn_from_touched(&mut self, thread: &mut ThreadClocks, access: LocationAccess) {
        let (clock, link, taught_site) = match self.last_read {
            None => (&self.written, AccessLink::Overwrites, self.history.newest_site()),
            Some(site) => (&self.touched, AccessLink::OverwritesRead, site.get() - 1),
        };
        if thread.learn_sc(clock) {
            thread.changed = thread.epoch;
            self.teach(thread, access, link, clock, taught_site);
        }
    }

    fn teach(
        &self,
        thread: &mut ThreadClocks,
        access: LocationAccess,
        link: AccessLink,
        by: &ClockSnapshot,
        taught_site: SiteCode,
    ) {
        let teacher = by.by();
        thread.learn(Lesson {
            link,
            place: access.place,
            teacher,
            taught_at: by.get(teacher),
            taught_site,
            learnt_at: thread.epoch,
            learnt_site: access.site,
        });
    }

    /// `M_SC(x) := M_SC(x) ⊔ T_SC(t)`, after the thread has learnt `W_SC(x)`.
    #[inline]
    fn touch(&mut self, thread: &mut ThreadClocks) {
        let (tid, epoch) = (thread.tid, thread.epoch);
        let touched = &mut self.touched;
        if self.last_read.is_none() || thread.sc.covers(tid, touched) {
            if self.last_read.is_some() && touched.by() == tid {
                thread.drops(touched.at(), self.owned_since);
            }
            thread.publish_sc(touched);
        } else if touched.at() == 0 && touched.get(tid) >= thread.sc_changed {
            // If the thread was here since its clock last changed, only its own component is new.
            touched.mix(&[], tid, epoch);
        } else {
            touched.mix(thread.sc.epochs(), tid, epoch);
        }
    }

    /// The message becomes what the thread knows.
    #[inline]
    fn publish(&mut self, thread: &mut ThreadClocks) {
        self.replace_message(thread);
        self.published = true;
        thread.hands_out();
        thread.publish(&mut self.message);
    }

    /// Runs when `thread` is about to change the clocks.
    #[inline(always)]
    fn begin(&mut self, thread: &ThreadClocks) {
        if self.owner != thread.tid || self.owned_since == Epoch::MAX {
            self.owner = thread.tid;
            self.owned_since = thread.epoch;
        }
    }

    /// Runs before `thread` replaces the message.
    #[inline(always)]
    fn replace_message(&self, thread: &mut ThreadClocks) {
        if self.published
            && let Some(message) = &self.message
            && message.hb.by() == thread.tid
        {
            thread.drops(message.hb.at(), self.owned_since);
        }
    }

    /// The part of a write that is the same for stores and updates. The message is already the new one.
    #[inline]
    fn write(&mut self, thread: &mut ThreadClocks, site: SiteCode, plain: bool, value: u64) {
        let tid = thread.tid;
        if self.last_read.is_some() && self.touched.by() == tid {
            thread.drops(self.touched.at(), self.owned_since);
        }
        let written = self.written.at();
        if self.written.by() == tid && !self.message.as_ref().is_some_and(|message| message.holds(tid, written)) {
            thread.drops(written, self.owned_since);
        }
        self.history.write(thread, plain, value, site);
        thread.changed = thread.epoch;
        thread.publish_sc(&mut self.written);
        self.last_read = None;
    }
}
