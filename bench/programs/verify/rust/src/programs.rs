//! The programs, written once. Each of the three binaries has a module `sync` with the same names: those of the standard
//! library, of loom or of shuttle.
//!
//! A program that is wrong can fail an assertion or has a data race under C11. All others are right.

use crate::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicUsize, fence};
use crate::sync::{Arc, Condvar, Mutex, PlainCell, thread};

/// The program with this name. It is given its size.
pub fn named(name: &str) -> Option<fn(usize)> {
    Some(match name {
        "store-buffering" => |size| store_buffering(size, SeqCst),
        "store-buffering-relaxed" => |size| store_buffering(size, Relaxed),
        "message-passing" => |size| message_passing(size, Release, Acquire),
        "message-passing-relaxed" => |size| message_passing(size, Relaxed, Relaxed),
        "spin-lock" => |size| spin_lock(size, Acquire, Release),
        "spin-lock-relaxed" => |size| spin_lock(size, Relaxed, Relaxed),
        "stack" => |size| stack(size, Release, Acquire),
        "stack-relaxed" => |size| stack(size, Relaxed, Relaxed),
        "ring" => |size| ring(size, Release, Acquire),
        "ring-relaxed" => |size| ring(size, Relaxed, Relaxed),
        "reference-count" => |size| reference_count(size, Release),
        "reference-count-relaxed" => |size| reference_count(size, Relaxed),
        "blocking-queue" => |size| blocking_queue(size, Recheck::Always),
        "blocking-queue-once" => |size| blocking_queue(size, Recheck::Never),
        _ => return None,
    })
}

/// So many threads write cells of their own, and then read the cell of the next one. Under sequential consistency the
/// last one to read finds something.
fn store_buffering(size: usize, order: Ordering) {
    let cells = Arc::new((0..size).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>());
    let found = in_threads(size, move |me| {
        cells[me].store(1, order);
        cells[(me + 1) % size].load(order)
    });
    assert!(found.contains(&1), "no read saw a write");
}

/// One thread publishes a value, so many look whether it is there.
fn message_passing(size: usize, store: Ordering, load: Ordering) {
    let shared = Arc::new((PlainCell::new(0), AtomicUsize::new(0)));
    in_threads(size + 1, move |me| {
        let (value, is_there) = &*shared;
        if me == 0 {
            value.write(42);
            is_there.store(1, store);
        } else if is_there.load(load) == 1 {
            assert_eq!(value.read(), 42, "the value is not there");
        }
        0
    });
}

/// So many threads increment a counter under a spin lock.
fn spin_lock(size: usize, acquire: Ordering, release: Ordering) {
    let shared = Arc::new((AtomicUsize::new(0), PlainCell::new(0)));
    let counter = shared.clone();
    in_threads(size, move |_| {
        let (lock, counter) = &*shared;
        while lock.compare_exchange(0, 1, acquire, Relaxed).is_err() {
            crate::sync::spin();
        }
        counter.write(counter.read() + 1);
        lock.store(0, release);
        0
    });
    assert_eq!(counter.1.read(), size, "an increment is lost");
}

/// One thread pushes so many nodes on Treiber's stack, another one pushes one, and both pop one. Nodes are numbers from 1
/// and are pushed once.
fn stack(size: usize, publish: Ordering, look: Ordering) {
    struct Node {
        value: PlainCell,
        next: AtomicUsize,
    }
    let node = |_| Node { value: PlainCell::new(0), next: AtomicUsize::new(0) };
    let shared = Arc::new((AtomicUsize::new(0), (0..=size + 1).map(node).collect::<Vec<_>>()));
    let popped = in_threads(2, move |me| {
        let (head, nodes) = &*shared;
        for number in if me == 0 { 1..=size } else { size + 1..=size + 1 } {
            nodes[number].value.write(number);
            let mut seen = head.load(Relaxed);
            loop {
                nodes[number].next.store(seen, Relaxed);
                match head.compare_exchange(seen, number, publish, Relaxed) {
                    Ok(_) => break,
                    Err(newer) => seen = newer,
                }
            }
        }
        let mut seen = head.load(look);
        while seen != 0 {
            let next = nodes[seen].next.load(Relaxed);
            match head.compare_exchange(seen, next, look, look) {
                Ok(_) => break,
                Err(newer) => seen = newer,
            }
        }
        assert!(seen != 0, "the stack is empty too early");
        nodes[seen].value.read()
    });
    assert_ne!(popped[0], popped[1], "a node was popped twice");
}

/// One thread sends numbers through a ring with two places, another one receives them. Both try so often.
fn ring(size: usize, publish: Ordering, look: Ordering) {
    struct Ring {
        places: [PlainCell; 2],
        sent: AtomicUsize,
        received: AtomicUsize,
    }
    let places = [PlainCell::new(0), PlainCell::new(0)];
    let ring = Arc::new(Ring { places, sent: AtomicUsize::new(0), received: AtomicUsize::new(0) });
    in_threads(2, move |me| {
        let mut next = 0;
        for _ in 0..size {
            if me == 0 && next - ring.received.load(look) < 2 {
                ring.places[next % 2].write(next + 1);
                next += 1;
                ring.sent.store(next, publish);
            } else if me == 1 && next < ring.sent.load(look) {
                assert_eq!(ring.places[next % 2].read(), next + 1, "another number was sent");
                next += 1;
                ring.received.store(next, publish);
            }
        }
        0
    });
}

/// So many threads read a value and drop their reference; the last one ends the value.
fn reference_count(size: usize, release: Ordering) {
    let shared = Arc::new((AtomicUsize::new(size), PlainCell::new(7)));
    in_threads(size, move |_| {
        let (references, value) = &*shared;
        assert_eq!(value.read(), 7, "the value has ended");
        if references.fetch_sub(1, release) == 1 {
            fence(Acquire);
            value.write(0);
        }
        0
    });
}

/// Whether a thread that was woken looks again if there is something for it.
#[derive(Clone, Copy, PartialEq)]
enum Recheck {
    Always,
    Never,
}

/// So many threads wait for an item each, and one thread sends the items.
fn blocking_queue(size: usize, recheck: Recheck) {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    in_threads(size + 1, move |me| {
        let (items, arrived) = &*shared;
        if me == 0 {
            for _ in 0..size {
                *items.lock().unwrap() += 1;
                arrived.notify_all();
            }
            return 0;
        }
        let mut items = items.lock().unwrap();
        while *items == 0 {
            items = arrived.wait(items).unwrap();
            if recheck == Recheck::Never {
                break;
            }
        }
        assert!(*items > 0, "woken, but there is nothing");
        *items -= 1;
        0
    });
}

/// What so many threads return, each of which is given its number.
fn in_threads(count: usize, body: impl Fn(usize) -> usize + Clone + Send + 'static) -> Vec<usize> {
    let start = |number| {
        let body = body.clone();
        thread::spawn(move || body(number))
    };
    let threads: Vec<_> = (0..count).map(start).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}
