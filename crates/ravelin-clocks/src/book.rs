//! What each thread knew at which moment: the versions of its clocks that others may still ask for.
//!
//! A thread publishes its clocks at every access, and mostly the same ones. So a location keeps only the *moment*, the
//! thread and its epoch ([`crate::snapshot`]), and the thread keeps in this book what its clocks were at each moment: a
//! new version when it publishes a clock that has changed. The components are looked up when another thread learns a
//! moment that it does not know yet.
//!
//! A thread writes only its own versions. Others read them at the same time, without locks. Versions of which no moment
//! is held any more are removed while no thread does anything ([`ClockBook::remove`]).

use crate::chunks::Chunks;
use crate::clock::{Epoch, Tid};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const BLOCK: usize = 64;

/// The versions of all threads' clocks.
#[derive(Debug)]
pub struct ClockBook {
    blocks: [OnceLock<Box<[ThreadLog; BLOCK]>>; (Tid::MAX as usize + 1) / BLOCK],
}

/// In which sense something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Happens-before.
    Hb,
    /// Happens-before and hidden fences.
    View,
    /// What must come earlier under sequential consistency.
    Sc,
}

/// The versions of one thread's clocks.
#[derive(Debug)]
pub(crate) struct ThreadLog {
    hb: Log,
    /// Empty as long as the thread's views equal happens-before.
    view: Log,
    sc: Log,
}

/// The versions of one clock.
#[derive(Debug)]
struct Log {
    /// How many versions there are.
    count: AtomicU32,
    /// For each version, the first epoch for which it holds, and the number of its first component.
    versions: Chunks<AtomicU64>,
    /// Behind how many components there is room.
    used: AtomicU32,
    /// For each version its length, and the components.
    components: Chunks<AtomicU32>,
}

impl Default for ClockBook {
    fn default() -> ClockBook {
        ClockBook { blocks: [const { OnceLock::new() }; (Tid::MAX as usize + 1) / BLOCK] }
    }
}

impl ClockBook {
    /// An empty book.
    pub const fn new() -> ClockBook {
        ClockBook { blocks: [const { OnceLock::new() }; (Tid::MAX as usize + 1) / BLOCK] }
    }

    /// The versions of a thread.
    #[inline(always)]
    pub(crate) fn log(&self, tid: Tid) -> &ThreadLog {
        let block = self.blocks[tid as usize / BLOCK].get_or_init(|| Box::new([const { ThreadLog::new() }; BLOCK]));
        &block[tid as usize % BLOCK]
    }

    /// The clock of a thread at one of its moments; components beyond the end are 0.
    pub(crate) fn version(&self, by: Tid, at: Epoch, sense: Sense) -> &[AtomicU32] {
        let log = self.log(by);
        match sense {
            Sense::Hb => log.hb.at(at),
            Sense::View => log.view.at(at).or_else(|| log.hb.at(at)),
            Sense::Sc => log.sc.at(at),
        }
        .unwrap_or_default()
    }

    /// Calls `work` with each version of a thread of which some moment is held, and with the first and last such
    /// moment. `moments` are the held ones, in order.
    pub(crate) fn for_each_held(&self, by: Tid, moments: &[Epoch], mut work: impl FnMut(&[AtomicU32], (Epoch, Epoch))) {
        let log = self.log(by);
        for log in [&log.hb, &log.view, &log.sc] {
            for index in 0..log.count() {
                if let Some(held) = log.held(index, moments) {
                    work(log.components(index), held);
                }
            }
        }
    }

    /// Removes the versions of a thread of which no moment is held. No thread does anything meanwhile.
    pub(crate) fn remove_others(&self, by: Tid, moments: &[Epoch]) {
        let log = self.log(by);
        for log in [&log.hb, &log.view, &log.sc] {
            log.remove_others(moments);
        }
    }

