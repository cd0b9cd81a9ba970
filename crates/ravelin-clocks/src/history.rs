//! Who has seen which write of a location, and when.
//!
//! Runs are sequentially consistent, so sightings come in the order of time and the timestamps in them never fall. The
//! newest write that a clock knows is that of the last sighting the clock covers.
//!
//! A sighting is kept as long as some clock can tell it from the next one of the same thread: a clock is told apart by
//! its component for that thread, and only components that are in use somewhere (or of the future) count.
//! [`History::prune`] is given those. The last [`RECENT`] sightings always stay, for their values.

use crate::clock::{Clock, Epoch, Tid};

/// Sightings at the end of a history that are never pruned: waits and strong compare-exchanges look at their values.
pub const RECENT: usize = 16;

/// Where in the program something was done, as the caller wants to see it again.
pub type Site = u64;

/// Thread `tid`, at its epoch `epoch`, knew the write numbered `timestamp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Who saw it.
    pub tid: Tid,
    /// Who wrote it.
    pub writer: Tid,
    /// When it was seen.
    pub epoch: Epoch,
    /// When it was written, in the writer's time.
    pub written_at: Epoch,
    /// Its number in modification order; the initial write is 0.
    pub timestamp: u64,
    /// How many writes up to it are not read-modify-writes (4.1).
    pub plain: u64,
    /// What was written.
    pub value: u64,
    /// Where.
    pub site: Site,
}

/// The sightings of one location, oldest first.
#[derive(Clone, Debug)]
pub struct History {
    sightings: Vec<Sighting>,
    /// The value of the initial write.
    initial: u64,
}

/// What a thread knows of a location in the two ways, where they differ.
#[derive(Clone, Copy, Debug)]
pub struct Gap<'a> {
    /// The newest write known by happens-before.
    pub known: Option<&'a Sighting>,
    /// The newest write that must come earlier under sequential consistency.
    pub forced: &'a Sighting,
}

impl Gap<'_> {
    /// Timestamp of the newest write known by happens-before.
    pub fn known_timestamp(&self) -> u64 {
        self.known.map_or(0, |sighting| sighting.timestamp)
    }

    /// Plain writes among those known by happens-before.
    pub fn known_plain(&self) -> u64 {
        self.known.map_or(0, |sighting| sighting.plain)
    }
}

impl History {
    /// A location whose initial write is known to everybody.
    pub fn new(initial: u64) -> History {
        History { sightings: Vec::new(), initial }
    }

    /// All sightings, oldest first.
    pub fn sightings(&self) -> &[Sighting] {
        &self.sightings
    }

    /// Whether the newest write is known to `me` by its `view`.
    #[inline]
    pub fn knows_newest(&self, me: Tid, view: &Clock) -> bool {
        let Some(last) = self.sightings.last() else {
            return true;
        };
        self.sightings
            .iter()
            .rev()
            .take_while(|sighting| sighting.timestamp == last.timestamp)
            .any(|sighting| covers(view, me, sighting))
    }

