//! Who has seen which write of a location, and when.
//!
//! Runs are sequentially consistent, so sightings come in the order of time and the timestamps in them never fall. The
//! newest write that a clock knows is that of the last sighting the clock covers.
//!
//! A sighting is kept as long as some clock can tell it from the next one of the same thread: a clock is told apart by
//! its component for that thread, and only components that are in use somewhere (or of the future) count.
//! [`History::prune`] is shown those. Beside the sightings stand the values of the last [`VALUES`] writes, for waits and
//! compare-exchanges.

use crate::clock::{Clock, Epoch, Tid};
use crate::live::Live;

/// Writes whose values are remembered, the initial one included.
pub const VALUES: usize = 8;

/// Where in the program something was done, as the caller wants to see it again.
pub type Site = u64;

const TID_BITS: u32 = 16;

/// Thread `tid`, at its epoch `epoch`, knew the write numbered `timestamp`.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The write's number, and who saw it in the low bits.
    stamp: u64,
    epoch: Epoch,
    /// Who wrote it.
    writer: Tid,
    /// How many read-modify-writes it is after the last plain write (4.1); 0 if it is one itself.
    updates: u16,
    /// Where it was written.
    site: Site,
}

impl Seen {
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

/// A write that somebody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Its number in modification order; the initial write is 0.
    pub timestamp: u64,
    /// Who wrote it.
    pub writer: Tid,
    /// When, in the writer's time, if that is remembered.
    pub written_at: Option<Epoch>,
    /// Who is known to have seen it, maybe the writer.
    pub seen_by: Tid,
    /// When, in that thread's time.
    pub seen_at: Epoch,
    /// Where it was written.
    pub site: Site,
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    value: u64,
    at: Epoch,
    plain: bool,
}

/// The sightings of one location, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    newest: u64,
    /// The number of the last plain write.
    last_plain: u64,
    seen: Vec<Seen>,
    /// The last writes, each at its number modulo the length.
    written: [Written; VALUES],
}

/// What a thread knows of a location in the two ways, where they differ.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// Number of the newest write known by happens-before.
    known: u64,
    /// Where in `seen` the newest write is that must come earlier under sequential consistency.
    forced: usize,
}

impl History {
    /// A location whose initial write is known to everybody.
    pub fn new(initial: u64) -> History {
        let mut written = [Written::default(); VALUES];
        written[0].value = initial;
        History { newest: 0, last_plain: 0, seen: Vec::new(), written }
    }

    /// Number of the newest write.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// How many sightings there are.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether the newest write is known to `me` by its `view`.
    #[inline]
    pub fn knows_newest(&self, me: Tid, view: &Clock) -> bool {
        self.newest == 0
            || self
                .seen
                .iter()
                .rev()
                .take_while(|seen| seen.timestamp() == self.newest)
                .any(|seen| seen.known(me, view))
    }

    /// Where `sc` forces more than `view` knows; `None` if there is no such difference.
    #[inline]
    pub fn gap(&self, me: Tid, view: &Clock, sc: &Clock) -> Option<Gap> {
        let mut forced: Option<usize> = None;
        let mut known = 0;
        for (index, seen) in self.seen.iter().enumerate().rev() {
            if seen.known(me, view) {
                known = seen.timestamp();
                break;
            }
            if forced.is_none() && seen.known(me, sc) {
                forced = Some(index);
            }
        }
        forced.filter(|&forced| self.seen[forced].timestamp() > known).map(|forced| Gap { known, forced })
    }

    /// The write that a gap forces.
    pub fn forced(&self, gap: &Gap) -> Sighting {
        let seen = &self.seen[gap.forced];
        let timestamp = seen.timestamp();
        let written_at = if seen.tid() == seen.writer && !self.remembers(timestamp) {
            Some(seen.epoch)
        } else {
            self.remembers(timestamp).then(|| self.written[timestamp as usize % VALUES].at)
        };
        Sighting {
            timestamp,
            writer: seen.writer,
            written_at,
            seen_by: seen.tid(),
            seen_at: seen.epoch,
            site: seen.site,
        }
    }

