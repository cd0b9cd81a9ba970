//! Accesses of real threads at the same moment.

use ravelin_clocks::ThreadClocks;
use ravelin_clocks::race::cell::{self, Lists, ShadowCell};
use ravelin_clocks::race::slot;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

/// One list, behind a lock.
#[derive(Default)]
struct Locked(Mutex<Vec<u64>>);

impl Lists for Locked {
    type List = Vec<u64>;

    fn for_each(&self, mut work: impl FnMut(&mut Vec<u64>, bool)) {
        work(&mut self.0.lock().expect("nobody panics"), true);
    }

    fn spilt<R>(&self, work: impl FnOnce(&mut Vec<u64>) -> R) -> Option<R> {
        Some(work(&mut self.0.lock().expect("nobody panics")))
    }
}

/// The slot of an access of a thread's first epoch.
fn mine(thread: &ThreadClocks, offset: usize, size: usize, flags: u64) -> u64 {
    slot::stamp(thread.tid, thread.since()) | slot::span(offset, size) | flags
}

/// Also where there is little room in the cell, or none: then both make some at the same moment.
#[test]
fn of_two_accesses_at_the_same_moment_one_sees_the_other() {
    const WORDS: usize = 5_000;
    let words: Vec<(ShadowCell, Locked)> = (0..WORDS).map(|_| Default::default()).collect();
    for (index, (cell, lists)) in words.iter().enumerate() {
        for tid in 0..index % 7 {
            let reader = ThreadClocks::new(2 + tid as u16, 1);
            cell::access(cell, &reader, mine(&reader, 4, 1 + tid % 4, 0), lists);
        }
    }
    let together = Barrier::new(2);
    let write = |tid: u16| {
        let thread = ThreadClocks::new(tid, 1);
        let access = |(cell, lists): &(ShadowCell, Locked)| {
            together.wait();
            cell::access(cell, &thread, mine(&thread, 0, 4, slot::WRITE), lists).raced.is_some()
        };
        words.iter().map(access).collect::<Vec<bool>>()
    };
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| write(0));
        let two = write(1);
        (one.join().expect("no panic"), two)
    });
    let missed = one.iter().zip(&two).position(|(one, two)| !one && !two);
    assert_eq!(missed, None, "neither access saw the other");
    // Nothing that was there got lost.
    for (index, (cell, lists)) in words.iter().enumerate() {
        let writer = ThreadClocks::new(9, 1);
        for tid in 0..index % 7 {
            let slots = cell.iter().map(|slot| slot.load(Ordering::Relaxed));
            let listed = lists.0.lock().expect("nobody panics").clone();
            let of_reader = |kept: u64| kept != 0 && usize::from(slot::tid(kept)) == tid + 2;
            assert!(slots.chain(listed).any(of_reader), "word {index} has lost reader {tid}");
        }
        assert!(cell::would_race(cell, &writer, mine(&writer, 4, 1, slot::WRITE), lists).is_some() || index % 7 == 0);
    }
}

/// A thread that has had a word to itself goes on there while another makes its first access. Neither may see the other,
/// but both are remembered.
#[test]
fn what_a_thread_does_alone_and_the_first_access_of_another_are_both_kept() {
    const WORDS: usize = 20_000;
    let words: Vec<(ShadowCell, Locked)> = (0..WORDS).map(|_| Default::default()).collect();
    let (mut owner, other) = (ThreadClocks::new(0, 1), ThreadClocks::new(1, 1));
    let bytes = |index: usize| (index % 5, 1 + index % 3);
    for (index, (cell, lists)) in words.iter().enumerate() {
        let (at, size) = bytes(index);
        cell::access(cell, &owner, mine(&owner, at, size, slot::WRITE), lists);
        cell::access(cell, &owner, mine(&owner, 4, 4, 0), lists);
    }
    owner.release();
    owner.advance();
    let together = Barrier::new(2);
    let all = |thread: &ThreadClocks| {
        let access = |(index, (cell, lists)): (usize, &(ShadowCell, Locked))| {
            if index % 100 == 0 {
                together.wait();
            }
            let (at, size) = bytes(index);
            cell::access(cell, thread, mine(thread, at, size, slot::WRITE), lists).raced.is_some()
        };
        words.iter().enumerate().map(access).collect::<Vec<bool>>()
    };
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| all(&owner));
        let two = all(&other);
        (one.join().expect("no panic"), two)
    });
    for (index, (cell, lists)) in words.iter().enumerate() {
        let slots = cell.iter().map(|slot| slot.load(Ordering::Relaxed));
        let of = |thread: &ThreadClocks| mine(thread, bytes(index).0, bytes(index).1, slot::WRITE);
        let kept: Vec<u64> = slots.chain(lists.0.lock().expect("nobody panics").clone()).collect();
        let has = |wanted: u64| kept.iter().any(|slot| slot & !slot::BYTES == wanted & !slot::BYTES);
        // An access that races takes the place of the earlier one.
        assert!(has(of(&owner)) || two[index], "word {index}: what the owner did is lost");
        assert!(has(of(&other)) || one[index], "word {index}: what the other thread did is lost");
    }
}

