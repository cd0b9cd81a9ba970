//! What one thread carries under x86-TSO.
//!
//! A fence makes the next load wait for all stores: `loads` becomes `stores`. Objects of the C library are locked and
//! unlocked by locked instructions, which are fences, except for spin locks, whose unlock is a plain store.

use crate::clock::{Clock, Epoch, Tid};
use crate::live::Visitor;
use crate::snapshot::ClockSnapshot;
use crate::thread::{ReleaseClocks, ThreadClocks};

/// The store buffer of a thread, as far as clocks know it.
#[derive(Debug)]
pub struct StoreBuffer {
    /// `VR`: ghb-before the next load.
    pub(super) loads: Clock,
    /// What the thread itself did up to this epoch is ghb-before its next load, too.
    pub(super) drained: Epoch,
    /// `VW`: ghb-before the next store. The thread's own stores always are.
    pub(super) stores: Clock,
    /// `S`: before the next step under sequential consistency.
    pub(super) sc: Clock,
    /// Whether `stores` may hold more than `loads`.
    pub(super) pending: bool,
    /// The event at which `loads` or `drained` last changed.
    pub(super) loads_changed: Epoch,
    /// The event at which `stores` last changed.
    pub(super) stores_changed: Epoch,
    /// The event at which `sc` last changed.
    pub(super) sc_changed: Epoch,
    /// The newest value of `drained` that a location may hold.
    pub(super) exposed: Epoch,
    /// Whether no other rules use the histories and lessons of the thread.
    pub(super) alone: bool,
}

/// What a thread hands on at an unlock, at its end, or when it starts another.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrainedClocks {
    stores: ClockSnapshot,
    sc: ClockSnapshot,
}

impl DrainedClocks {
    pub fn join(&mut self, other: &DrainedClocks) {
        self.stores.join(&other.stores);
        self.sc.join(&other.sc);
    }

    pub fn visit(&self, visitor: &mut impl Visitor) {
        visitor.snapshot(&self.stores);
        visitor.snapshot(&self.sc);
    }
}

impl StoreBuffer {
    fn new(now: Epoch, alone: bool) -> StoreBuffer {
        StoreBuffer {
            loads: Clock::default(),
            drained: 0,
            stores: Clock::default(),
            sc: Clock::default(),
            pending: false,
            loads_changed: now,
            stores_changed: now,
            sc_changed: now,
            exposed: 0,
            alone,
        }
    }

    /// Learns what is ghb-before the next load. Returns whether anything was new.
    #[inline]
    pub(super) fn learn(&mut self, me: Tid, now: Epoch, snapshot: &ClockSnapshot) -> bool {
        let is_new = self.loads.join(me, snapshot);
        if is_new {
            self.loads_changed = now;
            self.learn_store(me, now, snapshot);
        }
        is_new
    }

    /// Learns what is ghb-before the next store.
    #[inline]
    pub(super) fn learn_store(&mut self, me: Tid, now: Epoch, snapshot: &ClockSnapshot) {
        if self.stores.join(me, snapshot) {
            self.stores_changed = now;
        }
    }

    /// Learns what comes earlier under sequential consistency. Returns whether anything was new.
    #[inline]
    pub(super) fn learn_sc(&mut self, me: Tid, now: Epoch, snapshot: &ClockSnapshot) -> bool {
        let is_new = self.sc.join(me, snapshot);
        if is_new {
            self.sc_changed = now;
        }
        is_new
    }

    /// The stores so far reach memory before the next load. Returns whether that is new. It is a part of an event: what
    /// the thread does in its epoch `now` counts as one of these stores.
    #[inline]
    pub(super) fn drain(&mut self, now: Epoch) -> bool {
        if !self.pending {
            return false;
        }
        self.loads.assign(&self.stores);
        self.pending = false;
        self.drained = now;
        self.loads_changed = now;
        true
    }

    /// Whether no location holds this epoch of the thread, at which it made an access that `drained` the buffer or did
    /// not, once the location that it was made to does not hold it any more.
    #[inline]
    pub(super) fn forgets(&self, epoch: Epoch, drained: bool) -> bool {
        self.alone && (!drained || epoch > self.exposed && epoch < self.drained)
    }

