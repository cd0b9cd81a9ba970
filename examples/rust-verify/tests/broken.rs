//! `cargo ravelin verify --test broken`: each of these is violated.

use rust_verify::parker::Parker;
use rust_verify::publication::Publication;
use rust_verify::reference_count::{Reference, Release as HowReleased};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// The flag does not order the value.
#[test]
fn relaxed_publication() {
    let publication = Publication::default();
    thread::scope(|scope| {
        scope.spawn(|| publication.publish(42, Relaxed));
        scope.spawn(|| assert!(publication.get(Relaxed).is_none_or(|value| value == 42)));
    });
}

fn share(release: HowReleased) {
    struct CountsDrops(Arc<AtomicU32>);
    impl Drop for CountsDrops {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let drops = Arc::new(AtomicU32::new(0));
    let one = Reference::new((7, CountsDrops(drops.clone())), release);
    let two = one.clone();
    let thread = thread::spawn(move || assert_eq!(two.get().0, 7));
    assert_eq!(one.get().0, 7);
    drop(one);
    thread.join().unwrap();
    assert_eq!(drops.load(Relaxed), 1);
}

/// The value is freed while it may still be read.
#[test]
fn relaxed_reference_count() {
    share(HowReleased::Relaxed);
}

/// If both look at the count before one changes it, nobody frees the value.
#[test]
fn late_reference_count() {
    share(HowReleased::Late);
}

/// A deadlock: the notification comes before the thread waits for it.
#[test]
fn lost_notification() {
    let parker = Arc::new(Parker::default());
    let other = parker.clone();
    let thread = thread::spawn(move || other.unpark_too_early());
    parker.park();
    thread.join().unwrap();
}

/// A deadlock: the wake-up is consumed before the flag is set.
#[test]
fn early_unpark() {
    let ready = Arc::new(AtomicBool::new(false));
    let other = ready.clone();
    let thread = thread::spawn(move || {
        while !other.load(SeqCst) {
            thread::park();
        }
    });
    thread.thread().unpark();
    ready.store(true, SeqCst);
    thread.join().unwrap();
}

/// Both threads may be inside.
#[test]
fn relaxed_dekker() {
    let (x, y, inside) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for (mine, theirs) in [(&x, &y), (&y, &x)] {
            let inside = &inside;
            scope.spawn(move || {
                mine.store(true, Relaxed);
                if !theirs.load(Relaxed) {
                    inside.fetch_add(1, Relaxed);
                }
            });
        }
    });
    assert!(inside.into_inner() < 2);
}

/// An increment that is two steps loses one of two.
#[test]
fn lost_increment() {
    let counter = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| counter.store(counter.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(counter.into_inner(), 2);
}

/// Two locks in different orders.
#[test]
fn deadlock() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    thread::scope(|scope| {
        for (first, second) in [(&a, &b), (&b, &a)] {
            scope.spawn(move || *first.lock().unwrap() += *second.lock().unwrap());
        }
    });
}

/// Messages of different threads come in any order.
#[test]
fn order_of_messages() {
    let (send, receive) = mpsc::channel();
    let other = send.clone();
    let threads = [thread::spawn(move || send.send(1).unwrap()), thread::spawn(move || other.send(2).unwrap())];
    assert_eq!(receive.recv(), Ok(1));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
