//! Which threads have seen which write of a location, and when.
//!
//! Runs are sequentially consistent, so sightings are ordered by time and their timestamps never decrease. The newest
//! write that a clock knows is that of the last sighting the clock covers.
//!
//! A sighting is kept as long as some clock can distinguish it from the next one of the same thread. A clock
//! distinguishes them by its component for that thread, and only components that are in use somewhere (or in the
//! future) count. [`History::prune`] receives those. A history also keeps the values of the last [`VALUES`] writes, for
//! waits and compare-exchanges.
//!
//! Nothing older is kept than a sighting that all threads know ([`crate::common`]): no thread can be forced to see a
//! write before that one, and what a thread knows is never less.

use crate::clock::{Clock, Epoch, Tid};
use crate::common::CommonView;
use crate::live::Live;
use crate::thread::ThreadClocks;

/// How many writes have their values remembered, including the initial one.
pub const VALUES: usize = 8;

/// A place in the program, in the caller's encoding.
pub type SiteCode = u64;

const TID_BITS: u32 = 16;

/// Thread `tid`, at its epoch `epoch`, knew the write numbered `timestamp`.
#[derive(Clone, Copy, Debug)]
struct PackedSighting {
    /// The write's number, and the thread that saw it in the low bits.
    stamp: u64,
    epoch: Epoch,
    /// The thread that wrote it.
    writer: Tid,
    /// How many read-modify-writes it is after the last plain write (4.1); 0 if it is one itself.
    updates: u16,
    /// Where it was written.
    site: SiteCode,
}

impl ThreadClocks {
    /// Whether no clock elsewhere can distinguish a sighting by this thread from a later one at its epoch `to`.
    #[inline(always)]
    fn cannot_tell(&self, seen: &PackedSighting, to: Epoch) -> bool {
        seen.tid() == self.tid
            && (seen.epoch + 1 == to && self.readers_are_seen() || self.window.are_gone(seen.epoch, to, self.epoch))
    }
}

impl PackedSighting {
    #[inline(always)]
    fn timestamp(&self) -> u64 {
        self.stamp >> TID_BITS
    }

    #[inline(always)]
    fn tid(&self) -> Tid {
        self.stamp as Tid
    }

    #[inline(always)]
    fn known(&self, me: Tid, clock: &Clock) -> bool {
        self.tid() == me || clock.get(self.tid()) >= self.epoch
    }
}

/// A write that a thread knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Its number in modification order; the initial write is 0.
    pub timestamp: u64,
    /// The thread that wrote it.
    pub writer: Tid,
    /// When it was written, in the writer's time, if that is remembered.
    pub written_at: Option<Epoch>,
    /// A thread that is known to have seen it, possibly the writer.
    pub seen_by: Tid,
    /// When it was seen, in that thread's time.
    pub seen_at: Epoch,
    /// Where it was written.
    pub site: SiteCode,
}

/// The sightings of one location.
///
/// The newest one is separate: most accesses need no other.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct History {
    /// The newest sighting; of number 0 and by the first thread if there is none.
    last: PackedSighting,
    /// The number of the last plain write.
    last_plain: u64,
    /// The most sightings that the last [`History::prune`] left.
    pruned: u32,
    /// Which of the last writes were plain, one bit each, by their number modulo [`VALUES`].
    plain: u8,
    /// Whether every write wrote more than the one before.
    increasing: bool,
    /// Whether all threads know the oldest sighting, or a newer one.
    cut: bool,
    /// The sightings before the newest, oldest first.
    older: Vec<PackedSighting>,
    /// What the last writes wrote, each at its number modulo the length.
    values: [u64; VALUES],
}

/// What a thread knows of a location in the two senses, where they differ.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// Number of the newest write known by happens-before.
    known: u64,
    /// A sighting of the newest write that must come earlier under sequential consistency.
    forced: PackedSighting,
}

impl History {
    /// A location whose initial write is known to all threads.
    pub fn new(initial: u64) -> History {
        let mut values = [0; VALUES];
        values[0] = initial;
        let last = PackedSighting { stamp: 0, epoch: 0, writer: 0, updates: 0, site: 0 };
        History { last, values, older: Vec::new(), last_plain: 0, plain: 0, pruned: 0, increasing: true, cut: false }
    }

    /// Number of the newest write.
    #[inline]
    pub fn newest(&self) -> u64 {
        self.last.timestamp()
    }

    /// What the newest write wrote.
    pub fn newest_value(&self) -> u64 {
        self.values[self.newest() as usize % VALUES]
    }

    /// Where the newest write was made.
    #[inline]
    pub fn newest_site(&self) -> SiteCode {
        self.last.site
    }

    /// How many sightings there are.
    pub fn len(&self) -> usize {
        self.older.len() + usize::from(!self.is_empty())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.last.stamp == 0
    }

