// Locks of the standard library: in different orders, locked twice, and what only looks like that. The argument is the
// program.
// case orders orders: lock-order-inversion second first
// case orders-on-the-heap orders-on-the-heap: lock-order-inversion second first
// case orders-of-three orders-of-three: lock-order-inversion third first
// case orders-of-kinds orders-of-kinds: lock-order-inversion second first
// case orders-after-waiting orders-after-waiting: lock-order-inversion second first
// case orders-with-a-condition orders-with-a-condition: lock-order-inversion cond-locked cond-waits
// case twice twice: double-lock again once
// case twice-written twice-written: double-lock again once
// case twice-upgraded twice-upgraded: double-lock again once
// case twice-read twice-read: double-lock again once
// case same-order same-order: none
// case one-thread one-thread: none
// case gate gate: none
// case tried tried: none
// case readers readers: none
// case downgraded downgraded: none
// case read-twice read-twice: none
// case after-join after-join: none
// case after-scope after-scope: none
// case after-message after-message: none
// case after-bounded after-bounded: none
// case after-rendezvous after-rendezvous: none
// case after-notification after-notification: none
// case after-barrier after-barrier: none
// case after-unpark after-unpark: none
// case after-once after-once: none
// case made-anew made-anew: none
// case made-anew-on-the-heap made-anew-on-the-heap: none
// case forgotten forgotten: none
// case inside-std inside-std: none
// case contended contended: none

use std::io::Write;
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
use std::thread;
use std::time::Duration;
use watched::{argument, at_once, in_turns, in_turns_last_blocks};

static A: Mutex<u64> = Mutex::new(0);
static B: Mutex<u64> = Mutex::new(0);
static C: Mutex<u64> = Mutex::new(0);
static R: RwLock<u64> = RwLock::new(0);
static S: RwLock<u64> = RwLock::new(0);

type Turn = Box<dyn FnOnce() + Send>;

