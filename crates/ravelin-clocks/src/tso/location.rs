//! One atomic location under x86-TSO.
//!
//! Each operation first checks for a violation and then updates the clocks of the thread's store buffer and of the
//! location. It is a part of an event: the caller advances the thread, by keeping C11's happens-before.

use super::buffer::StoreBuffer;
use crate::clock::{Clock, Epoch, NOBODY, Tid};
use crate::history::{History, Pruning, SiteCode};
use crate::live::{Live, Visitor};
use crate::location::{CasKind, LocationAccess};
use crate::order::AtomicOrder;
use crate::snapshot::ClockSnapshot;
use crate::stale::{AccessViolation, Knowing};
use crate::thread::{AccessLink, Lesson, ThreadClocks};
use std::num::NonZero;

/// The clocks of one location. Threads that access it have a store buffer ([`ThreadClocks::buffer_stores`]).
#[derive(Clone, Debug)]
pub struct BufferedLocation {
    /// The thread that accessed it last, and the first of its accesses since one of another thread.
    owner: (Tid, Epoch),
    /// One more than the site of the last read since the last write.
    last_read: Option<NonZero<SiteCode>>,
    /// The thread whose knowledge was added to `readers` last, and when.
    last_reader: (Tid, Epoch),
    /// Whether the latest write, and the latest read since, made the thread's later loads wait for it.
    drained: (bool, bool),
    /// `M`.
    latest: ClockSnapshot,
    /// What `L` has beyond `M`, if the location was read since it was written.
    readers: Clock,
    /// `S_M`.
    written: ClockSnapshot,
    /// `S_L`, if the location was read since it was written.
    touched: ClockSnapshot,
    /// The writes.
    history: History,
}

/// What an access did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferedAccess {
    pub violation: Option<AccessViolation>,
    /// A wait that does not pass is no event.
    pub is_event: bool,
}

impl BufferedAccess {
    fn event(violation: Option<AccessViolation>) -> BufferedAccess {
        BufferedAccess { violation, is_event: true }
    }
}

impl BufferedLocation {
    /// A location with its initial value, which all threads know.
    pub fn new(initial: u64) -> BufferedLocation {
        BufferedLocation {
            owner: (0, Epoch::MAX),
            last_read: None,
            last_reader: (0, 0),
            drained: (false, false),
            latest: ClockSnapshot::default(),
            readers: Clock::default(),
            written: ClockSnapshot::default(),
            touched: ClockSnapshot::default(),
            history: History::new(initial),
        }
    }

    /// Its writes.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Forgets sightings that none of the existing clocks can distinguish.
    pub fn prune(&mut self, live: &Live, pruning: &mut Pruning) {
        self.history.prune(live, pruning);
    }

    /// A load.
    pub fn load(&mut self, thread: &mut ThreadClocks, access: LocationAccess) -> BufferedAccess {
        let Some(buffer) = &thread.buffer else { return BufferedAccess::default() };
        let violation = self.history.stale_read(before_load(thread.tid, buffer), access.mode);
        self.read(thread, access, false);
        BufferedAccess::event(violation)
    }

    /// One attempt of a wait for `value`; `passes` if that value was read.
    pub fn wait(
        &mut self,
        thread: &mut ThreadClocks,
        access: LocationAccess,
        value: u64,
        passes: bool,
    ) -> BufferedAccess {
        let Some(buffer) = &thread.buffer else { return BufferedAccess::default() };
        let knows = before_load(thread.tid, buffer);
        let violation = self.history.stale_value(knows, access.mode, |stale| stale == value);
        if passes {
            self.read(thread, access, false);
        }
        BufferedAccess { violation, is_event: passes }
    }

    /// A store. If it is seq_cst, it is `xchg`, or `mov` and `mfence`.
    pub fn store(&mut self, thread: &mut ThreadClocks, access: LocationAccess, value: u64) -> BufferedAccess {
        let Some(buffer) = &thread.buffer else { return BufferedAccess::default() };
        let violation = self.history.stale_write(before_store(thread.tid, buffer), access.mode);
        self.write(thread, access, value, true);
        BufferedAccess::event(violation)
    }