    /// All sightings, newest first.
    #[inline]
    fn seen(&self) -> impl Iterator<Item = &PackedSighting> {
        std::iter::once(&self.last).filter(|last| last.stamp != 0).chain(self.older.iter().rev())
    }

    /// Whether the newest write is known to `me` by its `view`.
    #[inline]
    pub fn knows_newest(&self, me: Tid, view: &Clock) -> bool {
        self.last.known(me, view) || self.older_knows_newest(me, view)
    }

    fn older_knows_newest(&self, me: Tid, view: &Clock) -> bool {
        let newest = self.newest();
        self.older.iter().rev().take_while(|seen| seen.timestamp() == newest).any(|seen| seen.known(me, view))
    }

    /// Where `sc` forces more than `view` knows; `None` if there is no such difference.
    #[inline]
    pub fn gap(&self, me: Tid, view: &Clock, sc: &Clock) -> Option<Gap> {
        if self.last.known(me, view) {
            return None;
        }
        self.gap_behind(me, view, sc)
    }

    fn gap_behind(&self, me: Tid, view: &Clock, sc: &Clock) -> Option<Gap> {
        let mut forced: Option<PackedSighting> = None;
        let mut known = self.least_known();
        for seen in self.seen() {
            if seen.known(me, view) {
                known = known.max(seen.timestamp());
                break;
            }
            if forced.is_none() && seen.known(me, sc) {
                forced = Some(*seen);
            }
        }
        forced.filter(|forced| forced.timestamp() > known).map(|forced| Gap { known, forced })
    }

    /// Number of a write that all threads know. Where threads could get to know less, this hides something, and invents
    /// nothing.
    fn least_known(&self) -> u64 {
        if self.cut { self.older.first().unwrap_or(&self.last).timestamp() } else { 0 }
    }

    /// The write that a gap forces.
    pub fn forced(&self, gap: &Gap) -> Sighting {
        let seen = &gap.forced;
        let timestamp = seen.timestamp();
        // The writer sees the write at once: that sighting, if it is kept, is the first of it.
        let of_it = self.seen().skip_while(|seen| seen.timestamp() > timestamp);
        let of_it = of_it.take_while(|seen| seen.timestamp() == timestamp);
        let written_at = of_it.filter(|seen| seen.tid() == seen.writer).last().map(|seen| seen.epoch);
        Sighting {
            timestamp,
            writer: seen.writer,
            written_at,
            seen_by: seen.tid(),
            seen_at: seen.epoch,
            site: seen.site,
        }
    }

    /// Whether there is a plain write between the known and the forced one; and whether it is the last plain write.
    pub fn forced_plain(&self, gap: &Gap) -> Option<bool> {
        let seen = &gap.forced;
        let last = seen.timestamp() - u64::from(seen.updates);
        // Nothing is claimed beyond what `updates` can count.
        (seen.updates < u16::MAX && last > gap.known).then_some(last == self.last_plain)
    }

    /// What the newest write wrote, if every write before it wrote less.
    pub fn increased_to(&self) -> Option<u64> {
        self.increasing.then(|| self.newest_value())
    }