    /// Whether a plain write lies between what is known and what is forced; and whether it is the last one of all.
    pub fn forced_plain(&self, gap: &Gap) -> Option<bool> {
        let seen = &self.seen[gap.forced];
        let last = seen.timestamp() - u64::from(seen.updates);
        // Beyond what `updates` can count nothing is claimed.
        (seen.updates < u16::MAX && last > gap.known).then_some(last == self.last_plain)
    }

    /// The writes that may be read across a gap although a newer one is forced, newest first.
    pub fn stale(&self, gap: &Gap) -> Stale<'_> {
        Stale { history: self, from: gap.known, next: self.seen[gap.forced].timestamp(), complete: true }
    }

    /// A write by `tid` at its epoch `epoch`.
    #[inline]
    pub fn write(&mut self, tid: Tid, epoch: Epoch, plain: bool, value: u64, site: Site) {
        self.newest += 1;
        if plain {
            self.last_plain = self.newest;
        }
        self.written[self.newest as usize % VALUES] = Written { value, at: epoch, plain };
        let seen = Seen {
            stamp: self.newest << TID_BITS | u64::from(tid),
            epoch,
            writer: tid,
            updates: u16::try_from(self.newest - self.last_plain).unwrap_or(u16::MAX),
            site,
        };
        self.push(seen);
    }

    /// The newest write is seen by `tid` at its epoch `epoch`.
    pub fn see(&mut self, tid: Tid, epoch: Epoch) {
        if let Some(last) = self.seen.last() {
            let seen = Seen { stamp: last.stamp >> TID_BITS << TID_BITS | u64::from(tid), epoch, ..*last };
            self.push(seen);
        }
    }

    /// Adds a sighting. If the thread's last event was here too, its epoch was handed out through this location only, and
    /// whoever meets it in a clock has also seen something newer here: nobody can tell the two apart. This keeps one
    /// thread that writes on and on from filling the history.
    #[inline]
    fn push(&mut self, seen: Seen) {
        match self.seen.last_mut() {
            Some(last) if last.tid() == seen.tid() && last.epoch + 1 == seen.epoch => *last = seen,
            _ => {
                // There are many histories, and most stop growing soon: a quarter more at a time wastes less than double.
                if self.seen.len() == self.seen.capacity() {
                    self.seen.reserve_exact(self.seen.len() / 4 + 2);
                }
                self.seen.push(seen);
            }
        }
    }

    /// Forgets what no clock can tell apart: a sighting from which every clock that covers it goes on to the next of the
    /// same thread, or to a newer one of another.
    pub fn prune(&mut self, live: &Live) {
        if self.seen.len() < 2 {
            return;
        }
        // For each thread, its next sighting that stays, going backwards; and where those that stay begin.
        let mut next: Vec<Seen> = Vec::new();
        let mut kept = self.seen.len();
        for index in (0..self.seen.len()).rev() {
            let seen = self.seen[index];
            let same = next.iter().position(|next| next.tid() == seen.tid());
            // Whoever covers it covers the next of the same thread, or a newer one of another.
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
            self.seen[kept] = seen;
        }
        self.seen.drain(..kept);
        if self.seen.len() * 2 < self.seen.capacity() {
            self.seen.shrink_to(self.seen.len() * 5 / 4 + 2);
        }
    }

    /// Whether the values of all writes are remembered, the initial one included.
    pub fn remembers_all(&self) -> bool {
        self.remembers(0)
    }

    fn remembers(&self, timestamp: u64) -> bool {
        self.newest - timestamp < VALUES as u64
    }
}

/// See [`History::stale`].
pub struct Stale<'a> {
    history: &'a History,
    from: u64,
    /// The write after the next one to be given.
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
    /// Whether a write can come right after it in modification order: the next one is no read-modify-write.
    pub open: bool,
}

impl Stale<'_> {
    /// Whether none of the writes was forgotten; asked after the last one.
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
        let open = self.history.written[self.next as usize % VALUES].plain;
        self.next = timestamp;
        Some(StaleWrite { timestamp, value: self.history.written[timestamp as usize % VALUES].value, open })
    }
}