/// Waits until so many have arrived. Threads leave a barrier too far apart.
fn meet(arrived: &AtomicUsize, count: usize) {
    arrived.fetch_add(1, Ordering::SeqCst);
    let mut spins = 0;
    while arrived.load(Ordering::SeqCst) < count {
        spins += 1;
        if spins % 1_000 == 0 {
            std::thread::yield_now();
        }
    }
}

/// A thread whose last read is in the cell replaces it without the lock, while another writes that knew only the last
/// read. One of them sees the other, and the new read is kept unless a race took its place.
#[test]
fn of_a_read_that_is_renewed_and_a_write_at_the_same_moment_one_sees_the_other() {
    const WORDS: usize = 300_000;
    let words: Vec<(ShadowCell, Locked)> = (0..WORDS).map(|_| Default::default()).collect();
    let mut readers: Vec<ThreadClocks> = (0..6).map(|tid| ThreadClocks::new(tid, 1)).collect();
    let mut writer = ThreadClocks::new(9, 1);
    // The word has reads of two to six threads: the first slot is one of them, or the marker of a list.
    let others = |index: usize| 1 + index % 5;
    for (index, (cell, lists)) in words.iter().enumerate() {
        // The first reader is the last one to come in some words, so that it is in every slot.
        for at in 0..=others(index) {
            let reader = &readers[(at + index / 5) % (others(index) + 1)];
            cell::access(cell, reader, mine(reader, 0, 4, 0), lists);
        }
    }
    for reader in &mut readers {
        writer.acquire(&reader.release());
    }
    let (reader, writer) = (&readers[0], &writer);
    let arrived = AtomicUsize::new(0);
    let all = |thread: &ThreadClocks, flags: u64| {
        let access = |(index, (cell, lists)): (usize, &(ShadowCell, Locked))| {
            meet(&arrived, 2 * (index + 1));
            // How far apart they are varies.
            for _ in 0..if flags == 0 { index / 5 % 32 } else { 8 } {
                std::hint::spin_loop();
            }
            cell::access(cell, thread, mine(thread, 0, 4, flags), lists).raced.is_some()
        };
        words.iter().enumerate().map(access).collect::<Vec<bool>>()
    };
    let (read, written) = std::thread::scope(|scope| {
        let read = scope.spawn(|| all(reader, 0));
        let written = all(writer, slot::WRITE);
        (read.join().expect("no panic"), written)
    });
    for (index, (cell, lists)) in words.iter().enumerate() {
        assert!(read[index] || written[index], "word {index}: neither access saw the other");
        let slots = cell.iter().map(|slot| slot.load(Ordering::Relaxed));
        let kept: Vec<u64> = slots.chain(lists.0.lock().expect("nobody panics").clone()).collect();
        let has = |wanted: u64| kept.contains(&wanted);
        assert!(has(mine(reader, 0, 4, 0)) || written[index], "word {index}: the read is lost");
        assert!(has(mine(writer, 0, 4, slot::WRITE)) || read[index], "word {index}: the write is lost");
    }
    assert!(read.contains(&true) && written.contains(&true), "always the same thread came first");
}