    /// How many components all versions have.
    pub fn size(&self) -> usize {
        let logs = self.blocks.iter().filter_map(OnceLock::get).flat_map(|block| block.iter());
        logs.flat_map(|log| [&log.hb, &log.view, &log.sc]).map(|log| log.used.load(Ordering::Relaxed) as usize).sum()
    }
}

impl ThreadLog {
    const fn new() -> ThreadLog {
        ThreadLog { hb: Log::new(), view: Log::new(), sc: Log::new() }
    }

    /// From `epoch` on, the clock in this sense is `epochs`.
    pub fn append(&self, sense: Sense, epoch: Epoch, epochs: &[Epoch]) {
        match sense {
            Sense::Hb => self.hb.append(epoch, epochs),
            Sense::View => self.view.append(epoch, epochs),
            Sense::Sc => self.sc.append(epoch, epochs),
        }
    }

    /// Whether there are versions of the view that differ from happens-before.
    pub fn has_views(&self) -> bool {
        self.view.count() > 0
    }

    /// How many components the versions have.
    pub fn size(&self) -> u32 {
        [&self.hb, &self.view, &self.sc].iter().map(|log| log.used.load(Ordering::Relaxed)).sum()
    }
}

impl Log {
    const fn new() -> Log {
        Log { count: AtomicU32::new(0), versions: Chunks::new(), used: AtomicU32::new(0), components: Chunks::new() }
    }

    fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    fn append(&self, epoch: Epoch, epochs: &[Epoch]) {
        let (count, used) = (self.count.load(Ordering::Relaxed), self.used.load(Ordering::Relaxed));
        let length = epochs.len() as u32 + 1;
        let (Some(at), Some(index)) = (self.components.reserve(used, length), self.versions.reserve(count, 1)) else {
            return;
        };
        let [first, components @ ..] = self.components.slice(at, length) else { return };
        first.store(epochs.len() as u32, Ordering::Relaxed);
        components.iter().zip(epochs).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        self.set(index, epoch, at);
        self.used.store(at + length, Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
    }

    fn set(&self, index: u32, epoch: Epoch, at: u32) {
        if let Some(version) = self.versions.get(index) {
            version.store(u64::from(epoch) << 32 | u64::from(at), Ordering::Relaxed);
        }
    }

    /// The first epoch of a version, and the number of its first component.
    #[inline(always)]
    fn version(&self, index: u32) -> (Epoch, u32) {
        let version = self.versions.get(index).map_or(0, |version| version.load(Ordering::Relaxed));
        ((version >> 32) as Epoch, version as u32)
    }

    fn components(&self, index: u32) -> &[AtomicU32] {
        let (_, at) = self.version(index);
        let length = self.components.get(at).map_or(0, |length| length.load(Ordering::Relaxed));
        self.components.slice(at + 1, length)
    }

    /// The version that holds for an epoch; `None` if the first one is newer.
    fn at(&self, epoch: Epoch) -> Option<&[AtomicU32]> {
        // Mostly one of the last.
        let mut after = self.count();
        let mut step = 1;
        let mut from = after;
        while from > 0 {
            from = from.saturating_sub(step);
            if self.version(from).0 <= epoch {
                break;
            }
            after = from;
            step *= 2;
        }
        // The version is in `from..after`, or there is none.
        while from < after {
            let middle = from + (after - from) / 2;
            if self.version(middle).0 <= epoch { from = middle + 1 } else { after = middle }
        }
        Some(self.components(from.checked_sub(1)?))
    }

    /// The first and the last of `moments` for which a version holds.
    fn held(&self, index: u32, moments: &[Epoch]) -> Option<(Epoch, Epoch)> {
        let from = self.version(index).0;
        let to = if index + 1 < self.count() { self.version(index + 1).0 } else { Epoch::MAX };
        let first = moments.partition_point(|&epoch| epoch < from);
        let last = moments.partition_point(|&epoch| epoch < to);
        (first < last).then(|| (moments[first], moments[last - 1]))
    }

    fn remove_others(&self, moments: &[Epoch]) {
        let count = self.count();
        let (mut kept, mut used) = (0, 0);
        for index in 0..count {
            // The last one holds for what the thread will publish.
            if index + 1 < count && self.held(index, moments).is_none() {
                continue;
            }
            let (epoch, from) = self.version(index);
            let length = self.components.get(from).map_or(0, |length| length.load(Ordering::Relaxed)) + 1;
            // Never behind where it is.
            let Some(to) = self.components.reserve(used, length) else { return };
            if to != from {
                for (to, from) in self.components.slice(to, length).iter().zip(self.components.slice(from, length)) {
                    to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
            self.set(kept, epoch, to);
            kept += 1;
            used = to + length;
        }
        self.used.store(used, Ordering::Relaxed);
        self.count.store(kept, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(book: &ClockBook, at: Epoch, sense: Sense) -> Vec<Epoch> {
        book.version(3, at, sense).iter().map(|epoch| epoch.load(Ordering::Relaxed)).collect()
    }

    #[test]
    fn a_version_holds_until_the_next_one() {
        let book = ClockBook::new();
        for epoch in 1..1_000 {
            book.log(3).append(Sense::Sc, 10 * epoch, &vec![epoch; (epoch % 90) as usize]);
        }
        assert!(clock(&book, 9, Sense::Sc).is_empty(), "there was none yet");
        for at in 10..12_000 {
            let epoch = (at / 10).min(999);
            assert_eq!(clock(&book, at, Sense::Sc), vec![epoch; (epoch % 90) as usize], "at {at}");
        }
    }

    #[test]
    fn versions_that_are_held_and_the_last_one_stay() {
        let book = ClockBook::new();
        for epoch in 1..500 {
            book.log(3).append(Sense::Hb, 10 * epoch, &[epoch, 7]);
        }
        let before = book.size();
        let moments = [25, 26, 1_000, 3_339];
        book.remove_others(3, &moments);
        assert_eq!(moments.map(|at| clock(&book, at, Sense::Hb)[0]), [2, 2, 100, 333]);
        assert_eq!(clock(&book, 9_999, Sense::Hb), [499, 7]);
        assert!(book.size() < before / 50, "{} components are left of {before}", book.size());
        let mut held = Vec::new();
        book.for_each_held(3, &moments, |version, at| held.push((version[0].load(Ordering::Relaxed), at)));
        assert_eq!(held, [(2, (25, 26)), (100, (1_000, 1_000)), (333, (3_339, 3_339))]);
        book.log(3).append(Sense::Hb, 10_000, &[1_000]);
        assert_eq!(clock(&book, 10_001, Sense::Hb), [1_000]);
        assert_eq!(clock(&book, 9_999, Sense::Hb), [499, 7]);
    }

    #[test]
    fn a_view_is_happens_before_until_it_has_versions() {
        let book = ClockBook::new();
        book.log(3).append(Sense::Hb, 5, &[1]);
        assert_eq!(clock(&book, 8, Sense::View), [1]);
        book.log(3).append(Sense::View, 9, &[1, 2]);
        assert_eq!(clock(&book, 8, Sense::View), [1]);
        assert_eq!(clock(&book, 9, Sense::View), [1, 2]);
        assert_eq!(clock(&book, 9, Sense::Hb), [1]);
    }

    #[test]
    fn a_thread_reads_what_another_has_published_while_that_goes_on() {
        let book = ClockBook::new();
        let published = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for epoch in 1..20_000 {
                    book.log(3).append(Sense::Sc, epoch, &[epoch, epoch + 1, epoch + 2]);
                    published.store(epoch, Ordering::Release);
                }
            });
            let mut at = 0;
            while at < 19_999 {
                at = published.load(Ordering::Acquire);
                if at > 0 {
                    assert_eq!(clock(&book, at, Sense::Sc), [at, at + 1, at + 2]);
                    let old = 1 + at / 2;
                    assert_eq!(clock(&book, old, Sense::Sc), [old, old + 1, old + 2]);
                }
            }
        });
    }
}
