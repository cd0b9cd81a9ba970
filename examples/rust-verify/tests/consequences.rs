//! `cargo ravelin verify --consequences --test consequences`: what a test would do with a stale value. Each of these is
//! named after the answer.

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;

/// A thread publishes 1 with relaxed stores. If the flag is seen, `use_it` gets what is read then: 1, or a stale 0.
fn receive(use_it: impl FnOnce(u32)) {
    let (data, ready) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            ready.store(1, Relaxed);
        });
        if ready.load(Relaxed) == 1 {
            use_it(data.load(Relaxed));
        }
    });
}

#[test]
fn crash() {
    let value = 7;
    receive(|data| {
        let place = if data == 1 { &raw const value } else { std::ptr::without_provenance(8) };
        // SAFETY: under sequential consistency this is the place of the value. With the stale value it is not, which is what
        // this example is about.
        assert_eq!(unsafe { place.read_volatile() }, 7);
    });
}

#[test]
fn abort() {
    receive(|data| {
        if data == 0 {
            std::process::abort();
        }
    });
}

#[test]
fn standstill() {
    let lock = Mutex::new(());
    receive(|data| {
        let first = lock.lock().unwrap();
        if data == 0 {
            drop(lock.lock());
        }
        drop(first);
    });
}

/// A test that panics ends with 101.
#[test]
fn exit_code() {
    receive(|data| assert_eq!(data, 1));
}

/// The assertion of Dekker's algorithm fails.
#[test]
fn exit_code_of_dekker() {
    let (wants, entered) = ([AtomicU32::new(0), AtomicU32::new(0)], AtomicU32::new(0));
    let enter = |me: usize| {
        wants[me].store(1, Relaxed);
        if wants[1 - me].load(Relaxed) == 0 {
            entered.fetch_add(1, AcqRel);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| enter(1));
        enter(0);
    });
    assert!(entered.load(Relaxed) < 2);
}

#[test]
fn output() {
    receive(|data| println!("received {data}"));
}

struct Shared(UnsafeCell<u32>);

// SAFETY: under sequential consistency its use is ordered by an atomic. With a stale value it is not, which is what this
// example is about.
unsafe impl Sync for Shared {}

/// With the newest value the read is ordered after the write, with the stale one it is not.
#[test]
fn data_race() {
    let (plain, data, ready) = (Shared(UnsafeCell::new(0)), AtomicU32::new(0), AtomicU32::new(0));
    let plain = &plain;
    thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: the other thread reads it after it has seen the flag.
            unsafe { *plain.0.get() = 1 };
            data.store(1, Release);
            ready.store(1, Relaxed);
        });
        if ready.load(Relaxed) == 1 {
            let ordered = data.load(Acquire) == 1;
            // SAFETY: as above.
            let value = unsafe { *plain.0.get() };
            assert!(value == 1 || !ordered);
        }
    });
}

/// A retry loop reads again.
#[test]
fn rejoins() {
    let (count, ready) = (AtomicU32::new(0), AtomicU32::new(0));
    let increment = || count.fetch_update(AcqRel, Relaxed, |count| Some(count + 1)).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            increment();
            ready.store(1, Relaxed);
        });
        if ready.load(Relaxed) == 1 {
            increment();
        }
    });
}
