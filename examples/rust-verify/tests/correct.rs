//! `cargo ravelin verify --test correct`: all of these are verified.

use rust_verify::parker::Parker;
use rust_verify::publication::Publication;
use rust_verify::reference_count::{Reference, Release as HowReleased};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn publication() {
    let publication = Publication::default();
    thread::scope(|scope| {
        scope.spawn(|| publication.publish(42, Release));
        scope.spawn(|| assert!(publication.get(Acquire).is_none_or(|value| value == 42)));
    });
}

#[test]
fn reference_count() {
    struct CountsDrops(Arc<AtomicU32>);
    impl Drop for CountsDrops {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let drops = Arc::new(AtomicU32::new(0));
    let one = Reference::new((7, CountsDrops(drops.clone())), HowReleased::Ordered);
    let two = one.clone();
    let thread = thread::spawn(move || assert_eq!(two.get().0, 7));
    assert_eq!(one.get().0, 7);
    drop(one);
    thread.join().unwrap();
    assert_eq!(drops.load(Relaxed), 1);
}

#[test]
fn parker() {
    let parker = Arc::new(Parker::default());
    let other = parker.clone();
    let thread = thread::spawn(move || other.unpark());
    parker.park();
    thread.join().unwrap();
}

#[test]
fn dekker() {
    let (x, y, inside) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for (mine, theirs) in [(&x, &y), (&y, &x)] {
            let inside = &inside;
            scope.spawn(move || {
                mine.store(true, SeqCst);
                if !theirs.load(SeqCst) {
                    inside.fetch_add(1, Relaxed);
                }
            });
        }
    });
    assert!(inside.into_inner() < 2);
}

#[test]
fn hints() {
    ravelin_hints::verify(|| {
        let ready = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| ready.store(true, Release));
            scope.spawn(|| while !ready.load(Acquire) {});
        });
    });
}

#[test]
fn after_setup() {
    let (counter, publication) = (AtomicU32::new(0), Publication::default());
    let count = || (0..3).for_each(|_| drop(counter.fetch_add(1, Relaxed)));
    let count_twice = || {
        thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(count);
        });
    };
    count_twice();
    ravelin_hints::verify(|| {
        thread::scope(|scope| {
            scope.spawn(|| publication.publish(42, Release));
            scope.spawn(|| assert!(publication.get(Acquire).is_none_or(|value| value == 42)));
        });
    });
    count_twice();
    assert_eq!(counter.into_inner(), 12);
}

#[test]
fn mutex() {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| *counter.lock().unwrap() += 1);
        }
    });
    assert_eq!(counter.into_inner().unwrap(), 3);
}

#[test]
fn try_lock() {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *counter.lock().unwrap() += 1);
        scope.spawn(|| {
            if let Ok(mut counter) = counter.try_lock() {
                *counter += 1;
            }
        });
    });
    assert!((1..=2).contains(&counter.into_inner().unwrap()));
}

#[test]
fn rwlock() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *lock.write().unwrap() += 1);
        scope.spawn(|| assert!(*lock.read().unwrap() < 2));
        scope.spawn(|| {
            if let Ok(value) = lock.try_read() {
                assert!(*value < 2);
            }
        });
    });
}

#[test]
fn condvar() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let other = shared.clone();
    let thread = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let guard = shared.0.lock().unwrap();
    drop(shared.1.wait_while(guard, |ready| !*ready).unwrap());
    thread.join().unwrap();
}

#[test]
fn condvar_with_a_time_limit() {
    let (lock, condition) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.lock().unwrap() = true;
            condition.notify_all();
        });
        scope.spawn(|| {
            let guard = lock.lock().unwrap();
            let (ready, result) = condition.wait_timeout_while(guard, Duration::from_millis(1), |ready| !*ready).unwrap();
            assert!(*ready || result.timed_out());
        });
    });
}

#[test]
fn channel() {
    let (send, receive) = mpsc::channel();
    let published = Arc::new(AtomicU32::new(0));
    let other = published.clone();
    let thread = thread::spawn(move || {
        other.store(7, Relaxed);
        send.send(1).unwrap();
        send.send(2).unwrap();
    });
    assert_eq!(receive.recv(), Ok(1));
    assert_eq!(published.load(Relaxed), 7);
    assert_eq!(receive.recv(), Ok(2));
    assert!(receive.recv().is_err());
    thread.join().unwrap();
}

/// The second message may have to wait for room. `blocks` are allocated before, so that the room is elsewhere.
fn send_two(blocks: usize) {
    let blocks: Vec<Box<u64>> = (0..blocks as u64).map(Box::new).collect();
    let (send, receive) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        send.send(1).unwrap();
        send.send(2).unwrap();
    });
    assert_eq!(receive.recv(), Ok(1));
    assert_eq!(receive.recv(), Ok(2));
    thread.join().unwrap();
    drop(blocks);
}

#[test]
fn bounded_channel() {
    send_two(0);
}

#[test]
fn bounded_channel_behind_a_block() {
    send_two(1);
}

#[test]
fn bounded_channel_behind_two_blocks() {
    send_two(2);
}

#[test]
fn bounded_channel_behind_three_blocks() {
    send_two(3);
}

#[test]
fn park() {
    let ready = Arc::new(AtomicBool::new(false));
    let other = ready.clone();
    let thread = thread::spawn(move || {
        while !other.load(Relaxed) {
            thread::park();
        }
    });
    ready.store(true, Relaxed);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn once() {
    static ONCE: Once = Once::new();
    static VALUE: AtomicU32 = AtomicU32::new(0);
    let get = || {
        ONCE.call_once(|| VALUE.store(7, Relaxed));
        assert_eq!(VALUE.load(Relaxed), 7);
    };
    let thread = thread::spawn(get);
    get();
    thread.join().unwrap();
}

#[test]
fn once_lock() {
    static CELL: OnceLock<u32> = OnceLock::new();
    let thread = thread::spawn(|| *CELL.get_or_init(|| 7));
    assert_eq!(*CELL.get_or_init(|| 7), thread.join().unwrap());
}

#[test]
fn barrier() {
    let (barrier, arrived) = (Barrier::new(2), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                arrived.fetch_add(1, Relaxed);
                barrier.wait();
                assert_eq!(arrived.load(Relaxed), 2);
            });
        }
    });
}

#[test]
fn no_thread() {
    assert_eq!(Publication::default().get(Relaxed), None);
}

#[test]
#[should_panic(expected = "as it should")]
fn panics_in_every_schedule() {
    thread::spawn(|| ()).join().unwrap();
    panic!("as it should");
}

#[test]
#[ignore = "ignored tests are left out"]
fn ignored() {
    panic!("this test is not run");
}
