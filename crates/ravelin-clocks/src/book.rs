//! What each thread knew at which moment: the versions of its clocks that others may still ask for.
//!
//! A thread publishes its clocks at every access, and mostly the same ones. So a location keeps only the *moment*, the
//! thread and its epoch ([`crate::snapshot`]), and the thread keeps in this book what its clocks were at each moment: a
//! new version when it publishes a clock that has changed. The components are looked up when another thread learns a
//! moment that it does not know yet.
//!
//! Versions of which no moment is held any more are removed while no thread does anything ([`ClockBook::remove_others`]).

use crate::clock::{Epoch, Tid};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

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

/// The versions of one thread's clocks. The thread adds to them; others read them at the same time.
#[derive(Debug)]
pub(crate) struct ThreadLog(Mutex<Logs>);

#[derive(Debug)]
struct Logs {
    hb: Log,
    /// Empty as long as the thread's views equal happens-before.
    view: Log,
    sc: Log,
}

/// The versions of one clock.
#[derive(Debug)]
struct Log {
    /// For each version, the first epoch for which it holds, and where its components begin.
    versions: Vec<(Epoch, u32)>,
    /// The components of the versions, one after the other; those beyond the end of a version are 0.
    components: Vec<Epoch>,
}

impl Default for ClockBook {
    fn default() -> ClockBook {
        ClockBook { blocks: [const { OnceLock::new() }; (Tid::MAX as usize + 1) / BLOCK] }
    }
}

impl ClockBook {
    /// The versions of a thread.
    #[inline(always)]
    pub(crate) fn log(&self, tid: Tid) -> &ThreadLog {
        let block = self.blocks[tid as usize / BLOCK].get_or_init(|| Box::new([const { ThreadLog::new() }; BLOCK]));
        &block[tid as usize % BLOCK]
    }

    /// All threads of which there may be versions have a smaller number.
    pub(crate) fn threads(&self) -> usize {
        self.blocks.iter().rposition(|block| block.get().is_some()).map_or(0, |last| (last + 1) * BLOCK)
    }

    /// Passes the clock of a thread at one of its moments to `work`; components beyond the end are 0.
    pub(crate) fn version<R>(&self, by: Tid, at: Epoch, sense: Sense, work: impl FnOnce(&[Epoch]) -> R) -> R {
        let logs = self.log(by).lock();
        let version = match sense {
            Sense::Hb => logs.hb.at(at),
            Sense::View => logs.view.at(at).or_else(|| logs.hb.at(at)),
            Sense::Sc => logs.sc.at(at),
        };
        work(version.unwrap_or_default())
    }

    /// Calls `work` with each version of a thread of which some moment is held, and with the first and last such
    /// moment. `moments` are the held ones, in order.
    pub(crate) fn for_each_held(&self, by: Tid, moments: &[Epoch], mut work: impl FnMut(&[Epoch], (Epoch, Epoch))) {
        let logs = self.log(by).lock();
        for log in [&logs.hb, &logs.view, &logs.sc] {
            for index in 0..log.versions.len() {
                if let Some(held) = log.held(index, moments) {
                    work(log.components(index), held);
                }
            }
        }
    }

    /// Removes the versions of a thread of which no moment is held. No thread does anything meanwhile.
    pub(crate) fn remove_others(&self, by: Tid, moments: &[Epoch], is_running: bool) {
        let mut logs = self.log(by).lock();
        let Logs { hb, view, sc } = &mut *logs;
        for log in [hb, view, sc] {
            log.remove_others(moments, is_running);
        }
    }
}