    /// Whether a thread with this number knows what was released.
    pub(crate) fn covers(&self, me: Tid, released: &DrainedClocks) -> bool {
        self.loads.covers(me, &released.stores) && self.sc.covers(me, &released.sc)
    }

    fn raise(&mut self, tid: Tid, epoch: Epoch) {
        for clock in [&mut self.loads, &mut self.stores, &mut self.sc] {
            clock.raise(tid, epoch);
        }
    }

    /// The thread continues with epochs of another number.
    pub(crate) fn rename(&mut self, (old, end): (Tid, Epoch), now: Epoch) {
        self.pending = true;
        self.drain(now);
        self.raise(old, end);
        self.drained = 0;
        self.exposed = 0;
        (self.loads_changed, self.stores_changed, self.sc_changed) = (now, now, now);
    }

    pub(crate) fn visit(&self, me: Tid, visitor: &mut impl Visitor) {
        // The thread always knows its own epochs, in all clocks but `loads`, which is not looked at for them.
        for clock in [&self.loads, &self.stores, &self.sc] {
            visitor.clock(me, clock);
        }
        // The next load leaves this at its location.
        if self.drained > 0 {
            visitor.snapshot(&ClockSnapshot::new(me, self.drained, self.loads.epochs()));
        }
    }
}

impl ThreadClocks {
    /// From now on the clocks of x86-TSO are kept, too. The thread is new. If they are kept `alone`, no access is checked
    /// by other rules.
    pub fn buffer_stores(&mut self, alone: bool) {
        self.keep_all_sightings();
        self.buffer = Some(Box::new(StoreBuffer::new(self.epoch, alone)));
    }

    /// A fence for the store buffer, if there is one.
    #[inline]
    pub fn drain(&mut self) {
        if let Some(buffer) = &mut self.buffer
            && buffer.drain(self.epoch)
        {
            self.changed = self.epoch;
            self.advance();
        }
    }

    /// What the thread hands on by an event that is a fence, or by a plain store, replaces what was handed on before.
    #[inline]
    pub(crate) fn release_stores(&mut self, drains: bool, into: &mut Option<Box<DrainedClocks>>) {
        let (tid, epoch) = (self.tid, self.epoch);
        let Some(buffer) = &mut self.buffer else { return };
        if drains {
            buffer.drain(epoch);
        } else {
            buffer.pending = true;
        }
        let into = into.get_or_insert_default();
        buffer.stores.freeze_into(tid, epoch, buffer.stores_changed, &mut into.stores);
        buffer.sc.freeze_into(tid, epoch, buffer.sc_changed, &mut into.sc);
    }

    /// Learns what was released, by a locked instruction, except in `sc`.
    #[inline]
    pub(crate) fn acquire_stores(&mut self, released: Option<&DrainedClocks>) {
        let (tid, epoch) = (self.tid, self.epoch);
        let Some(buffer) = &mut self.buffer else { return };
        if let Some(released) = released {
            buffer.pending = true;
            buffer.learn_store(tid, epoch, &released.stores);
        }
        buffer.drain(epoch);
        self.changed = epoch;
    }

    /// Learns what was released, by a plain load, except in `sc`.
    pub(crate) fn load_stores(&mut self, released: Option<&DrainedClocks>) {
        let (tid, epoch) = (self.tid, self.epoch);
        if let (Some(buffer), Some(released)) = (&mut self.buffer, released) {
            buffer.learn(tid, epoch, &released.stores);
        }
    }

    /// Learns in `sc` what was released.
    #[inline]
    pub(crate) fn acquire_stores_sc(&mut self, released: Option<&DrainedClocks>) {
        let (tid, epoch) = (self.tid, self.epoch);
        if let (Some(buffer), Some(released)) = (&mut self.buffer, released) {
            buffer.learn_sc(tid, epoch, &released.sc);
        }
    }

    /// Unlocks by a plain store, as spin locks do. Otherwise as [`ThreadClocks::release`].
    pub fn release_by_store(&mut self) -> ReleaseClocks {
        self.release_and(false)
    }
}