fn main() {
    match &*argument(1) {
        "orders" => in_turns::<Turn>(vec![Box::new(|| one_way(&A, &B)), Box::new(|| other_way(&B, &A))]),
        "orders-on-the-heap" => {
            let (one, two) = (Arc::new((Mutex::new(0), Mutex::new(0))), Arc::new((Mutex::new(0), Mutex::new(0))));
            let other = Arc::clone(&one);
            in_turns::<Turn>(vec![
                Box::new(move || one_way(&one.0, &one.1)),
                Box::new(move || other_way(&two.1, &two.0)),
                Box::new(move || other_way(&other.1, &other.0)),
            ]);
        }
        "orders-of-three" => in_turns::<Turn>(vec![
            Box::new(|| one_way(&A, &B)),
            Box::new(|| one_way(&B, &C)),
            Box::new(|| third_way(&C, &A)),
        ]),
        "orders-of-kinds" => in_turns::<Turn>(vec![
            Box::new(|| {
                let _held = R.read().unwrap();
                drop(A.lock()); //@first
            }),
            Box::new(|| {
                let _held = A.lock().unwrap();
                drop(R.write()); //@second
            }),
        ]),
        "orders-after-waiting" => after_waiting(),
        "orders-with-a-condition" => with_a_condition(),
        "twice" => blocks(|| {
            let _once = A.lock(); //@once
            drop(A.lock()); //@again
        }),
        "twice-written" => blocks(|| {
            let _once = R.write(); //@once
            drop(R.write()); //@again
        }),
        "twice-upgraded" => blocks(|| {
            let _once = R.read(); //@once
            drop(R.write()); //@again
        }),
        "twice-read" => blocks(|| {
            let _once = R.write(); //@once
            drop(R.read()); //@again
        }),
        "same-order" => at_once(2, |_| (0..100).for_each(|_| both(&A, &B))),
        "one-thread" => {
            both(&A, &B);
            both(&B, &A);
            at_once(2, |me| {
                if me == 0 {
                    [(&A, &B), (&B, &A)].into_iter().for_each(|(one, two)| both(one, two))
                }
            });
        }
        "gate" => in_turns::<Turn>(vec![
            Box::new(|| {
                let _gate = C.lock();
                both(&A, &B);
            }),
            Box::new(|| {
                let _gate = C.lock();
                both(&B, &A);
            }),
        ]),
        "tried" => in_turns::<Turn>(vec![
            Box::new(|| both(&A, &B)),
            Box::new(|| {
                let _held = B.lock().unwrap();
                drop(A.try_lock());
                drop(R.try_write());
                drop(S.try_read());
            }),
            Box::new(|| {
                let (_reads, _writes) = (S.read(), R.write());
                drop(B.try_lock());
            }),
        ]),
        "readers" => {
            in_turns::<Turn>(vec![Box::new(|| drop((R.read(), S.read()))), Box::new(|| drop((S.read(), R.read())))])
        }
        "downgraded" => in_turns::<Turn>(vec![
            Box::new(|| {
                let held = std::sync::RwLockWriteGuard::downgrade(R.write().unwrap());
                drop(S.read());
                drop(held);
            }),
            Box::new(|| drop((S.read(), R.read()))),
        ]),
        "read-twice" => at_once(2, |_| drop((R.read(), R.read()))),
        "after-join" => {
            thread::spawn(|| both(&A, &B)).join().unwrap();
            thread::spawn(|| both(&B, &A)).join().unwrap();
        }
        "after-scope" => {
            thread::scope(|scope| drop(scope.spawn(|| both(&A, &B))));
            thread::scope(|scope| drop(scope.spawn(|| both(&B, &A))));
        }
        "after-message" => {
            let (sender, receiver) = channel();
            after(move || sender.send(1).unwrap(), move || assert_eq!(receiver.recv(), Ok(1)));
        }
        "after-bounded" => {
            let (sender, receiver) = sync_channel(1);
            after(move || sender.send(1).unwrap(), move || assert_eq!(receiver.recv(), Ok(1)));
        }
        "after-rendezvous" => {
            let (sender, receiver) = sync_channel(0);
            after(move || sender.send(1).unwrap(), move || assert_eq!(receiver.recv(), Ok(1)));
            let (sender, receiver) = sync_channel(0);
            let late = move || {
                thread::sleep(Duration::from_millis(50));
                assert_eq!(receiver.recv(), Ok(1));
            };
            after(move || sender.send(1).unwrap(), late);
        }
        "after-notification" => {
            let condition = Arc::new((Mutex::new(false), Condvar::new()));
            let other = Arc::clone(&condition);
            let says = move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            };
            let waits = move || drop(condition.1.wait_while(condition.0.lock().unwrap(), |is_done| !*is_done));
            // The waiting thread must have begun to wait.
            after(
                move || {
                    thread::sleep(Duration::from_millis(50));
                    says();
                },
                waits,
            );
        }
        "after-barrier" => {
            let barrier = Arc::new(Barrier::new(2));
            let other = Arc::clone(&barrier);
            after(move || drop(other.wait()), move || drop(barrier.wait()));
        }
        "after-unpark" => {
            let first = thread::current();
            let child = thread::spawn(move || {
                both(&A, &B);
                first.unpark();
            });
            thread::park();
            both(&B, &A);
            child.join().unwrap();
        }
        "after-once" => {
            static ONCE: Once = Once::new();
            let done = || ONCE.call_once(|| both(&A, &B));
            at_once(2, |_| {
                done();
                both(&B, &A);
            });
        }
        "made-anew" => made_anew(),
        "made-anew-on-the-heap" => made_anew_on_the_heap(),
        "forgotten" => forgotten(),
        "inside-std" => inside_std(),
        "contended" => contended(),
        other => panic!("{other} is no program"),
    }
}

fn one_way(one: &Mutex<u64>, two: &Mutex<u64>) {
    let mut held = one.lock().unwrap();
    *held += *two.lock().unwrap(); //@first
}

fn other_way(one: &Mutex<u64>, two: &Mutex<u64>) {
    let mut held = one.lock().unwrap();
    *held += *two.lock().unwrap(); //@second
}

fn third_way(one: &Mutex<u64>, two: &Mutex<u64>) {
    let mut held = one.lock().unwrap();
    *held += *two.lock().unwrap(); //@third
}

fn both(one: &Mutex<u64>, two: &Mutex<u64>) {
    let mut held = one.lock().unwrap();
    *held += *two.lock().unwrap();
}

