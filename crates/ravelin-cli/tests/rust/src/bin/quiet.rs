// Correct programs over the standard library: with every primitive, contended, guarding plain data and relaxed atomics.
// case mutex mutex: none
// case try-lock try-lock: none
// case rwlock rwlock: none
// case condvar condvar: none
// case condvar-timeout condvar-timeout: none
// case barrier barrier: none
// case once once: none
// case once-lock once-lock: none
// case lazy-lock lazy-lock: none
// case park park: none
// case park-handle park-handle: none
// case channel channel: none
// case bounded bounded: none
// case rendezvous rendezvous: none
// case several-senders several-senders: none
// case scope scope: none
// case scope-joined scope-joined: none
// case join join: none
// case thread-local thread-local: none
// case arc arc: none
// case arc-mutex arc-mutex: none
// case panics panics: none
// case seq-cst seq-cst: none
// case pipe pipe: none
// case files files: none

use std::cell::{Cell, UnsafeCell};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::Duration;
use watched::{argument, at_once};

/// Data that somebody else must guard: a plain number and a relaxed one, which agree.
struct Guarded {
    plain: UnsafeCell<u32>,
    relaxed: AtomicU32,
}

// SAFETY: by whoever guards it.
unsafe impl Sync for Guarded {}

impl Guarded {
    const fn new() -> Guarded {
        Guarded { plain: UnsafeCell::new(0), relaxed: AtomicU32::new(0) }
    }

    fn add(&self) {
        let next = self.get() + 1;
        unsafe { *self.plain.get() = next };
        self.relaxed.store(next, Relaxed);
    }

    fn get(&self) -> u32 {
        let plain = unsafe { *self.plain.get() };
        assert_eq!(plain, self.relaxed.load(Relaxed));
        plain
    }
}

static GUARDED: Guarded = Guarded::new();

fn main() {
    match &*argument(1) {
        "mutex" => mutex(),
        "try-lock" => try_lock(),
        "rwlock" => rwlock(),
        "condvar" => condvar(),
        "condvar-timeout" => condvar_timeout(),
        "barrier" => barrier(),
        "once" => once(),
        "once-lock" => once_lock(),
        "lazy-lock" => lazy_lock(),
        "park" => park(),
        "park-handle" => park_handle(),
        "channel" => messages(|| {
            let (sender, receiver) = channel();
            (Box::new(move |item| sender.send(item).unwrap()), receiver)
        }),
        "bounded" => messages(|| {
            let (sender, receiver) = sync_channel(2);
            (Box::new(move |item| sender.send(item).unwrap()), receiver)
        }),
        "rendezvous" => messages(|| {
            let (sender, receiver) = sync_channel(0);
            (Box::new(move |item| sender.send(item).unwrap()), receiver)
        }),
        "several-senders" => several_senders(),
        "scope" => scope(),
        "scope-joined" => scope_joined(),
        "join" => join(),
        "thread-local" => thread_local(),
        "arc" => arc(),
        "arc-mutex" => arc_mutex(),
        "panics" => panics(),
        "seq-cst" => seq_cst(),
        "pipe" => pipe(),
        "files" => files(),
        other => panic!("{other} is no program"),
    }
}

fn mutex() {
    let lock = Mutex::new(());
    at_once(4, |_| {
        for _ in 0..500 {
            let _guard = lock.lock().unwrap();
            GUARDED.add();
        }
    });
    assert_eq!(GUARDED.get(), 2000);
}

fn try_lock() {
    let lock = Mutex::new(());
    at_once(3, |_| {
        let mut done = 0;
        while done < 200 {
            match lock.try_lock() {
                Ok(_guard) => {
                    GUARDED.add();
                    done += 1;
                }
                Err(_) => thread::yield_now(),
            }
        }
    });
}

fn rwlock() {
    let lock = RwLock::new(());
    at_once(4, |me| {
        for round in 0..300 {
            if (round + me) % 4 == 0 {
                let _guard = lock.write().unwrap();
                GUARDED.add();
            } else {
                let _guard = lock.read().unwrap();
                GUARDED.get();
            }
        }
    });
}