    /// A read-modify-write that always writes: a locked instruction.
    pub fn update(&mut self, thread: &mut ThreadClocks, access: LocationAccess, value: u64) -> BufferedAccess {
        let Some(buffer) = &thread.buffer else { return BufferedAccess::default() };
        let violation = self.history.stale_update(before_store(thread.tid, buffer), access.mode);
        self.write(thread, access, value, false);
        BufferedAccess::event(violation)
    }

    /// A compare-exchange with `expected`: a locked instruction, even if it fails. `written` is what it wrote if it
    /// succeeded.
    pub fn compare_exchange(
        &mut self,
        thread: &mut ThreadClocks,
        access: LocationAccess,
        kind: CasKind,
        expected: u64,
        written: Option<u64>,
    ) -> BufferedAccess {
        let Some(buffer) = &thread.buffer else { return BufferedAccess::default() };
        let knows = before_store(thread.tid, buffer);
        let violation = if self.history.knows_newest(knows.me, knows.view) {
            None
        } else {
            let failing = match kind {
                CasKind::Strong => self.history.stale_value(knows, access.mode, |stale| stale != expected),
                CasKind::Weak => self.history.stale_read(knows, access.mode),
                CasKind::Blocking => None,
            };
            failing.or_else(|| self.history.stale_exchange(knows, access.mode, expected))
        };
        match written {
            Some(value) => self.write(thread, access, value, false),
            None if kind == CasKind::Blocking => return BufferedAccess { violation, is_event: false },
            None => self.read(thread, access, true),
        }
        BufferedAccess::event(violation)
    }

    pub(crate) fn visit(&self, visitor: &mut impl Visitor) {
        visitor.snapshot(&self.latest);
        visitor.snapshot(&self.written);
        if self.last_read.is_some() {
            visitor.clock(NOBODY, &self.readers);
            visitor.snapshot(&self.touched);
        }
    }

    /// What a read does to the clocks. If it is `locked`, the buffer is emptied first.
    fn read(&mut self, thread: &mut ThreadClocks, access: LocationAccess, locked: bool) {
        let ThreadClocks { tid, epoch, .. } = *thread;
        self.begin(tid, epoch);
        let Some(buffer) = &mut thread.buffer else { return };
        let mut is_new = locked && buffer.drain(epoch);
        // Reading one's own store takes it from the buffer, and orders nothing.
        if self.latest.moment().is_some_and(|(writer, _)| writer != tid) {
            is_new |= buffer.learn(tid, epoch, &self.latest);
        }
        let learns = buffer.learn_sc(tid, epoch, &self.written);
        let is_first = self.last_read.is_none();
        self.join_readers(tid, epoch, buffer, is_first);
        let forgotten = self.touch(tid, epoch, buffer, is_first);
        let alone = buffer.alone;
        self.drained.1 = locked;
        if is_new || learns {
            thread.changed = epoch;
        }
        if learns && alone {
            self.teach(thread, access, AccessLink::ReadsFrom);
        }
        self.last_read = Some(NonZero::<SiteCode>::MIN.saturating_add(access.site));
        self.forget(thread, forgotten);
    }

    /// `L[x] ∪= VR[t]`.
    fn join_readers(&mut self, tid: Tid, epoch: Epoch, buffer: &mut StoreBuffer, is_first: bool) {
        if !is_first && self.last_reader.0 == tid && self.last_reader.1 >= buffer.loads_changed {
            return;
        }
        if is_first {
            self.readers.assign(&buffer.loads);
        } else {
            self.readers.join_epochs(NOBODY, buffer.loads.epochs());
        }
        if buffer.drained > 0 {
            self.readers.raise(tid, buffer.drained);
            buffer.exposed = buffer.drained;
        }
        self.last_reader = (tid, epoch);
    }

