//! parking_lot: mutex, read-write lock, condition variable, once, and a fair handover.

use parking_lot::{Condvar, Mutex, MutexGuard, Once, RwLock};

fn main() {
    let (mutex, rwlock, ready, turn) = (Mutex::new(0), RwLock::new(vec![0; 4]), Condvar::new(), Mutex::new(0));
    let once = Once::new();
    std::thread::scope(|scope| {
        for me in 0..3 {
            let (mutex, rwlock, ready, turn, once) = (&mutex, &rwlock, &ready, &turn, &once);
            scope.spawn(move || {
                once.call_once(|| *mutex.lock() += 1);
                for round in 0..300 {
                    let mut sum = mutex.lock();
                    *sum += 1;
                    if round % 16 == 0 {
                        MutexGuard::unlock_fair(sum);
                    } else {
                        drop(sum);
                    }
                    if round % 8 == 0 {
                        rwlock.write()[me] += 1;
                    } else {
                        assert_eq!(rwlock.read().len(), 4);
                    }
                    if round % 10 == 0 {
                        let mut now = turn.lock();
                        while *now % 3 != me {
                            ready.wait(&mut now);
                        }
                        *now += 1;
                        ready.notify_all();
                    }
                }
            });
        }
    });
    assert_eq!(mutex.into_inner(), 901);
}