    /// The writes that may be read across a gap although a newer one is forced, newest first.
    pub fn stale(&self, gap: &Gap) -> Stale<'_> {
        Stale { history: self, from: gap.known, next: gap.forced.timestamp(), complete: true }
    }

    /// A write by `thread` in its current epoch.
    #[inline]
    pub(crate) fn write(&mut self, thread: &mut ThreadClocks, plain: bool, value: u64, site: SiteCode) {
        let newest = self.newest() + 1;
        let index = newest as usize % VALUES;
        if plain {
            self.last_plain = newest;
            self.plain |= 1 << index;
        } else {
            self.plain &= !(1 << index);
        }
        self.increasing &= value > self.values[(newest - 1) as usize % VALUES];
        self.values[index] = value;
        let updates = u16::try_from(newest - self.last_plain).unwrap_or(u16::MAX);
        let ThreadClocks { tid, epoch, .. } = *thread;
        let seen = PackedSighting { stamp: newest << TID_BITS | u64::from(tid), epoch, writer: tid, updates, site };
        self.push(thread, seen);
    }

    /// There was a write, of which only the site is kept.
    pub(crate) fn written_at(&mut self, site: SiteCode) {
        self.last.site = site;
    }

    /// The newest write is seen by `thread` in its current epoch.
    pub(crate) fn see(&mut self, thread: &mut ThreadClocks) {
        if !self.is_empty() {
            let stamp = self.newest() << TID_BITS | u64::from(thread.tid);
            self.push(thread, PackedSighting { stamp, epoch: thread.epoch, ..self.last });
        }
    }

    /// Adds a sighting by `thread`. It takes the place of the thread's last one if no other location's clock holds an
    /// epoch between them: any clock that holds one is of this location, and a thread that has it has also seen
    /// something newer here. So one thread that accesses its own locations repeatedly does not fill their histories.
    #[inline(always)]
    fn push(&mut self, thread: &mut ThreadClocks, seen: PackedSighting) {
        if !self.is_empty() && !thread.cannot_tell(&self.last, seen.epoch) {
            self.keep_last(thread);
        }
        self.last = seen;
    }

    /// The newest sighting becomes one before the newest.
    #[inline(never)]
    fn keep_last(&mut self, thread: &mut ThreadClocks) {
        match self.older.last_mut() {
            Some(before) if self.last.tid() == thread.tid && thread.cannot_tell(before, self.last.epoch) => {
                *before = self.last;
            }
            _ => {
                // There are many histories. Capacities are powers of two, so that memory freed by one fits another.
                if self.older.len() == self.older.capacity() {
                    thread.forgotten += self.forget_common(&thread.common);
                    if self.older.len() * 2 >= self.older.capacity() {
                        let larger = (self.older.capacity() * 2).max(2);
                        self.older.reserve_exact(larger - self.older.len());
                    }
                }
                self.older.push(self.last);
                thread.sightings += 1;
            }
        }
    }

    /// Forgets the sightings before the newest one that all threads know. Returns how many.
    fn forget_common(&mut self, common: &CommonView) -> u32 {
        let is_common = |seen: &PackedSighting| common.covers(seen.tid(), seen.epoch);
        let superseded = match is_common(&self.last) {
            true => self.older.len(),
            false => self.older.iter().rposition(is_common).unwrap_or(0),
        };
        self.cut |= superseded > 0;
        self.older.drain(..superseded);
        superseded as u32
    }

    /// Forgets sightings that no clock can distinguish from others: every clock that covers such a sighting also covers
    /// the next of the same thread, or a newer one of another.
    pub fn prune(&mut self, live: &Live, pruning: &mut Pruning) {
        if self.older.len() <= self.pruned as usize {
            return;
        }
        self.forget_common(live.common());
        // For each thread, its next sighting that stays, going backwards; and where the remaining ones begin.
        let next = &mut pruning.next;
        next.clear();
        next.push(self.last);
        let mut kept = self.older.len();
        for index in (0..self.older.len()).rev() {
            let seen = self.older[index];
            let same = next.iter().position(|next| next.tid() == seen.tid());
            // Every clock that covers it covers the next of the same thread, or a newer one of another.
            let superfluous = same.is_some_and(|same| !live.between(seen.tid(), seen.epoch, next[same].epoch))
                || live.least(seen.tid(), seen.epoch).is_some_and(|least| {
                    next.iter().any(|next| {
                        next.timestamp() > seen.timestamp()
                            && least.get(next.tid() as usize).is_some_and(|&epoch| epoch >= next.epoch)
                    })
                });
            if superfluous {
                continue;
            }
            match same {
                Some(same) => next[same] = seen,
                None => next.push(seen),
            }
            kept -= 1;
            self.older[kept] = seen;
        }
        self.older.drain(..kept);
        if self.older.len() * 4 <= self.older.capacity() {
            self.older.shrink_to(self.older.len().next_power_of_two().max(2));
        }
        // A history that has since grown by less than a quarter is not worth the time.
        self.pruned = u32::try_from(self.older.len() * 5 / 4).unwrap_or(u32::MAX);
    }

    /// Whether the values of all writes are remembered, including the initial one.
    pub fn remembers_all(&self) -> bool {
        self.remembers(0)
    }

    fn remembers(&self, timestamp: u64) -> bool {
        self.newest() - timestamp < VALUES as u64
    }
}

/// Buffers that [`History::prune`] reuses.
#[derive(Default)]
pub struct Pruning {
    next: Vec<PackedSighting>,
}

/// See [`History::stale`].
pub struct Stale<'a> {
    history: &'a History,
    from: u64,
    /// The write after the next one to return.
    next: u64,
    complete: bool,
}

/// A write that may be read although a newer one is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleWrite {
    /// Its number.
    pub timestamp: u64,
    /// What it wrote.
    pub value: u64,
    /// Whether a write can come right after it in modification order: the next one is not a read-modify-write.
    pub open: bool,
}

impl Stale<'_> {
    /// Whether none of the writes was forgotten. Must be called after the last one.
    pub fn complete(&self) -> bool {
        self.complete
    }
}

impl Iterator for Stale<'_> {
    type Item = StaleWrite;

    fn next(&mut self) -> Option<StaleWrite> {
        if self.next <= self.from {
            return None;
        }
        let timestamp = self.next - 1;
        if !self.history.remembers(timestamp) {
            self.complete = false;
            self.next = 0;
            return None;
        }
        let open = self.history.plain >> (self.next as usize % VALUES) & 1 == 1;
        self.next = timestamp;
        Some(StaleWrite { timestamp, value: self.history.values[timestamp as usize % VALUES], open })
    }
}