fn condvar() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    at_once(3, |me| {
        for round in 0..100 {
            let mut now = turn.lock().unwrap();
            while *now != round * 3 + me {
                now = changed.wait(now).unwrap();
            }
            GUARDED.add();
            *now += 1;
            changed.notify_all();
        }
    });
}

fn condvar_timeout() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    at_once(2, |me| {
        for round in 0..50 {
            let now = turn.lock().unwrap();
            let wait = Duration::from_micros(50);
            let waiting = |now: &mut usize| *now % 2 != me;
            let mut now = now;
            while waiting(&mut now) {
                now = changed.wait_timeout_while(now, wait, waiting).unwrap().0;
            }
            GUARDED.add();
            *now += 1;
            changed.notify_one();
            drop(now);
            assert!(round < 50);
        }
    });
}

fn barrier() {
    let barrier = Barrier::new(3);
    at_once(3, |me| {
        for round in 0..60 {
            if round % 3 == me {
                GUARDED.add();
            }
            barrier.wait();
            assert_eq!(GUARDED.get(), round as u32 + 1);
            barrier.wait();
        }
    });
}

fn once() {
    for _ in 0..50 {
        let (once, guarded) = (Once::new(), Guarded::new());
        at_once(3, |_| {
            once.call_once(|| guarded.add());
            assert_eq!(guarded.get(), 1);
        });
    }
}

fn once_lock() {
    for _ in 0..50 {
        let cell = OnceLock::new();
        at_once(3, |me| {
            let made = cell.get_or_init(|| {
                let made = Guarded::new();
                made.add();
                made
            });
            assert_eq!(made.get(), 1);
            if me == 0 {
                assert_eq!(cell.get().map(Guarded::get), Some(1));
            }
        });
    }
}

fn lazy_lock() {
    static LAZY: LazyLock<Guarded> = LazyLock::new(|| {
        let made = Guarded::new();
        made.add();
        made
    });
    at_once(4, |_| assert_eq!(LAZY.get(), 1));
}

/// A thread waits, as the documentation of `park` does it.
fn park() {
    let flag = Arc::new(AtomicU32::new(0));
    for round in 0..100 {
        let seen = Arc::clone(&flag);
        let waiter = thread::spawn(move || {
            while seen.load(Acquire) == round {
                thread::park();
            }
            GUARDED.add();
        });
        GUARDED.add();
        flag.store(round + 1, Release);
        waiter.thread().unpark();
        waiter.join().unwrap();
    }
}

/// Only the parking itself orders: the flag is relaxed.
fn park_handle() {
    for round in 0..100 {
        let flag = Arc::new(AtomicU32::new(0));
        let (seen, me) = (Arc::clone(&flag), thread::current());
        let other = thread::spawn(move || {
            GUARDED.add();
            seen.store(1, Relaxed);
            me.unpark();
        });
        thread::park();
        while flag.load(Relaxed) == 0 {
            thread::park_timeout(Duration::from_millis(1 + round % 2));
        }
        other.join().unwrap();
        GUARDED.get();
    }
}

type Sends = Box<dyn Fn(Box<Guarded>) + Send>;

/// What a message holds is the receiver's.
fn messages(make: impl Fn() -> (Sends, std::sync::mpsc::Receiver<Box<Guarded>>)) {
    let (send, receiver) = make();
    let sender = thread::spawn(move || {
        for _ in 0..200 {
            let item = Box::new(Guarded::new());
            item.add();
            send(item);
        }
    });
    for item in receiver {
        item.add();
        assert_eq!(item.get(), 2);
    }
    sender.join().unwrap();
}

fn several_senders() {
    let (sender, receiver) = channel::<Arc<Guarded>>();
    thread::scope(|scope| {
        for _ in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || {
                for _ in 0..100 {
                    let item = Arc::new(Guarded::new());
                    item.add();
                    sender.send(item).unwrap();
                }
            });
        }
        drop(sender);
        let mut count = 0;
        while let Ok(item) = receiver.recv() {
            assert_eq!(item.get(), 1);
            count += 1;
        }
        assert_eq!(count, 300);
    });
}