    /// Where `sc` forces more than `view` knows; `None` if there is no such difference.
    pub fn gap(&self, me: Tid, view: &Clock, sc: &Clock) -> Option<Gap<'_>> {
        let mut forced: Option<&Sighting> = None;
        for sighting in self.sightings.iter().rev() {
            if covers(view, me, sighting) {
                return forced
                    .filter(|forced| forced.timestamp > sighting.timestamp)
                    .map(|forced| Gap { known: Some(sighting), forced });
            }
            if forced.is_none() && covers(sc, me, sighting) {
                forced = Some(sighting);
            }
        }
        forced.filter(|forced| forced.timestamp > 0).map(|forced| Gap { known: None, forced })
    }

    /// The writes that may be read across a gap although a newer one is forced, newest first, as (timestamp, value,
    /// whether the next write is known and plain); `complete` tells whether none of them is forgotten.
    pub fn stale<'a>(&'a self, gap: &Gap<'a>) -> Stale<'a> {
        Stale {
            history: self,
            from: gap.known_timestamp(),
            next: Some(gap.forced),
            at: self.sightings.len(),
            complete: true,
        }
    }

    /// Adds a sighting of the newest write, or the newest write itself.
    pub fn push(&mut self, sighting: Sighting) {
        debug_assert!(self.sightings.last().is_none_or(|last| last.timestamp <= sighting.timestamp));
        self.sightings.push(sighting);
    }

    /// Forgets one old sighting if the last ones are all writes of `me`, at one epoch after the other: such an epoch was
    /// handed out through this location only, so whoever meets it in a clock has also read a newer write here. This
    /// keeps one thread that writes on and on from filling the history.
    pub fn fold(&mut self, me: Tid) {
        let Some(start) = self.sightings.len().checked_sub(RECENT + 2) else {
            return;
        };
        let run = &self.sightings[start..];
        // Mostly the newest pair settles it, and the older ones need not be fetched.
        let mut pairs = run.iter().zip(&run[1..]).rev();
        if pairs.all(|(one, next)| one.tid == me && next.tid == me && one.epoch + 1 == next.epoch) {
            self.sightings.remove(start);
        }
    }

    /// Forgets what no clock can tell apart. `live(tid, from, to)` says whether a clock anywhere has a component for
    /// `tid` that is at least `from` and below `to`.
    pub fn prune(&mut self, mut live: impl FnMut(Tid, Epoch, Epoch) -> bool) {
        let length = self.sightings.len();
        if length <= RECENT {
            return;
        }
        // For each thread, the epoch of its next sighting, going backwards.
        let mut next: Vec<(Tid, Epoch)> = Vec::new();
        let mut keep = vec![true; length];
        for (index, sighting) in self.sightings.iter().enumerate().rev() {
            match next.iter_mut().find(|(tid, _)| *tid == sighting.tid) {
                None => next.push((sighting.tid, sighting.epoch)),
                Some((_, epoch)) => {
                    if index < length - RECENT && !live(sighting.tid, sighting.epoch, *epoch) {
                        keep[index] = false;
                    } else {
                        *epoch = sighting.epoch;
                    }
                }
            }
        }
        let mut index = 0;
        self.sightings.retain(|_| {
            index += 1;
            keep[index - 1]
        });
        self.sightings.shrink_to(length.next_power_of_two() / 2);
    }
}

#[inline]
fn covers(clock: &Clock, me: Tid, sighting: &Sighting) -> bool {
    sighting.tid == me || clock.get(sighting.tid) >= sighting.epoch
}

/// See [`History::stale`].
pub struct Stale<'a> {
    history: &'a History,
    from: u64,
    next: Option<&'a Sighting>,
    at: usize,
    complete: bool,
}

/// A write that may be read although a newer one is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleWrite {
    /// Its number.
    pub timestamp: u64,
    /// What it wrote.
    pub value: u64,
    /// Whether a write can come right after it in modification order: the next one is remembered and no RMW.
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
        let next = self.next?;
        while self.at > 0 {
            self.at -= 1;
            let sighting = &self.history.sightings[self.at];
            if sighting.timestamp >= next.timestamp {
                continue;
            }
            if sighting.timestamp < self.from {
                break;
            }
            let follows = sighting.timestamp + 1 == next.timestamp;
            self.complete &= follows;
            self.next = (sighting.timestamp > self.from).then_some(sighting);
            return Some(StaleWrite {
                timestamp: sighting.timestamp,
                value: sighting.value,
                open: follows && next.plain > sighting.plain,
            });
        }
        self.next = None;
        if self.from > 0 {
            self.complete = false;
            return None;
        }
        let follows = next.timestamp == 1;
        self.complete &= follows;
        Some(StaleWrite { timestamp: 0, value: self.history.initial, open: follows && next.plain > 0 })
    }
}
