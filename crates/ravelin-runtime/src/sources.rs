//! From whom a thread learnt: the writes of other threads that it read before happens-before told it of them, and the
//! locks and other means by which others handed it what they knew.
//!
//! When two accesses race, this tells whether reads connect them that only lack release and acquire
//! ([`crate::chain`]). A write is remembered once for each thread that reads it, at its first read of it, so waiting
//! loops and values that are read again cost nothing. It is a ring: what is long ago is forgotten. The owner writes; anyone
//! may read while it goes on writing, and checks afterwards that nothing was overwritten meanwhile.

use ravelin_clocks::{Epoch, Order, Site, Source, Tid};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

/// Readings that are remembered.
const READINGS: usize = 256;
const WORDS: usize = 6;

type Entry = [AtomicU64; WORDS];

/// The last readings of one thread.
pub struct Sources {
    /// As many entries as [`READINGS`]; null as long as there was none.
    entries: AtomicPtr<Entry>,
    /// How many there were in all, without one that is being written.
    made: AtomicUsize,
    /// The same with it.
    begun: AtomicUsize,
    /// How many there were at the last acquire fence.
    fenced: usize,
}

/// One reading.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// When, in the reader's time.
    pub epoch: Epoch,
    /// Where; 0 for a lock or whatever else synchronised.
    pub site: Site,
    pub address: u64,
    /// What was read.
    pub source: Source,
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

    /// Gives the memory back; nothing is remembered any more.
    pub fn give_back(&mut self) {
        *self = Sources::new();
    }

    /// The owner reads at `address` what another thread wrote.
    #[cold]
    pub fn read(&mut self, epoch: Epoch, site: Site, address: usize, source: Source) {
        self.put(Reading { epoch, site, address: address as u64, source, fence: 0 });
    }

    /// The owner learns by a lock or the like what `by` knew at its epoch `at`.
    #[cold]
    pub fn synchronised(&mut self, epoch: Epoch, (by, at): (Tid, Epoch)) {
        let source = Source { writer: by, written_at: at, site: 0, released: at };
        self.put(Reading { epoch, site: 0, address: 0, source, fence: 0 });
    }

    /// The owner makes a fence.
    pub fn fence(&mut self, epoch: Epoch, order: Order) {
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

    fn put(&mut self, reading: Reading) {
        let made = self.made.load(Ordering::Relaxed);
        // SAFETY: there are that many entries, and only the owner writes them.
        let entry = unsafe { &*self.entries().add(made % READINGS) };
        // Whoever reads the entry meanwhile finds out by this number that it is no longer the old one.
        self.begun.store(made + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        let Reading { epoch, site, address, source, fence } = reading;
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
        let new: Vec<Entry> = (0..READINGS).map(|_| [const { AtomicU64::new(0) }; WORDS]).collect();
        let new = Box::into_raw(new.into_boxed_slice()).cast::<Entry>();
        self.entries.store(new, Ordering::Release);
        new
    }

    /// What is remembered, newest first.
    pub fn all(&self) -> Vec<Reading> {
        let entries = self.entries.load(Ordering::Acquire);
        let made = self.made.load(Ordering::Acquire);
        if entries.is_null() {
            return Vec::new();
        }
        let mut readings = Vec::new();
        for number in (made.saturating_sub(READINGS)..made).rev() {
            // SAFETY: there are that many entries, and they stay as long as the thread's state is looked at.
            let entry = unsafe { &*entries.add(number % READINGS) };
            let words: [u64; WORDS] = std::array::from_fn(|word| entry[word].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            // The owner may have come round to this entry.
            if self.begun.load(Ordering::Relaxed) > number + READINGS {
                break;
            }
            readings.push(Reading {
                epoch: (words[0] >> 32) as Epoch,
                site: words[2],
                address: words[4],
                source: Source {
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