/// The end of a scope orders without anybody joining.
fn scope() {
    for round in 0..60 {
        let guarded = [const { Guarded::new() }; 3];
        thread::scope(|scope| {
            for one in &guarded {
                scope.spawn(|| one.add());
            }
        });
        assert!(guarded.iter().all(|one| one.get() == 1), "round {round}");
    }
}

fn scope_joined() {
    for _ in 0..60 {
        let guarded = Guarded::new();
        thread::scope(|scope| {
            scope.spawn(|| guarded.add()).join().unwrap();
            guarded.add();
            scope.spawn(|| guarded.add());
        });
        assert_eq!(guarded.get(), 3);
    }
}

fn join() {
    for round in 0..60 {
        let thread = thread::spawn(move || {
            GUARDED.add();
            round
        });
        assert_eq!(thread.join().unwrap(), round);
        GUARDED.add();
    }
}

fn thread_local() {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
        static LIST: std::cell::RefCell<Vec<u32>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    for _ in 0..20 {
        at_once(3, |me| {
            for round in 0..20 {
                COUNT.set(COUNT.get() + 1);
                LIST.with_borrow_mut(|list| list.push(round + me as u32));
            }
            assert_eq!(COUNT.get(), 20);
            assert_eq!(LIST.with_borrow(Vec::len), 20);
        });
    }
}

/// Whoever drops the last handle sees what all owners did.
fn arc() {
    struct Last(Guarded, Arc<AtomicUsize>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.1.fetch_add(self.0.get() as usize, Relaxed);
        }
    }
    let sum = Arc::new(AtomicUsize::new(0));
    for _ in 0..60 {
        let shared = Arc::new(Last(Guarded::new(), Arc::clone(&sum)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || drop(other));
        shared.0.add();
        drop(shared);
        thread.join().unwrap();
    }
    assert_eq!(sum.load(Relaxed), 60);
}

fn arc_mutex() {
    let shared = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..3)
        .map(|me| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for round in 0..100 {
                    shared.lock().unwrap().push(me * 100 + round);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(shared.lock().unwrap().len(), 300);
}

/// Panics unwind through instrumented functions, poison locks, and reach whoever joins.
fn panics() {
    std::panic::set_hook(Box::new(|_| {}));
    let lock = Mutex::new(0);
    for _ in 0..20 {
        let ended = thread::scope(|scope| {
            scope
                .spawn(|| {
                    let mut guard = lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    *guard += 1;
                    GUARDED.add();
                    panic!("meant");
                })
                .join()
        });
        assert!(ended.is_err());
        let once = OnceLock::<u32>::new();
        let failed = std::panic::catch_unwind(|| once.get_or_init(|| panic!("meant")).to_owned());
        assert!(failed.is_err());
        assert_eq!(*once.get_or_init(|| 3), 3);
    }
    assert_eq!(GUARDED.get(), 20);
}

fn seq_cst() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    at_once(4, |me| {
        for round in 0..200 {
            let (mine, other) = if me % 2 == 0 { (&x, &y) } else { (&y, &x) };
            mine.store(round, SeqCst);
            other.load(SeqCst);
            mine.fetch_add(1, SeqCst);
            let _ = other.compare_exchange(round, round + 1, SeqCst, SeqCst);
        }
    });
}

/// What was done before a byte is written to a pipe happens before it is read.
fn pipe() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let thread = thread::spawn(move || {
        GUARDED.add();
        writer.write_all(&[1]).unwrap();
    });
    reader.read_exact(&mut [0]).unwrap();
    assert_eq!(GUARDED.get(), 1);
    thread.join().unwrap();
}

/// Buffers that the standard library reads and writes: those of the program, handed from thread to thread, and its own.
fn files() {
    let path = std::env::temp_dir().join(format!("ravelin-quiet-{}", std::process::id()));
    let buffer = Mutex::new(vec![1_u8; 100]);
    at_once(3, |me| {
        for round in 0..20 {
            let own = path.with_extension(me.to_string());
            let mut buffer = buffer.lock().unwrap();
            std::fs::write(&own, &*buffer).unwrap();
            std::fs::File::open(&own).unwrap().read_exact(&mut buffer).unwrap();
            buffer[round] += 1;
            drop(buffer);
            std::fs::remove_file(&own).unwrap();
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
    });
}
