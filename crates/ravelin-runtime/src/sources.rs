//! How a thread learnt from others: the writes of other threads that it read before it knew of them by happens-before,
//! and the locks and other means by which it acquired their knowledge.
//!
//! When two accesses race, this shows whether reads connect them that only lack release and acquire ([`crate::chain`]).
//! A write is remembered once per reading thread, at the first read, so waiting loops and repeated reads cost nothing.
//! It is a ring: old entries are forgotten. The owner writes. Any thread may read while the owner continues to write,
//! and checks afterwards that nothing was overwritten meanwhile.

use ravelin_clocks::{AtomicOrder, Epoch, SiteCode, Tid, WriteSource};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

/// How many readings are remembered.
const READINGS: usize = 256;
const WORDS: usize = 6;

type Entry = [AtomicU64; WORDS];

/// The last readings of one thread.
pub struct Sources {
    /// As many entries as [`READINGS`]; null as long as there was none.
    entries: AtomicPtr<Entry>,
    /// How many there were in all, excluding one that is being written.
    made: AtomicUsize,
    /// The same including it.
    begun: AtomicUsize,
    /// How many there were at the last acquire fence.
    fenced: usize,
}

/// One reading.
#[derive(Clone, Copy, Debug)]
pub struct ReadEvent {
    /// When it was made, in the reader's time.
    pub epoch: Epoch,
    /// Where it was made; 0 for a lock or other synchronisation.
    pub site: SiteCode,
    pub address: u64,
    /// What was read.
    pub source: WriteSource,
    /// The reader's first acquire fence after it; 0 if there was none.
    pub fence: Epoch,
}

impl Sources {
    pub const fn new() -> Sources {
        Sources {
            entries: AtomicPtr::new(std::ptr::null_mut()),
            made: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            fenced: 0,
        }
    }

    /// Frees the memory; nothing is remembered any more.
    pub fn give_back(&mut self) {
        *self = Sources::new();
    }

    /// The owner reads at `address` what another thread wrote.
    #[cold]
    pub fn read(&mut self, epoch: Epoch, site: SiteCode, address: usize, source: WriteSource) {
        self.put(ReadEvent { epoch, site, address: address as u64, source, fence: 0 });
    }

    /// The owner learns by a lock or the like what `by` knew at its epoch `at`.
    #[cold]
    pub fn synchronised(&mut self, epoch: Epoch, (by, at): (Tid, Epoch)) {
        let source = WriteSource { writer: by, written_at: at, site: 0, released: at };
        self.put(ReadEvent { epoch, site: 0, address: 0, source, fence: 0 });
    }

    /// The owner makes a fence.
    pub fn fence(&mut self, epoch: Epoch, order: AtomicOrder) {
        let made = self.made.load(Ordering::Relaxed);
        let entries = self.entries.load(Ordering::Relaxed);
        if !order.acquires() || self.fenced == made || entries.is_null() {
            return;
        }
        for number in self.fenced.max(made.saturating_sub(READINGS))..made {
            // SAFETY: there are that many entries.
            let entry = unsafe { &*entries.add(number % READINGS) };
            entry[5].store(u64::from(epoch), Ordering::Relaxed);
        }
        self.fenced = made;
    }