impl ThreadLog {
    const fn new() -> ThreadLog {
        ThreadLog(Mutex::new(Logs { hb: Log::new(), view: Log::new(), sc: Log::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From `epoch` on, the sc clock is `epochs`.
    pub fn append_sc(&self, epoch: Epoch, epochs: &[Epoch]) {
        self.lock().sc.append(epoch, epochs);
    }

    /// From `epoch` on, the clock of happens-before is `epochs`, and that of the view is another one.
    pub fn append_hb(&self, epoch: Epoch, epochs: &[Epoch]) {
        self.lock().hb.append(epoch, epochs);
    }

    /// From `epoch` on, the clock of happens-before is `hb`, if given, and that of the view is `view`, if given or if
    /// there were others before.
    pub fn append_views(&self, epoch: Epoch, hb: Option<&[Epoch]>, view: Option<&[Epoch]>) {
        let mut logs = self.lock();
        if let Some(hb) = hb {
            logs.hb.append(epoch, hb);
        }
        if let Some(view) = view.or(hb.filter(|_| !logs.view.versions.is_empty())) {
            logs.view.append(epoch, view);
        }
    }

    /// How many components the versions have.
    pub fn size(&self) -> usize {
        let logs = self.lock();
        [&logs.hb, &logs.view, &logs.sc].iter().map(|log| log.components.len()).sum()
    }
}

impl Log {
    const fn new() -> Log {
        Log { versions: Vec::new(), components: Vec::new() }
    }

    fn append(&mut self, epoch: Epoch, epochs: &[Epoch]) {
        self.versions.push((epoch, self.components.len() as u32));
        self.components.extend_from_slice(epochs);
    }

    fn components(&self, index: usize) -> &[Epoch] {
        let from = self.versions[index].1 as usize;
        let to = self.versions.get(index + 1).map_or(self.components.len(), |next| next.1 as usize);
        &self.components[from..to]
    }

    /// The version that holds for an epoch; `None` if the first one is newer.
    fn at(&self, epoch: Epoch) -> Option<&[Epoch]> {
        // Mostly one of the last.
        let near = self.versions.len().saturating_sub(4);
        let begin = if self.versions.get(near).is_some_and(|version| version.0 <= epoch) { near } else { 0 };
        let after = begin + self.versions[begin..].partition_point(|version| version.0 <= epoch);
        Some(self.components(after.checked_sub(1)?))
    }

    /// The first and the last of `moments` for which a version holds.
    fn held(&self, index: usize, moments: &[Epoch]) -> Option<(Epoch, Epoch)> {
        let from = self.versions[index].0;
        let to = self.versions.get(index + 1).map_or(Epoch::MAX, |next| next.0);
        let first = moments.partition_point(|&epoch| epoch < from);
        let last = moments.partition_point(|&epoch| epoch < to);
        (first < last).then(|| (moments[first], moments[last - 1]))
    }

    fn remove_others(&mut self, moments: &[Epoch], is_running: bool) {
        let count = self.versions.len();
        let (mut kept, mut used) = (Vec::new(), 0);
        for index in 0..count {
            // The last one holds for what a running thread will publish.
            if self.held(index, moments).is_none() && !(is_running && index + 1 == count) {
                continue;
            }
            let from = self.versions[index].1 as usize;
            let length = self.components(index).len();
            self.components.copy_within(from..from + length, used);
            kept.push((self.versions[index].0, used as u32));
            used += length;
        }
        self.components.truncate(used);
        if self.components.capacity() > 4 * used + 64 {
            self.components.shrink_to(2 * used);
        }
        self.versions = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::atomic::{AtomicU32, Ordering};

    fn clock(book: &ClockBook, at: Epoch, sense: Sense) -> Vec<Epoch> {
        book.version(3, at, sense, <[Epoch]>::to_vec)
    }

    #[test]
    fn a_version_holds_until_the_next_one() {
        let book = ClockBook::default();
        for epoch in 1..1_000 {
            book.log(3).append_sc(10 * epoch, &vec![epoch; (epoch % 90) as usize]);
        }
        assert!(clock(&book, 9, Sense::Sc).is_empty(), "there was none yet");
        for at in 10..12_000 {
            let epoch = (at / 10).min(999);
            assert_eq!(clock(&book, at, Sense::Sc), vec![epoch; (epoch % 90) as usize], "at {at}");
        }
    }

    #[test]
    fn versions_that_are_held_and_the_last_one_stay() {
        let book = ClockBook::default();
        for epoch in 1..500 {
            book.log(3).append_views(10 * epoch, Some(&[epoch, 7]), None);
        }
        let before = book.log(3).size();
        let moments = [25, 26, 1_000, 3_339];
        book.remove_others(3, &moments, true);
        assert_eq!(moments.map(|at| clock(&book, at, Sense::Hb)[0]), [2, 2, 100, 333]);
        assert_eq!(clock(&book, 9_999, Sense::Hb), [499, 7]);
        let left = book.log(3).size();
        assert!(left < before / 50, "{left} components are left of {before}");
        let mut held = Vec::new();
        book.for_each_held(3, &moments, |version, at| held.push((version[0], at)));
        assert_eq!(held, [(2, (25, 26)), (100, (1_000, 1_000)), (333, (3_339, 3_339))]);
        book.log(3).append_views(10_000, Some(&[1_000]), None);
        assert_eq!(clock(&book, 10_001, Sense::Hb), [1_000]);
        assert_eq!(clock(&book, 9_999, Sense::Hb), [499, 7]);
        book.remove_others(3, &[], false);
        assert_eq!(book.log(3).size(), 0, "nothing is kept of a thread that has ended");
    }

    #[test]
    fn a_view_is_happens_before_until_it_has_versions() {
        let book = ClockBook::default();
        book.log(3).append_views(5, Some(&[1]), None);
        assert_eq!(clock(&book, 8, Sense::View), [1]);
        book.log(3).append_views(9, None, Some(&[1, 2]));
        assert_eq!(clock(&book, 8, Sense::View), [1]);
        assert_eq!(clock(&book, 9, Sense::View), [1, 2]);
        assert_eq!(clock(&book, 9, Sense::Hb), [1]);
        book.log(3).append_views(12, Some(&[4, 4]), None);
        assert_eq!(clock(&book, 12, Sense::View), [4, 4], "later ones are recorded for both");
    }

    #[test]
    fn a_thread_reads_what_another_has_published_while_that_goes_on() {
        let book = ClockBook::default();
        let published = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for epoch in 1..20_000 {
                    book.log(3).append_sc(epoch, &[epoch, epoch + 1, epoch + 2]);
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