/// The first thread gets its first lock where it waits inside the standard library.
fn after_waiting() {
    static THERE: watched::Hidden = watched::Hidden::new();
    let helper = thread::spawn(|| {
        let held = B.lock();
        THERE.add();
        // SAFETY: a mutex begins with a number, which is 2 if a thread waits for it.
        unsafe { &*(&raw const B).cast::<watched::Hidden>() }.wait_for(2);
        drop(held);
    });
    THERE.wait_for(1);
    in_turns::<Turn>(vec![Box::new(|| one_way(&B, &A)), Box::new(|| other_way(&A, &B))]);
    helper.join().unwrap();
}

/// A wait for a condition locks its mutex again, while another one is held.
fn with_a_condition() {
    static CONDITION: Condvar = Condvar::new();
    in_turns::<Turn>(vec![
        Box::new(|| {
            let guard = B.lock().unwrap();
            let _held = A.lock().unwrap();
            drop(CONDITION.wait_timeout(guard, Duration::from_millis(1))); //@cond-waits
        }),
        Box::new(|| {
            let _held = B.lock().unwrap();
            drop(A.lock()); //@cond-locked
        }),
    ]);
}

/// In a second thread, which waits for itself.
fn blocks(twice: impl FnOnce() + Send + 'static) {
    in_turns_last_blocks::<Turn>(vec![Box::new(|| ()), Box::new(twice)]);
}

/// One thread locks in one order and says so, another one waits for that and locks in the other order.
fn after(says: impl FnOnce() + Send + 'static, waits: impl FnOnce() + Send + 'static) {
    let first = thread::spawn(|| {
        both(&A, &B);
        says();
    });
    let second = thread::spawn(|| {
        waits();
        both(&B, &A);
    });
    first.join().unwrap();
    second.join().unwrap();
}

/// New locks at the same place, where they are locked in the other order. Only another lock orders the threads.
fn made_anew() {
    #[inline(never)]
    fn pair(turned: bool) {
        let locks = [Mutex::new(1), Mutex::new(2)];
        // SAFETY: it waits for the thread.
        let [one, two] = unsafe { &*(&raw const locks) };
        in_detached(move || if turned { both(two, one) } else { both(one, two) });
        std::hint::black_box(&locks);
    }
    (0..10).for_each(|round| pair(round % 2 == 0));
}

fn made_anew_on_the_heap() {
    for round in 0..10 {
        let locks = Arc::new([Mutex::new(1), Mutex::new(2)]);
        let theirs = Arc::clone(&locks);
        in_detached(move || {
            let [one, two] = &*theirs;
            if round % 2 == 0 { both(one, two) } else { both(two, one) }
        });
    }
}

/// Does something in another thread, and waits for it by a lock.
fn in_detached(work: impl FnOnce() + Send + 'static) {
    let rounds = *C.lock().unwrap();
    thread::spawn(move || {
        work();
        *C.lock().unwrap() += 1;
    });
    while *C.lock().unwrap() == rounds {
        thread::yield_now();
    }
}

/// A guard that is never dropped, and another lock at the place of its lock.
fn forgotten() {
    #[inline(never)]
    fn leaks(leaks: bool) {
        let lock = Mutex::new(1);
        let guard = lock.lock().unwrap();
        if leaks {
            std::mem::forget(guard)
        } else {
            drop(guard)
        }
        std::hint::black_box(&lock);
    }
    at_once(2, |_| {
        leaks(true);
        leaks(false);
        both(&A, &B);
    });
}

/// What std locks for itself, while the program holds locks or not, and what the program gets locked from it.
fn inside_std() {
    at_once(4, |me| {
        for round in 0..50 {
            let mut input = std::io::stdin().lock();
            println!("{me} {round}");
            drop(A.lock());
            let _ = std::io::BufRead::fill_buf(&mut input);
            drop(input);
            let held = A.lock();
            println!("{me} {round}");
            let mut output = std::io::stdout().lock();
            let _ = writeln!(output, "{me}");
            drop(held);
            drop(output);
            let output = std::io::stdout().lock();
            drop(B.lock());
            drop(output);
        }
    });
}

/// Locks that threads have to wait for, of every kind, in one order.
fn contended() {
    at_once(4, |me| {
        for round in 0..500 {
            let mut a = A.lock().unwrap();
            let r = (round + me) % 2 == 0;
            let _reads = r.then(|| R.read().unwrap());
            let _writes = (!r).then(|| R.write().unwrap());
            *a += 1;
            *B.lock().unwrap() += 1;
            if let Ok(mut s) = S.try_write() {
                *s += 1;
            }
        }
    });
    assert_eq!(*A.lock().unwrap(), 2000);
}