    fn put(&mut self, reading: ReadEvent) {
        let made = self.made.load(Ordering::Relaxed);
        // SAFETY: there are that many entries, and only the owner writes them.
        let entry = unsafe { &*self.entries().add(made % READINGS) };
        // A concurrent reader of the entry sees by this number that it is no longer the old one.
        self.begun.store(made + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        let ReadEvent { epoch, site, address, source, fence } = reading;
        let words = [
            u64::from(epoch) << 32 | u64::from(source.writer),
            u64::from(source.written_at) << 32 | u64::from(source.released),
            site,
            source.site,
            address,
            u64::from(fence),
        ];
        for (word, value) in entry.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.made.store(made + 1, Ordering::Release);
    }

    fn entries(&mut self) -> *mut Entry {
        let entries = self.entries.load(Ordering::Relaxed);
        if !entries.is_null() {
            return entries;
        }
        // Zeroes that need not be written: most threads read little. The words have the layout of the atomics.
        let new: Vec<u64> = vec![0; READINGS * WORDS];
        let new = Box::into_raw(new.into_boxed_slice()).cast::<Entry>();
        self.entries.store(new, Ordering::Release);
        new
    }

    /// What is remembered, newest first.
    pub fn all(&self) -> Vec<ReadEvent> {
        let entries = self.entries.load(Ordering::Acquire);
        let made = self.made.load(Ordering::Acquire);
        if entries.is_null() {
            return Vec::new();
        }
        let mut readings = Vec::new();
        for number in (made.saturating_sub(READINGS)..made).rev() {
            // SAFETY: there are that many entries, and they stay as long as the thread's state is read.
            let entry = unsafe { &*entries.add(number % READINGS) };
            let words: [u64; WORDS] = std::array::from_fn(|word| entry[word].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            // The owner may have overwritten this entry.
            if self.begun.load(Ordering::Relaxed) > number + READINGS {
                break;
            }
            readings.push(ReadEvent {
                epoch: (words[0] >> 32) as Epoch,
                site: words[2],
                address: words[4],
                source: WriteSource {
                    writer: words[0] as Tid,
                    written_at: (words[1] >> 32) as Epoch,
                    site: words[3],
                    released: words[1] as Epoch,
                },
                fence: words[5] as Epoch,
            });
        }
        readings
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        let entries = *self.entries.get_mut();
        if !entries.is_null() {
            // SAFETY: `entries` allocated it as a box of this many, and nothing refers to it now.
            drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(entries, READINGS)) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Reads something of which every part follows from one number.
    fn read(sources: &mut Sources, number: u32) {
        let source = WriteSource {
            writer: number as Tid,
            written_at: number + 1,
            site: u64::from(number) + 2,
            released: number + 3,
        };
        sources.read(number, u64::from(number) + 4, number as usize + 5, source);
    }

    /// The number, if everything agrees.
    fn number(reading: &ReadEvent) -> Option<u32> {
        let number = reading.epoch;
        let WriteSource { writer, written_at, site, released } = reading.source;
        let agrees = (writer, written_at, released) == (number as Tid, number + 1, number + 3)
            && (site, reading.site) == (u64::from(number) + 2, u64::from(number) + 4)
            && reading.address == u64::from(number) + 5;
        agrees.then_some(number)
    }

    fn numbers(sources: &Sources) -> Vec<u32> {
        sources.all().iter().map(|reading| number(reading).expect("the parts of a reading agree")).collect()
    }

    #[test]
    fn readings_come_back_whole_and_newest_first() {
        let mut sources = Sources::new();
        assert!(sources.all().is_empty());
        (1..=3).for_each(|number| read(&mut sources, number));
        assert_eq!(numbers(&sources), [3, 2, 1]);
    }

    #[test]
    fn the_last_readings_are_remembered_and_no_others() {
        let mut sources = Sources::new();
        let last = 2 * READINGS as u32 + 7;
        (1..=last).for_each(|number| read(&mut sources, number));
        let expected: Vec<u32> = (last - READINGS as u32 + 1..=last).rev().collect();
        assert_eq!(numbers(&sources), expected);
    }

    #[test]
    fn what_a_lock_hands_on_has_no_place_in_the_program() {
        let mut sources = Sources::new();
        sources.synchronised(9, (3, 40));
        let [reading] = sources.all()[..] else { panic!("one reading") };
        assert_eq!((reading.epoch, reading.site, reading.address, reading.fence), (9, 0, 0, 0));
        let WriteSource { writer, written_at, site, released } = reading.source;
        assert_eq!((writer, written_at, site, released), (3, 40, 0, 40));
    }

    fn fences(sources: &Sources) -> Vec<Epoch> {
        sources.all().iter().map(|reading| reading.fence).collect()
    }

    #[test]
    fn a_reading_knows_the_first_acquire_fence_after_it() {
        let mut sources = Sources::new();
        sources.fence(1, AtomicOrder::SeqCst);
        read(&mut sources, 2);
        sources.fence(3, AtomicOrder::Release);
        assert_eq!(fences(&sources), [0]);
        sources.fence(4, AtomicOrder::Acquire);
        read(&mut sources, 5);
        assert_eq!(fences(&sources), [0, 4]);
        sources.fence(6, AtomicOrder::AcqRel);
        sources.fence(7, AtomicOrder::SeqCst);
        assert_eq!(fences(&sources), [6, 4]);
    }

    #[test]
    fn a_fence_after_more_readings_than_are_remembered_is_known_to_all_of_them() {
        let mut sources = Sources::new();
        let last = READINGS as u32 + 9;
        (1..=last).for_each(|number| read(&mut sources, number));
        sources.fence(last + 1, AtomicOrder::Acquire);
        assert!(fences(&sources).iter().all(|fence| *fence == last + 1));
        read(&mut sources, last + 2);
        assert_eq!(fences(&sources)[..2], [0, last + 1], "an entry that is used again has no fence");
    }

    #[test]
    fn nothing_is_remembered_after_the_memory_is_given_back() {
        let mut sources = Sources::new();
        read(&mut sources, 1);
        sources.give_back();
        assert!(sources.all().is_empty());
        read(&mut sources, 2);
        assert_eq!(numbers(&sources), [2]);
    }

    #[test]
    fn whoever_looks_while_the_owner_reads_on_sees_whole_readings_in_order() {
        struct Shared(std::cell::UnsafeCell<Sources>);
        // SAFETY: one thread changes it, and the others only read, which it supports.
        unsafe impl Sync for Shared {}
        let shared = Shared(std::cell::UnsafeCell::new(Sources::new()));
        let shared = &shared;
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // SAFETY: the entries stay while the owner continues.
                    let seen = numbers(unsafe { &*shared.0.get() });
                    assert!(seen.windows(2).all(|pair| pair[0] == pair[1] + 1), "{seen:?}");
                }
            });
            for number in 1..50_000 {
                // SAFETY: this thread is the owner.
                read(unsafe { &mut *shared.0.get() }, number);
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