    /// `S_L[x] ∪= S[t]`. Returns the epoch of the thread that the location does not hold any more.
    fn touch(&mut self, tid: Tid, epoch: Epoch, buffer: &mut StoreBuffer, is_first: bool) -> Option<Epoch> {
        let touched = &mut self.touched;
        if is_first || buffer.sc.covers(tid, touched) {
            let old = (!is_first && touched.by() == tid).then(|| touched.at());
            buffer.sc.freeze_into(tid, epoch, buffer.sc_changed, touched);
            return old.filter(|&old| buffer.forgets(old, self.drained.1));
        }
        if touched.at() == 0 && touched.get(tid) >= buffer.sc_changed {
            touched.mix(&[], tid, epoch);
        } else {
            touched.mix(buffer.sc.epochs(), tid, epoch);
        }
        None
    }

    /// What a write does to the clocks. If it is not `plain`, it is a locked instruction.
    fn write(&mut self, thread: &mut ThreadClocks, access: LocationAccess, value: u64, plain: bool) {
        let ThreadClocks { tid, epoch, .. } = *thread;
        let drains = !plain || access.order == AtomicOrder::SeqCst;
        self.begin(tid, epoch);
        let Some(buffer) = &mut thread.buffer else { return };
        let is_read = self.last_read.is_some();
        buffer.learn_store(tid, epoch, &self.latest);
        if is_read && buffer.stores.join_epochs(tid, self.readers.epochs()) {
            buffer.stores_changed = epoch;
        }
        let learns = buffer.learn_sc(tid, epoch, if is_read { &self.touched } else { &self.written });
        let alone = buffer.alone;
        if learns && alone {
            let link = if is_read { AccessLink::OverwritesRead } else { AccessLink::Overwrites };
            self.teach(thread, access, link);
        }
        let Some(buffer) = &mut thread.buffer else { return };
        buffer.pending = true;
        if drains {
            buffer.drain(epoch);
        }
        let mine = |snapshot: &ClockSnapshot| (snapshot.by() == tid).then(|| snapshot.at());
        let touched = mine(&self.touched).filter(|&old| is_read && buffer.forgets(old, self.drained.1));
        let written = mine(&self.written).filter(|&old| buffer.forgets(old, self.drained.0));
        buffer.stores.freeze_into(tid, epoch, buffer.stores_changed, &mut self.latest);
        buffer.sc.freeze_into(tid, epoch, buffer.sc_changed, &mut self.written);
        self.last_read = None;
        self.drained.0 = drains;
        thread.changed = epoch;
        self.forget(thread, touched);
        self.forget(thread, written);
        self.history.write(thread, plain, value, access.site);
    }

    /// No clock holds this epoch of the thread any more, if only this thread was here since.
    fn forget(&self, thread: &mut ThreadClocks, epoch: Option<Epoch>) {
        if let Some(epoch) = epoch.filter(|&epoch| epoch > 0 && epoch >= self.owner.1) {
            thread.window.drop(epoch, thread.epoch);
        }
    }

    #[inline]
    fn begin(&mut self, tid: Tid, epoch: Epoch) {
        if self.owner.0 != tid || self.owner.1 == Epoch::MAX {
            self.owner = (tid, epoch);
        }
    }

    fn teach(&self, thread: &mut ThreadClocks, access: LocationAccess, link: AccessLink) {
        let (by, taught_site) = match (link, self.last_read) {
            (AccessLink::OverwritesRead, Some(site)) => (&self.touched, site.get() - 1),
            _ => (&self.written, self.history.newest_site()),
        };
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
}

/// What is ghb-before the next load of a thread.
fn before_load(me: Tid, buffer: &StoreBuffer) -> Knowing<'_> {
    Knowing { me, view: &buffer.loads, sc: &buffer.sc }
}

/// What is ghb-before its next store or locked instruction.
fn before_store(me: Tid, buffer: &StoreBuffer) -> Knowing<'_> {
    Knowing { me, view: &buffer.stores, sc: &buffer.sc }
}
